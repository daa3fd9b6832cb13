"""Rows of a log as text, with their lines, and their conversion to numbers, names and times."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.checks import LARGEST, limits
from gangopt.base.errors import InputError, shorten
from gangopt.base.inputfile import read_file, refuse_pointer
from gangopt.base.tables import csv_lines
from gangopt.instances.workload.notices import Tally
from gangopt.instances.workload.shown import shown

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MAX_BYTES", "PARQUET", "Rows", "header_of", "read_bytes", "read_rows"]

MAX_BYTES = 2**31
"""Limit on the size of a log, in bytes."""

PARQUET = b"PAR1"
"""First bytes of a parquet file."""

_FIRST = re.compile(rb"[^\n]*[^\s][^\n]*")
_GZIP = b"\x1f\x8b"


def read_bytes(path: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """Return the content of a file, unpacked from gzip, without a byte-order mark and with line feeds as line ends.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    limit : int, optional
        Largest number of bytes to return, from the start.

    Raises
    ------
    InputError
        If the file is empty, damaged or larger than 2 GiB (packed or unpacked), or cannot be read; see `read_file`.
    """
    name = shorten(os.fspath(path))
    data = read_file(path, MAX_BYTES)
    if data.startswith(_GZIP):
        data = _unpacked(data, name)
    data = data[:limit]
    if not data.strip():
        raise InputError(f"{name}: empty file; expected a log of jobs")
    if data.startswith(PARQUET):
        return data
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


def _unpacked(data: bytes, name: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{name}: damaged or truncated gzip file ({error})") from None
    if len(unpacked) > MAX_BYTES:
        raise InputError(f"{name}: exceeds the limit of {MAX_BYTES:,} bytes unpacked")
    refuse_pointer(unpacked, name)
    return unpacked


def header_of(data: bytes, separator: str = ",") -> tuple[str, ...]:
    """Return the fields of the first line that is not blank, without surrounding blanks and quotes."""
    line = _FIRST.search(data)
    text = "" if line is None else line.group().decode("utf-8", "replace")
    return tuple(field.strip().strip('"') for field in text.split(separator))


def read_rows(
    data: bytes,
    tally: Tally,
    *,
    separator: str = ",",
    header: Sequence[str] | None = None,
    quoted: bool | None = None,
) -> Rows:
    """Return the rows of a table of separated fields.

    Parameters
    ----------
    data : bytes
        Content of the file from `read_bytes`.
    tally : Tally
        Collects rows with too few or too many fields (`ragged-rows`).
    separator : str, optional
        Separator of fields, one character.
    header : sequence of str or None, optional
        Column names of a file without a header; None if its first line is the header.
    quoted : bool or None, optional
        Whether fields can be quoted; None means only in comma-separated files.

    Raises
    ------
    InputError
        If the text is not UTF-8 or not CSV, a column is unnamed or a duplicate, there are no rows, or a row is ragged
        and the reader is strict.
    """
    import polars as pl

    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{tally.origin}: not UTF-8 text (byte {error.start})") from None
    if (separator == "," if quoted is None else quoted) and b'"' in data:
        data = _unquoted(data, separator, tally.origin)
        separator = "\x1f"
    names = tuple(header) if header is not None else header_of(data, separator)
    for index, name in enumerate(names):
        if not name:
            raise InputError(f"{tally.origin}: unnamed column in the header")
        if name in names[:index]:
            raise InputError(f"{tally.origin}: duplicate column {shown(name)}")
    data, lines, ragged = _even_lines(data, separator, len(names), tally)
    skip = 0 if header is not None else 1
    if len(lines) <= skip:
        raise InputError(f"{tally.origin}: no rows after the header" if skip else f"{tally.origin}: no rows")
    frame = pl.read_csv(
        io.BytesIO(data),
        separator=separator,
        has_header=False,
        new_columns=list(names),
        skip_rows=skip,
        infer_schema=False,
        quote_char=None,
    )
    return Rows(frame.with_columns(pl.Series("line", lines[skip:])), tally, ragged=ragged)


def _unquoted(data: bytes, separator: str, origin: str) -> bytes:
    """Return a quoted CSV as an unquoted table, with one record per line and a separator that no field has."""
    lines = []
    for line, fields in csv_lines(origin, data.decode("utf-8"), separator):
        if any("\n" in field or "\x1f" in field for field in fields):
            raise InputError(f"{origin}: line {line}: fields must not span several lines")
        lines.append("\x1f".join(fields))
    return "\n".join(lines).encode("utf-8")


def _even_lines(data: bytes, separator: str, width: int, tally: Tally) -> tuple[bytes, Any, frozenset[str]]:
    """Return the lines with `width` fields, their numbers, and the fields of the other non-blank lines."""
    raw = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(raw == ord("\n"))
    if not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    starts = np.concatenate(([0], ends[:-1] + 1))
    marks = np.flatnonzero(raw == ord(separator))
    fields = np.searchsorted(marks, ends) - np.searchsorted(marks, starts) + 1
    filled = ends > starts
    ragged = np.flatnonzero(filled & (fields != width))
    if len(ragged):
        first = ragged[0]
        message = f"line {first + 1} must have {width} fields (got {fields[first]})"
        tally.refuse("ragged-rows", len(ragged), message)
    lost = b"\n".join(data[starts[i] : ends[i]] for i in ragged).decode("utf-8")
    good = np.flatnonzero(filled & (fields == width))
    if len(good) < len(ends):
        data = b"".join(data[starts[i] : ends[i]] + b"\n" for i in good)
    others = frozenset(field.strip() for line in lost.splitlines() for field in line.split(separator))
    return data, good.astype(np.int64) + 1, others


class Rows:
    """Rows of a log, with methods that convert columns of text to numbers, names and times.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns of text (null if a field is empty) and `line`, the number of the line or entry in the file, from 1.
    tally : Tally
        Collects findings.
    unit : str, optional
        Word for a row in messages, `line` or `entry`.
    ragged : frozenset of str, optional
        All fields of the rows that were skipped because they have too few or too many fields.
    """

    def __init__(
        self, frame: pl.DataFrame, tally: Tally, unit: str = "line", ragged: frozenset[str] = frozenset()
    ) -> None:
        self.frame = frame
        self.tally = tally
        self.unit = unit
        self.ragged = ragged

    def ignore_others(self, known: Sequence[str]) -> None:
        """Warn about columns unknown to the format (`ignored-columns`)."""
        others = [name for name in self.frame.columns if name not in {*known, "line"}]
        self.tally.warn("ignored-columns", len(others), f"ignored columns: {', '.join(map(shown, others))}")

    def refuse(self, name: str, wrong: pl.Series, say: Callable[[dict[str, Any]], str]) -> None:
        """Skip invalid rows, or raise an InputError about the first one unless the reader is lenient.

        Parameters
        ----------
        name : str
            Name of the defect.
        wrong : pl.Series
            True for invalid rows.
        say : callable
            Describes the defect of a row, given its fields by column.
        """
        wrong = wrong.fill_null(value=False)
        count = int(wrong.sum())
        if not count:
            return
        row = self.frame.row(int(wrong.arg_max() or 0), named=True)
        self.tally.refuse(name, count, f"{self.unit} {row['line']}: {say(row)}")
        self.frame = self.frame.filter(~wrong)

    def warn(self, name: str, odd: pl.Series, say: Callable[[dict[str, Any]], str], dropped: bool = False) -> None:
        """Count the rows marked in `odd`, describe the first one, and skip them if `dropped`."""
        odd = odd.fill_null(value=False)
        count = int(odd.sum())
        if not count:
            return
        row = self.frame.row(int(odd.arg_max() or 0), named=True)
        self.tally.warn(name, count, f"{self.unit} {row['line']}: {say(row)}", dropped)
        if dropped:
            self.frame = self.frame.filter(~odd)

    def names(self, *columns: str, optional: bool = False) -> None:
        """Strip columns of names; empty fields are errors (`bad-<column>`) unless `optional`."""
        for column in columns:
            text = self._filled(column)
            self._replace(column, text, text, text.is_not_null(), "a name", optional)

    def numbers(
        self,
        *columns: str,
        least: float = 0.0,
        above: float | None = None,
        whole: bool = False,
        optional: bool = False,
    ) -> None:
        """Convert columns to numbers; other text is an error (`bad-<column>`), as are empty fields unless `optional`.

        Parameters
        ----------
        *columns : str
            Names of the columns.
        least : float, optional
            Smallest value.
        above : float or None, optional
            Value that must be exceeded, instead of `least`.
        whole : bool, optional
            Whether the numbers must be integers.
        optional : bool, optional
            Whether empty fields are allowed, as unknown values.
        """
        import polars as pl

        low = least if above is None else above
        bounds = limits(low, LARGEST) if above is None else limits(None, LARGEST, above=above)
        wanted = f"{'an integer' if whole else 'a number'}{bounds}"
        for column in columns:
            text = self._filled(column)
            value = text.cast(pl.Float64, strict=False)
            fits = value.is_finite() & (value.abs() <= LARGEST) & (value >= low if above is None else value > low)
            if whole:
                fits &= value == value.round(0)
            self._replace(column, text, value.cast(pl.Int64, strict=False) if whole else value, fits, wanted, optional)

    def times(self, *columns: str, optional: bool = False) -> None:
        """Convert columns of `YYYY-MM-DD HH:MM:SS` to seconds since 1970; the text None is an empty field.

        Other text is an error (`bad-<column>`), as are empty fields unless `optional`. No time zone is applied.
        """
        import polars as pl

        for column in columns:
            text = self._filled(column, "None")
            value = text.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False).dt.epoch("s").cast(pl.Float64)
            self._replace(column, text, value, value.is_not_null(), "a time such as 2017-10-07 01:11:39", optional)

    def _filled(self, column: str, empty: str = "") -> pl.Series:
        """Return the stripped text of a column, null if it is empty or equal to `empty`."""
        text = self.frame[column].str.strip_chars()
        return text.set(text.is_in(["", empty]).fill_null(value=False), None)

    def _replace(
        self, column: str, text: pl.Series, value: pl.Series, fits: pl.Series, wanted: str, optional: bool
    ) -> None:
        """Refuse rows with invalid text, and replace the text by the values in the other rows."""
        wrong = ~fits.fill_null(value=False)
        if optional:
            wrong &= text.is_not_null()

        def say(row: dict[str, Any]) -> str:
            return f"column {column} must be {wanted} (got {shown((row[column] or '').strip())})"

        self.refuse(f"bad-{column}", wrong, say)
        self.frame = self.frame.with_columns(value.filter(~wrong).alias(column))
