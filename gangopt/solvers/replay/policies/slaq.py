"""SLAQ: GPUs go where they lower the training loss most until the next decision."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import numpy as np

from gangopt.errors import InputError
from gangopt.solvers.replay.records import Ints, Plan
from gangopt.solvers.replay.state import State

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
    interval : s
    curvature : c, above 0

    References
    ----------
    SLAQ (SoCC 2017), as the baseline of THEMIS (NSDI 2020).
    """

    interval: float = 600.0
    curvature: float = 9.0
    name: str = "slaq"
    placement: str = "packed"
    _gpus: dict[int, int] = field(default_factory=dict, repr=False)
    _next: float = -math.inf

    def __post_init__(self) -> None:
        for label, value in (("interval", self.interval), ("curvature", self.curvature)):
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{self.name}: {label}={value}; a finite number above 0 is needed")

    def decide(self, state: State) -> Plan:
        """Return the allocation of this interval, in order of arrival."""
        if self._next == -math.inf:
            self._next = math.ceil(state.now / self.interval) * self.interval
        if state.now >= self._next:
            self._gpus = self._share(state)
            tick = (math.floor(state.now / self.interval) + 1) * self.interval
            self._next = max(tick, math.nextafter(state.now, math.inf))
        order = np.array([job for job in state.active.tolist() if self._gpus.get(job, 0)], dtype=np.int64)
        gpus: Ints = np.array([self._gpus[job] for job in order.tolist()], dtype=np.int64)
        wake = self._next if len(state.active) else math.inf
        return Plan(order, gpus=gpus, rates=gpus / state.gpus[order], wake=wake)

    def _share(self, state: State) -> dict[int, int]:
        jobs = state.active.tolist()
        given = dict.fromkeys(jobs, 0)
        done = (1.0 - state.remaining(state.active) / state.duration[state.active]).tolist()
        per_gpu = (self.interval / (state.duration[state.active] * state.gpus[state.active])).tolist()
        gangs = state.gpus[state.active].tolist()

        def gain(at: int, gpus: int) -> float:
            return self._loss(done[at] + gpus * per_gpu[at]) - self._loss(done[at] + (gpus + 1) * per_gpu[at])

        heap = [(-gain(at, 0), at) for at in range(len(jobs))]
        heapq.heapify(heap)
        free = state.n_gpus
        while heap and free:
            _, at = heapq.heappop(heap)
            given[jobs[at]] += 1
            free -= 1
            if given[jobs[at]] < gangs[at]:
                heapq.heappush(heap, (-gain(at, given[jobs[at]]), at))
        return given

    def _loss(self, share: float) -> float:
        return 1.0 / (1.0 + self.curvature * min(share, 1.0))


def slaq(interval: float = 600.0, curvature: float = 9.0) -> Slaq:
    """Return SLAQ with an interval in s and the curvature of the loss."""
    return Slaq(interval, curvature)
