"""The solver `gangopt_highs` for Pyomo's SolverFactory: the same path, with Pyomo's arguments and results."""

from __future__ import annotations

import logging
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pyomo.opt
from pyomo.common.collections import Bunch
from pyomo.core.base import Suffix, SymbolMap
from pyomo.core.base.label import NumericLabeler
from pyomo.opt import SolverResults, SolverStatus, TerminationCondition
from pyomo.opt.results.solution import Solution
from pyomo.opt.results.solution import SolutionStatus as PyomoSolutionStatus

from gangopt.base.errors import InputError
from gangopt.solvers.highs.arrays import LinearArrays
from gangopt.solvers.highs.compiler import compile_model
from gangopt.solvers.highs.library import HIGHS_VERSION
from gangopt.solvers.highs.records import SolverOutcome, SolveSettings
from gangopt.solvers.highs.session import current_values, load_values, solve_arrays

__all__ = ["PyomoHighs"]

_log = logging.getLogger(__name__)

_STATUSES = {
    "optimal": (SolverStatus.ok, TerminationCondition.optimal),
    "infeasible": (SolverStatus.warning, TerminationCondition.infeasible),
    "unbounded": (SolverStatus.warning, TerminationCondition.unbounded),
    "time_limit": (SolverStatus.aborted, TerminationCondition.maxTimeLimit),
    "interrupted": (SolverStatus.aborted, TerminationCondition.userInterrupt),
    "error": (SolverStatus.error, TerminationCondition.error),
}
_SOLUTION_STATUSES = {"optimal": PyomoSolutionStatus.optimal, "feasible": PyomoSolutionStatus.feasible}
_FIELDS: dict[str, tuple[str, Callable[[Any], int | float]]] = {
    "time_limit": ("time_limit", float),
    "mip_rel_gap": ("rel_gap", float),
    "mip_abs_gap": ("abs_gap", float),
    "threads": ("threads", int),
    "random_seed": ("seed", int),
}
"""HiGHS options used by Pyomo users: the corresponding setting, and the type of a number given as a string."""
_SUFFIXES = ("dual", "rc")
_IN_PROCESS = (None, "direct", "python")
"""Accepted values of `solver_io`: there is no file between Pyomo and HiGHS here."""


