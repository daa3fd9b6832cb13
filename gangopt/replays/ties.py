"""Comparison of times and services up to a resolution, because sums depend on the order of additions."""

from __future__ import annotations

import numpy as np

from gangopt.base.types import Floats, Ints

__all__ = ["RESOLUTION", "ascending", "merged", "ranks", "resolution_of"]

RESOLUTION = 1e-6
"""Difference in s below which two times of a replay are equal."""

_SPACING = 2.0**-46
"""Smallest resolution relative to the length of a replay: 64 times the spacing of doubles there."""


def resolution_of(arrival: Floats, gpus: Ints, duration: Floats, n_gpus: int) -> float:
    """Return the resolution of a replay in s: `RESOLUTION`, or more if doubles cannot resolve that.

    Parameters
    ----------
    arrival : ndarray of float
        Ascending arrivals, s since the first, shape (jobs,).
    gpus : ndarray of int
        GPUs of each gang, shape (jobs,).
    duration : ndarray of float
        Duration of each job, s, shape (jobs,).
    n_gpus : int
        GPUs of the cluster.
    """
    if not len(arrival):
        return RESOLUTION
    length = float(arrival[-1] + duration.max() + (gpus * duration).sum() / n_gpus)
    return max(RESOLUTION, _SPACING * length)


def ascending(values: Floats, resolution: float, share: float = 0.0) -> Ints:
    """Return the stable ascending order of values, where values closer than the resolution are equal.

    Parameters
    ----------
    values : ndarray of float
        Finite values, shape (n,).
    resolution : float
        Resolution in the unit of the values.
    share : float, optional
        Additional resolution relative to the larger value.
    """
    order = values.argsort(kind="stable")
    ordered = values[order]
    steps = ordered[1:] - ordered[:-1]
    least = resolution + share * np.abs(ordered[1:]) if share else resolution
    if not _noisy(steps, least):
        return order
    return _spread(order, _groups(steps, least)).argsort(kind="stable")


def ranks(values: Floats, resolution: float, share: float = 0.0) -> Ints:
    """Return the rank of each value, from 0; values closer than the resolution have the same rank.

    Parameters
    ----------
    values : ndarray of float
        Finite values, shape (n,).
    resolution, share : float
        Absolute and relative resolution, as in `ascending`.
    """
    order = values.argsort(kind="stable")
    ordered = values[order]
    return _spread(order, _groups(ordered[1:] - ordered[:-1], resolution + share * np.abs(ordered[1:])))


def merged(values: Floats, resolution: float) -> Floats:
    """Replace values closer than the resolution by the smallest of them.

    Parameters
    ----------
    values : ndarray of float
        Finite values, shape (n,).
    resolution : float
        Resolution in the unit of the values.
    """
    order = values.argsort(kind="stable")
    ordered = values[order]
    steps = ordered[1:] - ordered[:-1]
    if not _noisy(steps, resolution):
        return values
    first = np.append(0, np.flatnonzero(steps > resolution) + 1)
    return np.asarray(ordered[first][_spread(order, _groups(steps, resolution))])


def _noisy(steps: Floats, least: Floats | float) -> bool:
    """Return whether some values are equal but not identical."""
    small = steps <= least
    return bool(np.count_nonzero(small)) and bool(np.count_nonzero(steps[small]))


def _groups(steps: Floats, least: Floats | float) -> Ints:
    """Return the group of each of n ordered values from the n - 1 steps between them."""
    groups = np.zeros(len(steps) + 1, dtype=np.int64)
    np.cumsum(steps > least, out=groups[1:])
    return groups


def _spread(order: Ints, groups: Ints) -> Ints:
    """Return the groups of ordered values in the original order of the values."""
    spread = np.empty(len(order), dtype=np.int64)
    spread[order] = groups[: len(order)]
    return spread
