"""Single-job apps in rounds: an agent that bids by equation 1, and its work between rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from gangopt.base.errors import InputError
from gangopt.instances.auction.bids import LEVELS, AppBid
from gangopt.instances.finish_time import ideal_seconds
from gangopt.solvers.auction.arbiter import Offer
from gangopt.topology import PRIORS, Cluster, Slowdown, locality

__all__ = ["LATEST", "Crowd", "SingleJobApp"]

LATEST = 1e12
"""Latest arrival, s, at which a clock in double precision still resolves a tenth of a millisecond."""


class Crowd:
    """Number of apps present over time, from which N_avg is computed."""

    def __init__(self) -> None:
        self._last = 0.0
        self._present = 0
        self._area = 0.0
        self._area_at: dict[str, tuple[float, float]] = {}

    def arrive(self, label: str, now: float) -> None:
        """Record the arrival of an app at a time, s, not before the last event."""
        self._advance(now)
        self._present += 1
        self._area_at[label] = (now, self._area)

    def leave(self, now: float) -> None:
        """Record the departure of an app at a time, s, not before the last event."""
        self._advance(now)
        self._present -= 1

    def average(self, label: str, now: float) -> float:
        """Return the time-weighted number of apps present from an app's arrival until now, at least 1."""
        start, area = self._area_at[label]
        if now <= start:
            return float(max(1, self._present))
        whole = self._area + (now - self._last) * self._present
        return max(1.0, (whole - area) / (now - start))

    def _advance(self, now: float) -> None:
        self._area += (now - self._last) * self._present
        self._last = now


@dataclass
class SingleJobApp:
    r"""An app with one job and linear speed-up, whose agent bids its rho.

    The value of a bundle G is

    .. math:: \frac{1}{V} = \rho = \frac{t - t_0 + w\, S(G) / \min(|G|, d)}{T_{id}}, \qquad
        T_{id} = \frac{W}{\min(R, d)} N_{avg}

    Attributes
    ----------
    label : str
        Unique name.
    arrival : float
        t_0, s.
    work : float
        W, serial time of the whole job, s.
    max_gpus : int
        Demand d: the maximum number of GPUs that it uses.
    slowdown : Slowdown
        Slowdown S by locality, never decreasing with the width.
    told_slowdown : Slowdown or None
        Slowdown S used in the bids, None for the true one.
    work_error : float
        Factor on w and W in the bids.
    restart : float
        Seconds without progress whenever its GPUs change.
    left : float
        Remaining work w, serial seconds.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, equation 1.
    """

    label: str
    arrival: float
    work: float
    max_gpus: int
    slowdown: Slowdown = PRIORS
    told_slowdown: Slowdown | None = None
    work_error: float = 1.0
    restart: float = 0.0
    left: float = field(init=False)
    crowd: Crowd = field(init=False, repr=False, compare=False)
    cluster: Cluster = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, low in (("arrival", 0.0), ("restart", 0.0)):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= low):
                raise InputError(f"app {self.label}: {name} must be >= 0 seconds (got {getattr(self, name)})")
        if self.arrival > LATEST:
            raise InputError(f"app {self.label}: arrival must be <= {LATEST:g} seconds (got {self.arrival:g})")
        for name in ("work", "work_error"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise InputError(f"app {self.label}: {name} must be > 0 (got {getattr(self, name)})")
        if not isinstance(self.max_gpus, int) or self.max_gpus < 1:
            raise InputError(f"app {self.label}: max_gpus must be an integer >= 1 (got {self.max_gpus})")
        self.left = self.work
        self._stalled = 0.0

    def join(self, cluster: Cluster, crowd: Crowd) -> None:
        """Enter a cluster, whose number of apps over time the crowd knows."""
        self.cluster, self.crowd = cluster, crowd

    def rate(self, gpus: Iterable[int]) -> float:
        """Return the serial seconds of work done in a second on these GPUs."""
        return self._rate(tuple(gpus), self.slowdown)

    def _rate(self, gpus: tuple[int, ...], slowdown: Slowdown) -> float:
        if not gpus:
            return 0.0
        return min(len(gpus), self.max_gpus) / slowdown.of(self.cluster, gpus)

    def ideal(self, now: float) -> float:
        """Return T_id as the agent knows it, s."""
        return self._ideal(self.work_error * self.work, now)

    def final_rho(self, end: float) -> float:
        """Return rho of an app that ended at this time, s, by its true work."""
        return (end - self.arrival) / self._ideal(self.work, end)

    def _ideal(self, work: float, now: float) -> float:
        return ideal_seconds(work, len(self.cluster.gpus), self.max_gpus, self.crowd.average(self.label, now))

    def rho(self, now: float, gpus: tuple[int, ...]) -> float:
        """Return rho with these GPUs until the end, infinite without any."""
        rate = self._rate(gpus, self._told)
        return (now - self.arrival + self.work_error * self.left / rate) / self.ideal(now) if rate else math.inf

    @property
    def _told(self) -> Slowdown:
        return self.slowdown if self.told_slowdown is None else self.told_slowdown

    def demand(self, now: float, held: tuple[int, ...]) -> int:
        """Return the number of GPUs that it can use besides those held."""
        del now  # the demand of a single job does not change
        return max(0, self.max_gpus - len(held))

    def bid(self, offer: Offer) -> AppBid:
        """Return the table of an offer: a row for every number of GPUs and every level possible with those held."""
        counts: dict[int, int] = {}
        for gpu in offer.held:
            machine = int(self.cluster.gpu_machine[gpu])
            counts[machine] = counts.get(machine, 0) + 1
        narrowest = 0
        if offer.held:
            narrowest = max(0, LEVELS.index(_machine_level(locality(self.cluster, offer.held))))
        elapsed, ideal = offer.now - self.arrival, self.ideal(offer.now)
        most = min(self.demand(offer.now, offer.held), len(offer.gpus))
        rows = []
        for k in range(1, most + 1):
            for level in LEVELS[narrowest:]:
                total = len(offer.held) + k
                slow = self._told.at("slot" if total == 1 else level)
                seconds = elapsed + self.work_error * self.left * slow / min(total, self.max_gpus)
                rows.append((k, level, ideal / seconds))
        now = self.rho(offer.now, offer.held)
        zero = 0.0 if math.isinf(now) else 1.0 / now
        return AppBid.from_rows(self.label, rows, Fraction(zero), tuple(sorted(counts.items())))

    def advance(self, seconds: float, gpus: tuple[int, ...]) -> None:
        """Work for some seconds on these GPUs, after the rest of a restart."""
        stalled = min(self._stalled, seconds) if gpus else 0.0
        self._stalled -= stalled
        self.left = max(0.0, self.left - (seconds - stalled) * self.rate(gpus))

    def moved(self) -> None:
        """Record a change of GPUs: work resumes after the restart."""
        self._stalled = self.restart

    def seconds_left(self, gpus: tuple[int, ...]) -> float:
        """Return the remaining time on these GPUs, infinite without any."""
        rate = self.rate(gpus)
        return self._stalled + self.left / rate if rate else math.inf


def _machine_level(level: str) -> str:
    return "machine" if level == "slot" else level
