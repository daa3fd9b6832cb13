"""Deadlines of methods."""

from __future__ import annotations

import time
from collections.abc import Callable

from gangopt.formulations.deadline import OutOfTime

__all__ = ["Clock", "CountedClock", "OutOfTime", "keeps_limit"]

ALLOWED_SHARE, ALLOWED_SECONDS = 0.1, 2.0
"""Tolerated excess of a time limit: this fraction of it, plus as many seconds."""


def keeps_limit(unwatched: float, time_limit: float | None) -> bool:
    """Return whether a solver that does not check its clock for some time keeps a time limit.

    Parameters
    ----------
    unwatched : float
        Longest time in s between two checks.
    time_limit : float or None
        Limit of the call in s; None means no limit.
    """
    return time_limit is None or unwatched <= ALLOWED_SHARE * time_limit + ALLOWED_SECONDS


class Clock:
    """A deadline.

    Parameters
    ----------
    seconds : float or None, optional
        Wall seconds from now, None for never.
    now : callable, optional
        Returns the time, in seconds.
    """

    def __init__(self, seconds: float | None = None, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._end = None if seconds is None else now() + seconds

    def expired(self) -> bool:
        """Return whether the deadline has passed."""
        return self._end is not None and self._now() >= self._end

    def require(self) -> None:
        """Raise OutOfTime if the deadline has passed."""
        if self.expired():
            raise OutOfTime("time limit reached")


class CountedClock(Clock):
    """A deadline that also passes after a number of checks, so that results without a time limit are reproducible.

    Parameters
    ----------
    looks : int
        Number of checks before it expires.
    seconds : float or None, optional
        Wall seconds from now, None for never.
    """

    def __init__(self, looks: int, seconds: float | None = None) -> None:
        super().__init__(seconds)
        self._looks = looks

    def expired(self) -> bool:
        """Return whether the checks are used up or the deadline has passed."""
        self._looks -= 1
        return self._looks < 0 or super().expired()
