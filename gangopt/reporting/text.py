"""Results as text for a terminal, and the text tables and number formats that comparisons use too."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from gangopt.base.contract import Instance
from gangopt.registry.records import problems
from gangopt.reporting.decision import decision_lines
from gangopt.solvers.core.result import PROVEN_GAP, Result

__all__ = ["format_gap", "format_number", "render", "result_text", "text_table"]

TEXT_WIDTH = 400
"""Columns of a text table before anything is cut; nothing is wrapped below it."""


def format_number(value: float | None) -> str:
    """Return a number for people: whole numbers in full, others with seven significant digits.

    Parameters
    ----------
    value : float or None
        The number, or None.

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


def format_gap(gap: float | None, *, rounding: float = PROVEN_GAP) -> str:
    """Return a relative gap in percent.

    Parameters
    ----------
    gap : float or None
        A ratio, or None.
    rounding : float, optional
        Ratio up to which a gap is rounding error and shown as 0.000.

    Returns
    -------
    str
        `-` for None; three decimals, or two significant digits below 0.0005 %.
    """
    if gap is None:
        return "-"
    if math.isinf(gap):
        return "inf"
    percent = 0.0 if abs(gap) <= rounding else 100 * gap
    if percent != 0 and abs(percent) < 0.0005:
        return f"{percent:.1e}"
    return f"{percent:.3f}" if abs(percent) < 1000 else f"{percent:,.0f}" if abs(percent) < 1e9 else f"{percent:.1e}"


def render(*tables: Table) -> str:
    """Return tables as lines of text, nothing wrapped up to `TEXT_WIDTH` columns."""
    stream = io.StringIO()
    console = Console(file=stream, width=TEXT_WIDTH, no_color=True, highlight=False, markup=False, emoji=False)
    for table in tables:
        console.print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


def text_table(columns: Mapping[str, str]) -> Table:
    """Return an empty table with the given column heads, each aligned `left` or `right`."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, side in columns.items():
        table.add_column(name, justify="right" if side == "right" else "left", no_wrap=True)
    return table


def result_text(result: Result, instance: Instance | None = None) -> str:
    """Return a result as aligned lines for a terminal.

    Parameters
    ----------
    result : Result
        What `solve` returned.
    instance : Instance or None, optional
        The instance that it is of, to print the decision itself as well.

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
    lines += _list_metrics(result)
    decision = [] if instance is None else decision_lines(result, instance)
    return "\n".join([*lines, "", *decision] if decision else lines)


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
            table = text_table(dict.fromkeys(value[0], "right"))
            for item in value:
                table.add_row(*(_cell(item.get(key)) for key in value[0]))
            lines += ["", name, render(table)]
    return lines


def _cell(value: Any) -> str:  # noqa: ANN401 - a metric's cell is any JSON scalar
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value) if isinstance(value, int | float) or value is None else str(value)
