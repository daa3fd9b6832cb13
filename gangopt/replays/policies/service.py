"""Policies by attained service without queues, as in the worked example of Tiresias: 2D-LAS and 2D-Gittins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gangopt.base.checks import number
from gangopt.base.types import Floats
from gangopt.instances.workload.gittins import ServiceDistribution
from gangopt.replays.policies.ticks import next_tick
from gangopt.replays.records import Plan
from gangopt.replays.state import State
from gangopt.replays.ties import ascending, merged

__all__ = ["ROUNDED", "Gittins", "LeastAttainedService", "distribution_of", "expected_service", "gittins", "las"]

_LEAST_INDEX = 1e-300
"""Smaller than any positive index, 1 / GPU s."""

ROUNDED = 1e-9
"""Relative rounding error of an expected service, from sums over all past jobs."""


def distribution_of(state: State, given: ServiceDistribution | None) -> ServiceDistribution:
    """Return the given service distribution, or that of the replayed workload."""
    return ServiceDistribution(state.gpus * state.duration) if given is None else given


def expected_service(index: Floats) -> Floats:
    """Return the expected service until completion for Gittins indices, in GPU s; very large for an index of 0.

    Indices are compared by it because services have a resolution and indices do not.
    """
    return np.asarray(1.0 / np.maximum(index, _LEAST_INDEX))


@dataclass
class LeastAttainedService:
    """Job with the least attained service first (2D-LAS), re-evaluated every scheduling interval.

    Attributes
    ----------
    interval : float
        Time between re-evaluations, in addition to every arrival and end, s.

    References
    ----------
    Tiresias (NSDI 2019), section 3.1 and figure 7.
    """

    interval: float = 60.0
    name: str = "2d-las"

    def __post_init__(self) -> None:
        number(f"{self.name}: interval", self.interval, above=0, unit="s")

    def decide(self, state: State) -> Plan:
        """Return the jobs by attained service, with ties by arrival and file order."""
        order = state.active[ascending(state.service(state.active), state.service_resolution)]
        return Plan(order, wake=lambda after: _wake(after, self.interval))


@dataclass
class Gittins:
    """Job with the largest Gittins index first (2D-Gittins as printed), re-evaluated every scheduling interval.

    Attributes
    ----------
    interval : float
        Time between re-evaluations, in addition to every arrival and end, s.
    distribution : ServiceDistribution or None
        Services of past jobs; None for those of the replayed workload.

    References
    ----------
    Tiresias (NSDI 2019), section 3.1, pseudocode 1. Its figure 7 shows the discretised policy, here `tiresias-g`.
    """

    interval: float = 60.0
    distribution: ServiceDistribution | None = None
    name: str = "2d-gittins"

    def __post_init__(self) -> None:
        number(f"{self.name}: interval", self.interval, above=0, unit="s")

    def decide(self, state: State) -> Plan:
        """Return the jobs by decreasing index, with ties by arrival and file order."""
        if self.distribution is None:
            self.distribution = distribution_of(state, None)
        equal = state.service_resolution
        index = self.distribution.best_index(merged(state.service(state.active), equal), equal)
        order = state.active[ascending(expected_service(index), equal, ROUNDED)]
        return Plan(order, wake=lambda after: _wake(after, self.interval))


def _wake(state: State, interval: float) -> float:
    """Return the next decision time, infinite without waiting jobs."""
    return next_tick(state.now, interval, state.resolution) if len(state.waiting) else math.inf


def las(interval: float = 60.0) -> LeastAttainedService:
    """Return 2D-LAS with a scheduling interval in s."""
    return LeastAttainedService(interval)


def gittins(interval: float = 60.0, history: str | None = None) -> Gittins:
    """Return 2D-Gittins with a scheduling interval in s and a file of past services (None: those of the workload)."""
    return Gittins(interval, None if history is None else ServiceDistribution.from_file(history))
