"""Build a Result from the output of a method: the checker decides, never the method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gangopt.base import interrupts
from gangopt.base.contract import Instance, Score
from gangopt.base.errors import InfeasibleError, NoSolutionError, SolverError
from gangopt.base.version import __version__
from gangopt.registry.problem import AnyProblem, resolve
from gangopt.solvers.core.contract import Controls, Outcome, SolutionStatus, Termination
from gangopt.solvers.core.result import (
    PROVEN_GAP,
    Result,
    Seconds,
    absolute_gap,
    is_contradicted,
    proof_gap,
    relative_gap,
)

__all__ = ["judged_result", "run_heuristic"]


def run_heuristic(function: Callable[..., Any], instance: Instance, options: dict[str, Any]) -> Outcome:
    """Run a heuristic and wrap its Solution.

    A proof of infeasibility becomes an infeasible outcome; a heuristic that finds nothing otherwise has completed
    without a solution.

    Parameters
    ----------
    function : callable
        The heuristic.
    instance : Instance
        The instance.
    options : dict of str to object
        Its options, including its seed if it takes one.

    Returns
    -------
    Outcome
        Without a bound; the reason is the solution's `remark`, if it has one.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C came in the meantime and something inside the heuristic swallowed it.
    """
    begin, interrupted = time.perf_counter(), interrupts.count()
    try:
        solution = function(instance, **options)
    except InfeasibleError as error:
        outcome = Outcome("infeasible", None, None, reason=str(error), options=options)
    except NoSolutionError as error:
        outcome = Outcome("completed", None, None, reason=str(error), options=options)
    else:
        if solution is None:
            raise SolverError(f"{instance.name}: the heuristic returned None instead of a solution")
        outcome = Outcome("completed", solution, None, reason=getattr(solution, "remark", None), options=options)
    if interrupts.count() > interrupted:
        raise KeyboardInterrupt
    return replace(outcome, solve_seconds=time.perf_counter() - begin)


def judged_result(problem: AnyProblem, instance: Instance, name: str, outcome: Outcome, controls: Controls) -> Result:
    """Check an outcome and return the Result.

    Parameters
    ----------
    problem : AnyProblem
        The problem.
    instance : Instance
        The instance.
    name : str
        Canonical name of the method that ran.
    outcome : Outcome
        Its outcome.
    controls : Controls
        The settings of the call.

    Raises
    ------
    SolverError
        If the checker rejects the solution, or the objective is better than the bound: both are bugs of the method or
        the solver, never of the input.
    """
    score = _judge(problem, instance, name, outcome)
    objective = None if score is None else score.objective
    bound = _agreed_bound(problem, instance, name, objective, outcome.bound)
    gap = relative_gap(objective, bound, problem.sense)
    termination, status, reason = _standing(outcome, gap, controls.rel_gap, proof_gap(whole=problem.whole))
    own = not outcome.solver
    return Result(
        instance=instance.name,
        problem=problem.noun,
        method=name,
        form=outcome.form,
        termination=termination,
        solution_status=status,
        sense=problem.sense,
        objective=objective,
        bound=bound,
        abs_gap=absolute_gap(objective, bound, problem.sense),
        rel_gap=gap,
        requested_rel_gap=controls.rel_gap,
        seconds=Seconds(outcome.build_seconds, outcome.solve_seconds, controls.elapsed()),
        metrics={**({} if score is None else score.metrics), **outcome.metrics},
        solver="gangopt" if own else outcome.solver,
        version=__version__ if own else outcome.version,
        options=dict(outcome.options),
        trajectory=outcome.trajectory,
        reason=reason,
        _solution=outcome.solution,
    )


def _judge(problem: AnyProblem, instance: Instance, name: str, outcome: Outcome) -> Score | None:
    if outcome.solution is None:
        return None
    wanted = resolve(problem.solution)
    if not isinstance(outcome.solution, wanted):
        found = type(outcome.solution).__name__
        raise SolverError(f"{instance.name}: {name} must return a {wanted.__name__} (got {found})")
    violations = instance.check(outcome.solution)
    if violations:
        rest = f" and {len(violations) - 1} more" if len(violations) > 1 else ""
        raise SolverError(f"{instance.name}: the checker rejects the solution of {name}: {violations[0]}{rest}")
    return instance.evaluate(outcome.solution)


def _agreed_bound(
    problem: AnyProblem, instance: Instance, name: str, objective: float | None, bound: float | None
) -> float | None:
    if problem.whole and bound is not None:
        bound = _whole_bound(problem, bound)
    gap = relative_gap(objective, bound, problem.sense)
    if gap is None or gap >= 0:
        return bound
    if is_contradicted(objective, bound, problem.sense, whole=problem.whole):
        raise SolverError(
            f"{instance.name}: {name} claims the bound {bound}, but its solution has objective {objective}"
        )
    return objective


def _whole_bound(problem: AnyProblem, bound: float) -> float:
    """Return the integer that a bound on integer objectives proves, after removing its rounding error."""
    if not math.isfinite(bound) or bound == round(bound):
        return bound
    slack = max(1e-6, PROVEN_GAP * abs(bound))
    return float(math.ceil(bound - slack) if problem.sense == "minimise" else math.floor(bound + slack))


def _standing(
    outcome: Outcome, gap: float | None, requested: float, proof: float
) -> tuple[Termination, SolutionStatus, str | None]:
    if outcome.solution is None:
        return outcome.termination, "none", outcome.reason
    allowed = max(requested, proof)
    if gap is not None and gap <= allowed:
        # a proven optimum counts as optimal even if the time limit was reached just afterwards
        termination: Termination = "optimal" if outcome.termination == "time_limit" else outcome.termination
        return termination, "optimal", outcome.reason
    if outcome.termination == "optimal":
        left = "no bound" if gap is None else f"a relative gap of {gap:.3g}"
        return "error", "feasible", f"ended as optimal with {left}; at most {allowed:g} was requested"
    return outcome.termination, "feasible", outcome.reason
