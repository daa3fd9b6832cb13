"""Test claims of infeasibility against solutions that the checker accepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gangopt.base.contract import Instance
from gangopt.base.errors import GangoptError
from gangopt.registry.problem import AnyProblem
from gangopt.solvers.core.contract import Controls, Outcome

__all__ = ["uncontradicted"]


def uncontradicted(problem: AnyProblem, instance: Instance, outcome: Outcome, controls: Controls) -> Outcome:
    """Return an outcome, turned into an error if it reports infeasible although a solution is known.

    A solver's tolerances, or a bug in it, may turn a feasible instance into an infeasible model. The claim is tested
    against the solution that the method found before, the one it started from, and those of the heuristics.

    Parameters
    ----------
    problem : AnyProblem
        The problem.
    instance : Instance
        The instance.
    outcome : Outcome
        Outcome of an exact method.
    controls : Controls
        Settings of the call.

    Returns
    -------
    Outcome
        The same unless it is infeasible and a solution is known.
    """
    if outcome.termination != "infeasible":
        return outcome
    for origin, solution in _known(problem, instance, outcome, controls):
        if solution is not None and not instance.check(solution):
            claim = "the instance" if outcome.form is None else f"formulation {outcome.form}"
            reason = f"{claim} was reported infeasible, but the checker accepts the solution of {origin}"
            return replace(outcome, termination="error", solution=solution, reason=reason)
    return outcome


def _known(
    problem: AnyProblem, instance: Instance, outcome: Outcome, controls: Controls
) -> Iterator[tuple[str, Any]]:  # each problem has its own solution type
    """Yield the origin of a solution, and the solution or None; run heuristics while time is left."""
    yield "the method itself", outcome.solution
    yield "the start", controls.start
    for method in problem.methods.values():
        if method.exact:
            continue
        options: dict[str, Any] = {"seed": controls.seed} if method.takes_seed() else {}
        if method.takes_time_limit():
            options["time_limit"] = controls.remaining()
        if controls.remaining() == 0:
            return
        try:
            yield method.name, method.function()(instance, **options)
        except GangoptError:
            continue
