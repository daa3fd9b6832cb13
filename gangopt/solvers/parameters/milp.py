"""The explicit forms of `parameters` solved by HiGHS, with bounds rounded so that its tolerances cannot fool them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution
from gangopt.solvers.core.contract import Controls, Termination

if TYPE_CHECKING:
    from gangopt.solvers.highs import SolverOutcome

__all__ = ["Caps", "Improved", "improve"]


@dataclass(frozen=True)
class Caps:
    """What an assignment may not exceed; None where there is no limit.

    Attributes
    ----------
    size_difference : in parameters
    requests : number of parts
    request_difference : number of parts
    """

    size_difference: int | None = None
    requests: int | None = None
    request_difference: int | None = None


@dataclass(frozen=True)
class Improved:
    """What a solver added.

    Attributes
    ----------
    solution : its best Solution, None without one
    bound : proven lower bound on the objective, a whole number, None without one
    termination : why it stopped
    form : the form that was solved
    """

    solution: ParametersSolution | None
    bound: int | None
    termination: Termination
    form: str


def improve(
    instance: ParametersInstance, objective: str, caps: Caps, start: ParametersSolution, controls: Controls
) -> Improved:
    """Minimise one objective under caps on the others, from a solution that keeps the caps.

    Form `groups` where it can say so: size difference with a number of cuts, or no cuts at all. Else `assign`.

    Parameters
    ----------
    instance : blocks and servers
    objective : `size_difference`, `requests` or `request_difference`
    caps : limits on the objectives
    start : a solution that keeps them
    controls : settings of the call

    Returns
    -------
    Improved
    """
    from gangopt.solvers.highs import SolveSettings, solve_model

    form, model, read = _model(instance, objective, caps, start)
    settings = SolveSettings(
        time_limit=controls.remaining(),
        rel_gap=controls.rel_gap,
        threads=controls.threads,
        seed=controls.seed,
    )
    outcome = solve_model(model, settings, warm_start=True)
    solution = None if outcome.values is None else read(model, instance)
    unit = model.unit if objective == "size_difference" else 1
    return Improved(solution, _whole_bound(outcome, instance.total, unit), outcome.termination, form)


def _model(instance: ParametersInstance, objective: str, caps: Caps, start: ParametersSolution) -> tuple[str, Any, Any]:
    from gangopt.formulations.parameters.assign import assign_model, hint_assign, read_assign
    from gangopt.formulations.parameters.groups import groups_model, hint_groups, read_groups

    most_cuts = instance.servers - 1
    cuts = most_cuts if caps.requests is None else min(caps.requests - len(instance.sizes), most_cuts)
    counts_requests = objective == "request_difference" or caps.request_difference is not None
    if objective != "requests" and (cuts == 0 or not counts_requests):
        model = groups_model(
            instance,
            cuts=cuts,
            objective=objective,
            size_difference=caps.size_difference,
            request_difference=caps.request_difference,
        )
        hint_groups(model, instance, start)
        return "groups", model, read_groups
    model = assign_model(
        instance,
        objective=objective,
        requests=caps.requests,
        size_difference=caps.size_difference,
        request_difference=caps.request_difference,
    )
    hint_assign(model, instance, start)
    return "assign", model, read_assign


def _whole_bound(outcome: SolverOutcome, total: int, unit: int) -> int | None:
    """Round a bound up to a multiple of the unit, less what integrality tolerances can hide.

    Every whole-number column may be off by the tolerance, which moves a load by at most tolerance x total, both loads
    of a difference by twice that, and rows may be off by the tolerance once more.
    """
    if outcome.bound is None:
        return None
    tolerance = float(outcome.options.get("mip_feasibility_tolerance", 0.0))  # type: ignore[arg-type]
    slack = 2 * tolerance * (total / unit + 2)
    return max(0, math.ceil(outcome.bound / unit - slack - 1e-6)) * unit
