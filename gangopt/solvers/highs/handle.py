"""One HiGHS instance with every status checked; the only place that calls its methods."""

from __future__ import annotations

import math
from typing import Any

import highspy
import numpy as np
from highspy import HighsModelStatus, HighsStatus, IisBoundStatus, MatrixFormat, ObjSense

from gangopt.base.errors import SolverError
from gangopt.base.types import Floats
from gangopt.solvers.highs.arrays import LinearArrays
from gangopt.solvers.highs.driver import Monitor, run_in_thread
from gangopt.solvers.highs.library import new_highs, refuse_owned, set_options
from gangopt.solvers.highs.records import SolveSettings
from gangopt.solvers.highs.scaling import largest_terms

__all__ = ["Handle", "cost_scale", "mip_options", "mip_tolerance", "options_for"]

_LEAST_TOLERANCE, _MOST_TOLERANCE = 1e-8, 1e-6
_ROUNDING = 1e-14
"""Rounding error of a solved row relative to its largest term; a tolerance below it prunes true solutions."""
_MIP_COST = 2.0**10
"""Size to which the largest cost of a MIP is raised."""

_IRREDUCIBLE = 6
"""The `iis_strategy` whose conflicts are irreducible for rows; the default finds nothing."""
_CONFLICT_SECONDS = 10.0
_BINDING = {
    int(getattr(IisBoundStatus, name))
    for name in ("kIisBoundStatusLower", "kIisBoundStatusUpper", "kIisBoundStatusBoxed")
}


def cost_scale(arrays: LinearArrays) -> float:
    """Return the power of two that raises the largest cost of a model to 1..2 at least, in a MIP to 1024..2048.

    HiGHS compares objectives with absolute tolerances (1e-6 in branch and bound): with costs near 1e-9 it reports any
    feasible point as optimal. A power of two changes no digit of the costs. `mip_options` explains the larger scale of
    a MIP.

    Parameters
    ----------
    arrays : LinearArrays
        The model.

    Returns
    -------
    float
        1 if the largest absolute cost is that large already, or all are 0.
    """
    largest = float(np.abs(arrays.costs).max(initial=0.0))
    wanted = _MIP_COST if arrays.is_mip else 1.0
    if largest == 0.0 or largest >= wanted:
        return 1.0
    return wanted * 2.0 ** min(1 - math.frexp(largest)[1], 1000)


def mip_tolerance(arrays: LinearArrays) -> float:
    """Return the feasibility tolerance for integers and rows of a MIP inside HiGHS.

    Parameters
    ----------
    arrays : LinearArrays
        The model as HiGHS gets it.

    Returns
    -------
    float
        1e-8 if no row has terms above 1e6; otherwise 1e-14 of the largest term, at most HiGHS's default 1e-6.
    """
    largest = float(largest_terms(arrays).max(initial=0.0))
    return min(max(_ROUNDING * largest, _LEAST_TOLERANCE), _MOST_TOLERANCE)


def mip_options(settings: SolveSettings, arrays: LinearArrays) -> dict[str, object]:
    """Return options that make branch and bound of HiGHS trustworthy, unless the caller sets them.

    With its defaults HiGHS 1.16 reports a wrong optimum for about one in 400 of the small models of this package: a
    restart at the root can lose the optimum, costs near 1 are too small for its absolute tolerances, and at 1e-6 a
    big-M row lets an incumbent be better than any true solution. Tolerances of 1e-9 are even worse, since rounding
    errors then prune the optimum. `tests/benchmarks/test_false_optimum.py` measures the rate.

    Parameters
    ----------
    settings : SolveSettings
        How to solve.
    arrays : LinearArrays
        The model as HiGHS gets it.

    Returns
    -------
    dict
        Values by HiGHS's own option names.
    """
    tolerance = mip_tolerance(arrays)
    guard: dict[str, object] = {
        "mip_allow_restart": False,
        "mip_feasibility_tolerance": tolerance,
        "primal_feasibility_tolerance": tolerance,
    }
    return {name: value for name, value in guard.items() if name not in settings.options}


def options_for(settings: SolveSettings, scale: float = 1.0) -> dict[str, object]:
    """Translate settings to HiGHS options.

    HiGHS measures its relative gap against the objective, gangopt against the bound; `g / (1 + g)` of the first
    implies `g` of the second.

    Parameters
    ----------
    settings : SolveSettings
        How to solve.
    scale : float, optional
        Factor between the model's costs and those given to HiGHS.

    Returns
    -------
    dict
        Values by HiGHS's own option names.
    """
    return {
        "threads": int(settings.threads),
        "random_seed": int(settings.seed),
        "mip_rel_gap": settings.rel_gap / (1.0 + settings.rel_gap),
        "mip_abs_gap": settings.abs_gap * scale,
        **({} if settings.time_limit is None else {"time_limit": float(settings.time_limit)}),
        **settings.options,
    }


