"""Finish-time fairness of a replay, after the fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gangopt.solvers.replay.records import Floats

if TYPE_CHECKING:
    from gangopt.instances.workload import Workload

__all__ = ["average_presence", "finish_time_fairness", "jain"]


def average_presence(arrival: Floats, end: Floats) -> Floats:
    r"""Return the time-weighted average number of apps present over the life of each app.

    .. math:: N_i = \frac{1}{e_i - r_i} \int_{r_i}^{e_i} |\{k : r_k \le t < e_k\}| \, dt

    Parameters
    ----------
    arrival, end : s, shape (apps,)

    Returns
    -------
    ndarray
        Shape (apps,), at least 1.
    """
    times = np.concatenate([arrival, end])
    steps = np.concatenate([np.ones(len(arrival)), -np.ones(len(end))])
    order = np.argsort(times, kind="stable")
    times, present = times[order], np.cumsum(steps[order])
    area = np.concatenate([[0.0], np.cumsum(present[:-1] * np.diff(times))])
    life = end - arrival
    inside = np.interp(end, times, area) - np.interp(arrival, times, area)
    return np.asarray(np.divide(inside, life, out=np.ones(len(life)), where=life > 0))


def finish_time_fairness(workload: Workload, end: Floats, n_gpus: int) -> Floats:
    r"""Return rho of every app: its time in the shared cluster against that in an exclusive share.

    .. math:: \rho = \frac{T_{sh}}{T_{cluster} N_{avg}}

    T_cluster is the running time of the app with the whole cluster for itself: the sum over its phases of the longest
    job of each phase, but not less than its GPU seconds over the GPUs of the cluster. A job without an app is one.

    Parameters
    ----------
    workload : the jobs
    end : s, when each job ended
    n_gpus : GPUs of the cluster

    Returns
    -------
    ndarray
        Shape (apps,), apps in order of their first job.

    References
    ----------
    THEMIS (NSDI 2020), equations 1 and 2.
    """
    names = [app if app is not None else f"\0{job}" for job, app in enumerate(workload.texts("app"))]
    index: dict[str, int] = {}
    member = np.array([index.setdefault(name, len(index)) for name in names], dtype=np.int64)
    arrival, last = np.full(len(index), np.inf), np.full(len(index), -np.inf)
    np.minimum.at(arrival, member, workload.arrival)
    np.maximum.at(last, member, end)
    alone = _alone(workload, member, len(index), n_gpus)
    return np.asarray((last - arrival) / (alone * average_presence(arrival, last)))


def _alone(workload: Workload, member: np.ndarray, n_apps: int, n_gpus: int) -> Floats:
    """Return T_cluster of every app in s."""
    phase = np.nan_to_num(workload.numbers("phase"), nan=0.0)
    longest: dict[tuple[int, float], float] = {}
    for app, number, seconds in zip(member.tolist(), phase.tolist(), workload.duration.tolist(), strict=True):
        longest[app, number] = max(longest.get((app, number), 0.0), seconds)
    total = np.zeros(n_apps)
    for (app, _), seconds in longest.items():
        total[app] += seconds
    return np.maximum(total, np.bincount(member, workload.gpu_seconds, minlength=n_apps) / n_gpus)


def jain(values: Floats) -> float:
    """Return Jain's index of fairness, 1 where all values are equal."""
    return float(values.sum() ** 2 / (len(values) * (values**2).sum())) if len(values) else 1.0
