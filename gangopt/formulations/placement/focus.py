"""The objective of a model of `placement`, seen from a known placement: better numbers for the solver, same optimum."""

from __future__ import annotations

from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.environ import Constraint

from gangopt.base.types import Pyomo
from gangopt.instances.placement.instance import PlacementInstance

__all__ = ["NEAR", "focus", "in_focus", "in_seconds", "sharpened"]

UNITS = 1e4
"""What a known objective becomes."""

BLIND = 1e-6
"""Units: HiGHS may pass over a solution that is better by less."""

PLAIN = 1e3
"""Most that the charge for a paused job is, in known bounds, for a model to be left as it is."""

NEAR = 0.03
"""Least share of the known objective at which what HiGHS does not see is too little to matter."""


def focus(
    model: Pyomo,
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
    model : object
        Form `levels` or `pieces` with its Objective, which is replaced.
    instance : PlacementInstance
        The placement.
    objective : float
        Of a known placement, above 0 s.
    bound : float
        A known one, seconds.

    Returns
    -------
    float
        Seconds in one unit of the new Objective; None if the model is left alone.
    """
    if objective < instance.pause_cost <= PLAIN * bound:
        return None
    return in_focus(model, instance, objective)


def in_focus(model: Pyomo, instance: PlacementInstance, objective: float) -> float:
    """Do what `focus` says, however near the numbers are to each other.

    A binary that alone costs more than the known placement costs twice as much as that instead, where no cost is
    negative: no better placement has it either way, and costs of 1e15 leave rounding errors of a unit.

    Parameters
    ----------
    model : object
        Pyomo form with its Objective, which is replaced.
    instance, objective : PlacementInstance or float
        As `focus`.

    Returns
    -------
    float
        Seconds in one unit of the new Objective.
    """
    unit, whole = objective / UNITS, model.objective_value.expr
    if objective < instance.pause_cost:
        if model.component("fewest_paused") is None:
            model.fewest_paused = Constraint(expr=model.jobs_paused == instance.fewest_paused)
        whole = model.time_value.expr
    costs = [coefficient / unit for coefficient in whole.linear_coefs]
    if min(costs) >= 0 <= whole.constant:
        pairs = zip(costs, whole.linear_vars, strict=True)
        costs = [min(cost, 2 * UNITS) if variable.is_binary() else cost for cost, variable in pairs]
    model.objective.set_value(
        LinearExpression(constant=whole.constant / unit, linear_coefs=costs, linear_vars=whole.linear_vars)
    )
    return unit


def sharpened(
    model: Pyomo,
    instance: PlacementInstance,
    objective: float,
    *,
    agreed: bool,
) -> float | None:
    """Bring a form that was solved alone in focus where its solution shows that numbers were too far apart.

    Parameters
    ----------
    model : object
        Pyomo form with its Objective, which is replaced.
    instance : PlacementInstance
        The placement.
    objective : float
        Of the solution that was found, seconds.
    agreed : bool
        Whether the bound that was found with it is the same number.

    Returns
    -------
    float
        Seconds in one unit of the new Objective; None if all is well.
    """
    apart = PLAIN * objective < instance.pause_cost
    if objective == 0 or (agreed and not apart):
        return None
    return in_focus(model, instance, objective)


def in_seconds(bound: float, unit: float | None) -> float:
    """Return a bound of a model in focus in seconds; less what HiGHS may not have seen, where that matters.

    Parameters
    ----------
    bound : float
        In units of the model's Objective.
    unit : float or None
        What `focus` returned, seconds or None.
    """
    if unit is None:
        return bound
    return (bound if bound >= NEAR * UNITS else bound - BLIND) * unit
