"""Pack items into bins with little slack: depth first, largest item first, one bin after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["LOOKS", "Fit", "exact_fit"]

Amounts = tuple[int, ...]

LOOKS = 4_000_000
"""Items that a search examines before it gives up: about a second, and reproducible on any machine."""

MAX_BITS = 100_000
"""Largest bin whose reachable sums are kept as the bits of an integer."""


@dataclass(frozen=True)
class Fit:
    """Result of a search.

    Attributes
    ----------
    bins : list of int or None
        Bin of every item, None if none was found.
    decided : bool
        Whether the answer is certain: a packing, or the proof that none exists.
    looks : int
        Remaining number of items that may be examined.
    """

    bins: list[int] | None
    decided: bool
    looks: int


def exact_fit(items: Sequence[Amounts], bins: Sequence[Amounts], looks: int = LOOKS) -> Fit:
    """Pack all items into bins, or prove that they do not fit.

    The largest remaining item goes to one of the remaining bins, the smallest bin first and only the first of equal
    ones. That bin is filled until no further item fits, largest items first, before the next bin is opened. The room it
    leaves empty counts against the total slack of all bins; fillings that exceed the slack are cut off. Where the items
    fill the bins almost completely, few fillings of each remain. Remainders that failed once are not tried again.

    Parameters
    ----------
    items : sequence of Amounts
        Demand of each item for every resource.
    bins : sequence of Amounts
        Capacity of each bin in every resource.
    looks : int, optional
        Maximum number of items examined, so that the result does not depend on the machine; each item counts once at
        the start.
    """
    looks = max(0, looks - len(items))
    room = [sum(column) for column in zip(*bins, strict=True)]
    spare = [have - sum(item[r] for item in items) for r, have in enumerate(room)]
    if min(spare, default=0) < 0:
        return Fit(None, True, looks)
    search = _Search(items, bins, spare, looks)
    found = search.run()
    return Fit(None if found is None else search.bins_of(found), found is not None or search.looks > 0, search.looks)


@dataclass(frozen=True)
class _Filling:
    """Sizes of the items in one bin, by index of the size, and the class of the bin."""

    of_class: int
    sizes: tuple[int, ...]


class _Search:
    """Items grouped by size, the largest first, and bins grouped by capacity, the smallest first."""

    def __init__(self, items: Sequence[Amounts], bins: Sequence[Amounts], spare: list[int], looks: int) -> None:
        self.looks = looks
        self._spare = spare
        unit = [max(1, *column) for column in zip(*bins, strict=True)]

        def share(amounts: Amounts) -> tuple[float, Amounts]:
            return max(map(float.__truediv__, map(float, amounts), map(float, unit)), default=0.0), amounts

        self._sizes = sorted(set(items), key=share, reverse=True)
        self._classes = sorted(set(bins), key=share)
        self._items: list[list[int]] = [[] for _ in self._sizes]
        self._bins: list[list[int]] = [[] for _ in self._classes]
        for members, keys, given in ((self._items, self._sizes, items), (self._bins, self._classes, bins)):
            number = {key: at for at, key in enumerate(keys)}
            for index, amounts in enumerate(given):
                members[number[amounts]].append(index)
        self._left = [len(members) for members in self._items]
        self._free = [len(members) for members in self._bins]

    def run(self) -> list[_Filling] | None:
        """Return fillings that hold all items, or None; then `looks` is 0 if the search was cut off."""
        chosen: list[_Filling] = []
        failed: set[tuple[int, ...]] = set()
        open_bins: list[Iterator[_Filling]] = []
        while any(self._left):
            if (*self._left, *self._free) not in failed:
                open_bins.append(self._fillings(self._largest()))
            else:
                chosen.pop()
            while (filling := next(open_bins[-1], None)) is None:
                failed.add((*self._left, *self._free))
                open_bins.pop()
                if not open_bins:
                    return None
                chosen.pop()
            chosen.append(filling)
        return chosen

    def bins_of(self, fillings: Sequence[_Filling]) -> list[int]:
        """Return the bin of every item."""
        items = [iter(members) for members in self._items]
        bins = [iter(members) for members in self._bins]
        found = [0] * sum(map(len, self._items))
        for filling in fillings:
            at = next(bins[filling.of_class])
            for size in filling.sizes:
                found[next(items[size])] = at
        return found

    def _largest(self) -> int:
        return next(size for size, number in enumerate(self._left) if number)

    def _fillings(self, base: int) -> Iterator[_Filling]:
        """Yield the fillings of one bin that hold a size and stay within the slack; each counts as used while yielded.

        Fillings to which an item could be added are skipped: with the item they are at least as good.
        """
        for c, capacity in enumerate(self._classes):
            if not self._free[c] or not _fits(self._sizes[base], capacity):
                continue
            self._free[c] -= 1
            self._left[base] -= 1
            spare = self._spare
            for sizes, rest in self._of_room(base, tuple(map(int.__sub__, capacity, self._sizes[base]))):
                self._spare = list(map(int.__sub__, spare, rest))
                yield _Filling(c, (base, *sizes))
                self._spare = spare
            self._left[base] += 1
            self._free[c] += 1

    def _of_room(self, first: int, room: Amounts) -> Iterator[tuple[tuple[int, ...], Amounts]]:
        """Yield the items that fit some room, and the room they leave; the items count as used while yielded."""
        sums = [self._sums(first, r, most) for r, most in enumerate(room)]
        held: list[int] = []
        rest, size = room, self._next(first, room, sums)
        while True:
            while size is not None:
                held.append(size)
                self._left[size] -= 1
                rest = tuple(map(int.__sub__, rest, self._sizes[size]))
                size = self._next(size, rest, sums)
            if _fits(rest, self._spare) and self._next(first, rest) is None and self.looks:
                yield tuple(held), rest
            if not held:
                return
            last = held.pop()
            self._left[last] += 1
            rest = tuple(map(int.__add__, rest, self._sizes[last]))
            size = self._next(last + 1, rest, sums)

    def _sums(self, first: int, r: int, room: int) -> list[int] | None:
        """Return, by first size, the reachable sums up to `room` of the remaining items as bits; None if not needed."""
        if room > MAX_BITS or self._spare[r] >= room:
            return None
        mask = (1 << (room + 1)) - 1
        reached = [1] * (len(self._sizes) + 1)
        for size in range(len(self._sizes) - 1, first - 1, -1):
            one = self._sizes[size][r]
            number = min(self._left[size], room // one) if one else 0
            bits = reached[size + 1]
            for _ in range(number):
                bits |= bits << one & mask
            reached[size] = bits
            self.looks = max(0, self.looks - number)
        return reached

    def _next(self, first: int, rest: Amounts, sums: Sequence[list[int] | None] = ()) -> int | None:
        """Return the first remaining size, starting at `first`, that fits and can still meet the slack.

        None if there is none, or if the limit on examined items is reached.
        """
        for size in range(first, len(self._sizes)):
            self.looks -= 1
            if self.looks <= 0:
                self.looks = 0
                return None
            if self._left[size] and _fits(self._sizes[size], rest) and self._leads(size, rest, sums):
                return size
        return None

    def _leads(self, size: int, rest: Amounts, sums: Sequence[list[int] | None]) -> bool:
        for r, reached in enumerate(sums):
            room, spare = rest[r] - self._sizes[size][r], self._spare[r]
            if reached is not None and spare < room and not (reached[size] >> (room - spare)) & ((2 << spare) - 1):
                return False
        return True


def _fits(amounts: Sequence[int], room: Sequence[int]) -> bool:
    return all(map(int.__le__, amounts, room))
