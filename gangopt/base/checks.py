"""Checks of numbers, labels and tables in instances and solutions: a defect is one line with field, index, value."""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangopt.base.contract import check_text
from gangopt.base.errors import InputError, shown

__all__ = [
    "LARGEST",
    "SMALLEST",
    "counts",
    "finite",
    "finite_numbers",
    "integer",
    "labels",
    "number",
    "numbers",
    "pieces",
    "resource_names",
    "table",
    "text",
    "texts",
    "whole",
    "whole_numbers",
]

LARGEST = 1e15
"""Largest magnitude of any number: whole numbers stay exact in double precision below it."""

SMALLEST = 1e-15
"""Smallest amount of a resource other than 0: shares and prices computed with it stay far from overflow."""

_MOST = int(LARGEST)


def number(
    name: str,
    value: object,
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    *,
    above: float | None = None,
) -> float:
    """Return a finite number within its limits as a plain float.

    Parameters
    ----------
    name : str
        Name of the value in the message, e.g. `jobs[3].steps` or `random: rate`.
    value : object
        The value; booleans and text are refused.
    low : float or None, optional
        Smallest value.
    high : float or None, optional
        Largest value.
    unit : str, optional
        Unit of the limits, for the message.
    above : float or None, optional
        Value that must be exceeded, instead of `low`.

    Raises
    ------
    InputError
        If the value is not a number within the limits, e.g. `gap must be a number > 0 and <= 1e12 s (got 0)`.
    """
    result = math.nan
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            result = float(value)
    if (
        not math.isfinite(result)
        or (low is not None and result < low)
        or (high is not None and result > high)
        or (above is not None and result <= above)
    ):
        kind = "a finite number" if high is None else "a number"
        raise InputError(f"{name} must be {kind}{_limits(low, high, unit, above)} (got {_got(value)})")
    return result


def integer(name: str, value: object, low: int | None = None, high: int | None = None, unit: str = "") -> int:
    """Return an integer within its limits as a plain int.

    Parameters
    ----------
    name : str
        Name of the value in the message, e.g. `jobs[3].gpus` or `random: seed`.
    value : object
        The value; booleans, fractions and text are refused, and so are floats such as 7.0.
    low : int or None, optional
        Smallest value.
    high : int or None, optional
        Largest value.
    unit : str, optional
        Unit of the limits, for the message.

    Raises
    ------
    InputError
        If the value is not an integer within the limits, e.g. `gpus must be an integer from 1 to 4096 (got 0)`.
    """
    if (
        not isinstance(value, int | np.integer)
        or isinstance(value, bool)
        or (low is not None and value < low)
        or (high is not None and value > high)
    ):
        raise InputError(f"{name} must be an integer{_limits(low, high, unit)} (got {_got(value)})")
    return int(value)


def text(name: str, value: object, least: int = 0, most: int | None = None) -> str:
    """Return printable text of a permitted length.

    Parameters
    ----------
    name : str
        Name of the value in the message.
    value : object
        The value.
    least : int, optional
        Smallest number of characters.
    most : int or None, optional
        Largest number of characters.

    Raises
    ------
    InputError
        If the value is not such text, e.g. `apps[0] must be text of 1 to 200 characters (got '')`.
    """
    if not isinstance(value, str) or len(value) < least or (most is not None and len(value) > most):
        length = f" of {least} to {most} characters" if most is not None else ""
        if most is None and least:
            length = f" of at least {least} character{'s' if least > 1 else ''}"
        raise InputError(f"{name} must be text{length} (got {shown(value)})")
    check_text(name, value)
    return value


def _limits(low: float | None, high: float | None, unit: str = "", above: float | None = None) -> str:
    """Return the limits as the end of a phrase such as `a number from 0 to 1`."""
    if low is not None and high is not None:
        limits = f" from {_figure(low)} to {_figure(high)}"
    else:
        bounds = ((">", above), (">=", low), ("<=", high))
        limits = " and".join(f" {sign} {_figure(bound)}" for sign, bound in bounds if bound is not None)
    return f"{limits} {unit}" if limits and unit else limits


