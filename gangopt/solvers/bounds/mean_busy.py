"""The mean-busy Lagrangian: jobs buy GPU seconds at given prices and pay for how late they run on average."""

from __future__ import annotations

import numpy as np

from gangopt.base.types import Floats, Ints
from gangopt.solvers.bounds.jobs import EPSILON, GangJobs
from gangopt.solvers.bounds.prices import Grid, chunks, ragged

__all__ = ["MeanBusy"]

_STEPS = 40
"""Maximum steps of Newton's method; an inexact last time makes the bound weaker, never wrong."""


class MeanBusy:
    r"""Values of the dual for prices :math:`\lambda_k \ge 0` of a GPU second on a grid.

    .. math:: L(\lambda) = \sum_j v_j \Big\{ \frac{d_j}{2} - r_j + \min_{0 \le y \le 1,\, \int y = d_j}
        \int \Big(\frac{t}{d_j} + \frac{W_j}{v_j} \lambda(t)\Big) y\, dt \Big\} - G \int \lambda.

    Weak duality on the capacity, and that the mean of the times at which a gang runs is at most C_j - d_j/2. Job j runs
    at the times with :math:`t + d_j W_j \lambda_k / v_j \le m`, and every m gives a lower bound on its minimum.

    Parameters
    ----------
    jobs : GangJobs
        The jobs.
    grid : Grid
        Intervals of constant price.
    """

    def __init__(self, jobs: GangJobs, grid: Grid) -> None:
        self._jobs, self._grid = jobs, grid
        self._scale = jobs.duration * jobs.gpus / jobs.weight
        self._last = jobs.arrival + 1.5 * jobs.duration

    def value(self, prices: Floats) -> tuple[float, Floats, float]:
        """Return the bound, its gradient and the summed magnitude of its terms.

        Parameters
        ----------
        prices : ndarray of float
            Weight per GPU, shape (N,).
        """
        jobs, grid = self._jobs, self._grid
        lam = np.append(prices, 0.0)
        worth, use = np.zeros(len(jobs)), np.zeros(len(lam))
        end = grid.at(np.maximum(self._last, jobs.arrival + jobs.duration)) + 1
        for part in chunks(end - grid.interval):
            self._chunk(part, lam, end[part], worth, use)
        price = jobs.n_gpus * float(lam[:-1] @ grid.length[:-1])
        gained = float(jobs.weight @ worth)
        gradient = use[:-1] - jobs.n_gpus * grid.length[:-1]
        size = float(jobs.weight @ (np.abs(worth) + self._last + jobs.arrival)) + price
        return gained - price, gradient, size

    def _chunk(self, part: slice, lam: Floats, end: Ints, worth: Floats, use: Floats) -> None:
        """Fill in the worth of some jobs and add their use of the intervals."""
        jobs, grid = self._jobs, self._grid
        first = grid.interval[part]
        last_time, pairs = self._solve(part, lam, first, end)
        beyond = np.flatnonzero(last_time > grid.points[end])
        if len(beyond):
            # a truncated window overstates the last time, so that a window up to it holds the true one
            end = end.copy()
            end[beyond] = grid.at(last_time[beyond]) + 1
            last_time, pairs = self._solve(part, lam, first, end)
        self._last[part] = last_time
        row, k, begin, base, length = pairs
        rest = np.maximum(last_time[row] - base, 0.0)
        taken = np.minimum(rest, length)
        d, r = jobs.duration[part], jobs.arrival[part]
        worth[part] = d / 2 - r + last_time - np.add.reduceat(taken * (rest - taken / 2), begin) / d
        use += np.bincount(k, weights=jobs.gpus[part][row] * taken, minlength=len(use))

    def _solve(
        self, part: slice, lam: Floats, first: Ints, end: Ints
    ) -> tuple[Floats, tuple[Ints, Ints, Ints, Floats, Floats]]:
        """Return the last time m of each job at which its running time is met within its window, and the pairs."""
        grid, d, r = self._grid, self._jobs.duration[part], self._jobs.arrival[part]
        row, k, begin = ragged(first, end)
        start = np.maximum(grid.points[k], r[row])
        length = grid.points[k + 1] - start
        base = self._scale[part][row] * lam[k] + start
        m = np.maximum(self._last[part], r + d)
        low, high = r.copy(), np.maximum.reduceat(base + length, begin)
        tolerance = 1e-10 * d + 8 * EPSILON * float(grid.points[-1])
        for _ in range(_STEPS):
            rest = m[row] - base
            taken = np.clip(rest, 0.0, length)
            over = np.add.reduceat(taken, begin) - d
            slope = np.add.reduceat(((rest > 0) & (rest < length)).astype(np.float64), begin)
            if (np.abs(over) <= tolerance).all():
                break
            low, high = np.where(over < 0, np.maximum(low, m), low), np.where(over >= 0, np.minimum(high, m), high)
            step = m - over / np.maximum(slope, 1.0)
            inside = (step > low) & (step < high) & (slope > 0)
            m = np.where(np.abs(over) <= tolerance, m, np.where(inside, step, (low + high) / 2))
        return m, (row, k, begin, base, length)
