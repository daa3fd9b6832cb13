"""Checks of the numbers in an allocation instance: each defect is one line with field, index and value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangopt.errors import InputError

__all__ = ["LARGEST", "counts", "labels", "numbers", "resource_names", "table"]

LARGEST = 1e15
"""Largest magnitude of any number: whole numbers stay exact in double precision below it."""


def numbers(
    field: str,
    value: Any,  # noqa: ANN401 - input of any type is checked here
    shape: tuple[int, ...],
    low: float = 0.0,
    high: float = LARGEST,
) -> NDArray[np.float64]:
    """Return a new float array of the shape, all entries finite and from low to high."""
    try:
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{field}: numbers are needed") from None
    _require_shape(field, array.shape, shape)
    wrong = ~((array >= low) & (array <= high))
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InputError(f"{field}{list(index)}: {array[index]:g}, a number from {low:g} to {high:g} is needed")
    return array


def counts(field: str, value: Any, shape: tuple[int, ...], low: int, high: int) -> NDArray[np.int64]:  # noqa: ANN401 - input of any type is checked here
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
    seen: set[str] = set()
    for index, label in enumerate(result):
        if not isinstance(label, str) or not 0 < len(label) <= 200:
            raise InputError(f"{field}[{index}]: {label!r}, a text of 1 to 200 characters is needed")
        if label in seen:
            raise InputError(f"{field}[{index}]: {label!r} stands twice, every label must be different")
        seen.add(label)
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


def table(field: str, value: Any) -> NDArray[np.float64]:  # noqa: ANN401 - input of any type is checked here
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
