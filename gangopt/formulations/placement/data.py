"""Data of the formulations of `placement`: jobs, classes of equal servers, pieces and levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gangopt.base.types import Ints
from gangopt.formulations.deadline import require_time
from gangopt.instances.placement.instance import TRANSFERS_PER_STEP, PlacementInstance

__all__ = ["JobData", "Level", "PlacementData", "ServerClass", "levels_of"]

Piece = tuple[int, int]
"""Numbers of parameter servers and workers of one job on one server."""


@dataclass(frozen=True)
class JobData:
    """Numbers of one job.

    Attributes
    ----------
    index : int
        0-based.
    ps, workers : int
        p_j and w_j, tasks.
    ps_need, worker_need : tuple of int
        Demand of one task by resource, in the units of `PlacementData`.
    size, ps_bandwidth, worker_bandwidth : float
        S_j (MB), B_j and b_j (MB/s).
    steps, compute : float
        Q_j, and seconds of a step without its transfers.
    pause_charge : float
        Charge in seconds if the job is paused.
    completion : bool
        Whether completion times count, not transfer times.
    hosts : bool
        Whether both terms are charged on each host.
    """

    index: int
    ps: int
    workers: int
    ps_need: tuple[int, ...]
    worker_need: tuple[int, ...]
    size: float
    ps_bandwidth: float
    worker_bandwidth: float
    steps: float
    compute: float
    pause_charge: float
    completion: bool
    hosts: bool

    def sends(self, workers: int) -> float:
        """Return the seconds to send from a parameter server to all workers but the `workers` on its server."""
        return self.size * (self.workers - workers) / (self.ps * self.ps_bandwidth)

    def receives(self, ps: int) -> float:
        """Return the seconds to send from all parameter servers but the `ps` on its server to a worker."""
        return self.size * (self.ps - ps) / (self.ps * self.worker_bandwidth)

    def cost(self, piece: Piece) -> float:
        """Return the transfer time in seconds of the slowest task of a nonempty piece."""
        ps, workers = piece
        sends = self.sends(workers) if ps or self.hosts else 0.0
        receives = self.receives(ps) if workers or self.hosts else 0.0
        return max(sends, receives)

    def need(self, piece: Piece) -> tuple[int, ...]:
        """Return the demand of a piece for each resource."""
        return tuple([piece[0] * a + piece[1] * b for a, b in zip(self.ps_need, self.worker_need, strict=True)])

    def charge(self) -> tuple[float, float]:
        """Return (a, c) such that the job costs a + c t seconds if it is placed with transfer time t."""
        if not self.completion:
            return 0.0, 1.0
        return self.steps * self.compute, self.steps * TRANSFERS_PER_STEP

    def pieces(self, capacity: Sequence[int]) -> list[Piece]:
        """Return the pieces that fit on an empty server, in ascending order."""
        found = []
        for x in range(self.ps + 1):
            left = [room - x * a for room, a in zip(capacity, self.ps_need, strict=True)]
            if min(left, default=0) < 0:
                break
            fitting = [room // b for room, b in zip(left, self.worker_need, strict=True) if b]
            most = min([self.workers, *fitting])
            found += [(x, y) for y in range(most + 1) if x + y]
        return found


@dataclass(frozen=True)
class ServerClass:
    """Servers of equal capacity.

    Attributes
    ----------
    servers : tuple of int
        Indices of the servers, ascending.
    capacity : tuple of int
        Capacity of each server by resource, in the units of `PlacementData`.
    """

    servers: tuple[int, ...]
    capacity: tuple[int, ...]


@dataclass(frozen=True)
class PlacementData:
    """An instance in small integers.

    Units of a resource are the greatest common divisor of all demands for it, and capacities are rounded down, which
    does not change the feasible placements. Resources without demand are left out.

    Attributes
    ----------
    jobs : tuple of JobData
        In the order of the instance.
    classes : tuple of ServerClass
        Servers of equal capacity, ordered by their first server.
    class_of : tuple of int
        Index of the class of each server.
    resources : tuple of int
        Index in the instance of each resource with demand.
    """

    jobs: tuple[JobData, ...]
    classes: tuple[ServerClass, ...]
    class_of: tuple[int, ...]
    resources: tuple[int, ...]

    @classmethod
    def of(cls, instance: PlacementInstance) -> PlacementData:
        """Return the data of an instance."""
        demands = np.concatenate([instance.ps_millionths, instance.worker_millionths])
        unit = np.gcd.reduce(demands, axis=0)
        used = np.flatnonzero(unit)
        unit = unit[used]
        capacity = [tuple(row) for row in (instance.capacity_millionths[:, used] // unit).tolist()]
        groups: dict[tuple[int, ...], list[int]] = {}
        for server, row in enumerate(capacity):
            groups.setdefault(row, []).append(server)
        numbers = {row: number for number, row in enumerate(groups)}
        return cls(
            jobs=_jobs(instance, used, unit),
            classes=tuple(ServerClass(tuple(servers), row) for row, servers in groups.items()),
            class_of=tuple(numbers[row] for row in capacity),
            resources=tuple(used.tolist()),
        )


def _jobs(instance: PlacementInstance, used: Ints, unit: Ints) -> tuple[JobData, ...]:
    ps_need = (instance.ps_millionths[:, used] // unit).tolist()
    worker_need = (instance.worker_millionths[:, used] // unit).tolist()
    return tuple(
        JobData(
            index=j,
            ps=int(instance.parameter_servers[j]),
            workers=int(instance.workers[j]),
            ps_need=tuple(ps_need[j]),
            worker_need=tuple(worker_need[j]),
            size=float(instance.size[j]),
            ps_bandwidth=float(instance.ps_bandwidth[j]),
            worker_bandwidth=float(instance.worker_bandwidth[j]),
            steps=float(instance.steps[j]),
            compute=float(instance.compute[j]),
            pause_charge=float(instance.pause_charge[j]),
            completion=instance.objective == "completion",
            hosts=instance.charge == "hosts",
        )
        for j in range(len(instance.jobs))
    )


@dataclass(frozen=True)
class Level:
    """A possible transfer time of a job, and the pieces that it may use.

    Attributes
    ----------
    time : float
        Seconds.
    pieces : tuple of tuple of Piece
        For each class, the pieces that cost at most `time` and can be completed by such pieces.
    """

    time: float
    pieces: tuple[tuple[Piece, ...], ...]


def levels_of(job: JobData, classes: Sequence[ServerClass]) -> list[Level]:
    """Return the possible transfer times of a job on empty servers, ascending; none if it does not fit.

    A transfer time is the largest cost of a piece, so it is one of the costs of the pieces that fit some server. The
    least one is found by bisection, as a larger time allows more pieces.

    Parameters
    ----------
    job : JobData
        Job to place.
    classes : sequence of ServerClass
        Classes of equal servers.

    Returns
    -------
    list of Level
        Level 0 has the least transfer time.
    """
    require_time()
    fitting = [{piece: job.cost(piece) for piece in job.pieces(item.capacity)} for item in classes]
    times = sorted({cost for pieces in fitting for cost in pieces.values()})
    low, high = 0, len(times)
    while low < high:
        middle = (low + high) // 2
        if _Reach(job, classes, fitting, times[middle]).has((job.ps, job.workers)):
            high = middle
        else:
            low = middle + 1
    return [Level(time, _Reach(job, classes, fitting, time).useful()) for time in times[low:]]


class _Reach:
    """Numbers of tasks that pieces of at most a given cost can add up to, with at most one piece per server.

    A set of (parameter servers, workers) is stored in the bits of an integer, bit x (2 w_j + 1) + y for (x, y). Adding
    a piece is a shift, and the gap of w_j bits keeps sums above w_j out of the next row.
    """

    def __init__(
        self, job: JobData, classes: Sequence[ServerClass], fitting: Sequence[dict[Piece, float]], time: float
    ) -> None:
        self._job = job
        self._stride = 2 * job.workers + 1
        self._pieces = [[piece for piece, cost in pieces.items() if cost <= time] for pieces in fitting]
        row = (1 << (job.workers + 1)) - 1
        mask = sum(row << (x * self._stride) for x in range(job.ps + 1))
        self._set = 1
        for item, pieces in zip(classes, self._pieces, strict=True):
            new = self._set
            for _ in range(min(len(item.servers), job.ps + job.workers)):
                sums = 0
                for x, y in pieces:
                    sums |= new << (x * self._stride + y)
                new = sums & mask & ~self._set
                if not new:
                    break
                self._set |= new

    def has(self, tasks: Piece) -> bool:
        """Return whether the pieces can add up to these tasks."""
        return bool(self._set >> (tasks[0] * self._stride + tasks[1]) & 1)

    def useful(self) -> tuple[tuple[Piece, ...], ...]:
        """Return, for each class, the pieces that other pieces can complete."""
        job = self._job
        return tuple(
            tuple((x, y) for x, y in pieces if self.has((job.ps - x, job.workers - y))) for pieces in self._pieces
        )
