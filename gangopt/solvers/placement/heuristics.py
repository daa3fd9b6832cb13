"""Heuristics of problem `placement`: Optimus's even spread, Theorem 1's rule, and task-by-task baselines."""

from __future__ import annotations

from operator import gt, sub

import numpy as np
from numpy.typing import NDArray

from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Ints
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.reasons import pause_reason
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.solvers.placement.buckets import Free, FreeServers
from gangopt.solvers.placement.shares import Job, Shares, even_shares, job_of
from gangopt.solvers.placement.tasks import place_tasks

__all__ = ["optimus", "pack", "random", "spread", "theorem1"]


def optimus(instance: PlacementInstance) -> PlacementSolution:
    """Place the smallest job first, evenly over the fewest of the emptiest servers.

    Jobs are ordered by ascending total demand of the leading resource (`cpu` if there is one, else the first), servers
    by its descending free amount, then by that of the other resources, ties to the lowest index; servers are re-sorted
    after each job. Servers on which a single parameter server or a single worker of the job would not fit are skipped.
    The smallest k is used at which the first k servers have room in total and the even spread fits each: floor(p/k)
    and floor(w/k) tasks on each, one more parameter server on p mod k of them and one more worker on w mod k. Extras
    share as many servers as possible, or as few as possible: of those that fit, the one with the lower transfer time,
    ties to the former. Servers with both extras come first, then those with an extra parameter server, an extra
    worker, none. A job that fits no k up to p + w is paused. A job with a required level tries its nodes by descending
    free amount of the leading resource, ties to the lowest index.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.

    References
    ----------
    Optimus (EuroSys'18), section 4.2.
    """
    servers = FreeServers(instance)
    sizes = (
        instance.parameter_servers * instance.ps_millionths[:, servers.leading]
        + instance.workers * instance.worker_millionths[:, servers.leading]
    )
    pieces: list[tuple[tuple[int, int, int], ...]] = [()] * len(instance.jobs)
    reasons = [""] * len(instance.jobs)
    for j in np.argsort(sizes, kind="stable").tolist():
        pieces[j] = _place_in_domain(job_of(instance, j), servers, instance.domains[j], every_pairing=False)
        if not pieces[j]:
            reasons[j] = pause_reason(instance, j, np.array(servers.total))
    return PlacementSolution(tuple(pieces), tuple(reasons))


def theorem1(instance: PlacementInstance) -> PlacementSolution:
    """Spread one job evenly over the fewest servers, with the best pairing of uneven shares.

    The most general reading of Theorem 1: like `optimus` for a single job, but every number of servers with both
    extras is tried, and the one with the smallest transfer time is used, ties to the largest number.

    Parameters
    ----------
    instance : PlacementInstance
        A placement with one job.

    Raises
    ------
    InputError
        If there is more than one job.

    References
    ----------
    Optimus (EuroSys'18), Theorem 1.
    """
    if len(instance.jobs) != 1:
        raise InputError(f"theorem1 places one job, {instance.name} has {len(instance.jobs)}; use optimus")
    servers = FreeServers(instance)
    pieces = _place_in_domain(job_of(instance, 0), servers, instance.domains[0], every_pairing=True)
    reason = "" if pieces else pause_reason(instance, 0, np.array(servers.total))
    return PlacementSolution((pieces,), (reason,))


def _place_in_domain(
    job: Job, servers: FreeServers, domain: Ints | None, *, every_pairing: bool
) -> tuple[tuple[int, int, int], ...]:
    """Place a job inside the first node of its level that holds it, or anywhere without a level."""
    if domain is None:
        return _place_evenly(job, servers, None, every_pairing=every_pairing)
    for node in np.argsort(-servers.free_in(domain), kind="stable").tolist():
        pieces = _place_evenly(job, servers, domain == node, every_pairing=every_pairing)
        if pieces:
            return pieces
    return ()


def _place_evenly(
    job: Job, servers: FreeServers, inside: Bools | None, *, every_pairing: bool
) -> tuple[tuple[int, int, int], ...]:
    """Place a job on the first servers that hold an even spread of it, if any."""
    needs = list(job.need(job.ps, job.workers))
    if any(map(gt, needs, servers.total)):
        return ()
    either_task = tuple(map(max, job.ps_need, job.worker_need))
    first: list[tuple[int, Free]] = []
    for free, bucket in servers.runs(inside):
        if any(map(gt, either_task, free)):
            continue
        for server in bucket[: job.ps + job.workers - len(first)]:
            first.append((server, free))
            needs = list(map(sub, needs, free))
            shares = _best_shares(job, first, every_pairing) if max(needs) <= 0 else None
            if shares is not None:
                return _take(job, servers, first, shares)
        if len(first) == job.ps + job.workers:
            break
    return ()


