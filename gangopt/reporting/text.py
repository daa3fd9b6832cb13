"""Text for a terminal: number formats, aligned tables, and the lines that `gangopt solve` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len

from gangopt.base.contract import Instance
from gangopt.base.errors import shorten
from gangopt.registry.records import problems
from gangopt.reporting.decision import decision_lines
from gangopt.solvers.core.result import PROVEN_GAP, Result

__all__ = [
    "Table",
    "aligned",
    "column_widths",
    "format_fixed",
    "format_gap",
    "format_number",
    "format_short",
    "render",
    "result_text",
]

WIDEST_CELL = 160
"""Maximum number of characters of a table cell; longer cells lose their middle."""


def format_number(value: float | None, *, digits: int = 6) -> str:
    """Return a number for people: integers in full, other numbers rounded to `digits` significant digits.

    Parameters
    ----------
    value : float or None
        The number.
    digits : int, optional
        Significant digits of numbers with a fractional part; from 10**digits on they have two decimals instead.

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
    if abs(value) < 10**digits:
        return f"{value:,.{digits}g}"
    return f"{value:,.2f}" if abs(value) < 1e12 else f"{value:.{digits}g}"


def format_short(value: float) -> str:
    """Return a number with four significant digits, or as an integer from 10,000 on."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def format_fixed(value: float | None, decimals: int) -> str:
    """Return a number with a fixed number of decimals, `-` for None."""
    return "-" if value is None else f"{value:,.{decimals}f}"


def format_gap(gap: float | None, *, rounding: float = PROVEN_GAP) -> str:
    """Return a relative gap in percent.

    Parameters
    ----------
    gap : float or None
        The gap as a ratio.
    rounding : float, optional
        Gaps up to this ratio count as rounding errors and are shown as 0.000.

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


@dataclass
class Table:
    """Rows of cells under column heads, printed by `render` or put on an HTML page.

    Attributes
    ----------
    columns : mapping of str to str
        Alignment of each column, `left` or `right`, by its head.
    rows : list of tuple of str
        Cells of each row, one for every column.
    sections : set of int
        Indices of the rows that start a new section.
    """

    columns: Mapping[str, str]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    sections: set[int] = field(default_factory=set)

    def add_row(self, *cells: str) -> None:
        """Append a row."""
        self.rows.append(tuple(cell if len(cell) <= WIDEST_CELL else shorten(cell, WIDEST_CELL) for cell in cells))

    def add_section(self) -> None:
        """Start a new section with the next row."""
        self.sections.add(len(self.rows))


def render(table: Table) -> str:
    """Return a table as lines of text, with a rule below the heads and a blank line between sections."""
    rows = [tuple(table.columns), *table.rows]
    widths = column_widths(rows)
    head, *body = aligned(rows, list(table.columns.values()), gap=3, indent=1, widths=widths)
    lines = [head, " " + "─" * (sum(widths) + 3 * (len(widths) - 1))]
    for index, line in enumerate(body):
        lines += ["", line] if index in table.sections else [line]
    return "\n".join(lines)


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the terminal columns that the widest cell of each table column takes."""
    return [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]


def aligned(
    rows: Sequence[Sequence[str]],
    sides: Sequence[str],
    *,
    gap: int = 2,
    indent: int = 0,
    widths: Sequence[int] | None = None,
) -> list[str]:
    """Return rows of cells as lines with aligned columns.

    Parameters
    ----------
    rows : sequence of sequence of str
        Cells of each row, one for every column.
    sides : sequence of str
        Alignment of each column, `left` or `right`.
    gap : int, optional
        Blanks between columns.
    indent : int, optional
        Blanks before the first column.
    widths : sequence of int or None, optional
        Width of each column, None for that of its widest cell; a wider cell pushes the rest of its line to the right.

    Returns
    -------
    list of str
        One line for each row, without trailing blanks.
    """
    places = list(zip(sides, column_widths(rows) if widths is None else widths, strict=True))
    return [
        (
            " " * indent + (" " * gap).join(_padded(cell, *place) for cell, place in zip(row, places, strict=True))
        ).rstrip()
        for row in rows
    ]


def _padded(cell: str, side: str, width: int) -> str:
    blanks = " " * (width - cell_len(cell))
    return cell + blanks if side == "left" else blanks + cell


def result_text(result: Result, instance: Instance | None = None) -> str:
    """Return a result as aligned lines for a terminal.

    Parameters
    ----------
    result : Result
        Result of `solve`.
    instance : Instance or None, optional
        The instance that was solved; if given, the decision is printed too.

    Returns
    -------
    str
        Several lines without a trailing newline.
    """
    problem = problems[result.problem]
    pairs: dict[str, str] = {
        "instance": result.instance,
        "method": result.method + (f" (formulation {result.form})" if result.form else ""),
        "ended": f"{result.termination}, solution {result.solution_status}",
        "objective": _with_unit(result.objective, problem.unit),
        "bound": _with_unit(result.bound, problem.unit),
        "gap": format_gap(result.rel_gap) + (" %" if result.rel_gap is not None else "") + _proof(result),
        "seconds": f"{result.seconds.total:.3f} (build {result.seconds.build:.3f}, solve {result.seconds.solve:.3f})",
        "solver": f"{result.solver} {result.version}",
    }
    if result.reason:
        pairs["reason"] = result.reason
    for name, value in result.metrics.items():
        if isinstance(value, int | float):
            pairs[name] = _with_unit(value, problem.metrics.get(name, ""))
    lines = aligned(list(pairs.items()), ("left", "left")) + _list_metrics(result)
    decision = [] if instance is None else decision_lines(result, instance)
    return "\n".join([*lines, "", *decision] if decision else lines)


def _with_unit(value: float | None, unit: str) -> str:
    return format_number(value) + (f" {unit}" if unit and value is not None else "")


def _proof(result: Result) -> str:
    if result.objective is None:
        return ""
    return ", proven optimal" if result.proven else ", not proven optimal"


def _list_metrics(result: Result) -> list[str]:
    """Return tables of the metrics that are lists of records, e.g. a Pareto frontier."""
    lines = []
    for name, value in result.metrics.items():
        if isinstance(value, list | tuple) and value and all(isinstance(item, Mapping) for item in value):
            table = Table(dict.fromkeys(value[0], "right"))
            for item in value:
                table.add_row(*(_cell(item.get(key)) for key in value[0]))
            lines += ["", name, render(table)]
    return lines


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value) if isinstance(value, int | float) or value is None else str(value)
