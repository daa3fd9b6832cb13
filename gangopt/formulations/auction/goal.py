r"""Objective of the formulations of `auction`: first the most apps with a value, then the largest product of values.

.. math:: \max\; \sum_i \log V_i \quad\text{over the apps served}

Rows fix the number of served apps if it follows from counting GPUs. Otherwise (if an app cannot use its fewest GPUs in
a wide place), each served app adds W to the objective, more than the logarithms can make up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from gangopt.formulations.auction.columns import Column, app_columns
from gangopt.formulations.contract import Formulation
from gangopt.instances.auction.bids import CLUSTER
from gangopt.instances.auction.instance import AuctionInstance, log_of
from gangopt.instances.auction.score import score_of_logs
from gangopt.instances.auction.solution import AuctionSolution

__all__ = ["AuctionFormulation", "Goal", "goal_of", "mean_from_goal"]


@dataclass(frozen=True)
class Goal:
    """Number of served apps, and how a model enforces it.

    Attributes
    ----------
    servable : int
        Largest number of apps with a value above 0, by counting.
    all_served : bool
        Whether every app is certain to be served, so that its row is an equation.
    needed : int or None
        Number of apps without a value at 0 GPUs that a row requires to be served; None without such a row.
    weight : float
        W; 0 if rows are enough.
    lowest : float
        Least sum of logarithms of served apps.
    """

    servable: int
    all_served: bool
    needed: int | None
    weight: float
    lowest: float


def goal_of(
    instance: AuctionInstance,
    *,
    all_served: bool = False,
    columns: Sequence[Sequence[Column]] | None = None,
) -> Goal:
    """Return the goal of an auction.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    all_served : bool, optional
        Whether some allocation is known to give every app a value.
    columns : sequence of sequence of Column or None, optional
        Columns of each app; None to compute them.
    """
    columns = app_columns(instance) if columns is None else columns
    needy = [i for i, app in enumerate(instance.apps) if not app.value_at_zero]
    anywhere = all(_takes_fewest_anywhere(columns[i]) for i in needy)
    settled = all_served or anywhere
    every = all_served or (anywhere and instance.servable == len(instance.apps))
    logs = [[log_of(column.value) for column in own] for own in columns]
    highest = math.fsum(max(0.0, max(own, default=0.0)) for own in logs)
    lowest = math.fsum(min(0.0, min(own, default=0.0)) for own in logs)
    return Goal(
        servable=instance.servable,
        all_served=every,
        needed=instance.servable - len(instance.apps) + len(needy) if settled and not every else None,
        weight=0.0 if settled else highest - lowest + 1.0,
        lowest=lowest,
    )


def _takes_fewest_anywhere(columns: Sequence[Column]) -> bool:
    fewest = min((column.gpus for column in columns), default=0)
    return not columns or any(column.gpus == fewest and column.level == CLUSTER for column in columns)


@dataclass(frozen=True, eq=False)
class AuctionFormulation(Formulation[AuctionInstance, AuctionSolution]):
    """A model of the logarithm of the product of values; the objective of the problem is their geometric mean.

    Attributes
    ----------
    all_served : bool
        Whether some allocation is known to give every app a value.
    columns : sequence of tuple of Column or None
        Columns of every app; None to compute them when they are used.
    goal : Goal or None
        The apps to be served; None to compute it when it is used.
    """

    sense = "maximise"
    all_served: bool = False
    columns: Sequence[tuple[Column, ...]] | None = None
    goal: Goal | None = None

    def prepared(self, instance: AuctionInstance) -> Self:
        """Return the formulation with the columns and the goal of an instance."""
        found = replace(self, columns=self.columns_for(instance))
        return replace(found, goal=found.goal_for(instance))

    def columns_for(self, instance: AuctionInstance) -> Sequence[tuple[Column, ...]]:
        """Return the given columns, or else those of the instance."""
        return app_columns(instance) if self.columns is None else self.columns

    def goal_for(self, instance: AuctionInstance) -> Goal:
        """Return the given goal, or else that of the instance."""
        if self.goal is not None:
            return self.goal
        return goal_of(instance, all_served=self.all_served, columns=self.columns)

    def report(self, instance: AuctionInstance, value: float) -> float:
        """Return the geometric mean for an objective value of the model; see `mean_from_goal`."""
        return mean_from_goal(instance, value, self.goal_for(instance))


def mean_from_goal(instance: AuctionInstance, value: float, goal: Goal | None = None) -> float:
    """Convert a value of `objective_value` to the objective of the problem; the conversion is increasing.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    value : float
        Sum of logarithms, less W for each app short of the largest number that can be served.
    goal : Goal or None, optional
        Goal of the auction; None to compute it.

    Returns
    -------
    float
        Geometric mean, or a number below 0 if fewer apps are served; see `score_of_logs`.
    """
    goal = goal_of(instance) if goal is None else goal
    if not goal.servable:
        return 1.0
    if not goal.weight:
        return math.exp(value / goal.servable)
    # sums of logarithms with k apps short lie in a band of length W - 1; values between bands are bounds or rounding
    short = min(goal.servable, max(0, math.ceil((goal.lowest - 0.5 - value) / goal.weight)))
    total = min(max(value + goal.weight * short, goal.lowest), goal.lowest + goal.weight - 1.0)
    if not short:
        return math.exp(total / goal.servable)
    return score_of_logs(total, goal.servable - short, goal.servable, instance.log_spread)
