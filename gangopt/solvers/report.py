"""Results and comparisons as text for a terminal and as a HTML page."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from gangopt.decisions import problems
from gangopt.solvers.comparison import Comparison, MethodSummary, Row
from gangopt.solvers.result import PROVEN_GAP, Result

__all__ = ["comparison_text", "failure_lines", "format_gap", "format_number", "html_report", "result_text"]

TEXT_WIDTH = 400
"""Columns of a text table before anything is cut; nothing is wrapped below it."""


def format_number(value: float | None) -> str:
    """Return a number for people: whole numbers in full, others with seven significant digits.

    Parameters
    ----------
    value : the number, or None

    Returns
    -------
    str
        `-` for None.
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.2f}" if abs(value) < 1e12 else f"{value:.6g}"


def format_gap(gap: float | None) -> str:
    """Return a relative gap in percent.

    Parameters
    ----------
    gap : a ratio, or None

    Returns
    -------
    str
        `-` for None; three decimals, or two significant digits below 0.0005 %; 0.000 up to `PROVEN_GAP`.
    """
    if gap is None:
        return "-"
    if math.isinf(gap):
        return "inf"
    percent = 0.0 if abs(gap) <= PROVEN_GAP else 100 * gap
    if percent != 0 and abs(percent) < 0.0005:
        return f"{percent:.1e}"
    return f"{percent:.3f}" if abs(percent) < 1000 else f"{percent:,.0f}" if abs(percent) < 1e9 else f"{percent:.1e}"


def _render(*tables: Table) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=TEXT_WIDTH, no_color=True, highlight=False, markup=False, emoji=False)
    for table in tables:
        console.print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


def _table(columns: Mapping[str, str]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, side in columns.items():
        table.add_column(name, justify="right" if side == "right" else "left", no_wrap=True)
    return table


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
        parts += [goal, _render(_row_table(noun, rows)), "by method", _render(summary)]
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
    table = _table(columns)
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
    table = _table(columns)
    for item in summary:
        table.add_row(
            item.method,
            *(str(value) for value in (item.instances, item.solved, item.proven, item.best)),
            format_gap(item.mean_gap),
            format_gap(item.worst_gap),
            f"{item.seconds:.3f}",
        )
    return table


def result_text(result: Result) -> str:
    """Return a result as aligned lines for a terminal.

    Parameters
    ----------
    result : what `solve` returned

    Returns
    -------
    str
        Several lines without a trailing newline.
    """
    unit = problems[result.problem].unit
    pairs: dict[str, str] = {
        "instance": result.instance,
        "method": result.method + (f" (form {result.form})" if result.form else ""),
        "ended": f"{result.termination}, solution {result.solution_status}",
        "objective": _with_unit(result.objective, unit),
        "bound": _with_unit(result.bound, unit),
        "gap": format_gap(result.rel_gap) + (" %" if result.rel_gap is not None else "") + _proof(result),
        "seconds": f"{result.seconds.total:.3f} (build {result.seconds.build:.3f}, solve {result.seconds.solve:.3f})",
        "solver": f"{result.solver} {result.version}",
    }
    if result.reason:
        pairs["reason"] = result.reason
    units = problems[result.problem].metrics
    for name, value in result.metrics.items():
        if isinstance(value, int | float):
            pairs[name] = _with_unit(value, units.get(name, ""))
    width = max(map(len, pairs))
    lines = [f"{key:<{width}}  {value}" for key, value in pairs.items()]
    return "\n".join(lines + _list_metrics(result))


def _with_unit(value: float | None, unit: str) -> str:
    return format_number(value) + (f" {unit}" if unit and value is not None else "")


def _proof(result: Result) -> str:
    if result.objective is None:
        return ""
    return ", proven optimal" if result.proven else ", not proven optimal"


def _list_metrics(result: Result) -> list[str]:
    """Return tables of metrics that are lists of records, as a Pareto frontier is."""
    lines = []
    for name, value in result.metrics.items():
        if isinstance(value, list | tuple) and value and all(isinstance(item, Mapping) for item in value):
            table = _table(dict.fromkeys(value[0], "right"))
            for item in value:
                table.add_row(*(_cell(item.get(key)) for key in value[0]))
            lines += ["", name, _render(table)]
    return lines


def _cell(value: Any) -> str:  # noqa: ANN401 - a metric's cell is any JSON scalar
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value) if isinstance(value, int | float) or value is None else str(value)


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
