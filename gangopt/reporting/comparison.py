"""Comparisons as text for a terminal and as a HTML page."""

from __future__ import annotations

import html

from rich.table import Table

from gangopt.registry.records import problems
from gangopt.reporting.text import format_gap, format_number, render, text_table
from gangopt.solvers.compare.comparison import Comparison, MethodSummary
from gangopt.solvers.core.row import Row

__all__ = ["comparison_text", "html_report", "remark_lines", "row_remark"]

MOST_REMARKS = 20
"""Remarks that the text of a comparison shows; its file has them all."""


def comparison_text(comparison: Comparison) -> str:
    """Return one aligned table a decision, with a summary of each method below it, and remarks on rows that need one.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.

    Returns
    -------
    str
        Several lines without a trailing newline.
    """
    parts = _partial_lines(comparison)
    for noun in dict.fromkeys(row.problem for row in comparison.rows if row.problem):
        rows = [row for row in comparison.rows if row.problem == noun]
        summary = _summary_table([item for item in comparison.summary() if item.problem == noun])
        parts += [_goal(noun), render(_row_table(noun, rows)), "by method", render(summary)]
    remarks = remark_lines(comparison)
    if len(remarks) > MOST_REMARKS:
        more = len(remarks) - MOST_REMARKS
        remarks[MOST_REMARKS:] = [f"and {more} more remarks; a saved comparison has them as `reason`"]
    parts += ["\n".join(remarks)] if remarks else []
    return "\n\n".join(parts)


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
    """Return the reason of a row in one line, behind its instance, method and status."""
    return f"{' '.join(filter(None, (row.instance, row.method)))} {_status(row)}: {row.reason}"


def remark_lines(comparison: Comparison) -> list[str]:
    """Return one line for every row with a reason: why there is no solution, or why it stopped early.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.

    Returns
    -------
    list of str
        Without those of instances that Ctrl-C left, which are counted above the tables.
    """
    return [row_remark(row) for row in comparison.rows if row.reason and not _not_finished(row)]


def _status(row: Row) -> str:
    """Return the status, with why the method stopped where that says more."""
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
    table = text_table(columns)
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
            f"{row.seconds:.3f}",
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
    table = text_table(columns)
    for item in summary:
        table.add_row(
            item.method,
            *(str(value) for value in (item.instances, item.solved, item.proven, item.best)),
            *(format_gap(gap, rounding=0.0) for gap in (item.mean_gap, item.median_gap, item.worst_gap)),
            str(item.infinite_gaps),
            f"{item.seconds:.3f}",
        )
    return table


STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:76em;margin:2em auto;padding:0 1em;color:#1c2430}
table{border-collapse:collapse;margin:0 0 2em}th,td{padding:.25em .8em;border-bottom:1px solid #d8dee6;text-align:right}
th:nth-child(-n+2),td:nth-child(-n+2){text-align:left}tr.best td{font-weight:600}svg{max-width:100%;height:auto}"""


def html_report(comparison: Comparison) -> str:
    """Return a self-contained HTML page: pictures, summaries and all rows.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.

    Returns
    -------
    str
        The page.
    """
    from gangopt.reporting.gap_plots import gap_chart, performance_profile, to_svg

    parts = ["<h1>gangopt: heuristics against proven bounds</h1>"]
    parts += [f"<p><strong>{html.escape(line)}</strong></p>" for line in _partial_lines(comparison)]
    for noun in dict.fromkeys(row.problem for row in comparison.rows if row.problem):
        rows = [row for row in comparison.rows if row.problem == noun]
        parts.append(f"<h2>{html.escape(noun)}: {html.escape(problems[noun].summary)}</h2>")
        one = Comparison(tuple(rows))
        parts += [to_svg(gap_chart(one)), to_svg(performance_profile(one))]
        summary = _summary_table(list(one.summary()))
        parts += [
            _html_table(summary, [False] * len(summary.rows)),
            _html_table(_row_table(noun, rows), [r.best for r in rows]),
        ]
    parts += [f"<p>{html.escape(line)}</p>" for line in remark_lines(comparison)]
    head = f"<meta charset='utf-8'><title>gangopt comparison</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>\n"


def _html_table(table: Table, best: list[bool]) -> str:
    columns = [list(column.cells) for column in table.columns]
    head = "".join(f"<th>{html.escape(str(column.header))}</th>" for column in table.columns)
    body = "".join(
        f"<tr{' class=best' if mark else ''}>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in cells)}</tr>"
        for cells, mark in zip(zip(*columns, strict=True), best, strict=False)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
