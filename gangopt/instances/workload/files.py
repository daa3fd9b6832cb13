"""Workloads in gangopt's own parquet, CSV and JSON files."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.base.errors import InputError
from gangopt.base.jsonfile import parse_json, write_bytes, write_json
from gangopt.instances.workload.columns import COLUMNS
from gangopt.instances.workload.reading import (
    Draft,
    Format,
    Source,
    finish,
)
from gangopt.instances.workload.rows import PARQUET, Rows, header_of, read_rows
from gangopt.instances.workload.shown import shown

if TYPE_CHECKING:
    from gangopt.instances.workload.workload import Workload

__all__ = [
    "ENDINGS",
    "NATIVE",
    "REQUIRED",
    "document_of",
    "headers_of",
    "is_native",
    "missing_column",
    "read_native",
    "save_workload",
]

REQUIRED = tuple(name for name, column in COLUMNS.items() if column.required)
"""Required columns of a workload."""

SEPARATORS = (",", ";", "\t")
"""Separators that are recognised in text files; files are written with commas."""

ENDINGS = (".parquet", ".csv", ".json")
"""Suffixes that `save_workload` supports."""

NATIVE = "gangopt"
"""Name of the own format."""

VERSION = 1
_KIND = "gangopt-workload"
_NOTES = ("name", "description", "source")


def save_workload(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload in the format given by the suffix of the path, without empty columns.

    Parquet and JSON also keep name, description and source; notices are not written.

    Raises
    ------
    InputError
        If the suffix is not .parquet, .csv or .json, or the file cannot be written.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{file}: suffix {file.suffix or 'missing'}, allowed: {', '.join(ENDINGS)}")
    if ending == ".json":
        write_json(file, document_of(workload))
        return
    stream = io.BytesIO()
    frame = workload.frame.select(_used(workload))
    if ending == ".csv":
        frame.write_csv(stream)
    else:
        frame.write_parquet(stream, metadata={_KIND: json.dumps({"version": VERSION, **_notes(workload)})})
    write_bytes(file, stream.getvalue())


def document_of(workload: Workload) -> dict[str, Any]:
    """Return the content of a JSON file of a workload."""
    frame = workload.frame.select(_used(workload))
    units = {name: COLUMNS[name].unit for name in frame.columns if COLUMNS[name].unit}
    return {
        "format": _KIND,
        "version": VERSION,
        **_notes(workload),
        "units": units,
        "jobs": frame.to_dict(as_series=False),
    }


def _used(workload: Workload) -> list[str]:
    frame = workload.frame
    return [name for name, column in COLUMNS.items() if column.required or frame[name].null_count() < frame.height]


def _notes(workload: Workload) -> dict[str, str]:
    return {key: getattr(workload, key) for key in _NOTES}


def is_native(data: bytes) -> bool:
    """Return whether a file is in the own format."""
    head = data.lstrip()[:1]
    if data.startswith(PARQUET):
        return True
    if head == b"{":
        return f'"{_KIND}"'.encode() in data[:4096]
    return any(set(REQUIRED) <= set(names) for names in headers_of(data).values())


def headers_of(data: bytes) -> dict[str, tuple[str, ...]]:
    """Return the fields of the first line in lower case, by separator.

    Parameters
    ----------
    data : bytes
        Content of the file from `read_bytes`.
    """
    return {mark: tuple(name.lower() for name in header_of(data, mark)) for mark in SEPARATORS}


def read_native(source: Source) -> Workload:
    """Read a workload in the own format.

    Raises
    ------
    InputError
        If the file is invalid; the message gives the column and the row or line.
    """
    from gangopt.instances.workload.workload import Workload

    if source.data.startswith(PARQUET):
        columns, notes = _parquet(source)
    elif source.data.lstrip()[:1] == b"{":
        columns, notes = _json(source)
    else:
        return _csv(source)
    try:
        return Workload.from_columns(columns, **notes, notices=source.tally.notices)
    except InputError as error:
        raise InputError(f"{source.tally.origin}: {error}") from None


def _parquet(source: Source) -> tuple[dict[str, Any], dict[str, str]]:
    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(source.data))
        metadata = pl.read_parquet_metadata(io.BytesIO(source.data)).get(_KIND, "{}")
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{source.tally.origin}: not a parquet file ({str(error).splitlines()[0]})") from None
    notes = parse_json(metadata, f"{source.tally.origin}: metadata {_KIND}")
    if not isinstance(notes, dict) or not all(isinstance(notes.get(key, ""), str) for key in _NOTES):
        raise InputError(f"{source.tally.origin}: metadata {_KIND} must be an object of text values")
    return frame.to_dict(), {key: notes.get(key, "") for key in _NOTES}


def _json(source: Source) -> tuple[dict[str, Any], dict[str, str]]:
    origin = source.tally.origin
    try:
        document = parse_json(source.data.decode("utf-8"), origin)
    except UnicodeDecodeError as error:
        raise InputError(f"{origin}: not UTF-8 text (byte {error.start})") from None
    allowed = ("format", "version", *_NOTES, "units", "jobs")
    for key in document:
        if key not in allowed:
            raise InputError(f"{origin}: unknown field {shown(key)}; allowed: {', '.join(allowed)}")
    if document.get("version") != VERSION or isinstance(document.get("version"), bool):
        raise InputError(f"{origin}: field version must be {VERSION} (got {document.get('version')!r})")
    for key in _NOTES:
        if not isinstance(document.get(key, ""), str):
            raise InputError(f"{origin}: field {key} must be text (got {shown(document[key])})")
    _check_units(document.get("units", {}), origin)
    jobs = document.get("jobs")
    if not isinstance(jobs, dict) or not all(isinstance(values, list) for values in jobs.values()):
        raise InputError(f"{origin}: field jobs must be an object with a list for each column")
    return jobs, {key: document.get(key, "") for key in _NOTES}


def missing_column(names: Sequence[str]) -> str | None:
    """Describe the first missing column of a table in the own format, or return None.

    Parameters
    ----------
    names : sequence of str
        Columns of the table, in lower case.
    """
    missing = next((name for name in REQUIRED if name not in names), None)
    if missing is None:
        return None
    others = ", ".join(name for name in COLUMNS if name not in REQUIRED)
    return f"missing column {missing}; format gangopt requires {', '.join(REQUIRED)}, and allows {others}"


def _check_units(units: object, origin: str) -> None:
    if not isinstance(units, dict):
        raise InputError(f"{origin}: field units must be an object (got {shown(units)})")
    for name, unit in units.items():
        if name not in COLUMNS:
            raise InputError(f"{origin}: field units: unknown column {shown(name)}")
        if unit != COLUMNS[name].unit:
            wanted = COLUMNS[name].unit or "empty"
            raise InputError(f"{origin}: field units: unit of {name} must be {wanted} (got {shown(unit)})")


def _csv(source: Source) -> Workload:
    """Return the workload of a text table; messages give the line of a defect.

    Column names can have capitals; the separator is the one with which most columns are known.
    """
    import polars as pl

    headers = headers_of(source.data)
    separator = max(headers, key=lambda mark: len(set(headers[mark]) & set(COLUMNS)))
    missing = missing_column(headers[separator])
    if missing is not None:
        raise InputError(f"{source.tally.origin}: {missing}")
    rows = read_rows(source.data, source.tally, separator=separator, quoted=True)
    known = [name for name in rows.frame.columns if name.lower() in COLUMNS]
    for index, name in enumerate(known):
        if name.lower() in map(str.lower, known[:index]):
            raise InputError(f"{source.tally.origin}: duplicate column {name.lower()}")
    rows.frame = rows.frame.rename({name: name.lower() for name in known})
    rows.ignore_others(tuple(COLUMNS))
    form = Format(NATIVE, "own format, CSV", "")
    used = [name for name in rows.frame.columns if name in COLUMNS]
    for name in used:
        _convert(rows, name)
    return finish(Draft(rows, {name: pl.col(name) for name in used}, ""), source, form)


def _convert(rows: Rows, name: str) -> None:
    import polars as pl

    column = COLUMNS[name]
    optional = not column.required
    if column.kind == "text":
        rows.names(name, optional=optional)
    elif column.kind == "flag":
        rows.refuse(
            f"bad-{name}",
            ~rows.frame[name].is_in(["true", "false"]),
            lambda row: f"column {name} must be true or false (got {shown(row[name])})",
        )
        rows.frame = rows.frame.with_columns((pl.col(name) == "true").alias(name))
    elif column.kind == "whole" or column.zero:
        rows.numbers(name, least=column.least, whole=column.kind == "whole", optional=optional)
    else:
        rows.numbers(name, above=0, optional=optional)
