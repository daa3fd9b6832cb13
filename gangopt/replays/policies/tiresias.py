"""Tiresias: discretised two-dimensional attained service with FIFO or Gittins order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.workload.gittins import ServiceDistribution
from gangopt.replays.policies.packlimit import PackLimit
from gangopt.replays.policies.service import ROUNDED, distribution_of, expected_service
from gangopt.replays.records import Plan
from gangopt.replays.state import State
from gangopt.replays.ties import merged, ranks
from gangopt.solvers.network_placement.heuristics import LIMIT

__all__ = ["Tiresias", "tiresias_g", "tiresias_l"]


@dataclass
class _Queues:
    """Queue of each job, and the values at its last promotion."""

    queue: Ints
    service_at_reset: Floats
    executed_at_reset: Floats
    reset_at: Floats


@dataclass
class Tiresias:
    """K queues by attained service; a job moves to the next queue at each threshold and may be promoted to the first.

    Within a queue, jobs are ordered by their first start (jobs not yet started come last, by arrival). With `gittins`,
    all queues but the last are ordered by the Gittins index of the service since the last promotion, with the queue's
    upper threshold as quantum. Jobs that do not fit are skipped.

    Attributes
    ----------
    thresholds : sequence of float
        Ascending thresholds between the K queues, K - 1 values, GPU s.
    gittins : bool
        Whether queues are ordered by Gittins index.
    knob : float or None
        PROMOTEKNOB: promote a job that waited this many times as long as it ran since its last promotion; None never.
    starve_limit : float or None
        STARVELIMIT: promote a job that waited this long, s; None never.
    distribution : ServiceDistribution or None
        Services of past jobs for the index; None for those of the replayed workload.
    name : str
        Name in tables.
    placement : PackLimit
        Placement rule of each job.

    Raises
    ------
    InputError
        If the thresholds are not positive and ascending, or a limit is not positive.

    References
    ----------
    Tiresias (NSDI 2019), section 3.2, pseudocode 2.
    """

    thresholds: Sequence[float] = (3600.0,)
    gittins: bool = False
    knob: float | None = None
    starve_limit: float | None = None
    distribution: ServiceDistribution | None = None
    name: str = "tiresias-l"
    placement: PackLimit = field(default_factory=PackLimit)
    _limits: Floats = field(init=False, repr=False)
    _queues: _Queues | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        values = np.asarray(self.thresholds, dtype=np.float64)
        ascending = values.ndim == 1 and len(values) and (np.diff(values) > 0).all()
        if not (ascending and np.isfinite(values).all() and values[0] > 0):
            shown = ", ".join(f"{value:g}" for value in np.ravel(values)) or "none"
            raise InputError(f"{self.name}: thresholds must be > 0 GPU s and ascending (got {shown})")
        for label, value in (("knob", self.knob), ("starve_limit", self.starve_limit)):
            if value is not None and not value > 0:
                raise InputError(f"{self.name}: {label} must be > 0 (got {value:g})")
        self._limits = values

    def decide(self, state: State) -> Plan:
        """Return the jobs by queue, then by first start or index, with ties by arrival and file order."""
        if self._queues is None:
            self._queues = self._begin(state)
        active = state.active
        self._demote(state, active)
        self._promote(state)
        queue = self._queues.queue[active]
        first = state.first_start[active]
        keys = (first, self._index_ranks(state, active, queue), queue) if self.gittins else (first, queue)
        order = active[np.lexsort(keys)]
        # jobs that the plan stops may be promoted next
        return Plan(order, wake=lambda after: min(self._next_promotion(after), self._next_demotion(after)))

    def _begin(self, state: State) -> _Queues:
        n = len(state.gpus)
        if self.gittins:
            self.distribution = distribution_of(state, self.distribution)
        return _Queues(np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n), np.full(n, -math.inf))

    def _service(self, state: State, jobs: Ints) -> Floats:
        assert self._queues is not None
        return state.service(jobs) - self._queues.service_at_reset[jobs]

    def _demote(self, state: State, active: Ints) -> None:
        assert self._queues is not None
        reached = self._service(state, active) + state.service_resolution
        below = np.searchsorted(self._limits, reached, side="right")
        self._queues.queue[active] = np.maximum(self._queues.queue[active], below)

    def _next_demotion(self, state: State) -> float:
        """Return the time when the first running job reaches the upper threshold of its queue."""
        assert self._queues is not None
        running = state.running
        jobs = running[self._queues.queue[running] < len(self._limits)]
        if not len(jobs):
            return math.inf
        lacking = self._limits[self._queues.queue[jobs]] - self._service(state, jobs)
        return _after(state.now, float((lacking / state.held[jobs]).min()))

    def _promote(self, state: State) -> None:
        """Promote starving jobs."""
        queues = self._queues
        assert queues is not None
        jobs, waited, limit = self._starving(state)
        chosen = jobs[waited >= limit - state.resolution * max(1.0, self.knob or 0.0)]
        if not len(chosen):
            return
        queues.queue[chosen] = 0
        queues.service_at_reset[chosen] = state.service(chosen)
        queues.executed_at_reset[chosen] = state.executed(chosen)
        queues.reset_at[chosen] = state.now

    def _next_promotion(self, state: State) -> float:
        """Return the time when the first waiting job starves."""
        jobs, waited, limit = self._starving(state)
        return _after(state.now, float((limit - waited).min())) if len(jobs) else math.inf

    def _starving(self, state: State) -> tuple[Ints, Floats, Floats]:
        """Return the waiting jobs below the first queue, their waiting times and their limits, in s."""
        if self.knob is None and self.starve_limit is None:
            return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        queues = self._queues
        assert queues is not None
        waiting = state.waiting
        jobs = waiting[queues.queue[waiting] > 0]
        waited = np.minimum(state.waited(jobs), state.now - queues.reset_at[jobs])
        limit = np.full(len(jobs), math.inf if self.starve_limit is None else self.starve_limit)
        if self.knob is not None:
            limit = np.minimum(limit, self.knob * (state.executed(jobs) - queues.executed_at_reset[jobs]))
        return jobs, waited, limit

    def _index_ranks(self, state: State, jobs: Ints, queue: Ints) -> Ints:
        """Return the rank of each job's Gittins index, which is 0 in the last queue."""
        assert self.distribution is not None
        values = np.zeros(len(jobs))
        early = queue < len(self._limits)
        if early.any():
            service = merged(self._service(state, jobs[early]), state.service_resolution)
            values[early] = self.distribution.index(service, self._limits[queue[early]], state.service_resolution)
        return ranks(expected_service(values), state.service_resolution, ROUNDED)


