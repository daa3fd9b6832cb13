"""A relaxation of the grouped assignment that knows most blocks only by their sum and a common divisor."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gangopt.solvers.core.clock import Clock

__all__ = ["Hosted", "Lattice", "Share", "lattices"]

_NEVER = np.int64(1) << 60
_MAX_COMBINATIONS = 400
_MOST_LOGS = math.log(_MAX_COMBINATIONS) + 1e-9
_MAX_CANDIDATES = 2_000
_MAX_SIZES = 500
_MAX_DISTINCT = 40
_MAX_PLAIN = 2
_MAX_COARSE = 4


class Hosted(NamedTuple):
    """Some of the hosted blocks.

    Their number by size, the sums of the coarse and fine ones in parameters, and the whole units in the coarse ones.
    """

    counts: tuple[int, ...]
    coarse: int
    fine: int
    units: int


class Share(NamedTuple):
    """Blocks of one group: multiples of the unit, hosted blocks, and the fewest fine parameters it then requires."""

    deficit: int
    units: int
    hosted: Hosted
    fill: int


@dataclass(frozen=True)
class Lattice:
    """Blocks split into coarse ones (at least `threshold`) and fine ones; the sizes of most are not tracked.

    A group's coarse sum is k `unit` + (coarse hosted blocks); its fine sum is congruent to its fine hosted blocks
    modulo `fine_unit` and at least their sum. Only totals over all groups are kept: of k, of the hosted blocks, and of
    the fine parameters. Every assignment satisfies this, so a level that is infeasible here is infeasible.

    Attributes
    ----------
    threshold : int
        Least size of a coarse block, in parameters.
    unit, fine_unit : int
        Divisors, in parameters.
    hosted : tuple of tuple of int
        (size, count) of the blocks tracked individually: those not divisible by their unit, and the coarse ones above
        a server's fair share; coarse ones first.
    coarse_hosted : int
        Number of entries of `hosted` that are coarse.
    multiples : int
        Sum of the other coarse blocks, in units.
    fine_total : int
        Sum of all fine blocks, in parameters.
    """

    threshold: int
    unit: int
    fine_unit: int
    hosted: tuple[tuple[int, int], ...]
    coarse_hosted: int
    multiples: int
    fine_total: int

    @cached_property
    def combinations(self) -> tuple[Hosted, ...]:
        """All choices of hosted blocks for one group."""
        return tuple(
            self._hosted(counts) for counts in itertools.product(*(range(count + 1) for _, count in self.hosted))
        )

    def _hosted(self, counts: tuple[int, ...]) -> Hosted:
        chosen = [(size, count) for (size, _), count in zip(self.hosted, counts, strict=True)]
        coarse, fine = chosen[: self.coarse_hosted], chosen[self.coarse_hosted :]
        return Hosted(
            counts,
            sum(size * count for size, count in coarse),
            sum(size * count for size, count in fine),
            sum(size // self.unit * count for size, count in coarse),
        )

    def candidates(self, servers: Iterable[int], width: int, low: int, high: int) -> Sequence[int] | None:
        """Return candidates for the largest load U: if any U in range admits the relaxation, one of them does.

        Loads range from U - width to U. Raising U by one raises what groups require and can only let a new k fit,
        which happens where s U reaches k unit + hosted blocks; so these U and the smallest one suffice. If the window
        is narrower than the fine unit, every U counts. None if there would be too many.

        Parameters
        ----------
        servers : iterable of int
            Group sizes.
        width : int
            Size difference, in parameters.
        low, high : int
            Range of U, in parameters per server.
        """
        if min(servers) * width < self.fine_unit - 1 or high - low < 50:
            return range(low, high + 1) if high - low < _MAX_CANDIDATES else None
        found = {low} if high >= low else set()
        for count in set(servers):
            if (high - low) * count // self.unit * len(self.combinations) > 4 * _MAX_CANDIDATES:
                return None
            for item in self.combinations:
                base = item.coarse + item.fine
                first = max(0, -(-(count * low - base) // self.unit))
                last = min(self.multiples, (count * high - base) // self.unit)
                found.update(-(-(k * self.unit + base) // count) for k in range(first, last + 1))
        return sorted(found) if len(found) <= _MAX_CANDIDATES else None

    def shares(self, count: int, low: int, high: int) -> list[Share]:
        """Return the possible shares of a group of `count` servers that hold between low and high parameters each."""
        floor, ceiling = count * low, count * high
        most = ceiling // self.unit
        found = []
        for item in self.combinations:
            base = item.coarse + item.fine
            for units in range(min((ceiling - base) // self.unit, self.multiples), -1, -1):
                coarse = units * self.unit + item.coarse
                missing = max(0, floor - coarse - item.fine)
                # fine parameters come in multiples of the fine unit beyond the hosted ones, so round up
                fill = item.fine - (-missing // self.fine_unit) * self.fine_unit
                # fewer units only leave more to fill
                if fill > self.fine_total:
                    break
                if coarse + fill <= ceiling:
                    found.append(Share(most - units - item.units, units, item, fill))
        return found

    def effort(self, servers: Sequence[int], low: int, high: int) -> int:
        """Return an estimate of the elementary steps that `layers` takes."""
        deficit = self._deficit(servers, high)
        window = max(servers) * (high - low) + self.fine_total
        transitions = len(self.combinations) * (1 + window // self.unit)
        return 0 if deficit < 0 else len(servers) * transitions * (2_000 + (deficit + 1) * len(self.combinations))

    def _deficit(self, servers: Sequence[int], high: int) -> int:
        placed = self.multiples + self.combinations[-1].units
        return sum(count * high // self.unit for count in servers) - placed

    def layers(
        self, servers: Sequence[int], low: int, high: int, clock: Clock | None = None
    ) -> list[np.ndarray] | None:
        """Return, after each group, the fewest fine parameters used so far by (deficit, hosted blocks used).

        The deficit is the number of units (including the whole units of hosted blocks) by which the groups fall short
        of the units that fit under `high`. Its final value is known, which bounds the table. None if no choice works.

        Parameters
        ----------
        servers : sequence of int
            Group sizes.
        low, high : int
            Smallest and largest load of a server, in parameters.
        clock : Clock or None, optional
            Deadline, None for none.

        Raises
        ------
        OutOfTime
            If the clock expires.
        """
        deficit = self._deficit(servers, high)
        if deficit < 0:
            return None
        shape = (deficit + 1, *(count + 1 for _, count in self.hosted))
        table = np.full(shape, _NEVER)
        table[(0,) * len(shape)] = 0
        found = [table]
        shares = {count: self.shares(count, low, high) for count in set(servers)}
        for count in servers:
            if clock is not None:
                clock.require()
            # adding a share shifts the whole table by its deficit and hosted blocks: one slice operation per share
            following = np.full(shape, _NEVER)
            for share in shares[count]:
                if share.deficit > deficit:
                    continue
                moves = (share.deficit, *share.hosted.counts)
                source = tuple(slice(0, length - move) for length, move in zip(shape, moves, strict=True))
                target = tuple(slice(move, None) for move in moves)
                np.minimum(following[target], table[source] + share.fill, out=following[target])
            following[following > self.fine_total] = _NEVER
            table = following
            found.append(table)
        return found if table[(-1,) * len(shape)] <= self.fine_total else None

    def trace(self, servers: Sequence[int], low: int, high: int, layers: list[np.ndarray]) -> list[Share]:
        """Return the share of every group in one choice that uses the fewest fine parameters."""
        # walk back from the final state: some share leads from an earlier entry to each value of the table
        state = tuple(length - 1 for length in layers[-1].shape)
        shares = {count: self.shares(count, low, high) for count in set(servers)}
        chosen: list[Share] = []
        for position in range(len(servers) - 1, -1, -1):
            value = layers[position + 1][state]
            for share in shares[servers[position]]:
                before = tuple(a - b for a, b in zip(state, (share.deficit, *share.hosted.counts), strict=True))
                if min(before) >= 0 and layers[position][before] + share.fill == value:
                    chosen.append(share)
                    state = before
                    break
        return chosen[::-1]


def lattices(sizes: Sequence[int], servers: int, clock: Clock | None = None) -> list[Lattice]:
    """Return the relaxations worth trying for a list of blocks.

    Units are the sizes themselves and the common divisors of pairs of them. A coarse lattice has a unit as its
    threshold, and is kept if the fine blocks have fewer parameters than a unit per server (otherwise they could fill
    any gap). A plain lattice has no fine blocks: it knows residues only.

    Parameters
    ----------
    sizes : sequence of int
        Parameters of each block.
    servers : int
        Number of servers p.
    clock : Clock or None, optional
        Deadline, None for none.

    Returns
    -------
    list of Lattice
        At most two plain ones, with the largest units, and four coarse ones, with the fewest fine parameters per unit;
        none if there are more than 500 sizes, since hardly any would share a divisor.

    Raises
    ------
    OutOfTime
        If the clock expires.
    """
    count = Counter(sizes)
    if len(count) > _MAX_SIZES:
        return []
    common = [size for size, _ in count.most_common(_MAX_DISTINCT)]
    units = sorted({math.gcd(a, b) for a in common for b in common}, reverse=True)
    choice = _Units(count, units, -(-sum(sizes) // servers), clock or Clock())
    plain = (choice.plain(index) for index in range(len(units)))
    coarse = (choice.coarse(index) for index in range(len(units)))
    kept = [item for item in coarse if item is not None and 0 < item.fine_total < servers * item.unit]
    kept.sort(key=lambda item: item.fine_total / item.unit)
    return [*itertools.islice((item for item in plain if item is not None), _MAX_PLAIN), *kept[:_MAX_COARSE]]


class _Units:
    """Pairs of divisors that leave few enough blocks to track individually.

    The number of combinations of tracked blocks is a product over sizes, so it is compared as a sum of logarithms.
    """

    def __init__(self, count: Counter[int], units: Sequence[int], share: int, clock: Clock) -> None:
        self._count, self._units, self._share, self._clock = count, units, share, clock
        self._sizes = np.array(list(count), dtype=np.int64)
        self._logs = np.log1p(np.array(list(count.values()), dtype=float))
        self._divided = self._sizes % np.array(units, dtype=np.int64)[:, None] == 0

    def plain(self, index: int) -> Lattice | None:
        """Return the lattice of a unit that knows residues only; None if it would track too many blocks."""
        return self._lattice(0, self._units[index], 1) if self._followed(index, 0) <= _MOST_LOGS else None

    def coarse(self, index: int) -> Lattice | None:
        """Return the lattice whose threshold is a unit, with the largest possible fine unit, or None."""
        unit = self._units[index]
        left = _MOST_LOGS - self._followed(index, unit)
        if left < 0:
            return None
        fine = self._sizes < unit
        followed = ~self._divided[index:, fine] @ self._logs[fine]
        made = (self._lattice(unit, unit, self._units[index + at]) for at in np.flatnonzero(followed <= left).tolist())
        return next((item for item in made if item is not None), None)

    def _followed(self, index: int, threshold: int) -> float:
        self._clock.require()
        followed = (self._sizes >= threshold) & (~self._divided[index] | (self._sizes > self._share))
        return float(self._logs[followed].sum())

    def _lattice(self, threshold: int, unit: int, fine_unit: int) -> Lattice | None:
        count, share = self._count, self._share
        followed = [size for size in count if size >= threshold and (size % unit or size > share)]
        followed_fine = [size for size in count if size < threshold and size % fine_unit]
        hosted = [(size, count[size]) for part in (followed, followed_fine) for size in sorted(part, reverse=True)]
        if math.prod(number + 1 for _, number in hosted) > _MAX_COMBINATIONS:
            return None
        coarse_total = sum(size * number for size, number in count.items() if size >= threshold)
        fine_total = sum(size * number for size, number in count.items() if size < threshold)
        multiples = (coarse_total - sum(size * count[size] for size in followed)) // unit
        return Lattice(threshold, unit, fine_unit, tuple(hosted), len(followed), multiples, fine_total)
