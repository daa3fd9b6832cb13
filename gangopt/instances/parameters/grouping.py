"""Cutting blocks seen as merging servers into groups: whole blocks in groups, the cut itself, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gangopt.base.errors import InputError
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution

__all__ = ["Assignment", "cut", "grouped", "spread"]


@dataclass(frozen=True)
class Assignment:
    """Whole blocks in groups of servers.

    Attributes
    ----------
    servers : tuple of int
        Number of servers of each group, s_g.
    groups : tuple of int
        Group of each block.
    difference : int
        max_g ceil(T_g / s_g) - min_g floor(T_g / s_g) in parameters, T_g the parameters of group g.
    """

    servers: tuple[int, ...]
    groups: tuple[int, ...]
    difference: int


def spread(totals: Sequence[int], servers: Sequence[int], least_high: int = 0) -> int:
    """Return the least size difference to which groups can be cut: max ceil(T_g / s_g) - min floor(T_g / s_g).

    Parameters
    ----------
    totals : sequence of int
        Parameters of each group.
    servers : sequence of int
        Servers of each group.
    least_high : int, optional
        Parameters of a further server that no group has, counted for the maximum only.

    Returns
    -------
    int
        In parameters.
    """
    pairs = list(zip(totals, servers, strict=True))
    return max(least_high, *(-(-total // count) for total, count in pairs)) - min(
        total // count for total, count in pairs
    )


def cut(instance: ParametersInstance, assignment: Assignment) -> ParametersSolution:
    """Cut the blocks of every group over its servers with at most s_g - 1 cuts.

    The blocks of a group are laid end to end in their order; the line is cut after ceil(T_g / s_g) parameters T_g mod
    s_g times, then after floor(T_g / s_g). Groups take the servers in order.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    assignment : Assignment
        Whole blocks in groups.

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


def grouped(instance: ParametersInstance, solution: ParametersSolution, groups: int) -> Assignment:
    """Return whole blocks in groups of servers such that no group shares a block with another.

    Servers that share a block belong together; the smallest such components are merged until `groups` are left. Groups
    come in descending order of their servers.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    solution : ParametersSolution
        A feasible assignment.
    groups : int
        Number of groups, p minus the cuts that are allowed.

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
        raise InputError(f"solution: its blocks leave {len(components)} separate groups, {groups} are needed")
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
