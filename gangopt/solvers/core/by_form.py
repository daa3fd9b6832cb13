"""Solve one formulation of a problem as a single Pyomo model with HiGHS or another solver."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gangopt.base.contract import Instance
from gangopt.base.errors import InputError
from gangopt.base.types import Pyomo
from gangopt.formulations.deadline import OutOfTime, building_within
from gangopt.registry.problem import AnyProblem
from gangopt.solvers.core.clock import keeps_limit
from gangopt.solvers.core.contract import Controls, Outcome, ProgressEvent, Termination
from gangopt.solvers.core.result import PROVEN_GAP, relative_gap

if TYPE_CHECKING:
    from gangopt.formulations.contract import Formulation
    from gangopt.solvers.highs import SolverOutcome, SolveSettings
    from gangopt.solvers.highs.arrays import LinearArrays

__all__ = ["settings_of", "solve_by_form"]

NEAR = 0.03
"""Share of the last objective below which the model is rebuilt around the new solution."""


def solve_by_form(problem: AnyProblem, instance: Instance, controls: Controls) -> Outcome:
    """Build a formulation, solve it as one model, and read the Solution back.

    Parameters
    ----------
    problem : AnyProblem
        The problem.
    instance : Instance
        The instance.
    controls : Controls
        Settings of the call; `controls.form` names the formulation, None means the first linear one.

    Raises
    ------
    InputError
        If the formulation is unknown or not linear.
    """
    form = _linear_form(problem, controls.form)
    try:
        with building_within(controls.remaining):
            return _outcome(problem, form, instance, controls)
    except OutOfTime as stop:
        return Outcome("time_limit", None, None, form=form.name, build_seconds=controls.elapsed(), reason=str(stop))


def _outcome(problem: AnyProblem, form: Formulation[Any, Any], instance: Instance, controls: Controls) -> Outcome:
    begin = time.perf_counter()
    form = form.prepared(instance)
    model = form.model(instance)
    if controls.start is not None:
        form.hint(model, instance, controls.start)
    built = time.perf_counter()
    arrays = _compiled_if_unwatched(form, model, controls)
    unwatched = 0.0 if arrays is None else form.unwatched * len(arrays.values)
    if not keeps_limit(unwatched, controls.time_limit):
        late = f"HiGHS may not check the time limit for {unwatched:.0f} s on a model of this size; it was not started"
        return Outcome("time_limit", controls.start, None, form=form.name, build_seconds=built - begin, reason=late)
    first = _solve(model, _reporting(form, instance, controls), controls.start is not None, arrays)
    found = _read(problem, form, model, instance, first)
    found = _sharpened(problem, form, model, instance, controls, found)
    done = time.perf_counter()
    solved, solution, bound, gap = found.solved, found.solution, found.bound, found.gap
    termination: Termination = solved.termination
    reason = solved.message
    if termination == "infeasible" and solved.conflict:
        reason = "conflicting constraints: " + ", ".join(solved.conflict[:8])
    if termination == "optimal" and form.relaxes and (gap is None or gap > PROVEN_GAP):
        termination, reason = "completed", f"the solution read from formulation {form.name} is worse than its optimum"
    if gap is not None and gap < -PROVEN_GAP:
        claimed = f"the bound {bound:.15g} of formulation {form.name}"
        reason = f"the solution is better than {claimed}, within the solver's tolerances"
        termination, bound = "error", None
    return Outcome(
        termination=termination,
        solution=solution,
        bound=bound,
        form=form.name,
        build_seconds=built - begin,
        solve_seconds=done - built,
        trajectory=tuple(
            (seconds, _reported(form, instance, objective), _reported(form, instance, known))
            for seconds, objective, known in first.trajectory
        ),
        solver=solved.solver,
        version=solved.version,
        options=solved.options,
        reason=reason,
    )


def _compiled_if_unwatched(form: Formulation[Any, Any], model: Pyomo, controls: Controls) -> LinearArrays | None:
    """Return the compiled model where HiGHS may work on it past the time limit; None elsewhere."""
    if not form.unwatched or controls.time_limit is None or controls.solver != "highs":
        return None
    from gangopt.solvers.highs import compile_model

    return compile_model(model)


@dataclass(frozen=True)
class _Found:
    """Result of a solve: the bound on the problem's objective, the Solution, and their gap (see `_gap`)."""

    solved: SolverOutcome
    solution: Any
    bound: float | None
    gap: float | None

    def agreed(self, form: Formulation[Any, Any], rel_gap: float) -> bool:
        """Return whether bound and solution agree to the requested gap."""
        return self.gap is not None and self.gap >= -PROVEN_GAP and (form.relaxes or self.gap <= rel_gap)


