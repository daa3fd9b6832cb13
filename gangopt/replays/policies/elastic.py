"""Policies that resize jobs every scheduling interval: Optimus, DRF, Tetris and exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gangopt.base.checks import integer, number
from gangopt.base.errors import NoSolutionError
from gangopt.base.interrupts import unless_interrupted
from gangopt.base.types import Floats, Ints
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.replays.policies.speeds import FittedSpeeds, LinearSpeeds, SpeedModel, speeds_of
from gangopt.replays.policies.ticks import Ticks
from gangopt.replays.records import Plan
from gangopt.replays.state import State

__all__ = ["Elastic", "drf", "exact", "optimus", "tetris"]

Allocate = Callable[[AllocationInstance], AllocationSolution]


@dataclass
class Elastic:
    """Policy that solves problem `allocation` for all waiting and running jobs at every multiple of the interval.

    Between these times, arriving jobs wait and released GPUs stay free. If one worker of each job does not fit, jobs
    with the smallest workers are admitted (ties by arrival and file order) and the others wait.

    Attributes
    ----------
    name : str
        Name in tables.
    allocate : Allocate
        Method of `allocation`.
    placement : str
        Placement rule.
    interval : float
        Scheduling interval, s.
    speed : SpeedModel
        `fitted` from the workload's column `speed`, or `linear` in the GPUs up to those of the gang.
    max_tasks : int
        Maximum number of workers, and of parameter servers, of a job with a fitted speed.
    """

    name: str
    allocate: Allocate
    placement: str = "packed"
    interval: float = 600.0
    speed: SpeedModel = "fitted"
    max_tasks: int = 16
    _speeds: FittedSpeeds | LinearSpeeds | None = field(default=None, repr=False)
    _gpus: dict[int, int] = field(default_factory=dict, repr=False)
    _rates: dict[int, float] = field(default_factory=dict, repr=False)
    _ticks: Ticks = field(init=False, repr=False)

    def __post_init__(self) -> None:
        number(f"{self.name}: interval", self.interval, above=0, unit="s")
        integer(f"{self.name}: max_tasks", self.max_tasks, 1, 1000)
        self._ticks = Ticks(self.interval)

    def decide(self, state: State) -> Plan:
        """Return the allocation of this interval, in order of arrival."""
        if self._speeds is None:
            self._speeds = speeds_of(state, self.speed, self.max_tasks)
        if self._ticks.due(state.now, state.resolution):
            self._share(state, self._speeds)
        order = np.array([job for job in state.active.tolist() if job in self._gpus], dtype=np.int64)
        gpus: Ints = np.array([self._gpus[job] for job in order.tolist()], dtype=np.int64)
        rates: Floats = np.array([self._rates[job] for job in order.tolist()])
        return Plan(order, gpus=gpus, rates=rates, wake=self._wake)

    def _wake(self, state: State) -> float:
        """Return the next decision time, infinite while the allocation cannot change."""
        active = state.active
        alone = len(active) == 1 and list(self._gpus) == active.tolist() and not len(state.waiting)
        linear = isinstance(self._speeds, LinearSpeeds)
        whole = linear and bool((state.held[active] == state.gpus[active]).all())
        return math.inf if not len(active) or alone or whole else self._ticks.next

    def _share(self, state: State, speeds: FittedSpeeds | LinearSpeeds) -> None:
        jobs = _admitted(state, speeds)
        self._gpus, self._rates = {}, {}
        if not len(jobs):
            return
        gpus, rates = speeds.shapes(jobs, self.allocate(speeds.instance(state, jobs)))
        self._gpus = dict(zip(jobs.tolist(), gpus.tolist(), strict=True))
        self._rates = dict(zip(jobs.tolist(), rates.tolist(), strict=True))


def _admitted(state: State, speeds: FittedSpeeds | LinearSpeeds) -> Ints:
    """Return the jobs that fit into the cluster together with one worker each."""
    least = speeds.least_gpus(state.active)
    order = np.argsort(least, kind="stable")
    fits = np.cumsum(least[order]) <= state.n_gpus
    return np.sort(state.active[order[fits]])


def _exactly(instance: AllocationInstance) -> AllocationSolution:
    from gangopt.solvers.allocation.exact import exact as solve
    from gangopt.solvers.core.contract import Controls

    outcome = unless_interrupted(solve(instance, Controls()))
    if outcome.termination != "optimal":
        raise NoSolutionError(f"exact: allocation of an interval not proven optimal: {outcome.reason}")
    solution: AllocationSolution = outcome.solution
    return solution


def optimus(
    interval: float = 600.0,
    speed: SpeedModel = "fitted",
    max_tasks: int = 16,
    skip: bool = True,
    priority: float = 0.95,
) -> Elastic:
    """Return Optimus: tasks by marginal gain, placed evenly on the fewest machines.

    Parameters
    ----------
    interval, speed, max_tasks : float, SpeedModel or int, optional
        Settings of `Elastic`.
    skip : bool, optional
        Whether tasks after one that does not fit are tried.
    priority : float, optional
        Factor on the gains of young jobs.
    """
    from gangopt.solvers.allocation import heuristics as allocation

    def allocate(instance: AllocationInstance) -> AllocationSolution:
        return allocation.optimus(instance, skip=skip, priority=priority)

    return Elastic("optimus", allocate, "even", interval, speed, max_tasks)


def drf(interval: float = 600.0, speed: SpeedModel = "fitted", max_tasks: int = 16) -> Elastic:
    """Return dominant-resource fairness: progressive filling, spread over the machines."""
    from gangopt.solvers.allocation import heuristics as allocation

    return Elastic("drf", allocation.drf, "spread", interval, speed, max_tasks)


def tetris(interval: float = 600.0, speed: SpeedModel = "fitted", max_tasks: int = 16) -> Elastic:
    """Return Tetris: packing score and shortest remaining time, packed on the machines."""
    from gangopt.solvers.allocation import heuristics as allocation

    return Elastic("tetris", allocation.tetris, "packed", interval, speed, max_tasks)


def exact(interval: float = 600.0, speed: SpeedModel = "fitted", max_tasks: int = 16) -> Elastic:
    """Return the policy that solves the allocation of every interval to proven optimality."""
    return Elastic("exact", _exactly, "even", interval, speed, max_tasks)
