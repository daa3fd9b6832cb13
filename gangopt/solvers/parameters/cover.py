"""A proof by covering that no assignment of whole blocks has a smaller difference between servers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gangopt.base.interrupts import unless_interrupted

__all__ = ["is_least_difference"]

_MOST_BITS = 1 << 26
_MOST_STEPS = 1 << 36
"""Bits of the set of sums, and bits touched in all: a few seconds at most."""
_MOST_SERVERS, _MOST_COLUMNS, _MOST_SUM = 12, 600, 10**7
"""What is given to HiGHS: few servers, and numbers that it tells apart with certainty."""


def is_least_difference(sizes: Sequence[int], servers: int, difference: int, seconds: float | None = None) -> bool:
    r"""Return whether whole blocks are proven to leave at least this difference between two servers.

    With less, the emptiest server would hold at least :math:`t = H - D + u`, where H is what the fullest one holds at
    least (the largest block, or the mean) and u divides all sizes and D; a D that u does not divide is rounded up. Of
    p servers, those without a block of t or more number at least r = p - m, m being the blocks of t or more; the
    smaller blocks, S together, must fill these. That fails if S < r t; for r = 2 if no subset of them has a sum in
    t..S - t, of which all sums are enumerated; and for a few more servers if HiGHS finds no way to fill each of them to
    t - u/2, which leaves far more room than its tolerances take.

    Parameters
    ----------
    sizes : sequence of int
        Parameters of every block, at least 1.
    servers : int
        P.
    difference : int
        D, parameters.
    seconds : float or None, optional
        Wall time for HiGHS, None for no limit.

    Returns
    -------
    bool
        False also where this argument decides nothing.
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
    """Return whether HiGHS proves that blocks, each in one server at most, cannot fill every server."""
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
    """Return whether a subset has a sum in low..high; True where there are too many sums to enumerate."""
    bits = high // unit + 1
    if bits > _MOST_BITS or bits * len(sizes) > _MOST_STEPS:
        return True
    window = (1 << bits) - 1
    sums = 1
    for size in sizes:
        sums |= (sums << (size // unit)) & window
    return bool(sums >> -(-low // unit))
