"""The completion-form Lagrangian: jobs buy GPU seconds at given prices and pay for their completion time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangopt.base.types import Floats, Ints
from gangopt.solvers.bounds.jobs import GangJobs
from gangopt.solvers.bounds.prices import Grid, chunks, ragged

__all__ = ["Completion"]


@dataclass(frozen=True)
class _Tables:
    """Integrals of the prices up to each grid point, for each distinct price v_l, flattened with `width` points each.

    `below` is the time with prices up to v_l, `spare` the integral of (v_l - price)^+, `paid` that of the price;
    `highest[p, k]` is the highest of the 2^p prices from k on.
    """

    prices: Floats
    levels: Floats
    rank: Ints
    width: int
    below: Floats
    spare: Floats
    paid: Floats
    highest: Floats

    @classmethod
    def of(cls, prices: Floats, grid: Grid) -> _Tables:
        levels, rank = np.unique(prices, return_inverse=True)
        gain = levels[:, None] - prices[None, :]
        width = len(grid.points)
        below, spare = np.zeros((len(levels), width)), np.zeros((len(levels), width))
        np.cumsum((gain >= 0) * grid.length, axis=1, out=below[:, 1:])
        np.cumsum(np.maximum(gain, 0.0) * grid.length, axis=1, out=spare[:, 1:])
        paid = np.concatenate([[0.0], np.cumsum(prices * grid.length)])
        # a sparse table: the maximum over any range is that of two overlapping ranges of a power of two
        highest = [prices]
        while 2 << len(highest) - 1 <= len(prices):
            half = 1 << len(highest) - 1
            ahead = np.append(highest[-1][half:], np.full(half, highest[-1][-1]))
            highest.append(np.maximum(highest[-1], ahead))
        rank = rank.astype(np.int64)
        return cls(prices, levels, rank, width, below.ravel(), spare.ravel(), paid, np.array(highest))

    def time(self, rows: _Rows, m: Ints, level: Ints) -> Floats:
        """Return the time between the arrival of each row and grid point m at which prices are at most v_level."""
        base = level * self.width
        cheap_arrival = self.rank[rows.k] <= level
        return np.asarray(self.below[base + m] - self.below[base + rows.k] - cheap_arrival * rows.offset)

    def level(self, rows: _Rows, m: Ints) -> Ints:
        """Return the lowest level at which the running time of each row is met between arrival and grid point m."""
        # one bisection for all rows at once; the slack keeps rounding of the sums from pushing a row one level up
        needed = rows.d * (1 - 1e-12)
        low, high = np.zeros(len(m), dtype=np.int64), np.full(len(m), len(self.levels) - 1)
        for _ in range(int(len(self.levels) - 1).bit_length()):
            middle = (low + high) >> 1
            met = self.time(rows, m, middle) >= needed
            high = np.where(met, middle, high)
            low = np.where(met, low, np.minimum(middle + 1, high))
        return high


@dataclass(frozen=True)
class _Rows:
    """Some of the jobs: arrival r, `offset` after the start of interval k, running time d, gang per weight w."""

    r: Floats
    d: Floats
    w: Floats
    k: Ints
    offset: Floats


@dataclass(frozen=True)
class _Choice:
    """Completion of each row: at once, or with its cheapest seconds up to v_level, at grid point m or before it."""

    at_once: npt.NDArray[np.bool_]
    m: Ints
    level: Ints
    between: npt.NDArray[np.bool_]


class Completion:
    r"""Values of the dual for prices :math:`\lambda_k \ge 0` of a GPU second on a grid.

    .. math:: L(\lambda) = \sum_j \min_{C \ge r_j + d_j} \{ v_j (C - r_j) + W_j K_j(C) \} - G \int \lambda, \quad
        K_j(C) = \max_v \Big\{ v d_j - \int_{r_j}^{C} (v - \lambda)^+ dt \Big\},

    K the cost of the d_j cheapest seconds of [r_j, C]. Weak duality on the capacity: given C, the cheapest seconds
    are best. Every v gives a lower bound on K. Between two grid points the minimum over C is at an end, or anywhere
    with v = lambda_k + v_j / W_j, where time costs as much as it saves.

    Parameters
    ----------
    jobs : GangJobs
        The jobs.
    grid : Grid
        Intervals of constant price.
    """

    def __init__(self, jobs: GangJobs, grid: Grid) -> None:
        self._jobs, self._grid = jobs, grid
        self._w = jobs.gpus / jobs.weight
        self._soonest = jobs.arrival + jobs.duration
        self._soonest_at = grid.at(self._soonest)
        self._best_at = self._soonest_at + 1
        # last interval that [r, r + d] enters, and the power of two for a range maximum of prices up to there
        self._soonest_last = np.maximum(np.searchsorted(grid.points, self._soonest, side="left") - 1, grid.interval)
        self._span_power = np.frexp(self._soonest_last - grid.interval + 1)[1].astype(np.int64) - 1

    def value(self, prices: Floats) -> tuple[float, Floats, float]:
        """Return the bound, a supergradient and the summed magnitude of its terms.

        Parameters
        ----------
        prices : ndarray of float
            Weight per GPU, shape (N,).
        """
        jobs, grid = self._jobs, self._grid
        tables = _Tables.of(np.append(prices, 0.0), grid)
        value, use = np.zeros(len(jobs)), np.zeros(len(grid.length))
        at_once, last = self._windows(tables)
        for part in chunks(last - self._soonest_at):
            value[part] = self._chunk(tables, part, at_once[part], last[part], use)
        price = jobs.n_gpus * float(prices @ grid.length[:-1])
        gained = float(jobs.weight @ value)
        return gained - price, use[:-1] - jobs.n_gpus * grid.length[:-1], gained + price

    def _rows(self, part: slice) -> _Rows:
        jobs, grid = self._jobs, self._grid
        k, r = grid.interval[part], jobs.arrival[part]
        return _Rows(r, jobs.duration[part], self._w[part], k, r - grid.points[k])

    def _at_once(self, tables: _Tables) -> Floats:
        """Return the value of running from the arrival without a break, for every job."""
        jobs, grid = self._jobs, self._grid
        paid = tables.paid[self._soonest_at] + tables.prices[self._soonest_at] * (
            self._soonest - grid.points[self._soonest_at]
        )
        paid -= tables.paid[grid.interval] + tables.prices[grid.interval] * (jobs.arrival - grid.points[grid.interval])
        return jobs.duration + self._w * np.maximum(paid, 0.0)

    def _windows(self, tables: _Tables) -> tuple[Floats, Ints]:
        """Return the value of running at once, and the last grid point that the best C of each job can lie before.

        C - r is at most the value of any choice, less the minimum cost of the seconds up to there.
        """
        jobs, points = self._jobs, self._grid.points
        rows, soonest = self._rows(slice(None)), self._soonest_at + 1
        at_once = self._at_once(tables)
        # the best completion at the prices before is a good guess, and any guess gives a valid window
        best = np.minimum(at_once, self._value_at(tables, rows, np.maximum(self._best_at, soonest)))
        far = np.maximum(np.minimum(self._grid.at(jobs.arrival + best) + 1, tables.width - 1), soonest)
        least = self._value_at(tables, rows, far) - (points[far] - jobs.arrival)
        latest = jobs.arrival + (best - np.maximum(least, 0.0)) * (1 + 1e-9)
        return at_once, np.clip(self._grid.at(latest) + 1, soonest, far)

    def _value_at(self, tables: _Tables, rows: _Rows, m: Ints) -> Floats:
        """Return C - r + w K(C) at grid point m of each row, later than r + d."""
        level = tables.level(rows, m)
        return self._cost(tables, rows, m, level, tables.levels[level])

    def _cost(self, tables: _Tables, rows: _Rows, m: Ints, level: Ints, v: Floats) -> Floats:
        """Return C - r + w (v d - integral of (v - price)^+ over [r, C]) at grid point m.

        v_level is the largest distinct price up to v.
        """
        # the table holds the integral at v_level: shift it to v, and take off the part of interval k before r
        here, there = level * tables.width + m, level * tables.width + rows.k
        spare = tables.spare[here] - tables.spare[there]
        spare += (v - tables.levels[level]) * (tables.below[here] - tables.below[there])
        spare -= np.maximum(v - tables.prices[rows.k], 0.0) * rows.offset
        return np.asarray(self._grid.points[m] - rows.r + rows.w * (v * rows.d - spare))

    def _chunk(self, tables: _Tables, part: slice, at_once: Floats, last: Ints, use: Floats) -> Floats:
        """Return the value of some jobs and add their use of the intervals."""
        rows = self._rows(part)
        # one pair for each job and each grid point m that C may lie up to, job by job
        row, m, begin = ragged(self._soonest_at[part] + 1, last + 1)
        pairs = _Rows(rows.r[row], rows.d[row], rows.w[row], rows.k[row], rows.offset[row])
        level = tables.level(pairs, m)
        v = tables.levels[level]
        # v falls as m grows; inside the interval before m it runs from `left` (at m - 1) down to v (at m), and where it
        # passes lambda + 1 / w, an inner C is the minimum
        left = np.append(0.0, v[:-1])
        left[begin] = self._dearest(tables, part)
        free = tables.prices[m - 1] + 1 / pairs.w
        inner = np.flatnonzero((v < free) & (free < left))
        v[inner] = free[inner]
        level[inner] = np.searchsorted(tables.levels, v[inner], side="right") - 1
        cost = self._cost(tables, pairs, m, level, v)
        # elsewhere the left end is best: it is the right end of the interval before, or running at once
        cost[free >= left] = np.inf
        best = np.minimum.reduceat(cost, begin)
        # the first minimum of each job
        at = np.flatnonzero(cost == best[row])
        at = at[np.append(True, np.diff(row[at]) > 0)]
        between = np.zeros(len(row), dtype=np.bool_)
        between[inner] = True
        self._best_at[part] = m[at]
        self._use(tables, rows, _Choice(at_once <= best, m[at], level[at], between[at]), self._jobs.gpus[part], use)
        return np.minimum(best, at_once)

    def _dearest(self, tables: _Tables, part: slice) -> Floats:
        """Return the highest price between arrival and soonest completion of some jobs."""
        power = self._span_power[part]
        first, last = self._grid.interval[part], self._soonest_last[part]
        return np.asarray(np.maximum(tables.highest[power, first], tables.highest[power, last + 1 - (1 << power)]))

    def _use(self, tables: _Tables, rows: _Rows, choice: _Choice, gpus: Floats, use: Floats) -> None:
        """Add the GPU seconds that each row uses of each interval at its choice."""
        points = self._grid.points
        # seconds below the level are used whole; of those at the level, the share that completes the running time
        level = np.where(choice.at_once, len(tables.levels) - 1, choice.level)
        within = tables.time(rows, choice.m, level)
        cheaper = np.where(level > 0, tables.time(rows, choice.m, np.maximum(level - 1, 0)), 0.0)
        share = np.clip((rows.d - cheaper) / np.maximum(within - cheaper, 1e-12 * rows.d), 0.0, 1.0)
        end = np.where(choice.between, points[choice.m] - np.maximum(within - rows.d, 0.0), points[choice.m])
        end = np.where(choice.at_once, rows.r + rows.d, end)
        # a job that completes at once or inside an interval uses every second up to its level, and ends early instead
        share[choice.between | choice.at_once] = 1.0
        row, k, _ = ragged(rows.k, self._grid.at(end) + 1)
        overlap = np.minimum(points[k + 1], end[row]) - np.maximum(points[k], rows.r[row])
        gap = tables.rank[k] - level[row]
        weight = np.where(gap < 0, gpus[row], np.where(gap == 0, (gpus * share)[row], 0.0))
        use += np.bincount(k, weights=weight * overlap, minlength=len(use))
