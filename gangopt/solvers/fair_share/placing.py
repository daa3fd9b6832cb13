"""Map counts of GPUs, given by rules that ignore places, to machines."""

from __future__ import annotations

import heapq
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gangopt.instances.fair_share.market import Market

__all__ = ["place_counts"]


def place_counts(
    market: Market, counts: NDArray[np.int64], placement: Literal["adverse", "pack", "spread"]
) -> tuple[tuple[int, ...], ...]:
    """Place a count of GPUs for each app, in the order of the apps.

    - `pack`: use up machines in order;
    - `spread`: each GPU goes to the machine with the fewest GPUs of the app; ties go to the most free GPUs, then to
      the lowest index;
    - `adverse`: whichever of the two is worth less to the app; `pack` if they are equal.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    counts : ndarray of int
        GPUs of each app, in total at most the offer, shape (apps,).
    placement : {'adverse', 'pack', 'spread'}
        The rule.

    Returns
    -------
    tuple of tuple of int
        GPUs given, shape (apps, machines).
    """
    free = market.gpus.copy()
    rows = []
    for app, count in enumerate(counts.tolist()):
        row = _spread(count, free) if placement == "spread" else _pack(count, free)
        if placement == "adverse":
            spread = _spread(count, free)
            row = spread if market.value(app, spread) < market.value(app, row) else row
        free = free - row
        rows.append(tuple(row.tolist()))
    return tuple(rows)


def _pack(count: int, free: NDArray[np.int64]) -> NDArray[np.int64]:
    before = np.cumsum(free) - free
    row: NDArray[np.int64] = np.clip(count - before, 0, free)
    return row


def _spread(count: int, free: NDArray[np.int64]) -> NDArray[np.int64]:
    row = np.zeros_like(free)
    waiting = [(0, -gpus, machine) for machine, gpus in enumerate(free.tolist()) if gpus]
    heapq.heapify(waiting)
    for _ in range(count):
        taken, left, machine = heapq.heappop(waiting)
        row[machine] = taken + 1
        if left + 1:
            heapq.heappush(waiting, (taken + 1, left + 1, machine))
    return row
