"""Victim selection when a placement rule can reject machines with enough free GPUs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from gangopt.base.types import Bools, Ints
from gangopt.replays.machines import Machines, Place

__all__ = ["settle"]

FindPlace = Callable[[Machines, int, int], Place | None]
"""Called with free GPUs, position in the order, and number of GPUs."""


def settle(
    machines: Machines, places: Sequence[Place], sizes: Ints, find: FindPlace, *, skip: bool = True
) -> tuple[Bools, dict[int, Place]]:
    """Keep running jobs and place waiting jobs in order of priority, stopping later jobs if necessary.

    If a gang cannot be placed, later running jobs are stopped from the end of the order until it can, except those that
    turn out not to be required. If stopping all of them is not enough, none is stopped.

    Parameters
    ----------
    machines : Machines
        Free GPUs, without those of running jobs; not changed.
    places : sequence of Place
        Places of the jobs in order of priority, empty for waiting jobs.
    sizes : ndarray of int
        GPUs of each job, shape (jobs,).
    find : FindPlace
        Placement rule.
    skip : bool, optional
        Whether jobs after one that cannot be placed are tried; if not, none of them runs.

    Returns
    -------
    stays : ndarray of bool
        Whether each job keeps running in its place, shape (jobs,).
    starts : dict
        Places of the jobs that start, by position.
    """
    free = copy.copy(machines)
    free.free = machines.free.copy()
    stays = np.array([bool(place) for place in places], dtype=np.bool_)
    below = np.zeros_like(machines.free)
    for place in places:
        _add(below, place, 1)
    starts: dict[int, Place] = {}
    room, later = int(free.free.sum()), int(below.sum())
    for position, size in enumerate(sizes.tolist()):
        if stays[position]:
            _add(below, places[position], -1)
            later -= size
            continue
        if skip and size > room + later:
            continue
        place_it = partial(find, free, position, size)
        found = place_it() if size <= room else None
        if found is None and size <= room + later:
            running = (np.flatnonzero(stays[position + 1 :]) + position + 1).tolist()
            for victim in _victims(free, below, [places[other] for other in running], place_it):
                stays[running[victim]] = False
                _add(below, places[running[victim]], -1)
                found = place_it()
            room, later = int(free.free.sum()), int(below.sum())
        if found is not None:
            free.take(found)
            starts[position] = found
            room -= size
        elif not skip:
            stays[position:] = False
            break
    for position in [at for at, place in starts.items() if place == places[at]]:
        # jobs stopped in the meantime have freed its old place
        stays[position] = True
        del starts[position]
    return stays, starts


def _victims(free: Machines, below: Ints, running: Sequence[Place], find: Callable[[], Place | None]) -> list[int]:
    """Select running jobs to stop and release their GPUs; none if stopping all of them is not enough.

    Jobs are stopped from the end until the gang can be placed; then, from the first, those not required are kept.
    """
    free.free += below
    enough = find() is not None
    free.free -= below
    if not enough:
        return []
    stopped: list[int] = []
    while find() is None:
        stopped.append(len(running) - 1 - len(stopped))
        free.release(running[stopped[-1]])
    needed = []
    for victim in reversed(stopped):
        free.take(running[victim])
        if find() is None:
            free.release(running[victim])
            needed.append(victim)
    return needed


def _add(gpus: Ints, place: Place, sign: int) -> None:
    for machine, count in place:
        gpus[machine] += sign * count
