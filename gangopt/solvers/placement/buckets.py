"""Servers sorted by free resources while jobs are placed."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from operator import sub

import numpy as np

from gangopt.base.types import Bools, Ints
from gangopt.instances.placement.instance import PlacementInstance

__all__ = ["Free", "FreeServers"]

Free = tuple[int, ...]


class FreeServers:
    """Servers in buckets of equal free amounts, so that placing a job moves only the servers it uses.

    Servers are ordered by descending free amounts of the leading resource, then of the others in order, then by index.
    The leading resource is `cpu` if there is one, else the first.

    Parameters
    ----------
    instance : PlacementInstance
        The placement; every server is empty at first.
    """

    def __init__(self, instance: PlacementInstance) -> None:
        R = instance.capacity_millionths.shape[1]
        self.leading = instance.resources.index("cpu") if "cpu" in instance.resources else 0
        self._order = [self.leading, *(r for r in range(R) if r != self.leading)]
        self.total: list[int] = instance.capacity_millionths.sum(axis=0).tolist()
        kinds, kind = np.unique(instance.capacity_millionths, axis=0, return_inverse=True)
        kind = kind.reshape(-1)
        self._buckets: dict[Free, tuple[Free, list[int]]] = {}
        self._keys: list[Free] = []
        for number, row in enumerate(kinds.tolist()):
            self._bucket(tuple(row)).extend(np.flatnonzero(kind == number).tolist())

    def _key(self, free: Free) -> Free:
        return tuple([-free[r] for r in self._order])

    def _bucket(self, free: Free) -> list[int]:
        """Return the servers with these free amounts, in a new empty list if there are none."""
        key = self._key(free)
        if key not in self._buckets:
            self._buckets[key] = (free, [])
            insort(self._keys, key)
        return self._buckets[key][1]

    def runs(self, inside: Bools | None = None) -> Iterator[tuple[Free, list[int]]]:
        """Yield (free amounts, indices of the servers with them) from the emptiest servers to the fullest.

        Parameters
        ----------
        inside : ndarray of bool or None, optional
            Mask of the servers that count, shape (K,); None for all.
        """
        for key in self._keys:
            free, bucket = self._buckets[key]
            yield free, bucket if inside is None else [k for k in bucket if inside[k]]

    def free_in(self, domain: Ints) -> Ints:
        """Return the free amount of the leading resource in each node of a level, millionths of the unit.

        Parameters
        ----------
        domain : ndarray of int
            Index of the node of each server, shape (K,).
        """
        total = np.zeros(int(domain.max()) + 1, dtype=np.int64)
        for free, bucket in self._buckets.values():
            np.add.at(total, domain[bucket], free[self.leading])
        return total

    def take(self, server: int, free: Free, need: Free) -> None:
        """Take an amount from a server.

        Parameters
        ----------
        server : int
            Its index.
        free : Free
            Its current free amounts, millionths of the unit.
        need : Free
            Amounts to take.
        """
        bucket = self._bucket(free)
        del bucket[bisect_left(bucket, server)]
        if not bucket:
            key = self._key(free)
            del self._buckets[key]
            del self._keys[bisect_left(self._keys, key)]
        insort(self._bucket(tuple(map(sub, free, need))), server)
        self.total = list(map(sub, self.total, need))
