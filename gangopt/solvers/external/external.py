"""Other solvers by their Pyomo name, with one kind of outcome for all interfaces and no setting silently lost.

The model is compiled to arrays first and passed on as a plain Pyomo model made from them. So every interface gets the
same kind of model, the caller's model receives only the final checked values, and solutions go through the same
verification as those of HiGHS.
"""

from __future__ import annotations

import logging
import math
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC
from pyomo.common.log import LoggingIntercept
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.opt import SolverStatus, TerminationCondition

from gangopt.base.errors import InputError, SolverError, SolverUnavailableError, shown
from gangopt.base.types import Floats
from gangopt.solvers.external.solvers import EXTERNAL_SOLVERS, ExternalSolver
from gangopt.solvers.highs.arrays import LinearArrays
from gangopt.solvers.highs.compiler import compile_model
from gangopt.solvers.highs.engine import Engine
from gangopt.solvers.highs.library import new_highs, release_scheduler, set_options
from gangopt.solvers.highs.probes import directions, elastic
from gangopt.solvers.highs.records import SolutionStatus, SolverOutcome, SolveSettings, Termination
from gangopt.solvers.highs.scaling import lost_coefficient
from gangopt.solvers.highs.session import load_values, solve_model
from gangopt.solvers.highs.trivial import decide, tightened
from gangopt.solvers.highs.verification import fixed_integers, rounded, violation

__all__ = ["EXTERNAL_SOLVERS", "ExternalSolver", "solve_external"]

_CLAIM_TOLERANCE = 1e-6
"""A bound within this distance of the objective, relative to max(1, abs(objective)), proves it."""

_EARLY = 0.05
"""Fraction of the time limit by which a solver's own clock may stop it before ours."""

_TERMINATIONS: dict[Any, Termination | Literal["undecided"]] = {
    TerminationCondition.optimal: "optimal",
    TerminationCondition.globallyOptimal: "optimal",
    TerminationCondition.infeasible: "infeasible",
    TerminationCondition.unbounded: "unbounded",
    TerminationCondition.infeasibleOrUnbounded: "unbounded",
    TerminationCondition.maxTimeLimit: "time_limit",
    TerminationCondition.userInterrupt: "interrupted",
    TerminationCondition.other: "undecided",
}

_NO_POINT = TerminationCondition.intermediateNonInteger
"""Condition of a stop before the first integer point; the interface then returns a relaxed point."""
_STOPPED = (TerminationCondition.feasible, _NO_POINT)


def solve_external(
    model: Any,
    solver_name: str,
    settings: SolveSettings | None = None,
    *,
    load: bool = True,
) -> SolverOutcome:
    """Solve a linear Pyomo model or block with another solver.

    Parameters
    ----------
    model : object
        ConcreteModel, Block or member of an indexed Block.
    solver_name : str
        Name in Pyomo's SolverFactory, one of `EXTERNAL_SOLVERS`; `gangopt_highs` is `solve_model`.
    settings : SolveSettings or None, optional
        Settings of the solve; `options` are the solver's own and override the settings.
    load : bool, optional
        Write the solution to the variables, if there is one.

    Returns
    -------
    SolverOutcome
        Its `message` reports settings that the solver does not support. The bound is None if the solver proves none.
        Progress is not reported.

    Raises
    ------
    SolverUnavailableError
        If the solver is not installed; the message says how to install it.
    InputError
        If the solver is unknown, does not support a requested gap, or the model is not linear.
    SolverError
        If its interface fails.
    """
    if solver_name == "gangopt_highs":
        return solve_model(model, settings, load=load)
    settings = SolveSettings() if settings is None else settings
    solver = EXTERNAL_SOLVERS.get(solver_name)
    if solver is None:
        raise InputError(
            f"unknown solver {shown(solver_name)}; known: {', '.join(('gangopt_highs', *EXTERNAL_SOLVERS))}"
        )
    run = _Run(solver_name, solver, settings)
    arrays = compile_model(model)
    outcome = run.solve(arrays)
    if load and outcome.values is not None:
        load_values(arrays, outcome.values)
    return outcome


