"""Shorten the longest queue by repartitioning pairs of queues, with random steps when no pair helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

__all__ = ["improved"]

BITS = 20_000_000
"""Maximum bits of the sums of two queues; longer times are rounded for the search, but results are measured exactly."""

PAIRS = 50
"""Maximum number of queues tried together with the longest before a random step."""

STEPS = 100
"""Random steps before the search gives up."""


def improved(
    times: Sequence[int],
    queues: Sequence[int],
    gpus: int,
    bound: int,
    *,
    steps: int = STEPS,
    stopped: Callable[[], bool] = lambda: False,
) -> list[int]:
    """Return queues whose longest queue is no longer, and often at the bound.

    The longest queue is repartitioned with each other one, shortest first, as evenly as subset sums allow; the first
    pair that makes both shorter is kept. If there is none, two random queues are repartitioned so that neither exceeds
    the longest. Random choices are seeded with 0.

    Parameters
    ----------
    times : sequence of int
        Integer times.
    queues : sequence of int
        Queue of every job.
    gpus : int
        Number of queues.
    bound : int
        Length at which to stop.
    steps : int, optional
        Maximum number of random steps.
    stopped : callable, optional
        Returns whether to stop with the current result.

    Returns
    -------
    list of int
        Queue of every job.
    """
    state = _State(times, _grid(times, gpus), queues, gpus)
    best, shortest = state.queues(), state.longest()
    generator = np.random.default_rng(0)
    left = steps
    while shortest > bound and gpus > 1 and not stopped():
        if state.shorten():
            if state.longest() < shortest:
                best, shortest = state.queues(), state.longest()
        elif left == 0:
            break
        else:
            state.step(generator)
            left -= 1
    return best


def _grid(times: Sequence[int], gpus: int) -> list[int]:
    """Return times in integer steps, coarse enough that all subset sums of two queues fit into BITS."""
    jobs, length = 2 * (-(-len(times) // gpus)), 2 * max(-(-sum(times) // gpus), *times)
    if jobs * length <= BITS:
        return list(times)
    return [max(1, item * BITS // (jobs * length)) for item in times]


class _State:
    """Jobs in queues, with the lengths of the queues."""

    def __init__(self, times: Sequence[int], grid: list[int], queues: Sequence[int], gpus: int) -> None:
        self.times = times
        self.grid = grid
        self.members: list[list[int]] = [[] for _ in range(gpus)]
        for job, queue in enumerate(queues):
            self.members[queue].append(job)
        self.lengths = [self._length(jobs) for jobs in self.members]

    def _length(self, jobs: list[int]) -> int:
        return sum(self.times[job] for job in jobs)

    def longest(self) -> int:
        return max(self.lengths)

    def queues(self) -> list[int]:
        found = [0] * len(self.times)
        for queue, jobs in enumerate(self.members):
            for job in jobs:
                found[job] = queue
        return found

    def shorten(self) -> bool:
        """Repartition the longest queue with another one so that both are shorter; return whether a pair allows it."""
        longest = self.longest()
        first = self.lengths.index(longest)
        order = sorted((length, queue) for queue, length in enumerate(self.lengths) if queue != first)
        for length, queue in order[:PAIRS]:
            if length < longest - 1 and self._set(first, queue, self._parted(first, queue, 0), longest - 1):
                return True
        return False

    def step(self, generator: np.random.Generator) -> None:
        """Repartition two random queues at a random split that keeps both at most as long as the longest."""
        first, second = generator.choice(len(self.members), 2, replace=False).tolist()
        jobs = self.members[first] + self.members[second]
        room = self.longest() - self._length(jobs) // 2
        steps = room * max(self.grid) // max(self.times)
        self._set(first, second, self._parted(first, second, int(generator.integers(0, steps + 1))), self.longest())

    def _set(self, first: int, second: int, one: list[int], most: int) -> bool:
        taken = set(one)
        other = [job for job in self.members[first] + self.members[second] if job not in taken]
        lengths = self._length(one), self._length(other)
        if max(lengths) > most:
            return False
        self.members[first], self.members[second] = one, other
        self.lengths[first], self.lengths[second] = lengths
        return True

    def _parted(self, first: int, second: int, shift: int) -> list[int]:
        """Return jobs of two queues whose total is the smallest reachable one above half of both plus a shift."""
        jobs = self.members[first] + self.members[second]
        sums = [1]
        for job in jobs:
            sums.append(sums[-1] | (sums[-1] << self.grid[job]))
        total = sum(self.grid[job] for job in jobs)
        half = min(-(-total // 2) + shift, total)
        above = sums[-1] >> half
        target = half + ((above & -above).bit_length() - 1)
        chosen = []
        for k in range(len(jobs) - 1, -1, -1):
            # leave job k out if the target can be reached without it
            if not (sums[k] >> target) & 1:
                chosen.append(jobs[k])
                target -= self.grid[jobs[k]]
        return chosen