def _figure(limit: float) -> str:
    """Return a limit without rounding it, e.g. 4096, 5,000,000 or 1e12."""
    short = f"{limit:g}"
    if limit != int(limit) or abs(limit) < 1e4:
        return short if float(short) == limit else repr(limit)
    return short.replace("e+", "e") if abs(limit) >= 1e9 and float(short) == limit else f"{int(limit):,}"


def _got(value: object) -> str:
    return shown(value.item() if isinstance(value, np.generic) else value)


def numbers(
    field: str,
    value: Any,
    shape: tuple[int, ...],
    low: float = 0.0,
    high: float = LARGEST,
    smallest: float = 0.0,
) -> NDArray[np.float64]:
    """Return a new float array of the shape, all entries finite, from low to high, and 0 or at least `smallest`."""
    try:
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{field}: numbers are needed") from None
    _require_shape(field, array.shape, shape)
    wrong = ~((array >= low) & (array <= high))
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InputError(f"{field}{list(index)}: {array[index]:g}, a number from {low:g} to {high:g} is needed")
    small = (array != 0) & (np.abs(array) < smallest)
    if small.any():
        index = tuple(int(i) for i in np.argwhere(small)[0])
        raise InputError(f"{field}{list(index)}: {array[index]:g}, 0 or at least {smallest:g} is needed")
    return array + 0.0


def counts(field: str, value: Any, shape: tuple[int, ...], low: int, high: int) -> NDArray[np.int64]:
    """Return a new integer array of the shape, all entries whole and from low to high."""
    array = np.array(value)
    _require_shape(field, array.shape, shape)
    if array.dtype.kind not in "iu":
        raise InputError(f"{field}: whole numbers are needed, given {array.dtype.name}")
    wrong = (array < low) | (array > high)
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InputError(f"{field}{list(index)}: {int(array[index])}, a whole number from {low} to {high} is needed")
    return array.astype(np.int64)


def _require_shape(field: str, given: tuple[int, ...], needed: tuple[int, ...]) -> None:
    if given != needed:
        raise InputError(f"{field}: shape {given}, {needed} is needed")


def labels(field: str, value: Iterable[str]) -> tuple[str, ...]:
    """Return the labels as a tuple, each a text and all different."""
    result = tuple(value)
    seen: dict[str, int] = {}
    for index, label in enumerate(result):
        if not isinstance(label, str) or not 0 < len(label) <= 200:
            raise InputError(f"{field}[{index}]: {shown(label)}, a text of 1 to 200 characters is needed")
        check_text(f"{field}[{index}]", label)
        if label in seen:
            first = f"{field}[{seen[label]}]"
            raise InputError(
                f"{field}[{index}]: {label!r} stands twice, first as {first}; every label must be different"
            )
        seen[label] = index
    return result


def resource_names(value: Sequence[str]) -> tuple[str, ...]:
    """Return resource names, all different, of letters, digits, `_`, `-`, `.` and `/`."""
    result = labels("resources", value)
    if not result:
        raise InputError("resources: empty, at least one resource is needed")
    for index, name in enumerate(result):
        if re.fullmatch(r"[A-Za-z0-9_./-]+", name) is None:
            raise InputError(f"resources[{index}]: {name!r}, only letters, digits and _ . / - are allowed")
    return result


def table(field: str, value: Any) -> NDArray[np.float64]:
    """Return a new read-only speed table over (parameter servers, workers); nan is a hole, and not all are holes."""
    try:
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{field}: rows of equal length with numbers are needed") from None
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"{field}: shape {array.shape}, rows (parameter servers) by columns (workers) are needed")
    wrong = ~(np.isnan(array) | ((array >= 1 / LARGEST) & (array <= LARGEST)))
    if wrong.any():
        p, w = (int(i) for i in np.argwhere(wrong)[0])
        raise InputError(f"{field}[{p}, {w}]: {array[p, w]:g} steps/s, from {1 / LARGEST:g} to {LARGEST:g} is needed")
    if np.isnan(array).all():
        raise InputError(f"{field}: every entry is a hole, at least one speed is needed")
    array.setflags(write=False)
    return array


