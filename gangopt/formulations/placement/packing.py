"""Packing of pieces with a class of servers into servers."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

import numpy as np

from gangopt.formulations.placement.data import PlacementData

__all__ = ["ClassPieces", "pack_pieces"]

ClassPieces = dict[int, list[tuple[int, int, int]]]
"""Pieces (class, parameter servers, workers) by job."""

Amounts = tuple[int, ...]


def pack_pieces(
    data: PlacementData, pieces: ClassPieces, rng: np.random.Generator | None = None
) -> dict[int, tuple[tuple[int, int, int], ...]]:
    """Pack pieces into servers, class by class, by best fit with the largest first.

    The size of a piece is its largest share of a resource of its class. It goes to the server with the least remaining
    sum of shares, ties to the lowest index. A job with a piece that fits on no server is left out, but the room taken
    by its other pieces stays taken. Two pieces of a job on one server are merged, which does not cost more.

    Parameters
    ----------
    data : PlacementData
        Servers and jobs.
    pieces : ClassPieces
        Pieces (class, parameter servers, workers) by job.
    rng : numpy.random.Generator or None, optional
        Generator to vary the order: each size is multiplied by a random factor from 0.7 to 1.3; None for no variation.

    Returns
    -------
    dict
        Pieces (server, parameter servers, workers) of the completely packed jobs, servers ascending.
    """
    failed: set[int] = set()
    found: dict[int, dict[int, tuple[int, int]]] = {j: {} for j in pieces}
    for c, item in enumerate(data.classes):
        unit = [max(1, room) for room in item.capacity]
        rows = [
            (j, x, y, data.jobs[j].need((x, y))) for j, of_job in sorted(pieces.items()) for d, x, y in of_job if d == c
        ]
        sizes = np.array(
            [max(map(float.__truediv__, map(float, row[3]), map(float, unit)), default=0.0) for row in rows]
        )
        if rng is not None:
            sizes = sizes * rng.uniform(0.7, 1.3, len(rows))
        room = _Room(item.servers, item.capacity, unit)
        for at in np.argsort(-sizes, kind="stable").tolist():
            j, x, y, need = rows[at]
            server = None if j in failed else room.best_fit(need)
            if server is None:
                failed.add(j)
                continue
            before = found[j].get(server, (0, 0))
            found[j][server] = (before[0] + x, before[1] + y)
    return {j: tuple((k, x, y) for k, (x, y) in sorted(held.items())) for j, held in found.items() if j not in failed}


class _Room:
    """Free amounts of the servers of one class, grouped by equal amounts."""

    def __init__(self, servers: Sequence[int], capacity: Amounts, unit: Sequence[int]) -> None:
        self._unit = unit
        self._servers: dict[Amounts, list[int]] = {capacity: list(servers)}
        self._left: dict[Amounts, float] = {capacity: self._share(capacity)}

    def _share(self, free: Amounts) -> float:
        return sum(a / b for a, b in zip(free, self._unit, strict=True))

    def best_fit(self, need: Amounts) -> int | None:
        """Take room from the fullest server with enough of it and return its index, None if there is none."""
        best: tuple[float, int, Amounts] | None = None
        for free, servers in self._servers.items():
            if all(a >= b for a, b in zip(free, need, strict=True)):
                candidate = (self._left[free], servers[0], free)
                best = candidate if best is None or candidate < best else best
        if best is None:
            return None
        _, server, free = best
        servers = self._servers[free]
        del servers[bisect_left(servers, server)]
        if not servers:
            del self._servers[free], self._left[free]
        left = tuple(a - b for a, b in zip(free, need, strict=True))
        self._left[left] = self._share(left)
        insort(self._servers.setdefault(left, []), server)
        return server
