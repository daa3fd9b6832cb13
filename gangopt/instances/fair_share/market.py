"""Arrays on which fairness is evaluated: GPUs in machines and racks, and the values of every app."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gangopt.base.contract import Record
from gangopt.base.types import Bools, Floats, Ints
from gangopt.instances.auction.bids import CLUSTER, LEVELS, MACHINE, RACK, Bundle
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.instances.auction.solution import AuctionSolution

__all__ = ["TOLERANCE", "Market", "better", "bundles_of", "certifiable", "market_of", "rows_of"]

TOLERANCE = 1e-9
"""Largest relative difference of two values that are considered equal: tables are quotients in double precision."""

Rows = tuple[tuple[int, ...], ...]
"""GPUs of each app on each machine."""


def better(left: float, right: float) -> bool:
    """Return whether one value is greater than another by more than `TOLERANCE` of the greater.

    Parameters
    ----------
    left, right : float
        Values V = 1 / rho, 0 or more.
    """
    return left - right > TOLERANCE * left


@dataclass(frozen=True, eq=False, kw_only=True)
class Market(Record):
    """Bids and GPUs of an auction or a fair division as arrays, with the indices of the instance.

    Attributes
    ----------
    apps : tuple of str
        Label of every app.
    gpus : ndarray of int
        GPUs on offer on each machine, shape (machines,).
    racks : ndarray of int
        Rack of each machine, shape (machines,).
    rack_count : int
        Number of racks.
    home : ndarray of int
        Machine that contains all GPUs an app holds, -1 if there is none, -2 if the app holds nothing, shape (apps,).
    home_rack : ndarray of int
        Likewise for the rack, shape (apps,).
    held : ndarray of int
        GPUs that each app already holds, shape (apps,).
    wanted : ndarray of int
        Most GPUs that each app can use, shape (apps,).
    values : tuple of ndarray of float
        Value V of 0, 1, ... GPUs in one place of each level, shape (3, counts), for each app; the last entry holds
        for every greater count.
    resources : tuple of str
        Names of further resources, e.g. `cpu`.
    capacities : ndarray of float
        Free amount of each resource in the whole cluster, in the resource's unit, shape (resources,).
    demands : ndarray of float
        Amount that each GPU of an app takes, in the same units, shape (apps, resources).
    """

    apps: tuple[str, ...]
    gpus: Ints
    racks: Ints
    rack_count: int
    home: Ints
    home_rack: Ints
    held: Ints
    wanted: Ints
    values: tuple[Floats, ...]
    resources: tuple[str, ...]
    capacities: Floats
    demands: Floats

    def __post_init__(self) -> None:
        for table in self.values:
            table.setflags(write=False)
        self._freeze()

    @property
    def total_gpus(self) -> int:
        """GPUs on offer in the whole cluster."""
        return int(self.gpus.sum())

    def places(self, app: int, level: int) -> list[int]:
        """Return the places of a level that count for an app: all, or the one that contains all GPUs it holds.

        Parameters
        ----------
        app : int
            Index of the app.
        level : int
            0 machine, 1 rack, 2 cluster.

        Returns
        -------
        list of int
            Indices of machines or racks; 0 for the cluster.
        """
        if level == CLUSTER:
            return [0]
        home = int(self.home[app] if level == MACHINE else self.home_rack[app])
        if home == -2:
            return list(range(len(self.gpus) if level == MACHINE else self.rack_count))
        return [home] if home >= 0 else []

    def inside(self, level: int, place: int) -> Bools:
        """Return a mask of the machines in a place, shape (machines,)."""
        if level == MACHINE:
            return np.equal(np.arange(len(self.gpus)), place)
        return np.equal(self.racks, place) if level == RACK else np.ones(len(self.gpus), dtype=bool)

    def in_places(self, level: int, counts: Ints) -> Ints:
        """Return the GPUs in each place of a level, given counts by machine."""
        if level == MACHINE:
            return counts
        if level == RACK:
            return np.bincount(self.racks, weights=counts, minlength=self.rack_count).astype(np.int64)
        return np.array([counts.sum()])

    def entry(self, app: int, level: int, gpus: int) -> float:
        """Return the value of a number of GPUs in one place of a level."""
        table = self.values[app]
        return float(table[level, min(gpus, table.shape[1] - 1)])

    def value(self, app: int, row: Sequence[int] | Ints) -> float:
        """Return the value of a bundle for an app, which may leave GPUs idle.

        V_i(G) is the maximum, over levels and places that count, of the entry for the GPUs of G in the place.

        Parameters
        ----------
        app : int
            Index of the app.
        row : sequence of int or ndarray of int
            GPUs of the bundle on each machine, shape (machines,).

        Returns
        -------
        float
            1 / rho, 0 or more.
        """
        counts = np.asarray(row, dtype=np.int64)
        best = 0.0
        for level in range(len(LEVELS)):
            places = self.places(app, level)
            if places:
                best = max(best, self.entry(app, level, int(self.in_places(level, counts)[places].max())))
        return best

    def unit_shares(self) -> Floats:
        """Return the dominant share of one GPU for each app: the maximum of 1 / G and all d_ir / C_r."""
        shares = np.full(len(self.apps), 1 / max(self.total_gpus, 1))
        for demand, capacity in zip(self.demands.T, self.capacities, strict=True):
            shares = np.maximum(shares, demand / capacity)
        return shares


def market_of(
    auction: AuctionInstance,
    resources: tuple[str, ...] = (),
    capacities: Floats | None = None,
    demands: Floats | None = None,
    taken: Sequence[int] | None = None,
) -> Market:
    """Return the market of an auction.

    Parameters
    ----------
    auction : AuctionInstance
        Bids and GPUs.
    resources : tuple of str, optional
        Names of further resources in the whole cluster.
    capacities : ndarray of float or None, optional
        Free amount of each resource, above 0.
    demands : ndarray of float or None, optional
        Amount that one GPU of each app takes, shape (apps, resources).
    taken : sequence of int or None, optional
        GPUs of each machine to be removed from the offer.
    """
    homes = [auction.home(i) if app.held else (-2, -2) for i, app in enumerate(auction.apps)]
    gpus = auction.offered - np.array([0] * len(auction.machines) if taken is None else taken)
    return Market(
        apps=tuple(app.label for app in auction.apps),
        gpus=gpus.astype(np.int64),
        racks=np.array(auction.machine_rack),
        rack_count=len(auction.racks),
        home=np.array([-1 if machine is None else machine for machine, _ in homes]),
        home_rack=np.array([-1 if rack is None else rack for _, rack in homes]),
        held=np.array([sum(count for _, count in app.held) for app in auction.apps]),
        wanted=np.array([app.demand for app in auction.apps]),
        values=tuple(np.array([[float(v) for v in row] for row in app.best]) for app in auction.apps),
        resources=resources,
        capacities=np.zeros(0) if capacities is None else np.array(capacities),
        demands=np.zeros((len(auction.apps), 0)) if demands is None else np.array(demands),
    )


def rows_of(bundles: Sequence[Bundle], machines: int) -> Rows:
    """Return GPUs of each app on each machine from bundles of (machine, number)."""
    rows = np.zeros((len(bundles), machines), dtype=np.int64)
    for app, bundle in enumerate(bundles):
        for machine, count in bundle:
            rows[app, machine] += count
    return tuple(tuple(row) for row in rows.tolist())


def bundles_of(rows: Sequence[Sequence[int]]) -> tuple[Bundle, ...]:
    """Return bundles of (machine, number) from GPUs of each app on each machine."""
    return tuple(tuple((m, int(count)) for m, count in enumerate(row) if count) for row in rows)


def certifiable(instance: AuctionInstance, solution: AuctionSolution) -> tuple[Market, Rows]:
    """Return the market and the allocation of an auction's outcome to be certified.

    GPUs that bystanders received are removed from the offer: a certificate must not take them away.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    solution : AuctionSolution
        Outcome of the auction.

    Returns
    -------
    Market and tuple of tuple of int
        GPUs of each app on each machine, after payments.
    """
    machines = len(instance.machines)
    taken = [sum(column) for column in zip(*rows_of(solution.gifts, machines), strict=True)] or None
    return market_of(instance, taken=taken), rows_of(solution.bundles, machines)
