"""Free GPUs per machine, and placement rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.types import Ints
from gangopt.topology import FreeGpus, Place

__all__ = ["RULES", "SURE", "Machines", "Place"]


class Machines(FreeGpus):
    """Free GPUs of the machines of a cluster, with the rules that place a gang on them."""

    def packed(self, gpus: int) -> Place | None:
        """Place a gang on the fewest machines with enough free GPUs.

        This is the machine with the fewest free GPUs that holds the gang. If no machine does, those with the most free
        GPUs are filled in turn, and the remainder is placed by best fit again. Ties are broken by machine index.
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
        """Place a gang like `packed`, but only if it uses no more machines than in an empty cluster."""
        place = self.packed(gpus)
        return place if place is not None and len(place) <= self.fewest(gpus) else None

    def fragments(self, gpus: int) -> Place | None:
        """Place a gang on the machines with the fewest free GPUs first to reduce fragmentation."""
        order = np.argsort(self.free, kind="stable")
        return self._in_turn(order[self.free[order] > 0], gpus)

    def spread(self, gpus: int) -> Place | None:
        """Place each GPU of a gang on the machine with the most free GPUs; ties are broken by machine index."""
        if gpus > int(self.free.sum()):
            return None
        free = self.free.copy()
        for _ in range(gpus):
            free[int(np.argmax(free))] -= 1
        taken = self.free - free
        return tuple((int(machine), int(taken[machine])) for machine in np.flatnonzero(taken))

    def even(self, gpus: int) -> Place | None:
        """Place a gang evenly on the fewest machines, those with the most free GPUs first.

        The first machines get one GPU more if the number is not divisible. Ties are broken by machine index. Without an
        even split that fits, the gang is placed like `packed`.
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
"""Rules by name; each returns None if it cannot place the gang now."""


SURE: frozenset[str] = frozenset(RULES) - {"consolidated"}
"""Rules that place every gang if there are enough free GPUs."""


def rule(name: str) -> Callable[[Machines, int], Place | None]:
    """Return a placement rule by name.

    Raises
    ------
    InputError
        If there is no such rule.
    """
    if name not in RULES:
        raise unknown("placement rule", name, list(RULES))
    return RULES[name]
