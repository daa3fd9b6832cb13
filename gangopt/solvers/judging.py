"""From what a method returns to a Result: the judge decides, never the method."""

from __future__ import annotations

from typing import Any

from gangopt import __version__
from gangopt.errors import InfeasibleError, SolverError
from gangopt.instances.contract import Instance, Score
from gangopt.registry import Method, Problem
from gangopt.solvers.contract import Controls, Outcome, SolutionStatus, Termination
from gangopt.solvers.result import PROVEN_GAP, Result, Seconds, absolute_gap, relative_gap

__all__ = ["judged_result", "run_heuristic"]


def run_heuristic(method: Method, instance: Instance, options: dict[str, Any], seed: int) -> Outcome:
    """Run a heuristic and wrap its Solution; a proof that nothing is feasible becomes an infeasible outcome.

    Parameters
    ----------
    method : the heuristic
    instance : what is to be decided
    options : its options
    seed : seed of its random choices, if it makes any

    Returns
    -------
    Outcome
        Without a bound.
    """
    seeded = options | {"seed": seed} if method.takes_seed() else options
    try:
        solution = method.function()(instance, **seeded)
    except InfeasibleError as error:
        return Outcome("infeasible", None, None, reason=str(error), options=seeded)
    return Outcome("completed", solution, None, options=seeded)


def judged_result(
    problem: Problem, instance: Instance, method: Method, name: str, outcome: Outcome, controls: Controls
) -> Result:
    """Judge an outcome and return the Result.

    Parameters
    ----------
    problem : the decision
    instance : what was to be decided
    method : the method that ran
    name : its canonical name
    outcome : what it returned
    controls : the settings of the call

    Returns
    -------
    Result

    Raises
    ------
    SolverError
        If the judge rejects the solution, or the bound is better than the judged objective: both are faults of the
        method or the solver, never of the input.
    """
    score = _judge(instance, name, outcome)
    objective = None if score is None else score.objective
    bound = _agreed_bound(problem, instance, name, objective, outcome.bound)
    gap = relative_gap(objective, bound, problem.sense)
    termination, status, reason = _standing(outcome, gap, controls.rel_gap)
    total = controls.elapsed()
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
        seconds=Seconds(outcome.build_seconds, outcome.solve_seconds if method.exact else total, total),
        metrics={**({} if score is None else score.metrics), **outcome.metrics},
        solver="gangopt" if own else outcome.solver,
        version=__version__ if own else outcome.version,
        options=dict(outcome.options),
        trajectory=outcome.trajectory,
        reason=reason,
        _solution=outcome.solution,
    )


def _judge(instance: Instance, name: str, outcome: Outcome) -> Score | None:
    if outcome.solution is None:
        return None
    violations = instance.check(outcome.solution)
    if violations:
        rest = f" and {len(violations) - 1} more" if len(violations) > 1 else ""
        raise SolverError(f"{instance.name}: the judge rejects what {name} returned: {violations[0]}{rest}")
    return instance.evaluate(outcome.solution)


def _agreed_bound(
    problem: Problem, instance: Instance, name: str, objective: float | None, bound: float | None
) -> float | None:
    gap = relative_gap(objective, bound, problem.sense)
    if gap is None or gap >= 0:
        return bound
    if gap < -PROVEN_GAP and abs(absolute_gap(objective, bound, problem.sense) or 0.0) > PROVEN_GAP:
        raise SolverError(f"{instance.name}: {name} claims the bound {bound} but its solution has {objective}")
    return objective


def _standing(outcome: Outcome, gap: float | None, requested: float) -> tuple[Termination, SolutionStatus, str | None]:
    if outcome.solution is None:
        return outcome.termination, "none", outcome.reason
    allowed = max(requested, PROVEN_GAP)
    if gap is not None and gap <= allowed:
        return outcome.termination, "optimal", outcome.reason
    if outcome.termination == "optimal":
        left = "no bound" if gap is None else f"a relative gap of {gap:.3g}"
        return "error", "feasible", f"ended as optimal with {left}, at most {allowed:g} was asked for"
    return outcome.termination, "feasible", outcome.reason
