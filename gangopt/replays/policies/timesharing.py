"""Round-robin time slicing, as in Gandiva."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gangopt.base.checks import number
from gangopt.replays.policies.ticks import Ticks
from gangopt.replays.records import Plan
from gangopt.replays.state import State
from gangopt.replays.ties import ascending

__all__ = ["TimeSharing", "time_sharing"]


@dataclass
class TimeSharing:
    """Round-robin time slicing: every job runs for a quantum, then waits behind all waiting jobs, if there are any.

    Quanta end at multiples of the quantum since the first arrival. In between, running jobs keep their GPUs, and free
    GPUs go to the jobs that have waited longest. A job that arrives at the end of a quantum, when no job was waiting,
    waits for the next one.

    Attributes
    ----------
    quantum : float
        Length of a time slice, s.

    References
    ----------
    Gandiva (OSDI 2018) as the baseline of Tiresias (NSDI 2019), section 5.3.
    """

    quantum: float = 60.0
    name: str = "time-sharing"
    _ticks: Ticks = field(init=False, repr=False)

    def __post_init__(self) -> None:
        number(f"{self.name}: quantum", self.quantum, above=0, unit="s")
        self._ticks = Ticks(self.quantum)

    def decide(self, state: State) -> Plan:
        """Return the jobs in round-robin order, with ties by arrival and file order."""
        running, waiting = state.running, state.waiting
        waiting = waiting[ascending(-state.waited(waiting), state.resolution)]
        queued = bool(len(waiting) and state.waited(waiting[:1])[0] > state.resolution)
        turn = self._ticks.due(state.now, state.resolution) and queued
        order = np.concatenate([waiting, running] if turn else [running, waiting])
        return Plan(order, wake=lambda after: self._ticks.next if len(after.waiting) else math.inf)


def time_sharing(quantum: float = 60.0) -> TimeSharing:
    """Return round-robin time slicing with a quantum in s."""
    return TimeSharing(quantum)
