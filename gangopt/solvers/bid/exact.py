"""Exact bid table: minimise the mean finish-time fairness by splitting every phase of every offer optimally."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gangopt.base.types import Floats, Ints
from gangopt.instances.bid.instance import BidInstance, BidRow, BidSolution
from gangopt.instances.bid.rows import Split, queued, shared_row, whole_row
from gangopt.solvers.bid.queues import (
    QueueSplit,
    longest_queue,
    queues_with_solver,
    queues_without_solver,
    whole_times,
)
from gangopt.solvers.core.by_form import settings_of
from gangopt.solvers.core.contract import Controls, Outcome, Termination

if TYPE_CHECKING:
    from gangopt.solvers.highs import SolveSettings

__all__ = ["exact", "fastest_counts", "fewest_gpus"]

ROUNDING = 1e-9
"""Maximum relative error of the solver's bound on a model in doubles."""


def exact(instance: BidInstance, controls: Controls) -> Outcome:
    """Minimise the mean finish-time fairness over the offers and prove it.

    Offers and phases are independent. Split `shared` uses the formula of `shared_row`, which no split beats. Split
    `whole` with a GPU for every job finds, by bisection, the least length at which the jobs' minimum numbers of GPUs
    fit. With more jobs than GPUs, queues come from `queues_without_solver`, then `queues_with_solver`, and HiGHS on
    formulation `classes` if a flow would be too large. Phases that need a solver share the remaining time, and unused
    time goes to the others; out of time, a phase keeps the best queues found and a lower bound. An offer keeps its row
    of the start if that is better.

    Parameters
    ----------
    instance : BidInstance
        An app with offers.
    controls : Controls
        Settings of the call.
    """
    begin = time.perf_counter()
    offers = range(len(instance.offer_levels))
    if instance.split == "shared":
        rows = tuple(shared_row(instance, offer) for offer in offers)
        bound = math.fsum(row.rho for row in rows) / len(rows)
        return Outcome("optimal", BidSolution(rows), bound, form="formula", solve_seconds=time.perf_counter() - begin)
    search = _Search(instance, controls)
    search.split_queues()
    table: list[BidRow] = []
    bounds: list[float] = []
    for offer in offers:
        phases = [search.phase(offer, i) for i in range(len(instance.phases))]
        row = whole_row(instance, offer, [item.split for item in phases])
        given = row if controls.start is None else controls.start.rows[offer]
        table.append(given if given.rho < row.rho else row)
        bounds.append(instance.rho(tuple(item.bound for item in phases)))
    return Outcome(
        termination=search.termination(),
        solution=BidSolution(tuple(table)),
        bound=math.fsum(bounds) / len(bounds),
        form="phases",
        solve_seconds=time.perf_counter() - begin,
        options={"solves": search.models},
        reason=None if search.proven else "the queues of some phase are not proven optimal",
    )


@dataclass(frozen=True)
class _Phase:
    """The split of a phase, and a bound on its length in s."""

    split: Split
    bound: float


@dataclass
class _Queues:
    """A phase with more jobs than GPUs: its times in whole units, and the best queues so far."""

    offer: int
    phase: int
    gpus: int
    times: list[int]
    unit: Fraction
    found: QueueSplit

    @classmethod
    def of(cls, instance: BidInstance, offer: int, phase: int) -> _Queues:
        """Return a phase on an offer, with the queues of longest processing time first."""
        runs, gpus = instance.phases[phase], int(instance.offer_gpus[offer])
        single = (instance.work * instance.factor(offer, 1))[runs.start : runs.stop]
        times, unit = whole_times(single.tolist())
        return cls(offer, phase, gpus, times, unit, queues_without_solver(times, gpus, stopped=lambda: True))