@pyomo.opt.SolverFactory.register("gangopt_highs", doc="HiGHS, in process, through gangopt's compiler")
class PyomoHighs:
    """Solver object created by Pyomo's SolverFactory.

    Parameters
    ----------
    options : mapping of str to object or None, optional
        HiGHS options for every solve of this object; later also `solver.options.threads = 2`.
    solver_io : str or None, optional
        `direct` or `python`; both have no effect.
    """

    name = "gangopt_highs"

    def __init__(
        self, options: Mapping[str, object] | None = None, solver_io: str | None = None, **unknown: object
    ) -> None:
        _refuse_unknown(unknown)
        _check_io(solver_io)
        self.options = Bunch(**(options or {}))

    def __enter__(self) -> PyomoHighs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def available(self, exception_flag: bool = True) -> bool:
        """Return True: HiGHS is installed with gangopt."""
        return True

    def license_is_valid(self) -> bool:
        """Return True: HiGHS requires no licence."""
        return True

    def version(self) -> tuple[int, ...]:
        """Return the version of HiGHS as three numbers."""
        return tuple(int(part) for part in HIGHS_VERSION.split("."))

    def warm_start_capable(self) -> bool:
        """Return True: `warmstart=True` starts from the variables' values."""
        return True

    def solve(
        self,
        model: Any,
        *,
        tee: bool = False,
        timelimit: float | str | None = None,
        load_solutions: bool = True,
        warmstart: bool = False,
        options: Mapping[str, object] | None = None,
        logfile: str | Path | None = None,
        suffixes: Sequence[str] | str = (),
        keepfiles: bool = False,
        symbolic_solver_labels: bool = False,
        report_timing: bool = False,
        solver_io: str | None = None,
        **unknown: object,
    ) -> Any:
        """Solve a linear model; like other Pyomo solvers, return results instead of raising if infeasible.

        Parameters
        ----------
        model : object
            ConcreteModel or Block.
        tee : bool, optional
            Write the log of HiGHS to `sys.stdout`.
        timelimit : float, str or None, optional
            Wall seconds.
        load_solutions : bool, optional
            Write values, duals and reduced costs to the model; otherwise they stay in `results.solution`, to be loaded
            by `model.solutions.load_from(results)` of the ConcreteModel.
        warmstart : bool, optional
            Start from the values that the variables have.
        options : mapping of str to object or None, optional
            HiGHS options for this solve, in addition to those of the object.
        logfile : str, Path or None, optional
            File for the log of HiGHS; it is overwritten.
        suffixes : sequence of str or str, optional
            `dual` and `rc`, or regular expressions, e.g. `.*`; both are imported whenever the model has the Suffix.
        keepfiles, symbolic_solver_labels : bool, optional
            Accepted for compatibility with Pyomo; no files are written.
        report_timing : bool, optional
            Write the seconds of reading, solving and loading to `sys.stdout`.
        solver_io : str or None, optional
            `direct` or `python`; both have no effect.

        Returns
        -------
        pyomo.opt.SolverResults
            Status, termination condition, bounds, and the solution if it was not loaded. The message explains the
            status, and names conflicting components of an infeasible model.

        Raises
        ------
        InputError
            If the model is not linear, or an argument, suffix or option is invalid.
        """
        _refuse_unknown(unknown)
        _check_io(solver_io)
        _check_suffixes([suffixes] if isinstance(suffixes, str) else suffixes)
        chosen = {**self.options, **(options or {})}
        if timelimit is not None:
            chosen["time_limit"] = timelimit
        began = time.perf_counter()
        arrays = compile_model(model)
        if not load_solutions and not hasattr(model.model(), "solutions"):
            raise InputError(f"load_solutions=False requires a ConcreteModel above {model.name} to keep the solution")
        start = current_values(arrays) if warmstart else None
        read = time.perf_counter()
        with _log_to(tee, logfile) as log:
            outcome = solve_arrays(arrays, _settings(chosen, log), start)
        solved = time.perf_counter()
        results = _results(arrays, outcome)
        if outcome.values is None:
            _log.warning("gangopt_highs: %s", results.solver.message or f"no solution to load ({outcome.termination})")
        elif load_solutions:
            load_values(arrays, outcome.values)
            _load_suffixes(model, arrays, outcome)
        else:
            _keep_solution(model, arrays, outcome, results)
        if report_timing:
            _report((read - began, "read the model"), (solved - read, "solve"), (time.perf_counter() - solved, "load"))
        return results


def _refuse_unknown(arguments: Mapping[str, object]) -> None:
    for name, given in arguments.items():
        if given is not None:
            raise InputError(f"gangopt_highs has no argument {name}={given!r}")


def _check_io(solver_io: str | None) -> None:
    if solver_io not in _IN_PROCESS:
        raise InputError(f"solver_io must be 'direct' or 'python': gangopt_highs writes no files (got {solver_io!r})")


def _check_suffixes(patterns: Sequence[str]) -> None:
    for pattern in patterns:
        try:
            known = any(re.match(pattern, name) for name in _SUFFIXES)
        except (re.error, TypeError) as error:
            raise InputError(f"the suffix {pattern!r} is not a regular expression: {error}") from error
        if not known:
            raise InputError(f"gangopt_highs cannot import the suffix {pattern!r}; known: dual, rc")


def _settings(options: Mapping[str, object], log: Callable[[str], None] | None) -> SolveSettings:
    fields: dict[str, Any] = {}
    for name, (field, number) in _FIELDS.items():
        if name in options:
            fields[field] = _number(name, options[name], number) if isinstance(options[name], str) else options[name]
    rest = {name: value for name, value in options.items() if name not in _FIELDS}
    return SolveSettings(**fields, options=rest, log=log)


def _number(name: str, text: Any, number: Callable[[Any], int | float]) -> int | float:
    try:
        return number(text)
    except ValueError as error:
        kind = "an integer" if number is int else "a number"
        raise InputError(f"the option {name} must be {kind} (got {text!r})") from error


