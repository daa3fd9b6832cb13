"""Minimum size difference at each number of cuts: proven bounds and assignments, without a general solver."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from gangopt.instances.parameters.grouping import Assignment
from gangopt.instances.parameters.instance import ParametersInstance
from gangopt.solvers.core.clock import Clock, OutOfTime
from gangopt.solvers.parameters.groups import group_lpt, groupings
from gangopt.solvers.parameters.lattice import Lattice, lattices
from gangopt.solvers.parameters.pack import pack

__all__ = ["Level", "LevelSearch", "search_of"]

_MAX_GROUPINGS = 200
_MAX_EFFORT = 4_000_000_000


@dataclass(frozen=True)
class Level:
    """Best known assignment and bound of the size difference for a number of cuts.

    Attributes
    ----------
    cuts : int
        Maximum cuts allowed, c.
    assignment : Assignment
        The best grouped assignment found.
    bound : int
        Proven lower bound on the size difference of every assignment with at most that many cuts, in parameters.
    """

    cuts: int
    assignment: Assignment
    bound: int

    @property
    def proven(self) -> bool:
        """True if the assignment attains the bound."""
        return self.assignment.difference == self.bound


@dataclass(frozen=True)
class _Witness:
    """A relaxation that does not exclude a window of loads."""

    servers: tuple[int, ...]
    lattice: Lattice
    low: int
    high: int


class LevelSearch:
    """Levels of a list of blocks, each computed once; thread-safe.

    Parameters
    ----------
    sizes : list of int
        Parameters of each block.
    servers : int
        P.
    least_high : int, optional
        Parameters of a server beyond the p ones, counted in the maximum only.
    """

    def __init__(self, sizes: list[int], servers: int, least_high: int = 0) -> None:
        self.sizes = sizes
        self.servers = servers
        self.total = sum(sizes)
        self._floor = least_high
        self._lock = threading.RLock()
        self._descending: list[int] = sorted(self.sizes, reverse=True)
        self._known: dict[int, Level] = {}
        self._effort = 0
        self._allowance = 0
        self._lattices: list[Lattice] | None = None

    @property
    def trivial_bound(self) -> int:
        """0 if p divides the total, else 1; a bound at any number of cuts, always attained by p - 1 cuts."""
        return int(self.total % self.servers > 0)

    def level(self, cuts: int, clock: Clock) -> Level:
        """Return the best assignment and bound with at most `cuts` cuts found before the deadline.

        Parameters
        ----------
        cuts : int
            Maximum cuts; more than p - 1 have no effect.
        clock : Clock
            Deadline; unfinished levels are not cached.
        """
        cuts = min(cuts, self.servers - 1)
        with self._lock:
            if cuts not in self._known:
                large = 0 if cuts else self._large_blocks()
                level = self._with_large_blocks_alone(large, clock) if large else self._search(cuts, clock)
                if large and not level.proven and not clock.expired():
                    level = _better(level, self._search(cuts, clock))
                if clock.expired():
                    return level
                self._known[cuts] = level
            return self._known[cuts]

    def learn(self, level: Level) -> None:
        """Keep a level found or proved by another method, where it is better.

        Parameters
        ----------
        level : Level
            Assignment and bound that hold for its number of cuts.
        """
        with self._lock:
            known = self._known.get(level.cuts)
            if known is not None:
                self._known[level.cuts] = _better(known, level)

    def _large_blocks(self) -> int:
        """Return the number of blocks larger than the load that the least loaded server can have without cuts.

        Such a block may as well be alone: moving the rest of its server to the least loaded one lowers the former,
        leaves the latter below the former's old load, and so does not increase the difference.
        """
        low = self._largest_low(0)
        count = sum(size > low for size in self.sizes)
        return count if count < min(self.servers, len(self.sizes)) else 0

    def _with_large_blocks_alone(self, count: int, clock: Clock) -> Level:
        order = sorted(range(len(self.sizes)), key=lambda block: -self.sizes[block])
        alone, rest = order[:count], sorted(order[count:])
        others = LevelSearch(
            [self.sizes[block] for block in rest], self.servers - count, max(self._floor, self._descending[0])
        ).level(0, clock)
        groups = [0] * len(self.sizes)
        for group, block in enumerate(alone):
            groups[block] = group
        for group, block in zip(others.assignment.groups, rest, strict=True):
            groups[block] = count + group
        assignment = Assignment((1,) * self.servers, tuple(groups), others.assignment.difference)
        return Level(0, assignment, max(others.bound, self.large_blocks_bound(0)))

    def large_blocks_bound(self, cuts: int) -> int:
        """Return ceil(b_1 / (c+1)) - min over m of floor((total - m largest) / (p - m - c)), or the trivial bound.

        A group has at most c + 1 servers, and the m largest blocks are in at most m groups of at most m + c servers.

        Parameters
        ----------
        cuts : int
            Number of cuts c.

        Returns
        -------
        int
            Bound, in parameters.
        """
        high = max(self._floor, -(-self._descending[0] // (cuts + 1)))
        return max(self.trivial_bound, high - self._largest_low(cuts))

    def _largest_low(self, cuts: int) -> int:
        """Return a bound on the least loaded server's parameters."""
        rest = self.total
        shares = [rest // self.servers]
        for others, size in zip(range(self.servers - cuts - 1, 0, -1), self._descending, strict=False):
            rest -= size
            shares.append(rest // others)
        # with fewer blocks than servers that must each hold one, some server stays empty
        return 0 if len(self.sizes) < self.servers - cuts else min(shares)

    def _least_high(self, servers: tuple[int, ...]) -> int:
        """Return the smallest U at which, for every k, the groups hold k blocks of the size of the k-th largest.

        A group of s servers has room for floor(s U / b) blocks of b parameters.
        """
        low = max(self._floor, -(-self.total // self.servers), -(-self._descending[0] // servers[0]))
        high = max(low, self._descending[0])
        large = [size for size in self._descending[: self.servers] if size > low]
        while low < high:
            middle = (low + high) // 2
            rooms = (sum(count * middle // size for count in servers) for size in large)
            if all(room >= k for k, room in enumerate(rooms, start=1)):
                high = middle
            else:
                low = middle + 1
        return low

    def _search(self, cuts: int, clock: Clock) -> Level:
        parts = list(itertools.islice(groupings(self.servers, self.servers - cuts), _MAX_GROUPINGS + 1))
        best = group_lpt(self.sizes, parts[0], self._floor)
        bound = self.large_blocks_bound(cuts)
        for servers in parts[1:_MAX_GROUPINGS]:
            if best.difference == bound or clock.expired():
                break
            best = min(best, group_lpt(self.sizes, servers, self._floor), key=lambda item: item.difference)
        if best.difference > bound and len(parts) <= _MAX_GROUPINGS and not clock.expired():
            bound, witnesses = self._raise_bound(cuts, parts, bound, best.difference, clock)
            best = self._improve(cuts, witnesses, bound, best, clock)
        return Level(cuts, best, bound)

    def _raise_bound(
        self, cuts: int, parts: list[tuple[int, ...]], bound: int, difference: int, clock: Clock
    ) -> tuple[int, list[_Witness]]:
        """Search for the smallest size difference that no relaxation excludes.

        First try just below the attained difference, which is then proven if excluded; otherwise go upwards from the
        bound in doubling steps, since narrow windows are cheap, and then bisect.
        """
        self._effort = 0
        self._allowance = _MAX_EFFORT // (4 * len(parts))
        low, high, width, step = bound, difference, difference - 1, 1
        witnesses: list[_Witness] = []
        with contextlib.suppress(OutOfTime):
            while low < high and not clock.expired():
                found = {servers: self._admitting(cuts, servers, width, clock) for servers in parts}
                parts = [servers for servers, admitting in found.items() if admitting is not None] or parts
                if all(admitting is None for admitting in found.values()):
                    low = width + 1
                    step *= 2
                else:
                    high = width
                    witnesses = [item for admitting in found.values() for item in admitting or ()]
                width = min(low + step - 1, (low + high) // 2)
        return low, witnesses

    def _admitting(self, cuts: int, servers: tuple[int, ...], width: int, clock: Clock) -> list[_Witness] | None:
        """Return None if a relaxation excludes the width for a grouping, else a witness of each relaxation tried.

        A relaxation that is too large to be tried excludes nothing and has no witness.
        """
        clock.require()
        least = self._least_high(servers)
        most = self._largest_low(cuts) + width
        if least > most:
            return None
        witnesses = []
        for lattice, candidates in self._cheapest_first(servers, width, least, most, clock):
            witness = self._witness(lattice, candidates, servers, width, clock)
            if witness is not None:
                witnesses.append(witness)
            elif self._effort <= _MAX_EFFORT:
                return None
        return witnesses

    def _witness(
        self, lattice: Lattice, candidates: Sequence[int], servers: tuple[int, ...], width: int, clock: Clock
    ) -> _Witness | None:
        for high in candidates:
            low = max(0, high - width)
            self._effort += lattice.effort(servers, low, high)
            if self._effort > _MAX_EFFORT:
                return None
            if lattice.layers(servers, low, high, clock) is not None:
                return _Witness(servers, lattice, low, high)
        return None

    def _cheapest_first(
        self, servers: tuple[int, ...], width: int, least: int, most: int, clock: Clock
    ) -> list[tuple[Lattice, Sequence[int]]]:
        if self._lattices is None:
            self._lattices = lattices(self.sizes, self.servers, clock)
        found = []
        for lattice in self._lattices:
            clock.require()
            candidates = lattice.candidates(servers, width, least, most)
            if candidates is not None:
                effort = sum(lattice.effort(servers, max(0, high - width), high) for high in candidates)
                if effort <= self._allowance:
                    found.append((effort, lattice, candidates))
        return [item[1:] for item in sorted(found, key=lambda item: item[0])]

    def _improve(self, cuts: int, witnesses: list[_Witness], bound: int, best: Assignment, clock: Clock) -> Assignment:
        """Search for assignments at the bound, then at doubling widths above it."""
        step = 0
        with contextlib.suppress(OutOfTime):
            while bound + step < best.difference and self._effort <= _MAX_EFFORT:
                for witness in witnesses:
                    found = self._build(witness, clock)
                    if found is not None:
                        best = min(best, found, key=lambda item: item.difference)
                    if best.difference <= bound + step:
                        return best
                step = 2 * step + 1
                wider = sorted({item.servers for item in witnesses})
                width = min(bound + step, best.difference - 1)
                clock.require()
                witnesses = [item for servers in wider for item in self._admitting(cuts, servers, width, clock) or ()]
        return best

    def _build(self, witness: _Witness, clock: Clock) -> Assignment | None:
        layers = witness.lattice.layers(witness.servers, witness.low, witness.high, clock)
        if layers is None:
            return None
        shares = witness.lattice.trace(witness.servers, witness.low, witness.high, layers)
        return pack(self.sizes, witness.servers, witness.lattice, shares, witness.high, self._floor, clock)


def _better(one: Level, other: Level) -> Level:
    best = min(one.assignment, other.assignment, key=lambda item: item.difference)
    return Level(one.cuts, best, max(one.bound, other.bound))


@lru_cache(maxsize=16)
def search_of(instance: ParametersInstance) -> LevelSearch:
    """Return the search of an instance, cached so that equal instances of a process share it.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    """
    return LevelSearch(instance.sizes.tolist(), instance.servers)
