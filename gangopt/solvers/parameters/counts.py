"""Assignments with equal numbers of requests on every server, at the price of cuts."""

from __future__ import annotations

from collections.abc import Iterable

from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution
from gangopt.solvers.core.clock import Clock

__all__ = ["even_split", "level_counts"]


def level_counts(instance: ParametersInstance, requests: int | None) -> list[ParametersSolution]:
    """Deal blocks to the servers in turn, with the fewest further parts that make the requests a multiple of p.

    The further parts have one parameter each and come from the first blocks that are large enough.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    requests : int or None
        Maximum requests, None for no limit.

    Returns
    -------
    list of ParametersSolution
        One assignment of request difference 0; none if no multiple of p can be reached.
    """
    sizes = instance.sizes.tolist()
    servers = instance.servers
    missing = -len(sizes) % servers
    if requests is not None and len(sizes) + missing > requests:
        return []
    amounts = []
    for size in sizes:
        extra = min(missing, size - 1, servers - 1)
        missing -= extra
        amounts.append([size - extra] + [1] * extra)
    return [] if missing else [_deal(amounts, servers)]


def even_split(instance: ParametersInstance, clock: Clock | None = None) -> ParametersSolution:
    """Deal single parameters to the servers in turn, blocks of at least p parameters first.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    clock : Clock or None, optional
        Deadline, None for none.

    Returns
    -------
    ParametersSolution
        Of size difference at most 1.

    Raises
    ------
    OutOfTime
        If the clock expires: there are as many parts as blocks times servers.
    """
    clock = clock or Clock()
    servers = instance.servers
    parts: list[tuple[tuple[int, int], ...]] = [()] * len(instance.sizes)
    first = 0
    for block, size in sorted(enumerate(instance.sizes.tolist()), key=lambda item: item[1] < servers):
        clock.require()
        share, rest = divmod(size, servers)
        held = ((server, share + ((server - first) % servers < rest)) for server in range(servers))
        parts[block] = tuple(part for part in held if part[1])
        first = (first + rest) % servers
    return ParametersSolution(tuple(parts))


def _deal(amounts: Iterable[list[int]], servers: int) -> ParametersSolution:
    position = 0
    parts = []
    for block in amounts:
        parts.append(tuple(((position + k) % servers, amount) for k, amount in enumerate(block)))
        position += len(block)
    return ParametersSolution(tuple(parts))
