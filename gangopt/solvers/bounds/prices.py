"""Prices of a GPU second over time: piecewise constant on a grid, and 0 after its end."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gangopt.base.types import Floats, Ints
from gangopt.solvers.bounds.jobs import GangJobs

__all__ = ["Grid", "chunks", "finest_grid", "first_prices", "ragged"]

_PAIRS = 1 << 17
"""Pairs of job and interval processed at once: arrays of this length stay in the cache."""


@dataclass(frozen=True)
class Grid:
    """Intervals [t_k, t_{k+1}), k = 0..N; the last one, after t_N, has no price and is longer than any job.

    Attributes
    ----------
    points : ndarray of float
        Grid points t, s, shape (N + 2,).
    length : ndarray of float
        t_{k+1} - t_k, s, shape (N + 1,).
    interval : ndarray of int
        Index k of the interval in which each job arrives, shape (jobs,).
    """

    points: Floats
    length: Floats
    interval: Ints

    @classmethod
    def of(cls, priced: Floats, jobs: GangJobs) -> Grid:
        """Return the grid whose priced part has the given points, ascending from 0 to beyond the last arrival."""
        points = np.append(priced, priced[-1] + 2.0 * float(jobs.duration.max()))
        interval = np.searchsorted(points, jobs.arrival, side="right") - 1
        return cls(points, np.diff(points), interval)

    def __len__(self) -> int:
        """Number N of intervals with a price."""
        return len(self.length) - 1

    def onto(self, prices: Floats, finer: Grid) -> Floats:
        """Return prices of this grid on another one, each sampled at the middle of its interval.

        Parameters
        ----------
        prices : ndarray of float
            Shape (N,).
        finer : Grid
            The other grid.
        """
        middle = (finer.points[:-2] + finer.points[1:-1]) / 2
        return np.asarray(prices[np.minimum(self.at(middle), len(self) - 1)])

    def at(self, times: Floats) -> Ints:
        """Return the interval of each time."""
        found: Ints = np.searchsorted(self.points, times, side="right") - 1
        return np.asarray(np.minimum(found, len(self.length) - 1))


def finest_grid(jobs: GangJobs, completions: Floats, intervals: int) -> Floats:
    """Return at most intervals + 1 points: two thirds are quantiles of arrivals and completions, one third uniform.

    Parameters
    ----------
    jobs : GangJobs
        The jobs.
    completions : ndarray of float
        Expected completion time of each job, s.
    intervals : int
        A multiple of every coarser grid's size, so that each [::step] of the points is a grid too.
    """
    end = float(completions.max())
    events = np.sort(np.concatenate([jobs.arrival, completions]))
    uniform = np.linspace(0.0, end, intervals // 3 + 1)
    ranks = np.linspace(0, len(events) - 1, intervals - len(uniform) + 2)
    quantiles = np.interp(ranks, np.arange(len(events)), events)
    points = np.unique(np.concatenate([uniform, quantiles]))
    apart = np.append(True, np.diff(points) > 1e-9 * end)
    apart[-1] = True
    return np.asarray(points[apart])


def first_prices(jobs: GangJobs, completions: Floats, grid: Grid) -> Floats:
    """Return (1/G) times the mean weight of jobs that wait in each priced interval, in weight per GPU.

    Job j waits from r_j to C_j - d_j. At this price jobs of one GPU would be indifferent.
    """
    starts = np.concatenate([jobs.arrival, np.maximum(completions - jobs.duration, jobs.arrival)])
    steps = np.concatenate([jobs.weight, -jobs.weight])
    order = np.argsort(starts, kind="stable")
    moments = starts[order]
    waiting = np.cumsum(steps[order])
    area = np.concatenate([[0.0], np.cumsum(waiting[:-1] * np.diff(moments))])
    total = np.interp(grid.points[:-1], moments, area)
    return np.asarray(np.maximum(np.diff(total), 0.0) / (jobs.n_gpus * grid.length[:-1]))


def ragged(first: Ints, last: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the pairs (row, k) with first <= k < last of every row, row by row.

    Parameters
    ----------
    first, last : ndarray of int
        Shape (rows,), last > first.

    Returns
    -------
    tuple of int array
        Row and k of each pair, and where each row's pairs begin.
    """
    counts = last - first
    begin = np.cumsum(counts) - counts
    row = np.repeat(np.arange(len(first)), counts)
    return row, np.arange(len(row)) - np.repeat(begin - first, counts), begin


def chunks(sizes: Ints) -> list[slice]:
    """Return slices of consecutive rows that hold a bounded number of pairs each, one row at least.

    Parameters
    ----------
    sizes : ndarray of int
        Pairs of each row.
    """
    if not len(sizes):
        return []
    group = (np.cumsum(sizes) - sizes) // _PAIRS
    cuts = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(sizes)]
    return [slice(a, b) for a, b in pairwise(cuts)]