@contextmanager
def _log_to(tee: bool, logfile: str | Path | None) -> Iterator[Callable[[str], None] | None]:
    """Yield a function that writes a line of the log to its targets, or None without any."""
    if logfile is None:
        yield _to_stdout if tee else None
        return
    try:
        file = Path(logfile).open("w", encoding="utf-8")  # noqa: SIM115 - closed below; only opening is caught here
    except OSError as error:
        raise InputError(f"cannot write logfile {str(logfile)!r}: {error.strerror}") from error

    def write(line: str) -> None:
        file.write(f"{line}\n")
        if tee:
            _to_stdout(line)

    with file:
        yield write


def _to_stdout(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _report(*parts: tuple[float, str]) -> None:
    for seconds, what in parts:
        _to_stdout(f"{seconds:10.2f} seconds to {what}")


def _results(arrays: LinearArrays, outcome: SolverOutcome) -> Any:
    results = SolverResults()
    results.solver.name = PyomoHighs.name
    results.solver.status, results.solver.termination_condition = _STATUSES[outcome.termination]
    results.solver.message = results.solver.termination_message = _message(outcome)
    results.solver.wallclock_time = outcome.seconds
    problem = results.problem
    problem.number_of_objectives = 1
    problem.number_of_constraints = arrays.n_rows
    problem.number_of_variables = arrays.n_columns
    problem.number_of_integer_variables = int(arrays.integer.sum())
    problem.number_of_nonzeros = len(arrays.values)
    worst, best = outcome.objective, outcome.bound
    if arrays.sense == "maximise":
        problem.sense = pyomo.opt.ProblemSense.maximize
        problem.lower_bound, problem.upper_bound = _or_infinite(worst, -1), _or_infinite(best, 1)
    else:
        problem.sense = pyomo.opt.ProblemSense.minimize
        problem.lower_bound, problem.upper_bound = _or_infinite(best, -1), _or_infinite(worst, 1)
    return results


def _message(outcome: SolverOutcome) -> str | None:
    conflict = f"conflicting constraints: {', '.join(outcome.conflict)}" if outcome.conflict else None
    return "; ".join(part for part in (outcome.message, conflict) if part is not None) or None


def _or_infinite(value: float | None, sign: int) -> float:
    return sign * float("inf") if value is None else value


def _suffix(model: Any, name: str) -> Any | None:
    suffix = model.component(name)
    return suffix if suffix is not None and suffix.ctype is Suffix and suffix.import_enabled() else None


def _load_suffixes(model: Any, arrays: LinearArrays, outcome: SolverOutcome) -> None:
    pairs = (("dual", arrays.rows, outcome.row_duals), ("rc", arrays.columns, outcome.reduced_costs))
    for name, components, values in pairs:
        suffix = _suffix(model, name)
        if suffix is None:
            continue
        suffix.clear()
        if values is not None:
            suffix.update(zip(components, values.tolist(), strict=True))


def _keep_solution(model: Any, arrays: LinearArrays, outcome: SolverOutcome, results: Any) -> None:
    """Store the solution in the results, to be loaded by `solutions.load_from` of the model."""
    root = model.model()
    symbols = SymbolMap(NumericLabeler("x"))
    solution = Solution()
    solution.status = _SOLUTION_STATUSES[outcome.solution_status]
    if outcome.objective is not None and outcome.bound is not None:
        solution.gap = abs(outcome.objective - outcome.bound)
    assert outcome.values is not None
    for variable, value in zip(arrays.columns, outcome.values.tolist(), strict=True):
        solution.variable[symbols.getSymbol(variable)] = {"Value": value}
    if outcome.row_duals is not None and _suffix(root, "dual") is not None:
        for row, dual in zip(arrays.rows, outcome.row_duals.tolist(), strict=True):
            solution.constraint[symbols.getSymbol(row)] = {"Dual": dual}
    if outcome.reduced_costs is not None and _suffix(root, "rc") is not None:
        for variable, cost in zip(arrays.columns, outcome.reduced_costs.tolist(), strict=True):
            solution.variable[symbols.getSymbol(variable)]["Rc"] = cost
    results.solution.insert(solution)
    results._smap = symbols
    results._smap_id = id(symbols)
    root.solutions.add_symbol_map(symbols)
