"""Sequences of jobs that arrive one by one on a cluster, placed by one method with GPUs and traffic carried over."""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import GangoptError, InputError
from gangopt.base.interrupts import unless_interrupted
from gangopt.instances.network_placement.generate import Mapping, map_tensors
from gangopt.instances.network_placement.instance import (
    NetworkPlacementInstance,
    NetworkPlacementSolution,
    machine_loads,
)
from gangopt.instances.networks.models import MODELS, tensor_model
from gangopt.solvers.core.result import Result
from gangopt.solvers.solve import solve
from gangopt.topology import Cluster

__all__ = [
    "NetworkJob",
    "NetworkSequence",
    "Placed",
    "compare_sequences",
    "figure3_cluster",
    "figure3_jobs",
    "place_sequence",
    "random_jobs",
]


@dataclass(frozen=True)
class NetworkJob:
    """A job of a sequence.

    Attributes
    ----------
    name : str
        Name of the job.
    arrival : float
        Time at which it is to be placed, s.
    departure : float
        Time at which it frees its GPUs and its traffic ends, s; infinite if it stays.
    workers : int
        Number of workers W.
    ps_sizes : tuple of float
        Size of each parameter server, MiB.
    skew : float or None
        Largest tensor over model size; None means largest server over model size.
    """

    name: str
    arrival: float
    departure: float
    workers: int
    ps_sizes: tuple[float, ...]
    skew: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.arrival < self.departure:
            raise InputError(
                f"job {self.name}: arrival {self.arrival}, departure {self.departure}; "
                "must satisfy 0 <= arrival < departure"
            )


@dataclass(frozen=True)
class Placed:
    """Result of one arrival.

    Attributes
    ----------
    job : str
        Name of the job.
    arrival : float
        Arrival time, s.
    solution : NetworkPlacementSolution or None
        Placement, None if the job was rejected.
    largest_load : float
        Largest load of all machines just after the arrival, MiB per iteration.
    own_load : float or None
        max_i T_i over the machines that host a task of the job, MiB per iteration; None if rejected.
    bound : float or None
        Lower bound on the largest load for any placement of this job among the present ones; None if not requested.
    machines_used, cross_machine_traffic : int or None or float or None
        Machines and traffic of the job, MiB per iteration; None if rejected.
    reason : str or None
        Why it was rejected, or None.
    """

    job: str
    arrival: float
    solution: NetworkPlacementSolution | None
    largest_load: float
    own_load: float | None
    bound: float | None
    machines_used: int | None
    cross_machine_traffic: float | None
    reason: str | None


@dataclass(frozen=True)
class NetworkSequence:
    """Placements of a sequence by one method.

    Attributes
    ----------
    method : str
        The method with its options.
    placed : tuple of Placed
        One record for every arrival, in order.
    """

    method: str
    placed: tuple[Placed, ...]

    @property
    def largest_load(self) -> float:
        """Largest load of any machine after any arrival, MiB per iteration."""
        return max((item.largest_load for item in self.placed), default=0.0)

    @property
    def mean_largest_load(self) -> float:
        """Mean over the arrivals of the largest load just after them, MiB per iteration."""
        return math.fsum(item.largest_load for item in self.placed) / max(1, len(self.placed))

    @property
    def turned_away(self) -> int:
        """Number of rejected jobs."""
        return sum(item.solution is None for item in self.placed)


def place_sequence(
    cluster: Cluster,
    jobs: Sequence[NetworkJob],
    method: str,
    *,
    bounds: bool = False,
    time_limit: float | None = None,
    rel_gap: float = 0.0,
    seed: int = 0,
) -> NetworkSequence:
    """Place jobs in order of arrival with one method; departures precede arrivals at the same time.

    A placed job adds w_i (M - S_i) + S_i (W - w_i) to the traffic of machine i and occupies w_i of its GPUs until it
    departs. A job for which the method finds no room is rejected and not retried.

    Parameters
    ----------
    cluster : Cluster
        Machines with GPUs, all free and without traffic at first.
    jobs : sequence of NetworkJob
        The jobs; simultaneous arrivals are placed in this order.
    method : str
        A method of `network_placement`, e.g. `packlimit?limit=0.3` or `exact`.
    bounds : bool, optional
        Also prove a lower bound on the largest load at each arrival, given the method's earlier placements.
    time_limit, rel_gap : float or None or float, optional
        Limits of every exact solve.
    seed : int, optional
        Seed of the first arrival; every arrival adds 1.

    Raises
    ------
    InputError
        If the method is unknown.
    """
    state = _State(cluster)
    placed = []
    order = sorted(range(len(jobs)), key=lambda k: jobs[k].arrival)
    for position, k in enumerate(order):
        job = jobs[k]
        state.release(job.arrival)
        instance = state.instance(job)
        limits = {"time_limit": time_limit, "rel_gap": rel_gap}
        result = _solved(instance, method, seed + position, limits)
        bound = _bound(instance, method, result, limits) if bounds else None
        placed.append(state.accept(job, instance, result, bound))
    return NetworkSequence(method, tuple(placed))


def compare_sequences(
    cluster: Cluster,
    jobs: Sequence[NetworkJob],
    methods: Sequence[str] = ("exact", "packlimit", "consolidate", "random", "greedy_load"),
    *,
    time_limit: float | None = 10.0,
    rel_gap: float = 1e-6,
    seed: int = 0,
) -> tuple[NetworkSequence, ...]:
    """Place one sequence with several methods independently.

    `exact` is optimal at every arrival given its own earlier placements. Over a whole sequence it is a policy like any
    other and may lose: no method knows the jobs to come, and the largest load ignores the GPUs and traffic that a
    placement leaves behind.

    Parameters
    ----------
    cluster, jobs : Cluster or sequence of NetworkJob
        As in `place_sequence`.
    methods : sequence of str, optional
        The methods.
    time_limit, rel_gap, seed : float or None or float or int, optional
        As in `place_sequence`.
    """
    limits = {"time_limit": time_limit, "rel_gap": rel_gap}
    return tuple(place_sequence(cluster, jobs, method, seed=seed, **limits) for method in methods)  # type: ignore[arg-type]


