"""SLAQ: GPUs to the jobs whose training loss decreases most until the next decision."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gangopt.base.checks import number
from gangopt.base.types import Floats, Ints
from gangopt.replays.policies.ticks import Ticks
from gangopt.replays.records import Plan
from gangopt.replays.state import State

__all__ = ["Slaq"]


@dataclass
class Slaq:
    r"""Policy that assigns GPUs one by one to the job with the largest decrease in loss, every interval.

    No public trace has losses, so every job is assumed to have the normalised loss

    .. math:: l(x) = \frac{1}{1 + c x}

    after the share x of its work (the loss curve of Optimus), and a speed proportional to its GPUs, up to those of its
    gang. The gain of the k-th GPU is the difference between the losses at the next decision with k - 1 and with k GPUs.
    Ties are broken by arrival and file order.

    Attributes
    ----------
    interval : float
        Scheduling interval, s.
    curvature : float
        Curvature c of the loss, > 0.

    References
    ----------
    SLAQ (SoCC 2017), as the baseline of THEMIS (NSDI 2020).
    """

    interval: float = 600.0
    curvature: float = 9.0
    name: str = "slaq"
    placement: str = "packed"
    _given: Ints | None = field(default=None, repr=False)
    _ticks: Ticks = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for label, value in (("interval", self.interval), ("curvature", self.curvature)):
            number(f"{self.name}: {label}", value, above=0)
        self._ticks = Ticks(self.interval)

    def decide(self, state: State) -> Plan:
        """Return the allocation of this interval, in order of arrival."""
        if self._given is None:
            self._given = np.zeros(len(state.gpus), dtype=np.int64)
        if self._ticks.due(state.now, state.resolution):
            self._given[:] = 0
            self._given[state.active] = self._share(state)
        order = state.active[self._given[state.active] > 0]
        gpus = self._given[order]
        return Plan(order, gpus=gpus, rates=gpus / state.gpus[order], wake=self._wake)

    def _wake(self, state: State) -> float:
        """Return the next decision time, infinite while every job has its complete gang."""
        whole = bool((state.held[state.active] == state.gpus[state.active]).all())
        return math.inf if whole else self._ticks.next

    def _share(self, state: State) -> Ints:
        """Return the GPUs of each active job; losses are convex, so the largest single gains are optimal."""
        jobs = state.active
        gangs = state.gpus[jobs]
        if int(gangs.sum()) <= state.n_gpus:
            return gangs
        owner = np.repeat(np.arange(len(jobs)), gangs)
        rank = np.arange(len(owner)) - np.repeat(np.cumsum(gangs) - gangs, gangs)
        done = (1.0 - state.remaining(jobs) / state.duration[jobs])[owner]
        per_gpu = (self.interval / (state.duration[jobs] * gangs))[owner]
        gain = self._loss(done + rank * per_gpu) - self._loss(done + (rank + 1) * per_gpu)
        taken = np.lexsort((owner, -gain))[: state.n_gpus]
        return np.bincount(owner[taken], minlength=len(jobs))

    def _loss(self, share: Floats) -> Floats:
        return np.asarray(1.0 / (1.0 + self.curvature * np.minimum(share, 1.0)))


def slaq(interval: float = 600.0, curvature: float = 9.0) -> Slaq:
    """Return SLAQ with an interval in s and the curvature of the loss."""
    return Slaq(interval, curvature)
