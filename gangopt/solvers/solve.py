"""Solve one instance with one method."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

from gangopt.base import interrupts
from gangopt.base.contract import Instance
from gangopt.base.errors import InfeasibleError, InputError, NoSolutionError
from gangopt.catalogue import load
from gangopt.registry.problem import AnyProblem, Method, resolve
from gangopt.registry.records import problems
from gangopt.solvers.core.contract import Controls, Outcome, ProgressEvent
from gangopt.solvers.core.contradiction import uncontradicted
from gangopt.solvers.core.judging import judged_result, run_heuristic
from gangopt.solvers.core.own import Heuristic, check_own, takes_seed
from gangopt.solvers.core.result import Result

__all__ = ["solve"]


def solve(
    instance: Instance | str | os.PathLike[str],
    method: str | Heuristic = "exact",
    *,
    form: str | None = None,
    time_limit: float | None = None,
    rel_gap: float = 0.0,
    threads: int = 1,
    seed: int = 0,
    start: Any = None,
    solver: str = "highs",
    on_progress: Callable[[ProgressEvent], None] | None = None,
) -> Result:
    """Solve an instance with one method and check the solution.

    Parameters
    ----------
    instance : Instance, str or path-like
        An instance, or a name or path that `load` accepts.
    method : str or Heuristic, optional
        A method of the problem, with options as in `optimus?skip=true`, or your own function `instance -> Solution`;
        a parameter `seed` of it receives the seed.
    form : str or None, optional
        Name of a formulation to build and solve as one model; None lets the exact method choose.
    time_limit : float or None, optional
        Wall seconds for the whole call, None for no limit.
    rel_gap : float, optional
        Relative gap at which an exact method may stop; 0 requests a proven optimum.
    threads : int, optional
        Threads of the solver.
    seed : int, optional
        Seed of every random choice.
    start : object, optional
        A feasible Solution to start from, or a Result that has one.
    solver : str, optional
        `highs`, or any solver installed for Pyomo, which then solves the formulation as one model.
    on_progress : callable or None, optional
        Called with every new incumbent or bound of an exact method.

    Returns
    -------
    Result
        Checked by the instance's own checker; `.solution` raises NoSolutionError if there is none.

    Raises
    ------
    InputError
        If an argument is invalid; ModelTooLargeError and SolverUnavailableError are subclasses.
    SolverError
        If the checker rejects the method's solution.
    """
    controls = checked_controls(time_limit, rel_gap, threads, seed, solver)
    _check_type("form", form, str | None, "the name of a formulation")
    _check_type("on_progress", on_progress, Callable | None, "a function of one event")
    instance = loaded(instance)
    problem = problems[instance.noun]
    given = {"form": form, "start": start, "solver": None if solver == "highs" else solver}
    if not isinstance(method, str):
        name = check_own(method, problem)
        _refuse(name, "exact methods", **given)
        outcome = run_heuristic(method, instance, {"seed": controls.seed} if takes_seed(method) else {})
        return judged_result(problem, instance, name, outcome, controls)
    chosen, options, name = problem.method(method)
    if not chosen.exact:
        _refuse(name, "exact methods", **given)
        seeded = options | ({"seed": controls.seed} if chosen.takes_seed() else {})
        limited = {"time_limit": controls.remaining()} if chosen.takes_time_limit() else {}
        outcome = run_heuristic(chosen.function(), instance, seeded | limited)
        return judged_result(problem, instance, name, outcome, controls)
    if chosen.name != "exact":
        _refuse(name, "the method exact", form=form, solver=given["solver"])
    solution = None if start is None else _checked_start(problem, instance, start)
    controls = replace(controls, start=solution, form=form, on_progress=on_progress)
    outcome = uncontradicted(problem, instance, _run_exact(problem, instance, chosen, options, controls), controls)
    return judged_result(problem, instance, name, outcome, controls)


def loaded(instance: Instance | str | os.PathLike[str]) -> Instance:
    """Return an instance, loading it if it is given by name or path.

    Parameters
    ----------
    instance : Instance, str or path-like
        An instance, a name or a path.

    Raises
    ------
    InputError
        If it is neither, or cannot be loaded.
    """
    if isinstance(instance, Instance):
        return instance
    _check_type("instance", instance, str | os.PathLike, "an instance, or the name or path of one")
    return load(instance)


def checked_controls(
    time_limit: float | None, rel_gap: float, threads: int, seed: int, solver: str = "highs"
) -> Controls:
    """Return the controls of a call after checking its numbers.

    Parameters
    ----------
    time_limit : float or None
        Wall seconds, or None.
    rel_gap : float
        Relative gap.
    threads : int
        Threads of the solver.
    seed : int
        Seed of every random choice.
    solver : str, optional
        Name of the solver.

    Raises
    ------
    InputError
        If a value is not a number or out of range.
    """
    if time_limit is not None and not (_is_number(time_limit) and 0 < time_limit <= 1e9):
        raise InputError(f"time_limit must be > 0 and <= 1e9 seconds (got {time_limit!r})")
    if not (_is_number(rel_gap) and 0 <= rel_gap <= 1e9):
        raise InputError(f"rel_gap must be >= 0 (got {rel_gap!r})")
    if not (_is_whole(threads) and 1 <= threads <= 1024):
        raise InputError(f"threads must be an integer from 1 to 1024 (got {threads!r})")
    if not (_is_whole(seed) and 0 <= seed <= 2**31 - 1):
        raise InputError(f"seed must be an integer from 0 to 2147483647 (got {seed!r})")
    _check_type("solver", solver, str, "the name of a solver")
    return Controls(
        time_limit=None if time_limit is None else float(time_limit),
        rel_gap=float(rel_gap),
        threads=int(threads),
        seed=int(seed),
        solver=solver,
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_type(name: str, value: object, kinds: Any, needed: str) -> None:
    if not isinstance(value, kinds):
        raise InputError(f"{name} must be {needed} (got {value!r:.60})")


def _refuse(name: str, allowed: str, **given: object) -> None:
    for key, value in given.items():
        if value is not None:
            raise InputError(f"{key} applies to {allowed}, not to {name}")


def _checked_start(problem: AnyProblem, instance: Instance, start: object) -> object:
    """Return the Solution to start from after checking that it is feasible for this instance."""
    if isinstance(start, Result):
        if start.problem != problem.noun:
            raise InputError(f"start must be a result of {problem.noun} (got one of {start.problem})")
        if start.solution_status == "none":
            raise InputError(f"start: the result of {start.method} on {start.instance} holds no solution")
        start = start.solution
    wanted = resolve(problem.solution)
    if not isinstance(start, wanted):
        raise InputError(f"start must be a {wanted.__name__} or a Result (got {type(start).__name__})")
    violations = instance.check(start)
    if violations:
        raise InputError(f"start is not feasible for {instance.name}: {violations[0]}")
    return start


def _run_exact(
    problem: AnyProblem, instance: Instance, method: Method, options: dict[str, Any], controls: Controls
) -> Outcome:
    before = interrupts.count()
    outcome = _exact_outcome(problem, instance, method, options, controls)
    if interrupts.count() > before and outcome.termination != "interrupted":
        # a part of the method swallowed Ctrl-C and went on, so its outcome is incomplete
        return replace(outcome, termination="interrupted", reason=outcome.reason or "interrupted by the user")
    return outcome


def _exact_outcome(
    problem: AnyProblem, instance: Instance, method: Method, options: dict[str, Any], controls: Controls
) -> Outcome:
    from gangopt.solvers.core.by_form import solve_by_form

    try:
        if controls.form is None and controls.solver == "highs":
            return method.function()(instance, controls, **options)  # type: ignore[no-any-return]
        if options:
            given = ", ".join(options)
            raise InputError(
                f"options ({given}) apply to {method.name} only without --formulation and with --solver highs"
            )
        return solve_by_form(problem, instance, controls)
    except InfeasibleError as error:
        return Outcome("infeasible", None, None, reason=str(error))
    except NoSolutionError as error:
        out_of_time = controls.remaining() == 0
        return Outcome("time_limit" if out_of_time else "error", None, None, reason=str(error))
