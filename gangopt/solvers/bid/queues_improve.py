"""Shorter longest queues by parting two queues anew, pair by pair, with random steps where no pair helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

__all__ = ["improved"]

BITS = 20_000_000
"""Maximum bits of the sums of two queues: longer times are rounded for the search, what it finds is measured unrounded."""

PAIRS = 50
"""Maximum queues with which the longest is parted anew before a random step."""

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
    """Return queues whose longest is no longer, and often at the bound.

    The longest queue is parted anew with each other one, the shortest first, as evenly as a sum of their jobs allows;
    the first that makes both shorter than the longest was is kept. Where none does, two other queues are parted anew at
    random, neither longer than the longest. Random choices are seeded by 0.

    Parameters
    ----------
    times : sequence of int
        Whole times.
    queues : sequence of int
        Queue of every job.
    gpus : int
        Number of queues.
    bound : int
        Length at which to stop.
    steps : int, optional
        Random steps.
    stopped : callable, optional
        Whether to end with what there is.

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
    """Return times in whole steps, of such a size that all sums of all parts of two queues fit into BITS."""
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
        """Part the longest queue anew with another one so that both are shorter; return whether any pair allows it."""
        longest = self.longest()
        first = self.lengths.index(longest)
        order = sorted((length, queue) for queue, length in enumerate(self.lengths) if queue != first)
        for length, queue in order[:PAIRS]:
            if length < longest - 1 and self._set(first, queue, self._parted(first, queue, 0), longest - 1):
                return True
        return False

    def step(self, generator: np.random.Generator) -> None:
        """Part two random queues anew, at a random place, as long as neither is longer than the longest."""
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
        """Return jobs of two queues whose length is the reachable one nearest above half of both, plus a shift."""
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
            # without job k where that reaches the target, else with it
            if not (sums[k] >> target) & 1:
                chosen.append(jobs[k])
                target -= self.grid[jobs[k]]
        return chosen
