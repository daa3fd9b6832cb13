"""Policies that change how many GPUs a job has, once in every scheduling interval: Optimus, DRF, Tetris, and exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gangopt.base.errors import InputError, NoSolutionError
from gangopt.base.interrupts import unless_interrupted
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.replays.policies.speeds import FittedSpeeds, LinearSpeeds, SpeedModel, speeds_of
from gangopt.replays.policies.ticks import Ticks
from gangopt.replays.records import Floats, Ints, Plan
from gangopt.replays.state import State

__all__ = ["Elastic", "drf", "exact", "optimus", "tetris"]

Allocate = Callable[[AllocationInstance], AllocationSolution]


@dataclass
class Elastic:
    """At every multiple of the interval, decision `allocation` is taken anew for all jobs that wait or run.

    Jobs that arrive in between wait for it, GPUs that come free in between stay free. Where not even one worker of each
    job fits, those with the smallest workers are let in, ties by arrival and file order; the others wait.

    Attributes
    ----------
    name : str
        What tables call it.
    allocate : Allocate
        From the interval's allocation instance to its solution.
    placement : str
        Rule by which machines are chosen.
    interval : float
        S.
    speed : SpeedModel
        `fitted` from the workload's column, or `linear` in the GPUs up to the gang's.
    max_tasks : int
        Most workers, and most parameter servers, of a job with a fitted speed.
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
        if not (math.isfinite(self.interval) and self.interval > 0):
            raise InputError(f"{self.name}: interval={self.interval} s; a finite number of seconds above 0 is needed")
        if not 1 <= self.max_tasks <= 1000:
            raise InputError(f"{self.name}: max_tasks={self.max_tasks}; from 1 to 1000 is allowed")
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
        """Return when to decide again: never while the same would come out, whatever work is left."""
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
    """Return the jobs of which one worker each fits into the cluster together."""
    least = speeds.least_gpus(state.active)
    order = np.argsort(least, kind="stable")
    fits = np.cumsum(least[order]) <= state.n_gpus
    return np.sort(state.active[order[fits]])


def _exactly(instance: AllocationInstance) -> AllocationSolution:
    from gangopt.solvers.allocation.exact import exact as solve
    from gangopt.solvers.core.contract import Controls

    outcome = unless_interrupted(solve(instance, Controls()))
    if outcome.termination != "optimal":
        raise NoSolutionError(f"exact: an interval's allocation was not proven optimal: {outcome.reason}")
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
    interval, speed, max_tasks : float or SpeedModel or int, optional
        As in `Elastic`.
    skip : bool, optional
        Go on with the tasks that still fit.
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
    """Return Tetris: packing and least remaining time, packed on the machines."""
    from gangopt.solvers.allocation import heuristics as allocation

    return Elastic("tetris", allocation.tetris, "packed", interval, speed, max_tasks)


def exact(interval: float = 600.0, speed: SpeedModel = "fitted", max_tasks: int = 16) -> Elastic:
    """Return the policy that solves every interval's allocation to proven optimality."""
    return Elastic("exact", _exactly, "even", interval, speed, max_tasks)
