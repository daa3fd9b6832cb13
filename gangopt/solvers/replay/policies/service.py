"""Policies by attained service without queues, as the worked example of Tiresias runs them: 2D-LAS and 2D-Gittins."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gangopt.errors import InputError
from gangopt.instances.gittins import ServiceDistribution
from gangopt.solvers.replay.policies.ticks import next_tick
from gangopt.solvers.replay.records import Ints, Plan
from gangopt.solvers.replay.state import State

__all__ = ["Gittins", "LeastAttainedService", "distribution_of", "gittins", "las"]


def distribution_of(state: State, given: ServiceDistribution | None) -> ServiceDistribution:
    """Return a distribution of services: the given one, or that of the replayed workload itself."""
    return ServiceDistribution(state.gpus * state.duration) if given is None else given


@dataclass
class LeastAttainedService:
    """The job with the least attained service first (2D-LAS), reconsidered at every scheduling interval.

    Attributes
    ----------
    interval : s between two looks at the services, beside every arrival and end

    References
    ----------
    Tiresias (NSDI 2019), section 3.1 and figure 7.
    """

    interval: float = 60.0
    name: str = "2d-las"

    def __post_init__(self) -> None:
        _check_interval(self.name, self.interval)

    def decide(self, state: State) -> Plan:
        """Return the jobs by attained service; ties by arrival and file order."""
        order = state.active[np.argsort(state.service(state.active), kind="stable")]
        return Plan(order, wake=lambda after: _wake(after, self.interval))


@dataclass
class Gittins:
    """The job with the greatest Gittins index first (2D-Gittins as printed), reconsidered at every interval.

    Attributes
    ----------
    interval : s between two looks at the indices, beside every arrival and end
    distribution : services of past jobs; None takes those of the replayed workload

    References
    ----------
    Tiresias (NSDI 2019), section 3.1, pseudocode 1. Its figure 7 shows the discretised policy, here `tiresias-g`.
    """

    interval: float = 60.0
    distribution: ServiceDistribution | None = None
    name: str = "2d-gittins"
    _known: dict[float, float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        _check_interval(self.name, self.interval)

    def decide(self, state: State) -> Plan:
        """Return the jobs by index, the greatest first; ties by arrival and file order."""
        if self.distribution is None:
            self.distribution = distribution_of(state, None)
        order = state.active[np.argsort(-self._indices(state, state.active), kind="stable")]
        return Plan(order, wake=lambda after: _wake(after, self.interval))

    def _indices(self, state: State, jobs: Ints) -> np.ndarray:
        """Return the index of each job, looked up where the same attained service was seen before."""
        assert self.distribution is not None
        values = state.service(jobs).tolist()
        fresh = sorted({value for value in values if value not in self._known})
        self._known.update(zip(fresh, self.distribution.best_index(np.array(fresh)).tolist(), strict=True))
        return np.array([self._known[value] for value in values])


def _check_interval(name: str, interval: float) -> None:
    if not (math.isfinite(interval) and interval > 0):
        raise InputError(f"{name}: interval={interval} s; a finite number of seconds above 0 is needed")


def _wake(state: State, interval: float) -> float:
    """Return when to look again: never while nobody waits."""
    return next_tick(state.now, interval) if len(state.waiting) else math.inf


def las(interval: float = 60.0) -> LeastAttainedService:
    """Return 2D-LAS with a scheduling interval in s."""
    return LeastAttainedService(interval)


def gittins(interval: float = 60.0, history: str | None = None) -> Gittins:
    """Return 2D-Gittins with a scheduling interval in s and a file of past services, None for the workload's own."""
    return Gittins(interval, None if history is None else ServiceDistribution.from_file(history))
