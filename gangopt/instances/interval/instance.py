"""Problem `interval`: numbers of tasks of each job and the machines that host them, for one scheduling interval."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from gangopt.base import checks
from gangopt.base.contract import Score, Violation
from gangopt.base.errors import InputError
from gangopt.base.types import Floats
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.instances.interval.times import (
    Smallest,
    fitted_times,
    full_transfer,
    smallest_configurations,
)
from gangopt.instances.on_cluster import ClusterInstance, cluster_of_machines
from gangopt.instances.placement.counting import most_jobs_by_counting
from gangopt.instances.placement.instance import MAX_AMOUNT, MAX_TASKS, TRANSFERS_PER_STEP, PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.topology import Cluster, Requirement, State, Use

__all__ = ["INTERVAL", "IntervalInstance", "IntervalSolution"]

INTERVAL = 600.0
"""Seconds of a scheduling interval in Optimus."""

MAX_INTERVAL = 1e9
CAPACITY_SUM_TOLERANCE = 1e-9
LEAST_WEIGHT = 1e-9
"""Fraction of its fitted time that a placement counts as transfers of a job whose fitted time has none."""


@dataclass(frozen=True)
class IntervalSolution:
    """Tasks of every job and their machines, in the order of the instance.

    Attributes
    ----------
    allocation : AllocationSolution
        Tasks of every job; a paused job runs none of them in this interval.
    placement : PlacementSolution
        Pieces of every job on the machines, or the reason why it is paused.

    Raises
    ------
    InputError
        If one of the two has another type.
    """

    allocation: AllocationSolution
    placement: PlacementSolution

    def __post_init__(self) -> None:
        for part, kind in (("allocation", AllocationSolution), ("placement", PlacementSolution)):
            if not isinstance(getattr(self, part), kind):
                given = type(getattr(self, part)).__name__
                raise InputError(f"{part} must be an object of type {kind.__name__} (got {given})")


@dataclass(frozen=True, eq=False, kw_only=True)
class IntervalInstance(ClusterInstance):
    r"""Jobs with a known speed, and the machines of a cluster with what is free on them.

    Job j gets p_j parameter servers and w_j workers, and machine k hosts p_jk and w_jk of them. If no two tasks share a
    machine, the job takes :math:`Q_j / f_j(p_j, w_j)` seconds, the fitted time that an allocator assumes, of which
    :math:`c_j(p, w)`, its term in w/p, are transfers. A placement scales the transfers by the ratio of its transfer
    time t_j (problem `placement`) to the transfer time without any shared machine:

    .. math::
        T_j = \frac{Q_j}{f_j(p_j, w_j)} - c_j \left(1 - \frac{t_j}{\hat t_j}\right), \qquad
        \hat t_j = \frac{S_j}{p_j} \max\left\{\frac{w_j}{B_j}, \frac{p_j}{b_j}\right\}

    A job that is not placed is paused: it is charged the interval and then the fitted time of its smallest
    configuration. As many jobs as possible are placed; among such solutions, the sum of times is minimised.

    Attributes
    ----------
    allocation : AllocationInstance
        Jobs, with the total free amounts of the machines.
    cluster : Cluster
        The cluster, with K machines.
    state : State
        What is held on it already; None for nothing.
    requirements : tuple of Requirement
        Where the tasks of each job may lie; None for anywhere.
    size : ndarray of float
        Size S_j of the model's parameters, MB, shape (J,).
    ps_bandwidth : ndarray of float
        Bandwidth B_j of one parameter server, MB/s, shape (J,).
    worker_bandwidth : ndarray of float
        Bandwidth b_j of one worker, MB/s, shape (J,).
    interval : float
        Seconds until the next decision.
    charge : {'tasks', 'hosts'}
        Transfers of existing tasks (`tasks`), or both terms on every host of a job (`hosts`).
    template : PlacementInstance
        Placement of every job's smallest configuration, which holds machines and demands.

    Raises
    ------
    InputError
        If a number is out of range, a shape does not match, a label is not unique, a job may have more than 1,000
        tasks of a kind, or the capacities of `allocation` differ from the totals of the machines.

    References
    ----------
    Optimus (EuroSys'18), sections 4.1 and 4.2, eqns 2 to 9.
    """

    noun: ClassVar[str] = "interval"
    allocation: AllocationInstance
    size: Floats
    ps_bandwidth: Floats
    worker_bandwidth: Floats
    interval: float = INTERVAL
    charge: Literal["tasks", "hosts"] = "tasks"
    requirements: tuple[Requirement, ...] = None  # type: ignore[assignment]  # replaced at construction
    template: PlacementInstance = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        same = dataclasses.replace(self.allocation, name=self.name, description="", source="")
        object.__setattr__(self, "allocation", same)
        checks.number("interval", self.interval, above=0, high=MAX_INTERVAL, unit="s")
        for name in ("max_workers", "max_ps"):
            most = getattr(same, name)
            if most.max() > MAX_TASKS:
                j = int(most.argmax())
                checks.integer(f"{name}[{j}]", most[j], 1, MAX_TASKS)
        template = self._placed(self.smallest.ps, self.smallest.workers)
        for name in ("state", "requirements", "size", "ps_bandwidth", "worker_bandwidth"):
            object.__setattr__(self, name, getattr(template, name))
        object.__setattr__(self, "template", template)
        if template.has_domains:
            raise InputError(
                "interval: requirements must not have a level (GPU types, labels and taints are supported)"
            )
        total = template.capacity.sum(axis=0)
        wrong = np.abs(total - same.capacity) > CAPACITY_SUM_TOLERANCE * same.capacity
        if wrong.any():
            r = int(wrong.argmax())
            raise InputError(
                f"capacity of {same.resources[r]} must have the allocation's total of {same.capacity[r]:g} "
                f"{same.units[r]} (got {total[r]:g})"
            )
        self._freeze()

    @classmethod
    def on_cluster(cls, allocation: AllocationInstance, cluster: Cluster, state: State | None, **fields: Any) -> Self:
        """Return the jobs of an allocation on a cluster, with what is free on it.

        Parameters
        ----------
        allocation : AllocationInstance
            Jobs; the capacities are replaced.
        cluster : Cluster
            The cluster, which has the resources of the allocation.
        state : State or None
            Its state; None if all is free.
        **fields : object
            The other fields of the class.

        Raises
        ------
        InputError
            If the cluster lacks a resource, or a field is invalid.
        """
        held = State(cluster) if state is None else state
        for name in allocation.resources:
            if name not in cluster.resources:
                raise InputError(
                    f"resources: unknown resource {name!r}; the cluster has {', '.join(cluster.resources)}"
                )
        columns = [cluster.resources.index(name) for name in allocation.resources]
        total = dataclasses.replace(allocation, capacity=held.free_capacities[:, columns].sum(axis=0))
        return cls(allocation=total, cluster=cluster, state=held, **fields)

    @classmethod
    def from_machines(
        cls, allocation: AllocationInstance, machines: tuple[str, ...], capacity: Any, **fields: Any
    ) -> Self:
        """Return the jobs of an allocation on listed machines, which the cluster orders by label.

        Parameters
        ----------
        allocation : AllocationInstance
            Jobs; the capacities are replaced.
        machines : tuple of str
            Unique labels of the machines.
        capacity : array_like of float
            Capacity of each machine, shape (K, R); that of ``gpu`` must be an integer.
        **fields : object
            The other fields of the class.
        """
        R = len(allocation.resources)
        rows = np.array(capacity, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != R:
            raise InputError(f"capacity must have shape (machines, {R}) (got {rows.shape})")
        rows = checks.numbers("capacity", rows, rows.shape, high=MAX_AMOUNT)
        labels = checks.labels("machines", machines)
        if len(labels) != len(rows):
            raise InputError(f"capacity must have one row for each of the {len(labels)} machines (got {len(rows)})")
        amounts = [dict(zip(allocation.resources, row, strict=True)) for row in rows.tolist()]
        return cls.on_cluster(allocation, cluster_of_machines(labels, amounts)[0], None, **fields)

    @property
    def machines(self) -> tuple[str, ...]:
        """Labels of the K machines."""
        return self.cluster.machines

    @property
    def capacity(self) -> Floats:
        """Free amount of each resource on each machine, in the resource's unit, shape (K, R)."""
        return self.template.capacity

    def uses(self, solution: IntervalSolution) -> tuple[Use, ...]:
        """Return what each job uses on each machine that hosts it.

        Parameters
        ----------
        solution : IntervalSolution
            A feasible solution.
        """
        return self.template.uses(solution.placement)

    def _placed(self, ps: Any, workers: Any, **fields: Any) -> PlacementInstance:
        jobs = self.allocation
        return PlacementInstance(
            name=self.name,
            resources=jobs.resources,
            units=jobs.units,
            cluster=self.cluster,
            state=self.state,
            requirements=self.requirements,
            jobs=jobs.jobs,
            parameter_servers=ps,
            workers=workers,
            ps_demand=jobs.ps_demand,
            worker_demand=jobs.worker_demand,
            size=self.size,
            ps_bandwidth=self.ps_bandwidth,
            worker_bandwidth=self.worker_bandwidth,
            charge=self.charge,
            **fields,
        )

    def allocation_of(self, jobs: list[int]) -> AllocationInstance:
        """Return the allocation of some of the jobs, with all capacities.

        Parameters
        ----------
        jobs : list of int
            Indices of the jobs, at least one.
        """
        shared = self.allocation
        columns = (
            "steps",
            "theta",
            "batch",
            "worker_demand",
            "ps_demand",
            "max_workers",
            "max_ps",
            "table",
            "progress",
        )
        return dataclasses.replace(
            shared,
            jobs=tuple(shared.jobs[j] for j in jobs),
            mode=tuple(shared.mode[j] for j in jobs),
            job_sources=tuple(shared.job_sources[j] for j in jobs),
            **{name: getattr(shared, name)[jobs] for name in columns},
        )

    @cached_property
    def smallest(self) -> Smallest:
        """Smallest configurations of the jobs."""
        return smallest_configurations(self.allocation)

    @cached_property
    def pause_charge(self) -> Floats:
        """Seconds charged for each job if it is paused: the interval plus its smallest configuration, shape (J,)."""
        return self.interval + self.allocation.completion_times(self.smallest.ps, self.smallest.workers)

    @cached_property
    def fewest_paused(self) -> int:
        """Lower bound on the number of paused jobs, found by counting, with the fewest tasks of each job."""
        template, least = self.template, self.smallest
        placed = most_jobs_by_counting(
            template.capacity_millionths,
            template.ps_millionths,
            template.worker_millionths,
            least.least_ps,
            least.least_workers,
        )
        return len(self.allocation.jobs) - placed

    @cached_property
    def pause_cost(self) -> float:
        """Seconds charged for each job paused beyond `fewest_paused`.

        It is 1 plus the sum over jobs of the longest time or the `pause_charge`, whichever is larger, so that placing
        one more job outweighs any difference in time.
        """
        return 1.0 + math.fsum(np.maximum(self.smallest.longest, self.pause_charge).tolist())

    def placement_of(self, allocation: AllocationSolution) -> PlacementInstance:
        """Return the placement problem of an allocation, with completion times as its objective.

        Its steps and seconds per step are chosen so that a placed job costs T_j, and a paused job its `pause_charge`.
        If the fitted time of a job has no transfers, a billionth of it counts as transfers, so that the placement with
        fewer transfers is preferred among those with equal times.

        Parameters
        ----------
        allocation : AllocationSolution
            Allowed configurations of all jobs.
        """
        ps = np.array(allocation.parameter_servers, dtype=np.int64)
        workers = np.array(allocation.workers, dtype=np.int64)
        fitted, parts = fitted_times(self.allocation, ps, workers)
        full = full_transfer(self.size, self.ps_bandwidth, self.worker_bandwidth, ps, workers)
        steps = np.maximum(parts, LEAST_WEIGHT * fitted) / (TRANSFERS_PER_STEP * full)
        compute = np.divide(fitted - parts, steps, out=np.zeros_like(steps), where=steps > 0)
        return self._placed(
            ps, workers, objective="completion", steps=steps, compute=compute, pause_charge=self.pause_charge
        )

    def _check_configurations(self, solution: AllocationSolution) -> list[Violation]:
        J = len(self.allocation.jobs)
        lengths = (len(solution.workers), len(solution.parameter_servers))
        if lengths != (J, J):
            wrong = next(length for length in lengths if length != J)
            return [Violation("one_configuration_per_job", "all jobs", wrong, J, "jobs")]
        ps, workers = solution.parameter_servers, solution.workers
        times = self.allocation.completion_times(np.array(ps), np.array(workers))
        return [
            Violation(
                "one_configuration_per_job",
                f"job {j} ({self.allocation.jobs[j]}): p={ps[j]}, w={workers[j]} is not an allowed configuration",
                0,
                1,
                "configurations",
            )
            for j in np.flatnonzero(np.isinf(times)).tolist()
        ]

    def check(self, solution: IntervalSolution) -> list[Violation]:
        """Return every broken rule: configurations that are not allowed, otherwise broken rules of the placement.

        The rule `machine_capacity` implies that placed jobs stay within the cluster's total capacities.

        Parameters
        ----------
        solution : IntervalSolution
            Allocation and placement.
        """
        found = self._check_configurations(solution.allocation)
        return found or self.placement_of(solution.allocation).check(solution.placement)

    def completion_times(self, solution: IntervalSolution) -> Floats:
        """Return the time T_j of every placed job and the charge of every paused job, in seconds, shape (J,).

        Parameters
        ----------
        solution : IntervalSolution
            A feasible solution.
        """
        return self._times(solution)[0]

    def _times(self, solution: IntervalSolution) -> tuple[Floats, Floats, Floats]:
        """Return each job's time with its placement, its time by its fitted speed, and its transfer time."""
        placement = self.placement_of(solution.allocation)
        ps, workers = placement.parameter_servers, placement.workers
        placed = np.array([bool(pieces) for pieces in solution.placement.pieces])
        transfer = placement.transfer_times(solution.placement)
        fitted, parts = fitted_times(self.allocation, ps, workers)
        full = full_transfer(self.size, self.ps_bandwidth, self.worker_bandwidth, ps, workers)
        saved = parts * (1 - transfer / full)
        times = np.where(placed, fitted - saved, self.pause_charge)
        return times, np.where(placed, fitted, self.pause_charge), transfer

    def evaluate(self, solution: IntervalSolution) -> Score:
        r"""Return the objective and the metrics of a feasible solution.

        .. math:: \sum_{j\ \text{placed}} T_j + \sum_{j\ \text{paused}} (\text{interval} + T_j^{\min})
            + W (\text{paused} - \text{fewest paused})

        with W the `pause_cost` and `fewest_paused` found by counting. If only the fewest jobs are paused, the
        objective and its gap are plain sums of completion times.

        Parameters
        ----------
        solution : IntervalSolution
            A feasible solution.

        Returns
        -------
        Score
            Metrics: `jobs_placed`, `jobs_paused`, `paused_beyond_count`, `sum_completion_time` (s, the two sums),
            `mean_completion_time` (s), `fitted_completion_time` (s, the same sums by the fitted speeds that an
            allocator assumes), `transfer_time` (sum of t_j, s), `tasks` (of the placed jobs) and `hosts`.
        """
        times, fitted, transfer = self._times(solution)
        pieces = solution.placement.pieces
        paused = sum(not held for held in pieces)
        beyond = paused - self.fewest_paused
        total = math.fsum(times.tolist())
        return Score(
            total + (self.pause_cost * beyond if beyond else 0.0),
            {
                "jobs_placed": len(pieces) - paused,
                "jobs_paused": paused,
                "paused_beyond_count": beyond,
                "sum_completion_time": total,
                "mean_completion_time": total / len(pieces),
                "fitted_completion_time": math.fsum(fitted.tolist()),
                "transfer_time": math.fsum(transfer.tolist()),
                "tasks": sum(ps + workers for held in pieces for _, ps, workers in held),
                "hosts": sum(map(len, pieces)),
            },
        )
