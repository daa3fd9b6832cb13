"""The result of an experiment: a table with named columns and notes on how it was made."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.base.suffixes import check_suffix
from gangopt.reporting import page
from gangopt.reporting.text import Table, aligned, format_short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TABLE_SUFFIXES", "ExperimentTable"]

TABLE_SUFFIXES = (".csv", ".json", ".html")


@dataclass(frozen=True)
class ExperimentTable:
    """Rows of an experiment.

    Attributes
    ----------
    name : str
        Name of the experiment.
    title : str
        The question that the experiment answers, in one line.
    columns : mapping of str to str
        Unit of each column by its name, in display order; empty for text and numbers without a unit.
    rows : tuple of mapping of str to object
        A value for every column, None where it is missing.
    notes : tuple of str
        Model, settings and sources, one line each.
    """

    name: str
    title: str
    columns: Mapping[str, str]
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with `experiment`, `title`, `units`, `rows` and `notes`."""
        return {
            "experiment": self.name,
            "title": self.title,
            "units": dict(self.columns),
            "rows": [{name: row[name] for name in self.columns} for row in self.rows],
            "notes": list(self.notes),
        }

    def table(self) -> Table:
        """Return the rows as cells of text, the units in the heads."""
        table = Table(
            {
                f"{name} ({unit})" if unit else name: "left"
                if all(isinstance(row[name], str) for row in self.rows)
                else "right"
                for name, unit in self.columns.items()
            }
        )
        for row in self.rows:
            table.add_row(*(_shown(row[name]) for name in self.columns))
        return table

    def text(self) -> str:
        """Return the table as aligned lines, with its notes below it."""
        table = self.table()
        lines = aligned([tuple(table.columns), *table.rows], list(table.columns.values()))
        return "\n".join([self.title, "", *lines, "", *self.notes]).rstrip()

    def write(self, path: Path, plot: Callable[[ExperimentTable], Figure] | None = None) -> None:
        """Write the table as CSV, JSON or an HTML page; a write that fails leaves no file behind.

        Parameters
        ----------
        path : Path
            Path with suffix .csv, .json or .html.
        plot : callable or None, optional
            Function that plots the table, for the HTML page.

        Raises
        ------
        InputError
            If the path has another suffix or cannot be written.
        """
        from gangopt.base.jsonfile import write_json, write_text

        suffix = check_suffix(path, TABLE_SUFFIXES)
        if suffix == ".json":
            write_json(path, self.to_json())
        elif suffix == ".csv":
            stream = io.StringIO(newline="")
            writer = csv.DictWriter(stream, list(self.columns), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.to_json()["rows"])
            write_text(path, stream.getvalue())
        else:
            write_text(path, self.html(None if plot is None else plot(self)))

    def html(self, figure: Figure | None = None) -> str:
        """Return a self-contained HTML page of the table, its notes and a plot of it."""
        return page.page(
            f"gangopt experiment {self.name}",
            page.heading(self.title),
            page.table(self.table()),
            *map(page.paragraph, self.notes),
            "" if figure is None else page.figure(figure),
        )


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return format_short(value)
    return str(value)
