"""Training speed of a parameter-server job as a function of its parameter servers and workers.

Two fitted functions and measured tables; all of them are used as seconds for one step, the reciprocal of the speed,
because that is what a completion time is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gangopt.base.types import Floats

__all__ = ["MODES", "THETA_COUNT", "async_step_seconds", "speed", "sync_step_seconds"]


MODES = ("async", "sync", "table")
"""Sources of a job's speed: fitted asynchronous, fitted synchronous, or measured."""

THETA_COUNT = {"async": 4, "sync": 5, "table": 0}
"""Coefficients of each mode."""


def async_step_seconds(theta: Sequence[Any] | Floats, parameter_servers: Any, workers: Any) -> Any:
    r"""Return the seconds for one step of asynchronous training.

    .. math:: 1/f(p, w) = (\theta_0 + \theta_1 w/p + \theta_2 w + \theta_3 p) / w

    Parameters
    ----------
    theta : sequence of object or ndarray of float
        The four coefficients in seconds, scalars or arrays that broadcast with the counts.
    parameter_servers : object
        Number of parameter servers p, at least 1.
    workers : object
        Number of workers w, at least 1.

    Returns
    -------
    float or array
        Seconds for one step, all workers together.

    References
    ----------
    Optimus (EuroSys'18), eqn 3.
    """
    inner = theta[0] + theta[1] * (workers / parameter_servers) + theta[2] * workers + theta[3] * parameter_servers
    return inner / workers


def sync_step_seconds(theta: Sequence[Any] | Floats, batch: Any, parameter_servers: Any, workers: Any) -> Any:
    r"""Return the seconds for one step of synchronous training.

    .. math:: 1/f(p, w) = \theta_0 M/w + \theta_1 + \theta_2 w/p + \theta_3 w + \theta_4 p

    Parameters
    ----------
    theta : sequence of object or ndarray of float
        The five coefficients in seconds, scalars or arrays that broadcast with the counts.
    batch : object
        Samples in the global batch M.
    parameter_servers : object
        Number of parameter servers p, at least 1.
    workers : object
        Number of workers w, at least 1.

    Returns
    -------
    float or array
        Seconds for one step.

    References
    ----------
    Optimus (EuroSys'18), eqn 4.
    """
    compute = theta[0] * (batch / workers) + theta[1]
    return compute + theta[2] * (workers / parameter_servers) + theta[3] * workers + theta[4] * parameter_servers


def speed(mode: str, theta: Sequence[float], parameter_servers: int, workers: int, batch: float = 1.0) -> float:
    """Return the fitted speed f(p, w) in steps per second.

    Parameters
    ----------
    mode : str
        `async` (eqn 3) or `sync` (eqn 4).
    theta : sequence of float
        The mode's coefficients, in seconds.
    parameter_servers : int
        Number of parameter servers p, at least 1.
    workers : int
        Number of workers w, at least 1.
    batch : float, optional
        Samples in the global batch M; only `sync` uses it.

    Returns
    -------
    float
        Steps per second.
    """
    if mode == "sync":
        return float(1 / sync_step_seconds(theta, batch, parameter_servers, workers))
    return float(1 / async_step_seconds(theta, parameter_servers, workers))
