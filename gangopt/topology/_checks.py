"""Checks of single values, and the words in which a bad value is shown."""

from __future__ import annotations

import math
import numbers
import re

from gangopt.base.errors import InputError, unprintable

__all__ = [
    "LARGEST_AMOUNT",
    "LARGEST_CLUSTER",
    "amount",
    "count",
    "label",
    "natural_key",
    "number_label",
    "shown",
    "text",
    "tidy",
]

LARGEST_AMOUNT = 1e15
"""Amounts above this are refused: whole numbers beyond it lose precision in a solver."""

LARGEST_CLUSTER = 2_000_000
"""Clusters with more nodes than this are refused before they are built."""

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
    """Return ``value`` as a float, or raise InputError unless it is a finite real number in the allowed range.

    Parameters
    ----------
    value : object
        Candidate; booleans and text are refused.
    where : str
        What the value is, for the message, as ``machine 'm0': capacity 'cpu'``.
    positive : bool
        Whether 0 is refused.
    """
    allowed = f"it must be a finite number {'above 0' if positive else 'from 0'} up to {LARGEST_AMOUNT:g}"
    number = math.nan
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except (OverflowError, ValueError):
            number = math.inf
    if not 0 <= number <= LARGEST_AMOUNT or (positive and number == 0):
        raise InputError(f"{where} is {shown(value)}; {allowed}")
    return number + 0.0  # turns -0.0 into 0.0, so that equal amounts have equal bytes


def count(value: object, where: str, *, least: int) -> int:
    """Return ``value`` as an int, or raise InputError unless it is whole, from ``least`` to `LARGEST_CLUSTER`."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or not least <= int(value) <= LARGEST_CLUSTER:
        raise InputError(f"{where} is {shown(value)}; it must be a whole number from {least} to {LARGEST_CLUSTER}")
    return int(value)


def label(value: object, where: str) -> str:
    """Return ``value``, or raise InputError unless it is non-empty text that prints on one line."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise InputError(f"{where} is {shown(value)}; it must be non-empty printable text")
    return str(value)


def number_label(value: object) -> str | None:
    """Return a whole number as the text that is its label, None for anything else."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return str(int(value)) if whole else None  # type: ignore[call-overload]


def text(value: object, where: str) -> str:
    """Return ``value``, or raise InputError unless it is text (possibly empty) that can be printed."""
    if not isinstance(value, str):
        raise InputError(f"{where} is {shown(value)}; it must be text")
    found = unprintable(value, lines=True)
    if found is not None:
        raise InputError(f"{where} is {shown(value)}; {found}")
    return value


def natural_key(word: str) -> tuple[tuple[object, ...], str]:
    """Return a sort key that orders runs of digits by value, so that ``m2`` comes before ``m10``."""
    parts: list[object] = list(_DIGITS.split(word))
    for i in range(1, len(parts), 2):
        digits = str(parts[i]).lstrip("0")
        parts[i] = (len(digits), digits)
    return tuple(parts), word


def tidy(number: float) -> int | float:
    """Return a whole float as an int, any other unchanged, so that files and pictures read 80 and not 80.0."""
    return int(number) if float(number).is_integer() else float(number)
