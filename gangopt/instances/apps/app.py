"""Machine-learning apps as THEMIS's agents see them: the tuner's side of the interface, and finish-time fairness."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gangopt.base.errors import InputError
from gangopt.instances.apps.limits import MAX_GPUS, MOST
from gangopt.instances.finish_time import ideal_seconds
from gangopt.topology import PRIORS, Slowdown

__all__ = [
    "CurveTuner",
    "HalvingTuner",
    "JobInfo",
    "average_apps",
    "budget_of",
    "median_job",
    "remaining_phases",
    "rho_of_jobs",
    "rho_of_single_job",
]


@dataclass(frozen=True)
class JobInfo:
    """What a tuner tells of one job.

    Attributes
    ----------
    label : str
        Name of the job, unlike every other of its phase.
    iterations_remaining : float
        Iterations left in the phase, above 0.
    seconds_per_iteration : float
        Time of one iteration on one GPU, s, above 0.
    max_gpus : int
        Most GPUs that the job makes use of.
    locality_sensitivity : Slowdown
        Slowdown by locality.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, figure 7.
    """

    label: str
    iterations_remaining: float
    seconds_per_iteration: float
    max_gpus: int = 1
    locality_sensitivity: Slowdown = PRIORS

    def __post_init__(self) -> None:
        for name in ("iterations_remaining", "seconds_per_iteration"):
            number = getattr(self, name)
            if not 0 < number <= MOST:
                raise InputError(f"job {self.label}: {name} {number:g}, above 0 and up to {MOST:g} is needed")
        if not 1 <= self.max_gpus <= MAX_GPUS:
            raise InputError(f"job {self.label}: max_gpus {self.max_gpus}, 1 to {MAX_GPUS} is needed")

    @property
    def work(self) -> float:
        """Time of all its iterations on one GPU, s."""
        return self.iterations_remaining * self.seconds_per_iteration


@runtime_checkable
class HalvingTuner(Protocol):
    """A tuner that goes through phases and keeps the better jobs of each, as Hyperband does.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, figure 7: getNumPhases, getJobsInPhase.
    """

    def num_phases(self) -> int:
        """Return the number of phases that are left, the current one included; 0 if the app has finished."""

    def jobs_in_phase(self, phase: int, gpus: int) -> Sequence[JobInfo]:
        """Return the jobs of a phase if the app had a number of GPUs.

        Parameters
        ----------
        phase : int
            0 is the current phase; of later ones the jobs are estimates, since survivors are not known.
        gpus : int
            GPUs of the app.
        """


@runtime_checkable
class CurveTuner(Protocol):
    """A tuner that stops jobs by the forecast of their performance curve, as Hyperdrive does.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, figure 7: getJobsRemaining.
    """

    def jobs_remaining(self, gpus: int) -> Sequence[JobInfo]:
        """Return the jobs that still run if the app had a number of GPUs, with the most iterations forecast for each.

        Parameters
        ----------
        gpus : int
            GPUs of the app.

        Returns
        -------
        sequence of JobInfo
            Empty if the app has finished.
        """


def remaining_phases(tuner: HalvingTuner | CurveTuner, gpus: int) -> list[Sequence[JobInfo]]:
    """Return the jobs of every phase that is left; an app of curve stopping has one phase, to its last job.

    Parameters
    ----------
    tuner : HalvingTuner or CurveTuner
        The app's tuner.
    gpus : int
        GPUs that the app would have.

    Returns
    -------
    list of sequence of JobInfo
        Empty if the app has finished.
    """
    if isinstance(tuner, HalvingTuner):
        return [tuner.jobs_in_phase(phase, gpus) for phase in range(tuner.num_phases())]
    jobs = tuner.jobs_remaining(gpus)
    return [jobs] if jobs else []


def median_job(jobs: Sequence[JobInfo]) -> JobInfo:
    """Return the median job by time of an iteration, the slower one of two in the middle (ties: the later one).

    Parameters
    ----------
    jobs : sequence of JobInfo
        At least one.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, section 4.3: survivors of later phases are not known, the median job stands in.
    """
    return sorted(jobs, key=lambda job: job.seconds_per_iteration)[len(jobs) // 2]


def budget_of(phases: Sequence[Sequence[JobInfo]]) -> float:
    """Return the GPU time of all jobs of all phases on one GPU each, GPU-s."""
    return math.fsum(job.work for jobs in phases for job in jobs)


def average_apps(stays: Iterable[tuple[float, float]], start: float, end: float) -> float:
    r"""Return the time-weighted number of apps present over an app's stay.

    .. math:: N_{avg} = \frac{1}{b - a} \sum_i \max(0, \min(b, b_i) - \max(a, a_i))

    Parameters
    ----------
    stays : iterable of tuple of float
        (a_i, b_i), arrival and departure of every app, its own included, s; infinite for an app still present.
    start, end : float
        A and b, s; where they are equal, the apps present at that time count.

    Raises
    ------
    InputError
        If an end is before its start.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, equation 1.
    """
    if not start <= end:
        raise InputError(f"from {start:g} to {end:g} s, the end may not be before the start")
    parts = []
    for index, (arrival, departure) in enumerate(stays):
        if not arrival <= departure:
            raise InputError(
                f"stays[{index}]: from {arrival:g} to {departure:g} s, the end may not be before the start"
            )
        parts.append(
            max(0.0, min(end, departure) - max(start, arrival)) if start < end else arrival <= start < departure
        )
    return math.fsum(parts) / (end - start) if start < end else float(sum(parts))


def rho_of_single_job(
    job: JobInfo, *, gpus: int, level: str, elapsed: float, iterations: float, cluster_gpus: int, average_apps: float
) -> float:
    r"""Return the finish-time fairness of an app of one job.

    .. math:: \rho(G) = \frac{\text{elapsed} + \text{iterations left} \cdot t S(G) / \min(|G|, d)}
        {N_{avg} \cdot \text{iterations} \cdot t / \min(R_C, d)}

    Parameters
    ----------
    job : JobInfo
        The job, with its iterations left, t and d.
    gpus : int
        GPUs of the allocation; 0 gives infinity.
    level : str
        Narrowest level that holds them.
    elapsed : float
        Time since the app's start, s.
    iterations : float
        Iterations from start to end.
    cluster_gpus : int
        R_C.
    average_apps : float
        N_avg.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, equation 1.
    """
    if gpus == 0:
        return math.inf
    slowdown = job.locality_sensitivity.at("slot" if min(gpus, job.max_gpus) == 1 else level)
    shared = elapsed + job.work * slowdown / min(gpus, job.max_gpus)
    return shared / ideal_seconds(iterations * job.seconds_per_iteration, cluster_gpus, job.max_gpus, average_apps)


def rho_of_jobs(lengths: Sequence[float], elapsed: float, ideal: float) -> float:
    r"""Return the finish-time fairness of an app of several jobs.

    .. math:: \rho = (\text{elapsed} + \sum_i \max_j T(G_{ij})) / T_{id}

    Parameters
    ----------
    lengths : sequence of float
        Length of every phase that is left, that of its last job, s.
    elapsed : float
        Time since the app's start, s.
    ideal : float
        T_id, s.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, equation 2.
    """
    return math.fsum((elapsed, *lengths)) / ideal
