"""Rows and objective that the formulations of `auction` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyomo.environ import Constraint, Expression

from gangopt.base.types import Pyomo
from gangopt.formulations.auction.goal import Goal
from gangopt.formulations.rows import linear, sum_of

__all__ = ["Chooser", "add_goal"]


@dataclass(frozen=True)
class Chooser:
    """Apps that choose among the same columns: one app, or a group.

    Attributes
    ----------
    apps : int
        Number of apps.
    needs : bool
        Whether they have no value without GPUs.
    variables : sequence of Pyomo
        Variable of each column.
    logs : sequence of float
        Logarithm of the value of each column.
    """

    apps: int
    needs: bool
    variables: Sequence[Pyomo]
    logs: Sequence[float]


def add_goal(
    block: Pyomo,
    index: Pyomo,
    choosers: Mapping[int, Chooser],
    goal: Goal,
    constant: float = 0.0,
) -> None:
    """Add the rows for one bundle per app and for the number of served apps, and `objective_value`.

    Parameters
    ----------
    block : Block
        Block to extend.
    index : Pyomo
        Set of choosers.
    choosers : mapping of int to Chooser
        Choosers by element of the Set.
    goal : Goal
        The apps to be served.
    constant : float, optional
        Sum of logarithms not included in the columns.
    """

    def one_bundle(_: Pyomo, i: int) -> Pyomo:
        own = choosers[i]
        least = 0.0 if own.needs and not goal.all_served else float(own.apps)
        if not own.variables and not least:
            return Constraint.Skip
        return (least, sum_of(own.variables), float(own.apps))

    block.one_bundle_per_app = Constraint(index, rule=one_bundle)
    optional = [own for own in choosers.values() if own.needs and not goal.all_served]
    served = [x for own in optional for x in own.variables]
    if goal.needed is not None and served:
        block.most_apps_served = Constraint(expr=sum_of(served) == goal.needed)
    variables = [x for own in choosers.values() for x in own.variables]
    coefs = [log + (goal.weight if own.needs else 0.0) for own in choosers.values() for log in own.logs]
    without = sum(own.apps for own in choosers.values() if not own.needs)
    total = constant - goal.weight * (goal.servable - without)
    block.objective_value = Expression(expr=linear(coefs, variables, total))
