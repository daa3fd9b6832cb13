"""Formulations of `parameters` solved by HiGHS, with bounds rounded to be safe against its tolerances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution
from gangopt.solvers.core.contract import Controls, Termination

if TYPE_CHECKING:
    from gangopt.formulations.parameters import Assign, Groups
    from gangopt.solvers.highs import SolverOutcome

__all__ = ["Caps", "Improved", "improve"]


@dataclass(frozen=True)
class Caps:
    """Upper limits of an assignment, None for no limit.

    Attributes
    ----------
    size_difference : int or None
        Limit in parameters.
    requests : int or None
        Number of parts.
    request_difference : int or None
        Number of parts.
    """

    size_difference: int | None = None
    requests: int | None = None
    request_difference: int | None = None


@dataclass(frozen=True)
class Improved:
    """Solution and bound found by the solver.

    Attributes
    ----------
    solution : ParametersSolution or None
        Best Solution, or None.
    bound : int or None
        Proven lower bound on the objective, an integer, or None.
    termination : Termination
        Why it stopped.
    form : str
        The formulation that was solved.
    """

    solution: ParametersSolution | None
    bound: int | None
    termination: Termination
    form: str


def improve(
    instance: ParametersInstance, objective: str, caps: Caps, start: ParametersSolution, controls: Controls
) -> Improved:
    """Minimise one objective under caps on the others, from a solution that keeps the caps.

    Uses formulation `groups` if it applies (size difference with a number of cuts, or no cuts at all), else `assign`.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    objective : str
        `size_difference`, `requests` or `request_difference`.
    caps : Caps
        Limits on the objectives.
    start : ParametersSolution
        A solution that keeps them.
    controls : Controls
        Settings of the call.
    """
    from gangopt.solvers.highs import SolveSettings, solve_model

    form = _form(instance, objective, caps)
    model = form.model(instance)
    form.hint(model, instance, start)
    settings = SolveSettings(
        time_limit=controls.remaining(),
        rel_gap=controls.rel_gap,
        threads=controls.threads,
        seed=controls.seed,
    )
    outcome = solve_model(model, settings, warm_start=True)
    solution = None if outcome.values is None else form.read(model, instance)
    unit = model.unit if objective == "size_difference" else 1
    return Improved(solution, _whole_bound(outcome, instance.total, unit), outcome.termination, form.name)


def _form(instance: ParametersInstance, objective: str, caps: Caps) -> Assign | Groups:
    from gangopt.formulations.parameters import Assign, Groups

    most_cuts = instance.servers - 1
    cuts = most_cuts if caps.requests is None else min(caps.requests - len(instance.sizes), most_cuts)
    counts_requests = objective == "request_difference" or caps.request_difference is not None
    if objective != "requests" and (cuts == 0 or not counts_requests):
        return Groups(
            cuts=cuts,
            objective=objective,
            size_difference=caps.size_difference,
            request_difference=caps.request_difference,
        )
    return Assign(
        objective=objective,
        requests=caps.requests,
        size_difference=caps.size_difference,
        request_difference=caps.request_difference,
    )


def _whole_bound(outcome: SolverOutcome, total: int, unit: int) -> int | None:
    """Round a bound up to a multiple of the unit, after subtracting the error of integrality tolerances.

    Every integer column may be off by the tolerance, which changes a load by at most tolerance x total and the
    difference of two loads by twice that; rows may be off by the tolerance once more.
    """
    if outcome.bound is None:
        return None
    tolerance = float(outcome.options.get("mip_feasibility_tolerance", 0.0))  # type: ignore[arg-type]
    slack = 2 * tolerance * (total / unit + 2)
    return max(0, math.ceil(outcome.bound / unit - slack - 1e-6)) * unit
