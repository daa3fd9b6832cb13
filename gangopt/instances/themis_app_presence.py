"""Who was in the cluster when: the time-weighted number of apps, N_avg."""

from __future__ import annotations

import math

from gangopt.errors import InputError

__all__ = ["Presence"]


class Presence:
    """Arrivals and departures of apps, in order of time.

    Examples
    --------
    >>> presence = Presence()
    >>> presence.arrive("a", 0)
    >>> presence.arrive("b", 10)
    >>> presence.leave("b", 40)
    >>> presence.average(0, 60)
    1.5
    """

    def __init__(self) -> None:
        self._present: set[str] = set()
        self._times: list[float] = []
        self._numbers: list[int] = []

    @property
    def number(self) -> int:
        """Apps present now."""
        return len(self._present)

    def arrive(self, app: str, now: float) -> None:
        """Note that an app arrived.

        Parameters
        ----------
        app : its name, not present yet
        now : time, s, not before the last event
        """
        if app in self._present:
            raise InputError(f"app {app} arrives at {now:g} s but is present")
        self._change(now)
        self._present.add(app)
        self._numbers[-1] = len(self._present)

    def leave(self, app: str, now: float) -> None:
        """Note that an app left.

        Parameters
        ----------
        app : its name, present
        now : time, s, not before the last event
        """
        if app not in self._present:
            raise InputError(f"app {app} leaves at {now:g} s but is not present")
        self._change(now)
        self._present.remove(app)
        self._numbers[-1] = len(self._present)

    def _change(self, now: float) -> None:
        if not math.isfinite(now) or (self._times and now < self._times[-1]):
            last = self._times[-1] if self._times else -math.inf
            raise InputError(f"an event at {now:g} s, a finite time not before the last at {last:g} s is needed")
        if not self._times or now > self._times[-1]:
            self._times.append(float(now))
            self._numbers.append(len(self._present))

    def average(self, start: float, end: float) -> float:
        r"""Return the time-weighted number of apps between two times.

        .. math:: N_{avg} = \frac1{b - a} \int_a^b N(t) \, dt

        Parameters
        ----------
        start, end : a and b, s; where they are equal, the number at that time

        Returns
        -------
        float

        Raises
        ------
        InputError
            If the end is before the start.

        References
        ----------
        Mahajan et al.: THEMIS, NSDI 2020, equation 1.
        """
        if not start <= end:
            raise InputError(f"from {start:g} to {end:g} s, the end may not be before the start")
        parts = []
        at_end = 0
        for k, (begin, number) in enumerate(zip(self._times, self._numbers, strict=True)):
            until = self._times[k + 1] if k + 1 < len(self._times) else math.inf
            parts.append(number * max(0.0, min(until, end) - max(begin, start)))
            at_end = number if begin <= end else at_end
        return float(at_end) if start == end else math.fsum(parts) / (end - start)
