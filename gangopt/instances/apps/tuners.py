"""Reference tuners, successive halving and curve stopping, for simulations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from gangopt.base import checks
from gangopt.base.errors import InputError
from gangopt.instances.apps.app import CurveTuner, HalvingTuner, JobInfo, budget_of, median_job
from gangopt.instances.apps.limits import MOST

__all__ = ["CurveJob", "CurveStopping", "HalvingPhase", "SimulatedTuner", "SuccessiveHalving", "forecast", "halvings"]

_ALMOST = 1e-12
"""Largest remaining part of a phase that counts as finished, since sums of parts are rounded."""


class SimulatedTuner(Protocol):
    """Interface of tuners in a simulation, in addition to figure 7."""

    @property
    def budget(self) -> float:
        """GPU time from start to end, estimated at the start, in GPU s."""

    @property
    def most_gpus(self) -> int:
        """Largest number of GPUs in use in any phase, estimated at the start."""

    def truth(self) -> list[Sequence[JobInfo]]:
        """Return the actual jobs of every remaining phase, beginning with the current one."""

    def advance(self, part: float) -> None:
        """Advance all jobs of the current phase by a part, from 0 to 1, of the remaining iterations; 1 ends it."""


@dataclass(frozen=True)
class HalvingPhase:
    """Phase of successive halving.

    Attributes
    ----------
    jobs : int
        Number of jobs.
    iterations : float
        Iterations of each job.
    max_gpus : int
        Largest number of GPUs that a job can use.
    """

    jobs: int
    iterations: float
    max_gpus: int


def halvings(jobs: int, iterations: float, max_gpus: int = 1) -> tuple[HalvingPhase, ...]:
    """Return the phases of successive halving, in which half of the jobs are kept with twice the GPUs.

    Parameters
    ----------
    jobs : int
        Number of jobs at the start.
    iterations : float
        Iterations of every job in every phase.
    max_gpus : int, optional
        Largest number of GPUs of a job at the start.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, section 4.3; Jamieson, Talwalkar 2016.
    """
    checks.integer("jobs", jobs, 1)
    phases = []
    while jobs >= 1:
        phases.append(HalvingPhase(jobs, iterations, max_gpus))
        jobs //= 2
        max_gpus *= 2
    return tuple(phases)


class SuccessiveHalving(HalvingTuner, SimulatedTuner):
    """Tuner that repeatedly runs all jobs for some iterations and keeps the best.

    In later phases, the median of the current jobs is used for each survivor.

    Parameters
    ----------
    jobs : sequence of JobInfo
        Jobs of the first phase; their iterations and largest numbers of GPUs are those of the phases.
    phases : sequence of HalvingPhase
        Phases; the first has all jobs, and none has more than the previous one.
    ranking : sequence of int or None, optional
        Indices of the jobs from best to worst, which determine the survivors; None keeps the order of `jobs`.

    Raises
    ------
    InputError
        If the phases do not match the jobs, or the ranking is not a permutation of them.
    """

    def __init__(
        self, jobs: Sequence[JobInfo], phases: Sequence[HalvingPhase], ranking: Sequence[int] | None = None
    ) -> None:
        if not phases or phases[0].jobs != len(jobs):
            given = phases[0].jobs if phases else 0
            raise InputError(f"phases[0] must have all {len(jobs)} jobs (got {given})")
        for index, (phase, before) in enumerate(zip(phases, [phases[0], *phases], strict=False)):
            checks.integer(f"phases[{index}].jobs", phase.jobs, 1, before.jobs)
        self._ranking = list(range(len(jobs))) if ranking is None else list(ranking)
        if sorted(self._ranking) != list(range(len(jobs))):
            raise InputError(f"ranking must be a permutation of 0 to {len(jobs) - 1} (got {self._ranking})")
        self._all = tuple(jobs)
        self._phases = tuple(phases)
        self._current = 0
        self._left = 1.0
        self._estimates: list[tuple[JobInfo, ...]] = []
        self._update()
        self._budget = budget_of(self._estimates)
        self._most_gpus = max(phase.jobs * phase.max_gpus for phase in phases)

    @property
    def budget(self) -> float:
        """GPU time from start to end, estimated at the start, in GPU s."""
        return self._budget

    @property
    def most_gpus(self) -> int:
        """Largest number of GPUs in use in any phase."""
        return self._most_gpus

    def num_phases(self) -> int:
        """Return the number of remaining phases including the current one."""
        return len(self._phases) - self._current

    def jobs_in_phase(self, phase: int, gpus: int) -> Sequence[JobInfo]:
        """Return the jobs of the current phase (0), or the median job for each survivor of a later one."""
        if not 0 <= phase < self.num_phases() or gpus < 0:
            raise InputError(f"phase must be from 0 to {self.num_phases() - 1}, gpus >= 0 (got {phase}, {gpus})")
        return self._estimates[phase]

    def truth(self) -> list[Sequence[JobInfo]]:
        """Return the jobs of every remaining phase, with the actual survivors."""
        later = self._phases[self._current + 1 :]
        return [*self._estimates[:1], *([self._in_phase(self._all[j], p, 1.0) for j in self._best(p)] for p in later)]

    def advance(self, part: float) -> None:
        """Advance the current phase by a part of the remaining iterations; at its end, keep the best jobs."""
        self._left *= 1 - _part(part)
        if self._left <= _ALMOST:
            self._current += 1
            self._left = 1.0
        self._update()

    def _update(self) -> None:
        phases = self._phases[self._current :]
        self._estimates = []
        if not phases:
            return
        now = [self._in_phase(self._all[j], phases[0], self._left) for j in self._best(phases[0])]
        middle = median_job(now)
        self._estimates.append(tuple(now))
        for phase in phases[1:]:
            typical = self._in_phase(middle, phase, 1.0)
            self._estimates.append(tuple(replace(typical, label=f"median{k}") for k in range(phase.jobs)))

    def _best(self, phase: HalvingPhase) -> list[int]:
        return sorted(self._ranking[: phase.jobs])

    @staticmethod
    def _in_phase(job: JobInfo, phase: HalvingPhase, left: float) -> JobInfo:
        return replace(job, iterations_remaining=phase.iterations * left, max_gpus=phase.max_gpus)


@dataclass(frozen=True)
class CurveJob:
    """Job of curve stopping.

    Attributes
    ----------
    job : JobInfo
        Job whose iterations end at the latest forecast.
    stops_at : float
        Iteration at which the job is actually stopped, at most the latest forecast.
    """

    job: JobInfo
    stops_at: float

    def __post_init__(self) -> None:
        most = self.job.iterations_remaining
        checks.number(f"job {self.job.label}: stops_at", self.stops_at, above=0, high=most)


class CurveStopping(CurveTuner, SimulatedTuner):
    """Tuner that stops each job once its performance curve has flattened; the app ends with its last job.

    Parameters
    ----------
    jobs : sequence of CurveJob
        Jobs, at least one.
    """

    def __init__(self, jobs: Sequence[CurveJob]) -> None:
        if not jobs:
            raise InputError("jobs must not be empty")
        self._jobs = tuple(jobs)
        self._left = 1.0

    @property
    def budget(self) -> float:
        """GPU time from start to the latest forecasts, in GPU s."""
        return budget_of([[item.job for item in self._jobs]])

    @property
    def most_gpus(self) -> int:
        """Total of the largest numbers of GPUs of all jobs."""
        return sum(item.job.max_gpus for item in self._jobs)

    def jobs_remaining(self, gpus: int) -> Sequence[JobInfo]:
        """Return the running jobs, with the iterations until their latest forecast."""
        checks.integer("gpus", gpus, 0)
        if self._left <= _ALMOST:
            return ()
        done = 1 - self._left
        return [self._with(item.job, item.job.iterations_remaining - done * item.stops_at) for item in self._jobs]

    def truth(self) -> list[Sequence[JobInfo]]:
        """Return the jobs with their actual remaining iterations, as one phase; none at the end."""
        if self._left <= _ALMOST:
            return []
        return [[self._with(item.job, self._left * item.stops_at) for item in self._jobs]]

    def advance(self, part: float) -> None:
        """Advance all jobs by a part of the remaining iterations."""
        self._left *= 1 - _part(part)

    @staticmethod
    def _with(job: JobInfo, iterations: float) -> JobInfo:
        return replace(job, iterations_remaining=iterations)


def _part(part: float) -> float:
    return checks.number("part", part, 0, 1)


def forecast(curves: Sequence[tuple[float, float, float]], target: float, limit: float) -> float:
    r"""Return the latest iteration at which one of several fitted loss curves reaches a target.

    .. math:: l(k) = 1 / (b_0 k + b_1) + b_2 \le \text{target} \iff k \ge (1 / (\text{target} - b_2) - b_1) / b_0

    Since forecasts are uncertain, the latest end is used; curves that never reach the target end at the limit.

    Parameters
    ----------
    curves : sequence of tuple of float
        Coefficients (b0, b1, b2) of each curve, at least 0.
    target : float
        Loss at which a job is stopped.
    limit : float
        Largest number of iterations, at least 1.

    Returns
    -------
    float
        Iteration from 1 to the limit.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, section 4.3; the curve: Peng et al.: Optimus, EuroSys 2018.
    """
    if not curves:
        raise InputError("curves must not be empty")
    checks.number("limit", limit, 1, MOST, "iterations")
    ends = []
    for index, curve in enumerate(curves):
        if len(curve) != 3 or not all(0 <= item < math.inf for item in curve):
            raise InputError(f"curves[{index}] must be three finite numbers >= 0 (got {curve})")
        slope, offset, floor = curve
        if slope == 0 or target <= floor:
            reached = slope == 0 and offset > 0 and 1 / offset + floor <= target
            ends.append(1.0 if reached else limit)
        else:
            ends.append((1 / (target - floor) - offset) / slope)
    return min(limit, max(1.0, *ends))
