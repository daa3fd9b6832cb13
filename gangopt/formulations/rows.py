"""Linear expressions from lists: what the rows of every form are made of, and where a build looks at the time."""

from __future__ import annotations

from collections.abc import Sequence

from pyomo.core.expr.numeric_expr import LinearExpression

from gangopt.base.types import Pyomo
from gangopt.formulations.deadline import require_time

__all__ = ["linear", "sum_of"]


def linear(coefficients: Sequence[Pyomo], variables: Sequence[Pyomo], constant: float = 0.0) -> LinearExpression:
    """Return constant + sum_i a_i x_i.

    Parameters
    ----------
    coefficients : sequence of Pyomo
        A, numbers or mutable Params.
    variables : sequence of Pyomo
        X, Var data.
    constant : float, optional
        A number.

    Raises
    ------
    OutOfTime
        If the model is built within a time limit that is over.
    """
    require_time()
    return LinearExpression(constant=constant, linear_coefs=list(coefficients), linear_vars=list(variables))


def sum_of(variables: Sequence[Pyomo]) -> LinearExpression:
    """Return sum_i x_i; as `linear`."""
    require_time()
    return LinearExpression(list(variables))
