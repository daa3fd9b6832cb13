"""Placement of a job's workers and parameter servers on machines with traffic: instance, solution and checker."""

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

MAX_GPUS = 10**9
"""Most free GPUs of a machine."""

MAX_RESOURCES = 100
"""Most further resources."""

RESOURCE_TOLERANCE = 1e-9
"""Relative excess over a resource's capacity that the checker tolerates: sums of decimals are not exact."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkPlacementInstance(Instance):
    """Machines i with free GPUs g_i and traffic t_i, and a job of W workers and parameter servers of sizes s_j.

    Attributes
    ----------
    machines : tuple of str
        Label of every machine, index i from 0.
    free_gpus : ndarray
        Free GPUs g_i, integers, shape (machines,).
    traffic : ndarray
        Network traffic t_i of the jobs already there, MiB per iteration, shape (machines,).
    workers : int
        Number of workers W; each takes one GPU.
    ps_sizes : ndarray
        Part s_j of the model that each parameter server holds, MiB, shape (servers,); the sum is M.
    skew : float or None
        Skew of the model in [0, 1]: largest tensor divided by model size, as profiled; None for max(s) / M.
    resources : tuple of str
        Names of further resources, e.g. `cpu`.
    free_capacity : ndarray or None
        Free amount of each resource, in the resource's unit, shape (machines, resources).
    worker_demand, ps_demand : ndarray or None
        Demand of one worker and of one parameter server, in the same units, shape (resources,).
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
        checks.integer("number of machines", m, 1, MAX_MACHINES)
        checks.integer("number of resources", r, 0, MAX_RESOURCES)
        self._set("machines", checks.labels("machines", self.machines))
        self._set("resources", checks.labels("resources", self.resources))
        checks.integer("workers", self.workers, 1, MAX_WORKERS)
        self._set("free_gpus", checks.counts("free_gpus", self.free_gpus, (m,), 0, MAX_GPUS))
        self._set("traffic", checks.numbers("traffic", self.traffic, (m,)))
        count = np.shape(self.ps_sizes)
        if len(count) != 1 or not 1 <= count[0] <= MAX_PARAMETER_SERVERS:
            raise InputError(f"ps_sizes must be a list of 1 to {MAX_PARAMETER_SERVERS:,} sizes (got shape {count})")
        self._set("ps_sizes", checks.numbers("ps_sizes", self.ps_sizes, count))
        checks.number("sum of ps_sizes", self.model_size, checks.SMALLEST, checks.LARGEST, "MiB")
        skew = float(self.ps_sizes.max()) / self.model_size if self.skew is None else self.skew
        self._set("skew", checks.number("skew", skew, 0, 1))
        for field, shape in (("free_capacity", (m, r)), ("worker_demand", (r,)), ("ps_demand", (r,))):
            given = getattr(self, field)
            if given is None and r:
                raise InputError(f"{field} must be given for the resources {', '.join(self.resources)}")
            amounts = np.zeros(shape) if given is None else given
            # a free amount may be a remainder of rounding, a demand may not
            smallest = 0.0 if field == "free_capacity" else checks.SMALLEST
            self._set(field, checks.numbers(field, amounts, shape, smallest=smallest))
        self._freeze()

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    @property
    def model_size(self) -> float:
        """Size M of the whole model in MiB."""
        return math.fsum(self.ps_sizes.tolist())

    def check(self, solution: NetworkPlacementSolution) -> list[Violation]:
        """Return every broken rule of a placement; empty if it is feasible.

        The rules: counts and hosts match the instance (`known_machine`, `one_host_per_parameter_server`), w_i <= g_i
        (`free_gpus`), sum w_i = W (`all_workers_placed`), and the tasks on a machine fit its free resources
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
        """Return the largest load over all machines, including those that host no part of the job.

        T_i = t_i + w_i (M - S_i) + S_i (W - w_i), where S_i is the sum of the sizes hosted by machine i.

        Parameters
        ----------
        solution : NetworkPlacementSolution
            A feasible placement.

        Returns
        -------
        Score
            Objective max_i T_i; metrics `largest_load` (the same), `cross_machine_traffic` = sum_i w_i (M - S_i), the
            traffic between workers and parameter servers on other machines in one direction, and `machines_used`.
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
    """Return the load T_i of every machine after a placement, MiB per iteration.

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
    """Machines of the job's workers and parameter servers.

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
