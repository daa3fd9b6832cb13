"""The core model of `allocation`: formulation `counts` on the columns that reduced costs could not rule out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gangopt.base.types import Floats, Pyomo
from gangopt.formulations.allocation.configurations import Configurations, capacity_rows
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.solvers.allocation.dual import Selection

if TYPE_CHECKING:
    from gangopt.solvers.highs import SolverOutcome, SolveSettings

__all__ = ["CoreAnswer", "core_model", "objective_unit", "solve_core"]


LARGEST_COST = 1e6
"""Largest cost that HiGHS sees, in units of the objective: far from its tolerances and from its limits."""

FINEST_UNIT = 1e-15
"""Smallest unit of the objective, as a part of the bound: rounding of the bound itself is larger."""


@dataclass(frozen=True)
class CoreAnswer:
    """Result of solving a core model with HiGHS.

    Attributes
    ----------
    outcome : SolverOutcome
        Of the solver.
    solution : AllocationSolution or None
        The best Solution, or None.
    bound : float or None
        Lower bound, in seconds, on the cost of every solution that uses the core's columns only, or None.
    build_seconds : float
        Wall time to build the model.
    """

    outcome: SolverOutcome
    solution: AllocationSolution | None
    bound: float | None
    build_seconds: float


def objective_unit(selection: Selection, reduced: Floats) -> float:
    """Return the unit of the core's objective, in seconds, so that its costs are at most `LARGEST_COST`."""
    return max(float(reduced.max()), FINEST_UNIT * abs(selection.bound), 1e-250) / LARGEST_COST


def core_model(
    instance: AllocationInstance, columns: Configurations, reduced: Floats, selection: Selection, unit: float
) -> Pyomo:
    r"""Return formulation `counts` on the columns given, with the objective measured from the Lagrangian bound.

    With :math:`\bar t` the reduced costs and s the unused amounts of the resources (in the units of the capacity rows),

    .. math:: \sum t\, n = L(\lambda) + \sum \bar t\, n + \sum_r \lambda_r s_r

    holds for every solution, so both sides have the same optimum; the right side has small numbers above 0 only.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.
    columns : Configurations
        Configurations that the model may use.
    reduced : ndarray of float
        Reduced cost of each, seconds.
    selection : Selection
        The prices and their bound.
    unit : float
        Seconds for one unit of the model's objective.

    Returns
    -------
    ConcreteModel
        Block `allocation` (formulation `counts`), Var `unused` and Constraint `unused_capacity` by resource, Objective.
    """
    from pyomo.core.expr.numeric_expr import LinearExpression
    from pyomo.environ import Block, ConcreteModel, Constraint, NonNegativeReals, Objective, Var, minimize

    from gangopt.formulations.allocation import Counts

    model = ConcreteModel(name=f"{instance.name} core")
    model.allocation = Block()
    Counts(columns).fill(model.allocation, instance)
    model.unused = Var(model.allocation.resources, domain=NonNegativeReals)

    def unused_capacity(m: Pyomo, name: str) -> Pyomo:
        row = m.allocation.resource_capacity[name]
        return row.body + m.unused[name] == row.upper

    model.unused_capacity = Constraint(model.allocation.resources, rule=unused_capacity)
    row_prices = selection.prices / capacity_rows(instance).factor
    costs = np.concatenate((np.maximum(reduced, 0.0), row_prices)) / unit
    variables = [*model.allocation.number.values(), *model.unused.values()]
    model.objective = Objective(
        expr=LinearExpression(linear_coefs=costs.tolist(), linear_vars=variables), sense=minimize
    )
    return model


def solve_core(
    instance: AllocationInstance,
    columns: Configurations,
    reduced: Floats,
    selection: Selection,
    settings: SolveSettings,
) -> CoreAnswer:
    """Build the core model and solve it.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.
    columns : Configurations
        Configurations that the model may use.
    reduced : ndarray of float
        Reduced cost of each, seconds.
    selection : Selection
        The prices and their bound.
    settings : SolveSettings
        For HiGHS, with `abs_gap` in units of the core's objective.
    """
    import time

    from gangopt.formulations.allocation import counts
    from gangopt.solvers.highs import solve_model

    begin = time.perf_counter()
    unit = objective_unit(selection, reduced)
    model = core_model(instance, columns, reduced, selection, unit)
    build_seconds = time.perf_counter() - begin
    outcome = solve_model(model, settings)
    solution = None if outcome.values is None else counts.read(model.allocation, instance)
    bound = None if outcome.bound is None else selection.bound + unit * max(0.0, outcome.bound)
    return CoreAnswer(outcome, solution, bound, build_seconds)
