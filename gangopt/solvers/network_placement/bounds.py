"""Relevant machines, and levels below which no placement exists, computed without a solver."""

from __future__ import annotations

import contextlib
import heapq
from dataclasses import dataclass

import numpy as np

from gangopt.instances.network_placement.instance import NetworkPlacementInstance
from gangopt.solvers.core.clock import Clock, OutOfTime
from gangopt.solvers.network_placement.room import Room

__all__ = ["Reduced", "lower_bound", "reduce_machines"]

_SLACK = 1e-12
"""Relative tolerance of a bound, so that rounding never cuts off a placement."""

_MOST_SIZES = 256
"""Maximum number of distinct sizes for which servers of at least that size are counted."""

_MOST_STEPS = 2e8
"""Maximum additions of one dynamic program; with large W or many machines, fewer sizes are counted."""


_STRIDE = 64
"""Machines between two checks of the clock."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """The machines that may host a task, in units of the model size M.

    Attributes
    ----------
    machines : ndarray
        Indices of the machines in the instance, shape (n,).
    traffic : ndarray
        t_i / M, shape (n,).
    most_workers : ndarray
        Workers that fit by GPUs and resources, at most W, shape (n,).
    sizes : ndarray
        s_j / M in descending order, shape (servers,).
    order : ndarray
        Parameter server of each entry of `sizes`.
    workers : int
        Number of workers W.
    background : float
        max_i t_i / M over all machines of the instance.
    scale : float
        Model size M, MiB.
    """

    machines: np.ndarray
    traffic: np.ndarray
    most_workers: np.ndarray
    sizes: np.ndarray
    order: np.ndarray
    workers: int
    background: float
    scale: float


def reduce_machines(instance: NetworkPlacementInstance, clock: Clock | None = None) -> Reduced:
    """Drop the machines that some optimal placement leaves empty.

    Machine a dominates b if a has no more traffic, no fewer GPUs and no less of any resource (of equal machines the one
    with the lower index dominates). If b hosts tasks and a none, the tasks of b can move to a: T_a becomes at most the
    former T_b, and T_b falls to t_b. A placement uses at most W + p machines, so a machine that W + p others dominate
    can be dropped.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.
    clock : Clock or None, optional
        Deadline; machines not examined by then are kept.
    """
    assert instance.free_capacity is not None
    assert instance.worker_demand is not None
    assert instance.ps_demand is not None
    size, total = instance.model_size, instance.workers
    room = np.minimum(Room(instance).worker_room(), total)
    limit = total + len(instance.ps_sizes)
    order = np.argsort(-instance.ps_sizes, kind="stable")
    by_traffic = np.lexsort((np.arange(len(room)), -room, instance.traffic))
    needed = (instance.worker_demand > 0) | (instance.ps_demand > 0)
    keys = np.column_stack([room, instance.free_capacity[:, needed]])
    machines = np.sort(by_traffic[_undominated(keys[by_traffic], limit, clock or Clock())])
    return Reduced(
        machines=machines,
        traffic=instance.traffic[machines] / size,
        most_workers=room[machines],
        sizes=instance.ps_sizes[order] / size,
        order=order,
        workers=total,
        background=float(instance.traffic.max()) / size,
        scale=size,
    )


def _undominated(keys: np.ndarray, limit: int, clock: Clock) -> np.ndarray:
    """Return the rows with fewer than `limit` earlier rows that are at least as large in every column.

    Dropped rows need not be counted, since dominance is transitive. The `limit` largest numbers of each column decide
    most rows; only with several columns must the others be counted.
    """
    kept = np.zeros(len(keys), dtype=bool)
    held = np.empty_like(keys)
    largest: list[list[float]] = [[] for _ in range(keys.shape[1])]
    count = 0
    for position, key in enumerate(keys.tolist()):
        if position % _STRIDE == 0 and clock.expired():
            kept[position:] = True
            break
        if all(len(heap) == limit and heap[0] >= value for heap, value in zip(largest, key, strict=True)) and (
            len(key) == 1 or np.count_nonzero((held[:count] >= key).all(axis=1)) >= limit
        ):
            continue
        kept[position] = True
        held[count] = key
        count += 1
        for heap, value in zip(largest, key, strict=True):
            (heapq.heappush if len(heap) < limit else heapq.heappushpop)(heap, value)
    return kept


def lower_bound(reduced: Reduced, highest: float, clock: Clock | None = None) -> float:
    """Return a level below which no placement exists, by bisection over relaxations that a dynamic program solves.

    Parameters
    ----------
    reduced : Reduced
        Machines and job.
    highest : float
        Level of a known placement, in model sizes.
    clock : Clock or None, optional
        Deadline; the bound reached by then is valid.

    Returns
    -------
    float
        In model sizes, at most `highest`.
    """
    low = min(highest, max(reduced.background, _largest_server(reduced)))
    with contextlib.suppress(OutOfTime):
        relaxation = _Relaxation(reduced, clock or Clock())
        if relaxation.admits(low):
            return low
        high = highest
        while high - low > _SLACK * high:
            middle = (low + high) / 2
            if not low < middle < high:
                break
            if relaxation.admits(middle):
                high = middle
            else:
                low = middle
    return low


def _largest_server(reduced: Reduced) -> float:
    """Return the least load of a machine that hosts the largest server: t_i + w M + S (W - 2 w) at S >= s_1.

    With 2 w <= W the load grows with S, so S = s_1 is best; otherwise S = 1 (all servers) bounds it from below, and the
    load is linear in w, so that the ends of each range suffice.
    """
    total, size = reduced.workers, float(reduced.sizes[0])
    best = np.inf
    for w in {0, total // 2, total // 2 + 1, total}:
        counts = np.minimum(w, reduced.most_workers)
        factor = total - 2 * counts
        load = reduced.traffic + counts + np.where(factor >= 0, size * factor, factor)
        best = min(best, float(load.min()))
    return best


class _Relaxation:
    """Necessary conditions for a level: enough room for the servers of at least each size, by number and by sum.

    Both search for worker counts w_i with sum w_i = W that maximise a sum over machines: the number of servers of at
    least the size that fit, or the share of the model that they can hold, which is 0 if no such server fits.
    """

    def __init__(self, reduced: Reduced, clock: Clock) -> None:
        self._reduced, self._clock = reduced, clock
        distinct = np.unique(reduced.sizes[reduced.sizes > 0])[::-1]
        steps = reduced.workers * float((reduced.most_workers + 1).sum())
        most = int(np.clip(_MOST_STEPS / steps, 1, _MOST_SIZES))
        if len(distinct) > most:
            # always keep the last: the smallest size represents all servers together
            distinct = distinct[np.linspace(len(distinct) - 1, 0, most).astype(int)[::-1]]
        self._least = distinct
        self._numbers = np.array([(reduced.sizes >= size).sum() for size in distinct], dtype=np.float64)
        sums = np.array([reduced.sizes[reduced.sizes >= size].sum() for size in distinct])
        self._needs = np.concatenate([self._numbers, sums * (1 - _SLACK)])

    def admits(self, level: float) -> bool:
        """Return False if no placement has all loads at most the level (in model sizes); raise OutOfTime."""
        reduced = self._reduced
        total = reduced.workers
        best = np.full((len(self._needs), total + 1), -np.inf)
        best[:, 0] = 0.0
        for traffic, most in zip(reduced.traffic.tolist(), reduced.most_workers.tolist(), strict=True):
            self._clock.require()
            values = self._values(level - traffic, np.arange(most + 1))
            extended = best + values[:, :1]
            for w in range(1, most + 1):
                np.maximum(extended[:, w:], best[:, :-w] + values[:, w : w + 1], out=extended[:, w:])
            best = extended
        return bool((best[:, total] >= self._needs).all())

    def _values(self, room: float, counts: np.ndarray) -> np.ndarray:
        """Return what each worker count leaves room for: servers of at least each size, then their sum."""
        factor = self._reduced.workers - 2 * counts
        rest = (room - counts) + _SLACK * (1 + abs(room))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(factor > 0, rest / factor, 1.0)
        share = np.minimum(share, 1.0)
        # with 2 w > W a floor of more than the whole model cannot be met
        possible = np.where(factor < 0, rest >= factor, rest >= 0)
        parts = np.minimum(np.floor(share * (1 + _SLACK) / self._least[:, None]), self._numbers[:, None])
        sums = np.minimum(share, parts * float(self._reduced.sizes[0]))
        return np.where(possible, np.vstack([parts, sums]), -np.inf)
