"""Closed-form bounds: running times alone, and one fast machine in place of all GPUs."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator

import numpy as np

from gangopt.base.types import Floats
from gangopt.solvers.bounds.jobs import EPSILON, GangJobs

__all__ = ["durations", "exclusive", "fluid_completions", "mean_busy", "shortest_remaining"]


def durations(jobs: GangJobs) -> float:
    """Return sum_j v_j d_j: no job completes before r_j + d_j."""
    return math.fsum((jobs.weight * jobs.duration).tolist()) * (1 - 4 * EPSILON)


def shortest_remaining(jobs: GangJobs, load: Floats | None = None) -> float:
    r"""Return the squashed-area bound: shortest remaining processing time on one machine of speed G.

    Job j has size :math:`p_j = W_j d_j / G`. Any gang schedule runs on that machine with the same completion times, and
    SRPT minimises their sum there. Jobs of load 0 are off the machine and count their running time.

    Parameters
    ----------
    jobs : GangJobs
        Jobs of equal weights.
    load : ndarray of float or None, optional
        Replacement of W_j, whose sum over any set of jobs that can run together is at most G; None means W.

    Returns
    -------
    float
        Bound on sum_j v_j (C_j - r_j), rounded down.
    """
    W = jobs.gpus if load is None else load
    on = np.flatnonzero(W > 0)
    size = (W * jobs.duration / jobs.n_gpus)[on].tolist()
    arrival = jobs.arrival[on].tolist()
    sums = [end - arrival[job] for job, end in _srpt(arrival, size)]
    off = jobs.duration[W == 0].tolist()
    total = math.fsum(sums + off)
    slack = 8 * EPSILON * len(jobs) * (math.fsum(arrival) + total)
    return float(jobs.weight[0]) * (total - slack)


def _srpt(arrival: list[float], size: list[float]) -> Iterator[tuple[int, float]]:
    """Yield (job, completion time in s) under shortest remaining processing time; arrivals ascend."""
    waiting: list[tuple[float, int]] = []
    now, following = 0.0, 0
    while waiting or following < len(arrival):
        if not waiting:
            now = max(now, arrival[following])
        while following < len(arrival) and arrival[following] <= now:
            heapq.heappush(waiting, (size[following], following))
            following += 1
        left, job = waiting[0]
        until = arrival[following] if following < len(arrival) else math.inf
        if now + left <= until:
            heapq.heappop(waiting)
            now += left
            yield job, now
        else:
            heapq.heapreplace(waiting, (left - (until - now), job))
            now = until


def mean_busy(jobs: GangJobs, load: Floats | None = None) -> float:
    r"""Return the static mean-busy bound: smallest :math:`p_j / v_j` first on one machine of speed G.

    .. math:: \sum_j v_j (M_j + d_j / 2 - r_j), \quad p_j = W_j d_j / G,

    M_j the mean of the times at which the machine works on j. The gang runs on a set of times of measure d_j that ends
    at C_j, so their mean is at most C_j - d_j/2, and the fixed priority minimises sum_j v_j M_j.

    Parameters
    ----------
    jobs : GangJobs
        Jobs of any weights.
    load : ndarray of float or None, optional
        As in `shortest_remaining`.

    Returns
    -------
    float
        Bound on sum_j v_j (C_j - r_j), rounded down.
    """
    W = jobs.gpus if load is None else load
    on = np.flatnonzero(W > 0)
    means, _ = _static_priority(jobs, W, on)
    v, d, r = jobs.weight[on], jobs.duration[on], jobs.arrival[on]
    off = W == 0
    total = math.fsum((v * (means + d / 2 - r)).tolist() + (jobs.weight[off] * jobs.duration[off]).tolist())
    slack = 8 * EPSILON * len(jobs) * (math.fsum((v * (means + d + r)).tolist()) + abs(total))
    return total - slack


def fluid_completions(jobs: GangJobs) -> Floats:
    """Return when each job would complete on one machine of speed G under smallest p_j / v_j first, in s.

    Each is at least r_j + d_j. This is not a bound; it indicates where GPU prices are to be expected.
    """
    _, ends = _static_priority(jobs, jobs.gpus, np.arange(len(jobs)))
    return np.maximum(ends, jobs.arrival + jobs.duration)


def _static_priority(jobs: GangJobs, load: Floats, chosen: np.ndarray) -> tuple[Floats, Floats]:
    """Return mean busy and completion times in s of chosen jobs under smallest p_j / v_j first, with preemption."""
    size = (load * jobs.duration / jobs.n_gpus)[chosen]
    rank = np.empty(len(chosen), dtype=np.int64)
    by_rank = np.argsort(size / jobs.weight[chosen], kind="stable")
    rank[by_rank] = np.arange(len(chosen))
    arrival, key, job_of = jobs.arrival[chosen].tolist(), rank.tolist(), by_rank.tolist()
    left = size.tolist()
    moment, ends = [0.0] * len(left), [0.0] * len(left)
    waiting: list[int] = []
    now, following = 0.0, 0
    while waiting or following < len(arrival):
        if not waiting:
            now = max(now, arrival[following])
        while following < len(arrival) and arrival[following] <= now:
            heapq.heappush(waiting, key[following])
            following += 1
        job = job_of[waiting[0]]
        until = arrival[following] if following < len(arrival) else math.inf
        end = now + left[job]
        if end <= until:
            heapq.heappop(waiting)
            moment[job] += left[job] * (now + end) / 2
            left[job], ends[job] = 0.0, end
        else:
            end = until
            moment[job] += (end - now) * (now + end) / 2
            left[job] -= end - now
        now = end
    return np.array(moment) / size, np.array(ends)


def exclusive(jobs: GangJobs) -> float:
    """Return the best bound of loads that account for gangs that exclude each other.

    The loads are the dual feasible functions u_b for b in the gang sizes up to G/2: W > G - b counts G, W < b counts 0,
    others count W; and the one in which W > G/2 counts G and all others nothing: two such gangs never run together.

    Returns
    -------
    float
        Bound on sum_j v_j (C_j - r_j), rounded down.

    References
    ----------
    Fekete, Schepers: New classes of fast lower bounds for bin packing problems (2001), functions u.
    """
    G, W = jobs.n_gpus, jobs.gpus
    loads = [np.where(W > G / 2, G, 0.0)]
    sizes = np.unique(W[(W <= G / 2) & (W > 0)])
    for b in sizes[:: max(1, len(sizes) // 8)].tolist():
        large = W + b > G
        if large.any():
            loads.append(np.where(large, G, np.where(b > W, 0.0, W)))
    bounds = [mean_busy(jobs, load) for load in loads]
    if jobs.unweighted:
        bounds += [shortest_remaining(jobs, load) for load in loads]
    return max(bounds)
