"""Rows of one instance from the results of all methods: the bound and gap of each, and the best ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gangopt.base.contract import Instance, Score
from gangopt.registry.problem import AnyProblem, resolve
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.core.result import Result, is_contradicted, is_proven, proof_gap, relative_gap
from gangopt.solvers.core.row import Row

__all__ = ["error_line", "scored_rows"]


def error_line(error: BaseException) -> str:
    """Return an unexpected error in one line: its type and the first line of its message."""
    text = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {text}".rstrip(": ")


def scored_rows(
    problem: AnyProblem, instance: Instance, results: Sequence[Result | Row], controls: Controls
) -> tuple[Row, ...]:
    """Compare the results on one instance with the best bound that any of them proved, and mark the best.

    Parameters
    ----------
    problem : AnyProblem
        The problem.
    instance : Instance
        The instance.
    results : sequence of Result or Row
        One per method, in order; rows of methods that failed are kept unchanged.
    controls : Controls
        Settings for bounds computed for single rows.

    Returns
    -------
    tuple of Row
        One for every result.
    """
    proven = [item for item in results if isinstance(item, Result) and item.bound is not None]
    shared = _tightest(problem, [item.bound for item in proven])
    scores = [(_score(item), item.bound) for item in proven if item.objective is not None and item.bound is not None]
    rows = []
    for item in results:
        if isinstance(item, Row):
            rows.append(item)
        elif problem.row_bound is None:
            rows.append(_row(problem, item, shared))
        else:
            rows.append(_row_with_own_bound(problem, instance, item, scores, controls))
    return _mark_best(problem, rows)


def _score(result: Result) -> Score:
    return Score(math.nan if result.objective is None else result.objective, result.metrics)


def _tightest(problem: AnyProblem, bounds: Iterable[float | None]) -> float | None:
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return None
    return max(known) if problem.sense == "minimise" else min(known)


def _row_with_own_bound(
    problem: AnyProblem, instance: Instance, result: Result, proven: list[tuple[Score, float]], controls: Controls
) -> Row:
    if result.objective is None or problem.row_bound is None:
        return _row(problem, result, result.bound)
    try:
        found = resolve(problem.row_bound)(instance, _score(result), controls, proven)
    except Exception as error:  # a bound that cannot be computed must not cost the solution that it is for
        row = _row(problem, result, result.bound)
        return replace(row, reason=f"no bound was computed for this row ({error_line(error)})")
    row = _row(problem, result, _tightest(problem, [found, result.bound]))
    metric = problem.bound_metric
    scope = "" if metric is None or row.best_bound is None else f"{metric} <= {result.metrics[metric]:.15g}"
    return replace(row, bound_scope=scope)


def _row(problem: AnyProblem, result: Result, bound: float | None) -> Row:
    own = {key: value for key, value in result.metrics.items() if isinstance(value, int | float)}
    row = Row(
        instance=result.instance,
        problem=problem.noun,
        method=result.method,
        objective=result.objective,
        best_bound=bound,
        rel_gap=relative_gap(result.objective, bound, problem.sense),
        proven=is_proven(result.objective, bound, problem.sense, whole=problem.whole),
        seconds=result.seconds.total,
        status=_status(result),
        unit=problem.unit,
        reason=result.reason,
        termination=result.termination,
        metrics=own,
    )
    if not is_contradicted(result.objective, bound, problem.sense, whole=problem.whole):
        return row
    return replace(
        row, status="failed", reason=f"objective better than the proven bound {bound:.15g}: one of them is wrong"
    )


def _status(result: Result) -> str:
    if result.termination == "interrupted":
        return "interrupted"
    if result.solution_status != "none":
        return result.solution_status
    return "none" if result.termination == "completed" else result.termination


def _mark_best(problem: AnyProblem, rows: list[Row]) -> tuple[Row, ...]:
    """Mark the rows that no other beats; with a bound metric, only rows with at most as much of it can beat a row.

    So a row whose bound proves its objective is always marked.
    """
    solved = [row for row in rows if row.objective is not None]
    return tuple(
        replace(
            row,
            best=row.objective is not None
            and math.isfinite(row.objective)
            and not any(_beats(problem, other, row) for other in solved),
        )
        for row in rows
    )


def _beats(problem: AnyProblem, other: Row, row: Row) -> bool:
    metric = problem.bound_metric
    if metric is not None and other.metrics[metric] > row.metrics[metric]:
        return False
    left, right = float(other.objective or 0.0), float(row.objective or 0.0)
    better = right - left if problem.sense == "minimise" else left - right
    return better > proof_gap(whole=problem.whole) * max(abs(left), abs(right))
