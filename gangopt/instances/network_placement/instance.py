"""A new job's workers and parameter servers on machines that already carry traffic: instance, solution and judge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gangopt.base import checks
from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError

__all__ = [
    "MAX_MACHINES",
    "MAX_PARAMETER_SERVERS",
    "MAX_WORKERS",
    "NetworkPlacementInstance",
    "NetworkPlacementSolution",
    "machine_loads",
]

MAX_MACHINES = 1_000_000
"""Most machines of one instance."""

MAX_WORKERS = 100_000
"""Most workers of the job."""

MAX_PARAMETER_SERVERS = 100_000
"""Most parameter servers of the job."""

RESOURCE_TOLERANCE = 1e-9
"""Relative excess of a resource's capacity that the judge overlooks: sums of decimal fractions are not exact."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkPlacementInstance(Instance):
    """Machines i with free GPUs g_i and traffic t_i, and a job of W workers and parameter servers of sizes s_j.

    Attributes
    ----------
    machines : tuple of str
        Label of every machine, index i from 0.
    free_gpus : ndarray
        G, GPUs that are free, shape (machines,), whole numbers.
    traffic : ndarray
        T, network traffic of the jobs already there, shape (machines,), MiB per iteration.
    workers : int
        W, each takes one GPU.
    ps_sizes : ndarray
        S, part of the model that each parameter server holds, shape (servers,), MiB; the sum is M.
    skew : float or None
        S_J in [0, 1], largest tensor over model size as the profiler sees it; None stands for max(s) / M.
    resources : tuple of str
        Names of further resources, as `cpu`.
    free_capacity : ndarray or None
        Free amount of each resource, shape (machines, resources), the resource's unit.
    worker_demand, ps_demand : ndarray or None
        What one worker and one parameter server take, shape (resources,), the same units.
    """

    noun: ClassVar[str] = "network_placement"
    name: str
    description: str = ""
    source: str = ""
    machines: tuple[str, ...]
    free_gpus: np.ndarray
    traffic: np.ndarray
    workers: int
    ps_sizes: np.ndarray
    skew: float | None = None
    resources: tuple[str, ...] = ()
    free_capacity: np.ndarray | None = None
    worker_demand: np.ndarray | None = None
    ps_demand: np.ndarray | None = None

    def __post_init__(self) -> None:
        m, r = len(self.machines), len(self.resources)
        _require_number("machines", self.machines, 1, MAX_MACHINES)
        _require_number("resources", self.resources, 0, 100)
        self._set("machines", checks.labels("machines", self.machines))
        self._set("resources", checks.labels("resources", self.resources))
        _require_whole("workers", self.workers, 1, MAX_WORKERS)
        self._set("free_gpus", checks.counts("free_gpus", self.free_gpus, (m,), 0, 10**9))
        self._set("traffic", checks.numbers("traffic", self.traffic, (m,)))
        count = np.shape(self.ps_sizes)
        if len(count) != 1 or not 1 <= count[0] <= MAX_PARAMETER_SERVERS:
            raise InputError(f"ps_sizes: shape {count}, a list of 1 to {MAX_PARAMETER_SERVERS} sizes is needed")
        self._set("ps_sizes", checks.numbers("ps_sizes", self.ps_sizes, count))
        if not checks.SMALLEST <= self.model_size <= checks.LARGEST:
            allowed = f"{checks.SMALLEST:g} to {checks.LARGEST:g}"
            raise InputError(f"ps_sizes: {self.model_size:g} MiB in all, {allowed} is needed")
        skew = float(self.ps_sizes.max()) / self.model_size if self.skew is None else self.skew
        if not (isinstance(skew, int | float) and not isinstance(skew, bool) and 0 <= skew <= 1):
            raise InputError(f"skew: {skew}, a share from 0 to 1 is needed")
        self._set("skew", float(skew))
        for field, shape in (("free_capacity", (m, r)), ("worker_demand", (r,)), ("ps_demand", (r,))):
            given = getattr(self, field)
            if given is None and r:
                raise InputError(f"{field}: missing, needed for the resources {', '.join(self.resources)}")
            amounts = np.zeros(shape) if given is None else given
            # what is free may be a remainder of rounding, what a task takes is not
            smallest = 0.0 if field == "free_capacity" else checks.SMALLEST
            self._set(field, checks.numbers(field, amounts, shape, smallest=smallest))
        self._freeze()

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    @property
    def model_size(self) -> float:
        """M, size of the whole model in MiB."""
        return math.fsum(self.ps_sizes.tolist())

    def check(self, solution: NetworkPlacementSolution) -> list[Violation]:
        """Return every broken rule of a placement; empty if it is feasible.

        The rules: counts and hosts fit the instance (`known_machine`, `one_host_per_parameter_server`), w_i <= g_i
        (`free_gpus`), sum w_i = W (`all_workers_placed`), and no machine gives more of a resource than it has
        (`resource_capacity`).

        Parameters
        ----------
        solution : NetworkPlacementSolution
            The placement.
        """
        m, servers = len(self.machines), len(self.ps_sizes)
        if len(solution.workers) != m:
            return [Violation("known_machine", "number of worker counts", len(solution.workers), m, "machines")]
        if len(solution.ps_hosts) != servers:
            where = "number of hosts"
            return [
                Violation("one_host_per_parameter_server", where, len(solution.ps_hosts), servers, "parameter servers")
            ]
        found = []
        for j, host in enumerate(solution.ps_hosts):
            if not 0 <= host < m:
                found.append(Violation("known_machine", f"host of parameter server {j}", host, m - 1))
        counts = np.array(solution.workers, dtype=np.int64)
        for i in np.flatnonzero((counts < 0) | (counts > self.free_gpus)).tolist():
            found.append(
                Violation("free_gpus", f"machine {self.machines[i]}", counts[i], int(self.free_gpus[i]), "workers")
            )
        if counts.sum() != self.workers:
            found.append(Violation("all_workers_placed", "the job", int(counts.sum()), self.workers, "workers"))
        if not found and self.resources:
            found += self._check_resources(counts, solution)
        return found

    def _check_resources(self, counts: np.ndarray, solution: NetworkPlacementSolution) -> list[Violation]:
        assert self.free_capacity is not None
        assert self.worker_demand is not None
        assert self.ps_demand is not None
        servers = np.bincount(solution.ps_hosts, minlength=len(self.machines))
        use = np.outer(counts, self.worker_demand) + np.outer(servers, self.ps_demand)
        over = np.argwhere(use > self.free_capacity * (1 + RESOURCE_TOLERANCE))
        return [
            Violation(
                "resource_capacity",
                f"machine {self.machines[i]}, resource {self.resources[r]}",
                float(use[i, r]),
                float(self.free_capacity[i, r]),
            )
            for i, r in over.tolist()
        ]

    def evaluate(self, solution: NetworkPlacementSolution) -> Score:
        """Return the largest load of all machines, also of those that host nothing of the job.

        T_i = t_i + w_i (M - S_i) + S_i (W - w_i), S_i the sum of the sizes hosted by machine i.

        Parameters
        ----------
        solution : NetworkPlacementSolution
            A feasible placement.

        Returns
        -------
        Score
            Objective max_i T_i; metrics `largest_load` (the same), `cross_machine_traffic` = sum_i w_i (M - S_i),
            what the workers exchange with parameter servers elsewhere, in one direction, and `machines_used`.
        """
        loads = machine_loads(self, solution)
        hosted = _hosted(self, solution)
        used = {i for i, count in enumerate(solution.workers) if count} | set(solution.ps_hosts)
        size = self.model_size
        crossing = math.fsum(w * (size - hosted.get(i, 0.0)) for i, w in enumerate(solution.workers) if w)
        largest = float(loads.max())
        return Score(
            largest,
            {"largest_load": largest, "cross_machine_traffic": max(0.0, crossing), "machines_used": len(used)},
        )


