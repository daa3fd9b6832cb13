"""Selection of gangs by priority under a capacity."""

from __future__ import annotations

import numpy as np

from gangopt.base.types import Bools, Ints

__all__ = ["fill"]


def fill(sizes: Ints, capacity: int, *, skip: bool = True) -> Bools:
    """Select gangs in order of priority as long as they fit.

    Parameters
    ----------
    sizes : ndarray of int
        GPUs of each gang in order of priority, all > 0.
    capacity : int
        Free GPUs.
    skip : bool, optional
        Whether gangs after one that does not fit are tried.

    Returns
    -------
    ndarray of bool
        Whether each gang is selected.
    """
    if int(sizes.sum()) <= capacity:
        return np.ones(len(sizes), dtype=np.bool_)
    taken = np.zeros(len(sizes), dtype=np.bool_)
    rest = np.flatnonzero(sizes <= capacity) if skip else np.arange(len(sizes))
    left = capacity
    while len(rest):
        filled = np.cumsum(sizes[rest])
        fitting = int(np.searchsorted(filled, left, side="right"))
        taken[rest[:fitting]] = True
        if fitting == len(rest) or not skip:
            return taken
        if fitting:
            left -= int(filled[fitting - 1])
        rest = rest[fitting + 1 :]
        rest = rest[sizes[rest] <= left]
    return taken
