"""Machine-learning apps of THEMIS: the interface of tuners, and finish-time fairness."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gangopt.base import checks
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
    """Job as reported by a tuner.

    Attributes
    ----------
    label : str
        Name of the job, unique within its phase.
    iterations_remaining : float
        Remaining iterations in the phase, > 0.
    seconds_per_iteration : float
        Time of one iteration on one GPU in s, > 0.
    max_gpus : int
        Largest number of GPUs that the job can use.
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
            checks.number(f"job {self.label}: {name}", getattr(self, name), above=0, high=MOST)
        checks.integer(f"job {self.label}: max_gpus", self.max_gpus, 1, MAX_GPUS)

    @property
    def work(self) -> float:
        """Time of all remaining iterations on one GPU, in s."""
        return self.iterations_remaining * self.seconds_per_iteration


@runtime_checkable
class HalvingTuner(Protocol):
    """Tuner with phases that keeps the best jobs of each, e.g. Hyperband.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, figure 7: getNumPhases, getJobsInPhase.
    """

    def num_phases(self) -> int:
        """Return the number of remaining phases including the current one; 0 if the app has finished."""

    def jobs_in_phase(self, phase: int, gpus: int) -> Sequence[JobInfo]:
        """Return the jobs of a phase for a number of GPUs.

        Parameters
        ----------
        phase : int
            Phase, 0 for the current one; jobs of later ones are estimates, since survivors are not known.
        gpus : int
            Number of GPUs of the app.
        """


@runtime_checkable
class CurveTuner(Protocol):
    """Tuner that stops jobs by forecasts of their performance curves, e.g. Hyperdrive.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, figure 7: getJobsRemaining.
    """

    def jobs_remaining(self, gpus: int) -> Sequence[JobInfo]:
        """Return the remaining jobs for a number of GPUs, with the largest forecast of iterations for each.

        Parameters
        ----------
        gpus : int
            Number of GPUs of the app.

        Returns
        -------
        sequence of JobInfo
            Empty if the app has finished.
        """


def remaining_phases(tuner: HalvingTuner | CurveTuner, gpus: int) -> list[Sequence[JobInfo]]:
    """Return the jobs of every remaining phase; apps with curve stopping have a single phase.

    Parameters
    ----------
    tuner : HalvingTuner or CurveTuner
        The app's tuner.
    gpus : int
        Number of GPUs of the app.

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
    """Return the median job by time of an iteration, the slower one of two (ties: the later one).

    Parameters
    ----------
    jobs : sequence of JobInfo
        At least one.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, section 4.3, where the median job replaces unknown survivors.
    """
    return sorted(jobs, key=lambda job: job.seconds_per_iteration)[len(jobs) // 2]


def budget_of(phases: Sequence[Sequence[JobInfo]]) -> float:
    """Return the GPU time of all jobs of all phases on one GPU each, in GPU s."""
    return math.fsum(job.work for jobs in phases for job in jobs)


def average_apps(stays: Iterable[tuple[float, float]], start: float, end: float) -> float:
    r"""Return the time-weighted number of apps present over an app's stay.

    .. math:: N_{avg} = \frac{1}{b - a} \sum_i \max(0, \min(b, b_i) - \max(a, a_i))

    Parameters
    ----------
    stays : iterable of tuple of float
        Arrival a_i and departure b_i of every app, including this one, in s; infinite if it is still present.
    start, end : float
        Stay from a to b in s; if they are equal, the number of apps present at that time is returned.

    Raises
    ------
    InputError
        If an end is before its start.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, equation 1.
    """
    if not start <= end:
        raise InputError(f"end must be >= start={start:g} s (got {end:g})")
    parts = []
    for index, (arrival, departure) in enumerate(stays):
        if not arrival <= departure:
            raise InputError(f"stays[{index}]: departure must be >= arrival {arrival:g} s (got {departure:g})")
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
        Job with its remaining iterations, t and d.
    gpus : int
        Number of GPUs of the allocation; 0 gives infinity.
    level : str
        Narrowest topology level that contains them.
    elapsed : float
        Time since the start of the app in s.
    iterations : float
        Iterations from start to end.
    cluster_gpus : int
        Number of GPUs of the cluster R_C.
    average_apps : float
        Time-weighted number of apps N_avg.

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
        Length of every remaining phase, i.e. of its last job, in s.
    elapsed : float
        Time since the start of the app in s.
    ideal : float
        Ideal time T_id in s.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, equation 2.
    """
    return math.fsum((elapsed, *lengths)) / ideal
