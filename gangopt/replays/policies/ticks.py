"""Decision times of interval-based policies: multiples of an interval since the first arrival."""

from __future__ import annotations

import math

__all__ = ["Ticks", "next_tick"]


def next_tick(now: float, interval: float, resolution: float) -> float:
    """Return the first multiple of the interval after now, or the next double if there is none.

    Parameters
    ----------
    now, interval : float
        Current time and interval, s.
    resolution : float
        Times closer than this are equal, s.
    """
    equal = now + resolution
    count = math.floor(equal / interval)
    # the division rounds, so the multiple may be one before or after
    multiples = (count * interval, (count + 1) * interval, (count + 2) * interval)
    return next((tick for tick in multiples if tick > equal), math.nextafter(equal, math.inf))


class Ticks:
    """Clock that reports whether a multiple of the interval is due, even if it was not read in between.

    Parameters
    ----------
    interval : float
        Interval, s.

    Attributes
    ----------
    next : float
        Next multiple, s.
    """

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self.next = -math.inf

    def due(self, now: float, resolution: float) -> bool:
        """Return whether now equals a multiple; must be called once per decision.

        Parameters
        ----------
        now : float
            Current time, s.
        resolution : float
            Times closer than this are equal, s.
        """
        if now > self.next + resolution:
            # no decision was due at the multiples in between
            on_grid = abs(round(now / self.interval) * self.interval - now) <= resolution
            self.next = now if on_grid else next_tick(now, self.interval, resolution)
        if now < self.next - resolution:
            return False
        self.next = next_tick(now, self.interval, resolution)
        return True
