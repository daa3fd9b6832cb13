"""Comparisons as text for a terminal and as a HTML page."""

from __future__ import annotations

import html

from rich.table import Table

from gangopt.decisions import problems
from gangopt.solvers.comparison import Comparison, MethodSummary, Row
from gangopt.solvers.report import format_gap, format_number, render, text_table

__all__ = ["comparison_text", "failure_lines", "html_report"]


def comparison_text(comparison: Comparison) -> str:
    """Return one aligned table a decision, with a summary of each method below it.

    Parameters
    ----------
    comparison : what `compare` returned

    Returns
    -------
    str
        Several lines without a trailing newline.
    """
    parts = []
    for noun in dict.fromkeys(row.problem for row in comparison.rows if row.problem):
        rows = [row for row in comparison.rows if row.problem == noun]
        goal = f"{noun}: {problems[noun].sense} the {problems[noun].objective} (* best method of the instance)"
        summary = _summary_table([item for item in comparison.summary() if item.problem == noun])
        parts += [goal, render(_row_table(noun, rows)), "by method", render(summary)]
    parts += ["\n".join(failure_lines(comparison))] if failure_lines(comparison) else []
    return "\n\n".join(parts)


def failure_lines(comparison: Comparison) -> list[str]:
    """Return one line for every row without a solution, with its reason.

    Parameters
    ----------
    comparison : what `compare` returned

    Returns
    -------
    list of str
    """
    rows = [row for row in comparison.rows if row.reason and row.objective is None]
    return [f"{' '.join(filter(None, (row.instance, row.method)))} {row.status}: {row.reason}" for row in rows]


def _row_table(noun: str, rows: list[Row]) -> Table:
    problem = problems[noun]
    extra = problem.table_metrics
    columns = {
        "instance": "left",
        "method": "left",
        f"objective ({problem.unit})": "right",
        f"bound ({problem.unit})": "right",
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
            format_gap(row.rel_gap),
            "yes" if row.proven else "no",
            *(format_number(row.metrics.get(name)) for name in extra),
            f"{row.seconds:.3f}",
            row.status,
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
        "worst gap %": "right",
        "seconds": "right",
    }
    table = text_table(columns)
    for item in summary:
        table.add_row(
            item.method,
            *(str(value) for value in (item.instances, item.solved, item.proven, item.best)),
            format_gap(item.mean_gap),
            format_gap(item.worst_gap),
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
    comparison : what `compare` returned

    Returns
    -------
    str
        The page.
    """
    from gangopt.solvers.pictures import gap_chart, performance_profile, to_svg

    parts = ["<h1>gangopt: heuristics against proven bounds</h1>"]
    for noun in dict.fromkeys(row.problem for row in comparison.rows if row.problem):
        rows = [row for row in comparison.rows if row.problem == noun]
        parts.append(f"<h2>{html.escape(noun)}: {html.escape(problems[noun].summary)}</h2>")
        one = Comparison(tuple(rows))
        parts += [to_svg(gap_chart(one)), to_svg(performance_profile(one))]
        summary = _summary_table(list(one.summary()))
        parts += [
            _html_table(summary, [False] * len(rows)),
            _html_table(_row_table(noun, rows), [r.best for r in rows]),
        ]
    parts += [f"<p>{html.escape(line)}</p>" for line in failure_lines(comparison)]
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
