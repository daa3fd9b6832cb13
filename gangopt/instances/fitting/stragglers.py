"""Detection of workers that slow down their job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gangopt.base import checks
from gangopt.base.errors import InputError
from gangopt.base.types import Floats

__all__ = ["STRAGGLER_FACTOR", "async_stragglers", "sync_step_times", "sync_stragglers"]


STRAGGLER_FACTOR = 0.5
"""A worker is a straggler below this share of the median speed."""


def async_stragglers(speeds: Sequence[float] | Floats, factor: float = STRAGGLER_FACTOR) -> tuple[int, ...]:
    r"""Return the workers of an asynchronous job whose speed is below a share of the median.

    .. math:: v_i < \phi \cdot \operatorname{median}_j v_j

    The median is over all workers, including the worker itself.

    Parameters
    ----------
    speeds : sequence of float or ndarray of float
        Speed v of each worker in steps/s, at least 0 (0 if it has stopped); shape (w,).
    factor : float, optional
        Factor phi, > 0 and <= 1.

    Returns
    -------
    tuple of int
        Indices of the stragglers, ascending.

    References
    ----------
    Optimus (EuroSys'18), section 5.2.
    """
    values = _finite("speeds", speeds, 1)
    checks.number("factor", factor, above=0, high=1)
    if not values.size:
        return ()
    return tuple(np.flatnonzero(values < factor * np.median(values)).tolist())


def sync_step_times(arrivals: Sequence[Sequence[float]] | Floats) -> Floats:
    r"""Return the time of each step of each worker, from the arrival times of its gradients.

    In synchronous training, no worker begins step t before the gradients of all workers for step t - 1 have arrived.
    With :math:`a_{t,i}` the arrival of worker i's gradients of step t,

    .. math:: d_{t,i} = a_{t,i} - \max_j a_{t-1,j}

    Parameters
    ----------
    arrivals : sequence of sequence of float or ndarray of float
        Times a in s on one clock (that of the parameter servers); shape (steps, w), at least two steps.

    Returns
    -------
    array
        Times d in s, shape (steps - 1, w).

    Raises
    ------
    InputError
        If gradients of a step arrive before the previous step is complete, so the job is not synchronous.
    """
    times = _finite("arrivals", arrivals, 2)
    if len(times) < 2:
        raise InputError(f"arrivals must have at least 2 steps (got {len(times)})")
    durations: Floats = times[1:] - times[:-1].max(axis=1, initial=0.0, keepdims=True)
    if (durations <= 0).any():
        t, i = (int(index) for index in np.argwhere(durations <= 0)[0])
        raise InputError(
            f"arrivals[{t + 1}][{i}] must be > {times[t].max():g} s, the last arrival of the previous step "
            f"(got {times[t + 1, i]:g} s); the workers are not synchronous"
        )
    return durations


def sync_stragglers(
    arrivals: Sequence[Sequence[float]] | Floats, window: int = 10, factor: float = STRAGGLER_FACTOR
) -> tuple[int, ...]:
    r"""Return the workers of a synchronous job whose inferred speed is usually below a share of the median.

    With :math:`d_{t,i}` from `sync_step_times`, worker i's relative speed in step t is
    :math:`r_{t,i} = \operatorname{median}_j d_{t,j} / d_{t,i}`. Worker i is a straggler if

    .. math:: \operatorname{median}_{t \in \text{last } T \text{ steps}} r_{t,i} < \phi

    so that one slow step, e.g. due to garbage collection, is not sufficient.

    Parameters
    ----------
    arrivals : sequence of sequence of float or ndarray of float
        Times in s on one clock; shape (steps, w), at least two steps.
    window : int, optional
        Number T of latest steps to consider, at least 1; fewer if fewer are recorded.
    factor : float, optional
        Factor phi, > 0 and <= 1.

    Returns
    -------
    tuple of int
        Indices of the stragglers, ascending.

    References
    ----------
    Optimus (EuroSys'18), section 5.2.
    """
    checks.integer("window", window, 1, unit="steps")
    checks.number("factor", factor, above=0, high=1)
    times = _finite("arrivals", arrivals, 2)
    if not times.shape[1]:
        return ()
    durations = sync_step_times(times[-window - 1 :])
    relative = np.median(durations, axis=1, keepdims=True) / durations
    return tuple(np.flatnonzero(np.median(relative, axis=0) < factor).tolist())


def _finite(field: str, values: Any, dimensions: int) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{field} must hold numbers in rows of equal length") from None
    if array.ndim != dimensions:
        raise InputError(f"{field} must have {dimensions} dimensions (got {array.ndim})")
    broken = np.argwhere(~(np.isfinite(array) & (array >= 0)))
    if len(broken):
        place = "".join(f"[{int(index)}]" for index in broken[0])
        raise InputError(f"{field}{place} must be a finite number >= 0 (got {array[tuple(broken[0])]:g})")
    return array
