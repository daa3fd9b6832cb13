"""Common parts of the heuristics of `allocation`: smallest configurations, moves, and free capacity."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InfeasibleError, NoSolutionError
from gangopt.base.types import Floats, Ints
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution, TimeGrid

__all__ = ["Seed", "next_allowed", "seed_configurations", "seeded_ladders", "to_solution"]


@dataclass
class Seed:
    """The start of a heuristic.

    Attributes
    ----------
    ps, workers : ndarray of int
        Smallest configuration of each job, tasks, shape (J,).
    free : ndarray of float
        Remaining capacity, in each resource's unit, shape (R,).
    """

    ps: Ints
    workers: Ints
    free: Floats


def seed_configurations(instance: AllocationInstance, grids: list[TimeGrid] | None = None) -> Seed:
    """Return every job's smallest allowed configuration: 1 + 1, or the fewest tasks if that is a hole.

    Ties go to the faster configuration, then to fewer parameter servers.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.
    grids : list of TimeGrid or None, optional
        Its completion times, if already computed.

    Raises
    ------
    InfeasibleError
        If the minimum that all jobs require of a resource exceeds its capacity, so that nothing fits; the message
        names the resource and the excess.
    NoSolutionError
        If these configurations do not fit together although others might (speed tables with holes).
    """
    J = len(instance.jobs)
    ps, workers = np.ones((2, J), dtype=np.int64)
    least = instance.ps_demand + instance.worker_demand
    if grids is None:
        # only measured tables have holes
        grids = instance.time_grids(np.flatnonzero(np.array(instance.mode) == "table"))
    for grid in grids:
        holed = np.flatnonzero(np.isinf(grid.seconds[:, 0, 0]))
        for i in holed.tolist():
            j = int(grid.jobs[i])
            ps[j], workers[j], least[j] = _smallest(instance, j, grid.seconds[i])
    _require_room(instance, least)
    used = np.array(instance.usage(to_solution(ps, workers)))
    if (used > instance.capacity_limit).any():
        r = int(np.argmax((used - instance.capacity) / instance.capacity))
        raise NoSolutionError(
            f"the smallest configuration of every job takes {used[r]:g} {instance.units[r]} of "
            f"{instance.resources[r]}, {used[r] - instance.capacity[r]:g} more than there is; others may fit"
        )
    return Seed(ps, workers, instance.capacity_limit - used)


def _smallest(instance: AllocationInstance, j: int, seconds: Floats) -> tuple[int, int, Floats]:
    """Return the smallest configuration of a job whose 1 + 1 is a hole, and its minimum use of each resource."""
    p, w = np.nonzero(np.isfinite(seconds))
    order = np.lexsort((p, seconds[p, w], p + w))[0]
    use = (p + 1)[:, None] * instance.ps_demand[j] + (w + 1)[:, None] * instance.worker_demand[j]
    return int(p[order]) + 1, int(w[order]) + 1, use.min(axis=0)


def _require_room(instance: AllocationInstance, least: Floats) -> None:
    total = np.array([math.fsum(column) for column in least.T.tolist()])
    over = total - instance.capacity_limit
    if (over <= 0).all():
        return
    r = int(np.argmax(over / instance.capacity))
    unit, capacity = instance.units[r], instance.capacity[r]
    alone = least[:, r] > instance.capacity_limit[r]
    if alone.any():
        j = int(np.argmax(alone))
        raise InfeasibleError(
            f"resource_capacity: job {j} ({instance.jobs[j]}) alone takes at least {least[j, r]:g} {unit} of "
            f"{instance.resources[r]}, {least[j, r] - capacity:g} more than the capacity {capacity:g}"
        )
    raise InfeasibleError(
        f"resource_capacity: the jobs take at least {total[r]:g} {unit} of {instance.resources[r]} together, "
        f"{total[r] - capacity:g} more than the capacity {capacity:g}"
    )


def next_allowed(seconds: Floats, axis: int) -> Ints:
    """Return, for every configuration, the next allowed count along an axis.

    Parameters
    ----------
    seconds : ndarray of float
        Completion times, infinite where not allowed, shape (n, P, W).
    axis : int
        1 for parameter servers, 2 for workers.

    Returns
    -------
    array of int
        Index along the axis, or the length of the axis if there is none, shape (n, P, W).
    """
    allowed = np.moveaxis(np.isfinite(seconds), axis, 0)
    length = allowed.shape[0]
    result = np.full(allowed.shape, length, dtype=np.int64)
    for i in range(length - 2, -1, -1):
        result[i] = np.where(allowed[i + 1], i + 1, result[i + 1])
    return np.moveaxis(result, 0, axis)


def seeded_ladders(instance: AllocationInstance) -> tuple[Seed, list[list[tuple[int, int]]]]:
    """Return the smallest configurations, and every job's configurations with one parameter server per worker.

    Rung k is (min(k, max_ps), min(k, max_workers)), smallest first. The ladder begins with the job's seed; rungs that
    are not allowed or not larger than the seed in both counts are left out.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.

    Returns
    -------
    tuple of Seed and list of list of (int, int)
        (parameter servers, workers) of each rung, tasks, for each job.

    Raises
    ------
    InfeasibleError, NoSolutionError
        As `seed_configurations`.
    """
    grids = instance.time_grids()
    seed = seed_configurations(instance, grids)
    result: list[list[tuple[int, int]]] = [[] for _ in instance.jobs]
    for grid in grids:
        _, P, W = grid.seconds.shape
        k = np.arange(max(P, W))
        allowed = np.isfinite(grid.seconds[:, np.minimum(k, P - 1), np.minimum(k, W - 1)])
        rungs = [(min(int(i) + 1, P), min(int(i) + 1, W)) for i in k]
        for row, j in zip(allowed.tolist(), grid.jobs.tolist(), strict=True):
            start = (int(seed.ps[j]), int(seed.workers[j]))
            larger = (
                rung
                for rung, good in zip(rungs, row, strict=True)
                if good and rung != start and rung[0] >= start[0] and rung[1] >= start[1]
            )
            result[j] = [start, *larger]
    return seed, result


def to_solution(ps: Ints, workers: Ints) -> AllocationSolution:
    """Return the Solution of two arrays of counts, shape (J,)."""
    return AllocationSolution(tuple(map(int, workers)), tuple(map(int, ps)))
