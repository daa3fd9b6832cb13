"""Solve one instance by one method."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gangopt.decisions import problems
from gangopt.errors import InfeasibleError, InputError, NoSolutionError
from gangopt.instances.contract import Instance
from gangopt.registry import Method, Problem
from gangopt.solvers.contract import Controls, Outcome, ProgressEvent
from gangopt.solvers.judging import judged_result, run_heuristic
from gangopt.solvers.own import Heuristic, check_own, takes_seed
from gangopt.solvers.result import Result

__all__ = ["solve"]


def solve(
    instance: Instance,
    method: str | Heuristic = "exact",
    *,
    form: str | None = None,
    time_limit: float | None = None,
    rel_gap: float = 0.0,
    threads: int = 1,
    seed: int = 0,
    start: Any = None,  # noqa: ANN401 - each decision has its own solution type
    solver: str = "highs",
    on_progress: Callable[[ProgressEvent], None] | None = None,
) -> Result:
    """Take the decision of an instance by one method and judge the answer.

    Parameters
    ----------
    instance : what is to be decided
    method : a method of the decision, with options as in `optimus?skip=true`, or a function of your own
        `instance -> Solution`; if it has a parameter `seed`, it receives the seed
    form : name of a form to build and solve as one model; None lets the exact method choose
    time_limit : wall seconds for the whole call, None for no limit
    rel_gap : relative gap at which an exact method may stop; 0 asks for a proven optimum
    threads : threads of the solver
    seed : seed of every random choice
    start : a feasible Solution to start from
    solver : `highs`, or any solver installed for Pyomo, which then gets the form as one model
    on_progress : called with every new incumbent or bound of an exact method

    Returns
    -------
    Result
        Judged by the instance's own judge; `.solution` raises NoSolutionError if there is none.

    Raises
    ------
    InputError
        If an argument is not acceptable; ModelTooLargeError and SolverUnavailableError are such.
    SolverError
        If the judge rejects what the method returned.
    """
    controls = checked_controls(time_limit, rel_gap, threads, seed, solver)
    problem = problems[instance.noun]
    given = {"form": form, "start": start, "solver": None if solver == "highs" else solver}
    if not isinstance(method, str):
        name = check_own(method, problem)
        _refuse(name, "exact methods", **given)
        outcome = run_heuristic(method, instance, {"seed": seed} if takes_seed(method) else {})
        return judged_result(problem, instance, name, outcome, controls)
    chosen, options, name = problem.method(method)
    if not chosen.exact:
        _refuse(name, "exact methods", **given)
        outcome = run_heuristic(chosen.function(), instance, options | ({"seed": seed} if chosen.takes_seed() else {}))
        return judged_result(problem, instance, name, outcome, controls)
    if chosen.name != "exact":
        _refuse(name, "the method exact", form=form, solver=given["solver"])
    if start is not None:
        _check_start(instance, start)
    controls = Controls(time_limit, rel_gap, threads, seed, start, form, solver, on_progress, started=controls.started)
    outcome = _run_exact(problem, instance, chosen, options, controls)
    return judged_result(problem, instance, name, outcome, controls)


def checked_controls(
    time_limit: float | None, rel_gap: float, threads: int, seed: int, solver: str = "highs"
) -> Controls:
    """Return the controls of a call after checking its numbers.

    Parameters
    ----------
    time_limit : wall seconds, or None
    rel_gap : relative gap
    threads : threads of the solver
    seed : seed of every random choice
    solver : name of the solver

    Returns
    -------
    Controls

    Raises
    ------
    InputError
        If a number is out of range.
    """
    if time_limit is not None and not (_is_number(time_limit) and 0 < time_limit <= 1e9):
        raise InputError(f"time limit {time_limit}: seconds above 0, at most 1e9, are needed")
    if not (_is_number(rel_gap) and 0 <= rel_gap <= 1e9):
        raise InputError(f"relative gap {rel_gap}: a number from 0 (proven optimum) upwards is needed")
    if not (_is_whole(threads) and 1 <= threads <= 1024):
        raise InputError(f"threads {threads}: a whole number from 1 to 1024 is needed")
    if not (_is_whole(seed) and 0 <= seed <= 2**31 - 1):
        raise InputError(f"seed {seed}: a whole number from 0 to 2147483647 is needed")
    return Controls(time_limit=time_limit, rel_gap=rel_gap, threads=threads, seed=seed, solver=solver)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _refuse(name: str, allowed: str, **given: object) -> None:
    for key, value in given.items():
        if value is not None:
            raise InputError(f"{key} is for {allowed}, not for {name}")


def _check_start(instance: Instance, start: object) -> None:
    violations = instance.check(start)
    if violations:
        raise InputError(f"start is not feasible for {instance.name}: {violations[0]}")


def _run_exact(
    problem: Problem, instance: Instance, method: Method, options: dict[str, Any], controls: Controls
) -> Outcome:
    from gangopt.solvers.exact.by_form import solve_by_form

    try:
        if controls.form is None and controls.solver == "highs":
            return method.function()(instance, controls, **options)  # type: ignore[no-any-return]
        if options:
            given = ", ".join(options)
            raise InputError(f"options ({given}) are for {method.name} without --form and with --solver highs")
        return solve_by_form(problem, instance, controls)
    except InfeasibleError as error:
        return Outcome("infeasible", None, None, reason=str(error))
    except NoSolutionError as error:
        out_of_time = controls.remaining() == 0
        return Outcome("time_limit" if out_of_time else "error", None, None, reason=str(error))
