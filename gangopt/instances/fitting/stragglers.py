"""Workers that hold their job back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats

__all__ = ["STRAGGLER_FACTOR", "async_stragglers", "sync_step_times", "sync_stragglers"]


STRAGGLER_FACTOR = 0.5
"""A worker is a straggler below this share of the median speed."""


def async_stragglers(speeds: Sequence[float] | Floats, factor: float = STRAGGLER_FACTOR) -> tuple[int, ...]:
    r"""Return the workers of an asynchronous job that are slower than a share of the median.

    .. math:: v_i < \phi \cdot \operatorname{median}_j v_j

    The median is over all workers, itself included; of an even number it is the mean of the middle two.

    Parameters
    ----------
    speeds : sequence of float or ndarray of float
        V, each worker's own speed in steps per second, at least 0 (0: it has stopped), shape (w,).
    factor : float, optional
        Phi, above 0 and at most 1.

    Returns
    -------
    tuple of int
        Indices of the stragglers, ascending.

    References
    ----------
    Optimus (EuroSys'18), section 5.2.
    """
    values = _finite("speeds", speeds, 1)
    _check_factor(factor)
    if not values.size:
        return ()
    return tuple(np.flatnonzero(values < factor * np.median(values)).tolist())


def sync_step_times(arrivals: Sequence[Sequence[float]] | Floats) -> Floats:
    r"""Return each worker's seconds for a step, read off the times at which its gradients arrive.

    In synchronous training no worker begins step t before the gradients of all workers for step t - 1 are there. So
    with :math:`a_{t,i}` the arrival of worker i's gradients of step t,

    .. math:: d_{t,i} = a_{t,i} - \max_j a_{t-1,j}

    Parameters
    ----------
    arrivals : sequence of sequence of float or ndarray of float
        A, seconds on one clock (that of the parameter servers), shape (steps, w), two steps or more.

    Returns
    -------
    array
        D, seconds, shape (steps - 1, w).

    Raises
    ------
    InputError
        If gradients of a step arrive before the step before it is complete: the job is not synchronous.
    """
    times = _finite("arrivals", arrivals, 2)
    if len(times) < 2:
        raise InputError(f"arrivals: {len(times)} steps, at least 2 are needed, the first only marks a beginning")
    durations: Floats = times[1:] - times[:-1].max(axis=1, initial=0.0, keepdims=True)
    if (durations <= 0).any():
        t, i = (int(index) for index in np.argwhere(durations <= 0)[0])
        raise InputError(
            f"arrivals[{t + 1}][{i}]: {times[t + 1, i]:g} s, not after the last arrival of the step before it "
            f"({times[t].max():g} s); the workers are not synchronous"
        )
    return durations


def sync_stragglers(
    arrivals: Sequence[Sequence[float]] | Floats, window: int = 10, factor: float = STRAGGLER_FACTOR
) -> tuple[int, ...]:
    r"""Return the workers of a synchronous job whose inferred speed is usually below a share of the median.

    With :math:`d_{t,i}` from `sync_step_times`, worker i's relative speed in step t is
    :math:`r_{t,i} = \operatorname{median}_j d_{t,j} / d_{t,i}`. Worker i is a straggler if

    .. math:: \operatorname{median}_{t \in \text{last } T \text{ steps}} r_{t,i} < \phi

    so one slow step, as of garbage collection, does not make a straggler.

    Parameters
    ----------
    arrivals : sequence of sequence of float or ndarray of float
        Seconds on one clock, shape (steps, w), two steps or more.
    window : int, optional
        T, the latest steps that are looked at, 1 or more; fewer if fewer are recorded.
    factor : float, optional
        Phi, above 0 and at most 1.

    Returns
    -------
    tuple of int
        Indices of the stragglers, ascending.

    References
    ----------
    Optimus (EuroSys'18), section 5.2.
    """
    if window < 1:
        raise InputError(f"window: {window} steps, 1 or more is needed")
    _check_factor(factor)
    times = _finite("arrivals", arrivals, 2)
    if not times.shape[1]:
        return ()
    durations = sync_step_times(times[-window - 1 :])
    relative = np.median(durations, axis=1, keepdims=True) / durations
    return tuple(np.flatnonzero(np.median(relative, axis=0) < factor).tolist())


def _finite(field: str, values: Any, dimensions: int) -> Floats:  # noqa: ANN401 - anything array-like
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{field}: a table of numbers without holes is needed") from None
    if array.ndim != dimensions:
        raise InputError(f"{field}: {array.ndim} dimensions, {dimensions} are needed")
    broken = np.argwhere(~(np.isfinite(array) & (array >= 0)))
    if len(broken):
        place = "".join(f"[{int(index)}]" for index in broken[0])
        raise InputError(f"{field}{place}: {array[tuple(broken[0])]:g}, a finite number of at least 0 is needed")
    return array


def _check_factor(factor: float) -> None:
    if not 0 < factor <= 1:
        raise InputError(f"factor: {factor:g}, above 0 and at most 1 is needed")
