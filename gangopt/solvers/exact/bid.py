"""The bid table of least mean finish-time fairness: every phase of every offer split as fast as it can be."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangopt.instances.bid import BidInstance, BidRow, BidSolution
from gangopt.instances.bid_rows import Split, queued, shared_row, whole_row
from gangopt.solvers.contract import Controls, Outcome
from gangopt.solvers.exact.bid_queues import QueueSplit, longest_queue, shortest_queues, whole_times
from gangopt.solvers.exact.by_form import settings_of

if TYPE_CHECKING:
    from gangopt.solvers.highs import SolveSettings

__all__ = ["exact", "fastest_counts", "fewest_gpus"]

ROUNDING = 1e-9
"""Relative: what the solver's bound on a model in doubles may be off."""


def exact(instance: BidInstance, controls: Controls) -> Outcome:
    """Minimise the mean finish-time fairness over the offers and prove it.

    Offers and phases do not depend on each other. Split `shared`: the formula of `shared_row`, which no split beats.
    Split `whole` with a GPU for every job: the least length for which the jobs' least numbers of GPUs fit, by
    bisection. More jobs than GPUs: queues by `shortest_queues`, and by HiGHS on form `classes` where a flow would be
    too large. Phases with queues share the time that is left; out of it, one keeps the best queues found and a
    lower bound. An offer keeps its row of the start where that is better.

    Parameters
    ----------
    instance : an app with offers
    controls : settings of the call

    Returns
    -------
    Outcome
    """
    begin = time.perf_counter()
    offers = range(len(instance.offer_levels))
    if instance.split == "shared":
        rows = tuple(shared_row(instance, offer) for offer in offers)
        bound = math.fsum(row.rho for row in rows) / len(rows)
        return Outcome("optimal", BidSolution(rows), bound, form="formula", solve_seconds=time.perf_counter() - begin)
    search = _Search(instance, controls)
    table: list[BidRow] = []
    bounds: list[float] = []
    for offer in offers:
        phases = [search.phase(offer, i) for i in range(len(instance.phases))]
        row = whole_row(instance, offer, [item.split for item in phases])
        given = row if controls.start is None else controls.start.rows[offer]
        table.append(given if given.rho < row.rho else row)
        bounds.append(instance.rho(tuple(item.bound for item in phases)))
    return Outcome(
        termination="interrupted" if search.interrupted else "optimal" if search.proven else "time_limit",
        solution=BidSolution(tuple(table)),
        bound=math.fsum(bounds) / len(bounds),
        form="phases",
        solve_seconds=time.perf_counter() - begin,
        options={"solves": search.models},
        reason=None if search.proven else "the queues of some phase are not proven to be shortest",
    )


@dataclass(frozen=True)
class _Phase:
    """The split of a phase, and a bound on its length in s."""

    split: Split
    bound: float
    proven: bool = True


