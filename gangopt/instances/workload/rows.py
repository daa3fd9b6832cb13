"""The rows of a log as text, with their lines, and their conversion to numbers, names and times."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.errors import InputError, shorten
from gangopt.base.inputfile import read_file
from gangopt.base.tables import csv_lines
from gangopt.instances.workload.columns import LARGEST, shown
from gangopt.instances.workload.notices import Tally
from gangopt.instances.workload.shown import shown

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MAX_BYTES", "PARQUET", "Rows", "header_of", "read_bytes", "read_rows"]

MAX_BYTES = 2**31
"""Largest log that is read, in bytes."""

PARQUET = b"PAR1"
"""What a parquet file begins with."""

_FIRST = re.compile(rb"[^\n]*[^\s][^\n]*")
_GZIP = b"\x1f\x8b"


def read_bytes(path: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """Return the bytes of a file, unpacked from gzip; text has line feeds as line ends and no byte-order mark.

    Parameters
    ----------
    path : str or path-like
        Str or path.
    limit : int, optional
        Return no more than the first `limit` bytes.

    Raises
    ------
    InputError
        If the file is empty or damaged, larger than 2 GiB packed or unpacked, or as `read_file`.
    """
    name = shorten(os.fspath(path))
    data = read_file(path, MAX_BYTES)
    if data.startswith(_GZIP):
        data = _unpacked(data, name)
    data = data[:limit]
    if not data.strip():
        raise InputError(f"{name}: empty, a log of jobs is needed")
    if data.startswith(PARQUET):
        return data
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


def _unpacked(data: bytes, name: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{name}: gzip file that is damaged or cut off ({error})") from None
    if len(unpacked) > MAX_BYTES:
        raise InputError(f"{name}: more than {MAX_BYTES} bytes unpacked, at most {MAX_BYTES} are read")
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
        The file, as `read_bytes` gives it.
    tally : Tally
        Collects rows with too few or too many fields (`ragged-rows`).
    separator : str, optional
        One character.
    header : sequence of str or None, optional
        Column names of a file without a header line; None if the first line has them.
    quoted : bool or None, optional
        Whether quotes surround fields, or are text as any other; None: only in comma-separated files.

    Raises
    ------
    InputError
        If the text is not UTF-8 or no CSV, a column stands twice, a row is ragged in a strict reading, or there are
        no rows.
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
        if not name or name in names[:index]:
            raise InputError(f"{tally.origin}: column {shown(name)} in the header is empty or stands twice")
    data, lines, ragged = _even_lines(data, separator, len(names), tally)
    skip = 0 if header is not None else 1
    if len(lines) <= skip:
        raise InputError(f"{tally.origin}: a header and no rows" if skip else f"{tally.origin}: no rows")
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
    """Return a CSV with quotes as a table without: one record a line, fields parted by a character of their own."""
    lines = []
    for line, fields in csv_lines(origin, data.decode("utf-8"), separator):
        if any("\n" in field or "\x1f" in field for field in fields):
            raise InputError(f"{origin}: line {line}: fields must not span several lines")
        lines.append("\x1f".join(fields))
    return "\n".join(lines).encode("utf-8")


def _even_lines(data: bytes, separator: str, width: int, tally: Tally) -> tuple[bytes, Any, frozenset[str]]:
    """Return the lines of `width` fields, their numbers, and all fields of the other lines that are not blank."""
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
        message = f"line {first + 1}: {fields[first]} fields, {width} are needed"
        tally.refuse("ragged-rows", len(ragged), message)
    lost = b"\n".join(data[starts[i] : ends[i]] for i in ragged).decode("utf-8")
    good = np.flatnonzero(filled & (fields == width))
    if len(good) < len(ends):
        data = b"".join(data[starts[i] : ends[i]] + b"\n" for i in good)
    others = frozenset(field.strip() for line in lost.splitlines() for field in line.split(separator))
    return data, good.astype(np.int64) + 1, others


class Rows:
    """Rows of a log, which become numbers, names and times column by column.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns of text (null where a field is empty) and `line`, the line or entry in the file from 1.
    tally : Tally
        Collects what is found.
    unit : str, optional
        What messages call a row, `line` or `entry`.
    ragged : frozenset of str, optional
        Every field of the rows that were left out for having too few or too many.
    """

    def __init__(
        self, frame: pl.DataFrame, tally: Tally, unit: str = "line", ragged: frozenset[str] = frozenset()
    ) -> None:
        self.frame = frame
        self.tally = tally
        self.unit = unit
        self.ragged = ragged

    def ignore_others(self, known: Sequence[str]) -> None:
        """Warn of columns that are not known to the format (`ignored-columns`)."""
        others = [name for name in self.frame.columns if name not in {*known, "line"}]
        self.tally.warn("ignored-columns", len(others), f"columns that are not read: {', '.join(map(shown, others))}")

    def refuse(self, name: str, wrong: pl.Series, say: Callable[[dict[str, Any]], str]) -> None:
        """Leave out the rows marked in `wrong`; in a strict reading the first one is an InputError.

        Parameters
        ----------
        name : str
            Name of the defect.
        wrong : pl.Series
            True where a row is defective.
        say : callable
            The defect of a row in words, from its fields by column.
        """
        wrong = wrong.fill_null(value=False)
        count = int(wrong.sum())
        if not count:
            return
        row = self.frame.row(int(wrong.arg_max() or 0), named=True)
        self.tally.refuse(name, count, f"{self.unit} {row['line']}: {say(row)}")
        self.frame = self.frame.filter(~wrong)

    def warn(self, name: str, odd: pl.Series, say: Callable[[dict[str, Any]], str], dropped: bool = False) -> None:
        """Count the rows marked in `odd`, describe the first one, and leave them out where `dropped`."""
        odd = odd.fill_null(value=False)
        count = int(odd.sum())
        if not count:
            return
        row = self.frame.row(int(odd.arg_max() or 0), named=True)
        self.tally.warn(name, count, f"{self.unit} {row['line']}: {say(row)}", dropped)
        if dropped:
            self.frame = self.frame.filter(~odd)

    def names(self, *columns: str, optional: bool = False) -> None:
        """Strip columns of names; an empty field is a defect (`bad-<column>`) unless `optional`."""
        for column in columns:
            text = self._filled(column)
            self._replace(column, text, text, text.is_not_null(), "a name is needed", optional)

    def numbers(
        self,
        *columns: str,
        least: float = 0.0,
        above: float | None = None,
        whole: bool = False,
        optional: bool = False,
    ) -> None:
        """Make columns numbers; another text is a defect (`bad-<column>`), an empty field too unless `optional`.

        Parameters
        ----------
        *columns : str
            Names.
        least, above : float or float or None, optional
            Smallest value, or the value that has to be exceeded.
        whole : bool, optional
            Only whole numbers.
        optional : bool, optional
            An empty field is an unknown value.
        """
        import polars as pl

        low = least if above is None else above
        need = f"{'a whole number' if whole else 'a number'} {'from' if above is None else 'above'} {low:g} is needed"
        for column in columns:
            text = self._filled(column)
            value = text.cast(pl.Float64, strict=False)
            fits = value.is_finite() & (value.abs() <= LARGEST) & (value >= low if above is None else value > low)
            if whole:
                fits &= value == value.round(0)
            self._replace(column, text, value.cast(pl.Int64, strict=False) if whole else value, fits, need, optional)

    def times(self, *columns: str, optional: bool = False) -> None:
        """Make columns of `YYYY-MM-DD HH:MM:SS` seconds since 1970; the text None is an empty field.

        Another text is a defect (`bad-<column>`), an empty field too unless `optional`. No time zone is applied.
        """
        import polars as pl

        for column in columns:
            text = self._filled(column, "None")
            value = text.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False).dt.epoch("s").cast(pl.Float64)
            self._replace(column, text, value, value.is_not_null(), "a time as 2017-10-07 01:11:39 is needed", optional)

    def _filled(self, column: str, empty: str = "") -> pl.Series:
        """Return a column's text without surrounding blanks, null where nothing or the word for nothing is left."""
        text = self.frame[column].str.strip_chars()
        return text.set(text.is_in(["", empty]).fill_null(value=False), None)

    def _replace(
        self, column: str, text: pl.Series, value: pl.Series, fits: pl.Series, need: str, optional: bool
    ) -> None:
        """Refuse the rows whose text does not fit, and put the values of the others in its place."""
        wrong = ~fits.fill_null(value=False)
        if optional:
            wrong &= text.is_not_null()

        def say(row: dict[str, Any]) -> str:
            return f"column {column}: {shown(row[column]) if (row[column] or '').strip() else 'nothing'}, {need}"

        self.refuse(f"bad-{column}", wrong, say)
        self.frame = self.frame.with_columns(value.filter(~wrong).alias(column))
