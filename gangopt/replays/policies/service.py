"""Policies by attained service without queues, as the worked example of Tiresias runs them: 2D-LAS and 2D-Gittins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InputError
from gangopt.instances.workload.gittins import ServiceDistribution
from gangopt.replays.policies.ticks import next_tick
from gangopt.replays.records import Floats, Plan
from gangopt.replays.state import State
from gangopt.replays.ties import ascending, merged

__all__ = ["ROUNDED", "Gittins", "LeastAttainedService", "distribution_of", "expected_service", "gittins", "las"]

_LEAST_INDEX = 1e-300
"""1 / GPU s; below any index but 0."""

ROUNDED = 1e-9
"""Share of an expected service that may be lost to rounding in the sums of all past jobs."""


def distribution_of(state: State, given: ServiceDistribution | None) -> ServiceDistribution:
    """Return a distribution of services: the given one, or that of the replayed workload itself."""
    return ServiceDistribution(state.gpus * state.duration) if given is None else given


def expected_service(index: Floats) -> Floats:
    """Return the service in GPU s for an end that a Gittins index promises, a very large one for an index of 0.

    Indices are compared by it, since services have a resolution and indices have none.
    """
    return np.asarray(1.0 / np.maximum(index, _LEAST_INDEX))


@dataclass
class LeastAttainedService:
    """The job with the least attained service first (2D-LAS), reconsidered at every scheduling interval.

    Attributes
    ----------
    interval : float
        S between two looks at the services, beside every arrival and end.

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
        order = state.active[ascending(state.service(state.active), state.service_resolution)]
        return Plan(order, wake=lambda after: _wake(after, self.interval))


@dataclass
class Gittins:
    """The job with the greatest Gittins index first (2D-Gittins as printed), reconsidered at every interval.

    Attributes
    ----------
    interval : float
        S between two looks at the indices, beside every arrival and end.
    distribution : ServiceDistribution or None
        Services of past jobs; None takes those of the replayed workload.

    References
    ----------
    Tiresias (NSDI 2019), section 3.1, pseudocode 1. Its figure 7 shows the discretised policy, here `tiresias-g`.
    """

    interval: float = 60.0
    distribution: ServiceDistribution | None = None
    name: str = "2d-gittins"

    def __post_init__(self) -> None:
        _check_interval(self.name, self.interval)

    def decide(self, state: State) -> Plan:
        """Return the jobs by index, the greatest first; ties by arrival and file order."""
        if self.distribution is None:
            self.distribution = distribution_of(state, None)
        equal = state.service_resolution
        index = self.distribution.best_index(merged(state.service(state.active), equal), equal)
        order = state.active[ascending(expected_service(index), equal, ROUNDED)]
        return Plan(order, wake=lambda after: _wake(after, self.interval))


def _check_interval(name: str, interval: float) -> None:
    if not (math.isfinite(interval) and interval > 0):
        raise InputError(f"{name}: interval={interval} s; a finite number of seconds above 0 is needed")


def _wake(state: State, interval: float) -> float:
    """Return when to look again: never while nobody waits."""
    return next_tick(state.now, interval, state.resolution) if len(state.waiting) else math.inf


def las(interval: float = 60.0) -> LeastAttainedService:
    """Return 2D-LAS with a scheduling interval in s."""
    return LeastAttainedService(interval)


def gittins(interval: float = 60.0, history: str | None = None) -> Gittins:
    """Return 2D-Gittins with a scheduling interval in s and a file of past services, None for the workload's own."""
    return Gittins(interval, None if history is None else ServiceDistribution.from_file(history))
