"""Methods of `time_share`."""

from __future__ import annotations

import numpy as np

from gangopt.base.errors import InputError
from gangopt.solvers.core.contract import Controls, Outcome
from gangopt_gavel.instance import TimeShareInstance, TimeShareSolution

__all__ = ["exact", "greedy", "isolated"]

MAX_SLICES = 10_000


def exact(instance: TimeShareInstance, controls: Controls) -> Outcome:
    """Solve formulation `rates` to proven optimality.

    Parameters
    ----------
    instance : TimeShareInstance
        Jobs and GPU types.
    controls : Controls
        Settings of the call.

    Returns
    -------
    Outcome
    """
    from gangopt.solvers.core.by_form import solve_by_form
    from gangopt_gavel.records import PROBLEM

    return solve_by_form(PROBLEM, instance, controls)


def isolated(instance: TimeShareInstance) -> TimeShareSolution:
    """Give each of the n jobs 1/n of every GPU type, scaled down to its own time.

    Parameters
    ----------
    instance : TimeShareInstance
        Jobs and GPU types.

    Returns
    -------
    TimeShareSolution
        GPU time that a job cannot use stays idle.
    """
    shares = instance.gpus / (len(instance.jobs) * instance.scale[:, None]) * np.ones_like(instance.throughput)
    shares /= np.maximum(1.0, shares.sum(axis=1, keepdims=True))
    return TimeShareSolution.of(np.where(instance.usable, shares, 0.0))


def greedy(instance: TimeShareInstance, slices: int = 100) -> TimeShareSolution:
    """Give the next slice of time to the job with the least ratio, on its fastest type with free GPUs.

    Parameters
    ----------
    instance : TimeShareInstance
        Jobs and GPU types.
    slices : int
        Number of slices of the time of a job.

    Returns
    -------
    TimeShareSolution

    Raises
    ------
    InputError
        If the number of slices is out of range.
    """
    if not 1 <= slices <= MAX_SLICES:
        raise InputError(f"slices must be 1 to {MAX_SLICES} (got {slices})")
    n, _ = instance.throughput.shape
    counts = np.zeros(instance.throughput.shape, dtype=np.int64)
    room = instance.gpus * slices
    open_jobs = set(range(n))
    while open_jobs:
        ratios = instance.ratios(counts / slices)
        j = min(open_jobs, key=lambda job: (ratios[job], job))
        fitting = np.flatnonzero(instance.usable[j] & (room >= instance.scale[j]))
        if counts[j].sum() == slices or not fitting.size:
            open_jobs.remove(j)
            continue
        t = max(fitting.tolist(), key=lambda kind: (instance.throughput[j, kind], -kind))
        counts[j, t] += 1
        room[t] -= instance.scale[j]
    return TimeShareSolution.of(counts / slices)
