"""Objective of the formulations of `fair_share`: the largest finish-time fairness rho of all apps."""

from __future__ import annotations

from collections.abc import Mapping

from pyomo.environ import Constraint, Expression, NonNegativeReals, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.fair_share.options import Option
from gangopt.formulations.rows import sum_of_terms

__all__ = ["WIDEST", "add_goal", "hint_goal"]

WIDEST = 1e6
"""Largest coefficient of a rho in units of the least possible one; solvers cannot handle rows of a wider range."""


def add_goal(block: Pyomo, options: Mapping[tuple[int, ...], Option], give: Pyomo) -> None:
    """Add `rho` [app], `level`, `largest_rho`, `largest_rho_covers_app` and `objective_value`.

    With rho_o = 1 / V_o, no allocation has a largest rho T below L, the largest over apps of the least rho_o. The model
    counts in units of L and treats smaller values as L, so that its coefficients are close to 1. It also treats
    values above `WIDEST` L as equal: an optimum beyond that is only a lower bound.

        rho_i = sum over its bundles of rho_o x_o,  sum of min(max(rho_o / L, 1), WIDEST) x_o <= u,  u >= 1,  T = L u.

    Parameters
    ----------
    block : Block
        Block with Set `apps`.
    options : mapping of tuple of int to Option
        Bundle of each index of `give`, with a value above 0.
    give : Pyomo
        Variable that is 1 for the bundle of each app.
    """
    terms: dict[int, list[tuple[float, Pyomo]]] = {i: [] for i in block.apps}
    for key, item in options.items():
        terms[item.app].append((1 / item.value, give[key]))
    least = max(min(rho for rho, _ in own) for own in terms.values())
    units = {i: [(min(max(rho / least, 1.0), WIDEST), x) for rho, x in own] for i, own in terms.items()}
    block.level = Var(domain=NonNegativeReals, bounds=(1.0, None))
    block.rho = Expression(block.apps, rule=lambda _, i: sum_of_terms(terms[i]))
    block.largest_rho = Expression(expr=least * block.level)
    block.largest_rho_covers_app = Constraint(block.apps, rule=lambda b, i: sum_of_terms(units[i]) <= b.level)
    block.objective_value = Expression(expr=block.largest_rho)


def hint_goal(block: Pyomo) -> None:
    """Set `level` so that `largest_rho` is the largest of `rho`, whose variables have values.

    Parameters
    ----------
    block : Block
        Block with the components of `add_goal`.
    """
    block.level.set_value(1.0, skip_validation=True)
    largest = max(value(block.rho[i]) for i in block.apps)
    block.level.set_value(max(1.0, largest / value(block.largest_rho)), skip_validation=True)
