r"""The Lagrangian dual of `allocation` over the prices of its resources.

With a price :math:`\lambda_r \ge 0`, in seconds for one unit of resource r, the jobs no longer compete, and

.. math:: L(\lambda) = \sum_j \min_{(p, w)} \bigl( t_j(p, w) + w\, \lambda O_j + p\, \lambda N_j \bigr) - \lambda C

is at most the cost of every feasible allocation, whatever the prices are. Its maximum equals the relaxation of forms
`choice` and `counts`. There are only as many prices as resources, so cutting planes find the maximum in a few dozen
evaluations, each a few passes over the tables of completion times.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InfeasibleError
from gangopt.base.types import Floats, Ints
from gangopt.formulations.allocation.configurations import Configurations, capacity_rows, on_the_frontier
from gangopt.instances.allocation.instance import AllocationInstance, TimeGrid, equal_job_classes
from gangopt.solvers.core.clock import Clock, OutOfTime

__all__ = ["Dual", "PricedGrids", "Selection", "maximise_bound"]


CELLS_AT_ONCE = 2_000_000
"""Completion times processed between two checks of the clock."""

MAX_CUTS = 400
"""Maximum evaluations; the best prices so far are then used, since any prices give a valid bound."""

LARGEST_BOX = 1e7
"""Cap on the price of a whole capacity, in multiples of the largest sum of completion times seen."""

ROUNDING = 2.0**-50
"""Relative rounding error allowed for in a bound: a few units in the last place of the largest partial sum."""


@dataclass(frozen=True)
class Selection:
    """The cheapest configuration of every class at given prices.

    Attributes
    ----------
    prices : ndarray of float
        Seconds for one unit of each resource, shape (R,).
    bound : float
        L(prices) less its rounding error, seconds.
    seconds : float
        Sum of the completion times of the chosen configurations.
    use : ndarray of float
        Their use of each resource, shape (R,).
    ps, workers : ndarray of int
        Tasks chosen for each class, shape (classes,).
    least : ndarray of float
        Priced cost of the chosen configuration of one job, for each class, seconds, shape (classes,).
    """

    prices: Floats
    bound: float
    seconds: float
    use: Floats
    ps: Ints
    workers: Ints
    least: Floats


@dataclass(frozen=True)
class _Grid:
    classes: Ints
    seconds: Floats
    sizes: Floats
    worker: Floats
    server: Floats


class PricedGrids:
    """Completion times of every class of equal jobs, to be evaluated at prices.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.
    clock : Clock or None, optional
        Construction and every method raise OutOfTime once it has expired, except where one pass over all completion
        times takes almost no time.

    Attributes
    ----------
    classes : object
        Jobs of each class.
    capacity : object
        The most that can be used of each resource, in its own unit, shape (R,).
    clock : Clock or None
        The given clock, or one that never expires.
    stated_capacity : object
        The capacity of the instance, which is never 0, shape (R,).

    Raises
    ------
    InfeasibleError
        If no configuration of a job fits the capacities; the message names the job.
    """

    def __init__(self, instance: AllocationInstance, clock: Clock | None = None) -> None:
        self._instance = instance
        self.clock = clock or Clock()
        self.classes = equal_job_classes(instance)
        self.capacity = capacity_rows(instance).capacity
        self.stated_capacity = instance.capacity
        self.sizes = np.array([len(members) for members in self.classes], dtype=float)
        first = np.array([members[0] for members in self.classes])
        class_of = np.empty(len(instance.jobs), dtype=np.int64)
        class_of[first] = np.arange(len(first))
        self._grids: list[_Grid] = []
        at_once = max(1, CELLS_AT_ONCE // int((instance.max_ps[first] * instance.max_workers[first]).max()))
        for start in range(0, len(first), at_once):
            self._add(first[start : start + at_once], class_of)

    def _add(self, first: Ints, class_of: Ints) -> None:
        """Add the grids of some classes, given by the first job of each."""
        if self._grids:
            self.clock.require()
        instance = self._instance
        for grid in instance.time_grids(first):
            grid.seconds[~on_the_frontier(grid.seconds)] = np.inf
            at = class_of[grid.jobs]
            worker, server = instance.worker_demand[grid.jobs], instance.ps_demand[grid.jobs]
            self._drop_too_large(grid.seconds, worker, server)
            self._require_one_each(grid)
            self._grids.append(_Grid(at, grid.seconds, self.sizes[at], worker, server))

    def _each(self) -> Iterator[_Grid]:
        for number, grid in enumerate(self._grids):
            if number:
                self.clock.require()
            yield grid

    def _drop_too_large(self, seconds: Floats, worker: Floats, server: Floats) -> None:
        _, P, W = seconds.shape
        ps, workers = np.arange(1.0, P + 1)[:, None], np.arange(1.0, W + 1)
        for r, limit in enumerate(self._instance.capacity_limit):
            for i in np.flatnonzero(P * server[:, r] + W * worker[:, r] > limit):
                seconds[i][ps * server[i, r] + workers * worker[i, r] > limit] = np.inf

    def _require_one_each(self, grid: TimeGrid) -> None:
        none = np.isinf(grid.seconds).all(axis=(1, 2))
        if none.any():
            j = int(grid.jobs[np.argmax(none)])
            raise InfeasibleError(
                f"resource_capacity: no allowed configuration of job {j} ({self._instance.jobs[j]}) fits, each exceeds "
                "the capacity of some resource"
            )

    def select(self, prices: Floats) -> Selection:
        """Return every class's cheapest configuration at the prices, and the bound that they prove.

        Parameters
        ----------
        prices : ndarray of float
            Seconds for one unit of each resource, at least 0, shape (R,).
        """
        count = len(self.classes)
        ps, workers = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        least, seconds = np.empty(count), np.empty(count)
        use = np.zeros(len(prices))
        for grid in self._each():
            n, P, W = grid.seconds.shape
            priced = self._priced(grid, prices).reshape(n, P * W)
            best = priced.argmin(axis=1)
            rows = np.arange(n)
            p, w = best // W + 1, best % W + 1
            ps[grid.classes], workers[grid.classes] = p, w
            least[grid.classes] = priced[rows, best]
            seconds[grid.classes] = grid.seconds.reshape(n, P * W)[rows, best]
            use += grid.sizes @ (p[:, None] * grid.server + w[:, None] * grid.worker)
        parts = [*(self.sizes * least).tolist(), *(-prices * self.capacity).tolist()]
        total = math.fsum(parts)
        margin = ROUNDING * math.fsum(map(abs, parts))
        return Selection(prices, total - margin, math.fsum(self.sizes * seconds), use, ps, workers, least)

    @staticmethod
    def _priced(grid: _Grid, prices: Floats) -> Floats:
        _, P, W = grid.seconds.shape
        priced = grid.seconds + (grid.worker @ prices)[:, None, None] * np.arange(1.0, W + 1)
        priced += (grid.server @ prices)[:, None, None] * np.arange(1.0, P + 1)[:, None]
        return priced

    def columns_within(self, selection: Selection, threshold: float) -> tuple[Configurations, Floats]:
        """Return the configurations whose reduced cost is below a threshold, and the reduced costs.

        Parameters
        ----------
        selection : Selection
            The cheapest configurations at some prices.
        threshold : float
            Seconds.

        Returns
        -------
        tuple of Configurations and array
            The reduced costs are in seconds, shape (n,). Every solution that uses a configuration left out costs at
            least `selection.bound + threshold`.
        """
        parts = []
        for grid in self._each():
            priced = self._priced(grid, selection.prices)
            least = selection.least[grid.classes]
            priced -= least[:, None, None]
            # priced costs carry rounding of their own, so the threshold is widened by it
            i, p, w = np.nonzero(priced < threshold + ROUNDING * (np.abs(least)[:, None, None] + threshold))
            parts.append((grid.classes[i], p + 1, w + 1, grid.seconds[i, p, w], priced[i, p, w]))
        owner, ps, workers, seconds, reduced = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((workers, ps, owner))
        columns = Configurations(self.classes, owner[order], ps[order], workers[order], seconds[order])
        return columns, reduced[order]

    def smallest_reduced_costs(self, selection: Selection, count: int) -> float:
        """Return a threshold, in seconds, below which about `count` reduced costs above 0 lie; infinite if fewer do."""
        near = []
        for grid in self._each():
            priced = self._priced(grid, selection.prices)
            priced -= selection.least[grid.classes][:, None, None]
            flat = priced[np.isfinite(priced)]
            flat = flat[flat > 0]
            near.append(np.partition(flat, count)[: count + 1] if len(flat) > count else flat)
        every = np.sort(np.concatenate(near))
        return float(every[count]) if len(every) > count else math.inf


@dataclass(frozen=True)
class Dual:
    """Result of the cutting planes.

    Attributes
    ----------
    best : Selection
        Selection at the prices with the largest bound.
    selections : list of Selection
        Every evaluated selection, in order.
    ceiling : float
        Upper limit on the dual implied by the cuts, seconds.
    capped : bool
        Whether the best prices found are at their cap, as happens when no solution exists and the dual is unbounded.
    """

    best: Selection
    selections: list[Selection]
    ceiling: float
    capped: bool = False

    def base(self) -> Selection:
        """Return the selection that reduced costs are taken from: the best, or the one without prices if capped."""
        return self.selections[0] if self.capped else self.best


def maximise_bound(grids: PricedGrids) -> Dual:
    """Find prices with the largest Lagrangian bound by cutting planes, smoothed towards the best prices so far.

    Parameters
    ----------
    grids : PricedGrids
        The completion times; where their clock expires, the search ends with the best prices so far.

    Raises
    ------
    OutOfTime
        If the clock expires before the first prices are evaluated.

    References
    ----------
    Kelley, The cutting-plane method for solving convex programs (1960); the smoothing is the in-out separation of
    Ben-Ameur and Neame (2007).
    """
    selections = [grids.select(np.zeros(len(grids.capacity)))]
    best, ceiling, box, pull = selections[0], math.inf, 10.0, 0.5
    if (best.use <= grids.capacity).all():
        return Dual(best, selections, best.bound)
    capped = False
    while len(selections) < MAX_CUTS and not grids.clock.expired():
        prices, ceiling, capped = _master(selections, grids, box)
        if ceiling - best.bound <= 1e-10 * abs(ceiling) and not (capped and box < LARGEST_BOX):
            break
        if capped and box < LARGEST_BOX:
            box *= 10
        try:
            trial = grids.select(pull * best.prices + (1 - pull) * prices)
            selections.append(trial)
            if trial.bound > best.bound:
                best = trial
            else:
                # the smoothed point was no better: move closer to the master's own point from now on
                exact = grids.select(prices)
                selections.append(exact)
                best = max(best, exact, key=lambda item: item.bound)
        except OutOfTime:
            break
    return Dual(best, selections, ceiling, capped)


def _master(selections: list[Selection], grids: PricedGrids, box: float) -> tuple[Floats, float, bool]:
    """Return the prices with the largest bound that the cuts allow, that bound, and whether a price is at its cap.

    Prices are scaled by capacity over the size of the objective, so that all numbers are near 1.
    """
    from scipy.optimize import linprog

    # the capacity as given is above 0, which the one in whole row units need not be
    per = grids.stated_capacity
    R = len(per)
    scale = max(1e-300, *(item.seconds for item in selections))
    cuts = np.array([[*((grids.capacity - item.use) / per), 1.0] for item in selections])
    values = np.array([item.seconds / scale for item in selections])
    found = linprog(
        np.append(np.zeros(R), -1.0),
        A_ub=cuts,
        b_ub=values,
        bounds=[(0, box)] * R + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    scaled = np.maximum(0.0, found.x[:R])
    return scaled * scale / per, float(found.x[R] * scale), bool((scaled >= box * (1 - 1e-9)).any())
