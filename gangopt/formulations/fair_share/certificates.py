r"""Models for certificates of an allocation: domination, envy and sharing incentive.

With V_i(G) = 1 / rho_i(G) and a given allocation G:

.. math::

    \text{dominating:}\quad & \max \sum_i \Bigl(\sum_o V_o x_o - V_i(G_i)\Bigr) \quad\text{over allocations with}\quad
    \sum_o V_o x_o \ge V_i(G_i) \text{ for every app} \\
    \text{envy:}\quad & \min \sum_{i \ne j} e_{ij} \quad\text{with}\quad e_{ij} \ge V_i(G_j) - V_i(G_i),\;
    e_{ij} \ge 0 \\
    \text{sharing:}\quad & \min \sum_o k_o x_o \quad\text{over allocations with}\quad \sum_o V_o x_o \ge 1
    \text{ for every app}

An allocation is Pareto efficient if the first optimum is 0, and envy-free if the second is 0. Some allocation gives
every app a sharing incentive (rho <= 1) if the third model is feasible. Bundles that violate a bound on V have no
columns, so the bounds hold exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Constraint, Expression, NonNegativeReals, Param, RangeSet, Reals, Set, Var

from gangopt.base.errors import InfeasibleError
from gangopt.base.types import Pyomo
from gangopt.formulations.contract import check_empty
from gangopt.formulations.fair_share._patterns import add_patterns, bundles_anywhere, placed_options
from gangopt.formulations.fair_share._places import add_bundles, chosen_options
from gangopt.formulations.fair_share.options import Option, given_counts, options_of, require_option
from gangopt.formulations.rows import sum_of_terms
from gangopt.formulations.size import require_size
from gangopt.instances import finish_time
from gangopt.instances.fair_share.market import TOLERANCE, Market, better

__all__ = ["add_allocation", "fill_dominating", "fill_envy", "fill_sharing", "read_allocation", "useful_bundles"]


def fill_dominating(
    block: Pyomo,
    market: Market,
    given: Sequence[Sequence[int]],
    *,
    strict: bool = False,
) -> None:
    """Build the search for an allocation that dominates a given one.

    Public components: those of `patterns`, or of `places` if an app holds GPUs, without their objective;
    Expressions `gain` [app] (V of the bundle less V in the given allocation) and `objective_value` (to be maximised).
    With `strict`, Constraint `someone_better` requires that at least one app gets a better bundle, so the model is
    infeasible if and only if the allocation is Pareto efficient.

    Parameters
    ----------
    block : Block
        Empty model or block.
    market : Market
        Apps and GPUs.
    given : sequence of sequence of int
        GPUs of each app on each machine, shape (apps, machines).
    strict : bool, optional
        Whether some app must gain.

    Raises
    ------
    InfeasibleError
        If some app must gain and none can.
    """
    check_empty(block, "fair_share dominating")
    now = [market.value(i, row) for i, row in enumerate(given)]
    options = useful_bundles(market, [v * (1 - TOLERANCE) for v in now])
    variable = add_allocation(block, market, options)
    terms: dict[int, list[tuple[float, Pyomo]]] = {i: [] for i in range(len(now))}
    gaining = []
    for item, var in variable.items():
        terms[item.app].append((max(0.0, item.value - now[item.app]), var))
        if better(item.value, now[item.app]):
            gaining.append(var)
    block.gain = Expression(block.apps, rule=lambda _, i: sum_of_terms(terms[i]))
    block.objective_value = Expression(expr=sum(block.gain[i] for i in block.apps))
    if strict:
        if not gaining:
            raise InfeasibleError("someone_better: no bundle on offer is worth more to an app than what it has")
        block.someone_better = Constraint(expr=sum_of_terms([(1.0, var) for var in gaining]) >= 1)


def fill_envy(block: Pyomo, market: Market, given: Sequence[Sequence[int]]) -> None:
    """Build the model of the envy of each app for the bundles of the others.

    Public components: Param `preference` [app, other] (V_i(G_j) - V_i(G_i)), Var `envy` [app, other] (V), Constraint
    `envy_covers_preference`, Expression `objective_value` (to be minimised; 0 if nobody envies anybody).

    Parameters
    ----------
    block : Block
        Empty model or block.
    market : Market
        Apps and GPUs.
    given : sequence of sequence of int
        GPUs of each app on each machine, shape (apps, machines).
    """
    check_empty(block, "fair_share envy")
    apps = range(len(market.apps))
    require_size("fair_share envy", len(apps) ** 2)
    with PauseGC():
        block.apps = RangeSet(0, len(apps) - 1)
        block.pairs = Set(dimen=2, initialize=[(i, j) for i in apps for j in apps if i != j])
        block.envy = Var(block.pairs, domain=NonNegativeReals)
        now = [market.value(i, given[i]) for i in apps]
        block.preference = Param(
            block.pairs, within=Reals, initialize=lambda _, i, j: market.value(i, given[j]) - now[i]
        )
        block.envy_covers_preference = Constraint(block.pairs, rule=lambda b, i, j: b.envy[i, j] >= b.preference[i, j])
        block.objective_value = Expression(
            expr=sum_of_terms([(1.0, block.envy[pair]) for pair in block.pairs]) if len(apps) > 1 else 0.0
        )


def fill_sharing(block: Pyomo, market: Market) -> None:
    """Build the search for an allocation with rho <= 1 for every app.

    Public components: those of `patterns`, or of `places` if an app holds GPUs, without their objective;
    Expression `objective_value` (GPUs given, to be minimised).

    Parameters
    ----------
    block : Block
        Empty model or block.
    market : Market
        Apps and GPUs.

    Raises
    ------
    InfeasibleError
        If some app has rho > 1 even with all GPUs.
    """
    check_empty(block, "fair_share sharing")
    options = useful_bundles(market, [1 / (1 + finish_time.TOLERANCE)] * len(market.apps))
    require_option(market, options, "rho of at most 1")
    add_allocation(block, market, options)
    block.objective_value = Expression(expr=sum(block.gpus_given[i] for i in block.apps))


def useful_bundles(market: Market, least: Sequence[float] | None = None) -> list[list[Option]]:
    """Return the useful bundles of each app, without places if no app holds GPUs.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    least : sequence of float or None, optional
        Least value of the returned bundles, for each app.

    Returns
    -------
    list of list of Option
        Bundles for `add_allocation`.
    """
    return options_of(market, least) if market.held.any() else bundles_anywhere(market, least)


def add_allocation(block: Pyomo, market: Market, options: Sequence[Sequence[Option]]) -> dict[Option, Pyomo]:
    """Add the variables and constraints of an allocation, without places if no app holds GPUs.

    Parameters
    ----------
    block : Block
        Block to extend.
    market : Market
        Apps and GPUs.
    options : sequence of sequence of Option
        Bundles of each app from `useful_bundles`, at least one each.

    Returns
    -------
    dict
        Variable of each bundle, each variable once.
    """
    with PauseGC():
        if market.held.any():
            add_bundles(block, market, options)
            return {item: block.give[item.key] for mine in options for item in mine}
        add_patterns(block, market, options)
        return {item: block.give[item.app, item.level, item.gpus] for mine in options for item in mine}


def read_allocation(block: Pyomo, market: Market) -> tuple[tuple[int, ...], ...]:
    """Return the GPUs of each app on each machine, from the values of the variables.

    Parameters
    ----------
    block : Block
        Block with the components of `add_allocation`.
    market : Market
        Apps and GPUs.

    Returns
    -------
    tuple of tuple of int
        Shape (apps, machines).
    """
    chosen = chosen_options(block) if market.held.any() else placed_options(block, market)
    return given_counts(market, chosen)
