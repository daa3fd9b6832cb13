"""The goal of `fair_share`, the same for every form: the largest finish-time fairness rho of all apps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyomo.environ import Constraint, Expression, NonNegativeReals, Var, value

from gangopt.formulations import rows
from gangopt.formulations.fair_share_options import Option

__all__ = ["add_goal", "hint_goal", "linear"]


def linear(terms: Sequence[tuple[float, Any]]) -> Any:  # noqa: ANN401 - Pyomo is untyped
    """Return the sum of coefficient times variable.

    Parameters
    ----------
    terms : pairs of coefficient and Var

    Returns
    -------
    LinearExpression

    Raises
    ------
    OutOfTime
        If the model is built within a time limit that is over.
    """
    return rows.linear([c for c, _ in terms], [v for _, v in terms])


def add_goal(block: Any, options: Mapping[Any, Option], give: Any) -> None:  # noqa: ANN401 - Pyomo is untyped
    """Add `rho` [app], `largest_rho`, `largest_rho_covers_app` and `objective_value`.

    rho_i = sum over its bundles of x_o / V_o <= T.

    Parameters
    ----------
    block : Block with Set `apps`
    options : bundle of every index of `give`, each worth more than 0
    give : Var, 1 for the bundle that an app gets
    """
    terms: dict[int, list[tuple[float, Any]]] = {i: [] for i in block.apps}
    for key, item in options.items():
        terms[item.app].append((1 / item.value, give[key]))
    block.largest_rho = Var(domain=NonNegativeReals)
    block.rho = Expression(block.apps, rule=lambda _, i: linear(terms[i]))
    block.largest_rho_covers_app = Constraint(block.apps, rule=lambda b, i: b.rho[i] <= b.largest_rho)
    block.objective_value = Expression(expr=block.largest_rho)


def hint_goal(block: Any) -> None:  # noqa: ANN401 - Pyomo is untyped
    """Set `largest_rho` to the largest of `rho`, whose variables have values.

    Parameters
    ----------
    block : with the components of `add_goal`
    """
    block.largest_rho.set_value(max(value(block.rho[i]) for i in block.apps), skip_validation=True)
