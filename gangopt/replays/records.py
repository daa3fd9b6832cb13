"""Interface of a policy and the plan that it returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from gangopt.base.types import Floats, Ints

if TYPE_CHECKING:
    from gangopt.replays.state import State

__all__ = ["Plan", "Policy"]


@dataclass(frozen=True)
class Plan:
    """Jobs to run from now on.

    The engine runs the jobs of `order` that fit, each as a complete gang.

    Attributes
    ----------
    order : ndarray of int
        Jobs in order of priority, highest first. Other jobs do not run, except running ones if `preempt` is false.
    preempt : bool
        Whether a running job may be stopped for one of higher priority.
    skip : bool
        Whether a job that does not fit is skipped; if not, it blocks all jobs after it.
    gpus : ndarray of int or None
        GPUs of each job of `order`; None for the gangs of the workload. A running job whose number changes is
        restarted.
    rates : ndarray of float or None
        Progress per second of each job of `order`, in seconds of its logged duration; None for 1.
    places : mapping or None
        GPUs by machine index for each job that the policy places itself; the replay's rule places the others.
    wake : float or callable
        Latest time of the next decision in s, or a function of the state that returns it; infinite to wait for the
        next event. The function is called after the plan was applied.
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
    """Online scheduler: decides at every event which jobs run until the next.

    A policy may keep its own state in attributes; a replay works on a deep copy.
    """

    name: str
    """Name in tables."""

    def decide(self, state: State) -> Plan:
        """Return the jobs to run.

        Called after every event: arrivals, ends, or the time of `Plan.wake`. The result must depend only on the state,
        the policy's own attributes and `state.rng`.
        """
        ...
