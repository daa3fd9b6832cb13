"""Bound by separate prices for each job: it accounts for which gangs fit together, for few jobs on few GPUs."""

from __future__ import annotations

import numpy as np

from gangopt.base.types import Bools, Floats
from gangopt.solvers.bounds.jobs import GangJobs
from gangopt.solvers.bounds.prices import Grid

__all__ = ["JobPrices"]


class JobPrices:
    r"""Values of the dual for prices :math:`p_{jk} \ge 0` of a second of job j in interval k.

    .. math:: L(p) = \sum_j \min_{C \ge r_j + d_j} \{ v_j (C - r_j) + K_j(C) \} - \sum_k \ell_k \Gamma_k, \quad
        \Gamma_k = \max_S \Big\{ \sum_{j \in S} p_{jk} : \sum_{j \in S} W_j \le G \Big\},

    K_j the cost of the d_j cheapest seconds, l_k the length of interval k, S among the jobs that arrive before its end.
    At every moment the jobs that run pay at most Gamma. With p_j = W_j lambda it is at least the completion form.

    Parameters
    ----------
    jobs : GangJobs
        The jobs; an evaluation takes jobs times intervals squared, and jobs times intervals times G, operations.
    grid : Grid
        Intervals of constant price, of which the last one has none.
    """

    def __init__(self, jobs: GangJobs, grid: Grid) -> None:
        self._jobs, self._grid = jobs, grid
        points = grid.points
        start = np.maximum(points[None, :-1], jobs.arrival[:, None])
        self._length = np.maximum(points[None, 1:] - start, 0.0)
        soonest = (jobs.arrival + jobs.duration)[:, None]
        self._later = points[None, 1:] > soonest
        # time before the soonest completion, interval by interval
        self._at_once = np.maximum(np.minimum(points[None, 1:], soonest) - start, 0.0)
        self._present = jobs.arrival[:, None] < points[None, 1:-1]

    def value(self, prices: Floats) -> tuple[float, Floats, float]:
        """Return the bound, a supergradient and the summed magnitude of its terms.

        Parameters
        ----------
        prices : ndarray of float
            Weight, shape (jobs * N,), job by job.
        """
        jobs, n_intervals = self._jobs, len(self._grid)
        priced = prices.reshape(len(jobs), n_intervals)
        free = np.concatenate([priced, np.zeros((len(jobs), 1))], axis=1)
        worth, used = self._dearest_choice(free)
        taken, chosen = self._knapsack(priced)
        length = self._grid.length[:-1]
        paid = float(taken @ length)
        gained = float(worth.sum())
        gradient = used[:, :-1] - chosen * length[None, :]
        return gained - paid, gradient.ravel(), gained + paid

    def _dearest_choice(self, prices: Floats) -> tuple[Floats, Floats]:
        """Return the least cost of each job and the seconds of each interval that it then uses."""
        jobs, points = self._jobs, self._grid.points
        n, width = prices.shape
        order = np.argsort(prices, axis=1, kind="stable")
        cost = np.take_along_axis(prices, order, axis=1)
        length = np.take_along_axis(self._length, order, axis=1)
        # for every right end m the seconds of the cheapest intervals before it, cheapest first
        before = order[:, None, :] <= np.arange(width)[None, :, None]
        offered = np.where(before, length[:, None, :], 0.0)
        total = np.cumsum(offered, axis=2)
        need = jobs.duration[:, None, None]
        bought = np.clip(need - (total - offered), 0.0, offered)
        last = np.argmax(total >= need * (1 - 1e-12), axis=2)
        dearest = np.take_along_axis(cost, last, axis=1)
        turning = prices + jobs.weight[:, None]
        left = np.concatenate([np.zeros((n, 1)), dearest[:, :-1]], axis=1)
        first = np.argmax(self._later, axis=1)
        rows = np.arange(n)
        left[rows, first] = np.where(self._at_once > 0, prices, 0.0).max(axis=1)
        between = (dearest < turning) & (turning < left)
        level = np.where(between, turning, dearest)
        spare = np.maximum(level[:, :, None] - cost[:, None, :], 0.0)
        value = jobs.weight[:, None] * (points[None, 1:] - jobs.arrival[:, None])
        value += level * jobs.duration[:, None] - (spare * offered).sum(axis=2)
        value[(turning >= left) | ~self._later] = np.inf
        at_once = jobs.weight * jobs.duration + (self._at_once * prices).sum(axis=1)
        best = np.argmin(value, axis=1)
        soon = at_once <= value[rows, best]
        use = np.zeros_like(prices)
        np.put_along_axis(use, order, bought[rows, best], axis=1)
        use[soon] = self._at_once[soon]
        for j in np.flatnonzero(between[rows, best] & ~soon).tolist():
            m = int(best[j])
            # complete within interval m: take every cheaper interval whole, and the missing seconds from m itself
            use[j] = np.where(prices[j] < turning[j, m], self._length[j], 0.0)
            use[j, m:] = 0.0
            use[j, m] = jobs.duration[j] - use[j].sum()
        return np.minimum(at_once, value[rows, best]), use

    def _knapsack(self, prices: Floats) -> tuple[Floats, Bools]:
        """Return the dearest set of gangs that fit in each interval, by dynamic programming over the GPUs."""
        jobs = self._jobs
        capacity = int(jobs.n_gpus)
        n, width = prices.shape
        gangs = jobs.gpus.astype(np.int64).tolist()
        best = np.zeros((width, capacity + 1))
        take = np.zeros((n, width, capacity + 1), dtype=np.bool_)
        worth = np.where(self._present, prices, 0.0)
        for j, gang in enumerate(gangs):
            offer = best[:, : capacity + 1 - gang] + worth[j][:, None]
            better = offer > best[:, gang:]
            take[j, :, gang:] = better
            best[:, gang:] = np.where(better, offer, best[:, gang:])
        room = np.full(width, capacity)
        chosen = np.zeros((n, width), dtype=np.bool_)
        intervals = np.arange(width)
        for j in range(n - 1, -1, -1):
            chosen[j] = take[j, intervals, room]
            room = room - np.where(chosen[j], gangs[j], 0)
        return best[:, capacity].copy(), chosen
