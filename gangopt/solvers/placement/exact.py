r"""Exact method of `placement`: a bound over classes of equal machines, then a placement that meets it.

1. Formulation `levels` merges machines of equal capacity. Every placement is feasible for it: its optimum is a bound.
2. A placement with the transfer times that it chose attains the bound. To find one, the pieces are packed in random
   orders and by a search for exact fits, the model is solved again at these times with random costs, and jobs without
   a server are placed together with a few others by the per-server model.
3. If that fails, jobs may take longer, and parts of the best placement are solved again for the objective.
4. Small clusters are solved as one model by formulation `pieces`, with the bound as a row; so is any cluster if no
   part improves and time is left. It proves the optimum.

If a job must lie inside one node of a level, formulation `pieces` is solved as one model after step 1.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import numpy as np

from gangopt.formulations.deadline import building_within
from gangopt.formulations.placement.data import PlacementData, levels_of
from gangopt.formulations.placement.focus import NEAR
from gangopt.formulations.placement.packing import pack_pieces
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.solvers.core.clock import OutOfTime
from gangopt.solvers.core.contract import Controls, Outcome
from gangopt.solvers.placement.bound import Choice, LevelsBound, levels_within, sum_alone
from gangopt.solvers.placement.fit import fit_pieces, fit_whole_jobs
from gangopt.solvers.placement.heuristics import optimus, pack
from gangopt.solvers.placement.neighbourhoods import Held, neighbourhood_of
from gangopt.solvers.placement.proof import count_pieces, prove
from gangopt.solvers.placement.search import Search, was_quick

__all__ = ["exact"]

VARIATIONS = 12
"""Solves of formulation `levels` at fixed levels with random costs."""

FIRST_OTHERS = 6
"""Placed jobs in the first part."""

ROUNDS = 20
"""Number of parts solved to place the missing jobs at their levels, before jobs may take longer."""

FILLINGS = 100
"""Attempts to place the missing jobs task by task."""

VARIED_ORDERS = 10
"""Random orders in which the pieces of a variation are packed."""

FREE_ROUNDS = 30
"""Consecutive parts that may fail to improve the objective before the whole model is tried."""

JOBS_AT_ONCE = 200
"""Jobs whose levels are found between two checks of the clock."""

SMALL = 20_000
"""Maximum pieces of the per-server model for which a cluster is solved as one model immediately."""


def exact(instance: PlacementInstance, controls: Controls, *, orders: int = 100) -> Outcome:
    """Place the most jobs with the minimum transfer or completion time, and prove the optimum.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    controls : Controls
        Settings of the call.
    orders : int, optional
        Random orders in which pieces are packed, for each solution of formulation `levels`.

    Returns
    -------
    Outcome
        With the bound of formulation `levels`, or a better one. Metrics: `levels_columns` and `levels_bound` (s).
    """
    begin = time.perf_counter()
    data = PlacementData.of(instance)
    search = Search(instance=instance, controls=controls, data=data, rng=np.random.default_rng(controls.seed))
    search.build_seconds = time.perf_counter() - begin
    try:
        _run(search, orders)
    except OutOfTime:
        return search.outcome("optimal" if search.proven() else "time_limit")
    except KeyboardInterrupt:
        return search.outcome("interrupted")
    if search.proven():
        return search.outcome("optimal")
    if controls.remaining() == 0:
        return search.outcome("time_limit")
    too_large = "formulation pieces is too large to prove it optimal"
    if instance.has_domains:
        return search.outcome("completed", too_large)
    return search.outcome("completed", f"no neighbourhood improves the placement, and {too_large}")


def _run(search: Search, orders: int) -> None:
    instance = search.instance
    if search.controls.start is not None:
        search.offer(search.controls.start)
    search.offer(optimus(instance))
    _find_levels(search)
    search.offer(bound=sum_alone(instance, search.data, search.levels))
    if not search.proven():
        search.settings()
        search.offer(pack(instance))
    if instance.has_domains:
        with building_within(search.controls.remaining):
            _solve_whole(search)
        return
    if not search.proven():
        search.settings()
        whole = fit_whole_jobs(search.data)
        if whole is not None:
            search.offer_held(whole)
    if search.proven():
        return
    with building_within(search.controls.remaining):
        _search(search, orders)


def _solve_whole(search: Search) -> None:
    """Bound the placement without required levels, and solve it with them as one model."""
    if not search.proven():
        _bound(search)
    if not search.proven():
        prove(search)


def _search(search: Search, orders: int) -> None:
    packed = _bound_and_pack(search, orders)
    if packed is None:
        _improve(search)
        return
    relaxed, choice, held = packed
    for _ in range(VARIATIONS):
        if search.proven() or len(held) == len(choice.limits):
            break
        varied = relaxed.vary(choice, search.rng, search.part_settings())
        other = _pack(search, varied, min(orders, VARIED_ORDERS))
        held = other if len(other) > len(held) else held
    if not search.proven():
        _repair(search, choice, held)


def _find_levels(search: Search) -> None:
    """Find the levels of every job, checking the clock after every `JOBS_AT_ONCE` jobs."""
    begin = time.perf_counter()
    for number, job in enumerate(search.data.jobs, start=1):
        search.levels.append(levels_of(job, search.data.classes))
        if number % JOBS_AT_ONCE == 0:
            search.settings()
    search.build_seconds += time.perf_counter() - begin


def _bound_and_pack(search: Search, orders: int) -> tuple[LevelsBound, Choice, Held] | None:
    """Bound the placement and pack the pieces chosen; None if the best placement is proven or nothing was chosen."""
    known = search.objective
    relaxed, choice = _bound(search)
    if search.proven() or choice is None:
        return None
    held = _pack(search, choice, orders)
    if not search.proven() and search.objective < NEAR * known:
        # the model was scaled to a far worse placement than this one, so solve it again in the units of this one
        return _bound_and_pack(search, orders)
    return relaxed, choice, held


def _bound(search: Search) -> tuple[LevelsBound, Choice | None]:
    """Solve formulation `levels` for placements better than the best one, unless it would exceed the time limit."""
    begin = time.perf_counter()
    levels = levels_within(search.instance, search.data, search.levels, search.objective)
    relaxed = LevelsBound(search.instance, search.data, levels, (search.objective, search.bound))
    search.build_seconds += time.perf_counter() - begin
    search.metrics["levels_columns"] = relaxed.columns
    if not search.is_watched(relaxed.nonzeros):
        return relaxed, None
    outcome, choice = relaxed.solve(search.settings())
    search.seen(outcome)
    if outcome.bound is not None:
        search.metrics["levels_bound"] = outcome.bound
        search.offer(bound=outcome.bound)
    return relaxed, choice


def _pack(search: Search, choice: Choice, orders: int) -> Held:
    """Return the packing that places the most jobs: by the plain order, a search for exact fits, or random orders."""
    best: Held = {}
    for order in range(orders + 1):
        search.settings()
        held = pack_pieces(search.data, choice.pieces, search.rng if order else None)
        if order == 0 or len(held) > len(best):
            best = held
            search.offer_held(held)
        if len(best) == len(choice.limits):
            break
        fitted = fit_pieces(search.data, choice.pieces) if order == 0 else None
        if fitted is not None:
            search.offer_held(fitted)
            return fitted
    return best


def _repair(search: Search, choice: Choice, held: Held) -> None:
    """Place the jobs without a server, at their levels if possible; else improve parts, or prove the whole."""
    held = _complete(search, held, choice.limits)
    if search.proven():
        return
    raised = {j: limit if j in held else math.inf for j, limit in choice.limits.items()}
    held = _complete(search, held, raised)
    if len(held) < len(raised):
        _fill(search, choice, held)
    if count_pieces(search) > SMALL:
        _improve(search)
    known = math.inf
    while not search.proven() and search.objective < NEAR * known:
        known = search.objective
        prove(search)


def _fill(search: Search, choice: Choice, held: Held) -> None:
    """Place missing jobs task by task where there is room, at any cost, removing more and more other jobs."""
    missing = [j for j in choice.limits if j not in held]
    for attempt in range(FILLINGS):
        search.settings()
        others = search.rng.permutation(sorted(held))[: attempt // 4].tolist()
        part = neighbourhood_of(search.instance, held, missing + others, beside=len(search.instance.machines))
        kept = {j: pieces for j, pieces in held.items() if j not in part.jobs}
        search.offer_held({**kept, **part.whole(pack(part.part).pieces)})


def _complete(search: Search, held: Held, limits: Mapping[int, float]) -> Held:
    """Place missing jobs within their limits, with random others, and with more of them after each quick failure."""
    rng, size = search.rng, float(FIRST_OTHERS)
    for _ in range(ROUNDS):
        missing = [j for j in limits if j not in held]
        if not missing or search.proven():
            break
        first = rng.permutation(missing)[:2].tolist()
        others = rng.permutation(sorted(held))[: round(size)].tolist()
        found, quick = _solved(search, held, first + others, limits)
        size = max(2.0, size * (1.15 if quick else 0.8))
        if len(found) > len(held):
            size = FIRST_OTHERS
        whole = len(first) + len(others) >= len(limits)
        held = found
        search.offer_held(held)
        if whole:
            break
    return held


def _solved(search: Search, held: Held, jobs: list[int], limits: Mapping[int, float] | None) -> tuple[Held, bool]:
    """Return the pieces after placing some jobs again (unchanged if fewer fit), and whether that was quick."""
    part = neighbourhood_of(search.instance, held, jobs)
    settings = search.part_settings()
    outcome, found = part.better(settings, held) if limits is None else part.within(settings, limits)
    search.seen(outcome)
    if found is None or len(found) < sum(j in held for j in part.jobs):
        return held, was_quick(outcome)
    return {**{j: pieces for j, pieces in held.items() if j not in part.jobs}, **found}, was_quick(outcome)


def _improve(search: Search) -> None:
    """Solve parts of the best placement for the objective until none has improved it for long."""
    failures, size = 0, float(FIRST_OTHERS)
    while failures < FREE_ROUNDS and not search.proven() and search.solution is not None:
        held = {j: pieces for j, pieces in enumerate(search.solution.pieces) if pieces}
        others = search.rng.permutation(sorted(held))[: round(size)].tolist()
        first = search.rng.permutation(_longer_than_alone(search, held))[:2].tolist()
        before = search.objective
        found, quick = _solved(search, held, first + others, None)
        search.offer_held(found)
        size = max(2.0, size * (1.1 if quick else 0.8))
        failures = 0 if search.objective < before else failures + 1


def _longer_than_alone(search: Search, held: Held) -> list[int]:
    """Return the jobs that are paused, or take longer than on the empty servers."""
    jobs = []
    for job, of_job in zip(search.data.jobs, search.levels, strict=True):
        pieces = held.get(job.index, ())
        if of_job and (not pieces or max(job.cost(piece[1:]) for piece in pieces) > of_job[0].time):
            jobs.append(job.index)
    return jobs
