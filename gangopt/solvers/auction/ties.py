"""Near ties of form `places`: every allocation nearly as good as the best, to be compared in exact rationals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from gangopt.base.types import Pyomo
from gangopt.formulations.auction import Places
from gangopt.formulations.rows import linear, sum_of
from gangopt.instances.auction.bids import Bundle
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.solvers.auction.master import MOST_NEAR
from gangopt.solvers.core.contract import Controls

__all__ = ["Ties", "near_ties"]

Kind = tuple[Pyomo, int]
"""Pyomo variables of columns that are interchangeable in the product, and the most that can be 1 at once."""


@dataclass(frozen=True)
class Ties:
    """Allocations that are as good as a limit.

    Attributes
    ----------
    bundles : tuple of tuple of Bundle
        Of each allocation found.
    complete : bool
        Whether any product as good is that of one of them, or of the first.
    interrupted : bool
        Whether Ctrl-C ended the search.
    solves : int
        Number of solves.
    """

    bundles: tuple[tuple[Bundle, ...], ...]
    complete: bool
    interrupted: bool
    solves: int


def near_ties(form: Places, model: Pyomo, instance: AuctionInstance, controls: Controls, limit: float) -> Ties:
    """Solve a model of form `places` again without each product seen, until the rest is worse than the limit.

    Parameters
    ----------
    form : Places
        The formulation of the model.
    model : ConcreteModel
        The solved model; rows are added to it.
    instance : AuctionInstance
        The auction.
    controls : Controls
        Settings of the call.
    limit : float
        Objective; products beyond it are all found.

    Returns
    -------
    Ties
        Incomplete at the time limit, or where more than `MOST_NEAR` products are as good.
    """
    from pyomo.environ import Binary, ConstraintList, VarList

    from gangopt.solvers.core.by_form import settings_of
    from gangopt.solvers.highs import solve_model

    kinds = _kinds(form, model, instance)
    model.excluded, model.more = ConstraintList(), VarList(domain=Binary)
    found: list[tuple[Bundle, ...]] = []
    for solves in range(MOST_NEAR + 1):
        if not _exclude(model, kinds):
            return Ties(tuple(found), complete=True, interrupted=False, solves=solves)
        settings = replace(settings_of(controls), rel_gap=0.0, on_progress=None, explain=False)
        outcome = solve_model(model, settings)
        worse = outcome.termination == "infeasible" or (outcome.bound is not None and outcome.bound < limit)
        if worse or outcome.termination != "optimal":
            stopped = outcome.termination == "interrupted"
            return Ties(tuple(found), complete=worse, interrupted=stopped, solves=solves + 1)
        found.append(form.read(model, instance).bundles)
    return Ties(tuple(found), complete=False, interrupted=False, solves=MOST_NEAR + 1)


def _kinds(form: Places, model: Pyomo, instance: AuctionInstance) -> list[Kind]:
    """Return the columns by the factor that they contribute: allocations that use equally many of each tie exactly.

    Where every app is served, its values count as multiples of its first: that scales all products by one constant.
    """
    values = {
        (i, column.level, column.gpus): column.value / (own[0].value if form.all_served else 1)
        for i, own in enumerate(form.columns_for(instance))
        for column in own
    }
    kinds: dict[tuple[bool, Fraction], list[tuple[int, Pyomo]]] = {}
    for (i, level, _, gpus), x in model.assign.items():
        key = (not instance.apps[i].value_at_zero, values[i, level, gpus])
        kinds.setdefault(key, []).append((i, x))
    return [([x for _, x in items], len({i for i, _ in items})) for items in kinds.values()]


def _exclude(model: Pyomo, kinds: Sequence[Kind]) -> bool:
    """Add rows that exclude the product of the values of the model; return False if it has no other.

    Another product uses the columns of some kind more often, as the number of columns used is one for all.
    """
    more: list[Pyomo] = []
    for variables, most in kinds:
        used = sum(x.value > 0.5 for x in variables)
        if not used:
            more += variables
        elif used < most:
            switch = model.more.add()
            model.excluded.add((0.0, linear([1.0] * len(variables) + [-(used + 1.0)], [*variables, switch]), None))
            more.append(switch)
    if more:
        model.excluded.add((1.0, sum_of(more), None))
    return bool(more)
