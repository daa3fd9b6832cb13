"""Heuristics of decision `allocation`: Optimus's marginal gains, and the baselines it is compared with."""

from __future__ import annotations

import heapq
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gangopt.errors import InputError
from gangopt.instances.allocation import AllocationInstance, AllocationSolution
from gangopt.solvers.heuristics.allocation_moves import Seed, ladders, next_allowed, seed_configurations, to_solution

__all__ = ["drf", "equal", "optimus", "tetris"]

FloatArray = NDArray[np.float64]

PS, WORKER = 0, 1


def optimus(
    instance: AllocationInstance,
    *,
    skip: bool = False,
    priority: float = 1.0,
    young: float = 0.1,
    per: Literal["amount", "share"] = "amount",
) -> AllocationSolution:
    r"""Add, one at a time, the task that shortens completion times most for its dominant resource.

    Every job starts with its smallest configuration. The gain of a task is (eqn 9)

    .. math:: \frac{Q_j/f_j(p, w) - Q_j/f_j(p + 1, w)}{N_j^D}
              \quad\text{or}\quad \frac{Q_j/f_j(p, w) - Q_j/f_j(p, w + 1)}{O_j^{D'}}

    with D the resource of which the task takes the largest share of the capacity. The loop ends when no gain is
    positive or, as in the paper, at the first task that does not fit. Where a table has holes, the move goes to the
    next allowed count and its gain is divided by the tasks it adds. A task that takes no resource and helps has an
    infinite gain. Ties: the parameter server before the worker, the job with the lowest index.

    Parameters
    ----------
    instance : the allocation
    skip : go on with the tasks that still fit instead of stopping at the first that does not
    priority : factor on the gains of young jobs, whose speed is known less well; the paper tries 0.95
    young : a job is young while its progress is below this part, 0 to 1
    per : divide by the `amount` of the dominant resource (eqn 9), or by the `share` of the capacity, which does not
        depend on units

    Returns
    -------
    AllocationSolution

    Raises
    ------
    InputError
        If `priority` is not above 0 or `young` not from 0 to 1.
    InfeasibleError
        If the smallest configurations exceed a capacity.

    References
    ----------
    Optimus (EuroSys'18), section 4.1, eqn 9.
    """
    if not 0 < priority <= 1e6:
        raise InputError(f"optimus: priority={priority:g}, above 0 and at most 1e6 is needed")
    if not 0 <= young <= 1:
        raise InputError(f"optimus: young={young:g}, 0 to 1 is needed")
    seed = seed_configurations(instance)
    factor = np.where(instance.progress < young, priority, 1.0)
    moves = _Moves(instance, factor, per)
    at = moves.start(seed)
    heap = [(-gain, j) for j in range(len(instance.jobs)) if (gain := moves.gain[j][at[j]]) > 0]
    heapq.heapify(heap)
    free = seed.free.tolist()
    blocked: set[tuple[int, int]] = set()
    while heap:
        j = heap[0][1]
        kind, target = moves.best(j, at[j], blocked)
        count = moves.count(j, at[j], target, kind)
        need = [count * amount for amount in moves.demand[kind][j]]
        if all(amount <= left for amount, left in zip(need, free, strict=True)):
            free = [left - amount for amount, left in zip(need, free, strict=True)]
            at[j] = target
        elif skip:
            blocked.add((j, kind))
        else:
            break
        gain = moves.gain[j][at[j]] if not blocked else moves.gain_unblocked(j, at[j], blocked)
        if gain > 0:
            heapq.heapreplace(heap, (-gain, j))
        else:
            heapq.heappop(heap)
    return moves.solution(at)


