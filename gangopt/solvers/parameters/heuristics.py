"""Published and classical rules that assign parameter blocks to servers."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution

__all__ = ["karmarkar_karp", "lpt", "mxnet", "paa", "round_robin"]

MXNET_THRESHOLD = 1_000_000
"""Size in parameters from which MXNet cuts a block over all servers."""

MXNET_PRIME = 9973
"""Factor that MXNet applies to a block's key to pick a server."""


def paa(instance: ParametersInstance) -> ParametersSolution:
    """Apply Optimus's parameter assignment algorithm (PAA).

    With a = floor(total / p), at least 1, blocks are assigned in descending size (equal sizes in their order). Below
    1 % of the mean total / p, a block goes to the server with the fewest requests. Up to a, it goes to the server with
    the least remaining capacity a - load that still holds it, or to the least loaded server if none does. Above a, it
    is cut into parts of a (the last may be smaller), each for the currently least loaded server. Ties go to the lowest
    server.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.

    References
    ----------
    Peng et al.: Optimus, EuroSys 2018, section 5.3.
    """
    servers = instance.servers
    total = instance.total
    mean = max(1, total // servers)
    loads = [0] * servers
    counts = [0] * servers
    parts: list[dict[int, int]] = [{} for _ in instance.sizes]
    # by load, then by descending server, so that the lowest server comes last among equal loads
    ranking = [(0, -server) for server in range(servers - 1, -1, -1)]

    def put(block: int, server: int, amount: int) -> None:
        del ranking[bisect_left(ranking, (loads[server], -server))]
        counts[server] += server not in parts[block]
        parts[block][server] = parts[block].get(server, 0) + amount
        loads[server] += amount
        insort(ranking, (loads[server], -server))

    def fullest(load: int) -> int:
        """Return the fullest server with at most a load, or the least loaded one if there is none."""
        at = bisect_right(ranking, (load, 0)) - 1
        return -ranking[at][1] if at >= 0 else fullest(ranking[0][0])

    blocks = _descending(instance)
    large = [item for item in blocks if item[1] * servers * 100 >= total]
    for block, size in large:
        if size <= mean:
            put(block, fullest(mean - size), size)
        else:
            for start in range(0, size, mean):
                put(block, fullest(ranking[0][0]), min(mean, size - start))
    fewest = [(count, server) for server, count in enumerate(counts)]
    heapq.heapify(fewest)
    for block, size in blocks[len(large) :]:
        count, server = fewest[0]
        parts[block][server] = size
        heapq.heapreplace(fewest, (count + 1, server))
    return ParametersSolution(tuple(tuple(held.items()) for held in parts))


def mxnet(
    instance: ParametersInstance, *, keys: Literal["random", "distinct", "script"] = "random", seed: int = 0
) -> ParametersSolution:
    """Apply MXNet's default rule: blocks below 10^6 parameters on one server, larger ones cut evenly over all.

    The server of a small block is drawn at random (`keys=random`), or is key * 9973 mod p, where the key is the block's
    position (`keys=distinct`) or the position of the first block of equal size (`keys=script`: Optimus's published
    comparison, in which equal blocks share a server). Server k of a cut block gets the parameters from round(b k / p)
    to round(b (k+1) / p), halves rounded up.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    keys : {'random', 'distinct', 'script'}, optional
        How the server of a small block is chosen.
    seed : int, optional
        Seed of the random choice.

    References
    ----------
    Peng et al.: Optimus, EuroSys 2018, section 5.3; MXNet's `kvstore_dist.h`.
    """
    sizes = instance.sizes.tolist()
    servers = instance.servers
    if keys == "random":
        chosen = np.random.default_rng(seed).integers(servers, size=len(sizes)).tolist()
    else:
        first: dict[int, int] = {}
        for position, size in enumerate(sizes):
            first.setdefault(size, position)
        positions = range(len(sizes)) if keys == "distinct" else (first[size] for size in sizes)
        chosen = [position * MXNET_PRIME % servers for position in positions]
    parts: list[tuple[tuple[int, int], ...]] = []
    for size, server in zip(sizes, chosen, strict=True):
        if size < MXNET_THRESHOLD:
            parts.append(((server, size),))
        else:
            ends = [(2 * size * k + servers) // (2 * servers) for k in range(servers + 1)]
            cut = ((k, ends[k + 1] - ends[k]) for k in range(servers))
            parts.append(tuple(part for part in cut if part[1]))
    return ParametersSolution(tuple(parts))


def round_robin(instance: ParametersInstance) -> ParametersSolution:
    """Apply TensorFlow's rule: block i whole on server i mod p.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    """
    return _whole(instance, [block % instance.servers for block in range(len(instance.sizes))])


def lpt(instance: ParametersInstance) -> ParametersSolution:
    """Assign whole blocks in descending size to the least loaded server, ties to the lowest (LPT).

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.

    References
    ----------
    Graham: Bounds on multiprocessing timing anomalies, 1969.
    """
    heap = [(0, server) for server in range(instance.servers)]
    chosen = [0] * len(instance.sizes)
    for block, size in _descending(instance):
        load, server = heap[0]
        chosen[block] = server
        heapq.heapreplace(heap, (load + size, server))
    return _whole(instance, chosen)


def karmarkar_karp(instance: ParametersInstance) -> ParametersSolution:
    """Apply largest differencing: merge the two partial assignments of largest spread until one is left.

    A partial assignment is p loads, of which only differences matter; merging pairs the largest load of one with the
    smallest of the other. Equal spreads are ordered by age, equal loads by server.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.

    References
    ----------
    Karmarkar, Karp: The differencing method of set partitioning, 1982.
    """
    servers = instance.servers
    heap = [(-size, order, [_Pile(size, block)]) for order, (block, size) in enumerate(_descending(instance))]
    heapq.heapify(heap)
    order = len(heap)
    while len(heap) > 1:
        left, right = heapq.heappop(heap)[2], heapq.heappop(heap)[2]
        merged = _difference(left, right, servers)
        spread = merged[0].load - (merged[-1].load if len(merged) == servers else 0)
        heapq.heappush(heap, (-spread, order, merged))
        order += 1
    chosen = [0] * len(instance.sizes)
    for server, pile in enumerate(heap[0][2]):
        for block in _blocks(pile):
            chosen[block] = server
    return _whole(instance, chosen)


class _Pile(NamedTuple):
    """Load of one server of a partial assignment, and its blocks as a tree of pairs (merging costs no copies)."""

    load: int
    blocks: int | tuple[Any, Any]


def _difference(left: list[_Pile], right: list[_Pile], servers: int) -> list[_Pile]:
    """Merge two partial assignments, piles in descending order; servers without a pile are empty."""
    overlap = len(left) + len(right) - servers
    if overlap <= 0:
        merged = left + right
    else:
        # the smallest piles of both meet: the last of left with the last of right, in opposite orders
        kept_left, kept_right = len(left) - overlap, len(right) - overlap
        pairs = zip(left[kept_left:], reversed(right[kept_right:]), strict=True)
        met = [_Pile(one.load + two.load, (one.blocks, two.blocks)) for one, two in pairs]
        merged = left[:kept_left] + met + right[:kept_right]
    return sorted(merged, key=lambda pile: -pile.load)


def _blocks(pile: _Pile) -> Iterator[int]:
    stack: list[Any] = [pile.blocks]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(item)
        else:
            yield item


def _descending(instance: ParametersInstance) -> list[tuple[int, int]]:
    """Return (block, size) in descending size, equal sizes in their order."""
    return sorted(enumerate(instance.sizes.tolist()), key=lambda item: -item[1])


def _whole(instance: ParametersInstance, servers: list[int]) -> ParametersSolution:
    pairs = zip(servers, instance.sizes.tolist(), strict=True)
    return ParametersSolution(tuple((pair,) for pair in pairs))
