"""Checks of values from users, files and solutions; each message gives the field, what it must be and what it is."""

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
from gangopt.base.types import Bools, Floats, Ints

__all__ = [
    "LARGEST",
    "SMALLEST",
    "counts",
    "finite",
    "finite_numbers",
    "integer",
    "labels",
    "limits",
    "number",
    "numbers",
    "pieces",
    "resource_names",
    "table",
    "text",
    "texts",
    "vector",
    "whole",
    "whole_numbers",
]

LARGEST = 1e15
"""Largest magnitude of any number: integers are exact in double precision below it."""

SMALLEST = 1e-15
"""Smallest positive amount of a resource; shares and prices computed from it stay far from overflow."""

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
        raise InputError(f"{name} must be {kind}{limits(low, high, unit, above)} (got {_got(value)})")
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
        raise InputError(f"{name} must be an integer{limits(low, high, unit)} (got {_got(value)})")
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


def limits(low: float | None, high: float | None, unit: str = "", above: float | None = None) -> str:
    """Return limits as the end of a phrase, e.g. ` from 0 to 1 s` or ` > 0 and <= 5`.

    Parameters
    ----------
    low : float or None
        Smallest value.
    high : float or None
        Largest value.
    unit : str, optional
        Unit of the limits.
    above : float or None, optional
        Value that must be exceeded, instead of `low`.
    """
    if low is not None and high is not None:
        phrase = f" from {_figure(low)} to {_figure(high)}"
    else:
        bounds = ((">", above), (">=", low), ("<=", high))
        phrase = " and".join(f" {sign} {_figure(bound)}" for sign, bound in bounds if bound is not None)
    return f"{phrase} {unit}" if phrase and unit else phrase


def _figure(limit: float) -> str:
    """Return a limit without rounding it, e.g. 4096, 5,000,000, 1e12 or 1e-9."""
    short = f"{limit:g}"
    if float(short) != limit or 1e4 <= abs(limit) < 1e9:
        return f"{int(limit):,}" if limit == int(limit) else repr(limit)
    mantissa, exponent, power = short.partition("e")
    return f"{mantissa}e{int(power)}" if exponent else mantissa


def _got(value: object) -> str:
    return shown(value.item() if isinstance(value, np.generic) else value)


def numbers(
    field: str,
    value: Any,
    shape: tuple[int, ...],
    low: float = 0.0,
    high: float = LARGEST,
    smallest: float = 0.0,
) -> Floats:
    """Return a new float array of a shape with every entry from low to high and, unless 0, at least `smallest`."""
    array = _floats(field, value)
    _check_shape(field, array.shape, shape)
    wrong = ~((array >= low) & (array <= high))
    _refuse(field, array, wrong, f"a number{limits(low, high)}")
    _refuse(field, array, (array != 0) & (np.abs(array) < smallest), f"0 or at least {_figure(smallest)}")
    return array + 0.0


def vector(field: str, value: Any, low: float = 0.0, high: float = LARGEST) -> Floats:
    """Return a new float array of one dimension with every entry from low to high."""
    array = _floats(field, value)
    if array.ndim != 1:
        raise InputError(f"{field} must have one dimension (got {array.ndim})")
    return numbers(field, array, array.shape, low, high)


def _floats(field: str, value: Any) -> Floats:
    try:
        return np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{field} must hold numbers (got {shown(value)})") from None


def counts(field: str, value: Any, shape: tuple[int, ...], low: int, high: int) -> Ints:
    """Return a new integer array of a shape with every entry from low to high."""
    array = np.array(value)
    _check_shape(field, array.shape, shape)
    if array.dtype.kind not in "iu":
        raise InputError(f"{field} must hold integers (got {array.dtype.name})")
    _refuse(field, array, (array < low) | (array > high), f"an integer{limits(low, high)}")
    return array.astype(np.int64)


