"""Problem `placement`: the machines that host the parameter servers and workers of each job."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from gangopt.base import checks
from gangopt.base.contract import Score, Violation
from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.on_cluster import ClusterInstance, checked_requirements, cluster_of_machines
from gangopt.instances.placement.bindings import Bindings
from gangopt.instances.placement.counting import most_jobs_by_counting
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.topology import Requirement, Use

__all__ = ["CHARGES", "MAX_TASKS", "OBJECTIVES", "PER_UNIT", "TRANSFERS_PER_STEP", "PlacementInstance"]


OBJECTIVES = ("transfer", "completion")
CHARGES = ("tasks", "hosts")

MAX_TASKS = 1_000
"""Most parameter servers, and most workers, of one job."""

MAX_JOBS, MAX_SERVERS = 1_000_000, 1_000_000

MAX_AMOUNT = 1e9
"""Largest capacity or demand, in the resource's unit."""

PER_UNIT = 1_000_000
"""Capacities and demands are rounded to millionths of a unit, so that the fit of tasks on a machine is exact."""

MAX_TIMES = 1e60
"""Largest steps, seconds per step and charge: an interval derives them from products of numbers of up to 1e15."""

MAX_SUM = 4e18
"""Largest sum of capacities or demands in millionths: it fits a 64-bit integer."""

TRANSFERS_PER_STEP = 2
"""Transfers per step: gradients are pushed and parameters pulled (Optimus, eqn 2)."""

_UNITS = {"cpu": "core", "memory": "GB", "gpu": "GPU"}


