"""Sets of gangs that can run at once, and the epochs between arrivals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gangopt.base.types import Ints
from gangopt.formulations.deadline import require_time
from gangopt.instances.schedule.instance import ScheduleInstance, fewest_machines

__all__ = ["Epoch", "epochs", "maximal_sets", "packing"]


@dataclass(frozen=True)
class Epoch:
    """The time between two consecutive arrivals.

    Attributes
    ----------
    start, end : float
        Seconds; the last epoch ends when all jobs can have completed.
    jobs : tuple of int
        Indices of the jobs that have arrived by its start.
    """

    start: float
    end: float
    jobs: tuple[int, ...]


def epochs(instance: ScheduleInstance) -> list[Epoch]:
    """Return the epochs of an instance; the last one is as long as the sum of all running times.

    Parameters
    ----------
    instance : ScheduleInstance
        The jobs.
    """
    starts = np.unique(instance.arrival).tolist()
    last = starts[-1] + float(instance.duration.sum())
    return [
        Epoch(start, end, tuple(np.flatnonzero(instance.arrival <= start).tolist()))
        for start, end in zip(starts, [*starts[1:], last], strict=True)
    ]


def packing(instance: ScheduleInstance, jobs: tuple[int, ...]) -> dict[int, tuple[tuple[int, int], ...]] | None:
    """Return machines for gangs that run at once, or None if they do not fit.

    Parameters
    ----------
    instance : ScheduleInstance
        The jobs.
    jobs : tuple of int
        Indices of gangs.

    Returns
    -------
    dict or None
        Pairs (machine, GPUs) by job; no pairs where GPUs are only counted.
    """
    if int(instance.gpus[list(jobs)].sum()) > instance.n_gpus:
        return None
    if not instance.machines:
        return dict.fromkeys(jobs, ())
    fewest = fewest_machines(instance.machines, instance.gpus)
    # gangs with the fewest choices first
    order = sorted(jobs, key=lambda j: (-int(instance.gpus[j]), j))
    return _place(instance, order, fewest, list(instance.machines), {})


def _place(
    instance: ScheduleInstance,
    order: list[int],
    fewest: Ints,
    free: list[int],
    placed: dict[int, tuple[tuple[int, int], ...]],
) -> dict[int, tuple[tuple[int, int], ...]] | None:
    if not order:
        return dict(placed)
    job = order[0]
    for place in _places(free, int(instance.gpus[job]), int(fewest[job])):
        rest = list(free)
        for machine, count in place:
            rest[machine] -= count
        found = _place(instance, order[1:], fewest, rest, {**placed, job: place})
        if found is not None:
            return found
    return None


def _places(free: list[int], gpus: int, most: int, first: int = 0) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield the ways to take GPUs from a limited number of machines; of consecutive equal machines, only the first."""
    if not gpus:
        yield ()
        return
    if not most or sum(sorted(free[first:])[-most:]) < gpus:
        return
    tried: set[int] = set()
    for machine in range(first, len(free)):
        if free[machine] in tried or not free[machine]:
            continue
        tried.add(free[machine])
        for count in range(min(free[machine], gpus), 0, -1):
            for rest in _places(free, gpus - count, most - 1, machine + 1):
                yield ((machine, count), *rest)


def maximal_sets(instance: ScheduleInstance, jobs: tuple[int, ...], limit: int) -> list[tuple[int, ...]] | None:
    """Return the maximal sets of jobs that can run at once.

    Parameters
    ----------
    instance : ScheduleInstance
        The jobs.
    jobs : tuple of int
        Indices to choose from, ascending.
    limit : int
        Largest number of sets, and a quarter of the number of sets examined.

    Returns
    -------
    list of tuple of int, or None
        In lexicographic order; None if there are more than the limit.
    """
    found: list[tuple[int, ...]] = []
    for number, chosen in enumerate(_runnable(instance, jobs, ())):
        require_time()
        if number >= 4 * limit:
            return None
        if _has_room(instance, jobs, chosen):
            continue
        found.append(chosen)
        if len(found) > limit:
            return None
    return found


def _has_room(instance: ScheduleInstance, jobs: tuple[int, ...], chosen: tuple[int, ...]) -> bool:
    """Return whether another job fits beside the chosen ones."""
    room = instance.n_gpus - int(instance.gpus[list(chosen)].sum())
    fitting = [j for j in jobs if j not in chosen and instance.gpus[j] <= room]
    if not instance.machines:
        return bool(fitting)
    return any(packing(instance, tuple(sorted((*chosen, j)))) is not None for j in fitting)


def _runnable(instance: ScheduleInstance, jobs: tuple[int, ...], chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield all sets that can run at once."""
    if not jobs:
        if chosen:
            yield chosen
        return
    with_first = (*chosen, jobs[0])
    if packing(instance, with_first) is not None:
        yield from _runnable(instance, jobs[1:], with_first)
    yield from _runnable(instance, jobs[1:], chosen)