def whole(field: str, value: object) -> int:
    """Return a whole number of a solution as a plain int; a truth value, a fraction or a text is none."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not -_MOST <= value <= _MOST:
        raise InputError(f"{field}: {shown(value)}, a whole number is needed, at most {LARGEST:g}")
    return int(value)


def whole_numbers(field: str, values: Any) -> tuple[int, ...]:
    """Return the whole numbers of a solution as plain ints, from any sequence or array."""
    items = _sequence(field, values, "whole numbers")
    if set(map(type, items)) <= {int} and min(items, default=0) >= -_MOST and max(items, default=0) <= _MOST:
        return items
    return tuple(whole(f"{field}[{index}]", value) for index, value in enumerate(items))


def finite(field: str, value: object) -> float:
    """Return a finite number of a solution as a plain float; a truth value or a text is none."""
    number = float("nan")
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            number = float(value)
    if not math.isfinite(number):
        raise InputError(f"{field}: {shown(value)}, a finite number is needed")
    return number


def finite_numbers(field: str, values: Any) -> tuple[float, ...]:
    """Return the finite numbers of a solution as plain floats, from any sequence or array."""
    items = _sequence(field, values, "finite numbers")
    return tuple(finite(f"{field}[{index}]", value) for index, value in enumerate(items))


def pieces(
    field: str,
    values: Any,
    columns: tuple[str, ...],
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return lists of tuples of whole numbers, each list in ascending order.

    Parameters
    ----------
    field : str
        Name of the field.
    values : object
        For every job or block its pieces.
    columns : tuple of str
        What the numbers of a piece are, for the message.
    """
    needed = f"whole numbers ({', '.join(columns)})"
    if _plain(values, len(columns)):
        return tuple(tuple(sorted(items)) for items in values)
    result = []
    for index, items in enumerate(_sequence(field, values, "lists of pieces")):
        where = f"{field}[{index}]"
        held = (_piece(where, piece, len(columns), needed) for piece in _sequence(where, items, "pieces"))
        result.append(tuple(sorted(held)))
    return tuple(result)


def _plain(values: Any, width: int) -> bool:
    """Return whether all is well already: tuples of tuples of as many plain ints; far faster than one by one."""
    if type(values) is not tuple or not set(map(type, values)) <= {tuple}:
        return False
    every = list(itertools.chain.from_iterable(values))
    if not set(map(type, every)) <= {tuple} or not set(map(len, every)) <= {width}:
        return False
    numbers = list(itertools.chain.from_iterable(every))
    if not set(map(type, numbers)) <= {int}:
        return False
    return min(numbers, default=0) >= -_MOST and max(numbers, default=0) <= _MOST


def _piece(where: str, piece: object, width: int, needed: str) -> tuple[int, ...]:
    numbers = _sequence(where, piece, needed)
    try:
        numbers = whole_numbers(where, numbers)
    except InputError:
        numbers = ()
    if len(numbers) != width:
        raise InputError(f"{where}: {shown(piece)}, {needed} are needed")
    return numbers


def texts(field: str, values: Any) -> tuple[str, ...]:
    """Return the texts of a solution as a tuple."""
    items = _sequence(field, values, "texts")
    for index, value in enumerate(items):
        if not isinstance(value, str):
            raise InputError(f"{field}[{index}]: {shown(value)}, a text is needed")
    return items


def _sequence(field: str, values: Any, needed: str) -> tuple[Any, ...]:
    if isinstance(values, np.ndarray) and values.ndim:
        return tuple(values.tolist())
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        return tuple(values)
    raise InputError(f"{field}: {shown(values)}, {needed} are needed")
