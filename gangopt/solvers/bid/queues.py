"""Assign jobs to queues of equal GPUs so that the longest queue is as short as possible (P||Cmax), in integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import gcd, lcm
from typing import TYPE_CHECKING

import numpy as np

from gangopt.solvers.bid.queues_improve import improved
from gangopt.solvers.bid.splits import longest_first
from gangopt.solvers.core.exact_fit import exact_fit

if TYPE_CHECKING:
    from gangopt.solvers.highs import SolveSettings

__all__ = [
    "QueueSplit",
    "longest_queue",
    "lower_bound",
    "queues_with_solver",
    "queues_without_solver",
    "whole_times",
]

MORE_STEPS = 2_000
"""Random steps of the search for better queues once the relaxed flow has left a gap."""


LOOKS = 400_000
"""Items examined by the search for exact fits: about a tenth of a second."""


@dataclass(frozen=True)
class QueueSplit:
    """Queues with a bound.

    Attributes
    ----------
    queues : list of int
        Queue of every job.
    longest : int
        Length of the longest queue, in the unit of the times.
    bound : int
        Lower bound on the longest queue of any split.
    """

    queues: list[int]
    longest: int
    bound: int

    @property
    def proven(self) -> bool:
        """True if the longest queue is proven optimal."""
        return self.longest == self.bound


def whole_times(times: Sequence[float]) -> tuple[list[int], Fraction]:
    """Return times as integer multiples of their largest common unit, and the unit, without rounding.

    Parameters
    ----------
    times : sequence of float
        Times, s, above 0.

    Returns
    -------
    tuple of list of int and Fraction
        Multiples, and the unit in s.
    """
    exact = [Fraction(item) for item in times]
    denominator = lcm(*(item.denominator for item in exact))
    multiples = [item.numerator * (denominator // item.denominator) for item in exact]
    divisor = gcd(*multiples)
    return [item // divisor for item in multiples], Fraction(divisor, denominator)


def lower_bound(times: Sequence[int], gpus: int) -> int:
    r"""Return a lower bound on the length of the longest queue.

    .. math:: \max\Bigl(\lceil \tfrac1g \sum_j p_j \rceil,\;
        \max_{k \ge 0} \sum_{i=0}^{k} p_{(kg+1-i)}\Bigr)

    with p sorted in descending order: of the kg + 1 longest jobs, k + 1 share a GPU.

    Parameters
    ----------
    times : sequence of int
        Integer times.
    gpus : int
        Number of GPUs.
    """
    ordered = sorted(times, reverse=True)
    shared = (sum(ordered[k * gpus - k : k * gpus + 1]) for k in range((len(ordered) - 1) // gpus + 1))
    return max(-(-sum(ordered) // gpus), *shared)


def queues_without_solver(
    times: Sequence[int], gpus: int, *, stopped: Callable[[], bool] = lambda: False
) -> QueueSplit:
    """Return short queues and a bound: rules first, then a search.

    Start with longest processing time first, and improve it by repartitioning pairs of queues. If that does not meet
    the lower bound, a search for exact fits finds queues of that length or excludes it.

    Parameters
    ----------
    times : sequence of int
        Integer times, > 0.
    gpus : int
        Number of GPUs.
    stopped : callable, optional
        Returns whether to stop with the current result.
    """
    queues = longest_first(np.array(times, dtype=np.float64), gpus).tolist()
    bound = lower_bound(times, gpus)
    queues = improved(times, queues, gpus, bound, stopped=stopped)
    best = QueueSplit(queues, longest_queue(times, queues), bound)
    return best if stopped() else _fitted(times, gpus, best)


def _fitted(times: Sequence[int], gpus: int, best: QueueSplit) -> QueueSplit:
    """Search for queues of the length of the bound; raise the bound whenever none exist."""
    looks = LOOKS
    while not best.proven and looks > 0:
        fit = exact_fit([(item,) for item in times], [(best.bound,)] * gpus, looks)
        if fit.bins is not None:
            return replace(best, queues=fit.bins, longest=best.bound)
        if not fit.decided:
            break
        best, looks = replace(best, bound=best.bound + 1), fit.looks
    return best


def longest_queue(times: Sequence[int], queues: Sequence[int]) -> int:
    """Return the length of the longest queue.

    Parameters
    ----------
    times : sequence of int
        Integer times.
    queues : sequence of int
        Queue of every job.
    """
    loads: Counter[int] = Counter()
    for item, queue in zip(times, queues, strict=True):
        loads[queue] += item
    return max(loads.values())


def queues_with_solver(
    times: Sequence[int],
    gpus: int,
    best: QueueSplit,
    settings: Callable[[], SolveSettings | None],
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> QueueSplit:
    """Close the gap of queues by flows in HiGHS.

    Bisection finds the least length that the linear relaxation of a flow does not exclude, which is a bound, and
    integer flows look for queues there and, by bisection, above.

    Parameters
    ----------
    times : sequence of int
        Integer times, > 0.
    gpus : int
        Number of GPUs.
    best : QueueSplit
        The queues and the bound to start from.
    settings : callable
        Returns the settings of each HiGHS solve, or None to stop.
    stopped : callable, optional
        Returns whether to stop with the current result.
    """
    from gangopt.solvers.bid.queues_flow import FlowAnswer, queues_by_flow

    known = best.longest

    @cache
    def believed() -> bool:
        """Return whether HiGHS accepts the known queues; if not, its answers on shorter ones cannot be trusted."""
        chosen = settings()
        return chosen is not None and queues_by_flow(times, gpus, known, chosen, relaxed=True).fits is not False

    def ask(length: int, *, relaxed: bool) -> FlowAnswer:
        chosen = settings()
        if chosen is None:
            return FlowAnswer(None)
        answer = queues_by_flow(times, gpus, length, chosen, relaxed=relaxed)
        return FlowAnswer(None) if answer.fits is False and not believed() else answer

    low, high = best.bound, best.longest
    while low < high:
        middle = (low + high) // 2
        answer = ask(middle, relaxed=True)
        if answer.fits is None:
            break
        low, high = (low, middle) if answer.fits else (middle + 1, high)
    queues = improved(times, best.queues, gpus, low, steps=MORE_STEPS, stopped=stopped)
    best = QueueSplit(queues, longest_queue(times, queues), low)
    best = best if stopped() else _fitted(times, gpus, best)
    middle = best.bound
    while best.bound < best.longest:
        answer = ask(middle, relaxed=False)
        if answer.fits is None:
            break
        if answer.queues is not None:
            best = QueueSplit(answer.queues, longest_queue(times, answer.queues), best.bound)
        else:
            best = replace(best, bound=middle + 1)
        middle = (best.bound + best.longest) // 2
    return best
