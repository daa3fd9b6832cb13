"""Fair division of GPUs among apps that value them by count and locality: instance and checker."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from gangopt.base.checks import labels, number, numbers
from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError
from gangopt.instances.auction.bids import AppBid
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.instances.auction.solution import AuctionSolution
from gangopt.instances.fair_share.market import Market, Rows, market_of, rows_of
from gangopt.instances.fair_share.solution import FairShareSolution
from gangopt.instances.finish_time import above_one

__all__ = ["FairShareInstance"]

RESOURCE_TOLERANCE = 1e-9
"""Relative excess over a resource's capacity that the checker tolerates: sums of decimals are not exact."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FairShareInstance(Instance):
    """GPUs on machines in racks, the values of apps for them, and further resources that each GPU takes.

    Attributes
    ----------
    racks : tuple of str
        Label of every rack, index r from 0.
    machines : tuple of str
        Label of every machine, index m from 0.
    machine_rack : ndarray
        Rack of every machine, shape (machines,).
    offered : ndarray
        GPUs to be divided, integers, shape (machines,).
    apps : tuple of AppBid
        Values of every app, in the format of an auction's bids, index i from 0; ties go to the lower index.
    resources : tuple of str
        Names of further resources, e.g. `cpu`.
    capacities : ndarray or None
        Free amount of each resource in the whole cluster, above 0, in the resource's unit, shape (resources,).
    demands : ndarray or None
        Amount that each GPU of an app takes, in the same units, shape (apps, resources).
    """

    noun: ClassVar[str] = "fair_share"
    name: str
    description: str = ""
    source: str = ""
    racks: tuple[str, ...]
    machines: tuple[str, ...]
    machine_rack: np.ndarray
    offered: np.ndarray
    apps: tuple[AppBid, ...]
    resources: tuple[str, ...] = ()
    capacities: np.ndarray | None = None
    demands: np.ndarray | None = None

    def __post_init__(self) -> None:
        auction = self.auction
        for field in ("racks", "machines", "machine_rack", "offered", "apps"):
            self._set(field, getattr(auction, field))
        self._set("resources", labels("resources", self.resources))
        for field, shape in (
            ("capacities", (len(self.resources),)),
            ("demands", (len(self.apps), len(self.resources))),
        ):
            given = getattr(self, field)
            if given is None and self.resources:
                raise InputError(f"{field} must be given for the resources {', '.join(self.resources)}")
            self._set(field, numbers(field, np.zeros(shape) if given is None else given, shape))
        for name, amount in zip(self.resources, self.capacities, strict=True):  # type: ignore[arg-type]  # set above
            number(f"capacities: {name}", amount, above=0)
        self._freeze()

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    @cached_property
    def auction(self) -> AuctionInstance:
        """The same GPUs and values as an auction, which checks and evaluates them."""
        return AuctionInstance(
            name=self.name,
            racks=self.racks,
            machines=self.machines,
            machine_rack=self.machine_rack,
            offered=self.offered,
            apps=self.apps,
        )

    @cached_property
    def market(self) -> Market:
        """Data of formulations and certificates."""
        return market_of(self.auction, self.resources, self.capacities, self.demands)

    def certifiable(self, solution: FairShareSolution) -> tuple[Market, Rows]:
        """Return the market and the allocation to be certified.

        Parameters
        ----------
        solution : FairShareSolution
            A feasible allocation.

        Returns
        -------
        Market and tuple of tuple of int
            GPUs of each app on each machine.
        """
        return self.market, rows_of(solution.bundles, len(self.machines))

    def check(self, solution: FairShareSolution) -> list[Violation]:
        """Return every broken rule of an allocation; empty if it is feasible.

        The rules: every app has a bundle (`one_bundle_per_app`) on existing machines (`known_machine`), and the GPUs
        of each machine (`machine_capacity`) and the free amount of each resource (`resource_capacity`) suffice.

        Parameters
        ----------
        solution : FairShareSolution
            The allocation.
        """
        found = self.auction.check(AuctionSolution(solution.bundles))
        if found or not self.resources:
            return found
        assert self.capacities is not None
        assert self.demands is not None
        use = np.array([sum(count for _, count in bundle) for bundle in solution.bundles]) @ self.demands
        over = np.flatnonzero(use > self.capacities * (1 + RESOURCE_TOLERANCE))
        return [
            Violation("resource_capacity", self.resources[r], float(use[r]), float(self.capacities[r]))
            for r in over.tolist()
        ]

    def evaluate(self, solution: FairShareSolution) -> Score:
        """Return the largest finish-time fairness max_i rho_i, rho_i = 1 / V_i(G_i); infinite if an app has no value.

        Parameters
        ----------
        solution : FairShareSolution
            A feasible allocation.

        Returns
        -------
        Score
            Objective max rho. Metrics: `min_rho`; `geometric_mean` of V; `jain`, Jain's index of rho over the apps
            with a value; `above_one`, apps with rho above 1, whose sharing incentive fails; `unserved`, apps without
            a value; `least_dominant_share`; `gpus_used` and `gpus_left_over`; `placement`, mean over apps with GPUs
            of their value relative to the best value of as many GPUs; `rho` of every app.
        """
        values = [self.auction.value(i, bundle) for i, bundle in enumerate(solution.bundles)]
        rho = [1 / value if value else None for value in values]
        held = self.market.held.tolist()
        counts = [sum(count for _, count in bundle) for bundle in solution.bundles]
        shares = [
            (own + count) * float(unit)
            for own, count, unit in zip(held, counts, self.market.unit_shares(), strict=True)
        ]
        judged = self.auction.evaluate(AuctionSolution(solution.bundles)).metrics
        return Score(
            max(map(_number, rho)),
            {
                "min_rho": min(map(_number, rho)),
                "geometric_mean": math.exp(math.fsum(map(_log, values)) / len(values)) if all(values) else 0.0,
                "jain": judged["jain"],
                "above_one": sum(ratio is None or above_one(float(ratio)) for ratio in rho),
                "unserved": rho.count(None),
                "least_dominant_share": min(shares),
                "gpus_used": judged["gpus_used"],
                "gpus_left_over": judged["gpus_left_over"],
                "placement": judged["placement"],
                "rho": list(map(_number, rho)),
            },
        )


def _number(ratio: Fraction | None) -> float:
    return math.inf if ratio is None else float(ratio)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
