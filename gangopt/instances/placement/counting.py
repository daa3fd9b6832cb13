"""Upper bound on the number of jobs that servers can hold, found by counting."""

from __future__ import annotations

import numpy as np

from gangopt.base.types import Bools, Ints

__all__ = ["most_jobs_by_counting"]


MAX_THRESHOLDS = 32
"""Most thresholds d of a resource for which the tasks with demands of at least d are counted."""


def most_jobs_by_counting(capacity: Ints, ps: Ints, worker: Ints, ps_count: Ints, worker_count: Ints) -> int:
    """Return an upper bound on the number of jobs of any placement.

    For every resource, placed jobs use at most the sum of all capacities; and of the tasks with a demand of at least
    d, a server of capacity C holds at most floor(C / d). Either bound counts the smallest jobs first. Jobs with a task
    that fits no server are left out.

    Parameters
    ----------
    capacity : ndarray of int
        Capacity of every server, millionths of the unit, shape (K, R).
    ps : ndarray of int
        Demand of one parameter server, millionths of the unit, shape (J, R).
    worker : ndarray of int
        Demand of one worker, millionths of the unit, shape (J, R).
    ps_count : ndarray of int
        Parameter servers of each job, shape (J,).
    worker_count : ndarray of int
        Workers of each job, shape (J,).
    """
    kinds, numbers = np.unique(capacity, axis=0, return_counts=True)
    possible = _fits_some(kinds, ps) & _fits_some(kinds, worker)
    ps, worker, ps_count, worker_count = ps[possible], worker[possible], ps_count[possible], worker_count[possible]
    most = int(possible.sum())
    for r in range(capacity.shape[1]):
        needs = ps_count * ps[:, r] + worker_count * worker[:, r]
        most = min(most, _smallest_first(needs, int((kinds[:, r] * numbers).sum())))
        for least in _thresholds(np.concatenate([ps[:, r], worker[:, r]])):
            tasks = ps_count * (ps[:, r] >= least) + worker_count * (worker[:, r] >= least)
            most = min(most, _smallest_first(tasks, int((kinds[:, r] // least * numbers).sum())))
    return most


def _fits_some(kinds: Ints, demand: Ints) -> Bools:
    fits = np.zeros(len(demand), dtype=np.bool_)
    for kind in kinds:
        fits |= (demand <= kind).all(axis=1)
    return fits


def _smallest_first(needs: Ints, room: int) -> int:
    return int(np.searchsorted(np.cumsum(np.sort(needs)), room, side="right"))


def _thresholds(demands: Ints) -> list[int]:
    distinct = np.unique(demands[demands > 0])
    if len(distinct) > MAX_THRESHOLDS:
        distinct = distinct[np.linspace(0, len(distinct) - 1, MAX_THRESHOLDS).astype(np.int64)]
    return [int(value) for value in distinct]