class _Search:
    """Splits phase by phase; one with queues is split once for each number of GPUs, in its part of the time."""

    def __init__(self, instance: BidInstance, controls: Controls) -> None:
        self.instance = instance
        self.controls = controls
        self.interrupted = False
        self.proven = True
        self.models = 0
        self._queues: dict[tuple[int, int], _Phase] = {}
        sizes = [len(runs) for runs in instance.phases]
        self._waiting = len(
            {(i, gpus) for gpus in instance.offer_gpus.tolist() for i, size in enumerate(sizes) if size > gpus}
        )
        self._until = math.inf

    def phase(self, offer: int, i: int) -> _Phase:
        runs, gpus = self.instance.phases[i], int(self.instance.offer_gpus[offer])
        part = slice(runs.start, runs.stop)
        if len(runs) <= gpus:
            single = (self.instance.work * self.instance.factor(offer, 1))[part]
            spread = self.instance.demands(offer)[part]
            held = fastest_counts(single, spread, self.instance.max_gpus[part], gpus)
            times = np.where(held == 1, single, spread / held)
            return _Phase((tuple(held.tolist()), (None,) * len(runs)), float(times.max()))
        key = (i, gpus)
        if key not in self._queues:
            self._queues[key] = self._queue(offer, i)
            self.proven = self.proven and self._queues[key].proven
        return self._queues[key]

    def _queue(self, offer: int, i: int) -> _Phase:
        runs, gpus = self.instance.phases[i], int(self.instance.offer_gpus[offer])
        single = (self.instance.work * self.instance.factor(offer, 1))[runs.start : runs.stop]
        times, unit = whole_times(single.tolist())
        remaining = self.controls.remaining()
        if remaining is not None:
            self._until = self.controls.elapsed() + remaining / self._waiting
        self._waiting -= 1
        found = shortest_queues(times, gpus, stopped=lambda: True)
        try:
            found = found if found.proven else shortest_queues(times, gpus, self._settings, stopped=self._stopped)
            chosen = None if found.proven else self._settings()
            if chosen is not None:
                found = self._by_highs(_one_phase(self.instance, offer, i), found, times, unit, chosen)
        except KeyboardInterrupt:
            self.interrupted = True
        return _Phase(queued(found.queues), float(found.bound * unit), found.proven)

    def _stopped(self) -> bool:
        return self.interrupted or self.controls.elapsed() >= self._until

    def _settings(self) -> SolveSettings | None:
        """Return the settings of one more solve, None where there is no time for it."""
        if self._stopped():
            return None
        self.models += 1
        left = None if math.isinf(self._until) else max(0.0, self._until - self.controls.elapsed())
        return replace(settings_of(self.controls), time_limit=left, on_progress=None)

    def _by_highs(
        self, alone: BidInstance, found: QueueSplit, times: list[int], unit: Fraction, chosen: SolveSettings
    ) -> QueueSplit:
        """Return the better queues and the better bound of those found and those of HiGHS on form `classes`."""
        from gangopt.formulations.bid import classes_model, hint_classes, read_classes
        from gangopt.formulations.deadline import OutOfTime, building_within
        from gangopt.solvers.highs import solve_model

        try:
            with building_within(self.controls.remaining):
                model = classes_model(alone)
        except OutOfTime:
            return found
        hint_classes(model, alone, BidSolution((whole_row(alone, 0, [queued(found.queues)]),)))
        solved = solve_model(model, chosen, warm_start=True)
        self.interrupted = self.interrupted or solved.termination == "interrupted"
        if solved.values is not None:
            queues = [item or 0 for item in read_classes(model, alone).rows[0].queues]
            longest = longest_queue(times, queues)
            found = QueueSplit(queues, longest, found.bound) if longest < found.longest else found
        if solved.bound is None:
            return found
        # the objective of one phase on one offer is its length over the ideal time; the solver's bound is rounded
        least = solved.bound * alone.ideal_seconds * unit.denominator / unit.numerator
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


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def fastest_counts(single: Floats, spread: Floats, most: Ints, gpus: int) -> Ints:
    """Return the whole GPUs of every job that make the slowest as fast as possible, the fewest that do.

    A best length is the time of some job on some number of GPUs. A length is attainable if and only if the fewest GPUs
    with which each job keeps it are no more than there are, so that bisection over these times finds the least.

    Parameters
    ----------
    single : time of each job on one GPU, s, shape (n,)
    spread : time on one GPU if slowed down as on several, s, shape (n,)
    most : most GPUs of each job, shape (n,)
    gpus : GPUs, at least one a job

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
    """Return the fewest GPUs with which each job ends within a length; more than any cluster has where none do.

    Parameters
    ----------
    single : time of each job on one GPU, s, shape (n,)
    spread : time on one GPU if slowed down as on several, s, shape (n,)
    most : most GPUs of each job, shape (n,)
    length : s

    Returns
    -------
    ndarray
        Shape (n,).
    """
    needed = np.clip(np.ceil(spread / length), 2, 1e12).astype(np.int64)
    # the quotient rounds, the times themselves decide
    needed = np.where((needed > 2) & (spread / np.maximum(needed - 1, 1) <= length), needed - 1, needed)
    needed = np.where(spread / needed > length, needed + 1, needed)
    several = np.where(needed <= most, needed, np.int64(10**12))
    fewest: Ints = np.where(single <= length, 1, several)
    return fewest
