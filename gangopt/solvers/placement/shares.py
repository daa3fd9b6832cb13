"""Even shares of a job's tasks over k servers, and their transfer time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import le

from gangopt.instances.placement.instance import PlacementInstance

__all__ = ["Job", "Shares", "even_shares", "job_of"]

Shares = list[tuple[int, int, int]]
"""Runs (servers, parameter servers on each, workers on each), in the order of the servers."""


@dataclass(frozen=True)
class Job:
    """Data of one job for the placement rules, as plain numbers.

    Attributes
    ----------
    ps, workers : int
        Number of tasks.
    ps_need, worker_need : tuple of int
        Demand of one task by resource, millionths of the unit.
    send, receive : float
        Seconds per worker elsewhere of a parameter server, and per parameter server elsewhere of a worker.
    hosts : bool
        Whether both terms are charged on every host.
    """

    ps: int
    workers: int
    ps_need: tuple[int, ...]
    worker_need: tuple[int, ...]
    send: float
    receive: float
    hosts: bool

    def fits(self, ps: int, workers: int, free: tuple[int, ...]) -> bool:
        """Return whether these numbers of tasks fit into the free amounts of a server."""
        return all(map(le, self.need(ps, workers), free))

    def need(self, ps: int, workers: int) -> tuple[int, ...]:
        """Return the demand of these numbers of tasks by resource, in millionths of the unit."""
        return tuple([ps * a + workers * b for a, b in zip(self.ps_need, self.worker_need, strict=True)])

    def transfer_time(self, shares: Shares) -> float:
        """Return the transfer time in seconds of shares."""
        slowest = 0.0
        for _, ps, workers in shares:
            if ps or (self.hosts and workers):
                slowest = max(slowest, (self.workers - workers) * self.send)
            if workers or (self.hosts and ps):
                slowest = max(slowest, (self.ps - ps) * self.receive)
        return slowest


def job_of(instance: PlacementInstance, j: int) -> Job:
    """Return a job of an instance.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    j : int
        Index of the job.
    """
    part = float(instance.size[j]) / int(instance.parameter_servers[j])
    return Job(
        ps=int(instance.parameter_servers[j]),
        workers=int(instance.workers[j]),
        ps_need=tuple(instance.ps_millionths[j].tolist()),
        worker_need=tuple(instance.worker_millionths[j].tolist()),
        send=part / float(instance.ps_bandwidth[j]),
        receive=part / float(instance.worker_bandwidth[j]),
        hosts=instance.charge == "hosts",
    )


def even_shares(ps: int, workers: int, k: int, every_pairing: bool) -> Iterator[Shares]:
    """Yield the even spreads of tasks over k servers, which differ in how remainders are combined.

    Every server gets floor(ps / k) parameter servers and floor(workers / k) workers; ps mod k of them get one more
    parameter server, workers mod k one more worker. The first servers get both extras, then come those with an extra
    parameter server, those with an extra worker, and those with none.

    Parameters
    ----------
    ps, workers : int
        Tasks.
    k : int
        Servers.
    every_pairing : bool
        Yield every number of servers with both extras, largest first, instead of only the largest and the smallest.

    Yields
    ------
    list of (servers, parameter servers, workers)
        Runs in the order of the servers, without empty ones.
    """
    low_ps, extra_ps = divmod(ps, k)
    low_workers, extra_workers = divmod(workers, k)
    most, least = min(extra_ps, extra_workers), max(0, extra_ps + extra_workers - k)
    for both in range(most, least - 1, -1) if every_pairing else sorted({most, least}, reverse=True):
        runs = [
            (both, low_ps + 1, low_workers + 1),
            (extra_ps - both, low_ps + 1, low_workers),
            (extra_workers - both, low_ps, low_workers + 1),
            (k - extra_ps - extra_workers + both, low_ps, low_workers),
        ]
        yield [run for run in runs if run[0] and run[1] + run[2]]
