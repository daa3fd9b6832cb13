"""What a policy decides, and what it has to offer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from gangopt.base.types import Floats, Ints

if TYPE_CHECKING:
    from gangopt.replays.state import State

__all__ = ["Floats", "Ints", "Plan", "Policy"]


@dataclass(frozen=True)
class Plan:
    """Which jobs are to run from now on.

    The engine goes through `order` and runs what fits: every job as a whole gang or not at all.

    Attributes
    ----------
    order : ndarray of int
        Int array Jobs by priority, the first one first. A job that is not listed does not run, unless it runs
        already and `preempt` is false.
    preempt : bool
        Whether a running job may be stopped for one that stands before it in `order`.
    skip : bool
        Whether a job that does not fit is passed over; if not, it holds up all that follow it.
    gpus : ndarray of int or None
        GPUs of each job of `order`; None is the gang of the workload. A running job whose number
        changes is stopped and started again.
    rates : ndarray of float or None
        Progress of each job of `order` per second, in seconds of its logged duration; None is
        1.
    places : mapping or None
        GPUs by machine index for each job whose place the policy chooses itself; the others follow the replay's rule.
    wake : float or callable
        Float, or function of the state The latest time in s at which the policy wants to be asked again; infinite
        for at the next event only. A function is called once the plan has been followed, when it is known who runs.
    """

    order: Ints
    preempt: bool = True
    skip: bool = True
    gpus: Ints | None = None
    rates: Floats | None = None
    places: Mapping[int, Mapping[int, int]] | None = None
    wake: float | Callable[[State], float] = math.inf


@runtime_checkable
class Policy(Protocol):
    """A scheduler: sees the state at an event and says which jobs run until the next.

    A policy may keep what it likes in its own attributes: a replay works on a deep copy.
    """

    name: str
    """What tables call it."""

    def decide(self, state: State) -> Plan:
        """Return which jobs are to run.

        Asked after every event: jobs have arrived or ended, or the time of `Plan.wake` has come. It must depend on
        nothing but the state, its own attributes and `state.rng`.
        """
        ...
