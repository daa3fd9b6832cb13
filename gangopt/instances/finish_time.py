"""Finish-time fairness (THEMIS, equations 1 and 2): the one place that says what rho is, and when it is above 1."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

__all__ = ["TOLERANCE", "above_one", "ideal_seconds", "jain", "largest_demands"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TOLERANCE = 1e-9
"""Relative: what rho, a quotient in double precision, may be above 1 by rounding."""


def ideal_seconds(budget: float, cluster_gpus: int, app_gpus: int, average_apps: float) -> float:
    r"""Return the finish time of an app in an exclusive share of the cluster, s.

    .. math:: T_{id} = N_{avg} \, B / \min(R_C, \text{app\_gpus})

    Parameters
    ----------
    budget : float
        B, GPU time of the app from start to end, GPU-s.
    cluster_gpus : int
        R_C, GPUs of the cluster.
    app_gpus : int
        Most GPUs that the app makes use of at once.
    average_apps : float
        N_avg, time-weighted number of apps present.

    Notes
    -----
    B over the largest demand is a lower bound on the app's time alone. It is too low for an app whose phases differ in
    width, or whose jobs differ in length: such an app has rho > 1 even where nobody else is present.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, equations 1 and 2.
    """
    return budget / min(cluster_gpus, app_gpus) * average_apps


def largest_demands(app: Ints, phase: Floats, gpus: Ints) -> Ints:
    """Return the most GPUs that the jobs of each app make use of at once: those of its widest phase.

    Parameters
    ----------
    app : ndarray of int
        Index of every job's app, from 0, none left out, shape (jobs,).
    phase : ndarray of float
        Of every job, nan where it has none; such jobs may run beside those of phase 0, shape (jobs,).
    gpus : ndarray of int
        Gang of every job, shape (jobs,).

    Returns
    -------
    ndarray
        Shape (apps,).
    """
    phase = np.nan_to_num(phase, nan=0.0)
    order = np.lexsort((phase, app))
    owner, number = app[order], phase[order]
    first = np.flatnonzero((np.diff(owner, prepend=-1) != 0) | (np.diff(number, prepend=-1.0) != 0))
    widest = np.zeros(int(app.max(initial=-1)) + 1, dtype=np.int64)
    if len(order):
        np.maximum.at(widest, owner[first], np.add.reduceat(gpus[order], first))
    return widest


def above_one(rho: float) -> bool:
    """Return whether rho breaks the sharing incentive: it is above 1 by more than rounding."""
    return rho > 1 + TOLERANCE


def jain(rho: Iterable[float | Fraction]) -> float:
    r"""Return Jain's index of fairness, :math:`(\sum \rho)^2 / (n \sum \rho^2)`; 1 where all values are equal.

    Parameters
    ----------
    rho : iterable of float or Fraction
        Values, not all 0; 1 is returned if there are none.
    """
    values = list(rho)
    total = sum(values)
    return float(total * total / (len(values) * sum(value * value for value in values))) if values else 1.0
