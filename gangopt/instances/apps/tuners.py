"""Two reference tuners, successive halving and curve stopping, whose jobs can be advanced without running any."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from gangopt.base.errors import InputError
from gangopt.instances.apps.app import CurveTuner, HalvingTuner, JobInfo, budget_of, median_job
from gangopt.instances.apps.limits import MOST

__all__ = ["CurveJob", "CurveStopping", "HalvingPhase", "SimulatedTuner", "SuccessiveHalving", "forecast", "halvings"]

_ALMOST = 1e-12
"""A part of a phase that is left to do counts as done below this: sums of parts round."""


class SimulatedTuner(Protocol):
    """What a tuner needs beside figure 7 to be advanced in a simulation."""

    @property
    def budget(self) -> float:
        """GPU time from start to end as it was estimated at the start, GPU-s."""

    @property
    def most_gpus(self) -> int:
        """Most GPUs that any phase made use of as it was estimated at the start."""

    def truth(self) -> list[Sequence[JobInfo]]:
        """Return the jobs of every phase that is left as they will truly run, the current phase first."""

    def advance(self, part: float) -> None:
        """Do a part, from 0 to 1, of what is left of the current phase; its jobs advance evenly. 1 ends it."""


@dataclass(frozen=True)
class HalvingPhase:
    """One phase of successive halving.

    Attributes
    ----------
    jobs : int
        How many jobs are left in it.
    iterations : float
        Iterations of each.
    max_gpus : int
        Most GPUs that a job makes use of.
    """

    jobs: int
    iterations: float
    max_gpus: int


def halvings(jobs: int, iterations: float, max_gpus: int = 1) -> tuple[HalvingPhase, ...]:
    """Return the phases of plain successive halving: half of the jobs are kept, each with twice the GPUs.

    Parameters
    ----------
    jobs : int
        At the start.
    iterations : float
        Of every job in every phase.
    max_gpus : int, optional
        Most GPUs of a job at the start.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, section 4.3; Jamieson, Talwalkar 2016.
    """
    if jobs < 1:
        raise InputError(f"halvings: {jobs} jobs, at least 1 is needed")
    phases = []
    while jobs >= 1:
        phases.append(HalvingPhase(jobs, iterations, max_gpus))
        jobs //= 2
        max_gpus *= 2
    return tuple(phases)


class SuccessiveHalving(HalvingTuner, SimulatedTuner):
    """A tuner that runs all jobs for some iterations, keeps the best, and goes on with those.

    Of later phases the median of the current jobs stands in for each survivor.

    Parameters
    ----------
    jobs : sequence of JobInfo
        The jobs of the first phase; iterations and most GPUs come from the phases.
    phases : sequence of HalvingPhase
        As many jobs as there are in the first, never more in a later one.
    ranking : sequence of int or None, optional
        Indices of the jobs from best to worst, which decide who survives; in their order if None.

    Raises
    ------
    InputError
        If the phases do not fit the jobs, or the ranking is no order of them.
    """

    def __init__(
        self, jobs: Sequence[JobInfo], phases: Sequence[HalvingPhase], ranking: Sequence[int] | None = None
    ) -> None:
        if not phases or phases[0].jobs != len(jobs):
            given = phases[0].jobs if phases else 0
            raise InputError(f"phases[0]: {given} jobs, {len(jobs)} are given")
        for index, (phase, before) in enumerate(zip(phases, [phases[0], *phases], strict=False)):
            if not 1 <= phase.jobs <= before.jobs:
                raise InputError(f"phases[{index}]: {phase.jobs} jobs, 1 to {before.jobs} are allowed")
        self._ranking = list(range(len(jobs))) if ranking is None else list(ranking)
        if sorted(self._ranking) != list(range(len(jobs))):
            raise InputError(f"ranking: {self._ranking}, each of 0 to {len(jobs) - 1} is needed once")
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
        """GPU time from start to end as it was estimated at the start, GPU-s."""
        return self._budget

    @property
    def most_gpus(self) -> int:
        """Most GPUs that any phase makes use of."""
        return self._most_gpus

    def num_phases(self) -> int:
        """Return the number of phases that are left, the current one included."""
        return len(self._phases) - self._current

    def jobs_in_phase(self, phase: int, gpus: int) -> Sequence[JobInfo]:
        """Return the jobs of the current phase (0), or the median job in place of each survivor of a later one."""
        if not 0 <= phase < self.num_phases() or gpus < 0:
            raise InputError(f"phase {phase} with {gpus} GPUs, 0 to {self.num_phases() - 1} with 0 or more are allowed")
        return self._estimates[phase]

    def truth(self) -> list[Sequence[JobInfo]]:
        """Return the jobs of every phase that is left, with those that will survive."""
        later = self._phases[self._current + 1 :]
        return [*self._estimates[:1], *([self._in_phase(self._all[j], p, 1.0) for j in self._best(p)] for p in later)]

    def advance(self, part: float) -> None:
        """Do a part of what is left of the current phase; at its end the best jobs are kept."""
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
    """One job of curve stopping.

    Attributes
    ----------
    job : JobInfo
        Time of an iteration, most GPUs, slowdown; its iterations are those until the latest forecast.
    stops_at : float
        The iteration at which it will truly be stopped, up to the latest forecast.
    """

    job: JobInfo
    stops_at: float

    def __post_init__(self) -> None:
        if not 0 < self.stops_at <= self.job.iterations_remaining:
            most = self.job.iterations_remaining
            raise InputError(f"job {self.job.label}: stops at {self.stops_at:g}, above 0 and up to {most:g} is needed")


class CurveStopping(CurveTuner, SimulatedTuner):
    """A tuner that stops each job once its performance curve has flattened; the app ends with its last job.

    Parameters
    ----------
    jobs : sequence of CurveJob
        At least one.
    """

    def __init__(self, jobs: Sequence[CurveJob]) -> None:
        if not jobs:
            raise InputError("jobs: none, at least 1 is needed")
        self._jobs = tuple(jobs)
        self._left = 1.0

    @property
    def budget(self) -> float:
        """GPU time from start to the latest forecasts, GPU-s."""
        return budget_of([[item.job for item in self._jobs]])

    @property
    def most_gpus(self) -> int:
        """Most GPUs of all jobs together."""
        return sum(item.job.max_gpus for item in self._jobs)

    def jobs_remaining(self, gpus: int) -> Sequence[JobInfo]:
        """Return the jobs that still run, with the iterations until their latest forecast."""
        if gpus < 0:
            raise InputError(f"{gpus} GPUs, 0 or more are allowed")
        if self._left <= _ALMOST:
            return ()
        done = 1 - self._left
        return [self._with(item.job, item.job.iterations_remaining - done * item.stops_at) for item in self._jobs]

    def truth(self) -> list[Sequence[JobInfo]]:
        """Return the jobs with the iterations that they will truly run, as one phase; none at the end."""
        if self._left <= _ALMOST:
            return []
        return [[self._with(item.job, self._left * item.stops_at) for item in self._jobs]]

    def advance(self, part: float) -> None:
        """Do a part of what all jobs still run."""
        self._left *= 1 - _part(part)

    @staticmethod
    def _with(job: JobInfo, iterations: float) -> JobInfo:
        return replace(job, iterations_remaining=iterations)


def _part(part: float) -> float:
    if not 0 <= part <= 1:
        raise InputError(f"part {part:g} of a phase, 0 to 1 is allowed")
    return part


def forecast(curves: Sequence[tuple[float, float, float]], target: float, limit: float) -> float:
    r"""Return the latest iteration at which any of several fitted loss curves comes down to a target.

    .. math:: l(k) = 1 / (b_0 k + b_1) + b_2 \le \text{target} \iff k \ge (1 / (\text{target} - b_2) - b_1) / b_0

    Forecasts are uncertain, so a job is taken to run as long as the one with the latest end says; a curve that never
    comes down to the target runs to the limit.

    Parameters
    ----------
    curves : sequence of tuple of float
        (b0, b1, b2) of each curve, at least 0.
    target : float
        Loss at which the job is stopped.
    limit : float
        Most iterations, at least 1.

    Returns
    -------
    float
        From 1 to the limit.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, section 4.3; the curve: Peng et al.: Optimus, EuroSys 2018.
    """
    if not curves:
        raise InputError("curves: none, at least 1 is needed")
    if not 1 <= limit <= MOST:
        raise InputError(f"limit: {limit:g} iterations, 1 to {MOST:g} is allowed")
    ends = []
    for index, curve in enumerate(curves):
        if len(curve) != 3 or not all(0 <= item < math.inf for item in curve):
            raise InputError(f"curves[{index}]: {curve}, three finite numbers from 0 are needed")
        slope, offset, floor = curve
        if slope == 0 or target <= floor:
            reached = slope == 0 and offset > 0 and 1 / offset + floor <= target
            ends.append(1.0 if reached else limit)
        else:
            ends.append((1 / (target - floor) - offset) / slope)
    return min(limit, max(1.0, *ends))