def figure3_cluster() -> Cluster:
    """Return the eight empty machines of 4 GPUs of Tiresias's placement experiment."""
    return Cluster.uniform(machines_per_rack=8, gpus_per_slot=4, name="figure3")


def figure3_jobs(model: str) -> tuple[NetworkJob, ...]:
    """Return the four jobs of Tiresias's placement experiment: 8 workers and 8 parameter servers each, all staying.

    Parameters
    ----------
    model : str
        One of the ten networks.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, section 2.2 and figure 3.
    """
    sizes = tuple(map_tensors(tensor_model(model).sizes, 8).tolist())
    skew = tensor_model(model).skew
    return tuple(NetworkJob(f"{model}-{k + 1}", float(k), math.inf, 8, sizes, skew) for k in range(4))


def random_jobs(
    count: int,
    *,
    gap: float = 30.0,
    duration: float = 3600.0,
    workers: Sequence[int] = (1, 2, 4, 8, 16, 32),
    mapping: Mapping = "round_robin",
    seed: int = 0,
) -> tuple[NetworkJob, ...]:
    """Return jobs of the ten networks with exponential gaps and durations and as many servers as workers.

    Parameters
    ----------
    count : int
        Number of jobs.
    gap, duration : float, optional
        Means, s.
    workers : sequence of int, optional
        Worker counts, equally likely.
    mapping : Mapping, optional
        How tensors go to parameter servers.
    seed : int, optional
        Seed of the generator.
    """
    generator = np.random.default_rng(seed)
    arrivals = np.cumsum(generator.exponential(gap, count))
    jobs = []
    for k, arrival in enumerate(arrivals.tolist()):
        model = tensor_model(MODELS[int(generator.integers(len(MODELS)))])
        total = int(generator.choice(workers))
        sizes = tuple(map_tensors(model.sizes, total, mapping).tolist())
        departure = arrival + max(1e-3, float(generator.exponential(duration)))
        jobs.append(NetworkJob(f"{k}-{model.name}", arrival, departure, total, sizes, model.skew))
    return tuple(jobs)


class _State:
    """Free GPUs and the traffic of the jobs that run."""

    def __init__(self, cluster: Cluster) -> None:
        self._machines = tuple(cluster.machines)
        owner = cluster.slot_machine[cluster.gpu_slot]
        self._free = np.bincount(owner, minlength=len(self._machines)).astype(np.int64)
        self._running: list[tuple[float, int, np.ndarray, np.ndarray]] = []
        self._started = 0

    def release(self, time: float) -> None:
        while self._running and self._running[0][0] <= time:
            self._free = self._free + heapq.heappop(self._running)[2]

    def traffic(self) -> np.ndarray:
        """Return the sum over the running jobs, recomputed so that departures leave no rounding error."""
        ordered = sorted(self._running, key=lambda item: item[1])
        return np.sum([item[3] for item in ordered], axis=0) if ordered else np.zeros(len(self._machines))

    def instance(self, job: NetworkJob) -> NetworkPlacementInstance:
        return NetworkPlacementInstance(
            name=f"network_placement/{job.name}",
            machines=self._machines,
            free_gpus=self._free,
            traffic=self.traffic(),
            workers=job.workers,
            ps_sizes=np.array(job.ps_sizes),
            skew=job.skew,
        )

    def accept(
        self, job: NetworkJob, instance: NetworkPlacementInstance, result: Result, bound: float | None
    ) -> Placed:
        if result.solution_status == "none":
            largest = float(instance.traffic.max())
            return Placed(job.name, job.arrival, None, largest, None, bound, None, None, result.reason)
        solution = result.solution
        loads = machine_loads(instance, solution)
        workers = np.array(solution.workers, dtype=np.int64)
        # store the job's own load, which its departure removes
        alone = machine_loads(dataclasses.replace(instance, traffic=np.zeros(len(workers))), solution)
        self._free = self._free - workers
        heapq.heappush(self._running, (job.departure, self._started, workers, alone))
        self._started += 1
        hosts = np.union1d(np.flatnonzero(workers), solution.ps_hosts)
        return Placed(
            job=job.name,
            arrival=job.arrival,
            solution=solution,
            largest_load=float(loads.max()),
            own_load=float(loads[hosts].max()),
            bound=bound,
            machines_used=int(result.metrics["machines_used"]),
            cross_machine_traffic=float(result.metrics["cross_machine_traffic"]),
            reason=None,
        )


def _solved(instance: NetworkPlacementInstance, method: str, seed: int, limits: dict[str, float | None]) -> Result:
    gap = limits["rel_gap"] or 0.0
    result = unless_interrupted(solve(instance, method, seed=seed, time_limit=limits["time_limit"], rel_gap=gap))
    if result.termination == "error":
        raise GangoptError(f"{instance.name}: {method}: {result.reason}")
    return result


def _bound(
    instance: NetworkPlacementInstance, method: str, result: Result, limits: dict[str, float | None]
) -> float | None:
    exact = result if method.partition("?")[0] == "exact" else _solved(instance, "exact", 0, limits)
    return exact.bound
