"""Linear form of the speed functions: their coefficients, and the share of each in the time of a step."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gangopt.base import checks
from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.allocation.speed_functions import THETA_COUNT, async_step_seconds, sync_step_seconds

__all__ = ["Mode", "check_mode", "terms"]

Mode = Literal["async", "sync"]


def check_mode(mode: str, batch: float | None) -> None:
    """Check that the mode is known, and that there is a batch size if and only if it is `sync`.

    Parameters
    ----------
    mode : str
        `async` or `sync`.
    batch : float or None
        Samples in the global batch M, or None.
    """
    if mode not in ("async", "sync"):
        raise InputError(f"mode must be async or sync (got {mode!r})")
    if mode == "async" and batch is not None:
        raise InputError(f"batch must be None in mode async, whose speed does not depend on it (got {batch:g})")
    if mode == "sync" and batch is None:
        raise InputError("missing batch, the number of samples in the global batch, in mode sync")
    if batch is not None:
        checks.number("batch", batch, 1e-6, 1e12, "samples")


def terms(mode: str, batch: float | None, parameter_servers: Ints, workers: Ints) -> Floats:
    """Return the time of a step per unit of each coefficient.

    Parameters
    ----------
    mode : str
        `async` or `sync`.
    batch : float or None
        Samples in the global batch M, for `sync`.
    parameter_servers : ndarray of int
        Numbers of parameter servers p, shape (n,).
    workers : ndarray of int
        Numbers of workers w, shape (n,).

    Returns
    -------
    array
        Matrix of shape (n, coefficients); its product with theta is the time of a step in s, 1 / f(p, w).
    """
    unit = np.eye(THETA_COUNT[mode])[:, :, None]
    p, w = parameter_servers.astype(np.float64), workers.astype(np.float64)
    columns = async_step_seconds(unit, p, w) if mode == "async" else sync_step_seconds(unit, batch, p, w)
    return np.array(columns, dtype=np.float64).T
