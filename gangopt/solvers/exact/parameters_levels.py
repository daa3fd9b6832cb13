"""Least size difference at each number of cuts: proven bounds and assignments, without a general solver."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from gangopt.instances.parameters import ParametersInstance
from gangopt.solvers.exact.parameters_groups import Assignment, group_lpt, groupings
from gangopt.solvers.exact.parameters_lattice import Lattice, lattices
from gangopt.solvers.exact.parameters_pack import pack

__all__ = ["Clock", "Level", "LevelSearch", "search_of"]

_MAX_GROUPINGS = 200
_MAX_EFFORT = 3_000_000_000
_MAX_EFFORT_ONCE = 300_000_000


class Clock:
    """A moment at which to stop.

    Parameters
    ----------
    seconds : wall seconds from now, None for never
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.perf_counter() + seconds

    def expired(self) -> bool:
        """Return whether the moment has come."""
        return self._end is not None and time.perf_counter() >= self._end


@dataclass(frozen=True)
class Level:
    """What is known of the least size difference with a number of cuts.

    Attributes
    ----------
    cuts : most cuts allowed, c
    assignment : the best grouped assignment found
    bound : proven lower bound on the size difference of every assignment with at most that many cuts, in parameters
    """

    cuts: int
    assignment: Assignment
    bound: int

    @property
    def proven(self) -> bool:
        """Whether the assignment attains the bound."""
        return self.assignment.difference == self.bound


@dataclass(frozen=True)
class _Witness:
    """A relaxation that does not exclude a window of loads."""

    servers: tuple[int, ...]
    lattice: Lattice
    low: int
    high: int


