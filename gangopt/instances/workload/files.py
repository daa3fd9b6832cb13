"""Workloads as parquet, CSV and JSON files of this tool: written whole, read back equal."""

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
"""Columns that every workload has."""

SEPARATORS = (",", ";", "\t")
"""Separators of a table of this tool's columns; it writes commas."""

ENDINGS = (".parquet", ".csv", ".json")
"""Endings of the files that `save_workload` writes."""

NATIVE = "gangopt"
"""Name of this tool's own format."""

VERSION = 1
_KIND = "gangopt-workload"
_NOTES = ("name", "description", "source")


def save_workload(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload by the ending of the path; columns without any value are left out.

    parquet and JSON keep name, description and source too; notices are not written.

    Raises
    ------
    InputError
        If the ending is not .parquet, .csv or .json, or the file cannot be written.
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
    """Return the JSON content of a workload's file."""
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
    """Return whether a file is one that `save_workload` writes."""
    head = data.lstrip()[:1]
    if data.startswith(PARQUET):
        return True
    if head == b"{":
        return f'"{_KIND}"'.encode() in data[:4096]
    return any(set(REQUIRED) <= set(names) for names in headers_of(data).values())


def headers_of(data: bytes) -> dict[str, tuple[str, ...]]:
    """Return the names in the first line of a text by each separator that a table may have, in lower case.

    Parameters
    ----------
    data : bytes
        The file, as `read_bytes` gives it.
    """
    return {mark: tuple(name.lower() for name in header_of(data, mark)) for mark in SEPARATORS}


def read_native(source: Source) -> Workload:
    """Return the workload of a file of this tool.

    Raises
    ------
    InputError
        If the file is defective; the message names the column and the row or line.
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
        raise InputError(f"{source.tally.origin}: no parquet file ({str(error).splitlines()[0]})") from None
    notes = parse_json(metadata, f"{source.tally.origin}: metadata {_KIND}")
    if not isinstance(notes, dict) or not all(isinstance(notes.get(key, ""), str) for key in _NOTES):
        raise InputError(f"{source.tally.origin}: metadata {_KIND}: an object of texts is needed")
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
            raise InputError(f"{origin}: field {shown(key)} is not known; allowed: {', '.join(allowed)}")
    if document.get("version") != VERSION or isinstance(document.get("version"), bool):
        raise InputError(f"{origin}: field version: {document.get('version')!r}, this release reads version {VERSION}")
    for key in _NOTES:
        if not isinstance(document.get(key, ""), str):
            raise InputError(f"{origin}: field {key}: text is needed")
    _check_units(document.get("units", {}), origin)
    jobs = document.get("jobs")
    if not isinstance(jobs, dict) or not all(isinstance(values, list) for values in jobs.values()):
        raise InputError(f"{origin}: field jobs: an object with a list for each column is needed")
    return jobs, {key: document.get(key, "") for key in _NOTES}


def missing_column(names: Sequence[str]) -> str | None:
    """Return which column a table of this tool's columns lacks, in words; None if it has all that are needed.

    Parameters
    ----------
    names : sequence of str
        Columns that it has, in lower case.
    """
    missing = next((name for name in REQUIRED if name not in names), None)
    if missing is None:
        return None
    others = ", ".join(name for name in COLUMNS if name not in REQUIRED)
    return f"column {missing} is missing; format gangopt has {', '.join(REQUIRED)}, and where known {others}"


def _check_units(units: object, origin: str) -> None:
    if not isinstance(units, dict):
        raise InputError(f"{origin}: field units: an object is needed")
    for name, unit in units.items():
        if name not in COLUMNS or unit != COLUMNS[name].unit:
            need = f"{COLUMNS[name].unit or 'none'} is needed" if name in COLUMNS else "there is no such column"
            raise InputError(f"{origin}: field units: {name} in {shown(unit)}, {need}")


def _csv(source: Source) -> Workload:
    """Return the workload of a table of this tool's columns; defects are named by line, as in every other log.

    Column names may have capitals, and the separator is the one by which the most columns are known.
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
            raise InputError(f"{source.tally.origin}: column {name.lower()} stands twice in the header")
    rows.frame = rows.frame.rename({name: name.lower() for name in known})
    rows.ignore_others(tuple(COLUMNS))
    form = Format(NATIVE, "this tool's own CSV", "")
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
            lambda row: f"column {name}: {shown(row[name])}, true or false is needed",
        )
        rows.frame = rows.frame.with_columns((pl.col(name) == "true").alias(name))
    elif column.kind == "whole" or column.zero:
        rows.numbers(name, least=column.least, whole=column.kind == "whole", optional=optional)
    else:
        rows.numbers(name, above=0, optional=optional)
