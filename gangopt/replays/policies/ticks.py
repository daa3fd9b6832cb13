"""Times at which a policy looks at the jobs: multiples of an interval since the first arrival."""

from __future__ import annotations

import math

__all__ = ["Ticks", "next_tick"]


def next_tick(now: float, interval: float, resolution: float) -> float:
    """Return the first multiple of the interval that is later than now, or the next number where none is.

    Parameters
    ----------
    now, interval : float
        S.
    resolution : float
        S; closer times are equal.
    """
    equal = now + resolution
    count = math.floor(equal / interval)
    # the division rounds: the multiple sought may be one before or after
    multiples = (count * interval, (count + 1) * interval, (count + 2) * interval)
    return next((tick for tick in multiples if tick > equal), math.nextafter(equal, math.inf))


class Ticks:
    """Tells whether a multiple of the interval has come, also after times in which nobody asked.

    Parameters
    ----------
    interval : float
        S.

    Attributes
    ----------
    next : object
        S, the multiple that comes next.
    """

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self.next = -math.inf

    def due(self, now: float, resolution: float) -> bool:
        """Return whether now is equal to a multiple; to be asked once a decision.

        Parameters
        ----------
        now : float
            S.
        resolution : float
            S; closer times are equal.
        """
        if now > self.next + resolution:
            # nobody was to be woken at the multiples in between, so they are past
            on_grid = abs(round(now / self.interval) * self.interval - now) <= resolution
            self.next = now if on_grid else next_tick(now, self.interval, resolution)
        if now < self.next - resolution:
            return False
        self.next = next_tick(now, self.interval, resolution)
        return True