class _Search:
    """Splits phase by phase; one with queues is split once for each number of GPUs."""

    def __init__(self, instance: BidInstance, controls: Controls) -> None:
        self.instance = instance
        self.controls = controls
        self.interrupted = False
        self.models = 0
        self._until = math.inf
        self._queues: dict[tuple[int, int], _Queues] = {}
        for offer, gpus in enumerate(instance.offer_gpus.tolist()):
            for i, runs in enumerate(instance.phases):
                if len(runs) > gpus and (i, gpus) not in self._queues:
                    self._queues[i, gpus] = _Queues.of(instance, offer, i)

    @property
    def proven(self) -> bool:
        """True if no phase has shorter queues."""
        return all(item.found.proven for item in self._queues.values())

    def termination(self) -> Termination:
        """Return why the search ended."""
        if self.interrupted:
            return "interrupted"
        if self.proven:
            return "optimal"
        return "time_limit" if self._over() else "completed"

    def phase(self, offer: int, i: int) -> _Phase:
        """Return the split of a phase on an offer; queues are those found by `split_queues`."""
        runs, gpus = self.instance.phases[i], int(self.instance.offer_gpus[offer])
        part = slice(runs.start, runs.stop)
        if len(runs) > gpus:
            queues = self._queues[i, gpus]
            return _Phase(queued(queues.found.queues), float(queues.found.bound * queues.unit))
        single = (self.instance.work * self.instance.factor(offer, 1))[part]
        spread = self.instance.demands(offer)[part]
        held = fastest_counts(single, spread, self.instance.max_gpus[part], gpus)
        times = np.where(held == 1, single, spread / held)
        return _Phase((tuple(held.tolist()), (None,) * len(runs)), float(times.max()))

    def split_queues(self) -> None:
        """Shorten the queues of every phase: first all without a solver, then the open ones in shares of the time."""
        try:
            for item in self._queues.values():
                item.found = queues_without_solver(item.times, item.gpus, stopped=self._over)
            self._solve([item for item in self._queues.values() if not item.found.proven])
        except KeyboardInterrupt:
            self.interrupted = True

    def _solve(self, waiting: list[_Queues]) -> None:
        """Give each phase an equal share of what remains, and again those that were cut off while time is left."""
        if waiting and not self._over():
            # the import takes a second, which is no phase's share
            import gangopt.formulations.bid
            import gangopt.solvers.bid.queues_flow  # noqa: F401
        while waiting and not self._over():
            cut_off = []
            for number, item in enumerate(waiting):
                remaining = self.controls.remaining()
                share = math.inf if remaining is None else remaining / (len(waiting) - number)
                self._until = self.controls.elapsed() + share
                self._close(item)
                if not item.found.proven and self._stopped():
                    cut_off.append(item)
            waiting = cut_off

    def _close(self, item: _Queues) -> None:
        item.found = queues_with_solver(item.times, item.gpus, item.found, self._settings, stopped=self._stopped)
        chosen = None if item.found.proven else self._settings()
        if chosen is not None:
            item.found = self._by_highs(_one_phase(self.instance, item.offer, item.phase), item, chosen)

    def _over(self) -> bool:
        return self.interrupted or self.controls.remaining() == 0.0

    def _stopped(self) -> bool:
        return self.interrupted or self.controls.elapsed() >= self._until

    def _settings(self) -> SolveSettings | None:
        """Return the settings of one more solve, None where there is no time for it."""
        if self._stopped():
            return None
        self.models += 1
        left = None if math.isinf(self._until) else max(0.0, self._until - self.controls.elapsed())
        return replace(settings_of(self.controls), time_limit=left, on_progress=None)

    def _by_highs(self, alone: BidInstance, item: _Queues, chosen: SolveSettings) -> QueueSplit:
        """Return the better queues and the better bound of those found and those of HiGHS on formulation `classes`."""
        from gangopt.formulations.bid import classes
        from gangopt.formulations.deadline import OutOfTime, building_within
        from gangopt.solvers.highs import solve_model

        found = item.found
        try:
            with building_within(self.controls.remaining):
                model = classes.model(alone)
        except OutOfTime:
            return found
        classes.hint(model, alone, BidSolution((whole_row(alone, 0, [queued(found.queues)]),)))
        solved = solve_model(model, chosen, warm_start=True)
        self.interrupted = self.interrupted or solved.termination == "interrupted"
        if solved.values is not None:
            queues = [queue or 0 for queue in classes.read(model, alone).rows[0].queues]
            longest = longest_queue(item.times, queues)
            found = QueueSplit(queues, longest, found.bound) if longest < found.longest else found
        if solved.bound is None:
            return found
        # the objective of one phase on one offer is its length over the ideal time; the solver's bound is rounded
        least = solved.bound * alone.ideal_seconds * item.unit.denominator / item.unit.numerator
        bound = max(found.bound, min(found.longest, math.ceil(least * (1 - ROUNDING))))
        if solved.termination == "optimal" and found.longest * (1 - 2 * ROUNDING) <= bound:
            bound = found.longest
        return replace(found, bound=bound)