def _after(now: float, seconds: float) -> float:
    """Return now + seconds, or the next double after now if that is larger."""
    return max(now + seconds, math.nextafter(now, math.inf))


def tiresias_l(
    thresholds: str = "3600",
    knob: float | None = None,
    starve_limit: float | None = None,
    queues: int | None = None,
    packlimit: float = LIMIT,
) -> Tiresias:
    """Return Tiresias-L from the options in a policy's name.

    Parameters
    ----------
    thresholds : str, optional
        Thresholds in GPU s joined by `+`, e.g. `3600+7200`.
    knob, starve_limit : float or None, optional
        Promotion limits of `Tiresias`.
    queues : int or None, optional
        Number of queues K, checked against the thresholds.
    packlimit : float, optional
        Skew above which a job is packed on the fewest machines.
    """
    limits = _thresholds("tiresias-l", thresholds, queues)
    return Tiresias(limits, knob=knob, starve_limit=starve_limit, placement=PackLimit(packlimit))


def tiresias_g(
    thresholds: str = "3600",
    knob: float | None = None,
    starve_limit: float | None = None,
    queues: int | None = None,
    history: str | None = None,
    packlimit: float = LIMIT,
) -> Tiresias:
    """Return Tiresias-G from the options in a policy's name.

    Parameters
    ----------
    thresholds, knob, starve_limit, queues : str, float, int or None, optional
        Options of `tiresias_l`.
    history : str or None, optional
        File with one service in GPU s per line (a header `duration` is skipped); None for the services of the replayed
        workload.
    packlimit : float, optional
        Skew above which a job is packed on the fewest machines.
    """
    limits = _thresholds("tiresias-g", thresholds, queues)
    past = None if history is None else ServiceDistribution.from_file(history)
    return Tiresias(limits, True, knob, starve_limit, past, "tiresias-g", PackLimit(packlimit))


def _thresholds(name: str, text: str, queues: int | None) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split("+"))
    except ValueError:
        raise InputError(f"{name}: thresholds must be numbers joined by + (got {text!r})") from None
    if queues is not None and len(values) != queues - 1:
        raise InputError(f"{name}: {queues} queues must have {queues - 1} thresholds (got {len(values)}: {text})")
    return values
