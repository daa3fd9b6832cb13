"""Problem `placement`: the servers that host the parameter servers and workers of each job."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from gangopt.base import checks
from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.placement.counting import most_jobs_by_counting
from gangopt.instances.placement.solution import PlacementSolution

if TYPE_CHECKING:
    from gangopt.topology import Cluster

__all__ = ["CHARGES", "MAX_TASKS", "OBJECTIVES", "PER_UNIT", "TRANSFERS_PER_STEP", "PlacementInstance"]


OBJECTIVES = ("transfer", "completion")
CHARGES = ("tasks", "hosts")

MAX_TASKS = 1_000
"""Most parameter servers, and most workers, of one job."""

MAX_JOBS, MAX_SERVERS = 1_000_000, 1_000_000

MAX_AMOUNT = 1e9
"""Largest capacity or demand, in the resource's unit."""

PER_UNIT = 1_000_000
"""Capacities and demands are rounded to millionths of a unit, so that the fit of tasks on a server is exact."""

MAX_TIMES = 1e60
"""Largest steps, seconds per step and charge: an interval derives them from products of numbers of up to 1e15."""

MAX_SUM = 4e18
"""Largest sum of capacities or demands in millionths: it fits a 64-bit integer."""

TRANSFERS_PER_STEP = 2
"""Transfers per step: gradients are pushed and parameters pulled (Optimus, eqn 2)."""

_UNITS = {"cpu": "core", "memory": "GB", "gpu": "GPU"}