def _one_phase(instance: BidInstance, offer: int, i: int) -> BidInstance:
    """Return the app with one phase and one offer only."""
    runs = instance.phases[i]
    part = slice(runs.start, runs.stop)
    return replace(
        instance,
        jobs=instance.jobs[part],
        phase=np.zeros(len(runs), dtype=np.int64),
        iterations=instance.iterations[part],
        seconds=instance.seconds[part],
        max_gpus=instance.max_gpus[part],
        slowdown=instance.slowdown[part],
        offer_gpus=instance.offer_gpus[offer : offer + 1],
        offer_levels=instance.offer_levels[offer : offer + 1],
        elapsed=0.0,
    )


def fastest_counts(single: Floats, spread: Floats, most: Ints, gpus: int) -> Ints:
    """Return the numbers of GPUs that make the slowest job as fast as possible, and the fewest that do.

    The best length is the time of some job on some number of GPUs. A length is attainable if and only if the fewest
    GPUs with which each job meets it fit together, so bisection over these times finds the least.

    Parameters
    ----------
    single : ndarray of float
        Time of each job on one GPU, s, shape (n,).
    spread : ndarray of float
        Time on one GPU if slowed down as on several, s, shape (n,).
    most : ndarray of int
        Maximum GPUs of each job, shape (n,).
    gpus : int
        GPUs, at least one per job.

    Returns
    -------
    ndarray
        GPUs of every job, shape (n,).
    """
    free = gpus - len(single) + 1
    numbers = np.arange(2, max(free, 1) + 1)
    several = (spread[:, None] / numbers)[numbers <= most[:, None]]
    lengths = np.unique(np.concatenate((single, several)))
    low, high = 0, int(np.searchsorted(lengths, single.max()))
    while low < high:
        middle = (low + high) // 2
        if fewest_gpus(single, spread, most, float(lengths[middle])).sum() <= gpus:
            high = middle
        else:
            low = middle + 1
    return fewest_gpus(single, spread, most, float(lengths[high]))


def fewest_gpus(single: Floats, spread: Floats, most: Ints, length: float) -> Ints:
    """Return the fewest GPUs with which each job ends within a length; a huge number if none suffice.

    Parameters
    ----------
    single : ndarray of float
        Time of each job on one GPU, s, shape (n,).
    spread : ndarray of float
        Time on one GPU if slowed down as on several, s, shape (n,).
    most : ndarray of int
        Maximum GPUs of each job, shape (n,).
    length : float
        Length, s.

    Returns
    -------
    ndarray
        Shape (n,).
    """
    needed = np.clip(np.ceil(spread / length), 2, 1e12).astype(np.int64)
    # the quotient is rounded, so decide by the times themselves
    needed = np.where((needed > 2) & (spread / np.maximum(needed - 1, 1) <= length), needed - 1, needed)
    needed = np.where(spread / needed > length, needed + 1, needed)
    several = np.where(needed <= most, needed, np.int64(10**12))
    fewest: Ints = np.where(single <= length, 1, several)
    return fewest
