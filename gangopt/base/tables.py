"""Strict CSV files: a header of known names, as many fields in every row, plain finite numbers."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gangopt.base.errors import InputError
from gangopt.base.jsonfile import read_text

__all__ = ["Table", "read_table"]

MAX_ROWS = 5_000_000

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)


@dataclass(frozen=True)
class Table:
    """Rows of a file as text.

    Attributes
    ----------
    origin : str
        What messages call the file.
    columns : tuple of str
        Names in the header.
    lines : tuple of int
        Line of every row in the file, from 1.
    rows : tuple of tuple of str
        Fields of every row, without surrounding blanks.
    """

    origin: str
    columns: tuple[str, ...]
    lines: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]

    def texts(self, column: str) -> tuple[str, ...]:
        """Return a column; an empty field is an InputError."""
        place = self.columns.index(column)
        for line, row in zip(self.lines, self.rows, strict=True):
            if not row[place]:
                raise InputError(f"{self.origin}: line {line}, column {column}: nothing, a name is needed")
        return tuple(row[place] for row in self.rows)

    def numbers(self, column: str, least: float, largest: float) -> list[float]:
        """Return a column as numbers from `least` to `largest`; anything else is an InputError."""
        place = self.columns.index(column)
        found = []
        for line, row in zip(self.lines, self.rows, strict=True):
            text = row[place]
            where = f"{self.origin}: line {line}, column {column}"
            if not _NUMBER.fullmatch(text):
                raise InputError(f"{where}: {_shown(text)} is not a number")
            number = float(text)
            if not least <= number <= largest:
                raise InputError(f"{where}: {_shown(text)}, a number from {least:g} to {largest:g} is needed")
            found.append(number)
        return found


def read_table(path: str | os.PathLike[str], required: Sequence[str], others: bool = False) -> Table:
    """Read a CSV file.

    Parameters
    ----------
    path : str or path-like
        The file.
    required : sequence of str
        Columns that have to be there, in any order.
    others : bool, optional
        Whether further columns are allowed.

    Raises
    ------
    InputError
        If the file cannot be read, is no CSV, has no header or no rows, a column is missing, unknown or there
        twice, or a row has too few or too many fields; one line that names the file and the line.
    """
    origin = os.fspath(path)
    lines = _lines(origin, read_text(path))
    wanted = ",".join(required)
    if not lines:
        raise InputError(f"{origin}: empty, a header line is needed: {wanted}")
    header = lines[0][1]
    for name in required:
        if name not in header:
            raise InputError(f"{origin}: column {name} is missing; the header has to have {wanted}")
    for index, name in enumerate(header):
        if name in header[:index]:
            raise InputError(f"{origin}: column {_shown(name)} stands twice")
        if not name or (not others and name not in required):
            raise InputError(f"{origin}: column {_shown(name)} is not known; allowed: {wanted}")
    if len(lines) == 1:
        raise InputError(f"{origin}: a header and no rows")
    for line, fields in lines[1:]:
        if len(fields) != len(header):
            raise InputError(f"{origin}: line {line}: {len(fields)} fields, the header has {len(header)}")
    return Table(origin, header, tuple(line for line, _ in lines[1:]), tuple(fields for _, fields in lines[1:]))


def _lines(origin: str, text: str) -> list[tuple[int, tuple[str, ...]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines = []
    try:
        for fields in reader:
            stripped = tuple(field.strip() for field in fields)
            if any(stripped):
                lines.append((reader.line_num, stripped))
            if len(lines) > MAX_ROWS + 1:
                raise InputError(f"{origin}: more than {MAX_ROWS:,} rows")
    except csv.Error as error:
        raise InputError(f"{origin}: line {reader.line_num}: not CSV ({error})") from None
    return lines


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
