"""Build assignments from the shares of the groups in a relaxation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from gangopt.instances.parameters.grouping import Assignment, spread
from gangopt.solvers.core.clock import Clock
from gangopt.solvers.parameters.lattice import Lattice, Share

__all__ = ["pack"]

_STEPS = 400
_MAX_BITS = 4_000_000
_MAX_TABLE = 2_000_000_000
"""Maximum bits of all subset sums of a pool: a quarter of a gigabyte."""


def pack(
    sizes: Sequence[int],
    servers: tuple[int, ...],
    lattice: Lattice,
    shares: Sequence[Share],
    high: int,
    least_high: int = 0,
    clock: Clock | None = None,
) -> Assignment | None:
    """Find whole blocks for every group that give it exactly the coarse sum and at least the fine sum of its share.

    The largest block goes first, to the group that lacks most; then random pairs of groups (seeded) redistribute their
    blocks by an exact subset sum.

    Parameters
    ----------
    sizes : sequence of int
        Parameters of each block.
    servers : tuple of int
        Servers of each group.
    lattice : Lattice
        The relaxation.
    shares : sequence of Share
        Share of each group.
    high : int
        Maximum parameters of a server.
    least_high : int, optional
        As in `spread`.
    clock : Clock or None, optional
        Deadline, None for none.

    Returns
    -------
    Assignment or None
        None if no assignment was found.

    Raises
    ------
    OutOfTime
        If the clock expires.
    """
    clock = clock or Clock()
    order = sorted(range(len(sizes)), key=lambda index: -sizes[index])
    groups = [-1] * len(sizes)
    waiting = {size: [block for block in order if sizes[block] == size] for size, _ in lattice.hosted}
    for group, share in enumerate(shares):
        for (size, _), count in zip(lattice.hosted, share.hosted.counts, strict=True):
            for _ in range(count):
                groups[waiting[size].pop()] = group
    free = [block for block in order if groups[block] < 0]
    coarse = [block for block in free if sizes[block] >= lattice.threshold]
    fine = [block for block in free if sizes[block] < lattice.threshold]
    targets = [share.units * lattice.unit for share in shares]
    if not _fill(sizes, coarse, groups, targets, targets, clock):
        return None
    needs = [share.fill - share.hosted.fine for share in shares]
    rooms = [
        count * high - target - share.hosted.coarse - share.hosted.fine
        for count, target, share in zip(servers, targets, shares, strict=True)
    ]
    if not _fill(sizes, fine, groups, needs, rooms, clock):
        return None
    totals = [0] * len(servers)
    for block, group in enumerate(groups):
        totals[group] += sizes[block]
    return Assignment(servers, tuple(groups), spread(totals, servers, least_high))


def _fill(
    sizes: Sequence[int],
    blocks: Sequence[int],
    groups: list[int],
    needs: Sequence[int],
    rooms: Sequence[int],
    clock: Clock,
) -> bool:
    """Give every block a group, within minimum and maximum of each group; return whether that succeeded."""
    loads = [0] * len(needs)
    for block in blocks:
        group = min(range(len(needs)), key=lambda index: (loads[index] - needs[index], index))
        groups[block] = group
        loads[group] += sizes[block]
    unit = math.gcd(*(sizes[block] for block in blocks), *needs, *rooms) or 1
    if max(loads) // unit > _MAX_BITS:
        return all(need <= load <= room for need, load, room in zip(needs, loads, rooms, strict=True))
    held = [[block for block in blocks if groups[block] == group] for group in range(len(needs))]
    scaled = [size // unit for size in sizes]
    low, high = [need // unit for need in needs], [room // unit for room in rooms]
    done = _repair(scaled, held, low, high, clock)
    for group, members in enumerate(held):
        for block in members:
            groups[block] = group
    return done


def _repair(sizes: Sequence[int], held: list[list[int]], low: Sequence[int], high: Sequence[int], clock: Clock) -> bool:
    """Redistribute the blocks of pairs of groups until all are within their limits; return whether that succeeded."""
    generator = np.random.default_rng(0)

    def excess(group: int, load: int) -> int:
        return max(0, low[group] - load, load - high[group])

    loads = [sum(sizes[block] for block in members) for members in held]
    for _ in range(_STEPS):
        wrong = [group for group, load in enumerate(loads) if excess(group, load)]
        if not wrong:
            return True
        if len(held) == 1:
            return False
        one = wrong[int(generator.integers(len(wrong)))]
        others = [group for group in range(len(held)) if group != one]
        other = others[int(generator.integers(len(others)))]
        pool = [*held[one], *held[other]]
        generator.shuffle(pool)
        total = loads[one] + loads[other]
        clock.require()
        if len(pool) * total > _MAX_TABLE:
            return False
        reached = list(itertools.accumulate(pool, lambda bits, block: bits | bits << sizes[block], initial=1))
        wanted = (low[one], high[one], total - low[other], total - high[other])
        sums = sorted({near for value in wanted for near in _nearest(reached[-1], min(max(value, 0), total))})
        chosen = min(sums, key=lambda load: excess(one, load) + excess(other, total - load))
        held[one], held[other] = _subset(sizes, pool, reached, chosen)
        loads[one], loads[other] = chosen, total - chosen
    return False


def _nearest(bits: int, value: int) -> list[int]:
    """Return the nearest set bits at or below and at or above a position."""
    below = bits & ((1 << (value + 1)) - 1)
    above = bits >> value
    found = [below.bit_length() - 1] if below else []
    return [*found, value + (above & -above).bit_length() - 1] if above else found


def _subset(
    sizes: Sequence[int], pool: Sequence[int], reached: Sequence[int], chosen: int
) -> tuple[list[int], list[int]]:
    """Return blocks of the pool that add up to `chosen`, and the others; `reached[i]` has the sums of the first i."""
    inside, outside = [], []
    rest = chosen
    for position in range(len(pool) - 1, -1, -1):
        block = pool[position]
        if reached[position] >> rest & 1:
            outside.append(block)
        else:
            inside.append(block)
            rest -= sizes[block]
    return inside, outside
