"""Time limit for building models: Pyomo cannot be interrupted, so formulations check the time at every row."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

__all__ = ["LEAST_SECONDS_PER_COLUMN", "OutOfTime", "building_within", "paced", "require_time"]

LEAST_SECONDS_PER_COLUMN = 4e-6
"""Half of the time to build a column with its terms on a desktop of 2024; models that need more are not begun."""

_STRIDE = 100

_Item = TypeVar("_Item")

_remaining: ContextVar[Callable[[], float | None] | None] = ContextVar("remaining", default=None)


class OutOfTime(Exception):  # noqa: N818 - a signal to the method that gave the time limit, never an error of the user
    """The time limit for building a model is over."""


@contextmanager
def building_within(remaining: Callable[[], float | None]) -> Iterator[None]:
    """Limit the time for building models: inside this context, formulations raise OutOfTime when it is over.

    Parameters
    ----------
    remaining : callable
        Returns the remaining seconds, None without a limit; applies to the current thread only.
    """
    token = _remaining.set(remaining)
    logger = logging.getLogger("pyomo.core")
    logger.addFilter(_is_no_stop)
    try:
        yield
    finally:
        logger.removeFilter(_is_no_stop)
        _remaining.reset(token)


def _is_no_stop(_: logging.LogRecord) -> bool:
    """Return False for log records of Pyomo about a rule stopped by the time limit or Ctrl-C, which is no error."""
    return not isinstance(sys.exc_info()[1], OutOfTime | KeyboardInterrupt)


def require_time(columns: int = 0) -> None:
    """Raise OutOfTime if the time is over or too short to build more columns.

    Parameters
    ----------
    columns : int, optional
        Number of columns still to be built, or a lower bound on it.

    Raises
    ------
    OutOfTime
        Only inside `building_within`.
    """
    remaining = _remaining.get()
    left = None if remaining is None else remaining()
    if left is None or left > columns * LEAST_SECONDS_PER_COLUMN:
        return
    if columns and left > 0:
        raise OutOfTime(f"{columns:,} columns take longer to build than the remaining {left:.3g} s")
    raise OutOfTime("the time limit was reached before the model was built")


def paced(items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield the items, and raise OutOfTime between two of them if the time is over.

    Parameters
    ----------
    items : iterable of _Item
        Indices or values of a large component.
    """
    for number, item in enumerate(items):
        if number % _STRIDE == 0:
            require_time()
        yield item