def _check_shape(field: str, given: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if given != wanted:
        raise InputError(f"{field} must have shape {wanted} (got {given})")


def _refuse(field: str, array: NDArray[Any], wrong: Bools, allowed: str) -> None:
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InputError(f"{field}{list(index)} must be {allowed} (got {_got(array[index])})")


def labels(field: str, value: Iterable[str]) -> tuple[str, ...]:
    """Return unique labels of 1 to 200 characters as a tuple."""
    result = tuple(value)
    seen: dict[str, int] = {}
    for index, label in enumerate(result):
        text(f"{field}[{index}]", label, 1, 200)
        if label in seen:
            raise InputError(f"{field}[{index}]: duplicate label {label!r} (first at {field}[{seen[label]}])")
        seen[label] = index
    return result


def resource_names(value: Sequence[str]) -> tuple[str, ...]:
    """Return unique resource names, which consist of letters, digits, `_`, `-`, `.` and `/`."""
    result = labels("resources", value)
    if not result:
        raise InputError("resources must name at least one resource (got none)")
    for index, name in enumerate(result):
        if re.fullmatch(r"[A-Za-z0-9_./-]+", name) is None:
            raise InputError(f"resources[{index}] must consist of letters, digits and _ . / - (got {name!r})")
    return result


def table(field: str, value: Any) -> Floats:
    """Return a new read-only table of speeds in steps/s by (parameter servers, workers); NaN marks unknown entries."""
    try:
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{field} must be rows of numbers of equal length (got {shown(value)})") from None
    if array.ndim != 2 or array.size == 0:
        raise InputError(
            f"{field} must have a row per number of parameter servers and a column per number of workers "
            f"(got shape {array.shape})"
        )
    wrong = ~(np.isnan(array) | ((array >= 1 / LARGEST) & (array <= LARGEST)))
    _refuse(field, array, wrong, f"a number{limits(1 / LARGEST, LARGEST, 'steps/s')}")
    if np.isnan(array).all():
        raise InputError(f"{field} must hold at least one speed (got only unknown entries)")
    array.setflags(write=False)
    return array


def whole(field: str, value: object) -> int:
    """Return an integer of a solution as a plain int."""
    return integer(field, integer(field, value), -_MOST, _MOST)


def whole_numbers(field: str, values: Any) -> tuple[int, ...]:
    """Return the integers of a solution, a sequence or an array, as plain ints."""
    items = _sequence(field, values, "a list of integers")
    if set(map(type, items)) <= {int} and min(items, default=0) >= -_MOST and max(items, default=0) <= _MOST:
        return items
    return tuple(whole(f"{field}[{index}]", value) for index, value in enumerate(items))


def finite(field: str, value: object) -> float:
    """Return a finite number of a solution as a plain float."""
    return number(field, value)


def finite_numbers(field: str, values: Any) -> tuple[float, ...]:
    """Return the finite numbers of a solution, a sequence or an array, as plain floats."""
    items = _sequence(field, values, "a list of finite numbers")
    return tuple(finite(f"{field}[{index}]", value) for index, value in enumerate(items))


def pieces(
    field: str,
    values: Any,
    columns: tuple[str, ...],
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return lists of tuples of integers, each list in ascending order.

    Parameters
    ----------
    field : str
        Name of the field.
    values : object
        The pieces of every job or block.
    columns : tuple of str
        Names of the numbers in a piece, for the message.
    """
    wanted = f"integers ({', '.join(columns)})"
    if _plain(values, len(columns)):
        return tuple(tuple(sorted(items)) for items in values)
    result = []
    for index, items in enumerate(_sequence(field, values, "lists of pieces")):
        where = f"{field}[{index}]"
        held = (_piece(where, piece, len(columns), wanted) for piece in _sequence(where, items, "a list of pieces"))
        result.append(tuple(sorted(held)))
    return tuple(result)


def _plain(values: Any, width: int) -> bool:
    """Return whether all values are valid tuples of plain ints; much faster than checking them one by one."""
    if type(values) is not tuple or not set(map(type, values)) <= {tuple}:
        return False
    every = list(itertools.chain.from_iterable(values))
    if not set(map(type, every)) <= {tuple} or not set(map(len, every)) <= {width}:
        return False
    numbers = list(itertools.chain.from_iterable(every))
    if not set(map(type, numbers)) <= {int}:
        return False
    return min(numbers, default=0) >= -_MOST and max(numbers, default=0) <= _MOST


def _piece(where: str, piece: object, width: int, wanted: str) -> tuple[int, ...]:
    numbers = _sequence(where, piece, wanted)
    try:
        numbers = whole_numbers(where, numbers)
    except InputError:
        numbers = ()
    if len(numbers) != width:
        raise InputError(f"{where} must be {wanted} (got {shown(piece)})")
    return numbers


def texts(field: str, values: Any) -> tuple[str, ...]:
    """Return text entries of a solution as a tuple."""
    items = _sequence(field, values, "a list of text")
    for index, value in enumerate(items):
        if not isinstance(value, str):
            raise InputError(f"{field}[{index}] must be text (got {shown(value)})")
    return items


def _sequence(field: str, values: Any, wanted: str) -> tuple[Any, ...]:
    if isinstance(values, np.ndarray) and values.ndim:
        return tuple(values.tolist())
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        return tuple(values)
    raise InputError(f"{field} must be {wanted} (got {shown(values)})")
