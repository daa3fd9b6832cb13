"""SLAQ: GPUs go where they lower the training loss most until the next decision."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gangopt.base.errors import InputError
from gangopt.replays.policies.ticks import Ticks
from gangopt.replays.records import Floats, Ints, Plan
from gangopt.replays.state import State

__all__ = ["Slaq"]


@dataclass
class Slaq:
    r"""At every multiple of the interval, GPUs are given one by one to the job whose loss the next one lowers most.

    No public trace tells losses, so every job is taken to have the normalised loss

    .. math:: l(x) = \frac{1}{1 + c x}

    after the share x of its work (the curve of Optimus with its last loss as c), and a speed in proportion to its GPUs,
    up to those of its gang. The gain of the k-th GPU is the difference of what k and k - 1 GPUs make of the loss until
    the next decision. Ties by arrival and file order.

    Attributes
    ----------
    interval : float
        S.
    curvature : float
        C, above 0.

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
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{self.name}: {label}={value}; a finite number above 0 is needed")
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
        """Return when to decide again: never while every job has its whole gang."""
        whole = bool((state.held[state.active] == state.gpus[state.active]).all())
        return math.inf if whole else self._ticks.next

    def _share(self, state: State) -> Ints:
        """Return the GPUs of each active job: losses are convex, so the greatest single gains are what to take."""
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