class _Run:
    def __init__(self, name: str, solver: ExternalSolver, settings: SolveSettings) -> None:
        self._name, self._solver, self._settings = name, solver, settings
        self._notes: list[str] = []
        self._started = time.perf_counter()
        self.options = self._translated()
        if solver is EXTERNAL_SOLVERS["highs"]:
            set_options(new_highs(), self.options)
        self._interface = _interface(name, solver)

    def _translated(self) -> dict[str, object]:
        settings, solver = self._settings, self._solver
        options: dict[str, object] = dict(solver.fixed)
        if settings.time_limit is not None:
            options[solver.time_limit] = solver.seconds(settings.time_limit)
            if options[solver.time_limit] != settings.time_limit:
                self._notes.append(f"{self._name} takes whole seconds: time limit {options[solver.time_limit]}")
        options[solver.rel_gap] = settings.rel_gap / (1.0 + settings.rel_gap)
        if solver.abs_gap is not None:
            options[solver.abs_gap] = settings.abs_gap
        elif settings.abs_gap > 0:
            raise InputError(f"{self._name} has no option for abs_gap={settings.abs_gap}; give rel_gap instead")
        for wish, default, option in (
            ("threads", 1, solver.threads),
            ("seed", 0, solver.seed),
        ):
            value = getattr(settings, wish)
            if option is not None:
                options[option] = value
            elif value != default:
                self._notes.append(f"{self._name} has no option for {wish}: {value} was ignored")
        for wish in ("on_progress", "log"):
            if getattr(settings, wish) is not None:
                self._notes.append(f"{self._name} does not support {wish}")
        return {**options, **settings.options}

    def solve(self, arrays: LinearArrays) -> SolverOutcome:
        tight = tightened(arrays)
        decision = decide(tight)
        if decision is not None:
            self._notes += [] if decision.message is None else [decision.message]
            bound = None if decision.values is None else arrays.objective(decision.values)
            return self._outcome(arrays, decision.termination, decision.values, bound, conflict=decision.conflict)
        termination, point, bound = self._call(tight)
        if termination in {"unbounded", "undecided"}:
            termination, point, bound = self._unbounded_or_infeasible(tight, termination), None, None
        lost = lost_coefficient(tight) if self._solver is EXTERNAL_SOLVERS["highs"] else None
        if lost is not None:
            self._notes.append(lost)
            termination, bound = ("time_limit" if termination == "time_limit" else "error"), None
        return self._outcome(arrays, "error" if termination == "undecided" else termination, point, bound)

    def _unbounded_or_infeasible(self, tight: LinearArrays, claimed: str) -> Termination:
        """Decide between infeasible and unbounded, which an interface may leave open.

        Feasibility and an improving direction are both tested by models with an optimum, so that no interface can
        misread the answer.
        """
        termination, point, _ = self._call(elastic(tight))
        if point is None or termination != "optimal":
            return "error" if termination == "undecided" else termination
        inside = point[: tight.n_columns]
        if violation(tight, rounded(tight, inside), inside) is not None:
            return "infeasible"
        if claimed == "unbounded":
            return "unbounded"
        _, ray, _ = self._call(directions(tight))
        gain = 0.0 if ray is None else float(tight.costs @ ray) * (-1 if tight.sense == "minimise" else 1)
        return "unbounded" if gain > _CLAIM_TOLERANCE else "error"

    def _call(self, tight: LinearArrays) -> tuple[Termination | Literal["undecided"], Floats | None, float | None]:
        model, columns = _plain_model(tight)
        left = self._seconds_left()
        if left is not None and left <= 0:
            self._notes.append("time limit reached before the solver was called")
            return "time_limit", None, None
        release_scheduler()
        try:
            with LoggingIntercept(level=logging.WARNING):
                results = self._ask(model, left)
                condition = results.solver.termination_condition
                point = None if condition == _NO_POINT else _point_of(model, columns, results)
        except InputError:
            raise
        except Exception as error:
            reason = str(error).strip().splitlines()[0]
            raise SolverError(f"{self._name} failed with the options {self.options}: {reason}") from error
        termination: Termination | Literal["undecided"]
        termination = self._why_stopped(condition) if condition in _STOPPED else _TERMINATIONS.get(condition, "error")
        if termination == "error":
            self._notes.append(f"{self._name} ended with the condition {condition}")
        problem = results.problem
        bound = problem.upper_bound if tight.sense == "maximise" else problem.lower_bound
        known = self._solver.reports_bound and isinstance(bound, int | float) and math.isfinite(bound)
        return termination, point, float(bound) if known else None

    def _seconds_left(self) -> float | None:
        """Return the remaining time; building the model counts against the limit."""
        limit = self._settings.time_limit
        return None if limit is None else limit - (time.perf_counter() - self._started)

    def _why_stopped(self, condition: Any) -> Termination:
        """Distinguish a time limit from a reached gap if an interface only reports a feasible point."""
        left = self._seconds_left()
        if left is not None and left <= _EARLY * (self._settings.time_limit or 0.0):
            return "time_limit"
        gap_asked = self._settings.rel_gap > 0 or self._settings.abs_gap > 0
        return "optimal" if gap_asked and condition != _NO_POINT else "error"

    def _ask(self, model: Any, left: float | None) -> Any:
        """Call the interface; detect unknown options that a solver skips by its log."""
        options = dict(self.options)
        if left is not None and self._solver.time_limit not in self._settings.options:
            options[self._solver.time_limit] = self._solver.seconds(left)
        arguments: dict[str, Any] = {"load_solutions": False, "options": options}
        if self._solver.refusal is None:
            return self._interface.solve(model, **arguments)
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            results = self._interface.solve(model, logfile=str(log), **arguments)
            lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        for line in lines:
            if line.startswith(self._solver.refusal):
                raise InputError(f"{self._name} does not accept an option of {self.options}: {line.strip()}")
        return results

    def _outcome(
        self,
        arrays: LinearArrays,
        termination: Termination,
        point: Floats | None,
        bound: float | None,
        conflict: tuple[str, ...] = (),
    ) -> SolverOutcome:
        values, objective = None, None
        status: SolutionStatus = "none"
        seconds = time.perf_counter() - self._started
        if point is not None and termination not in {"infeasible", "unbounded"}:
            tight = tightened(arrays)
            values, broken = _checked(tight, point)
            if broken is None:
                objective, status = arrays.objective(values), "feasible"
            else:
                values = None
                termination = termination if termination in {"time_limit", "interrupted"} else "error"
                self._notes.append(f"the solution returned by {self._name} was rejected: {broken}")
        if objective is not None:
            bound, status = self._proven(arrays, objective, bound, termination == "optimal")
        elif termination == "optimal":
            termination = "error"
            self._notes.append(f"{self._name} reports the model solved but returns no solution")
        return SolverOutcome(
            termination=termination,
            solution_status=status,
            objective=objective,
            bound=bound,
            values=values,
            seconds=seconds,
            trajectory=() if objective is None and bound is None else ((seconds, objective, bound),),
            solver=self._name,
            version=_version(self._interface),
            options=self.options,
            conflict=conflict,
            message="; ".join(dict.fromkeys(self._notes)) or None,
        )

    def _proven(
        self, arrays: LinearArrays, objective: float, bound: float | None, claimed: bool
    ) -> tuple[float | None, SolutionStatus]:
        """Return what is proven; with gap 0, or in a linear program, a claimed optimum is itself a bound."""
        exact = not arrays.is_mip or (self._settings.rel_gap == 0 and self._settings.abs_gap == 0)
        tolerance = _CLAIM_TOLERANCE * max(1.0, abs(objective))
        if bound is None:
            return (objective, "optimal") if claimed and exact else (None, "feasible")
        distance = bound - objective if arrays.sense == "maximise" else objective - bound
        if distance < -tolerance:
            self._notes.append(f"{self._name} reports the bound {bound}, beyond the objective {objective}")
            return None, "feasible"
        return (objective, "optimal") if distance <= tolerance else (bound, "feasible")