class LevelSearch:
    """Levels of one instance, each computed once.

    Parameters
    ----------
    instance : blocks and servers
    """

    def __init__(self, instance: ParametersInstance) -> None:
        self.sizes: list[int] = instance.sizes.tolist()
        self.servers = instance.servers
        self.total = instance.total
        self._descending = sorted(self.sizes, reverse=True)
        self._lattices = lattices(self.sizes, self.servers)
        self._known: dict[int, Level] = {}
        self._effort = 0

    @property
    def trivial_bound(self) -> int:
        """0 if the servers divide the total, else 1: no number of cuts gives less, p - 1 cuts always attain it."""
        return int(self.total % self.servers > 0)

    def level(self, cuts: int, clock: Clock) -> Level:
        """Return the best assignment and bound with at most `cuts` cuts, found until the clock stops.

        Parameters
        ----------
        cuts : most cuts; more than p - 1 are no use
        clock : when to stop; what was cut short is not remembered

        Returns
        -------
        Level
        """
        cuts = min(cuts, self.servers - 1)
        if cuts not in self._known:
            level = self._search(cuts, clock)
            if clock.expired():
                return level
            self._known[cuts] = level
        return self._known[cuts]

    def large_blocks_bound(self, cuts: int) -> int:
        """Return ceil(b_1 / (c+1)) - min over m of floor((total - m largest) / (p - m - c)), at least the trivial bound.

        A group has at most c + 1 servers, and the m largest blocks are in at most m groups of at most m + c servers.

        Parameters
        ----------
        cuts : c

        Returns
        -------
        int
            In parameters.
        """
        return max(self.trivial_bound, -(-self._descending[0] // (cuts + 1)) - self._largest_low(cuts))

    def _largest_low(self, cuts: int) -> int:
        """Return a bound on the least loaded server's parameters."""
        rests = itertools.accumulate(self._descending, lambda rest, size: rest - size, initial=self.total)
        others = range(self.servers - cuts, 0, -1)
        shares = [self.total // self.servers] + [
            rest // other for other, rest in itertools.islice(zip(others, rests, strict=False), 1, None)
        ]
        # fewer blocks than servers that must each hold one: some server stays empty
        return 0 if len(self.sizes) < self.servers - cuts else min(shares)

    def _search(self, cuts: int, clock: Clock) -> Level:
        parts = list(itertools.islice(groupings(self.servers, self.servers - cuts), _MAX_GROUPINGS + 1))
        best = group_lpt(self.sizes, parts[0])
        bound = self.large_blocks_bound(cuts)
        for servers in parts[1:_MAX_GROUPINGS]:
            if best.difference == bound or clock.expired():
                break
            best = min(best, group_lpt(self.sizes, servers), key=lambda item: item.difference)
        if best.difference > bound and len(parts) <= _MAX_GROUPINGS:
            bound, witnesses = self._raise_bound(cuts, parts, bound, best.difference, clock)
            best = self._improve(cuts, witnesses, bound, best, clock)
        return Level(cuts, best, bound)

    def _raise_bound(
        self, cuts: int, parts: list[tuple[int, ...]], bound: int, difference: int, clock: Clock
    ) -> tuple[int, list[_Witness]]:
        """Bisect the least size difference that no relaxation excludes; widths only grow more possible."""
        self._effort = 0
        low, high, width = bound, difference, difference - 1
        witnesses: list[_Witness] = []
        while low < high and not clock.expired():
            found = [item for servers in parts for item in self._admitting(cuts, servers, width, clock)]
            if clock.expired() and not found:
                break
            if found:
                high, witnesses = width, found
                parts = [servers for servers in parts if any(item.servers == servers for item in found)]
            else:
                low = width + 1
            width = (low + high) // 2
        return low, witnesses

    def _admitting(self, cuts: int, servers: tuple[int, ...], width: int, clock: Clock) -> list[_Witness]:
        """Return a witness of every relaxation if none excludes the width for a grouping, else nothing.

        A relaxation that is too large to be looked at excludes nothing and has no witness.
        """
        least = max(-(-self.total // self.servers), -(-self._descending[0] // servers[0]))
        most = self._largest_low(cuts) + width
        if least > most:
            return []
        witnesses = []
        for lattice, candidates in self._cheapest_first(servers, width, least, most):
            for high in candidates:
                low = max(0, high - width)
                self._effort += lattice.effort(servers, low, high)
                if self._effort > _MAX_EFFORT or clock.expired() or lattice.layers(servers, low, high) is not None:
                    witnesses.append(_Witness(servers, lattice, low, high))
                    break
            else:
                return []
        return witnesses or [_Witness(servers, self._lattices[0], 0, most)]

    def _cheapest_first(
        self, servers: tuple[int, ...], width: int, least: int, most: int
    ) -> list[tuple[Lattice, Sequence[int]]]:
        found = []
        for lattice in self._lattices:
            candidates = lattice.candidates(servers, width, least, most)
            if candidates is not None:
                effort = sum(lattice.effort(servers, max(0, high - width), high) for high in candidates)
                if effort <= _MAX_EFFORT_ONCE:
                    found.append((effort, lattice, candidates))
        return [item[1:] for item in sorted(found, key=lambda item: item[0])]

    def _improve(self, cuts: int, witnesses: list[_Witness], bound: int, best: Assignment, clock: Clock) -> Assignment:
        """Look for assignments at the bound, then at widths that double above it."""
        step = 0
        while bound + step < best.difference and not clock.expired() and self._effort <= _MAX_EFFORT:
            for witness in witnesses:
                found = self._build(witness)
                if found is not None:
                    best = min(best, found, key=lambda item: item.difference)
                if best.difference <= bound + step:
                    return best
            step = 2 * step + 1
            wider = sorted({item.servers for item in witnesses})
            width = min(bound + step, best.difference - 1)
            witnesses = [item for servers in wider for item in self._admitting(cuts, servers, width, clock)]
        return best

    def _build(self, witness: _Witness) -> Assignment | None:
        layers = witness.lattice.layers(witness.servers, witness.low, witness.high)
        if layers is None:
            return None
        shares = witness.lattice.trace(witness.servers, witness.low, witness.high, layers)
        return pack(self.sizes, witness.servers, witness.lattice, shares, witness.high)


@lru_cache(maxsize=16)
def search_of(instance: ParametersInstance) -> LevelSearch:
    """Return the search of an instance, the same object for equal instances of one process.

    Parameters
    ----------
    instance : blocks and servers

    Returns
    -------
    LevelSearch
    """
    return LevelSearch(instance)


def levels(instance: ParametersInstance, clock: Clock) -> Sequence[Level]:
    """Return the levels from no cut to the first that attains the trivial bound.

    Parameters
    ----------
    instance : blocks and servers
    clock : when to stop

    Returns
    -------
    sequence of Level
    """
    search = search_of(instance)
    found: list[Level] = []
    for cuts in range(instance.servers):
        found.append(search.level(cuts, clock))
        if found[-1].assignment.difference == search.trivial_bound or clock.expired():
            break
    return found
