"""Packing rules for placements at or below a level, and the best worker counts for given hosts."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InfeasibleError
from gangopt.instances.network_placement.instance import (
    RESOURCE_TOLERANCE,
    NetworkPlacementInstance,
    NetworkPlacementSolution,
)
from gangopt.solvers.core.clock import Clock
from gangopt.solvers.network_placement.bounds import Reduced

__all__ = ["RULES", "Packer", "Packing", "require_room"]

RULES = ("loss", "fit", "spread")
"""Packing rules: smallest loss of room for workers; best fit; most room left."""


@dataclass(frozen=True, eq=False)
class Packing:
    """Hosts of the servers and workers of each machine; positions are those of `Reduced`.

    Attributes
    ----------
    hosts : ndarray
        Machine of each server, servers in descending size.
    workers : ndarray
        Workers of each machine.
    level : float
        Largest load in model sizes, background included.
    """

    hosts: np.ndarray
    workers: np.ndarray
    level: float

    def solution(self, instance: NetworkPlacementInstance, reduced: Reduced) -> NetworkPlacementSolution:
        """Return the placement in the instance's own numbering."""
        workers = np.zeros(len(instance.machines), dtype=np.int64)
        workers[reduced.machines] = self.workers
        hosts = np.zeros(len(self.hosts), dtype=np.int64)
        hosts[reduced.order] = reduced.machines[self.hosts]
        return NetworkPlacementSolution(tuple(workers.tolist()), tuple(hosts.tolist()))


class Packer:
    """Pack servers at a level such that enough room for the workers remains.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.
    reduced : Reduced
        Its machines that matter.
    clock : Clock or None, optional
        Every method raises OutOfTime when it has expired.
    """

    def __init__(self, instance: NetworkPlacementInstance, reduced: Reduced, clock: Clock | None = None) -> None:
        assert instance.free_capacity is not None
        self._reduced = reduced
        self._clock = clock or Clock()
        self._free = instance.free_capacity[reduced.machines] * (1 + RESOURCE_TOLERANCE)
        self._worker, self._ps = instance.worker_demand, instance.ps_demand

    def pack(self, level: float, rule: str) -> Packing | None:
        """Place servers in descending size by a rule, then the workers; return None if something does not fit.

        Parameters
        ----------
        level : float
            Largest load allowed, in model sizes.
        rule : str
            One of `RULES`; ties go to the lowest index.

        Returns
        -------
        Packing or None
            With the best worker counts for the hosts found.
        """
        reduced = self._reduced
        room = level - reduced.traffic
        held, count = np.zeros(len(room)), np.zeros(len(room), dtype=np.int64)
        hosts = np.zeros(len(reduced.sizes), dtype=np.int64)
        _, before = self._range(room, held, count)
        for position, size in enumerate(reduced.sizes.tolist()):
            self._clock.require()
            least, most = self._range(room, held + size, count + 1)
            rest = room - reduced.workers * (held + size)
            if rule == "loss":
                waste = rest - most * (1 - 2 * (held + size))
                key = (before - most) * 1e6 + np.minimum(waste, 1e5)
            else:
                key = rest if rule == "fit" else -rest
            key = np.where(least <= most, key, np.inf)
            host = int(np.argmin(key))
            if not np.isfinite(key[host]):
                return None
            hosts[position] = host
            held[host] += size
            count[host] += 1
            before[host] = most[host]
        least, most = self._range(room, held, count)
        if not least.sum() <= reduced.workers <= most.sum():
            return None
        return self.with_best_workers(hosts)

    def _range(self, room: np.ndarray, held: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the minimum and maximum workers of each machine that keep T_i at the level; none if max < min."""
        limit = self._worker_room(count)
        slope = 1 - 2 * held
        rest = room - self._reduced.workers * held
        with np.errstate(divide="ignore", invalid="ignore"):
            exact = rest / slope
        light, heavy = slope > 0, slope < 0
        most = np.where(light, np.floor(np.clip(exact, -1, 1e9)), np.where(heavy | (rest >= 0), 1e9, -1))
        least = np.where(heavy, np.ceil(np.clip(exact, 0, 1e9)), 0)
        return least.astype(np.int64), np.minimum(most, limit).astype(np.int64)

    def _worker_room(self, count: np.ndarray) -> np.ndarray:
        limit = self._reduced.most_workers
        assert self._worker is not None
        assert self._ps is not None
        for r in range(len(self._worker)):
            left = self._free[:, r] - count * self._ps[r]
            if self._worker[r]:
                limit = np.where(left >= 0, np.minimum(limit, np.floor(left / self._worker[r])), -1)
            else:
                limit = np.where(left >= 0, limit, -1)
        return limit

    def with_best_workers(self, hosts: np.ndarray) -> Packing | None:
        """Return the placement with these hosts and the smallest largest load, or None if there is none.

        T_i = t_i + W S_i + w_i (M - 2 S_i). Unless it falls with w_i, it is optimal to place workers one by one where
        the resulting load is smallest; at most one machine has S_i > M / 2, and there every count is tried.

        Parameters
        ----------
        hosts : ndarray
            Machine of each server, servers in descending size.
        """
        reduced = self._reduced
        held = np.bincount(hosts, reduced.sizes, minlength=len(reduced.traffic))
        limit = self._worker_room(np.bincount(hosts, minlength=len(held)))
        if (limit < 0).any():
            return None
        slope = 1 - 2 * held
        base = reduced.traffic + reduced.workers * held
        heavy = np.flatnonzero(slope < 0)
        if not len(heavy):
            return self._fill(hosts, base, slope, limit.astype(np.int64), None, 0)
        at = int(heavy[0])
        found = [self._fill(hosts, base, slope, limit.astype(np.int64), at, w) for w in range(int(limit[at]) + 1)]
        return min((item for item in found if item is not None), key=lambda item: item.level, default=None)

    def _fill(
        self, hosts: np.ndarray, base: np.ndarray, slope: np.ndarray, limit: np.ndarray, fixed: int | None, count: int
    ) -> Packing | None:
        self._clock.require()
        total = self._reduced.workers
        workers = np.zeros(len(base), dtype=np.int64)
        if fixed is not None:
            workers[fixed] = count
            limit[fixed] = 0
        loads = base + slope * workers
        rest = total - int(workers.sum())
        if rest < 0 or int(limit.sum()) < rest:
            return None
        after = (loads + slope).tolist()
        heap = [(after[i], i) for i in np.flatnonzero(limit).tolist()]
        heapq.heapify(heap)
        top = max(self._reduced.background, float(loads.max()))
        for _ in range(rest):
            load, i = heap[0]
            top = max(top, load)
            workers[i] += 1
            if workers[i] < limit[i]:
                heapq.heapreplace(heap, (load + float(slope[i]), i))
            else:
                heapq.heappop(heap)
        return Packing(hosts, workers, top)


def require_room(instance: NetworkPlacementInstance, reduced: Reduced) -> None:
    """Reject a job whose workers cannot all be placed at any load.

    Raises
    ------
    InfeasibleError
        The message names the violated constraint and both numbers.
    """
    from gangopt.solvers.network_placement.room import Room, require_gpus

    require_gpus(instance)
    room = int(Room(instance).worker_room().sum())
    if room < reduced.workers:
        names = ", ".join(instance.resources)
        raise InfeasibleError(f"resource_capacity ({names}): room for {room} of {reduced.workers} workers")