@dataclass(frozen=True, eq=False, kw_only=True)
class PlacementInstance(ClusterInstance):
    r"""Jobs with given numbers of tasks, and the machines of a cluster with what is free on them.

    Machine k holds p_jk parameter servers and w_jk workers of job j. A job's transfer time is that of its slowest task,

    .. math:: t_j = \max_k \left\{ \frac{S_j}{p_j}\frac{w_j - w_{jk}}{B_j},
                                   \frac{S_j}{p_j}\frac{p_j - p_{jk}}{b_j} \right\},

    the first term over the machines with a parameter server of the job and the second over those with a worker
    (`charge="tasks"`), or both over every machine that hosts the job (`charge="hosts"`, the reading of the proof of
    Theorem 1). As many jobs as possible are placed. Among such placements, the objective is the sum of t_j
    (`objective="transfer"`) or of completion times Q_j (compute_j + 2 t_j) (`objective="completion"`) over the placed
    jobs, plus `pause_charge` of the paused ones. Without charges all jobs count alike when some must be paused.

    A requirement binds all tasks of a job, e.g. to machines of a GPU type, or to one rack.

    Attributes
    ----------
    cluster : Cluster
        The cluster, with K machines.
    state : State
        What is held on it already; None for nothing.
    resources : tuple of str
        Names of the R resources of the cluster that count, in the order of the demands; None for all.
    units : tuple of str
        Unit of each resource, shape (R,); None for core, GB, GPU, or the user's unit.
    requirements : tuple of Requirement
        Where the tasks of each job may lie, shape (J,); None for anywhere.
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
    capacity : ndarray of float
        Free amount of each resource on each machine, in the resource's unit, shape (K, R).
    capacity_millionths, ps_millionths, worker_millionths : ndarray of int
        Free amounts and demands, rounded to millionths of the unit, shape (K, R + B) and (J, R + B). Each of the last
        B columns stands for a set of machines to which some jobs are bound: every task of these jobs takes one,
        a machine in the set has room for all that they can ever have, any other has none.

    Raises
    ------
    InputError
        If a number is out of range, a shape does not match, a label is not unique, or a word is unknown.

    References
    ----------
    Optimus (EuroSys'18), section 4.2 and Theorem 1.
    """

    noun: ClassVar[str] = "placement"
    jobs: tuple[str, ...]
    parameter_servers: Ints
    workers: Ints
    ps_demand: Floats
    worker_demand: Floats
    size: Floats
    ps_bandwidth: Floats
    worker_bandwidth: Floats
    # None is accepted and replaced at construction, so that readers of these fields never meet it
    resources: tuple[str, ...] = None  # type: ignore[assignment]
    units: tuple[str, ...] = None  # type: ignore[assignment]
    requirements: tuple[Requirement, ...] = None  # type: ignore[assignment]
    steps: Floats = None  # type: ignore[assignment]
    compute: Floats = None  # type: ignore[assignment]
    pause_charge: Floats = None  # type: ignore[assignment]
    objective: Literal["transfer", "completion"] = "transfer"
    charge: Literal["tasks", "hosts"] = "tasks"
    capacity: Floats = field(init=False, compare=False, repr=False)
    capacity_millionths: Ints = field(init=False, compare=False, repr=False)
    ps_millionths: Ints = field(init=False, compare=False, repr=False)
    worker_millionths: Ints = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._set_state()
        self._set_resources()
        self._set("jobs", checks.labels("jobs", self.jobs))
        K, J, R = len(self.machines), len(self.jobs), len(self.resources)
        checks.integer("number of machines", K, 1, MAX_SERVERS)
        checks.integer("number of jobs", J, 1, MAX_JOBS)
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
        self._set("requirements", checked_requirements(self.requirements, self.cluster, "job", self.jobs))
        self._count_in_millionths()
        self._freeze()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _set_resources(self) -> None:
        names = self.cluster.resources
        chosen = names if self.resources is None else checks.resource_names(self.resources)
        for name in chosen:
            if name not in names:
                raise InputError(f"resources: unknown resource {name!r}; the cluster has {', '.join(names)}")
        units = tuple(_UNITS.get(name, "unit") for name in chosen) if self.units is None else tuple(self.units)
        if len(units) != len(chosen):
            raise InputError(f"units must have one unit for each of the {len(chosen)} resources (got {len(units)})")
        self._set("resources", chosen)
        self._set("units", units)
        self._set("capacity", self.state.free_capacities[:, [names.index(name) for name in chosen]])

    @property
    def machines(self) -> tuple[str, ...]:
        """Labels of the K machines."""
        return self.cluster.machines

    @cached_property
    def bindings(self) -> Bindings:
        """Machines and nodes to which the requirements bind the jobs."""
        return Bindings(self.cluster, self.requirements)

    @property
    def domains(self) -> tuple[Ints | None, ...]:
        """For each job, the index of the node of its required level that contains each machine, None without one."""
        return self.bindings.domains

    @property
    def has_domains(self) -> bool:
        """True if some job must lie inside one node of a level."""
        return any(domain is not None for domain in self.domains)

    def _count_in_millionths(self) -> None:
        needs = self.parameter_servers[:, None] * self.ps_demand + self.workers[:, None] * self.worker_demand
        for name, total in (("capacity", self.capacity.sum(axis=0)), ("demand", needs.sum(axis=0))):
            if total.max() * PER_UNIT > MAX_SUM:
                r = int(np.argmax(total))
                raise InputError(
                    f"total {name} of {self.resources[r]} must be at most {MAX_SUM / PER_UNIT:g} {self.units[r]} "
                    f"(got {total[r]:g})"
                )
        rows, demands = self.bindings.columns(2 * MAX_TASKS)
        for name, source, bound in (
            ("capacity", self.capacity, rows),
            ("ps", self.ps_demand, demands),
            ("worker", self.worker_demand, demands),
        ):
            self._set(f"{name}_millionths", np.hstack((np.rint(source * PER_UNIT).astype(np.int64), bound)))

    @classmethod
    def from_machines(
        cls,
        *,
        machines: tuple[str, ...],
        capacity: Any,
        resources: tuple[str, ...],
        racks: tuple[str, ...] | None = None,
        **fields: Any,
    ) -> Self:
        """Return jobs on listed machines, which the cluster orders by rack and label.

        Parameters
        ----------
        machines : tuple of str
            Unique labels of the machines.
        capacity : array_like of float
            Capacity of each machine, in the resource's unit, shape (K, R); that of ``gpu`` must be an integer.
        resources : tuple of str
            Names of the R resources.
        racks : tuple of str or None, optional
            Rack of each machine; None for one rack.
        **fields : object
            The other fields of the class, except `cluster` and `state`.

        Raises
        ------
        InputError
            If a label, a capacity or a field is invalid.
        """
        names = checks.resource_names(resources)
        labels = checks.labels("machines", machines)
        checks.integer("number of machines", len(labels), 1, MAX_SERVERS)
        rows = checks.numbers("capacity", capacity, (len(labels), len(names)), high=MAX_AMOUNT)
        cluster, _ = cluster_of_machines(labels, [dict(zip(names, row, strict=True)) for row in rows.tolist()], racks)
        return cls(cluster=cluster, resources=names, **fields)

    def uses(self, solution: PlacementSolution) -> tuple[Use, ...]:
        """Return what each job uses on each machine that hosts it.

        Parameters
        ----------
        solution : PlacementSolution
            A feasible placement.
        """
        found = []
        for j, pieces in enumerate(solution.pieces):
            for machine, ps, workers in pieces:
                needs = (ps * self.ps_demand[j] + workers * self.worker_demand[j]).tolist()
                amounts = {name: value for name, value in zip(self.resources, needs, strict=True) if value}
                gpus = amounts.pop("gpu", 0)
                if gpus != int(gpus):
                    raise InputError(
                        f"job {self.jobs[j]!r} takes {gpus:g} GPUs of machine {self.machines[machine]!r}; only whole "
                        "GPUs can be assigned"
                    )
                found.append(Use(self.jobs[j], self.machines[machine], int(gpus), amounts))
        return tuple(found)

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

        The rules: a piece is on a machine of the cluster (`known_machine`), a machine holds at most one piece of a job
        (`one_piece_per_machine`), a piece holds at least one task and no negative number (`tasks_in_piece`), a placed
        job has all its tasks (`place_all_parameter_servers`, `place_all_workers`), on machines that its requirement
        allows (`allowed_machine`) and inside one node of its required level (`required_level`), and the tasks on a
        machine stay within what is free of each resource (`machine_capacity`, exact in millionths of the unit).

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
        for machine, ps, workers in pieces:
            if not 0 <= machine < len(self.machines):
                found.append(Violation("known_machine", where, machine, len(self.machines) - 1))
            if min(ps, workers) < 0 or ps + workers < 1:
                found.append(Violation("tasks_in_piece", f"{where}, machine {machine}", min(ps, workers), 1, "tasks"))
        distinct = len({machine for machine, _, _ in pieces})
        if distinct < len(pieces):
            found.append(Violation("one_piece_per_machine", where, len(pieces), distinct, "pieces"))
        for rule, held, expected in (
            ("place_all_parameter_servers", sum(piece[1] for piece in pieces), int(self.parameter_servers[j])),
            ("place_all_workers", sum(piece[2] for piece in pieces), int(self.workers[j])),
        ):
            if held != expected:
                found.append(Violation(rule, where, held, expected, "tasks"))
        return found or self.bindings.violations(j, where, [machine for machine, _, _ in pieces])

    def _check_capacity(self, solution: PlacementSolution) -> list[Violation]:
        job, machine, ps, workers = _columns(solution)
        loads = np.zeros_like(self.capacity_millionths)
        needs = ps[:, None] * self.ps_millionths[job] + workers[:, None] * self.worker_millionths[job]
        np.add.at(loads, machine, needs)
        return [
            Violation(
                "machine_capacity",
                f"machine {self.machines[k]}, {self.resources[r]}",
                float(loads[k, r]) / PER_UNIT,
                float(self.capacity[k, r]),
                self.units[r],
            )
            for k, r in np.argwhere((loads > self.capacity_millionths)[:, : len(self.resources)]).tolist()
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
            (pairs of job and machine); also `completion_time` (s, of the placed jobs) with the objective `completion`,
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
    """Return job, machine, parameter servers and workers of every piece."""
    rows = [(j, *piece) for j, pieces in enumerate(solution.pieces) for piece in pieces]
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3]
