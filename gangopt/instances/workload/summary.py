"""Summary of a workload: arrivals, sizes, durations, demand over time, and the four bins of Tiresias's table 3."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.types import Floats, Ints
from gangopt.instances.workload.signs import censored_jobs

if TYPE_CHECKING:
    from gangopt.instances.workload.workload import Workload

__all__ = ["BIN_BOUNDS", "BIN_NAMES", "Bin", "Size", "Summary", "bin_of", "demand", "earliest_starts", "summarise"]


BIN_NAMES = ("SS", "SL", "LS", "LL")
"""Bins of jobs: small and short, small and long, large and short, large and long."""

BIN_BOUNDS = ((8, 14_400.0), (4, 800.0))
"""Largest number of GPUs of a small job and smallest duration in s of a long one, in the trace and in the testbed."""

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class Bin:
    """Jobs in a bin: their number, and their share of all jobs and of all GPU seconds."""

    name: str
    jobs: int
    share: float
    gpu_share: float


@dataclass(frozen=True)
class Size:
    """Jobs with the same number of GPUs: their number, and their GPU hours (None if no duration is known)."""

    gpus: int
    jobs: int
    gpu_hours: float | None


@dataclass(frozen=True)
class Summary:
    """Summary of a workload; times in s, None if unknown.

    Attributes
    ----------
    jobs, apps, users, vcs, models : int
        Numbers of distinct values, 0 if unknown.
    gpus : int
        Total number of GPUs of all jobs.
    known_durations : int
        Number of jobs with known durations, the only ones in durations, GPU hours, demand and bins.
    censored : int
        Number of jobs whose duration is a lower limit.
    first_arrival, last_arrival, mean_gap : float or None
        Arrivals and mean time between them in s.
    duration_quantiles : tuple of float or None
        Minimum, 25 %, median, 75 %, 95 % and maximum of the durations in s.
    mean_duration, gpu_hours : float or None
        Mean duration in s, and total GPU hours.
    peak_demand : int or None
        Largest number of GPUs in use if every job started on arrival.
    mean_demand : float or None
        GPU seconds divided by the time from the first to the last arrival, in GPUs.
    sizes : tuple of Size
        Jobs by number of GPUs.
    bins : tuple of tuple of Bin
        For each of `BIN_BOUNDS`, the four bins.
    """

    name: str
    description: str
    source: str
    jobs: int
    apps: int
    users: int
    vcs: int
    models: int
    gpus: int
    known_durations: int
    censored: int
    first_arrival: float | None
    last_arrival: float | None
    mean_gap: float | None
    duration_quantiles: tuple[float, ...] | None
    mean_duration: float | None
    gpu_hours: float | None
    peak_demand: int | None
    mean_demand: float | None
    sizes: tuple[Size, ...]
    bins: tuple[tuple[Bin, ...], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the summary for JSON, with the bounds of the bins."""
        record = asdict(self)
        record["bins"] = [
            {"most_gpus": gpus, "long_from": seconds, "bins": [asdict(item) for item in four]}
            for (gpus, seconds), four in zip(BIN_BOUNDS, self.bins, strict=True)
        ]
        return record


def summarise(workload: Workload) -> Summary:
    """Summarise a workload."""
    known = np.isfinite(workload.duration)
    arrival, duration = workload.arrival, workload.duration[known]
    seconds = float(workload.gpu_seconds[known].sum())
    span = float(arrival[-1] - arrival[0]) if len(workload) else 0.0
    distinct = {name: workload.frame[name].drop_nulls().n_unique() for name in ("app", "user", "vc", "model")}
    quantiles = tuple(float(value) for value in np.quantile(duration, QUANTILES)) if known.any() else None
    return Summary(
        name=workload.name,
        description=workload.description,
        source=workload.source,
        jobs=len(workload),
        apps=distinct["app"],
        users=distinct["user"],
        vcs=distinct["vc"],
        models=distinct["model"],
        gpus=int(workload.gpus.sum()),
        known_durations=int(known.sum()),
        censored=int(censored_jobs(workload.frame).sum()),
        first_arrival=float(arrival[0]) if len(workload) else None,
        last_arrival=float(arrival[-1]) if len(workload) else None,
        mean_gap=span / (len(workload) - 1) if len(workload) > 1 else None,
        duration_quantiles=quantiles,
        mean_duration=float(duration.mean()) if known.any() else None,
        gpu_hours=seconds / 3600 if known.any() else None,
        peak_demand=int(demand(workload)[1].max()) if known.any() else None,
        mean_demand=seconds / span if known.any() and span > 0 else None,
        sizes=_sizes(workload),
        bins=tuple(_bins(workload, gpus, limit) for gpus, limit in BIN_BOUNDS),
    )