@dataclass(frozen=True, eq=False, kw_only=True)
class PlacementInstance(Instance):
    r"""Jobs with given numbers of tasks, and servers with given capacities.

    Server k holds p_jk parameter servers and w_jk workers of job j. A job's transfer time is that of its slowest task,

    .. math:: t_j = \max_k \left\{ \frac{S_j}{p_j}\frac{w_j - w_{jk}}{B_j},
                                   \frac{S_j}{p_j}\frac{p_j - p_{jk}}{b_j} \right\},

    the first term over the servers with a parameter server of the job and the second over those with a worker
    (`charge="tasks"`), or both over every server that hosts the job (`charge="hosts"`, the reading of the proof of
    Theorem 1). As many jobs as possible are placed. Among such placements, the objective is the sum of t_j
    (`objective="transfer"`) or of completion times Q_j (compute_j + 2 t_j) (`objective="completion"`) over the placed
    jobs, plus `pause_charge` of the paused ones. Without charges all jobs count alike when some must be paused.

    Attributes
    ----------
    resources : tuple of str
        Names of the R resources.
    units : tuple of str
        Unit of each resource, shape (R,).
    servers : tuple of str
        Unique labels of the K servers.
    capacity : ndarray of float
        Capacity of each server, in the resource's unit, 0 to 1e9, shape (K, R).
    jobs : tuple of str
        Unique labels of the J jobs.
    parameter_servers : ndarray of int
        Parameter servers p_j, 1 to 1000, shape (J,).
    workers : ndarray of int
        Workers w_j, 1 to 1000, shape (J,).
    ps_demand : ndarray of float
        Demand of one parameter server, in the resource's unit, shape (J, R).
    worker_demand : ndarray of float
        Demand of one worker, in the resource's unit, shape (J, R).
    size : ndarray of float
        Size S_j of the model's parameters, MB, above 0, shape (J,).
    ps_bandwidth : ndarray of float
        Bandwidth B_j of one parameter server, MB/s, above 0, shape (J,).
    worker_bandwidth : ndarray of float
        Bandwidth b_j of one worker, MB/s, above 0, shape (J,).
    steps : ndarray of float
        Steps left, Q_j; None for 1; used only by `completion`, shape (J,).
    compute : ndarray of float
        Seconds per step besides transfers; None for 0; used only by `completion`, shape (J,).
    pause_charge : ndarray of float
        Seconds charged for a paused job; None for 0, shape (J,).
    objective : {'transfer', 'completion'}
        Times to be minimised.
    charge : {'tasks', 'hosts'}
        Transfers that count.
    capacity_millionths, ps_millionths, worker_millionths : ndarray of int
        Capacities and demands, rounded to millionths of the unit.

    Raises
    ------
    InputError
        If a number is out of range, a shape does not match, a label is not unique, or a word is unknown.

    References
    ----------
    Optimus (EuroSys'18), section 4.2 and Theorem 1.
    """

    noun: ClassVar[str] = "placement"
    name: str
    description: str = ""
    source: str = ""
    resources: tuple[str, ...]
    units: tuple[str, ...]
    servers: tuple[str, ...]
    capacity: Floats
    jobs: tuple[str, ...]
    parameter_servers: Ints
    workers: Ints
    ps_demand: Floats
    worker_demand: Floats
    size: Floats
    ps_bandwidth: Floats
    worker_bandwidth: Floats
    # None is accepted and replaced at construction, so that readers of these fields never meet it
    steps: Floats = None  # type: ignore[assignment]
    compute: Floats = None  # type: ignore[assignment]
    pause_charge: Floats = None  # type: ignore[assignment]
    objective: Literal["transfer", "completion"] = "transfer"
    charge: Literal["tasks", "hosts"] = "tasks"
    capacity_millionths: Ints = field(init=False, compare=False, repr=False)
    ps_millionths: Ints = field(init=False, compare=False, repr=False)
    worker_millionths: Ints = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._set("resources", checks.resource_names(self.resources))
        self._set("servers", checks.labels("servers", self.servers))
        self._set("jobs", checks.labels("jobs", self.jobs))
        self._set("units", tuple(self.units))
        K, J, R = len(self.servers), len(self.jobs), len(self.resources)
        checks.integer("number of servers", K, 1, MAX_SERVERS)
        checks.integer("number of jobs", J, 1, MAX_JOBS)
        if len(self.units) != R:
            raise InputError(f"units must have one unit for each of the {R} resources (got {len(self.units)})")
        if self.objective not in OBJECTIVES:
            raise InputError(f"objective must be one of {', '.join(OBJECTIVES)} (got {self.objective!r})")
        if self.charge not in CHARGES:
            raise InputError(f"charge must be one of {', '.join(CHARGES)} (got {self.charge!r})")
        for name in ("parameter_servers", "workers"):
            self._set(name, checks.counts(name, getattr(self, name), (J,), 1, MAX_TASKS))
        for name, rows in (("capacity", K), ("ps_demand", J), ("worker_demand", J)):
            self._set(name, checks.numbers(name, getattr(self, name), (rows, R), high=MAX_AMOUNT))
        for name in ("size", "ps_bandwidth", "worker_bandwidth"):
            self._set(name, checks.numbers(name, getattr(self, name), (J,), low=1e-9, high=1e12))
        for name, default in (("steps", 1.0), ("compute", 0.0), ("pause_charge", 0.0)):
            value = getattr(self, name)
            self._set(name, checks.numbers(name, np.full(J, default) if value is None else value, (J,), high=MAX_TIMES))
        self._count_in_millionths()
        self._freeze()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _count_in_millionths(self) -> None:
        for name, source in (("capacity", "capacity"), ("ps", "ps_demand"), ("worker", "worker_demand")):
            self._set(f"{name}_millionths", np.rint(getattr(self, source) * PER_UNIT).astype(np.int64))
        needs = self.parameter_servers[:, None] * self.ps_demand + self.workers[:, None] * self.worker_demand
        for name, total in (("capacity", self.capacity.sum(axis=0)), ("demand", needs.sum(axis=0))):
            if total.max() * PER_UNIT > MAX_SUM:
                r = int(np.argmax(total))
                raise InputError(
                    f"total {name} of {self.resources[r]} must be at most {MAX_SUM / PER_UNIT:g} {self.units[r]} "
                    f"(got {total[r]:g})"
                )

    @classmethod
    def from_cluster(
        cls,
        cluster: Cluster,
        *,
        resources: tuple[str, ...] | None = None,
        **fields: Any,
    ) -> Self:
        """Return jobs on the machines of a cluster, with one server for each machine, in the cluster's order.

        Parameters
        ----------
        cluster : Cluster
            The cluster.
        resources : tuple of str or None, optional
            Resources of the cluster that count, in the order of the demands; None for all.
        **fields : object
            The other fields of the class, except `units`, `servers` and `capacity`.

        Raises
        ------
        InputError
            If the cluster lacks a resource, or a field is invalid.
        """
        chosen = cluster.resources if resources is None else tuple(resources)
        for name in chosen:
            if name not in cluster.resources:
                known = ", ".join(cluster.resources)
                raise InputError(f"resources: unknown resource {name!r}; the cluster has {known}")
        columns = [cluster.resources.index(name) for name in chosen]
        return cls(
            resources=chosen,
            units=tuple(_UNITS.get(name, "unit") for name in chosen),
            servers=cluster.machines,
            capacity=cluster.capacities[:, columns],
            **fields,
        )

    @cached_property
    def fewest_paused(self) -> int:
        """Lower bound on the number of paused jobs, found by counting; only jobs beyond it are charged `pause_cost`."""
        placed = most_jobs_by_counting(
            self.capacity_millionths,
            self.ps_millionths,
            self.worker_millionths,
            self.parameter_servers,
            self.workers,
        )
        return len(self.jobs) - placed

    @cached_property
    def pause_cost(self) -> float:
        """Seconds charged for each job paused beyond `fewest_paused`.

        It is 1 plus the sum over jobs of the longest time or the `pause_charge`, whichever is larger, so that placing
        one more job outweighs any difference in time.
        """
        longest = np.maximum(
            self.size * self.workers / (self.parameter_servers * self.ps_bandwidth),
            self.size * self.parameter_servers / (self.parameter_servers * self.worker_bandwidth),
        )
        return 1.0 + math.fsum(np.maximum(self._costs(longest), self.pause_charge).tolist())

    def _costs(self, transfer: Floats) -> Floats:
        if self.objective == "transfer":
            return transfer
        return self.steps * (self.compute + TRANSFERS_PER_STEP * transfer)

    def check(self, solution: PlacementSolution) -> list[Violation]:
        """Return every broken rule of a placement; empty if it is feasible.

        The rules: a piece is on a server of the instance (`known_server`), a server holds at most one piece of a job
        (`one_piece_per_server`), a piece holds at least one task and no negative number (`tasks_in_piece`), a placed
        job has all its tasks (`place_all_parameter_servers`, `place_all_workers`), and the tasks on a server stay
        within each capacity (`server_capacity`, exact in millionths of the unit).

        Parameters
        ----------
        solution : PlacementSolution
            The placement.
        """
        if len(solution.pieces) != len(self.jobs):
            given = len(solution.pieces)
            return [Violation("place_all_workers", "number of jobs", given, len(self.jobs), "jobs")]
        found = [item for j, pieces in enumerate(solution.pieces) if pieces for item in self._check_job(j, pieces)]
        return found or self._check_capacity(solution)

    def _check_job(self, j: int, pieces: tuple[tuple[int, int, int], ...]) -> list[Violation]:
        found = []
        where = f"job {self.jobs[j]}"
        for server, ps, workers in pieces:
            if not 0 <= server < len(self.servers):
                found.append(Violation("known_server", where, server, len(self.servers) - 1))
            if min(ps, workers) < 0 or ps + workers < 1:
                found.append(Violation("tasks_in_piece", f"{where}, server {server}", min(ps, workers), 1, "tasks"))
        distinct = len({server for server, _, _ in pieces})
        if distinct < len(pieces):
            found.append(Violation("one_piece_per_server", where, len(pieces), distinct, "pieces"))
        for rule, held, expected in (
            ("place_all_parameter_servers", sum(piece[1] for piece in pieces), int(self.parameter_servers[j])),
            ("place_all_workers", sum(piece[2] for piece in pieces), int(self.workers[j])),
        ):
            if held != expected:
                found.append(Violation(rule, where, held, expected, "tasks"))
        return found

    def _check_capacity(self, solution: PlacementSolution) -> list[Violation]:
        job, server, ps, workers = _columns(solution)
        loads = np.zeros_like(self.capacity_millionths)
        needs = ps[:, None] * self.ps_millionths[job] + workers[:, None] * self.worker_millionths[job]
        np.add.at(loads, server, needs)
        return [
            Violation(
                "server_capacity",
                f"server {self.servers[k]}, {self.resources[r]}",
                float(loads[k, r]) / PER_UNIT,
                float(self.capacity[k, r]),
                self.units[r],
            )
            for k, r in np.argwhere(loads > self.capacity_millionths).tolist()
        ]

    def transfer_times(self, solution: PlacementSolution) -> Floats:
        """Return the transfer time t_j of every job in seconds, 0 for a paused job, shape (J,).

        Parameters
        ----------
        solution : PlacementSolution
            A feasible placement.
        """
        job, _, ps, workers = _columns(solution)
        size, total_ps, total_workers = self.size[job], self.parameter_servers[job], self.workers[job]
        # the order of these operations is part of the contract: bounds in models are the same floating-point numbers
        sends = size * (total_workers - workers) / (total_ps * self.ps_bandwidth[job])
        receives = size * (total_ps - ps) / (total_ps * self.worker_bandwidth[job])
        if self.charge == "tasks":
            sends = np.where(ps > 0, sends, 0.0)
            receives = np.where(workers > 0, receives, 0.0)
        times = np.zeros(len(self.jobs))
        np.maximum.at(times, job, np.maximum(sends, receives))
        return times

    def evaluate(self, solution: PlacementSolution) -> Score:
        r"""Return the objective and the metrics of a feasible placement.

        .. math:: \sum_{j\ \text{placed}} g_j(t_j) + \sum_{j\ \text{paused}} c_j
            + W (\text{paused} - \text{fewest paused})

        with g_j(t) = t or Q_j (compute_j + 2 t), c_j the `pause_charge`, W the `pause_cost` and `fewest_paused` found
        by counting. If only the fewest jobs are paused, the objective and its gap are plain times.

        Parameters
        ----------
        solution : PlacementSolution
            A feasible placement.

        Returns
        -------
        Score
            Metrics: `jobs_placed`, `jobs_paused`, `paused_beyond_count`, `transfer_time` (sum of t_j, s) and `hosts`
            (pairs of job and server); also `completion_time` (s, of the placed jobs) with the objective `completion`,
            and `pause_charge` (s, of the paused jobs) if there are charges.
        """
        placed = np.array([bool(pieces) for pieces in solution.pieces])
        times = self.transfer_times(solution)
        paused = int((~placed).sum())
        cost = math.fsum(self._costs(times)[placed].tolist())
        beyond = paused - self.fewest_paused
        metrics: dict[str, float] = {
            "jobs_placed": len(self.jobs) - paused,
            "jobs_paused": paused,
            "paused_beyond_count": beyond,
            "transfer_time": math.fsum(times.tolist()),
            "hosts": sum(len(pieces) for pieces in solution.pieces),
        }
        if self.objective == "completion":
            metrics["completion_time"] = cost
        charges = math.fsum(self.pause_charge[~placed].tolist())
        if self.pause_charge.any():
            metrics["pause_charge"] = charges
        return Score(cost + charges + self.pause_cost * beyond, metrics)


def _columns(solution: PlacementSolution) -> tuple[Ints, Ints, Ints, Ints]:
    """Return job, server, parameter servers and workers of every piece."""
    rows = [(j, *piece) for j, pieces in enumerate(solution.pieces) for piece in pieces]
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3]
