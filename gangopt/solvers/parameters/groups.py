"""Enumerate ways to merge servers into groups, and assign whole blocks to groups by a fast rule."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from gangopt.instances.parameters.grouping import Assignment, spread

__all__ = ["group_lpt", "groupings"]


def groupings(servers: int, groups: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield every way to write the number of servers as a sum of group sizes, the most even ones first.

    Parameters
    ----------
    servers : int
        Number of servers p to split.
    groups : int
        Number of groups, each of at least one server.
    largest : int or None, optional
        Maximum size of a group.

    Yields
    ------
    tuple of int
        Group sizes in descending order.
    """
    if servers == groups == 0:
        yield ()
    if not 1 <= groups <= servers:
        return
    most = servers - groups + 1 if largest is None else min(largest, servers - groups + 1)
    for first in range(-(-servers // groups), most + 1):
        # all copies of one size at a time, so that the recursion is only as deep as there are different sizes
        for copies in range(1, min(groups, servers // first) + 1):
            for rest in groupings(servers - first * copies, groups - copies, first - 1):
                yield (first,) * copies + rest


def group_lpt(sizes: Sequence[int], servers: tuple[int, ...], least_high: int = 0) -> Assignment:
    """Put blocks in descending size into the group g with the smallest (T_g + b) / s_g, ties to the first group.

    Parameters
    ----------
    sizes : sequence of int
        Parameters of each block, b.
    servers : tuple of int
        Servers of each group, s_g.
    least_high : int, optional
        As in `spread`.
    """
    totals = [0] * len(servers)
    groups = [0] * len(sizes)
    # among groups of one size the least loaded is best, so a heap per size suffices
    heaps = {count: [(0, g) for g, other in enumerate(servers) if other == count] for count in sorted(set(servers))}
    for block in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        size = sizes[block]
        chosen = None
        for count, heap in heaps.items():
            total, group = heap[0]
            rank = (total + size, count, group)
            # a / s < b / t is compared as a t < b s, in integers
            if chosen is None or (rank[0] * chosen[1], group) < (chosen[0] * count, chosen[2]):
                chosen = rank
        assert chosen is not None
        load, count, group = chosen
        heapq.heapreplace(heaps[count], (load, group))
        totals[group] = load
        groups[block] = group
    return Assignment(servers, tuple(groups), spread(totals, servers, least_high))
