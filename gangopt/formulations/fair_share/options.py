"""Bundles that an app can be given: a number of GPUs at a level and place, with its value."""

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
        V = 1 / rho with the bundle.
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
    """Return the useful bundles of each app.

    A bundle is left out if another with at most as many GPUs, at a wider level that contains its place, has at least
    the same value: the wider bundle only uses room that the narrower one would use, too.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    least : sequence of float or None, optional
        Least value of the returned bundles, for each app.
    anywhere : bool, optional
        Whether to consider only the largest machine and rack, which represent all if no app holds GPUs.

    Returns
    -------
    list of list of Option
        For each app, the empty bundle if its value suffices, then by level from the widest, place and count.

    Raises
    ------
    OutOfTime
        If the time limit for building the model is over.
    """
    every = []
    for app in range(len(market.apps)):
        require_time()
        nothing = market.value(app, np.zeros_like(market.gpus))
        mine = [Option(app, CLUSTER, 0, 0, nothing)]
        # best[place][count] of the next wider level: value of the count in the place or anywhere around it
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
    """Return V of 0 to `room` GPUs in one place of a level; it does not decrease with the count."""
    table = market.values[app][level]
    return np.asarray(table[np.minimum(np.arange(room + 1), len(table) - 1)])


def cheapest(options: Sequence[Sequence[Option]], thresholds: Sequence[float]) -> list[list[Option]]:
    """Keep, for each app, place and threshold, the smallest bundle with at least this value.

    Parameters
    ----------
    options : sequence of sequence of Option
        Bundles of each app, from `options_of`.
    thresholds : sequence of float
        Values to distinguish.

    Returns
    -------
    list of list of Option
        In the order of `options`, without bundles below all thresholds.
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
    """Check that each app has at least one bundle.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    options : sequence of sequence of Option
        Bundles of each app that are good enough.
    needed : str, optional
        Description of good enough, for the message.

    Raises
    ------
    InfeasibleError
        If some app has none.
    """
    for app, mine in zip(market.apps, options, strict=True):
        if not mine:
            raise InfeasibleError(f"everyone_served: no bundle on offer gives app {app} {needed}")


def best_inside(market: Market, options: Sequence[Sequence[Option]], given: Sequence[Sequence[int]]) -> list[Option]:
    """Return, for each app, its most valuable bundle that its GPUs in an allocation contain.

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
        One bundle for each app that has one; ties go to the first.
    """
    chosen = []
    for mine, row in zip(options, np.asarray(given, dtype=np.int64), strict=True):
        inside = {level: market.in_places(level, row) for level in (MACHINE, RACK, CLUSTER)}
        fitting = [item for item in mine if item.gpus <= inside[item.level][item.place]]
        chosen += [max(fitting, key=lambda item: item.value)] if fitting else []
    return chosen


def given_counts(market: Market, chosen: Sequence[Option]) -> tuple[tuple[int, ...], ...]:
    """Return the GPUs of each app on each machine for bundles that fit together.

    Machine bundles are placed first, then those of a rack, then the others. Inside a rack or the cluster, machines are
    used in order of index.

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