def bin_of(gpus: Ints, duration: Floats, most_gpus: int = 8, long_from: float = 14_400.0) -> Ints:
    """Return the index into `BIN_NAMES` of every job.

    Parameters
    ----------
    gpus : ndarray of int
        GPUs of each job.
    duration : ndarray of float
        Finite durations in s.
    most_gpus : int, optional
        Largest number of GPUs of a small job.
    long_from : float, optional
        Smallest duration of a long job in s.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, table 3.
    """
    return np.asarray(2 * (gpus > most_gpus) + (duration >= long_from), dtype=np.int64)


def _bins(workload: Workload, most_gpus: int, long_from: float) -> tuple[Bin, ...]:
    known = np.isfinite(workload.duration)
    if not known.any():
        return ()
    index = bin_of(workload.gpus[known], workload.duration[known], most_gpus, long_from)
    jobs = np.bincount(index, minlength=4)
    work = np.bincount(index, workload.gpu_seconds[known], minlength=4)
    return tuple(
        Bin(name, int(count), float(count / jobs.sum()), float(part / work.sum()))
        for name, count, part in zip(BIN_NAMES, jobs, work, strict=True)
    )


def _sizes(workload: Workload) -> tuple[Size, ...]:
    values, place = np.unique(workload.gpus, return_inverse=True)
    jobs = np.bincount(place, minlength=len(values))
    known = np.isfinite(workload.duration)
    hours = np.bincount(place[known], workload.gpu_seconds[known] / 3600, minlength=len(values))
    told = np.bincount(place[known], minlength=len(values))
    return tuple(
        Size(int(value), int(count), float(part) if some else None)
        for value, count, part, some in zip(values, jobs, hours, told, strict=True)
    )


def earliest_starts(workload: Workload) -> Floats:
    """Return the start of each job in s if GPUs were unlimited: its arrival, or the end of the app's earlier phases.

    NaN if it depends on a job of unknown duration.
    """
    start = workload.arrival.copy()
    phases = workload.numbers("phase")
    groups: dict[tuple[str, float], list[int]] = {}
    for job in np.flatnonzero(np.isfinite(phases)).tolist():
        groups.setdefault((str(workload.frame["app"][job]), float(phases[job])), []).append(job)
    free: dict[str, float] = {}
    for (app, _), jobs in sorted(groups.items()):
        start[jobs] = np.maximum(start[jobs], free.get(app, -np.inf))
        free[app] = max(free.get(app, -np.inf), float(np.max(start[jobs] + workload.duration[jobs])))
    return start


def demand(workload: Workload) -> tuple[Floats, Ints]:
    """Return times, and the numbers of GPUs in use from then on, if every job started as early as possible.

    Jobs of unknown duration are ignored.
    """
    start = earliest_starts(workload)
    end = start + workload.duration
    known = np.isfinite(end)
    times = np.concatenate((start[known], end[known]))
    steps = np.concatenate((workload.gpus[known], -workload.gpus[known]))
    moments, place = np.unique(times, return_inverse=True)
    change = np.bincount(place, steps, minlength=len(moments))
    return moments, np.round(np.cumsum(change)).astype(np.int64)
