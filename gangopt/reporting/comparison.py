"""Comparisons as text for a terminal and as an HTML page."""

from __future__ import annotations

from gangopt.registry.records import problems
from gangopt.reporting import page
from gangopt.reporting.text import Table, format_fixed, format_gap, format_number, render
from gangopt.solvers.compare.comparison import Comparison, MethodSummary
from gangopt.solvers.core.row import Row

__all__ = ["comparison_text", "html_report", "remark_lines", "row_remark"]

MOST_REMARKS = 20
"""Maximum number of remarks in the text of a comparison; saved comparisons have all of them."""


def comparison_text(comparison: Comparison) -> str:
    """Return a table for each problem with a summary of its methods, followed by remarks on single rows.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.

    Returns
    -------
    str
        Several lines without a trailing newline.
    """
    parts = _partial_lines(comparison)
    for noun in _nouns(comparison):
        rows = [row for row in comparison.rows if row.problem == noun]
        summary = _summary_table([item for item in comparison.summary() if item.problem == noun])
        parts += [_goal(noun), render(_row_table(noun, rows)), "by method", render(summary)]
    remarks = remark_lines(comparison)
    if len(remarks) > MOST_REMARKS:
        more = len(remarks) - MOST_REMARKS
        remarks[MOST_REMARKS:] = [f"and {more} more remarks; a saved comparison has them as `reason`"]
    parts += ["\n".join(remarks)] if remarks else []
    return "\n\n".join(parts)


def _nouns(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(row.problem for row in comparison.rows if row.problem))


def _goal(noun: str) -> str:
    problem = problems[noun]
    metric = problem.bound_metric
    star = f"best method of the instance with no more {metric}" if metric else "best method of the instance"
    return f"{noun}: {problem.sense} the {problem.objective} (* {star})"


def _partial_lines(comparison: Comparison) -> list[str]:
    if not comparison.interrupted:
        return []
    left = sum(_not_finished(row) for row in comparison.rows)
    return [f"PARTIAL: interrupted by Ctrl-C, {left} of the instances not finished"]


def _not_finished(row: Row) -> bool:
    return row.status == "interrupted" and not row.problem


def row_remark(row: Row) -> str:
    """Return one line with the instance, method, status and reason of a row."""
    return f"{' '.join(filter(None, (row.instance, row.method)))} {_status(row)}: {row.reason}"


def remark_lines(comparison: Comparison) -> list[str]:
    """Return one line for each row that has no solution or stopped early, with the reason.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.

    Returns
    -------
    list of str
        Instances that Ctrl-C left unfinished are not among them; they are counted above the tables.
    """
    return [row_remark(row) for row in comparison.rows if row.reason and not _not_finished(row)]


def _status(row: Row) -> str:
    """Return the status, with the termination where it adds information."""
    if row.termination in {"", "optimal", "completed", row.status} or row.status == "failed":
        return row.status
    return f"{row.status} ({row.termination})"


def _gap(row: Row) -> str:
    return format_gap(0.0 if row.proven else row.rel_gap, rounding=0.0)


def _row_table(noun: str, rows: list[Row]) -> Table:
    problem = problems[noun]
    extra = problem.table_metrics
    columns = {
        "instance": "left",
        "method": "left",
        f"objective ({problem.unit})": "right",
        f"bound ({problem.unit})": "right",
        **({"bound for": "left"} if problem.bound_metric else {}),
        "gap %": "right",
        "proven": "left",
        **dict.fromkeys(extra, "right"),
        "seconds": "right",
        "status": "left",
    }
    table = Table(columns)
    shown = None
    for row in rows:
        if shown is not None and row.instance != shown:
            table.add_section()
        table.add_row(
            "" if row.instance == shown else row.instance,
            row.method + (" *" if row.best else ""),
            format_number(row.objective),
            format_number(row.best_bound),
            *([row.bound_scope] if problem.bound_metric else []),
            _gap(row),
            "yes" if row.proven else "no",
            *(format_number(row.metrics.get(name)) for name in extra),
            format_fixed(row.seconds, 3),
            _status(row),
        )
        shown = row.instance
    return table


def _summary_table(summary: list[MethodSummary]) -> Table:
    columns = {
        "method": "left",
        "instances": "right",
        "solved": "right",
        "proven": "right",
        "best": "right",
        "mean gap %": "right",
        "median gap %": "right",
        "worst gap %": "right",
        "infinite": "right",
        "seconds": "right",
    }
    table = Table(columns)
    for item in summary:
        table.add_row(
            item.method,
            *(str(value) for value in (item.instances, item.solved, item.proven, item.best)),
            *(format_gap(gap, rounding=0.0) for gap in (item.mean_gap, item.median_gap, item.worst_gap)),
            str(item.infinite_gaps),
            format_fixed(item.seconds, 3),
        )
    return table


def html_report(comparison: Comparison) -> str:
    """Return a self-contained HTML page of plots, summaries and all rows.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.

    Returns
    -------
    str
        The page.
    """
    from gangopt.reporting.gap_plots import gap_chart, performance_profile

    parts = [page.heading("gangopt: heuristics against proven bounds")]
    parts += [page.paragraph(line, strong=True) for line in _partial_lines(comparison)]
    for noun in _nouns(comparison):
        one = Comparison(tuple(row for row in comparison.rows if row.problem == noun))
        best = {index for index, row in enumerate(one.rows) if row.best}
        parts += [
            page.heading(f"{noun}: {problems[noun].summary}", 2),
            page.figure(gap_chart(one)),
            page.figure(performance_profile(one)),
            page.table(_summary_table(list(one.summary()))),
            page.table(_row_table(noun, list(one.rows)), best),
        ]
    parts += [page.paragraph(line) for line in remark_lines(comparison)]
    return page.page("gangopt comparison", *parts)