class Handle:
    """A silent HiGHS instance that holds one model.

    Parameters
    ----------
    settings : SolveSettings
        How to solve.

    Raises
    ------
    InputError
        If HiGHS does not accept an option.
    """

    def __init__(self, settings: SolveSettings) -> None:
        refuse_owned(settings.options)
        self._settings = settings
        self._highs = new_highs()
        set_options(self._highs, options_for(settings))
        if settings.log is not None or "log_file" in settings.options:
            set_options(self._highs, {"output_flag": True})

    def limit_time(self, settings: SolveSettings) -> None:
        """Take settings that differ from the present ones in the time limit only."""
        self._settings = settings
        if settings.time_limit is None:
            set_options(self._highs, {"time_limit": math.inf})

    def load(self, arrays: LinearArrays, scale: float) -> None:
        """Load a model; the basis of the previous one is kept if the number of columns is the same.

        Parameters
        ----------
        arrays : LinearArrays
            The model, checked.
        scale : float
            Factor for the costs.
        """
        basis = self._highs.getBasis() if self._highs.getNumCol() == arrays.n_columns else None
        maximise = arrays.sense == "maximise"
        status = self._highs.passModel(
            arrays.n_columns,
            arrays.n_rows,
            len(arrays.values),
            int(MatrixFormat.kRowwise),
            int(ObjSense.kMaximize if maximise else ObjSense.kMinimize),
            arrays.offset * scale,
            arrays.costs * scale,
            arrays.lower,
            arrays.upper,
            arrays.row_lower,
            arrays.row_upper,
            arrays.starts,
            arrays.indices,
            arrays.values,
            arrays.integer.astype(np.int32),
        )
        if status == HighsStatus.kError:
            raise SolverError("HiGHS rejected the model without a reason")
        set_options(self._highs, {"mip_abs_gap": self._settings.abs_gap * scale})
        if arrays.is_mip:
            set_options(self._highs, mip_options(self._settings, arrays))
        if basis is not None and basis.valid and not arrays.is_mip:
            self._reuse(basis, arrays.n_rows)

    def _reuse(self, basis: Any, n_rows: int) -> None:
        rows = list(basis.row_status)
        if len(rows) <= n_rows:
            basis.row_status = rows + [highspy.HighsBasisStatus.kBasic] * (n_rows - len(rows))
            self._highs.setBasis(basis)

    def start_from(self, x: Floats) -> None:
        """Pass a full feasible point to start from."""
        solution = highspy.HighsSolution()
        solution.col_value = x.tolist()
        if self._highs.setSolution(solution) == HighsStatus.kError:
            raise SolverError("HiGHS rejected a start of the right length")

    def run(self, monitor: Monitor, *, report: bool = True) -> HighsModelStatus:
        """Solve within the remaining time and return HiGHS's own status."""
        limit = self._settings.time_limit
        if limit is not None:
            set_options(self._highs, {"time_limit": max(0.0, limit - monitor.seconds())})
        monitor.attach(self._highs, report=report)
        run_in_thread(self._highs.run, monitor)
        status: HighsModelStatus = self._highs.getModelStatus()
        return status

    def run_without_presolve(self, monitor: Monitor) -> HighsModelStatus:
        """Solve again from scratch without presolve, whose reductions lose the solution of some models."""
        self._highs.clearSolver()
        set_options(self._highs, {"presolve": "off"})
        status = self.run(monitor)
        set_options(self._highs, {"presolve": "choose"})
        return status

    def clear(self) -> None:
        """Give back the memory of the model."""
        self._highs.clearModel()

    def status_text(self) -> str:
        """Return HiGHS's name of the model status."""
        return str(self._highs.modelStatusToString(self._highs.getModelStatus()))

    def point(self) -> Floats | None:
        """Return the values of the columns if HiGHS holds a feasible point."""
        if self._highs.getInfo().primal_solution_status != highspy.kSolutionStatusFeasible:
            return None
        solution = self._highs.getSolution()
        return np.array(solution.col_value) if solution.value_valid else None

    def duals(self, scale: float) -> tuple[Floats, Floats] | None:
        """Return row duals and reduced costs in the model's own unit if HiGHS has them."""
        solution = self._highs.getSolution()
        if not solution.dual_valid:
            return None
        return np.array(solution.row_dual) / scale, np.array(solution.col_dual) / scale

    def mip_bound(self, scale: float) -> float | None:
        """Return the proven bound of branch and bound in the model's own unit, or None."""
        bound = float(self._highs.getInfo().mip_dual_bound)
        return bound / scale if math.isfinite(bound) else None

    def nodes(self) -> int | None:
        """Return the number of branch-and-bound nodes, None without branch and bound."""
        nodes = int(self._highs.getInfo().mip_node_count)
        return nodes if nodes >= 0 else None

    def conflict(self, arrays: LinearArrays, monitor: Monitor) -> tuple[str, ...]:
        """Return names of conflicting rows and bounded columns, empty if HiGHS finds no conflict.

        Parameters
        ----------
        arrays : LinearArrays
            The model.
        monitor : Monitor
            Monitor of the solve.
        """
        limit = self._settings.time_limit
        seconds = _CONFLICT_SECONDS if limit is None else min(_CONFLICT_SECONDS, limit - monitor.seconds())
        if seconds <= 0 or monitor.stopped.is_set():
            return ()
        set_options(self._highs, {"iis_strategy": _IRREDUCIBLE, "iis_time_limit": seconds})
        status, found = run_in_thread(self._highs.getIis, monitor)
        if status != HighsStatus.kOk or not found.valid_:
            return ()
        rows = tuple(arrays.row_name(row) for row in found.row_index_)
        bounds = zip(found.col_index_, found.col_bound_, strict=True)
        return rows + tuple(arrays.column_name(column) for column, kind in bounds if int(kind) in _BINDING)
