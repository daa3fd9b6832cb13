"""Linear expressions and rows from lists of coefficients and variables.

Every formulation builds its rows here, so this is also where building a model stops at a time limit.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.environ import Constraint

from gangopt.base.types import Pyomo
from gangopt.formulations.deadline import require_time

__all__ = ["Terms", "at_most", "linear", "sum_of", "sum_of_terms"]

Terms = list[tuple[float, Pyomo]]
"""Pairs of coefficient and variable."""


def linear(coefficients: Sequence[Pyomo], variables: Sequence[Pyomo], constant: float = 0.0) -> LinearExpression:
    """Return constant + sum_i a_i x_i.

    Parameters
    ----------
    coefficients : sequence of float or Param
        Coefficient of each variable.
    variables : sequence of Var
        The variables.
    constant : float, optional
        Constant term.

    Raises
    ------
    OutOfTime
        If the time limit for building the model is over.
    """
    require_time()
    return LinearExpression(constant=constant, linear_coefs=list(coefficients), linear_vars=list(variables))


def sum_of(variables: Sequence[Pyomo]) -> LinearExpression:
    """Return sum_i x_i; see `linear`."""
    require_time()
    return LinearExpression(list(variables))


def sum_of_terms(terms: Sequence[tuple[float, Pyomo]]) -> LinearExpression:
    """Return the sum of coefficient times variable; see `linear`."""
    return linear([coefficient for coefficient, _ in terms], [variable for _, variable in terms])


def at_most(terms: Sequence[tuple[float, Pyomo]], limit: float) -> Pyomo:
    """Return the row sum_i a_i x_i <= limit, to be skipped if there are no terms."""
    return (None, sum_of_terms(terms), limit) if terms else Constraint.Skip
