"""What an app can be given: a count of GPUs at a level and place, and what it is then worth; useless ones left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gangopt.base.errors import InfeasibleError
from gangopt.base.types import Floats
from gangopt.formulations.deadline import require_time
from gangopt.instances.auction.bids import CLUSTER, MACHINE, RACK
from gangopt.instances.fair_share.market import Market

__all__ = ["Option", "best_inside", "cheapest", "given_counts", "options_of", "require_option"]


class Option(NamedTuple):
    """One bundle of an app.

    Attributes
    ----------
    app : int
        Index of the app.
    level : int
        0 machine, 1 rack, 2 cluster.
    place : int
        Index of the machine or rack that holds the bundle, 0 for the cluster.
    gpus : int
        GPUs given.
    value : float
        V = 1 / rho with them.
    """

    app: int
    level: int
    place: int
    gpus: int
    value: float

    @property
    def key(self) -> tuple[int, int, int, int]:
        """Index of the option's variable: app, level, place, gpus."""
        return self[:4]


def options_of(market: Market, least: Sequence[float] | None = None, *, anywhere: bool = False) -> list[list[Option]]:
    """Return the bundles of each app that no other bundle makes useless.

    Left out are bundles that one of no more GPUs, at a wider level that contains the place, makes as valuable: the
    wider one takes no room that the narrower would not take.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    least : sequence of float or None, optional
        A value for each app; only bundles worth at least as much are returned.
    anywhere : bool, optional
        Only the largest machine and rack, which stand for all where no app holds GPUs.

    Returns
    -------
    list of list of Option
        For each app, the empty bundle first if it is worth enough, then by level from the widest, place and count.

    Raises
    ------
    OutOfTime
        If a model is built within a time limit that is over.
    """
    every = []
    for app in range(len(market.apps)):
        require_time()
        nothing = market.value(app, np.zeros_like(market.gpus))
        mine = [Option(app, CLUSTER, 0, 0, nothing)]
        # best[place][count] of the next wider level: what the count in the place is worth, or anywhere around it
        best = {0: np.full(market.total_gpus + 1, nothing)}
        for level in (CLUSTER, RACK, MACHINE):
            room = market.in_places(level, market.gpus)
            here = {}
            for place in [int(room.argmax())] if anywhere else market.places(app, level):
                around = int(market.racks[place]) if level == MACHINE and not anywhere else min(best)
                wider = best[around][: room[place] + 1]
                values = _values(market, app, level, int(room[place]))
                new = values > np.maximum(wider, np.concatenate([[nothing], values[:-1]]))
                mine += [Option(app, level, place, k, float(values[k])) for k in np.flatnonzero(new).tolist()]
                here[place] = np.maximum(values, wider)
            best = here
        floor = -np.inf if least is None else least[app]
        every.append([item for item in mine if item.value >= floor])
    return every


def _values(market: Market, app: int, level: int, room: int) -> Floats:
    """Return V of 0 to `room` GPUs in one place of a level; it does not fall with the count."""
    table = market.values[app][level]
    return np.asarray(table[np.minimum(np.arange(room + 1), len(table) - 1)])


def cheapest(options: Sequence[Sequence[Option]], thresholds: Sequence[float]) -> list[list[Option]]:
    """Keep, of each app, place and threshold, the smallest bundle worth at least the threshold.

    Parameters
    ----------
    options : sequence of sequence of Option
        Of `options_of`.
    thresholds : sequence of float
        Values of interest.

    Returns
    -------
    list of list of Option
        In the order of `options`; bundles worth less than every threshold are left out.
    """
    kept = []
    for mine in options:
        chosen: dict[tuple[int, int, float], Option] = {}
        for item in mine:
            for threshold in thresholds:
                if item.value >= threshold:
                    chosen.setdefault((item.level, item.place, threshold), item)
        keys = {item.key for item in chosen.values()}
        kept.append([item for item in mine if item.key in keys])
    return kept


def require_option(market: Market, options: Sequence[Sequence[Option]], needed: str = "a value above 0") -> None:
    """Refuse apps that nothing on offer can give what they need.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    options : sequence of sequence of Option
        Bundles of each app that do.
    needed : str, optional
        What the message calls it.

    Raises
    ------
    InfeasibleError
        Naming the first such app.
    """
    for app, mine in zip(market.apps, options, strict=True):
        if not mine:
            raise InfeasibleError(f"everyone_served: no bundle on offer gives app {app} {needed}")


def best_inside(market: Market, options: Sequence[Sequence[Option]], given: Sequence[Sequence[int]]) -> list[Option]:
    """Return, for each app, the most valuable of its bundles that lies inside what an allocation gives it.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    options : sequence of sequence of Option
        Bundles of each app.
    given : sequence of sequence of int
        GPUs of each app on each machine, shape (apps, machines).

    Returns
    -------
    list of Option
        Without the apps that none of their bundles fits; of equal values the first.
    """
    chosen = []
    for mine, row in zip(options, np.asarray(given, dtype=np.int64), strict=True):
        inside = {level: market.in_places(level, row) for level in (MACHINE, RACK, CLUSTER)}
        fitting = [item for item in mine if item.gpus <= inside[item.level][item.place]]
        chosen += [max(fitting, key=lambda item: item.value)] if fitting else []
    return chosen


def given_counts(market: Market, chosen: Sequence[Option]) -> tuple[tuple[int, ...], ...]:
    """Return GPUs of each app on each machine for bundles that fit together.

    Machine bundles first, then those of a rack, then the others; inside a rack or the cluster, machines are emptied
    in their order.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    chosen : sequence of Option
        At most one bundle of each app.

    Returns
    -------
    tuple of tuple of int
        Shape (apps, machines).
    """
    free = market.gpus.copy()
    given = np.zeros((len(market.apps), len(free)), dtype=np.int64)
    for level in (MACHINE, RACK, CLUSTER):
        for item in sorted(item for item in chosen if item.level == level):
            left = item.gpus
            for machine in np.flatnonzero(market.inside(level, item.place)).tolist():
                take = min(left, int(free[machine]))
                given[item.app, machine] += take
                free[machine] -= take
                left -= take
    return tuple(tuple(row) for row in given.tolist())
