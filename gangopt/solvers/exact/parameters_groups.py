"""Cutting blocks as merging servers into groups: groupings of the servers, whole blocks in groups, and the cut itself."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gangopt.instances.parameters import ParametersInstance, ParametersSolution

__all__ = ["Assignment", "cut", "group_lpt", "groupings", "spread"]


@dataclass(frozen=True)
class Assignment:
    """Whole blocks in groups of servers.

    Attributes
    ----------
    servers : number of servers of each group, s_g
    groups : group of each block
    difference : max_g ceil(T_g / s_g) - min_g floor(T_g / s_g) in parameters, T_g the parameters of group g
    """

    servers: tuple[int, ...]
    groups: tuple[int, ...]
    difference: int


def groupings(servers: int, groups: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield every way to write the number of servers as a sum of group sizes, the most even ones first.

    Parameters
    ----------
    servers : p, to be split
    groups : number of groups, each of at least one server
    largest : size that no group may exceed

    Yields
    ------
    tuple of int
        Group sizes in descending order.
    """
    if groups == 0:
        if servers == 0:
            yield ()
        return
    most = servers - groups + 1 if largest is None else min(largest, servers - groups + 1)
    for first in range(-(-servers // groups), most + 1):
        for rest in groupings(servers - first, groups - 1, first):
            yield (first, *rest)


def spread(totals: Sequence[int], servers: Sequence[int]) -> int:
    """Return the least size difference to which groups can be cut: max ceil(T_g / s_g) - min floor(T_g / s_g).

    Parameters
    ----------
    totals : parameters of each group
    servers : servers of each group

    Returns
    -------
    int
        In parameters.
    """
    pairs = list(zip(totals, servers, strict=True))
    return max(-(-total // count) for total, count in pairs) - min(total // count for total, count in pairs)


def group_lpt(sizes: Sequence[int], servers: tuple[int, ...]) -> Assignment:
    """Put the largest block left into the group g of least (T_g + b) / s_g, ties to the first group.

    Parameters
    ----------
    sizes : parameters of each block, b
    servers : servers of each group, s_g

    Returns
    -------
    Assignment
    """
    totals = [0] * len(servers)
    groups = [0] * len(sizes)
    # among groups of one size the least loaded is best, so each size needs only its heap
    heaps = {count: [(0, g) for g, other in enumerate(servers) if other == count] for count in sorted(set(servers))}
    for block in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        size = sizes[block]
        chosen = None
        for count, heap in heaps.items():
            total, group = heap[0]
            rank = (total + size, count, group)
            # a / s < b / t is compared as a t < b s, in whole numbers
            if chosen is None or (rank[0] * chosen[1], group) < (chosen[0] * count, chosen[2]):
                chosen = rank
        assert chosen is not None
        load, count, group = chosen
        heapq.heapreplace(heaps[count], (load, group))
        totals[group] = load
        groups[block] = group
    return Assignment(servers, tuple(groups), spread(totals, servers))


def cut(instance: ParametersInstance, assignment: Assignment) -> ParametersSolution:
    """Cut the blocks of every group over its servers with at most s_g - 1 cuts.

    The blocks of a group are laid end to end in their order; the line is cut after ceil(T_g / s_g) parameters T_g mod
    s_g times, then after floor(T_g / s_g). Groups take the servers in order.

    Parameters
    ----------
    instance : blocks and servers
    assignment : whole blocks in groups

    Returns
    -------
    ParametersSolution
        With at most as many requests as blocks and cuts.
    """
    sizes = instance.sizes.tolist()
    parts: list[list[tuple[int, int]]] = [[] for _ in sizes]
    members: list[list[int]] = [[] for _ in assignment.servers]
    for block, group in enumerate(assignment.groups):
        members[group].append(block)
    first = 0
    for count, blocks in zip(assignment.servers, members, strict=True):
        share, extra = divmod(sum(sizes[block] for block in blocks), count)
        rooms = [share + (k < extra) for k in range(count)]
        server = 0
        for block in blocks:
            rest = sizes[block]
            while rest:
                if rooms[server] == 0:
                    server += 1
                    continue
                amount = min(rest, rooms[server])
                parts[block].append((first + server, amount))
                rooms[server] -= amount
                rest -= amount
        first += count
    return ParametersSolution(tuple(map(tuple, parts)))
