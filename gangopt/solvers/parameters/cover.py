"""Covering proof that no assignment of whole blocks has a smaller difference between servers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gangopt.base.interrupts import unless_interrupted

__all__ = ["is_least_difference"]

_MOST_BITS = 1 << 26
_MOST_STEPS = 1 << 36
"""Maximum bits of the set of sums, and bits touched in total: a few seconds at most."""
_MOST_SERVERS, _MOST_COLUMNS, _MOST_SUM = 12, 600, 10**7
"""Limits for HiGHS: few servers, and numbers that it distinguishes with certainty."""


def is_least_difference(sizes: Sequence[int], servers: int, difference: int, seconds: float | None = None) -> bool:
    r"""Return whether whole blocks are proven to leave at least this difference between two servers.

    With a smaller difference, every server would hold at least :math:`t = H - D + u`, where H is a lower bound on the
    fullest one (the largest block, or the mean) and u divides all sizes and D; D is rounded up to a multiple of u.
    With m blocks of t or more, at least r = p - m servers have none of them and must be filled by the smaller blocks,
    with sum S. That is impossible if S < r t; for r = 2 if no subset has a sum in t..S - t (all sums are enumerated);
    and for a few more servers if HiGHS cannot fill each of them to t - u/2, a margin far above its tolerances.

    Parameters
    ----------
    sizes : sequence of int
        Parameters of every block, at least 1.
    servers : int
        Number of servers p.
    difference : int
        Difference D, parameters.
    seconds : float or None, optional
        Wall time for HiGHS, None for no limit.

    Returns
    -------
    bool
        False also if the argument is inconclusive.
    """
    unit = math.gcd(*sizes)
    mean = -(-sum(sizes) // (servers * unit)) * unit
    least = max(*sizes, mean) - (difference - 1) // unit * unit
    if least <= 0:
        return False
    small = [size for size in sizes if size < least]
    rest, total = servers - (len(sizes) - len(small)), sum(small)
    if rest > 0 and total < rest * least:
        return True
    if rest == 2:
        return not _has_sum(small, unit, least, total - least)
    return 3 <= rest <= _MOST_SERVERS and _cannot_fill([size // unit for size in small], rest, least // unit, seconds)


def _cannot_fill(sizes: Sequence[int], servers: int, least: int, seconds: float | None) -> bool:
    """Return whether HiGHS proves that blocks, each on at most one server, cannot fill every server."""
    if sum(sizes) > _MOST_SUM or len(sizes) * servers > _MOST_COLUMNS:
        return False
    import numpy as np
    from scipy.sparse import identity, kron, vstack

    from gangopt.solvers.highs import LinearArrays, SolveSettings, solve_arrays

    n = len(sizes)
    placed_once = kron(identity(n), np.ones((1, servers)))
    filled = kron(np.asarray(sizes, dtype=np.float64)[None, :], identity(servers))
    low = np.concatenate([np.full(n, -np.inf), np.full(servers, least - 0.5)])
    high = np.concatenate([np.ones(n), np.full(servers, np.inf)])
    arrays = LinearArrays.from_matrix(
        np.zeros(n * servers), vstack([placed_once, filled]).tocsr(), low, high, 0, 1, True
    )
    outcome = unless_interrupted(solve_arrays(arrays, SolveSettings(time_limit=seconds, explain=False)))
    return outcome.termination == "infeasible"


def _has_sum(sizes: Sequence[int], unit: int, low: int, high: int) -> bool:
    """Return whether a subset has a sum in low..high; True if there are too many sums to enumerate."""
    bits = high // unit + 1
    if bits > _MOST_BITS or bits * len(sizes) > _MOST_STEPS:
        return True
    window = (1 << bits) - 1
    sums = 1
    for size in sizes:
        sums |= (sums << (size // unit)) & window
    return bool(sums >> -(-low // unit))
