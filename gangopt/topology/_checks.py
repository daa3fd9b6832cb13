"""Checks of single values of a cluster."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping
from typing import Any

from gangopt.base import checks
from gangopt.base.errors import InputError, unprintable

__all__ = [
    "LARGEST_AMOUNT",
    "LARGEST_CLUSTER",
    "amount",
    "count",
    "label",
    "natural_key",
    "number_label",
    "refuse_unknown",
    "shown",
    "text",
    "tidy",
]

LARGEST_AMOUNT = 1e15
"""Largest amount: larger integers lose precision in a solver."""

LARGEST_CLUSTER = 2_000_000
"""Most nodes of a cluster; larger clusters are rejected before they are built."""

_LONGEST_SHOWN = 60
_DIGITS = re.compile("([0-9]+)")


def shown(value: object) -> str:
    """Return ``value`` as it appears in a message: its repr on one line, cut when long."""
    try:
        words = repr(value)
    except Exception:  # a repr of someone else's object may fail in any way; the message must not
        words = f"<{type(value).__name__}>"
    words = " ".join(words.split())
    return words if len(words) <= _LONGEST_SHOWN else words[: _LONGEST_SHOWN - 3] + "..."


def amount(value: object, where: str, *, positive: bool = False) -> float:
    """Return a finite number from 0 to `LARGEST_AMOUNT` as a float.

    Parameters
    ----------
    value : object
        The value; booleans and text are rejected.
    where : str
        Name of the value in messages, e.g. ``machine 'm0': capacity 'cpu'``.
    positive : bool
        Whether 0 is rejected.

    Raises
    ------
    InputError
        If the value is not such a number.
    """
    if isinstance(value, numbers.Rational) and not isinstance(value, int):
        value = float(value) if value <= LARGEST_AMOUNT else math.inf
    low, above = (None, 0) if positive else (0, None)
    # adding 0 turns -0.0 into 0.0, so that equal amounts have equal bytes
    return checks.number(where, value, low, LARGEST_AMOUNT, above=above) + 0.0


def count(value: object, where: str, *, least: int) -> int:
    """Return an integer from ``least`` to `LARGEST_CLUSTER` as an int, or raise InputError."""
    return checks.integer(where, value, least, LARGEST_CLUSTER)


def label(value: object, where: str) -> str:
    """Return ``value`` if it is non-empty text that prints on one line, or raise InputError."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise InputError(f"{where} must be non-empty printable text (got {shown(value)})")
    return str(value)


def number_label(value: object) -> str | None:
    """Return the label of an integer, None for any other value."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return str(int(value)) if whole else None  # type: ignore[call-overload]


def text(value: object, where: str) -> str:
    """Return ``value`` if it is text (possibly empty) that can be printed, or raise InputError."""
    if not isinstance(value, str):
        raise InputError(f"{where} must be text (got {shown(value)})")
    found = unprintable(value, lines=True)
    if found is not None:
        raise InputError(f"{where} must be printable text (got {shown(value)}): {found}")
    return value


def natural_key(word: str) -> tuple[tuple[object, ...], str]:
    """Return a sort key that orders runs of digits by value: ``m2`` comes before ``m10``."""
    parts: list[object] = list(_DIGITS.split(word))
    for i in range(1, len(parts), 2):
        digits = str(parts[i]).lstrip("0")
        parts[i] = (len(digits), digits)
    return tuple(parts), word


def tidy(number: float) -> int | float:
    """Return an integer-valued float as an int, any other unchanged: files and plots show 80 instead of 80.0."""
    return int(number) if float(number).is_integer() else float(number)


def refuse_unknown(row: Mapping[str, Any], known: set[str], where: str) -> None:
    """Raise InputError for the first field that is not known."""
    for key in row:
        if key not in known:
            raise InputError(f"{where}: unknown field {shown(key)}; known: {', '.join(sorted(known))}")
