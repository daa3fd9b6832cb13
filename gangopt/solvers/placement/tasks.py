"""Place jobs task by task, each job completely or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from gangopt.base.types import Bools, Ints
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.reasons import pause_reason
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["place_tasks"]

Choose = Callable[[Ints, Ints, Ints], int]


def place_tasks(instance: PlacementInstance, order: Iterable[int], choose: Choose) -> PlacementSolution:
    """Place jobs in an order, each task on the server that a rule chooses among those with room for it.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    order : iterable of int
        Indices of all jobs.
    choose : Choose
        Returns one of the indices of the servers with room (ascending), given the free amounts of all servers and the
        demand of the task (millionths of the unit, shapes (K, R) and (R,)).

    Returns
    -------
    PlacementSolution
        A job with a task that does not fit has no pieces, and its other tasks are released. A job with a required
        level tries its nodes by descending free amount of `cpu` (or the first resource), ties to the lowest index.
    """
    free = instance.capacity_millionths.copy()
    pieces: list[tuple[tuple[int, int, int], ...]] = [()] * len(instance.jobs)
    reasons = [""] * len(instance.jobs)
    for j in order:
        before = free.sum(axis=0)
        pieces[j] = _place_job(instance, free, j, choose)
        if not pieces[j]:
            reasons[j] = pause_reason(instance, j, before)
    return PlacementSolution(tuple(pieces), tuple(reasons))


def _place_job(instance: PlacementInstance, free: Ints, j: int, choose: Choose) -> tuple[tuple[int, int, int], ...]:
    """Reserve room for a job, inside the first node of its level that holds it; return no pieces if none does."""
    domain = instance.domains[j]
    if domain is None:
        return _place_inside(instance, free, j, choose, np.ones(len(free), dtype=np.bool_))
    leading = instance.resources.index("cpu") if "cpu" in instance.resources else 0
    for node in np.argsort(-np.bincount(domain, free[:, leading]), kind="stable").tolist():
        pieces = _place_inside(instance, free, j, choose, domain == node)
        if pieces:
            return pieces
    return ()


def _place_inside(
    instance: PlacementInstance, free: Ints, j: int, choose: Choose, inside: Bools
) -> tuple[tuple[int, int, int], ...]:
    ps = _place_kind(free, instance.ps_millionths[j], int(instance.parameter_servers[j]), choose, inside)
    if ps is None:
        return ()
    workers = _place_kind(free, instance.worker_millionths[j], int(instance.workers[j]), choose, inside)
    if workers is None:
        for server, count in ps.items():
            free[server] += count * instance.ps_millionths[j]
        return ()
    return tuple((k, ps[k], workers[k]) for k in sorted(ps.keys() | workers.keys()))


def _place_kind(free: Ints, need: Ints, count: int, choose: Choose, inside: Bools) -> Counter[int] | None:
    """Reserve room for equal tasks in `free`; return None and leave it unchanged if one does not fit."""
    placed: Counter[int] = Counter()
    for _ in range(count):
        servers = np.flatnonzero((free >= need).all(axis=1) & inside)
        if not len(servers):
            for server, tasks in placed.items():
                free[server] += tasks * need
            return None
        server = choose(servers, free, need)
        free[server] -= need
        placed[server] += 1
    return placed
