r"""Columns of an auction: the rows of each bid that can matter, and groups of apps with equal columns.

A row (l, k, V) of a bid is dropped without loss if another row has at least the same value

- for at most as many GPUs in a *wider* place, which is easier to find: a column of a wider level uses fewer of the
  capacity rows;
- for t < k GPUs in a narrower place, where by the pigeonhole principle any k GPUs of level l have t in one such place.

A row moves to a wider level if any k GPUs there lie in one narrower place, as a single GPU does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gangopt.base.types import Bools, Ints
from gangopt.instances.auction.bids import CLUSTER, LEVELS, MACHINE, RACK
from gangopt.instances.auction.instance import AuctionInstance, log_of

__all__ = ["Column", "Group", "app_columns", "app_groups"]


@dataclass(frozen=True)
class Column:
    """One choice of an app: at least `gpus` GPUs in one place of `level`, or none.

    Attributes
    ----------
    level : int
        0 machine, 1 rack, 2 cluster.
    gpus : int
        Number of GPUs won.
    value : Fraction
        V, exact.
    """

    level: int
    gpus: int
    value: Fraction


@dataclass(frozen=True)
class Group:
    """Apps with equal columns or, where every app gets a value, with values that differ by a common factor.

    Attributes
    ----------
    apps : tuple of int
        Indices of the apps, ascending.
    columns : tuple of Column
        Columns of the first app, by level and GPUs.
    shares : tuple of Fraction
        Value of each column as a share of the largest, exact; equal for all apps of the group.
    logs : tuple of float
        Logarithms of the shares.
    best : tuple of Fraction
        Largest value of each app.
    needs : bool
        Whether its apps have no value without GPUs.
    home : tuple of int or None
        Machine and rack of the columns of these levels; (None, None) for any.
    """

    apps: tuple[int, ...]
    columns: tuple[Column, ...]
    shares: tuple[Fraction, ...]
    logs: tuple[float, ...]
    best: tuple[Fraction, ...]
    needs: bool
    home: tuple[int | None, int | None]

    @property
    def size(self) -> int:
        """Number of apps."""
        return len(self.apps)


class _Guarantees:
    """Smallest numbers of GPUs in one narrower place for k GPUs in a wider place."""

    def __init__(self, instance: AuctionInstance) -> None:
        self._instance = instance
        self._tables: dict[tuple[int, int], Ints] = {}
        racks: list[list[int]] = [[] for _ in instance.racks]
        for rack, size in zip(instance.machine_rack.tolist(), instance.offered.tolist(), strict=True):
            if size:
                racks[rack].append(size)
        kinds = sorted({tuple(sorted(sizes)) for sizes in racks if sizes})
        every = [size for sizes in racks for size in sizes]
        self._tables[MACHINE, RACK] = _least([_bound(sizes) for sizes in kinds])
        self._tables[RACK, CLUSTER] = _bound([sum(sizes) for sizes in racks if sizes])
        self._tables[MACHINE, CLUSTER] = _bound(every)

    def of(self, app: int, narrow: int, wide: int) -> Ints:
        """Return, for k = 0, 1, ..., the smallest number of GPUs in the best narrower place of the app."""
        if not self._instance.apps[app].held:
            return self._tables[narrow, wide]
        inner, outer = self._instance.places(app, narrow), self._instance.places(app, wide)
        if not outer:
            return np.zeros(1, dtype=np.int64)
        room = outer[0][1]
        outside = room - (inner[0][1] if inner else 0)
        return np.maximum(0, np.arange(room + 1) - outside)


def _bound(sizes: Sequence[int]) -> Ints:
    """Return the least t with sum(min(size, t)) >= k, for k from 0 to the sum of sizes."""
    most = max(sizes, default=0)
    room = np.minimum.outer(np.arange(most + 1), np.array(sizes, dtype=np.int64)).sum(axis=1)
    return np.searchsorted(room, np.arange(sum(sizes) + 1)).astype(np.int64)


def _least(tables: Sequence[Ints]) -> Ints:
    """Return the elementwise minimum of tables of different lengths."""
    longest = max((len(table) for table in tables), default=1)
    never = np.iinfo(np.int64).max
    padded = [np.append(table, np.full(longest - len(table), never)) for table in tables]
    return np.min(padded, axis=0) if padded else np.zeros(1, dtype=np.int64)


def app_columns(instance: AuctionInstance) -> list[tuple[Column, ...]]:
    """Return the columns of each app, by level and GPUs; a column of 0 GPUs comes first if it has a value.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    """
    guarantees = _Guarantees(instance)
    return [_columns(instance, app, guarantees) for app in range(len(instance.apps))]


def _columns(instance: AuctionInstance, app: int, guarantees: _Guarantees) -> tuple[Column, ...]:
    bid = instance.apps[app]
    zero = (Column(CLUSTER, 0, bid.value_at_zero),) if bid.value_at_zero else ()
    rooms = [max((size for _, size in instance.places(app, level)), default=0) for level in range(len(LEVELS))]
    rows = [
        (level, k, value)
        for k, level, value in zip(bid.gpus, bid.levels, bid.values, strict=True)
        if k <= rooms[level] and value > bid.value_at_zero
    ]
    if not rows:
        return zero
    # ranks replace the exact values; only equal floats are compared as rationals
    ordered = sorted({bid.value_at_zero, *(value for _, _, value in rows)}, key=lambda v: (float(v), v))
    rank = {value: position for position, value in enumerate(ordered)}
    table = np.zeros((len(LEVELS), max(k for _, k, _ in rows) + 1), dtype=np.int64)
    for own, k, value in rows:
        level = own
        while level < CLUSTER and k < len(bound := guarantees.of(app, level, level + 1)) and bound[k] >= k:
            level += 1
        table[level, k] = max(table[level, k], rank[value])
    table = np.maximum.accumulate(table, axis=1)
    table = np.maximum.accumulate(table[::-1], axis=0)[::-1]
    kept = _undominated(app, table, guarantees)
    return (
        *zero,
        *(
            Column(level, k, ordered[table[level, k]])
            for level, k in zip(*(part.tolist() for part in np.nonzero(kept)), strict=True)
            if k <= rooms[level]
        ),
    )


def _undominated(app: int, table: Ints, guarantees: _Guarantees) -> Bools:
    """Return which (level, k) are not dominated; ranks in the table grow with k and with narrower levels."""
    kept = np.zeros(table.shape, dtype=np.bool_)
    kept[:, 1:] = table[:, 1:] > table[:, :-1]
    kept[:-1] &= table[:-1] > table[1:]
    for wide in (RACK, CLUSTER):
        for narrow in range(wide):
            bound = guarantees.of(app, narrow, wide)
            k = np.arange(min(len(bound), table.shape[1]))
            t = np.minimum(bound[k], table.shape[1] - 1)
            kept[wide, k] &= ~((t < k) & (table[narrow, t] >= table[wide, k]))
    return kept


def app_groups(
    instance: AuctionInstance, *, all_served: bool, columns: Sequence[tuple[Column, ...]] | None = None
) -> list[Group]:
    """Return groups of apps with equal columns, ordered by their first app.

    Apps of a group may exchange bundles. Where all apps get a value, scaling the values of an app only changes the
    product by a constant, so apps with proportional columns form a group, too.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    all_served : bool
        Whether every app gets a value above 0.
    columns : sequence of tuple of Column or None, optional
        Columns of each app; None to compute them.
    """
    members: dict[object, list[int]] = {}
    columns = app_columns(instance) if columns is None else columns
    shares: dict[int, tuple[Fraction, ...]] = {}
    for app, own in enumerate(columns):
        best = max((column.value for column in own), default=Fraction(1))
        shares[app] = tuple(column.value / best for column in own)
        home = instance.home(app) if instance.apps[app].held else (None, None)
        held = bool(instance.apps[app].held)
        scale = None if all_served else best
        key = (held, home, tuple((column.level, column.gpus) for column in own), shares[app], scale)
        members.setdefault(key, []).append(app)
    return [_group(instance, apps, columns, shares[apps[0]]) for apps in members.values()]


def _group(
    instance: AuctionInstance, apps: list[int], columns: Sequence[tuple[Column, ...]], shares: tuple[Fraction, ...]
) -> Group:
    first = apps[0]
    return Group(
        apps=tuple(apps),
        columns=columns[first],
        shares=shares,
        logs=tuple(log_of(share) for share in shares),
        best=tuple(max((column.value for column in columns[app]), default=Fraction(1)) for app in apps),
        needs=not instance.apps[first].value_at_zero,
        home=instance.home(first) if instance.apps[first].held else (None, None),
    )