def _read(
    problem: AnyProblem,
    form: Formulation[Any, Any],
    model: Any,
    instance: Instance,
    solved: SolverOutcome,
    unit: float = 1.0,
) -> _Found:
    bound = None if solved.bound is None else _reported(form, instance, unit * solved.bound)
    solution = None if solved.solution_status == "none" else form.read(model, instance)
    return _Found(solved, solution, bound, _gap(problem, instance, solution, bound))


def _sharpened(
    problem: AnyProblem,
    form: Formulation[Any, Any],
    model: Any,
    instance: Instance,
    controls: Controls,
    found: _Found,
) -> _Found:
    """Solve again, rebuilt around the solution, while the solver's tolerances may matter for the formulation."""
    last = math.inf
    while found.solved.termination == "optimal" and found.gap is not None:
        objective = instance.evaluate(found.solution).objective
        agreed = found.agreed(form, max(controls.rel_gap, PROVEN_GAP))
        if objective >= NEAR * last:
            break
        unit = form.sharpen(model, instance, objective, agreed=agreed)
        if unit is None:
            break
        again = _read(problem, form, model, instance, _solve(model, replace(controls, on_progress=None), False), unit)
        if again.solution is None:
            # keep the first solution, but not the claim about it
            return replace(found, solved=again.solved, bound=None, gap=None)
        last, found = objective, again
    return found


def _gap(problem: AnyProblem, instance: Instance, solution: Any, bound: float | None) -> float | None:
    """Return the gap of a solution, None without a bound or where the checker will reject it."""
    if solution is None or bound is None or instance.check(solution):
        return None
    objective = instance.evaluate(solution).objective
    return relative_gap(objective, bound, problem.sense) if abs(objective - bound) > PROVEN_GAP else 0.0


def _reporting(form: Formulation[Any, Any], instance: Instance, controls: Controls) -> Controls:
    """Return the controls with a callback that reports the problem's objective."""
    report = controls.on_progress
    if report is None:
        return controls

    def forward(event: ProgressEvent) -> None:
        objective, bound = (_reported(form, instance, value) for value in (event.objective, event.bound))
        report(ProgressEvent(event.seconds, objective, bound))

    return replace(controls, on_progress=forward)


def _reported(form: Formulation[Any, Any], instance: Instance, value: float | None) -> float | None:
    return None if value is None else form.report(instance, value)


def _linear_form(problem: AnyProblem, name: str | None) -> Formulation[Any, Any]:
    if name is None:
        return problem.linear_form()
    form = problem.form(name)
    if not form.linear:
        raise InputError(
            f"formulation {name} of {problem.noun} is not linear; it can be exported (format nl), not solved"
        )
    return form


def settings_of(controls: Controls) -> SolveSettings:
    """Return the HiGHS settings for the controls of a call.

    Parameters
    ----------
    controls : Controls
        Settings of the call.

    Returns
    -------
    SolveSettings
        With the time left now as the limit.
    """
    from gangopt.solvers.highs import Progress, SolveSettings

    report = controls.on_progress

    def forward(progress: Progress) -> None:
        if report is not None:
            report(ProgressEvent(controls.elapsed(), progress.incumbent, progress.bound))

    return SolveSettings(
        time_limit=controls.remaining(),
        rel_gap=controls.rel_gap,
        threads=controls.threads,
        seed=controls.seed,
        on_progress=None if report is None else forward,
    )


def _solve(model: Pyomo, controls: Controls, warm: bool, arrays: LinearArrays | None = None) -> SolverOutcome:
    settings = settings_of(controls)
    if controls.solver == "highs":
        from gangopt.solvers.highs import solve_model

        return solve_model(model, settings, warm_start=warm, arrays=arrays)
    from gangopt.solvers.external.external import solve_external

    return solve_external(model, controls.solver, settings)
