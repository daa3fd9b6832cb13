"""Solve one form of a decision as a single Pyomo model, by HiGHS or another solver."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gangopt.errors import InputError
from gangopt.formulations.deadline import OutOfTime, building_within
from gangopt.instances.contract import Instance
from gangopt.registry import Form, Problem
from gangopt.solvers.contract import Controls, Outcome, ProgressEvent, Termination
from gangopt.solvers.result import PROVEN_GAP, relative_gap

if TYPE_CHECKING:
    from gangopt.solvers.highs import SolverOutcome, SolveSettings

__all__ = ["solve_by_form"]


def solve_by_form(problem: Problem, instance: Instance, controls: Controls) -> Outcome:
    """Build a form, solve it whole, and read the Solution back.

    Parameters
    ----------
    problem : the decision
    instance : what is to be decided
    controls : settings of the call; `controls.form` names the form, None takes the first linear one

    Returns
    -------
    Outcome

    Raises
    ------
    InputError
        If the form is unknown, or not linear and so nothing that a linear solver takes.
    """
    form = _linear_form(problem, controls.form)
    try:
        with building_within(controls.remaining):
            return _outcome(problem, form, instance, controls)
    except OutOfTime as stop:
        return Outcome("time_limit", None, None, form=form.name, build_seconds=controls.elapsed(), reason=str(stop))


def _outcome(problem: Problem, form: Form, instance: Instance, controls: Controls) -> Outcome:
    begin = time.perf_counter()
    model = form.model(instance)
    if controls.start is not None:
        form.hint(model, instance, controls.start)
    built = time.perf_counter()
    solved = _solve(model, _reporting(form, instance, controls))
    bound = _reported(form, instance, solved.bound)
    done = time.perf_counter()
    solution = None if solved.solution_status == "none" else form.read(model, instance)
    termination: Termination = solved.termination
    reason = solved.message
    if termination == "infeasible" and solved.conflict:
        reason = "these rules cannot hold together: " + ", ".join(solved.conflict[:8])
    gap = _gap(problem, instance, solution, bound)
    if termination == "optimal" and form.relaxes and (gap is None or gap > PROVEN_GAP):
        termination, reason = "completed", f"form {form.name} gives a bound; the solution read from it is worse"
    if gap is not None and gap < -PROVEN_GAP:
        reason = f"the solution is better than the bound {bound:.15g} of form {form.name}: its tolerances hide as much"
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
            for seconds, objective, known in solved.trajectory
        ),
        solver=solved.solver,
        version=solved.version,
        options=solved.options,
        reason=reason,
    )


def _gap(problem: Problem, instance: Instance, solution: Any, bound: float | None) -> float | None:  # noqa: ANN401
    """Return the gap of what was read, None without a bound or where the judge will reject the solution."""
    if solution is None or bound is None or instance.check(solution):
        return None
    objective = instance.evaluate(solution).objective
    return relative_gap(objective, bound, problem.sense) if abs(objective - bound) > PROVEN_GAP else 0.0


def _reporting(form: Form, instance: Instance, controls: Controls) -> Controls:
    """Return the controls with a callback that is told the decision's objective."""
    tell = controls.on_progress
    if tell is None or not form.reported:
        return controls

    def forward(event: ProgressEvent) -> None:
        objective, bound = (_reported(form, instance, value) for value in (event.objective, event.bound))
        tell(ProgressEvent(event.seconds, objective, bound))

    return replace(controls, on_progress=forward)


def _reported(form: Form, instance: Instance, value: float | None) -> float | None:
    return None if value is None else form.report(instance, value)


def _linear_form(problem: Problem, name: str | None) -> Form:
    if name is None:
        return next(item for item in problem.forms.values() if item.linear)
    form = problem.form(name)
    if not form.linear:
        raise InputError(f"form {name} of {problem.noun} is not linear, so it is built and exported (nl), not solved")
    return form


def settings_of(controls: Controls) -> SolveSettings:
    """Return the HiGHS settings that the controls of a call ask for.

    Parameters
    ----------
    controls : settings of the call

    Returns
    -------
    SolveSettings
        With the time that is left now.
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


def _solve(model: Any, controls: Controls) -> SolverOutcome:  # noqa: ANN401 - Pyomo is untyped
    settings = settings_of(controls)
    if controls.solver == "highs":
        from gangopt.solvers.highs import solve_model

        return solve_model(model, settings, warm_start=controls.start is not None)
    from gangopt.solvers.external import solve_external

    return solve_external(model, controls.solver, settings)