class _Moves:
    """Gains of one more parameter server or worker at every configuration, as lists for the loop.

    Configuration (p, w) of job j is the number (p - 1) * W_j + w - 1.
    """

    def __init__(self, instance: AllocationInstance, factor: FloatArray, per: Literal["amount", "share"]) -> None:
        J = len(instance.jobs)
        self.demand = (instance.ps_demand.tolist(), instance.worker_demand.tolist())
        dominant = [_dominant(instance, demand, per) for demand in (instance.ps_demand, instance.worker_demand)]
        self.width: list[int] = instance.max_workers.tolist()
        self.gain: list[list[float]] = [[]] * J
        self._kind: list[list[bool]] = [[]] * J
        self._gains: tuple[dict[int, FloatArray], dict[int, FloatArray]] = ({}, {})
        self._targets: tuple[list[list[int]], list[list[int]]] = ([[]] * J, [[]] * J)
        for grid in instance.time_grids():
            shape = (len(grid.jobs), -1)
            gains = []
            for kind, axis in ((PS, 1), (WORKER, 2)):
                gain, target = _gains(grid.seconds, axis, dominant[kind][grid.jobs])
                gains.append((gain * factor[grid.jobs, None, None]).reshape(shape))
                targets = target.reshape(shape).tolist()
                for i, j in enumerate(grid.jobs.tolist()):
                    self._gains[kind][j] = gains[kind][i]
                    self._targets[kind][j] = targets[i]
            best = np.maximum(gains[PS], gains[WORKER]).tolist()
            kinds = (gains[WORKER] > gains[PS]).tolist()
            for i, j in enumerate(grid.jobs.tolist()):
                self.gain[j], self._kind[j] = best[i], kinds[i]

    def start(self, seed: Seed) -> list[int]:
        pairs = zip(seed.ps.tolist(), seed.workers.tolist(), self.width, strict=True)
        return [(p - 1) * W + w - 1 for p, w, W in pairs]

    def best(self, j: int, at: int, blocked: set[tuple[int, int]]) -> tuple[int, int]:
        kind = WORKER if self._kind[j][at] else PS
        if (j, kind) in blocked:
            kind = 1 - kind
        return kind, self._targets[kind][j][at]

    def gain_unblocked(self, j: int, at: int, blocked: set[tuple[int, int]]) -> float:
        return max((float(self._gains[kind][j][at]) for kind in (PS, WORKER) if (j, kind) not in blocked), default=0.0)

    def count(self, j: int, at: int, target: int, kind: int) -> int:
        return (target - at) // (self.width[j] if kind == PS else 1)

    def solution(self, at: list[int]) -> AllocationSolution:
        pairs = list(zip(at, self.width, strict=True))
        return AllocationSolution(tuple(i % W + 1 for i, W in pairs), tuple(i // W + 1 for i, W in pairs))


def _dominant(instance: AllocationInstance, demand: FloatArray, per: Literal["amount", "share"]) -> FloatArray:
    shares = demand / instance.capacity
    dominant = shares.argmax(axis=1)
    chosen = demand if per == "amount" else shares
    result: FloatArray = chosen[np.arange(len(demand)), dominant]
    return result


def _gains(seconds: FloatArray, axis: int, dominant: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return gain and target configuration of the next task along an axis, shape (n, P, W) both."""
    n, P, W = seconds.shape
    step = 1 if axis == 2 else W
    if np.isfinite(seconds).all():
        after = np.full_like(seconds, np.inf)
        if axis == 2:
            after[:, :, :-1] = seconds[:, :, 1:]
        else:
            after[:, :-1, :] = seconds[:, 1:, :]
        target = np.broadcast_to(np.arange(P * W).reshape(P, W) + step, (n, P, W))
        count: FloatArray | float = 1.0
    else:
        following = next_allowed(seconds, axis)
        length = seconds.shape[axis]
        after = np.take_along_axis(seconds, np.minimum(following, length - 1), axis=axis)
        after[following == length] = np.inf
        place = np.arange(length)[:, None] if axis == 1 else np.arange(length)
        count = (following - place).astype(float)
        target = np.arange(P * W).reshape(P, W) + step * (following - place)
    with np.errstate(invalid="ignore", divide="ignore"):
        shorter = seconds - after
        gain = np.where(shorter > 0, shorter / (dominant[:, None, None] * count), -np.inf)
    return gain, target


def drf(instance: AllocationInstance) -> AllocationSolution:
    """Fill progressively: the job with the smallest dominant share gets one worker and one parameter server more.

    Works on one parameter server for each worker, whatever that does to the speed; a job whose next rung does not fit
    or that is at its limits is out, the others go on. Ties: the job with the lowest index.

    Parameters
    ----------
    instance : the allocation

    Returns
    -------
    AllocationSolution

    Raises
    ------
    InfeasibleError
        If the smallest configurations exceed a capacity.

    References
    ----------
    Ghodsi et al., Dominant Resource Fairness (NSDI'11), algorithm 1; Optimus (EuroSys'18), section 6.1.
    """
    seed = seed_configurations(instance)
    rungs = ladders(instance, seed)
    servers: list[list[float]] = instance.ps_demand.tolist()
    workers: list[list[float]] = instance.worker_demand.tolist()
    capacity: list[float] = instance.capacity.tolist()
    free: list[float] = seed.free.tolist()

    def share(j: int, p: int, w: int) -> float:
        both = zip(servers[j], workers[j], capacity, strict=True)
        return max((p * a + w * b) / total for a, b, total in both)

    at = [0] * len(rungs)
    heap = [(share(j, *rungs[j][0]), j) for j in range(len(rungs)) if len(rungs[j]) > 1]
    heapq.heapify(heap)
    while heap:
        j = heap[0][1]
        (p, w), (next_p, next_w) = rungs[j][at[j]], rungs[j][at[j] + 1]
        both = zip(servers[j], workers[j], strict=True)
        need = [(next_p - p) * a + (next_w - w) * b for a, b in both]
        fits = all(amount <= left for amount, left in zip(need, free, strict=True))
        if fits:
            free = [left - amount for amount, left in zip(need, free, strict=True)]
            at[j] += 1
        if fits and at[j] + 1 < len(rungs[j]):
            heapq.heapreplace(heap, (share(j, next_p, next_w), j))
        else:
            heapq.heappop(heap)
    return _from_rungs(rungs, at)


def tetris(instance: AllocationInstance) -> AllocationSolution:
    r"""Pack: the job whose next bundle fits the free resources best and that has the least time left goes first.

    At one parameter server for each worker, as `drf`. A bundle is the step from one rung to the next. Its score is

    .. math:: a_j / \bar a - t_j / \bar t, \qquad a_j = \sum_r \frac{\text{bundle}_j^r}{C^r} \frac{\text{free}^r}{C^r}

    with t_j the completion time at the current configuration; the means are over the jobs that are still in. The job
    with the highest score takes its bundle; a job whose bundle does not fit or that is at its limits is out. Ties: the
    job with the lowest index.

    Parameters
    ----------
    instance : the allocation

    Returns
    -------
    AllocationSolution

    Raises
    ------
    InfeasibleError
        If the smallest configurations exceed a capacity.

    References
    ----------
    Grandl et al., Multi-resource Packing for Cluster Schedulers (SIGCOMM'14), sections 3.2 and 3.3; Optimus
    (EuroSys'18), section 6.1.
    """
    seed = seed_configurations(instance)
    rungs = ladders(instance, seed)
    at = [0] * len(rungs)
    inside = np.array([len(steps) > 1 for steps in rungs])
    bundle, left = np.zeros_like(instance.ps_demand), np.zeros(len(rungs))

    def update(j: int) -> None:
        (p, w), (next_p, next_w) = rungs[j][at[j]], rungs[j][at[j] + 1]
        bundle[j] = (next_p - p) * instance.ps_demand[j] + (next_w - w) * instance.worker_demand[j]
        left[j] = instance.completion_time(j, p, w)

    for j in np.flatnonzero(inside).tolist():
        update(j)
    free = seed.free.copy()
    weight = 1 / instance.capacity**2
    while inside.any():
        inside &= (bundle <= free).all(axis=1)
        if not inside.any():
            break
        alignment = bundle @ (free * weight)
        score = _over_mean(alignment, inside) - _over_mean(left, inside)
        j = int(np.argmax(np.where(inside, score, -np.inf)))
        free -= bundle[j]
        at[j] += 1
        inside[j] = at[j] + 1 < len(rungs[j])
        if inside[j]:
            update(j)
    return _from_rungs(rungs, at)


def _over_mean(values: FloatArray, inside: NDArray[np.bool_]) -> FloatArray:
    mean = float(values[inside].mean())
    return values / mean if mean > 0 else np.zeros_like(values)


def equal(instance: AllocationInstance) -> AllocationSolution:
    """Give every job the same number of tasks: the largest common rung that fits.

    Rung k is k parameter servers and k workers, a job with lower limits stays at its limits. The largest k for which
    all jobs fit together is taken.

    Parameters
    ----------
    instance : the allocation

    Returns
    -------
    AllocationSolution

    Raises
    ------
    InfeasibleError
        If the smallest configurations exceed a capacity.
    """
    seed = seed_configurations(instance)
    rungs = ladders(instance, seed)
    limit = instance.capacity_limit
    best = [0] * len(rungs)
    for k in range(2, max(max(p, w) for steps in rungs for p, w in steps) + 1):
        at = [max([0, *(i for i, (p, w) in enumerate(steps) if max(p, w) <= k)]) for steps in rungs]
        used = np.array(instance.usage(_from_rungs(rungs, at)))
        if (used > limit).any():
            break
        best = at
    return _from_rungs(rungs, best)


def _from_rungs(rungs: list[list[tuple[int, int]]], at: list[int]) -> AllocationSolution:
    chosen = [steps[i] for steps, i in zip(rungs, at, strict=True)]
    return to_solution(np.array([p for p, _ in chosen]), np.array([w for _, w in chosen]))
