"""Heuristics of problem `allocation`: Optimus's marginal gains, and the baselines it is compared with."""

from __future__ import annotations

import heapq
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gangopt.base.errors import InputError
from gangopt.base.types import Floats
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution, TimeGrid
from gangopt.solvers.allocation.moves import (
    Seed,
    next_allowed,
    seed_configurations,
    seeded_ladders,
    to_solution,
)

__all__ = ["drf", "equal", "optimus", "tetris"]


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
    next allowed count and its gain is divided by the number of tasks it adds. A task that takes no resource and helps
    has an infinite gain. Ties go to the parameter server before the worker, then to the job with the lowest index.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.
    skip : bool, optional
        Continue with the tasks that still fit instead of stopping at the first that does not.
    priority : float, optional
        Factor on the gains of young jobs, whose speed is less well known; the paper uses 0.95.
    young : float, optional
        A job is young while its progress is below this fraction, from 0 to 1.
    per : {'amount', 'share'}, optional
        Divide by the `amount` of the dominant resource (eqn 9), or by the `share` of the capacity, which does not
        depend on units.

    Raises
    ------
    InputError
        If `priority` is not above 0 or `young` not from 0 to 1.
    InfeasibleError
        If the minimum that all jobs require exceeds a capacity.
    NoSolutionError
        If the smallest configurations do not fit together although others might (speed tables with holes).

    References
    ----------
    Optimus (EuroSys'18), section 4.1, eqn 9.
    """
    if not 0 < priority <= 1e6:
        raise InputError(f"optimus: priority must be > 0 and <= 1e6 (got {priority:g})")
    if not 0 <= young <= 1:
        raise InputError(f"optimus: young must be from 0 to 1 (got {young:g})")
    grids = instance.time_grids()
    seed = seed_configurations(instance, grids)
    moves = _Moves(instance, grids, np.where(instance.progress < young, priority, 1.0), per)
    at = moves.start(seed)
    heap = [(-gain, j) for j in range(len(instance.jobs)) if (gain := moves.best_gain[j].item(at[j])) > 0]
    heapq.heapify(heap)
    free: list[float] = seed.free.tolist()
    blocked: set[tuple[int, int]] = set()
    while heap:
        j = heap[0][1]
        kind = moves.kind(j, at[j], blocked)
        target = moves.target(j, at[j], kind)
        need = moves.need(j, at[j], target, kind)
        if all(amount <= left for amount, left in zip(need, free, strict=True)):
            free = [left - amount for amount, left in zip(need, free, strict=True)]
            at[j] = target
        elif skip:
            blocked.add((j, kind))
        else:
            break
        gain = moves.gain(j, at[j], blocked)
        if gain > 0:
            heapq.heapreplace(heap, (-gain, j))
        else:
            heapq.heappop(heap)
    return moves.solution(at)


class _Moves:
    """Gain and target of one more parameter server or worker at every configuration.

    Configuration (p, w) of job j is the number (p - 1) * W_j + w - 1; `best_gain[j]` is indexed by it.
    """

    def __init__(
        self, instance: AllocationInstance, grids: list[TimeGrid], factor: Floats, per: Literal["amount", "share"]
    ) -> None:
        J = len(instance.jobs)
        self._demand: tuple[list[list[float]], list[list[float]]] = (
            instance.ps_demand.tolist(),
            instance.worker_demand.tolist(),
        )
        self._width: list[int] = instance.max_workers.tolist()
        self.best_gain: list[Floats] = [np.empty(0)] * J
        self._is_worker: list[NDArray[np.bool_]] = [np.empty(0, dtype=bool)] * J
        self._gains: dict[tuple[int, int], Floats] = {}
        self._targets: dict[tuple[int, int], NDArray[np.int64]] = {}
        dominant = [_dominant(instance, demand, per) for demand in (instance.ps_demand, instance.worker_demand)]
        for grid in grids:
            n = len(grid.jobs)
            gains = []
            for kind in (PS, WORKER):
                gain, targets = _gains(grid.seconds, kind + 1, dominant[kind][grid.jobs] / factor[grid.jobs])
                gains.append(gain.reshape(n, -1))
                self._gains.update(zip(((j, kind) for j in grid.jobs.tolist()), gains[kind], strict=True))
                if targets is not None:
                    rows = zip(((j, kind) for j in grid.jobs.tolist()), targets.reshape(n, -1), strict=True)
                    self._targets.update(rows)
            best, is_worker = np.maximum(gains[PS], gains[WORKER]), gains[WORKER] > gains[PS]
            for i, j in enumerate(grid.jobs.tolist()):
                self.best_gain[j], self._is_worker[j] = best[i], is_worker[i]

    def start(self, seed: Seed) -> list[int]:
        pairs = zip(seed.ps.tolist(), seed.workers.tolist(), self._width, strict=True)
        return [(p - 1) * W + w - 1 for p, w, W in pairs]

    def kind(self, j: int, at: int, blocked: set[tuple[int, int]]) -> int:
        kind = WORKER if self._is_worker[j].item(at) else PS
        return 1 - kind if (j, kind) in blocked else kind

    def target(self, j: int, at: int, kind: int) -> int:
        if (j, kind) in self._targets:
            return int(self._targets[j, kind][at])
        return at + (1 if kind == WORKER else self._width[j])

    def need(self, j: int, at: int, target: int, kind: int) -> list[float]:
        count = (target - at) // (1 if kind == WORKER else self._width[j])
        return [count * amount for amount in self._demand[kind][j]]

    def gain(self, j: int, at: int, blocked: set[tuple[int, int]]) -> float:
        if not blocked:
            return float(self.best_gain[j].item(at))
        allowed = (kind for kind in (PS, WORKER) if (j, kind) not in blocked)
        return max((float(self._gains[j, kind].item(at)) for kind in allowed), default=0.0)

    def solution(self, at: list[int]) -> AllocationSolution:
        pairs = list(zip(at, self._width, strict=True))
        return AllocationSolution(tuple(i % W + 1 for i, W in pairs), tuple(i // W + 1 for i, W in pairs))


def _dominant(instance: AllocationInstance, demand: Floats, per: Literal["amount", "share"]) -> Floats:
    shares = demand / instance.capacity
    dominant = shares.argmax(axis=1)
    chosen = demand if per == "amount" else shares
    result: Floats = chosen[np.arange(len(demand)), dominant]
    return result


def _gains(seconds: Floats, axis: int, dominant: Floats) -> tuple[Floats, NDArray[np.int64] | None]:
    """Return gain and target of the next task along an axis, shape (n, P, W); no targets where no table has holes."""
    _, P, W = seconds.shape
    if np.isfinite(seconds).all():
        after = np.full_like(seconds, np.inf)
        if axis == 1:
            after[:, :-1, :] = seconds[:, 1:, :]
        else:
            after[:, :, :-1] = seconds[:, :, 1:]
        target, per = None, dominant[:, None, None]
    else:
        following = next_allowed(seconds, axis)
        length = seconds.shape[axis]
        after = np.take_along_axis(seconds, np.minimum(following, length - 1), axis=axis)
        after[following == length] = np.inf
        count = following - (np.arange(P)[:, None] if axis == 1 else np.arange(W))
        target = np.arange(P * W).reshape(P, W) + count * (W if axis == 1 else 1)
        per = dominant[:, None, None] * count
    with np.errstate(invalid="ignore", divide="ignore"):
        gain = (seconds - after) / per
    # a hole minus a hole is nan, a free task that does not help is 0 / 0
    gain[~(gain > 0)] = 0.0
    return gain, target


def drf(instance: AllocationInstance) -> AllocationSolution:
    """Fill progressively: the job with the smallest dominant share gets another worker and parameter server.

    Each job has one parameter server per worker, whatever that does to its speed. A job whose next step does not fit,
    or that is at its limits, becomes inactive; the others continue. Ties go to the job with the lowest index.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.

    Raises
    ------
    InfeasibleError, NoSolutionError
        As `optimus`.

    References
    ----------
    Ghodsi et al., Dominant Resource Fairness (NSDI'11), algorithm 1; Optimus (EuroSys'18), section 6.1.
    """
    seed, rungs = seeded_ladders(instance)
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
    r"""Pack greedily: prefer jobs whose next bundle fits the free resources best and that end soonest.

    Each job has one parameter server per worker, as in `drf`. A bundle is the step from one rung to the next; its score
    is

    .. math:: a_j / \bar a - t_j / \bar t, \qquad a_j = \sum_r \frac{\text{bundle}_j^r}{C^r} \frac{\text{free}^r}{C^r}

    with t_j the completion time at the current configuration; the means are over the active jobs. The job with the
    highest score takes its bundle; if that does not fit, or the job is at its limits, it becomes inactive. Ties go to
    the job with the lowest index.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.

    Raises
    ------
    InfeasibleError, NoSolutionError
        As `optimus`.

    References
    ----------
    Grandl et al., Multi-resource Packing for Cluster Schedulers (SIGCOMM'14), sections 3.2 and 3.3; Optimus
    (EuroSys'18), section 6.1.
    """
    seed, rungs = seeded_ladders(instance)
    at = [0] * len(rungs)
    inside = np.array([float(len(steps) > 1) for steps in rungs])
    barred = np.where(inside > 0, 0.0, -np.inf)
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
        score = _over_mean(bundle @ (free * weight), inside) - _over_mean(left, inside) + barred
        j = int(score.argmax())
        fits = bool((bundle[j] <= free).all())
        if fits:
            free -= bundle[j]
            at[j] += 1
        if fits and at[j] + 1 < len(rungs[j]):
            update(j)
        else:
            inside[j], barred[j] = 0.0, -np.inf
    return _from_rungs(rungs, at)


def _over_mean(values: Floats, inside: Floats) -> Floats:
    mean = float(values @ inside) / float(inside.sum())
    return values / mean if mean > 0 else np.zeros_like(values)


def equal(instance: AllocationInstance) -> AllocationSolution:
    """Give every job the same number of tasks: the largest common rung that fits.

    Rung k is k parameter servers and k workers; a job with lower limits stays at its limits. The largest k at which
    all jobs fit together is used.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.

    Raises
    ------
    InfeasibleError, NoSolutionError
        As `optimus`.
    """
    _, rungs = seeded_ladders(instance)
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