def _best_shares(job: Job, first: list[tuple[int, Free]], every_pairing: bool) -> Shares | None:
    best: Shares | None = None
    for shares in even_shares(job.ps, job.workers, len(first), every_pairing):
        if _all_fit(job, first, shares) and (best is None or job.transfer_time(shares) < job.transfer_time(best)):
            best = shares
    return best


def _all_fit(job: Job, first: list[tuple[int, Free]], shares: Shares) -> bool:
    at = 0
    for count, ps, workers in shares:
        seen: Free | None = None
        for _, free in first[at : at + count]:
            if free != seen and not job.fits(ps, workers, free):
                return False
            seen = free
        at += count
    return True


def _take(
    job: Job, servers: FreeServers, first: list[tuple[int, Free]], shares: Shares
) -> tuple[tuple[int, int, int], ...]:
    pieces = []
    at = 0
    for count, ps, workers in shares:
        need = job.need(ps, workers)
        for server, free in first[at : at + count]:
            servers.take(server, free, need)
            pieces.append((server, ps, workers))
        at += count
    return tuple(pieces)


def spread(instance: PlacementInstance) -> PlacementSolution:
    """Place each task on the least loaded server that has room, as the default scheduler of Kubernetes does.

    The load of a server is the mean share in use over its resources; ties go to the lowest index. Jobs are placed in
    the order of the instance, the parameter servers of a job first. A job with a task that does not fit releases its
    tasks and is paused.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.

    References
    ----------
    Kubernetes: scoring by least allocated resources.
    """
    R = len(instance.resources)
    capacity = instance.capacity_millionths[:, :R].astype(np.float64)
    has = np.maximum(1, (capacity > 0).sum(axis=1))
    weights = np.divide(1.0, capacity * has[:, None], out=np.zeros_like(capacity), where=capacity > 0)

    def emptiest(servers: NDArray[np.int64], free: NDArray[np.int64], _need: NDArray[np.int64]) -> int:
        return int(servers[np.argmax((free[servers, :R] * weights[servers]).sum(axis=1))])

    return place_tasks(instance, range(len(instance.jobs)), emptiest)


def pack(instance: PlacementInstance) -> PlacementSolution:
    """Place each task on the used server with the best alignment, and open an empty one only if none has room.

    The alignment of a task and a server is the dot product of the task's demand and the free amounts, both as shares of
    the largest server's capacity (Tetris). Ties go to the lowest index. Jobs are placed in the order of the instance,
    the parameter servers of a job first. A job with a task that does not fit releases its tasks and is paused.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.

    References
    ----------
    Grandl et al.: Multi-resource packing for cluster schedulers (SIGCOMM'14), section 3.2.
    """
    R = len(instance.resources)
    capacity = instance.capacity_millionths[:, :R]
    unit = np.maximum(1, capacity.max(axis=0)).astype(np.float64)

    def best_aligned(servers: NDArray[np.int64], free: NDArray[np.int64], need: NDArray[np.int64]) -> int:
        used = servers[(free[servers, :R] < capacity[servers]).any(axis=1)]
        choice = used if len(used) else servers
        return int(choice[np.argmax((free[choice, :R] / unit) @ (need[:R] / unit))])

    return place_tasks(instance, range(len(instance.jobs)), best_aligned)


def random(instance: PlacementInstance, *, seed: int = 0) -> PlacementSolution:
    """Place each task on a random server that has room, jobs in random order.

    The parameter servers of a job come first. A job with a task that does not fit releases its tasks and is paused.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    seed : int, optional
        Seed of the random choices.
    """
    rng = np.random.default_rng(seed)

    def any_server(servers: NDArray[np.int64], _free: NDArray[np.int64], _need: NDArray[np.int64]) -> int:
        return int(servers[rng.integers(len(servers))])

    return place_tasks(instance, rng.permutation(len(instance.jobs)).tolist(), any_server)
