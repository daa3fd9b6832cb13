"""Queue length and GPU usage over time, and a Gantt grid of a replay, from its log."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gangopt.base.types import Floats, Ints
from gangopt.replays.log import ARRIVE, END, START, STOP

if TYPE_CHECKING:
    from gangopt.replays.log import Log
    from gangopt.replays.result import Replay

__all__ = ["Timeline", "gantt", "timeline"]


@dataclass(frozen=True)
class Timeline:
    """Means over equal time bins.

    Attributes
    ----------
    edges : ndarray of float
        Edges of the bins, s since the first arrival, shape (n + 1,).
    queue : ndarray of float
        Mean number of waiting jobs, shape (n,).
    allocated : ndarray of float
        Mean number of GPUs held by jobs, shape (n,).
    used : ndarray of float
        Mean number of GPUs held by jobs that progress, i.e. without start delays, shape (n,).
    """

    edges: Floats
    queue: Floats
    allocated: Floats
    used: Floats


def timeline(replay: Replay, stretches: int = 400) -> Timeline:
    """Return queue length and GPU usage from the first arrival to the last end.

    Parameters
    ----------
    replay : Replay
        Replay of at least one job.
    stretches : int, optional
        Number of time bins.
    """
    log = replay.log
    time, kind, gpus = log.time, log.kind, log.gpus
    edges = np.linspace(time[0], time[-1], stretches + 1)
    waits = np.select([(kind == ARRIVE) | (kind == STOP), kind == START], [1, -1], 0)
    holds = np.select([kind == START, (kind == STOP) | (kind == END)], [gpus, -gpus], 0)
    allocated = _means(time, holds, edges)
    idle_from, idle_to, idle_gpus = _delays(log)
    idle = _means(np.concatenate([idle_from, idle_to]), np.concatenate([idle_gpus, -idle_gpus]), edges)
    return Timeline(edges, _means(time, waits, edges), allocated, allocated - idle)


def _means(time: Floats, steps: Ints, edges: Floats) -> Floats:
    """Return the mean of the cumulative sum of steps in each bin."""
    if not len(time):
        return np.zeros(len(edges) - 1)
    order = np.argsort(time, kind="stable")
    at, level = time[order], np.cumsum(steps[order]).astype(np.float64)
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(at))])
    widths = np.diff(edges)
    means = np.divide(np.diff(np.interp(edges, at, area)), widths, out=np.zeros(len(widths)), where=widths > 0)
    return np.asarray(means)


def _delays(log: Log) -> tuple[Floats, Floats, Ints]:
    """Return begins, ends and GPUs of the periods in which GPUs were held without progress."""
    kind, job, time, delay = log.kind, log.job, log.time, log.delay
    runs = np.flatnonzero(kind != ARRIVE)
    # the events of a job alternate between start and stop (or end)
    runs = runs[np.argsort(job[runs], kind="stable")]
    starts, leaves = runs[::2], runs[1::2]
    late = delay[starts] > 0
    begin = time[starts][late]
    return begin, np.minimum(begin + delay[starts][late], time[leaves][late]), log.gpus[starts][late]


def gantt(replay: Replay, columns: int = 1200, most_runs: int = 200_000) -> tuple[Ints, float, float, int]:
    """Return the job of each GPU over time as a grid.

    A job gets the free GPUs with the lowest numbers, on its machines if there are any.

    Parameters
    ----------
    replay : Replay
        Replay of at least one job.
    columns : int, optional
        Number of time bins.
    most_runs : int, optional
        Number of starts after which the grid ends.

    Returns
    -------
    grid : ndarray of int
        Job at the beginning of each bin or, if there is none, one that ran during the bin; -1 for none; shape
        (GPUs, columns).
    begin, end : float
        Limits of the grid, s since the first arrival.
    runs : int
        Number of starts in the grid.
    """
    log = replay.log
    time, kind, job, gpus = log.time, log.kind, log.job, log.gpus
    starts = np.flatnonzero(kind == START)
    last = len(time) if len(starts) <= most_runs else int(starts[most_runs])
    begin, end = float(time[0]), float(time[last - 1])
    grid = np.full((replay.n_gpus, columns), -1, dtype=np.int64)
    at_column = (time[:last] - begin) / max(end - begin, 1e-9) * columns
    # a run that ends at the edge between two bins is not in the later one
    at_column = np.where(kind[:last] == START, np.floor(at_column), np.ceil(at_column) - 1)
    column = np.clip(at_column, 0, columns - 1).astype(np.int64)
    free = _FreeGpus(replay)
    places = log.places() if len(free.pools) > 1 else None
    held: dict[int, tuple[list[int], int]] = {}
    for at in range(last):
        if kind[at] == START:
            place = ((0, int(gpus[at])),) if places is None else places[at]
            held[int(job[at])] = (free.take(place), int(column[at]))
        elif kind[at] != ARRIVE:
            rows, first = held.pop(int(job[at]))
            _paint(grid, rows, first, max(first, int(column[at])), int(job[at]))
            free.release(rows)
    for one, (rows, first) in held.items():
        _paint(grid, rows, first, columns - 1, one)
    return grid, begin, end, min(len(starts), most_runs)


def _paint(grid: Ints, rows: list[int], first: int, last: int, job: int) -> None:
    block = grid[rows, first : last + 1]
    block[:, 1:] = job
    block[block[:, 0] == -1, 0] = job
    grid[rows, first : last + 1] = block


class _FreeGpus:
    """Numbers of the free GPUs of each machine, lowest first."""

    def __init__(self, replay: Replay) -> None:
        sizes = list(replay.machine_gpus) or [replay.n_gpus]
        firsts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        self.pools = [list(range(first, last)) for first, last in itertools.pairwise(firsts)]
        self._machine = np.repeat(np.arange(len(sizes)), sizes).tolist()

    def take(self, place: tuple[tuple[int, int], ...]) -> list[int]:
        return [heapq.heappop(self.pools[machine]) for machine, count in place for _ in range(count)]

    def release(self, rows: list[int]) -> None:
        for row in rows:
            heapq.heappush(self.pools[self._machine[row]], row)
