"""Times at which a policy looks at the jobs: multiples of an interval on the workload's clock."""

from __future__ import annotations

import math

__all__ = ["Ticks", "next_tick"]


def next_tick(now: float, interval: float) -> float:
    """Return the first multiple of the interval after now in s, or the next number where that is not a later one."""
    count = math.floor(now / interval)
    # the division rounds: the multiple sought may be one before or after
    multiples = (count * interval, (count + 1) * interval, (count + 2) * interval)
    return next((tick for tick in multiples if tick > now), math.nextafter(now, math.inf))


class Ticks:
    """Tells whether a multiple of the interval has come, also after times in which nobody asked.

    Parameters
    ----------
    interval : s

    Attributes
    ----------
    next : s, the multiple that comes next
    """

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self.next = -math.inf

    def due(self, now: float) -> bool:
        """Return whether a multiple comes at this second; to be asked once a decision."""
        if now > self.next:
            # nobody was to be woken at the multiples in between, so they are past
            on_grid = round(now / self.interval) * self.interval == now
            self.next = now if on_grid else next_tick(now, self.interval)
        if now < self.next:
            return False
        self.next = next_tick(now, self.interval)
        return True
