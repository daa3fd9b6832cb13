"""Time-sharing in turn, as Gandiva's scheduler does it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gangopt.base.errors import InputError
from gangopt.replays.policies.ticks import Ticks
from gangopt.replays.records import Plan
from gangopt.replays.state import State
from gangopt.replays.ties import ascending

__all__ = ["TimeSharing", "time_sharing"]


@dataclass
class TimeSharing:
    """Every job runs for a quantum, then waits behind all that wait; nothing is changed while nobody waits.

    Quanta end at multiples of the quantum since the first arrival. In between, running jobs keep their GPUs and free
    GPUs go to those that have waited longest. Where nobody waited, a job that arrives just at the end of a quantum
    waits for the next one.

    Attributes
    ----------
    quantum : float
        S.

    References
    ----------
    Gandiva (OSDI 2018) as the baseline of Tiresias (NSDI 2019), section 5.3.
    """

    quantum: float = 60.0
    name: str = "time-sharing"
    _ticks: Ticks = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.quantum) and self.quantum > 0):
            raise InputError(f"{self.name}: quantum={self.quantum} s; a finite number of seconds above 0 is needed")
        self._ticks = Ticks(self.quantum)

    def decide(self, state: State) -> Plan:
        """Return the jobs whose turn it is first; ties by arrival and file order."""
        running, waiting = state.running, state.waiting
        waiting = waiting[ascending(-state.waited(waiting), state.resolution)]
        somebody = bool(len(waiting) and state.waited(waiting[:1])[0] > state.resolution)
        turn = self._ticks.due(state.now, state.resolution) and somebody
        order = np.concatenate([waiting, running] if turn else [running, waiting])
        return Plan(order, wake=lambda after: self._ticks.next if len(after.waiting) else math.inf)


def time_sharing(quantum: float = 60.0) -> TimeSharing:
    """Return time-sharing with a quantum in s."""
    return TimeSharing(quantum)
