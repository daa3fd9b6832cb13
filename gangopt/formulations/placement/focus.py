"""Rescaling of the objective of a `placement` model around a known placement; the optimum is unchanged."""

from __future__ import annotations

from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.environ import Constraint

from gangopt.base.types import Pyomo
from gangopt.instances.placement.instance import PlacementInstance

__all__ = ["NEAR", "focus", "in_focus", "in_seconds", "sharpened"]

UNITS = 1e4
"""The known objective after rescaling."""

BLIND = 1e-6
"""HiGHS may miss solutions that are better by less than this many units."""

PLAIN = 1e3
"""Largest ratio of the charge for a paused job to the known bound at which a model is unchanged."""

NEAR = 0.03
"""Least bound, as a share of the known objective, at which differences that HiGHS may miss do not matter."""


def focus(
    model: Pyomo,
    instance: PlacementInstance,
    objective: float,
    bound: float,
) -> float | None:
    r"""Rescale the objective of a model by a known placement if its coefficients differ too much.

    A placement that pauses the fewest jobs can only be improved by another that does so. With the row
    :math:`\sum_j u_j = \text{fewest}` (`fewest_paused`), the charge for pausing another job, which may exceed the
    times by many orders of magnitude, drops out of the objective.

    Parameters
    ----------
    model : ConcreteModel
        Model whose objective is replaced.
    instance : PlacementInstance
        Servers and jobs.
    objective : float
        Objective of a known placement in seconds, above 0.
    bound : float
        Known bound in seconds.

    Returns
    -------
    float
        Seconds per unit of the new objective; None if the model is unchanged.
    """
    if objective < instance.pause_cost <= PLAIN * bound:
        return None
    return in_focus(model, instance, objective)


def in_focus(model: Pyomo, instance: PlacementInstance, objective: float) -> float:
    """Rescale the objective of a model by a known placement; see `focus`.

    If no cost is negative, binaries that cost more than the known placement by themselves cost twice that placement
    instead: no better placement uses them either way, and costs of 1e15 would cause rounding errors of a unit.

    Parameters
    ----------
    model : ConcreteModel
        Model whose objective is replaced.
    instance : PlacementInstance
        Servers and jobs.
    objective : float
        Objective of a known placement in seconds, above 0.

    Returns
    -------
    float
        Seconds per unit of the new objective.
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
    """Rescale the objective of a solved model if its solution shows that coefficients differ too much.

    Parameters
    ----------
    model : ConcreteModel
        Model whose objective is replaced.
    instance : PlacementInstance
        Servers and jobs.
    objective : float
        Objective of the solution in seconds.
    agreed : bool
        Whether the bound found equals that objective.

    Returns
    -------
    float
        Seconds per unit of the new objective; None if the model is unchanged.
    """
    apart = PLAIN * objective < instance.pause_cost
    if objective == 0 or (agreed and not apart):
        return None
    return in_focus(model, instance, objective)


def in_seconds(bound: float, unit: float | None) -> float:
    """Convert a bound of a rescaled model to seconds, less the differences that HiGHS may miss if they matter.

    Parameters
    ----------
    bound : float
        Bound in units of the objective of the model.
    unit : float or None
        Result of `focus`: seconds per unit, or None.
    """
    if unit is None:
        return bound
    return (bound if bound >= NEAR * UNITS else bound - BLIND) * unit
