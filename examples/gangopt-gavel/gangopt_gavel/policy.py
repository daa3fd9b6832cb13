"""Replay policy with the round-based mechanism of Gavel, on GPUs of one type."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InputError
from gangopt.replays.policies.ticks import next_tick
from gangopt.replays.records import Plan
from gangopt.replays.state import State

__all__ = ["MaxMinTime", "max_min_time"]


@dataclass
class MaxMinTime:
    """Jobs with the least ratio of run time to time in the system first, re-evaluated every round.

    On one GPU type the max-min fair time shares are equal. Gavel's mechanism approaches them by running in each round
    the jobs that are furthest behind their share.

    Attributes
    ----------
    round_seconds : float
        Length of a round in s.
    """

    round_seconds: float = 360.0
    name: str = "max-min-time"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.round_seconds) and self.round_seconds > 0):
            raise InputError(f"{self.name}: round_seconds must be > 0 s (got {self.round_seconds})")

    def decide(self, state: State) -> Plan:
        """Return the jobs by ratio; ties by arrival and file order."""
        jobs = state.active
        present = np.maximum(state.now - state.submitted[jobs], 1e-9)
        order = jobs[np.argsort(state.executed(jobs) / present, kind="stable")]
        return Plan(order, wake=self._wake)

    def _wake(self, state: State) -> float:
        """Return the end of the round, or infinity if no job is waiting."""
        return next_tick(state.now, self.round_seconds, state.resolution) if len(state.waiting) else math.inf


def max_min_time(round_seconds: float = 360.0) -> MaxMinTime:
    """Return the policy with rounds of `round_seconds`."""
    return MaxMinTime(round_seconds)
