"""The objective of a model of `placement`, seen from a known placement: better numbers for the solver, same optimum."""

from __future__ import annotations

from typing import Any

from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.environ import Constraint

from gangopt.instances.placement import PlacementInstance

__all__ = ["NEAR", "focus", "in_seconds"]

UNITS = 1e4
"""What a known objective becomes."""

BLIND = 1e-6
"""Units: HiGHS may pass over a solution that is better by less."""

PLAIN = 1e3
"""Most that the charge for a paused job is, in known bounds, for a model to be left as it is."""

NEAR = 0.03
"""Least share of the known objective at which what HiGHS does not see is too little to matter."""


def focus(
    model: Any,  # noqa: ANN401 - Pyomo is untyped
    instance: PlacementInstance,
    objective: float,
    bound: float,
) -> float | None:
    r"""Let a model look for what is better than a known placement, in units of its objective.

    A placement that pauses only the fewest jobs can be improved only by one that pauses as few: with the row
    :math:`\sum_j u_j = \text{fewest}` (`fewest_paused`) the cost of pausing one more, which may be larger than the
    times by many orders of magnitude, leaves the objective. A model whose numbers are not far apart is left alone.

    Parameters
    ----------
    model : form `levels` or `pieces` with its Objective, which is replaced
    instance : the placement
    objective : of a known placement, above 0 s
    bound : a known one, seconds

    Returns
    -------
    float
        Seconds in one unit of the new Objective; None if the model is left alone.
    """
    if objective < instance.pause_cost <= PLAIN * bound:
        return None
    unit = objective / UNITS
    whole = model.objective_value.expr
    terms, constant = list(zip(whole.linear_coefs, whole.linear_vars, strict=True)), whole.constant
    if objective < instance.pause_cost:
        paused = list(model.paused.values())
        row = LinearExpression(linear_coefs=[1] * len(paused), linear_vars=paused)
        model.fewest_paused = Constraint(expr=(row, instance.fewest_paused))
        left = {id(variable) for variable in paused}
        charges = zip(instance.pause_charge.tolist(), paused, strict=True)
        terms, constant = [term for term in terms if id(term[1]) not in left], 0.0
        terms += [(charge, variable) for charge, variable in charges if charge]
    model.objective.set_value(
        LinearExpression(
            constant=constant / unit,
            linear_coefs=[coefficient / unit for coefficient, _ in terms],
            linear_vars=[variable for _, variable in terms],
        )
    )
    return unit


def in_seconds(bound: float, unit: float | None) -> float:
    """Return a bound of a model in focus in seconds; less what HiGHS may not have seen, where that matters.

    Parameters
    ----------
    bound : in units of the model's Objective
    unit : what `focus` returned, seconds or None

    Returns
    -------
    float
    """
    if unit is None:
        return bound
    return (bound if bound >= NEAR * UNITS else bound - BLIND) * unit
