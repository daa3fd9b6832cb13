"""Whom to stop for whom where a placement rule may refuse places that have GPUs enough."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from gangopt.replays.machines import Machines, Place
from gangopt.replays.records import Ints

__all__ = ["settle"]

FindPlace = Callable[[Machines, int, int], Place | None]
"""Called with (free GPUs, position in the order, GPUs)."""


def settle(
    machines: Machines, places: Sequence[Place], sizes: Ints, find: FindPlace, *, skip: bool = True
) -> tuple[npt.NDArray[np.bool_], dict[int, Place]]:
    """Go through jobs by priority: those that run stay, those that wait are placed, in place of later ones if need be.

    For a gang that finds no place, later jobs that run are stopped: the last ones until there is room, without those
    of them that are not needed for it. If stopping all of them makes no room, none is stopped.

    Parameters
    ----------
    machines : Machines
        Free GPUs beside those of the jobs that run; not changed.
    places : sequence of Place
        Of the jobs in order of priority, empty for one that waits.
    sizes : ndarray of int
        GPUs of each job, shape (jobs,).
    find : FindPlace
        Rule by which a gang is placed.
    skip : bool, optional
        Whether jobs after one that finds no place are tried; if not, none of them runs.

    Returns
    -------
    stays : bool array, shape (jobs,)
        Whether each job runs on where it is.
    starts : dict
        Places by position of those that start.
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
        # others were stopped meanwhile that left its place free again
        stays[position] = True
        del starts[position]
    return stays, starts


def _victims(free: Machines, below: Ints, running: Sequence[Place], find: Callable[[], Place | None]) -> list[int]:
    """Return which of the running jobs to stop, and give their GPUs to the free ones; none if that makes no room.

    The last ones are taken until there is a place; then the first of these that is not needed stays, and so on.
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
