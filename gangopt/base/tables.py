"""Strict CSV files: a header of known names, rows of equal length, plain finite numbers."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gangopt.base import checks
from gangopt.base.arguments import number_in
from gangopt.base.errors import InputError, shown
from gangopt.base.jsonfile import read_text

__all__ = ["MAX_ROWS", "Table", "csv_lines", "read_table"]

MAX_ROWS = 5_000_000
"""Largest number of rows of a table."""


@dataclass(frozen=True)
class Table:
    """Rows of a file as text.

    Attributes
    ----------
    origin : str
        Name of the file in messages.
    columns : tuple of str
        Names in the header.
    required : tuple of str
        Names of the required columns, as the header spells them.
    lines : tuple of int
        Line of every row in the file, from 1.
    rows : tuple of tuple of str
        Fields of every row, without surrounding blanks.
    """

    origin: str
    columns: tuple[str, ...]
    required: tuple[str, ...]
    lines: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]

    def texts(self, column: str) -> tuple[str, ...]:
        """Return a column of non-empty text."""
        fields = self._fields(column)
        if "" in fields:
            raise InputError(f"{self.where(fields.index(''), column)} must not be empty")
        return fields

    def numbers(
        self, column: str, low: float | None = None, high: float | None = None, above: float | None = None
    ) -> list[float]:
        """Return a column of numbers within limits; see `checks.number`."""
        found = []
        for row, text in enumerate(self._fields(column)):
            value = number_in(text)
            if (
                value is None
                or (low is not None and value < low)
                or (high is not None and value > high)
                or (above is not None and value <= above)
            ):
                checks.number(self.where(row, column), text, low, high, above=above)
            else:
                found.append(float(value))
        return found

    def integers(self, column: str, low: int, high: int) -> list[int]:
        """Return a column of integers within limits; see `checks.integer`."""
        found = []
        for row, text in enumerate(self._fields(column)):
            value = number_in(text)
            if value is None or not low <= value <= high or value != int(value):
                checks.integer(self.where(row, column), text, low, high)
            else:
                found.append(int(value))
        return found

    def where(self, row: int, column: str) -> str:
        """Return the place of a field for messages: file, line and column."""
        return f"{self.origin}: line {self.lines[row]}, column {column}"

    def _fields(self, column: str) -> tuple[str, ...]:
        place = self.columns.index(column)
        return tuple(row[place] for row in self.rows)


def read_table(path: str | os.PathLike[str], required: Sequence[str | Sequence[str]], others: bool = False) -> Table:
    """Read a CSV file.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    required : sequence of str or of sequence of str
        Required columns in any order, each a name or alternative names of which the header has exactly one.
    others : bool, optional
        Whether further columns are allowed.

    Raises
    ------
    InputError
        If the file cannot be read, is not CSV, has no header or no rows, a column is missing, unknown or a duplicate,
        or a row has too few or too many fields; the message gives the file and the line.
    """
    origin = os.fspath(path)
    lines = []
    for line, record in csv_lines(origin, read_text(path)):
        fields = tuple(field.strip() for field in record)
        if any(fields):
            lines.append((line, fields))
        if len(lines) > MAX_ROWS + 1:
            raise InputError(f"{origin}: more than {MAX_ROWS:,} rows")
    choices = [(names,) if isinstance(names, str) else tuple(names) for names in required]
    wanted = ",".join("|".join(names) for names in choices)
    if not lines:
        raise InputError(f"{origin}: empty file; the header must have {wanted}")
    (_, header), *rows = lines
    found = tuple(_column(origin, header, names, wanted) for names in choices)
    for index, name in enumerate(header):
        if name in header[:index]:
            raise InputError(f"{origin}: duplicate column {shown(name)}")
        if not name or not (others or name in found):
            raise InputError(f"{origin}: unknown column {shown(name)}; the header must have {wanted}")
    if not rows:
        raise InputError(f"{origin}: no rows after the header")
    for line, fields in rows:
        if len(fields) != len(header):
            raise InputError(f"{origin}: line {line} must have {len(header)} fields (got {len(fields)})")
    return Table(origin, header, found, tuple(line for line, _ in rows), tuple(fields for _, fields in rows))


def _column(origin: str, header: tuple[str, ...], names: tuple[str, ...], wanted: str) -> str:
    found = [name for name in names if name in header]
    if not found:
        raise InputError(f"{origin}: missing column {' or '.join(names)}; the header must have {wanted}")
    if len(found) > 1:
        raise InputError(f"{origin}: columns {' and '.join(found)} exclude each other; the header must have {wanted}")
    return found[0]


def csv_lines(origin: str, text: str, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line, from 1, and the fields of every record of a CSV text.

    Parameters
    ----------
    origin : str
        Name of the file in messages.
    text : str
        Content of the file.
    separator : str, optional
        Separator of fields, one character.

    Raises
    ------
    InputError
        If the text is not CSV.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        line = 1
        for fields in reader:
            yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{origin}: line {reader.line_num}: not CSV ({error})") from None
