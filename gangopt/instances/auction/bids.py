"""The bid of one app: a table of values by number of GPUs and level, in exact rationals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from gangopt.base.checks import integer, pieces
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
"""Largest value; its inverse is the smallest value other than 0."""

LONGEST_TEXT = 1500
"""Most characters of a value that is given as text."""

_LONGEST_NUMBER = 2200
"""Most bits of a numerator or denominator: any float has fewer."""


def exact_value(field: str, value: object, *, zero: bool = True) -> Fraction:
    """Return a value as an exact rational: a float by its binary digits, a text such as `10/11` or `0.25` literally.

    Parameters
    ----------
    field : str
        Name of the value in messages.
    value : object
        Int, float, Fraction, numpy number, or text.
    zero : bool, optional
        Whether 0 is allowed.

    Raises
    ------
    InputError
        If the value is not a number, or out of range.
    """
    number = _rational(value.item() if isinstance(value, np.generic) else value)
    if number is None or not ((number == 0 and zero) or 1 / LARGEST_VALUE <= number <= LARGEST_VALUE):
        allowed = f"{'0 or ' if zero else ''}from 1e-15 to 1e15, a number or text such as '10/11'"
        raise InputError(f"{field} must be {allowed} (got {shown(value)})")
    return number


def _rational(value: object) -> Fraction | None:
    """Return the rational that a number or a text stands for, None if there is none or it is too long."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | str):
        return None
    if isinstance(value, str) and (len(value) > LONGEST_TEXT or "e" in value.lower() or "_" in value):
        return None
    try:
        number = Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    long = max(number.numerator.bit_length(), number.denominator.bit_length()) > _LONGEST_NUMBER
    return None if long else number


def written(value: Fraction) -> float | str:
    """Return a float where it equals the value exactly, otherwise text such as `10/11`."""
    number = float(value)
    return number if Fraction(number) == value else str(value)


@dataclass(frozen=True, kw_only=True)
class AppBid:
    r"""The bid of one app: `gpus[t]` GPUs within one place of level `levels[t]` are worth `values[t]`.

    A row is a requirement, which more GPUs or a narrower place meet too: a set G of GPUs is worth the best row that
    some subset of it meets,

    .. math:: V(G) = \max\{V_t : G \text{ has } k_t \text{ GPUs in one place of level } l_t\} \cup \{V(\emptyset)\},

    so V never decreases when GPUs are added. If the app already holds GPUs, a row counts the GPUs won in addition,
    and its place must also contain those held.

    Equal rows are merged. Rows with the same number of GPUs and level but different values are rejected.

    Attributes
    ----------
    label : str
        Name of the app.
    gpus : tuple of int
        GPUs k_t of each row, at least 1.
    levels : tuple of int
        Level l_t of each row: 0 machine, 1 rack, 2 cluster, as in `LEVELS`.
    values : tuple of Fraction
        V_t = 1 / rho of each row, dimensionless.
    value_at_zero : Fraction
        V with only the GPUs held now; 0 if the app would never finish with these.
    held : Bundle
        GPUs already held, (machine, number).
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
            given = f"{len(self.gpus)}, {len(self.levels)} and {len(self.values)}"
            raise InputError(
                f"app {shown(self.label)}: gpus, levels and values must have one length from 1 to {MAX_ROWS:,} "
                f"(got {given})"
            )
        where = f"app {shown(self.label)}: "
        self._set("gpus", tuple(integer(f"{where}gpus[{t}]", k, 1, MAX_GPUS) for t, k in enumerate(self.gpus)))
        self._set("levels", tuple(integer(f"{where}levels[{t}]", k, 0, CLUSTER) for t, k in enumerate(self.levels)))
        values = (exact_value(f"{where}values[{t}]", v) for t, v in enumerate(self.values))
        self._set("values", tuple(values))
        self._merge_rows(where)
        self._set("value_at_zero", exact_value(f"{where}value_at_zero", self.value_at_zero))
        held: Bundle = pieces(f"{where}held", [self.held], ("machine", "GPUs"))[0]  # type: ignore[assignment]
        self._set("held", held)
        for machine, count in held:
            integer(f"{where}held: machine", machine, 0)
            integer(f"{where}held: number of GPUs on machine {machine}", count, 1, MAX_GPUS)
        if len({machine for machine, _ in held}) < len(held):
            raise InputError(f"{where}held must list each machine at most once (got {held})")

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _merge_rows(self, where: str) -> None:
        """Keep the first of equal rows, and reject rows that differ only in their value."""
        first: dict[tuple[int, int], int] = {}
        for t, key in enumerate(zip(self.gpus, self.levels, strict=True)):
            at = first.setdefault(key, t)
            if self.values[at] != self.values[t]:
                both = " and ".join(shorten(str(written(self.values[row]))) for row in (at, t))
                raise InputError(
                    f"{where}rows {at} and {t} ({key[0]} GPUs, {LEVELS[key[1]]}) must have the same value (got {both})"
                )
        if len(first) < len(self.gpus):
            for field in ("gpus", "levels", "values"):
                self._set(field, tuple(getattr(self, field)[t] for t in first.values()))

    @classmethod
    def from_rows(
        cls,
        label: str,
        rows: Iterable[tuple[int, str, object]],
        value_at_zero: object = 0,
        held: Bundle = (),
    ) -> AppBid:
        """Return the bid with the given rows.

        Parameters
        ----------
        label : str
            Name of the app.
        rows : iterable of tuple of int, str and object
            Rows (GPUs, name of the level, value); `slot` is read as `machine`, as slots are not distinguished.
        value_at_zero : object, optional
            Value without any of the GPUs on offer.
        held : Bundle, optional
            GPUs already held, (machine, number).

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
                raise InputError(f"app {shown(label)}: levels[{t}] must be one of {allowed} (got {shown(level)})")
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
        """Value of k GPUs in one place of each level, for k from 0 to the largest count of any row.

        It is the best of the rows with at most k GPUs at that level or a wider one, and of `value_at_zero`.
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
        """Return the value of GPUs in one place of a level; GPUs beyond the largest row add nothing."""
        table = self.best[level]
        return table[min(gpus, len(table) - 1)]

    @cached_property
    def demand(self) -> int:
        """Smallest number of GPUs with which every level reaches its best value."""
        return max(next(k for k, value in enumerate(table) if value == table[-1]) for table in self.best)


@dataclass(frozen=True, kw_only=True)
class Bystander:
    """An app that did not bid and may receive leftover GPUs.

    Attributes
    ----------
    label : str
        Name of the app.
    demand : int
        Most GPUs that it can use in addition to those it holds.
    """

    label: str
    demand: int
