"""One solve from start to end: trivial answers, HiGHS, interpretation of its status, and the check of its point."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from highspy import HighsModelStatus as Status

from gangopt.base.types import Floats
from gangopt.solvers.highs.arrays import INFINITE, LinearArrays
from gangopt.solvers.highs.driver import Monitor
from gangopt.solvers.highs.handle import Handle, cost_scale, mip_options, options_for
from gangopt.solvers.highs.library import HIGHS_VERSION
from gangopt.solvers.highs.records import SolutionStatus, SolverOutcome, SolveSettings, Termination
from gangopt.solvers.highs.scaling import DROPPED_BELOW, dropped_note, lost_coefficient, unseen_numbers
from gangopt.solvers.highs.trivial import decide
from gangopt.solvers.highs.verification import fixed_integers, rounded, violation

__all__ = ["Engine"]

_TERMINATIONS: dict[Any, Termination] = {
    Status.kOptimal: "optimal",
    Status.kInfeasible: "infeasible",
    Status.kUnbounded: "unbounded",
    Status.kUnboundedOrInfeasible: "unbounded",
    Status.kTimeLimit: "time_limit",
    Status.kInterrupt: "interrupted",
    Status.kObjectiveBound: "interrupted",
    Status.kObjectiveTarget: "interrupted",
    Status.kIterationLimit: "interrupted",
    Status.kSolutionLimit: "interrupted",
}
"""Terminations by HiGHS status; every other status is an error."""
_OPTION_LIMITS = {
    Status.kObjectiveBound,
    Status.kObjectiveTarget,
    Status.kIterationLimit,
    Status.kSolutionLimit,
}
"""Statuses that only an option of the caller can cause."""
_PRUNING_TOLERANCE = 1e-6
"""HiGHS ignores improvements up to about this size in its scaled costs."""
_RELATIVE_TOLERANCE = 1e-9
_HALF = 0.5
"""Integer objectives of any size are equal if they differ by at most this."""


@dataclass
class _Findings:
    """Results of a solve so far."""

    termination: Termination
    point: Floats | None = None
    bound: float | None = None
    conflict: tuple[str, ...] = ()
    duals: tuple[Floats, Floats] | None = None
    nodes: int | None = None
    notes: tuple[str, ...] = ()
    options: dict[str, object] = field(default_factory=dict)


class Engine:
    """Solves models one after the other with the same settings and the same HiGHS instance.

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
        self._settings = settings
        self._handle = Handle(settings)

    def solve(self, arrays: LinearArrays, tight: LinearArrays, start: Floats | None) -> SolverOutcome:
        """Solve a model.

        Parameters
        ----------
        arrays : LinearArrays
            The model as stated.
        tight : LinearArrays
            The same, tightened, its rows scaled.
        start : ndarray of float or None
            A full point to start from, or None.

        Returns
        -------
        SolverOutcome
            In the model's own sense and unit.
        """
        scale = cost_scale(arrays)
        options = mip_options(self._settings, tight) if arrays.is_mip else {}
        monitor = Monitor(self._settings, arrays.sense == "maximise", scale)
        decision = decide(tight)
        if decision is None:
            findings = self._run(arrays, tight, start, monitor, scale)
        else:
            notes = () if decision.message is None else (decision.message,)
            findings = _Findings(decision.termination, decision.values, conflict=decision.conflict, notes=notes)
            if decision.values is not None:
                findings.bound = arrays.objective(decision.values)
        return self._outcome(arrays, replace(findings, options=options), monitor, scale)

    def limit_time(self, settings: SolveSettings) -> None:
        """Replace the settings by ones that differ only in the time limit."""
        self._settings = settings
        self._handle.limit_time(settings)

    def clear(self) -> None:
        """Release the memory of the model."""
        self._handle.clear()

    def _run(
        self, arrays: LinearArrays, tight: LinearArrays, start: Floats | None, monitor: Monitor, scale: float
    ) -> _Findings:
        self._handle.load(tight, scale)
        lost = lost_coefficient(tight, self._dropped_below()) or unseen_numbers(tight)
        dropped = dropped_note(tight, self._dropped_below())
        monitor.trusted = lost is None
        known, unused = self._offer(start, tight)
        notes = [*([] if dropped is None else [dropped]), *unused]
        status = self._handle.run(monitor)
        if status not in _TERMINATIONS and "presolve" not in self._settings.options:
            notes.append(f"HiGHS ended with {self._handle.status_text()!r} and was rerun without presolve")
            status = self._handle.run_without_presolve(monitor)
        termination = _TERMINATIONS.get(status, "error")
        if termination == "error" or status in _OPTION_LIMITS:
            notes.append(f"HiGHS stopped with the status {self._handle.status_text()!r}")
        findings = _Findings(termination, nodes=self._handle.nodes(), notes=tuple(notes))
        if termination == "unbounded":
            findings = self._feasible_or_not(tight, monitor, findings)
        if findings.termination == "infeasible" and known is not None:
            doubt = "HiGHS reports the model infeasible, but the start satisfies it"
            return replace(findings, termination="error", point=known, notes=(*findings.notes, doubt))
        if findings.termination == "infeasible" and self._settings.explain and lost is None:
            findings.conflict = self._handle.conflict(tight, monitor)
        if findings.termination not in {"infeasible", "unbounded"}:
            self._read_point(arrays, tight, monitor, scale, findings)
        if monitor.interrupted:
            findings.termination = "interrupted"
        return findings if lost is None else _without_claims(findings, lost)

    def _dropped_below(self) -> float:
        chosen = self._settings.options.get("small_matrix_value", DROPPED_BELOW)
        return float(chosen)  # type: ignore[arg-type]

    def _offer(self, start: Floats | None, tight: LinearArrays) -> tuple[Floats | None, list[str]]:
        """Pass a start to HiGHS; return it if it satisfies the model, else the reason why it was ignored."""
        if start is None:
            return None, []
        if not tight.is_mip:
            return None, ["the start was ignored: a linear program has no use for it"]
        point = rounded(tight, start)
        broken = violation(tight, point, start)
        if broken is not None:
            return None, [f"the start was ignored: {broken}"]
        self._handle.start_from(point)
        return point, []

    def _feasible_or_not(self, tight: LinearArrays, monitor: Monitor, findings: _Findings) -> _Findings:
        """Decide between infeasible and unbounded, which HiGHS may leave open, by solving without an objective."""
        phase_one = Handle(replace(self._settings, log=None))
        phase_one.load(replace(tight, costs=np.zeros(tight.n_columns), offset=0.0), 1.0)
        status = phase_one.run(monitor, report=False)
        termination = _TERMINATIONS.get(status, "error")
        if termination == "optimal":
            return replace(findings, termination="unbounded")
        if termination == "infeasible":
            self._handle = phase_one
        return replace(findings, termination=termination)

    def _read_point(
        self, arrays: LinearArrays, tight: LinearArrays, monitor: Monitor, scale: float, findings: _Findings
    ) -> None:
        found = self._handle.point()
        if arrays.is_mip:
            findings.bound = self._handle.mip_bound(scale)
        if found is None:
            return
        point = rounded(tight, found)
        broken = violation(tight, point, found)
        if broken is not None and arrays.is_mip:
            point, broken = self._repaired(tight, point, monitor, scale, broken)
        if broken is not None:
            findings.termination = "error"
            findings.notes += (f"the solution returned by HiGHS was rejected: {broken}",)
            return
        findings.point = point
        if not arrays.is_mip:
            findings.duals = _unscaled(self._handle.duals(scale), tight)
            if findings.termination == "optimal":
                findings.bound = arrays.objective(point)

    def _repaired(
        self, tight: LinearArrays, point: Floats, monitor: Monitor, scale: float, broken: str
    ) -> tuple[Floats, str | None]:
        """Fix the rounded integers and solve again for the continuous columns."""
        if tight.integer.all():
            return point, broken
        rest = fixed_integers(tight, point)
        handle = Handle(replace(self._settings, log=None, options={}))
        handle.load(rest, scale)
        handle.run(monitor, report=False)
        again = handle.point()
        if again is None:
            return point, broken
        again = rounded(tight, again)
        return again, violation(tight, again)

    def _outcome(self, arrays: LinearArrays, findings: _Findings, monitor: Monitor, scale: float) -> SolverOutcome:
        objective = None if findings.point is None else arrays.objective(findings.point)
        bound, notes = findings.bound, list(findings.notes)
        termination = findings.termination
        status: SolutionStatus = "none"
        if objective is not None:
            bound, status, doubt = self._compare(arrays, objective, bound, scale, termination == "optimal")
            if doubt is not None:
                termination = "error"
                notes.append(doubt)
        if termination == "unbounded" and _huge_bounds(arrays):
            notes.append(f"bounds of magnitude >= {INFINITE:g} count as infinite")
        seconds = monitor.seconds()
        monitor.finish(objective, bound)
        row_duals, reduced_costs = findings.duals or (None, None)
        return SolverOutcome(
            termination=termination,
            solution_status=status,
            objective=objective,
            bound=bound,
            values=findings.point,
            seconds=seconds,
            trajectory=tuple(monitor.trajectory),
            solver="highs",
            version=HIGHS_VERSION,
            options=options_for(self._settings) | findings.options,
            conflict=findings.conflict,
            row_duals=row_duals,
            reduced_costs=reduced_costs,
            nodes=findings.nodes,
            message="; ".join(notes) or None,
        )

    def _compare(
        self, arrays: LinearArrays, objective: float, bound: float | None, scale: float, claimed: bool
    ) -> tuple[float | None, SolutionStatus, str | None]:
        """Return the bound to report, the status that it proves, and a doubt about a claimed optimum or None."""
        if bound is None:
            doubt = "HiGHS reports the solution optimal but gives no bound" if claimed else None
            return None, "feasible", doubt
        tolerance = _PRUNING_TOLERANCE / scale + _RELATIVE_TOLERANCE * abs(objective)
        if tolerance > _HALF and arrays.has_whole_objective:
            tolerance = max(_HALF, 4 * float(np.spacing(abs(objective))))
        distance = bound - objective if arrays.sense == "maximise" else objective - bound
        if distance < -tolerance:
            return None, "feasible", f"HiGHS reports the bound {bound}, beyond the objective {objective}"
        if distance <= tolerance:
            return objective, "optimal", None
        asked = max(self._settings.abs_gap, self._settings.rel_gap * abs(bound)) + tolerance
        if claimed and distance > asked:
            return bound, "feasible", f"HiGHS reports {objective} optimal, but its bound is {bound}"
        return bound, "feasible", None


def _huge_bounds(arrays: LinearArrays) -> bool:
    bounds = np.abs(np.concatenate([arrays.lower, arrays.upper, arrays.row_lower, arrays.row_upper]))
    return bool((np.isfinite(bounds) & (bounds >= INFINITE)).any())


def _unscaled(duals: tuple[Floats, Floats] | None, tight: LinearArrays) -> tuple[Floats, Floats] | None:
    """Return duals of the unscaled rows; reduced costs do not change with the rows."""
    if duals is None or tight.row_factors is None:
        return duals
    return duals[0] * tight.row_factors, duals[1]


def _without_claims(findings: _Findings, lost: str) -> _Findings:
    """Keep the checked point and any external stop, and drop all other claims."""
    claimed = findings.termination in {"optimal", "infeasible", "unbounded"}
    reason = f"{lost} (HiGHS reports the rest of the model {findings.termination})" if claimed else lost
    return _Findings(
        "error" if claimed else findings.termination,
        findings.point,
        nodes=findings.nodes,
        notes=(*findings.notes, reason),
    )
