"""What one app bids: a table of values by number of GPUs and level, read as exact rationals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from gangopt.base.checks import pieces
from gangopt.base.errors import InputError, shorten, shown

__all__ = ["CLUSTER", "LEVELS", "MACHINE", "RACK", "AppBid", "Bundle", "Bystander", "exact_value", "written"]

LEVELS = ("machine", "rack", "cluster")
"""The levels of a bid, narrowest first: all GPUs in one machine, in one rack, anywhere."""

MACHINE, RACK, CLUSTER = range(3)

Bundle = tuple[tuple[int, int], ...]
"""GPUs of one app: (machine, number of GPUs), machines ascending and from 0, numbers from 1."""

MAX_GPUS = 1_000_000
"""Most GPUs of one row."""

MAX_ROWS = 1_000_000
"""Most rows of one table."""

LARGEST_VALUE = Fraction(10) ** 15
"""Values lie between its inverse and this, or are 0."""

_LONGEST_NUMBER = 2200
"""Most bits of numerator and denominator: any float has fewer."""


def exact_value(field: str, value: object, *, zero: bool = True) -> Fraction:
    """Return a value as the rational that it stands for: floats by their binary digits, texts as `10/11` or `0.25`.

    Parameters
    ----------
    field : str
        What messages call it.
    value : object
        Int, float, Fraction, numpy number, or text.
    zero : bool, optional
        Whether 0 is allowed.

    Raises
    ------
    InputError
        If it is no number, or out of range.
    """
    needed = f"{'0 or ' if zero else ''}a value from 1e-15 to 1e15 is needed, as a number or a text like 10/11"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | str):
        raise InputError(f"{field}: {shown(value)}, {needed}")
    if isinstance(value, str) and (len(value) > 1500 or "e" in value.lower() or "_" in value):
        raise InputError(f"{field}: {shown(value)}, {needed}")
    try:
        number = Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise InputError(f"{field}: {shown(value)}, {needed}") from None
    if number == 0 and zero:
        return number
    long = max(number.numerator.bit_length(), number.denominator.bit_length()) > _LONGEST_NUMBER
    if long or not 1 / LARGEST_VALUE <= number <= LARGEST_VALUE:
        raise InputError(f"{field}: {shown(value)}, {needed}")
    return number


def written(value: Fraction) -> float | str:
    """Return a number where a double is the value exactly, else its text, as `10/11`."""
    number = float(value)
    return number if Fraction(number) == value else str(value)


@dataclass(frozen=True, kw_only=True)
class AppBid:
    r"""The bid of one app: row t says that `gpus[t]` GPUs within one place of `levels[t]` are worth `values[t]`.

    A row is a requirement, so more GPUs, or a narrower place, meet it too: a set G of GPUs is worth the best row that
    some part of it meets,

    .. math:: V(G) = \max\{V_t : G \text{ has } k_t \text{ GPUs in one place of level } l_t\} \cup \{V(\emptyset)\},

    and V never falls when GPUs are added. With GPUs already held, a row counts the GPUs that are won in addition, and
    its place must hold those held as well.

    Equal rows count as one. Rows of one number of GPUs and one level with several values are refused.

    Attributes
    ----------
    label : str
        Name of the app.
    gpus : tuple of int
        K, GPUs of each row, at least 1.
    levels : tuple of int
        L, level of each row: 0 machine, 1 rack, 2 cluster, as in `LEVELS`.
    values : tuple of Fraction
        V = 1 / rho of each row, no unit.
    value_at_zero : Fraction
        V with nothing but what is held: 1 / rho of now, 0 for an app that never ends so.
    held : Bundle
        GPUs held already, (machine, number).
    """

    label: str
    gpus: tuple[int, ...]
    levels: tuple[int, ...]
    values: tuple[Fraction, ...]
    value_at_zero: Fraction = Fraction(0)
    held: Bundle = ()

    def __post_init__(self) -> None:
        sizes = {len(self.gpus), len(self.levels), len(self.values)}
        if len(sizes) != 1 or not 1 <= len(self.gpus) <= MAX_ROWS:
            given = f"{len(self.gpus)} gpus, {len(self.levels)} levels, {len(self.values)} values"
            raise InputError(f"app {shown(self.label)}: {given}; as many of each, 1 to {MAX_ROWS}, are needed")
        self._set("gpus", tuple(self._whole("gpus", k, 1, MAX_GPUS) for k in enumerate(self.gpus)))
        self._set("levels", tuple(self._whole("levels", k, 0, CLUSTER) for k in enumerate(self.levels)))
        where = f"app {shown(self.label)}: "
        values = (exact_value(f"{where}values[{t}]", v) for t, v in enumerate(self.values))
        self._set("values", tuple(values))
        self._merge_rows(where)
        self._set("value_at_zero", exact_value(f"{where}value_at_zero", self.value_at_zero))
        held: Bundle = pieces(f"{where}held", [self.held], ("machine", "GPUs"))[0]  # type: ignore[assignment]
        self._set("held", held)
        for machine, count in held:
            if machine < 0 or not 1 <= count <= MAX_GPUS:
                raise InputError(f"{where}held: {count} GPUs on machine {machine}, a machine and 1 or more are needed")
        if len({machine for machine, _ in held}) < len(held):
            raise InputError(f"{where}held: {held}, each machine may stand once")

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _merge_rows(self, where: str) -> None:
        """Keep the first of equal rows, and refuse rows that differ in nothing but their value."""
        first: dict[tuple[int, int], int] = {}
        for t, key in enumerate(zip(self.gpus, self.levels, strict=True)):
            at = first.setdefault(key, t)
            if self.values[at] != self.values[t]:
                both = " and ".join(shorten(str(written(self.values[row]))) for row in (at, t))
                rows = f"rows {at} and {t}: {key[0]} GPUs, {LEVELS[key[1]]}"
                raise InputError(f"{where}{rows}, with the values {both}; one is allowed")
        if len(first) < len(self.gpus):
            for field in ("gpus", "levels", "values"):
                self._set(field, tuple(getattr(self, field)[t] for t in first.values()))

    def _whole(self, field: str, item: tuple[int, object], least: int, most: int) -> int:
        index, value = item
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
            needed = f"a whole number from {least} to {most} is needed"
            raise InputError(f"app {shown(self.label)}: {field}[{index}]: {shown(value)}, {needed}")
        return int(value)

    @classmethod
    def from_rows(
        cls,
        label: str,
        rows: Iterable[tuple[int, str, object]],
        value_at_zero: object = 0,
        held: Bundle = (),
    ) -> AppBid:
        """Return the bid of rows (GPUs, name of the level, value).

        Parameters
        ----------
        label : str
            Name of the app.
        rows : iterable of tuple of int, str and object
            The table; `slot` is taken as `machine`, as all slots of a machine count alike.
        value_at_zero : object, optional
            Value without any of the GPUs on offer.
        held : Bundle, optional
            GPUs held already, (machine, number).

        Raises
        ------
        InputError
            If a number is out of range or a level is unknown.
        """
        table = list(rows)
        index = {name: number for number, name in enumerate(LEVELS)} | {"slot": MACHINE}
        for t, (_, level, _) in enumerate(table):
            if level not in index:
                allowed = ", ".join(LEVELS)
                raise InputError(f"app {shown(label)}: levels[{t}]: {shown(level)}, one of {allowed} is needed")
        return cls(
            label=label,
            gpus=tuple(k for k, _, _ in table),
            levels=tuple(index[level] for _, level, _ in table),
            values=tuple(value for _, _, value in table),  # type: ignore[misc]  # made exact by __post_init__
            value_at_zero=value_at_zero,  # type: ignore[arg-type]  # likewise
            held=held,
        )

    @cached_property
    def best(self) -> tuple[tuple[Fraction, ...], ...]:
        """Value of k GPUs in one place of each level, k from 0 to the largest of any row.

        Rows of that level or a wider one with at most k GPUs count, and V of nothing won.
        """
        most = max(self.gpus)
        tables: list[tuple[Fraction, ...]] = []
        for level in range(len(LEVELS)):
            row = [self.value_at_zero] * (most + 1)
            for k, own, value in zip(self.gpus, self.levels, self.values, strict=True):
                if own >= level and value > row[k]:
                    row[k] = value
            for k in range(1, most + 1):
                row[k] = max(row[k], row[k - 1])
            tables.append(tuple(row))
        return tuple(tables)

    def at(self, level: int, gpus: int) -> Fraction:
        """Return the value of a number of GPUs in one place of a level; more than in any row add nothing."""
        table = self.best[level]
        return table[min(gpus, len(table) - 1)]

    @cached_property
    def demand(self) -> int:
        """Most GPUs that add value: with one fewer, some level's best value is out of reach."""
        return max(next(k for k, value in enumerate(table) if value == table[-1]) for table in self.best)


@dataclass(frozen=True, kw_only=True)
class Bystander:
    """An app that did not bid and may be given what the auction leaves over.

    Attributes
    ----------
    label : str
        Name of the app.
    demand : int
        Most GPUs that it can use in addition to its own.
    """

    label: str
    demand: int
