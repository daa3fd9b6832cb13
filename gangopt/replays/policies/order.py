"""Policies that sort the jobs at each event: FIFO, smallest first, shortest remaining time and service."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gangopt.replays.records import Plan
from gangopt.replays.state import State
from gangopt.replays.ties import ascending

__all__ = [
    "BestEffort",
    "Fifo",
    "ShortestRemainingService",
    "ShortestRemainingTime",
    "SmallestFirst",
    "YarnCs",
    "best_effort",
    "fifo",
    "smallest_first",
    "srsf",
    "srtf",
    "yarn_cs",
]


@dataclass
class Fifo:
    """First in, first out, without preemption and with head-of-line blocking."""

    name: str = "fifo"

    def decide(self, state: State) -> Plan:
        """Return the jobs by arrival; ties by file order."""
        return Plan(state.active, preempt=False, skip=False)


@dataclass
class YarnCs:
    """YARN's capacity scheduler as in Tiresias: FIFO with head-of-line blocking; gangs wait for consolidated places."""

    name: str = "yarn-cs"
    placement: str = "consolidated"

    def decide(self, state: State) -> Plan:
        """Return the jobs by arrival; ties by file order."""
        return Plan(state.active, preempt=False, skip=False)


@dataclass
class BestEffort:
    """YARN's capacity scheduler without head-of-line blocking: jobs that fit overtake jobs that do not."""

    name: str = "best-effort"
    placement: str = "consolidated"

    def decide(self, state: State) -> Plan:
        """Return the jobs by arrival; ties by file order."""
        return Plan(state.active, preempt=False, skip=True)


@dataclass
class SmallestFirst:
    """Job with the fewest GPUs first (SF of Tiresias, table 1)."""

    name: str = "sf"
    preempt: bool = True

    def decide(self, state: State) -> Plan:
        """Return the jobs by GPUs, with ties by arrival and file order."""
        return Plan(state.active[np.argsort(state.gpus[state.active], kind="stable")], preempt=self.preempt)


@dataclass
class ShortestRemainingTime:
    """Job with the shortest remaining time first (SRTF); requires durations."""

    name: str = "srtf"

    def decide(self, state: State) -> Plan:
        """Return the jobs by remaining time, with ties by arrival and file order."""
        return Plan(state.active[ascending(state.remaining(state.active), state.resolution)])


@dataclass
class ShortestRemainingService:
    """Job with the smallest remaining time times GPUs first (SRSF); requires durations."""

    name: str = "srsf"

    def decide(self, state: State) -> Plan:
        """Return the jobs by remaining service, with ties by arrival and file order."""
        service = state.remaining(state.active) * state.gpus[state.active]
        return Plan(state.active[ascending(service, state.service_resolution)])


def fifo() -> Fifo:
    """Return FIFO."""
    return Fifo()


def yarn_cs() -> YarnCs:
    """Return YARN's capacity scheduler."""
    return YarnCs()


def best_effort() -> BestEffort:
    """Return YARN's capacity scheduler without head-of-line blocking."""
    return BestEffort()


def smallest_first(preempt: bool = True) -> SmallestFirst:
    """Return smallest first, with or without preemption."""
    return SmallestFirst(preempt=preempt)


def srtf() -> ShortestRemainingTime:
    """Return shortest remaining time first."""
    return ShortestRemainingTime()


def srsf() -> ShortestRemainingService:
    """Return shortest remaining service first."""
    return ShortestRemainingService()
