"""The best proven lower bound on the mean completion time that any scheduler of rigid gangs could reach."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gangopt.base.errors import InputError
from gangopt.base.types import Floats
from gangopt.solvers.bounds.ascent import Best, Dual, smooth_ascent, supergradient_ascent
from gangopt.solvers.bounds.completion import Completion
from gangopt.solvers.bounds.job_prices import JobPrices
from gangopt.solvers.bounds.jobs import GangJobs, gang_jobs
from gangopt.solvers.bounds.mean_busy import MeanBusy
from gangopt.solvers.bounds.prices import Grid, finest_grid, first_prices
from gangopt.solvers.bounds.single_machine import (
    durations,
    exclusive,
    fluid_completions,
    mean_busy,
    shortest_remaining,
)

if TYPE_CHECKING:
    from gangopt.instances.workload.workload import Workload

__all__ = ["BOUNDS", "JctBound", "jct_bound", "workload_jct_bound"]

BOUNDS: Mapping[str, str] = MappingProxyType(
    {
        "durations": "every job runs as soon as it arrives",
        "squashed_area": "shortest remaining time first on one machine as fast as all GPUs together",
        "static_mean_busy": "smallest service first on that machine, by mean busy times",
        "exclusive_jobs": "the two before, with loads that account for gangs excluding each other",
        "mean_busy_prices": "prices of GPU seconds; jobs pay for their mean running time",
        "completion_prices": "prices of GPU seconds; jobs pay for their completion",
        "job_prices": "separate prices for each job; jobs that run together pay at most the dearest gangs that fit",
    }
)
"""Description of every bound by name, from the weakest to the strongest."""

_FINEST = 640
_ENOUGH = 1e-9
"""Relative difference within which a bound counts as attained."""
"""Intervals of the finest grid."""

_JOB_INTERVALS = (128, 64)
"""Numbers of intervals tried for job prices, the finest first."""

_JOB_OPERATIONS = 600_000
"""Maximum jobs times intervals squared, and jobs times intervals times GPUs."""

_JOB_STEPS = 250


@dataclass(frozen=True)
class JctBound:
    """A proven lower bound on the mean completion time.

    Attributes
    ----------
    mean : float
        Seconds; no schedule has a smaller sum_j v_j (C_j - r_j) / sum_j v_j.
    name : str
        The bound that proves it, one of `BOUNDS`.
    bounds : mapping of str to float
        Mean in s of every bound that was computed, each one proven, by name.
    jobs : int
        Number of jobs.
    seconds : float
        Wall time of the computation.
    """

    mean: float
    name: str
    bounds: Mapping[str, float]
    jobs: int
    seconds: float

    def gap(self, mean: float) -> float:
        """Return by how much a mean completion time exceeds the bound, relative to the bound.

        Parameters
        ----------
        mean : float
            Mean completion time of a schedule of the same jobs and weights, s.
        """
        return (mean - self.mean) / self.mean


@dataclass(frozen=True)
class _Effort:
    """Grids and numbers of steps: (intervals, iterations) of the smooth dual, then of the completion form."""

    smooth: tuple[tuple[int, int], ...]
    sharp: tuple[tuple[int, int], ...]


def _effort(n: int, n_gpus: float) -> _Effort:
    # the prices of single jobs tighten the bound further
    if n <= 30 and n_gpus <= 256:
        return _Effort(((40, 40),), ((160, 40),))
    if n <= 200:
        return _Effort(((40, 60), (80, 60)), ((160, 80), (320, 60)))
    if n <= 4000:
        return _Effort(((40, 60), (80, 60), (160, 60)), ((160, 80), (320, 150), (640, 100)))
    if n <= 20_000:
        return _Effort(((40, 60), (80, 40)), ((160, 80), (320, 100)))
    return _Effort(((40, 30), (80, 15)), ((160, 100), (320, 80)))


def jct_bound(
    arrival: npt.ArrayLike,
    gpus: npt.ArrayLike,
    duration: npt.ArrayLike,
    n_gpus: int,
    *,
    weight: npt.ArrayLike | None = None,
    time_limit: float | None = None,
    attained: float | None = None,
) -> JctBound:
    r"""Return a lower bound on :math:`\sum_j v_j (C_j - r_j) / \sum_j v_j` over all schedules of gangs.

    The bound holds for every policy that runs job j on exactly W_j GPUs of its own, stops and resumes it at will, and
    lets it progress at most as fast as on these GPUs: overheads, slow places, leases and machine boundaries only add
    time. It does not hold for policies that change a job's number of GPUs, share GPUs, or end jobs early.

    Parameters
    ----------
    arrival : array_like
        Arrival times r, s, shape (jobs,).
    gpus : array_like
        Gang sizes W, integers from 1 to `n_gpus`, shape (jobs,).
    duration : array_like
        Running times d on W GPUs at the fastest place, s, > 0, shape (jobs,).
    n_gpus : int
        GPUs of the cluster.
    weight : array_like or None, optional
        Weights v >= 0, shape (jobs,); None means 1 for all.
    time_limit : float or None, optional
        Wall seconds after which the best bound so far is returned; None runs a fixed number of steps, so that the
        bound is the same in every run.
    attained : float or None, optional
        Mean of a known schedule, s; the search stops once a bound reaches it. None tries every bound.

    Raises
    ------
    InputError
        If an argument is out of range; the message names job and value.
    """
    begin = time.perf_counter()
    jobs = gang_jobs(arrival, gpus, duration, n_gpus, weight)
    if time_limit is not None and not time_limit >= 0:
        raise InputError(f"time_limit must be >= 0 seconds (got {time_limit})")

    def expired() -> bool:
        return time_limit is not None and time.perf_counter() - begin >= time_limit

    sums = {"durations": durations(jobs)}
    if _ever_full(jobs):
        if jobs.unweighted:
            sums["squashed_area"] = shortest_remaining(jobs)
        sums["static_mean_busy"] = mean_busy(jobs)
        sums["exclusive_jobs"] = exclusive(jobs)
        enough = math.inf if attained is None else attained * float(jobs.weight.sum()) * (1 - _ENOUGH)
        if max(sums.values()) < enough:
            sums |= _by_prices(jobs, expired, enough)
    total = float(jobs.weight.sum())
    means = {name: value / total * (1 - 1e-15 * len(jobs)) for name, value in sums.items()}
    name = max(means, key=lambda item: means[item])
    return JctBound(means[name], name, MappingProxyType(means), len(jobs), time.perf_counter() - begin)


def workload_jct_bound(
    workload: Workload,
    n_gpus: int,
    *,
    weight: npt.ArrayLike | None = None,
    time_limit: float | None = None,
    attained: float | None = None,
) -> JctBound:
    """Return `jct_bound` of the jobs of a workload.

    Jobs that wait for an earlier phase of their app are treated as free to start at their arrival, which is valid.

    Parameters
    ----------
    workload : Workload
        Every job with a duration.
    n_gpus : int
        GPUs of the cluster.
    weight, time_limit, attained : array_like or None or float or None, optional
        As in `jct_bound`.

    Raises
    ------
    InputError
        If a job has no duration or a larger gang than the cluster.
    """
    workload.require("duration")
    return jct_bound(
        workload.arrival,
        workload.gpus,
        workload.duration,
        n_gpus,
        weight=weight,
        time_limit=time_limit,
        attained=attained,
    )


def _ever_full(jobs: GangJobs) -> bool:
    """Return whether some gang would have to wait if all ran at their arrival; otherwise `durations` is the optimum."""
    times = np.concatenate([jobs.arrival + jobs.duration, jobs.arrival])
    steps = np.concatenate([-jobs.gpus, jobs.gpus])
    # ends before arrivals at equal times
    held = np.cumsum(steps[np.argsort(times, kind="stable")])
    return bool((held > jobs.n_gpus).any())


def _by_prices(jobs: GangJobs, expired: Callable[[], bool], enough: float) -> dict[str, float]:
    """Return the bounds on the sum that prices prove, each from the best prices before, until one is enough."""
    completions = fluid_completions(jobs)
    points = finest_grid(jobs, completions, _FINEST)
    effort = _effort(len(jobs), jobs.n_gpus)
    bounds: dict[str, float] = {}
    unit = 0.05 * float(jobs.weight.mean()) / jobs.n_gpus
    grid: Grid | None = None
    prices: Floats | None = None
    plan: list[tuple[str, Callable[[GangJobs, Grid], Dual], Callable[..., None], int, int]] = [
        *(("mean_busy_prices", MeanBusy, smooth_ascent, *item) for item in effort.smooth),
        *(("completion_prices", Completion, supergradient_ascent, *item) for item in effort.sharp),
    ]
    for name, dual_of, ascent, intervals, steps in plan:
        finer = _coarsened(jobs, points, intervals)
        prices = first_prices(jobs, completions, finer) if grid is None or prices is None else grid.onto(prices, finer)
        grid, dual = finer, dual_of(jobs, finer)
        best = Best(prices)
        value, _, size = dual.value(prices)
        best.offer(prices, value, size)
        scale = prices + 0.05 * float(prices.mean()) + unit
        if dual_of is Completion:
            scale = np.sqrt(scale / finer.length[:-1])
        ascent(dual, best, steps, scale, expired)
        prices = best.prices
        bounds[name] = max(best.bound, bounds.get(name, -np.inf))
        if expired() or bounds[name] >= enough:
            return bounds
    if grid is not None and prices is not None:
        found = _by_job_prices(jobs, points, grid, prices, unit, expired)
        if found is not None:
            bounds["job_prices"] = found
    return bounds


def _by_job_prices(
    jobs: GangJobs, points: Floats, grid: Grid, prices: Floats, unit: float, expired: Callable[[], bool]
) -> float | None:
    """Return the bound on the sum that prices of single jobs prove, or None where that would take too long."""
    n = len(jobs)
    for intervals in _JOB_INTERVALS:
        if n * intervals**2 <= _JOB_OPERATIONS and n * intervals * jobs.n_gpus <= _JOB_OPERATIONS:
            break
    else:
        return None
    coarse = _coarsened(jobs, points, intervals).points[:-1]
    arrivals = np.unique(jobs.arrival) if n <= intervals else jobs.arrival[:0]
    own = Grid.of(np.unique(np.concatenate([coarse, arrivals])), jobs)
    start = (jobs.gpus[:, None] * grid.onto(prices, own)[None, :]).ravel()
    dual, best = JobPrices(jobs, own), Best(start)
    value, _, size = dual.value(start)
    best.offer(start, value, size)
    scale = np.full(len(start), float(start.mean()) + unit)
    supergradient_ascent(dual, best, _JOB_STEPS, scale, expired, ahead=0.1, memory=0.7)
    return best.bound


def _coarsened(jobs: GangJobs, points: Floats, intervals: int) -> Grid:
    step = max(1, _FINEST // intervals)
    priced = points[::step]
    return Grid.of(priced if priced[-1] == points[-1] else np.append(priced, points[-1]), jobs)
