"""Split the GPUs of one phase among its jobs: the rules behind `even` and `lpt`, on plain arrays."""

from __future__ import annotations

import heapq

import numpy as np

from gangopt.base.types import Floats, Ints

__all__ = ["deal", "deal_to_longest", "fold", "longest_first"]


def deal(work: Floats, most: Ints, gpus: int) -> Ints:
    """Return the job of each GPU when GPUs are dealt in rounds, for at least as many GPUs as jobs.

    In each round every job gets one, largest work first (ties: lowest index); jobs at their maximum are skipped. The
    first g entries are therefore the deal of g GPUs.

    Parameters
    ----------
    work : ndarray of float
        Time of each job on one GPU, s, shape (n,).
    most : ndarray of int
        Maximum GPUs of each job, shape (n,).
    gpus : int
        GPUs to deal.

    Returns
    -------
    ndarray
        Index of a job for every GPU; shorter than `gpus` if all jobs are at their maximum.
    """
    order = np.argsort(-work, kind="stable")
    dealt: list[Ints] = []
    left, rounds = gpus, 1
    while left > 0:
        takers = order[most[order] >= rounds]
        if not len(takers):
            break
        dealt.append(takers[:left])
        left -= len(dealt[-1])
        rounds += 1
    return np.concatenate(dealt)


def fold(work: Floats, gpus: int) -> Ints:
    """Return the queue of every job when jobs are dealt to GPUs back and forth, largest work first.

    The first g jobs go to queues 0 to g - 1, the next g to queues g - 1 to 0, and so on, so that a long job waits with
    a short one and queues differ by one job at most. Ties: lowest index first.

    Parameters
    ----------
    work : ndarray of float
        Time of each job on one GPU, s, shape (n,).
    gpus : int
        Number of queues.

    Returns
    -------
    ndarray
        Queue of every job, shape (n,).
    """
    n = len(work)
    queues = np.empty(n, dtype=np.int64)
    turn, place = np.divmod(np.arange(n), gpus)
    queues[np.argsort(-work, kind="stable")] = np.where(turn % 2 == 0, place, gpus - 1 - place)
    return queues


def longest_first(times: Floats, gpus: int) -> Ints:
    """Return the queue of every job by longest processing time: the next longest job to the least loaded GPU.

    Ties: lowest index of jobs and of GPUs.

    Parameters
    ----------
    times : ndarray of float
        Time of each job on one GPU, s, shape (n,).
    gpus : int
        Number of queues.

    Returns
    -------
    ndarray
        Queue of every job, shape (n,).

    References
    ----------
    Graham: Bounds on multiprocessing timing anomalies, 1969.
    """
    queues = np.empty(len(times), dtype=np.int64)
    loads = [(0.0, queue) for queue in range(gpus)]
    for job in np.argsort(-times, kind="stable").tolist():
        load, queue = heapq.heappop(loads)
        queues[job] = queue
        heapq.heappush(loads, (load + float(times[job]), queue))
    return queues


def deal_to_longest(single: Floats, spread: Floats, most: Ints, gpus: int) -> Ints:
    """Return the GPUs of every job when each has one and each further GPU goes to the job that takes longest.

    Stops when that job is at its maximum, or would not be faster with one more. Ties: lowest index.

    Parameters
    ----------
    single : ndarray of float
        Time of each job on one GPU, s, shape (n,).
    spread : ndarray of float
        Time on one GPU if slowed down as on several, s, shape (n,).
    most : ndarray of int
        Maximum GPUs of each job, shape (n,).
    gpus : int
        GPUs to deal, at least one per job.

    Returns
    -------
    ndarray
        GPUs of every job, shape (n,).
    """
    held = np.ones(len(single), dtype=np.int64)
    times = [(-time, job) for job, time in enumerate(single.tolist())]
    heapq.heapify(times)
    for _ in range(gpus - len(single)):
        time, job = times[0]
        faster = float(spread[job]) / (int(held[job]) + 1)
        if held[job] == most[job] or faster >= -time:
            break
        held[job] += 1
        heapq.heapreplace(times, (-faster, job))
    return held