def machine_loads(instance: NetworkPlacementInstance, solution: NetworkPlacementSolution) -> np.ndarray:
    """Return T_i of every machine after a placement.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.
    solution : NetworkPlacementSolution
        A feasible placement.
    """
    size, total = instance.model_size, instance.workers
    loads = np.array(instance.traffic)
    hosted = _hosted(instance, solution)
    for i in {i for i, count in enumerate(solution.workers) if count} | set(hosted):
        w, held = solution.workers[i], hosted.get(i, 0.0)
        loads[i] = math.fsum((loads[i], w * (size - held), held * (total - w)))
    return loads


def _hosted(instance: NetworkPlacementInstance, solution: NetworkPlacementSolution) -> dict[int, float]:
    sizes = instance.ps_sizes.tolist()
    held: dict[int, list[float]] = {}
    for j, host in enumerate(solution.ps_hosts):
        held.setdefault(host, []).append(sizes[j])
    return {host: math.fsum(parts) for host, parts in held.items()}


@dataclass(frozen=True)
class NetworkPlacementSolution:
    """Where the job runs.

    Attributes
    ----------
    workers : tuple of int
        Number of workers on every machine, in the instance's order.
    ps_hosts : tuple of int
        Machine of every parameter server, from 0.
    """

    workers: tuple[int, ...]
    ps_hosts: tuple[int, ...]

    def __post_init__(self) -> None:
        for field in ("workers", "ps_hosts"):
            object.__setattr__(self, field, checks.whole_numbers(field, getattr(self, field)))


def _require_number(field: str, labels: tuple[str, ...], least: int, most: int) -> None:
    if not least <= len(labels) <= most:
        raise InputError(f"{field}: {len(labels)} given, {least} to {most} are allowed")


def _require_whole(field: str, value: object, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InputError(f"{field}: {value}, a whole number from {least} to {most} is needed")
