"""The solver `gangopt_highs` for Pyomo's SolverFactory: the same path, with Pyomo's arguments and results."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import pyomo.opt
from pyomo.core.base import Suffix, SymbolMap
from pyomo.core.base.label import NumericLabeler
from pyomo.opt import SolverResults, SolverStatus, TerminationCondition
from pyomo.opt.results.solution import Solution
from pyomo.opt.results.solution import SolutionStatus as PyomoSolutionStatus

from gangopt.errors import InputError
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
_FIELDS = {
    "time_limit": "time_limit",
    "mip_rel_gap": "rel_gap",
    "mip_abs_gap": "abs_gap",
    "threads": "threads",
    "random_seed": "seed",
}
"""HiGHS options that Pyomo users write, and the setting that each one is."""


@pyomo.opt.SolverFactory.register("gangopt_highs", doc="HiGHS, in process, through gangopt's direct path")
class PyomoHighs:
    """Solver object as Pyomo's SolverFactory makes it.

    Parameters
    ----------
    options : HiGHS options for every solve of this object
    """

    name = "gangopt_highs"

    def __init__(self, options: Mapping[str, object] | None = None, **unknown: object) -> None:
        _refuse_unknown(unknown)
        self.options: dict[str, object] = dict(options or {})

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
        """Return True: HiGHS needs no licence."""
        return True

    def version(self) -> tuple[int, ...]:
        """Return the version of HiGHS as three numbers."""
        return tuple(int(part) for part in HIGHS_VERSION.split("."))

    def warm_start_capable(self) -> bool:
        """Return True: `warmstart=True` starts from the variables' values."""
        return True

    def solve(
        self,
        model: Any,  # noqa: ANN401 - Pyomo is untyped
        *,
        tee: bool = False,
        timelimit: float | None = None,
        load_solutions: bool = True,
        warmstart: bool = False,
        options: Mapping[str, object] | None = None,
        logfile: str | None = None,
        suffixes: Sequence[str] = (),
        keepfiles: bool = False,
        symbolic_solver_labels: bool = False,
        **unknown: object,
    ) -> Any:  # noqa: ANN401
        """Solve a linear model; like Pyomo's other solvers it returns results and does not raise on infeasible.

        Parameters
        ----------
        model : ConcreteModel or Block
        tee : write the log of HiGHS to `sys.stdout`
        timelimit : wall seconds
        load_solutions : write values, duals and reduced costs to the model; else they stay in `results.solution`
        warmstart : start from the values that the variables have
        options : HiGHS options for this solve, beside those of the object
        logfile : file to write the log of HiGHS to
        suffixes : `dual` and `rc`; imported whenever the model has the Suffix, so naming them changes nothing
        keepfiles, symbolic_solver_labels : accepted for Pyomo's sake; no files are written

        Returns
        -------
        pyomo.opt.SolverResults
            Status, termination condition, bounds, and the solution when it was not loaded.

        Raises
        ------
        InputError
            If the model is not linear, or an argument, suffix or option is not acceptable.
        """
        _refuse_unknown(unknown)
        for suffix in suffixes:
            if suffix not in {"dual", "rc"}:
                raise InputError(f"gangopt_highs cannot import the suffix {suffix!r}; it knows dual and rc")
        chosen = {**self.options, **(options or {})}
        if timelimit is not None:
            chosen["time_limit"] = timelimit
        if logfile is not None:
            chosen["log_file"] = str(logfile)
        arrays = compile_model(model)
        start = current_values(arrays) if warmstart else None
        outcome = solve_arrays(arrays, _settings(chosen, tee=tee), start)
        results = _results(arrays, outcome)
        if outcome.values is None:
            _log.warning("gangopt_highs: %s", outcome.message or f"no solution to load ({outcome.termination})")
        elif load_solutions:
            load_values(arrays, outcome.values)
            _load_suffixes(model, arrays, outcome)
        else:
            _keep_solution(model, arrays, outcome, results)
        return results


def _refuse_unknown(arguments: Mapping[str, object]) -> None:
    for name, given in arguments.items():
        raise InputError(f"gangopt_highs does not know the argument {name}={given!r}")


def _settings(options: Mapping[str, object], *, tee: bool) -> SolveSettings:
    fields: dict[str, Any] = {_FIELDS[name]: value for name, value in options.items() if name in _FIELDS}
    rest = {name: value for name, value in options.items() if name not in _FIELDS}
    return SolveSettings(**fields, options=rest, log=_to_stdout if tee else None)


def _to_stdout(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _results(arrays: LinearArrays, outcome: SolverOutcome) -> Any:  # noqa: ANN401
    results = SolverResults()
    results.solver.name = PyomoHighs.name
    results.solver.status, results.solver.termination_condition = _STATUSES[outcome.termination]
    results.solver.message = outcome.message
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


def _or_infinite(value: float | None, sign: int) -> float:
    return sign * float("inf") if value is None else value


def _suffix(model: Any, name: str) -> Any | None:  # noqa: ANN401
    suffix = model.component(name)
    return suffix if suffix is not None and suffix.ctype is Suffix and suffix.import_enabled() else None


def _load_suffixes(model: Any, arrays: LinearArrays, outcome: SolverOutcome) -> None:  # noqa: ANN401
    pairs = (("dual", arrays.rows, outcome.row_duals), ("rc", arrays.columns, outcome.reduced_costs))
    for name, components, values in pairs:
        suffix = _suffix(model, name)
        if suffix is None:
            continue
        suffix.clear()
        if values is not None:
            suffix.update(zip(components, values.tolist(), strict=True))


def _keep_solution(model: Any, arrays: LinearArrays, outcome: SolverOutcome, results: Any) -> None:  # noqa: ANN401
    """Put the solution into the results, from where `model.solutions.load_from(results)` takes it."""
    symbols = SymbolMap(NumericLabeler("x"))
    solution = Solution()
    solution.status = _SOLUTION_STATUSES[outcome.solution_status]
    if outcome.objective is not None and outcome.bound is not None:
        solution.gap = abs(outcome.objective - outcome.bound)
    assert outcome.values is not None
    for variable, value in zip(arrays.columns, outcome.values.tolist(), strict=True):
        solution.variable[symbols.getSymbol(variable)] = {"Value": value}
    if _suffix(model, "dual") is not None and outcome.row_duals is not None:
        for row, dual in zip(arrays.rows, outcome.row_duals.tolist(), strict=True):
            solution.constraint[symbols.getSymbol(row)] = {"Dual": dual}
    results.solution.insert(solution)
    results._smap = symbols
    results._smap_id = id(symbols)
    model.solutions.add_symbol_map(symbols)
