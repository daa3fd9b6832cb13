"""Free GPUs by machine, and the rules by which a job's GPUs are chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.types import Ints
from gangopt.topology import Cluster

__all__ = ["RULES", "SURE", "Machines", "Place"]

Place = tuple[tuple[int, int], ...]
"""(machine index, GPUs) in order of machine index."""


class Machines:
    """Free GPUs of the machines of a cluster.

    Parameters
    ----------
    cluster : Cluster
        Cluster.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.capacity: Ints = np.array(cluster.gpus_per_machine, dtype=np.int64)
        self.free: Ints = self.capacity.copy()
        self._rack: Ints = np.array(cluster.machine_rack, dtype=np.int64)
        self._largest_first = np.cumsum(np.sort(self.capacity)[::-1])

    def fewest(self, gpus: int) -> int:
        """Return on how many machines a gang fits at least when the cluster is empty."""
        return int(np.searchsorted(self._largest_first, gpus)) + 1

    def take(self, place: Place) -> None:
        """Hold the GPUs of a place."""
        for machine, count in place:
            self.free[machine] -= count

    def release(self, place: Place) -> None:
        """Give the GPUs of a place back."""
        for machine, count in place:
            self.free[machine] += count

    def level(self, place: Place) -> str:
        """Return the narrowest level that holds a place: `machine`, `rack` or `cluster`."""
        if len(place) == 1:
            return "machine"
        racks = {int(self._rack[machine]) for machine, _ in place}
        return "rack" if len(racks) == 1 else "cluster"

    def packed(self, gpus: int) -> Place | None:
        """Place a gang on the fewest machines that are free enough now.

        The machine with the least free GPUs that holds the whole gang; without one, the machines with the most free
        GPUs in turn, the last one by best fit again. Ties by machine index.
        """
        fitting = np.flatnonzero(self.free >= gpus)
        if len(fitting):
            return ((int(fitting[np.argmin(self.free[fitting])]), gpus),)
        if gpus > int(self.free.sum()):
            return None
        chosen: dict[int, int] = {}
        free = self.free.copy()
        left = gpus
        while left:
            fitting = np.flatnonzero(free >= left)
            if len(fitting):
                chosen[int(fitting[np.argmin(free[fitting])])] = left
                break
            fullest = int(np.argmax(free))
            chosen[fullest] = int(free[fullest])
            left -= int(free[fullest])
            free[fullest] = 0
        return tuple(sorted(chosen.items()))

    def consolidated(self, gpus: int) -> Place | None:
        """Place a gang as `packed` does, but only if it then takes no more machines than in an empty cluster."""
        place = self.packed(gpus)
        return place if place is not None and len(place) <= self.fewest(gpus) else None

    def fragments(self, gpus: int) -> Place | None:
        """Place a gang on the machines with the fewest free GPUs first, which reduces fragmentation."""
        order = np.argsort(self.free, kind="stable")
        return self._in_turn(order[self.free[order] > 0], gpus)

    def spread(self, gpus: int) -> Place | None:
        """Place a gang GPU by GPU, each one on the machine with the most free GPUs; ties by machine index."""
        if gpus > int(self.free.sum()):
            return None
        free = self.free.copy()
        for _ in range(gpus):
            free[int(np.argmax(free))] -= 1
        taken = self.free - free
        return tuple((int(machine), int(taken[machine])) for machine in np.flatnonzero(taken))

    def even(self, gpus: int) -> Place | None:
        """Place a gang evenly on the fewest machines that hold it so, those with the most free GPUs first.

        The first machines get one GPU more where the number does not divide; ties by machine index. Where no even
        split fits, as `packed`.
        """
        order = np.argsort(-self.free, kind="stable")
        free = self.free[order]
        for k in range(1, min(len(order), gpus) + 1):
            counts = np.full(k, gpus // k, dtype=np.int64)
            counts[: gpus % k] += 1
            if (counts <= free[:k]).all():
                return tuple(sorted(zip(order[:k].tolist(), counts.tolist(), strict=True)))
        return self.packed(gpus)

    def _in_turn(self, order: Ints, gpus: int) -> Place | None:
        filled = np.cumsum(self.free[order])
        if not len(filled) or filled[-1] < gpus:
            return None
        last = int(np.searchsorted(filled, gpus))
        counts = self.free[order[: last + 1]].copy()
        counts[-1] -= filled[last] - gpus
        return tuple(sorted(zip(order[: last + 1].tolist(), counts.tolist(), strict=True)))


RULES: Mapping[str, Callable[[Machines, int], Place | None]] = {
    "packed": Machines.packed,
    "even": Machines.even,
    "consolidated": Machines.consolidated,
    "fragments": Machines.fragments,
    "spread": Machines.spread,
}
"""Rules by name; each returns None where it does not place the gang now."""


SURE: frozenset[str] = frozenset(RULES) - {"consolidated"}
"""Rules that place every gang for which there are GPUs enough."""


def rule(name: str) -> Callable[[Machines, int], Place | None]:
    """Return a placement rule by name.

    Raises
    ------
    InputError
        Names the rules if there is none of this name.
    """
    if name not in RULES:
        raise unknown("placement rule", name, list(RULES))
    return RULES[name]
