"""Gang jobs as the bounds see them: checked arrays, in order of arrival."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints

__all__ = ["EPSILON", "GangJobs", "gang_jobs", "largest_sum"]


EPSILON = float(np.finfo(np.float64).eps)
"""Distance from 1 to the next number in double precision."""


@dataclass(frozen=True)
class GangJobs:
    """Jobs j with arrival r_j, gang W_j, running time d_j and weight v_j > 0, ascending in r_j; the first arrives at 0.

    Attributes
    ----------
    arrival : ndarray of float
        Arrival times r, s, shape (jobs,).
    gpus : ndarray of float
        Gang sizes W in GPUs, integers held as floats, shape (jobs,).
    duration : ndarray of float
        Running times d, s, shape (jobs,).
    weight : ndarray of float
        Weights v, scaled to a mean of 1, shape (jobs,).
    n_gpus : float
        GPUs that gangs can use at once: the largest sum of gangs that the cluster holds.
    unweighted : bool
        Whether every job counts alike.
    """

    arrival: Floats
    gpus: Floats
    duration: Floats
    weight: Floats
    n_gpus: float
    unweighted: bool

    def __len__(self) -> int:
        return len(self.arrival)


def gang_jobs(
    arrival: npt.ArrayLike,
    gpus: npt.ArrayLike,
    duration: npt.ArrayLike,
    n_gpus: int,
    weight: npt.ArrayLike | None = None,
) -> GangJobs:
    """Check and sort jobs; those of weight 0 are left out, since no bound can use them.

    Parameters
    ----------
    arrival : array_like
        Arrival times, s, finite, shape (jobs,).
    gpus : array_like
        GPUs of each gang, integers from 1 to `n_gpus`, shape (jobs,).
    duration : array_like
        Running times on these GPUs, s, > 0, shape (jobs,).
    n_gpus : int
        GPUs of the cluster.
    weight : array_like or None, optional
        Weights >= 0, shape (jobs,); None means 1 for all.

    Raises
    ------
    InputError
        If no job has a weight > 0, or a number is out of range; the message names the job and the value.
    """
    r = _numbers("arrival", arrival, None)
    n = len(r)
    W = _numbers("gpus", gpus, n)
    d = _numbers("duration", duration, n)
    v = np.ones(n) if weight is None else _numbers("weight", weight, n)
    if isinstance(n_gpus, bool) or int(n_gpus) != n_gpus or n_gpus < 1:
        raise InputError(f"n_gpus must be an integer >= 1 (got {n_gpus})")
    _refuse("gpus", W, (W < 1) | (n_gpus < W) | (W % 1 > 0), f"an integer from 1 to {n_gpus}")
    _refuse("duration", d, d <= 0, "> 0")
    _refuse("weight", v, v < 0, ">= 0")
    if not (v > 0).any():
        raise InputError("no job has a weight > 0: nothing to bound")
    used = np.flatnonzero(v > 0)
    order = used[np.argsort(r[used], kind="stable")]
    first = float(r[order[0]])
    usable = largest_sum(W[order].astype(np.int64), int(n_gpus))
    equal = bool((v[order] == v[order[0]]).all())
    relative = np.ones(len(order)) if equal else v[order] / float(v[order].mean())
    return GangJobs(r[order] - first, W[order], d[order], relative, float(usable), equal)


def _numbers(field: str, values: npt.ArrayLike, length: int | None) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{field} must be numbers") from None
    if array.ndim != 1 or (length is not None and len(array) != length):
        raise InputError(f"{field} must have one number per job (got shape {array.shape})")
    _refuse(field, array, ~np.isfinite(array), "finite")
    return array


def _refuse(field: str, array: Floats, wrong: npt.NDArray[np.bool_], needed: str) -> None:
    if wrong.any():
        index = int(np.argmax(wrong))
        raise InputError(f"{field}[{index}] must be {needed} (got {array[index]:g})")


def largest_sum(gangs: Ints, limit: int) -> int:
    """Return the largest sum of some of the gangs that is at most the limit; 0 without gangs.

    Sums are the bits of one integer. A gang size is added at most as often as it fits.

    Parameters
    ----------
    gangs : ndarray of int
        GPUs, each at most the limit.
    limit : int
        GPUs.
    """
    if int(gangs.sum()) <= limit:
        return int(gangs.sum())
    reached, mask = 1, (1 << (limit + 1)) - 1
    sizes, counts = np.unique(gangs, return_counts=True)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        for _ in range(min(count, limit // size)):
            reached |= (reached << size) & mask
        if reached >> limit & 1:
            return limit
    return reached.bit_length() - 1
