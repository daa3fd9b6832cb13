"""A moment at which a method has to stop."""

from __future__ import annotations

import time
from collections.abc import Callable

from gangopt.formulations.deadline import OutOfTime

__all__ = ["Clock", "CountedClock", "OutOfTime"]


class Clock:
    """A moment at which to stop.

    Parameters
    ----------
    seconds : float or None, optional
        Wall seconds from now, None for never.
    now : callable, optional
        Reads the time, in seconds.
    """

    def __init__(self, seconds: float | None = None, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._end = None if seconds is None else now() + seconds

    def expired(self) -> bool:
        """Return whether the moment has come."""
        return self._end is not None and self._now() >= self._end

    def require(self) -> None:
        """Raise OutOfTime if the moment has come."""
        if self.expired():
            raise OutOfTime("time limit reached")


class CountedClock(Clock):
    """A clock that also stops after a number of looks, so that without a time limit no answer depends on the machine.

    Parameters
    ----------
    looks : int
        How often it says that there is time.
    seconds : float or None, optional
        Wall seconds from now, None for never.
    """

    def __init__(self, looks: int, seconds: float | None = None) -> None:
        super().__init__(seconds)
        self._looks = looks

    def expired(self) -> bool:
        """Return whether the looks are used up or the moment has come."""
        self._looks -= 1
        return self._looks < 0 or super().expired()
