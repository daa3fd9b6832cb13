"""Free GPUs by machine: the part of a state that a replay's inner loop works on."""

from __future__ import annotations

from typing import Self

import numpy as np

from gangopt.base.types import Ints
from gangopt.topology._cluster import Cluster

__all__ = ["FreeGpus", "Place"]

Place = tuple[tuple[int, int], ...]
"""Pairs of machine index and GPUs, in order of machine index."""


class FreeGpus:
    """The number of free GPUs of each machine of a cluster.

    Parameters
    ----------
    cluster : Cluster
        The cluster, all of it free at first.

    Attributes
    ----------
    capacity : ndarray of int
        GPUs in each machine, shape (machines,).
    free : ndarray of int
        Free GPUs in each machine, shape (machines,).
    rack : ndarray of int
        Rack index of each machine, shape (machines,).

    Notes
    -----
    Nothing is checked here: this is for callers who know that a place is free. `State` checks and keeps owners.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.capacity: Ints = cluster.gpus_per_machine
        self.free: Ints = self.capacity.copy()
        self.rack: Ints = cluster.machine_rack
        self._largest_first = np.cumsum(np.sort(self.capacity)[::-1])

    def copy(self) -> Self:
        """Return an independent copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.free = self.free.copy()
        return twin

    def fewest(self, gpus: int) -> int:
        """Return the smallest number of machines that holds a number of GPUs in an empty cluster."""
        return int(np.searchsorted(self._largest_first, gpus)) + 1

    def take(self, place: Place) -> None:
        """Occupy the GPUs of a place."""
        for machine, count in place:
            self.free[machine] -= count

    def release(self, place: Place) -> None:
        """Release the GPUs of a place."""
        for machine, count in place:
            self.free[machine] += count

    def level(self, place: Place) -> str:
        """Return the narrowest of the levels `machine`, `rack` and `cluster` that holds a place."""
        if len(place) == 1:
            return "machine"
        racks = {int(self.rack[machine]) for machine, _ in place}
        return "rack" if len(racks) == 1 else "cluster"
