"""The linear form of the speed functions: which coefficients there are, and what each adds to the time of a step."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gangopt.base.errors import InputError
from gangopt.instances.allocation.speed_functions import THETA_COUNT, async_step_seconds, sync_step_seconds

__all__ = ["Mode", "check_mode", "terms"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Mode = Literal["async", "sync"]


def check_mode(mode: str, batch: float | None) -> None:
    """Refuse an unknown mode, a `sync` without a batch size and an `async` with one.

    Parameters
    ----------
    mode : str
        `async` or `sync`.
    batch : float or None
        M, samples in the global batch, or None.
    """
    if mode not in ("async", "sync"):
        raise InputError(f"mode: {mode!r}, allowed: async, sync")
    if mode == "async" and batch is not None:
        raise InputError(f"batch: {batch:g} given for mode async, whose speed does not depend on it")
    if mode == "sync" and batch is None:
        raise InputError("batch: missing, mode sync needs the samples in the global batch")
    if batch is not None and not 1e-6 <= batch <= 1e12:
        raise InputError(f"batch: {batch:g}, a number of samples from 1e-6 to 1e12 is needed")


def terms(mode: str, batch: float | None, parameter_servers: IntArray, workers: IntArray) -> FloatArray:
    """Return the seconds for one step that a coefficient of one second contributes.

    Parameters
    ----------
    mode : str
        `async` or `sync`.
    batch : float or None
        M, for `sync`.
    parameter_servers : ndarray of int
        P, shape (n,).
    workers : ndarray of int
        W, shape (n,).

    Returns
    -------
    array
        Shape (n, coefficients); times theta it is the seconds for one step, 1 / f(p, w).
    """
    unit = np.eye(THETA_COUNT[mode])[:, :, None]
    p, w = parameter_servers.astype(np.float64), workers.astype(np.float64)
    columns = async_step_seconds(unit, p, w) if mode == "async" else sync_step_seconds(unit, batch, p, w)
    return np.array(columns, dtype=np.float64).T
