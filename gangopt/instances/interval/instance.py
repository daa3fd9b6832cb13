"""Decision `interval`: how many tasks each job gets, and which server hosts them, for one scheduling interval."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.instances.interval.times import (
    Smallest,
    fitted_times,
    full_transfer,
    smallest_configurations,
)
from gangopt.instances.placement.counting import most_jobs_by_counting
from gangopt.instances.placement.instance import MAX_TASKS, TRANSFERS_PER_STEP, PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["INTERVAL", "IntervalInstance", "IntervalSolution"]

FloatArray = NDArray[np.float64]

INTERVAL = 600.0
"""Seconds of a scheduling interval in Optimus."""

MAX_INTERVAL = 1e9
CAPACITY_SUM_TOLERANCE = 1e-9
LEAST_WEIGHT = 1e-9
"""Part of its fitted time that a placement counts as the transfers of a job whose fitted time has none."""


@dataclass(frozen=True)
class IntervalSolution:
    """Tasks of every job and where they are, in the order of the instance.

    Attributes
    ----------
    allocation : AllocationSolution
        Tasks of every job; a paused job holds none of them in this interval.
    placement : PlacementSolution
        Pieces of every job on the servers, or why it is paused.

    Raises
    ------
    InputError
        If one of the two is something else.
    """

    allocation: AllocationSolution
    placement: PlacementSolution

    def __post_init__(self) -> None:
        for part, kind in (("allocation", AllocationSolution), ("placement", PlacementSolution)):
            if not isinstance(getattr(self, part), kind):
                given = type(getattr(self, part)).__name__
                raise InputError(f"{part}: given {given}, an object of type {kind.__name__} is needed")


@dataclass(frozen=True, eq=False, kw_only=True)
class IntervalInstance(Instance):
    r"""Jobs with a known speed, and servers with capacities.

    Job j gets p_j parameter servers and w_j workers, and server k hosts p_jk and w_jk of them. With everything remote
    the job needs :math:`Q_j / f_j(p_j, w_j)` seconds, the fitted time that an allocator sees, of which
    :math:`c_j(p, w)` are its term in w/p, the transfers. A placement scales them by its transfer time t_j (decision
    `placement`) over that of a job of which no two tasks share a server:

    .. math::
        T_j = \frac{Q_j}{f_j(p_j, w_j)} - c_j \left(1 - \frac{t_j}{\hat t_j}\right), \qquad
        \hat t_j = \frac{S_j}{p_j} \max\left\{\frac{w_j}{B_j}, \frac{p_j}{b_j}\right\}

    A job that is not placed is paused: it is charged the interval and then the fitted time of its smallest
    configuration, the one that every job is sure of. The most jobs are placed first, then the sum is to be least.

    Attributes
    ----------
    allocation : AllocationInstance
        The jobs, with capacities that are the sums over the servers.
    servers : tuple of str
        Labels of the K servers, all different.
    capacity : ndarray of float
        Of every server, in the resource's unit, 0 to 1e9, shape (K, R).
    size : ndarray of float
        S_j, MB of parameters, shape (J,).
    ps_bandwidth : ndarray of float
        B_j, MB/s of one parameter server, shape (J,).
    worker_bandwidth : ndarray of float
        b_j, MB/s of one worker, shape (J,).
    interval : float
        Seconds until the next decision.
    charge : {'tasks', 'hosts'}
        Transfers of tasks that exist (`tasks`), or both terms on every host of a job (`hosts`).
    template : PlacementInstance
        The placement of every job's smallest configuration, which carries servers and demands.

    Raises
    ------
    InputError
        If a number is outside its range, a shape does not fit, a label stands twice, a job may have more than 1,000
        tasks of a kind, or the capacities of `allocation` are not those of the servers together.

    References
    ----------
    Optimus (EuroSys'18), sections 4.1 and 4.2, eqns 2 to 9.
    """

    noun: ClassVar[str] = "interval"
    name: str
    description: str = ""
    source: str = ""
    allocation: AllocationInstance
    servers: tuple[str, ...]
    capacity: FloatArray
    size: FloatArray
    ps_bandwidth: FloatArray
    worker_bandwidth: FloatArray
    interval: float = INTERVAL
    charge: Literal["tasks", "hosts"] = "tasks"
    template: PlacementInstance = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        same = dataclasses.replace(self.allocation, name=self.name, description="", source="")
        object.__setattr__(self, "allocation", same)
        if not 0 < self.interval <= MAX_INTERVAL:
            raise InputError(f"interval: {self.interval:g} s, above 0 and at most {MAX_INTERVAL:g} is needed")
        for name in ("max_workers", "max_ps"):
            most = getattr(same, name)
            if most.max() > MAX_TASKS:
                j = int(most.argmax())
                raise InputError(f"{name}[{j}]: {most[j]}, at most {MAX_TASKS} tasks of a kind can be placed")
        template = self._placed(self.smallest.ps, self.smallest.workers)
        for name in ("servers", "capacity", "size", "ps_bandwidth", "worker_bandwidth"):
            object.__setattr__(self, name, getattr(template, name))
        object.__setattr__(self, "template", template)
        total = self.capacity.sum(axis=0)
        wrong = np.abs(total - same.capacity) > CAPACITY_SUM_TOLERANCE * same.capacity
        if wrong.any():
            r = int(wrong.argmax())
            raise InputError(
                f"capacity: the servers have {total[r]:g} {same.units[r]} of {same.resources[r]}, the allocation "
                f"{same.capacity[r]:g}; the same is needed"
            )
        self._freeze()

    @classmethod
    def on_servers(
        cls,
        allocation: AllocationInstance,
        servers: tuple[str, ...],
        capacity: FloatArray,
        **fields: Any,
    ) -> Self:
        """Return the jobs of an allocation on servers, whatever the capacities were that they shared.

        Parameters
        ----------
        allocation : AllocationInstance
            The jobs; its capacities are replaced.
        servers : tuple of str
            Labels.
        capacity : ndarray of float
            Of every server, shape (K, R).
        **fields : object
            The other fields of the class.
        """
        rows = np.array(capacity, dtype=np.float64)
        R = len(allocation.resources)
        if rows.ndim != 2 or rows.shape[1] != R:
            raise InputError(f"capacity: shape {rows.shape}, (servers, {R} resources) is needed")
        total = dataclasses.replace(allocation, capacity=rows.sum(axis=0))
        return cls(allocation=total, servers=servers, capacity=rows, **fields)

    def _placed(self, ps: Any, workers: Any, **fields: Any) -> PlacementInstance:
        jobs = self.allocation
        return PlacementInstance(
            name=self.name,
            resources=jobs.resources,
            units=jobs.units,
            servers=self.servers,
            capacity=self.capacity,
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
        """Return the allocation that some of the jobs share, all capacities theirs.

        Parameters
        ----------
        jobs : list of int
            Their indices, at least one.
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
        """The least that every job can have."""
        return smallest_configurations(self.allocation)

    @cached_property
    def pause_charge(self) -> FloatArray:
        """Seconds charged for each job if it is paused: the interval, then its smallest configuration, shape (J,)."""
        return self.interval + self.allocation.completion_times(self.smallest.ps, self.smallest.workers)

    @cached_property
    def fewest_paused(self) -> int:
        """Jobs that cannot be hosted, by counting alone, however few tasks each gets."""
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
        """Seconds charged for a job paused beyond the fewest: 1 + all jobs at their longest time or their charge.

        So one more job placed always outweighs every difference in time.
        """
        return 1.0 + math.fsum(np.maximum(self.smallest.longest, self.pause_charge).tolist())

    def placement_of(self, allocation: AllocationSolution) -> PlacementInstance:
        """Return the placement that an allocation leaves to be decided, with the times to finish as its objective.

        Its steps and seconds of a step are such that a placed job costs T_j, and a paused one its `pause_charge`. A job
        whose fitted time has no transfers counts a billionth of it as such, so that of two placements with equal times
        the one with less transfer is preferred.

        Parameters
        ----------
        allocation : AllocationSolution
            Allowed configurations.
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
        """Return every broken rule: configurations that are not allowed, then what the placement's judge finds.

        That the placed jobs stay within the cluster's capacities follows from the servers' (`server_capacity`).

        Parameters
        ----------
        solution : IntervalSolution
            Allocation and placement.
        """
        found = self._check_configurations(solution.allocation)
        return found or self.placement_of(solution.allocation).check(solution.placement)

    def completion_times(self, solution: IntervalSolution) -> FloatArray:
        """Return T_j of every placed job and the charge of every paused one, in seconds, shape (J,).

        Parameters
        ----------
        solution : IntervalSolution
            A feasible solution.
        """
        return self._times(solution)[0]

    def _times(self, solution: IntervalSolution) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what each job takes with its placement, what it takes by its fitted speed, and its transfer time."""
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
        r"""Return the objective and the figures of a feasible solution.

        .. math:: \sum_{j\ \text{placed}} T_j + \sum_{j\ \text{paused}} (\text{interval} + T_j^{\min})
            + W (\text{paused} - \text{fewest paused})

        with W `pause_cost` and the fewest paused by counting alone. Where no more than these are paused, the objective
        is the sum of completion times itself, and so is every gap.

        Parameters
        ----------
        solution : IntervalSolution
            A feasible solution.

        Returns
        -------
        Score
            Metrics: `jobs_placed`, `jobs_paused`, `paused_beyond_count`, `sum_completion_time` (s, the two sums),
            `mean_completion_time` (s), `fitted_completion_time` (s, the same sums by the fitted speeds, as the
            allocator sees them), `transfer_time` (sum of t_j, s), `tasks` (of the placed jobs) and `hosts`.
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
