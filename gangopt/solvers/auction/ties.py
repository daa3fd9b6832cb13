"""Near ties of formulation `places`: all allocations nearly as good as the best, for comparison as exact rationals."""

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

Kind = tuple[Any, int]
"""Pyomo variables of columns that are interchangeable in the product, and the maximum number that can be 1."""


@dataclass(frozen=True)
class Ties:
    """Allocations at least as good as a limit.

    Attributes
    ----------
    bundles : tuple of tuple of Bundle
        Bundles of each allocation found.
    complete : bool
        Whether every product that good is that of one of them, or of the first.
    interrupted : bool
        Whether Ctrl-C ended the search.
    solves : int
        Number of solves.
    """

    bundles: tuple[tuple[Bundle, ...], ...]
    complete: bool
    interrupted: bool
    solves: int


def near_ties(
    model: Any,  # noqa: ANN401 - Pyomo is untyped
    instance: AuctionInstance,
    controls: Controls,
    limit: float,
    *,
    all_served: bool,
) -> Ties:
    """Solve a model of formulation `places` repeatedly, excluding products seen, until the rest exceeds the limit.

    Parameters
    ----------
    model : object
        A model of `places`, with the values of its optimum; rows are added to it.
    instance : AuctionInstance
        The auction.
    controls : Controls
        Settings of the call.
    limit : float
        Objective; all products at least this good are found.
    all_served : bool
        Whether every app has a bundle with a value.

    Returns
    -------
    Ties
        Incomplete at the time limit, or if more than `MOST_NEAR` products are that good.
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


def _kinds(model: Any, instance: AuctionInstance, *, all_served: bool) -> list[Kind]:  # noqa: ANN401 - Pyomo
    """Return the columns by the factor that they contribute: allocations with equal numbers of each tie exactly.

    If every app is served, its values count as multiples of its first, which scales all products by one constant.
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
