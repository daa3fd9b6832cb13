"""The result of an experiment: rows with named columns, and what has to be known to read them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gangopt.base.errors import InputError

__all__ = ["TABLE_SUFFIXES", "ExperimentTable"]

TABLE_SUFFIXES = (".csv", ".json")


@dataclass(frozen=True)
class ExperimentTable:
    """Rows of an experiment.

    Attributes
    ----------
    name : str
        Of the experiment.
    title : str
        What was asked, in one line.
    columns : mapping of str to str
        Unit of each column, by name, in order; empty for text and plain numbers.
    rows : tuple of mapping of str to object
        A value for every column, None where there is none.
    notes : tuple of str
        Model, settings and sources, a line each.
    """

    name: str
    title: str
    columns: Mapping[str, str]
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the table as JSON: `experiment`, `title`, `units`, `rows` and `notes`."""
        return {
            "experiment": self.name,
            "title": self.title,
            "units": dict(self.columns),
            "rows": [{name: row[name] for name in self.columns} for row in self.rows],
            "notes": list(self.notes),
        }

    def text(self) -> str:
        """Return the table as aligned lines, with its notes below it."""
        heads = [f"{name} ({unit})" if unit else name for name, unit in self.columns.items()]
        cells = [[_shown(row[name]) for name in self.columns] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
        left = [all(isinstance(row[name], str) for row in self.rows) for name in self.columns]
        lines = [
            "  ".join(
                f"{cell:<{width}}" if side else f"{cell:>{width}}"
                for cell, width, side in zip(row, widths, left, strict=True)
            ).rstrip()
            for row in [heads, *cells]
        ]
        return "\n".join([self.title, "", *lines, "", *self.notes]).rstrip()

    def write(self, path: Path) -> None:
        """Write the table as CSV or JSON, whole or not at all.

        Parameters
        ----------
        path : Path
            Ends in .csv or .json.

        Raises
        ------
        InputError
            If the suffix is another or the file cannot be written.
        """
        from gangopt.base.jsonfile import write_json, write_text

        if path.suffix.lower() == ".json":
            write_json(path, self.to_json())
        elif path.suffix.lower() == ".csv":
            stream = io.StringIO(newline="")
            writer = csv.DictWriter(stream, list(self.columns), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.to_json()["rows"])
            write_text(path, stream.getvalue())
        else:
            raise InputError(f"{path}: suffix {path.suffix or 'missing'}, allowed: {', '.join(TABLE_SUFFIXES)}")


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return str(value)
