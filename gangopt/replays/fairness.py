"""Finish-time fairness measured after a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gangopt.base.types import Floats
from gangopt.instances.finish_time import ideal_seconds, largest_demands

if TYPE_CHECKING:
    from gangopt.instances.workload.workload import Workload

__all__ = ["average_presence", "finish_time_fairness"]


def average_presence(arrival: Floats, end: Floats) -> Floats:
    r"""Return the time-weighted average number of apps present over the life of each app.

    .. math:: N_i = \frac{1}{e_i - r_i} \int_{r_i}^{e_i} |\{k : r_k \le t < e_k\}| \, dt

    Parameters
    ----------
    arrival, end : ndarray of float
        Arrival and end of each app in s, shape (apps,).

    Returns
    -------
    ndarray
        Average number of apps, >= 1, shape (apps,).
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
    r"""Return rho of every app: its time in the shared cluster relative to that in an exclusive share.

    .. math:: \rho = \frac{T_{sh}}{T_{id}}, \qquad T_{id} = N_{avg} \, B / \min(R_C, \text{demand})

    T_sh is the time from the arrival of the app's first job to the end of its last job, B the GPU seconds of all its
    jobs, and demand that of its widest phase (`largest_demands`). A job without an app counts as an app.

    Parameters
    ----------
    workload : Workload
        Replayed jobs.
    end : ndarray of float
        End of each job, s.
    n_gpus : int
        GPUs of the cluster.

    Returns
    -------
    ndarray
        Rho of each app in order of first jobs, shape (apps,).

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
    budget = np.bincount(member, workload.gpu_seconds, minlength=len(index))
    demand = largest_demands(member, workload.numbers("phase"), workload.gpus)
    present = average_presence(arrival, last)
    ideal = [
        ideal_seconds(work, n_gpus, most, average)
        for work, most, average in zip(budget.tolist(), demand.tolist(), present.tolist(), strict=True)
    ]
    return np.asarray((last - arrival) / np.array(ideal))