def _checked(tight: LinearArrays, point: Floats) -> tuple[Floats, str | None]:
    """Return a point with continuous values recomputed for its integers, and the constraint that it violates.

    Interfaces that go through text files return only a few digits of each value.
    """
    values = rounded(tight, point)
    broken = violation(tight, values, point)
    if not tight.is_mip or tight.integer.all():
        return values, broken
    rest = fixed_integers(tight, values)
    again = Engine(SolveSettings()).solve(rest, tightened(rest), None)
    if again.termination != "optimal" or again.values is None:
        return values, broken
    return again.values, violation(tight, again.values)


def _interface(name: str, solver: ExternalSolver) -> Any:
    try:
        with LoggingIntercept(level=logging.WARNING):
            interface = pyo.SolverFactory(name)
            available = bool(interface.available(exception_flag=False))
    except Exception:
        available = False
    if not available:
        raise SolverUnavailableError(f"solver {name!r} is not installed; to install it: {solver.how_to_get}")
    return interface


def _version(interface: Any) -> str:
    try:
        return ".".join(str(part) for part in interface.version())
    except Exception:
        return "unknown"


def _plain_model(arrays: LinearArrays) -> tuple[Any, list[Any]]:
    """Build a Pyomo model with variables x[0], x[1], ... and one constraint per row."""
    with PauseGC():
        model = pyo.ConcreteModel()
        model.x = pyo.Var(range(arrays.n_columns))
        columns = list(model.x.values())
        facts = zip(columns, arrays.lower.tolist(), arrays.upper.tolist(), arrays.integer.tolist(), strict=True)
        for variable, lower, upper, whole in facts:
            variable.setlb(lower if math.isfinite(lower) else None)
            variable.setub(upper if math.isfinite(upper) else None)
            variable.domain = pyo.Integers if whole else pyo.Reals
        used = np.flatnonzero(arrays.costs).tolist()
        model.objective = pyo.Objective(
            expr=LinearExpression(
                constant=arrays.offset,
                linear_coefs=arrays.costs[used].tolist(),
                linear_vars=[columns[k] for k in used],
            ),
            sense=pyo.maximize if arrays.sense == "maximise" else pyo.minimize,
        )
        model.rows = pyo.ConstraintList()
        for row in range(arrays.n_rows):
            entries = slice(arrays.starts[row], arrays.starts[row + 1])
            body = LinearExpression(
                linear_coefs=arrays.values[entries].tolist(),
                linear_vars=[columns[k] for k in arrays.indices[entries].tolist()],
            )
            lower, upper = float(arrays.row_lower[row]), float(arrays.row_upper[row])
            if body.nargs() and (math.isfinite(lower) or math.isfinite(upper)):
                model.rows.add((lower if math.isfinite(lower) else None, body, upper if math.isfinite(upper) else None))
    return model, columns


def _point_of(model: Any, columns: list[Any], results: Any) -> Floats | None:
    """Read the solution from the results; variables that interfaces omit because they appear nowhere are 0."""
    if not len(results.solution):
        return None
    results.solver.status = SolverStatus.ok
    model.solutions.load_from(results)
    values = [variable.value for variable in columns]
    if all(value is None for value in values):
        return None
    bounds = [variable.bounds for variable in columns]
    idle = [
        max(low if low is not None else -math.inf, min(0.0, high if high is not None else math.inf))
        for low, high in bounds
    ]
    return np.array(
        [rest if value is None else value for value, rest in zip(values, idle, strict=True)], dtype=np.float64
    )
