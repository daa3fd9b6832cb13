"""Equivalence of cutting blocks and grouping servers: uncut blocks in groups, the cut, and its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gangopt.base.errors import InputError
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution

__all__ = ["Assignment", "cut", "grouped", "spread"]


@dataclass(frozen=True)
class Assignment:
    """Assignment of uncut blocks to groups of servers.

    Attributes
    ----------
    servers : tuple of int
        Number s_g of servers of each group.
    groups : tuple of int
        Group of each block.
    difference : int
        Size difference max_g ceil(T_g / s_g) - min_g floor(T_g / s_g), with T_g the parameters of group g.
    """

    servers: tuple[int, ...]
    groups: tuple[int, ...]
    difference: int


def spread(totals: Sequence[int], servers: Sequence[int], least_high: int = 0) -> int:
    """Return the smallest size difference of cut groups: max ceil(T_g / s_g) - min floor(T_g / s_g).

    Parameters
    ----------
    totals : sequence of int
        Parameters of each group.
    servers : sequence of int
        Servers of each group.
    least_high : int, optional
        Parameters of a further server outside all groups, which counts for the maximum only.

    Returns
    -------
    int
        Difference in parameters.
    """
    pairs = list(zip(totals, servers, strict=True))
    return max(least_high, *(-(-total // count) for total, count in pairs)) - min(
        total // count for total, count in pairs
    )


def cut(instance: ParametersInstance, assignment: Assignment) -> ParametersSolution:
    """Cut the blocks of every group over its servers with at most s_g - 1 cuts.

    The blocks of a group are laid end to end in their order and divided among its servers: the first T_g mod s_g of
    them hold ceil(T_g / s_g) parameters, the others floor(T_g / s_g). Groups take the servers in order.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    assignment : Assignment
        Assignment of uncut blocks to groups.

    Returns
    -------
    ParametersSolution
        Assignment with at most as many requests as blocks and cuts together.
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


def grouped(instance: ParametersInstance, solution: ParametersSolution, groups: int) -> Assignment:
    """Return groups of servers such that no two groups share a block.

    Servers that share a block form a component; the smallest components are merged until `groups` are left. Groups are
    in descending order of their number of servers.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    solution : ParametersSolution
        A feasible assignment.
    groups : int
        Number of groups: the servers minus the allowed cuts.

    Raises
    ------
    InputError
        If the blocks connect the servers to fewer groups.
    """
    home = list(range(instance.servers))

    def root(server: int) -> int:
        while home[server] != server:
            home[server] = home[home[server]]
            server = home[server]
        return server

    for parts in solution.parts:
        for server, _ in parts[1:]:
            home[root(server)] = root(parts[0][0])
    members: dict[int, list[int]] = {}
    for server in range(instance.servers):
        members.setdefault(root(server), []).append(server)
    components = sorted(members.values(), key=lambda item: (-len(item), item))
    if len(components) < groups:
        raise InputError(f"solution must leave at least {groups} separate groups (got {len(components)})")
    while len(components) > groups:
        last = components.pop()
        components[-1] = sorted(components[-1] + last)
        components.sort(key=lambda item: (-len(item), item))
    where = {server: group for group, item in enumerate(components) for server in item}
    chosen = tuple(where[parts[0][0]] for parts in solution.parts)
    servers = tuple(len(item) for item in components)
    totals = [0] * len(servers)
    for group, size in zip(chosen, instance.sizes.tolist(), strict=True):
        totals[group] += size
    return Assignment(servers, chosen, spread(totals, servers))
