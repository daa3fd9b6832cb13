"""The table that `compare` returns: rows, summary, and its files."""

from __future__ import annotations

import io
import math
import os
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.base.errors import InputError, shown
from gangopt.base.inputfile import read_file
from gangopt.base.jsonfile import dump_json, read_json, write_bytes, write_text
from gangopt.base.plugins import resolve
from gangopt.base.presented import Presented
from gangopt.solvers.core.row import Row

if TYPE_CHECKING:
    import polars

__all__ = ["Comparison", "MethodSummary", "check_suffix"]

SUFFIXES = (".parquet", ".csv", ".json", ".html")

# reporting stands above the solvers and reads comparisons, so it is referred to by name, as records refer to methods
_HTML_REPORT = "gangopt.reporting.comparison:html_report"


@dataclass(frozen=True)
class MethodSummary:
    """Summary of one method over all instances of one problem.

    Attributes
    ----------
    problem : str
        Noun of the decision.
    method : str
        Name of the method.
    instances : int
        Instances on which it ran.
    solved : int
        Instances on which it has a solution.
    proven : int
        Instances on which its objective is proven optimal.
    best : int
        Instances on which it has the mark `best`.
    mean_gap : float or None
        Mean of the finite relative gaps, a ratio, None without any; a proven objective has gap 0.
    median_gap : float or None
        Median of all relative gaps, a ratio that a few infinite ones do not spoil, None without any.
    worst_gap : float or None
        Largest relative gap, a ratio.
    infinite_gaps : int
        Instances with an infinite gap: the bound is 0 and the objective is not.
    seconds : float
        Wall seconds, summed.
    """

    problem: str
    method: str
    instances: int
    solved: int
    proven: int
    best: int
    mean_gap: float | None
    median_gap: float | None
    worst_gap: float | None
    infinite_gaps: int
    seconds: float


@dataclass(frozen=True, repr=False)
class Comparison(Presented):
    """Rows of `compare`, in the order of instances and methods as given.

    Attributes
    ----------
    rows : tuple of Row
        One for every instance and method; an instance that could not be loaded, or was not finished when Ctrl-C
        came, has one row of its own.
    interrupted : bool
        Whether it was stopped before all rows were there.
    """

    report = "gangopt.reporting.comparison:comparison_text"

    rows: tuple[Row, ...]
    interrupted: bool = False

    def __repr__(self) -> str:
        instances = len({row.instance for row in self.rows})
        methods = len({row.method for row in self.rows})
        return f"Comparison(rows={len(self.rows)}, instances={instances}, methods={methods})"

    def summary(self) -> tuple[MethodSummary, ...]:
        """Return one summary a decision and method, in the order of first appearance."""
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            if row.problem:
                groups.setdefault((row.problem, row.method), []).append(row)
        return tuple(_summary(problem, method, rows) for (problem, method), rows in groups.items())

    def frame(self) -> polars.DataFrame:
        """Return the rows as a polars DataFrame, metrics as columns, null where a row has none."""
        import polars as pl

        records = [row.flat() for row in self.rows]
        columns = list(dict.fromkeys(key for record in records for key in record))
        numbers = {key for record in records for key, value in record.items() if _is_number(value)}
        schema = {
            key: pl.Boolean if key in {"proven", "best"} else pl.Float64 if key in numbers | _NUMBERS else pl.String
            for key in columns
        }
        return pl.DataFrame([{key: record.get(key) for key in columns} for record in records], schema=schema)

    def to_json(self) -> dict[str, Any]:
        """Return `{"rows": [...]}`, with `"interrupted": true` before the rows if they are not all there.

        An infinite gap is written as the text `inf`, which JSON cannot say as a number.
        """
        mark = {"interrupted": True} if self.interrupted else {}
        return {**mark, "rows": [{key: _writable(value) for key, value in row.flat().items()} for row in self.rows]}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as parquet, CSV, JSON or an HTML report, by the suffix of the path.

        Parameters
        ----------
        path : str or path-like
            Ends in .parquet, .csv, .json or .html.

        Raises
        ------
        InputError
            If the suffix is another or the file cannot be written; nothing is left half-written.
        """
        suffix = check_suffix(path)
        if suffix == ".json":
            write_text(path, dump_json(self.to_json()))
        elif suffix == ".html":
            write_text(path, resolve(_HTML_REPORT)(self))
        else:
            buffer = io.BytesIO()
            frame = self.frame()
            frame.write_parquet(buffer) if suffix == ".parquet" else frame.write_csv(buffer)
            write_bytes(path, buffer.getvalue())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Comparison:
        """Return the comparison that `write` saved as parquet, CSV or JSON.

        Parameters
        ----------
        path : str or path-like
            The file.

        Raises
        ------
        InputError
            If the file is no such comparison.
        """
        rows = tuple(_row(record, str(path)) for record in _records(path))
        return cls(rows, any(row.status == "interrupted" for row in rows))


_NUMBERS = {"objective", "best_bound", "rel_gap", "seconds"}


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of an output path, refusing those that no comparison can be written as."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{os.fspath(path)}: suffix {suffix or 'missing'}, allowed: {', '.join(SUFFIXES)}")
    return suffix


def _summary(problem: str, method: str, rows: list[Row]) -> MethodSummary:
    gaps = [0.0 if row.proven else row.rel_gap for row in rows if row.rel_gap is not None]
    finite = [gap for gap in gaps if math.isfinite(gap)]
    return MethodSummary(
        problem=problem,
        method=method,
        instances=len(rows),
        solved=sum(row.objective is not None for row in rows),
        proven=sum(row.proven for row in rows),
        best=sum(row.best for row in rows),
        mean_gap=statistics.fmean(finite) if finite else None,
        median_gap=statistics.median(gaps) if gaps else None,
        worst_gap=max(gaps) if gaps else None,
        infinite_gaps=len(gaps) - len(finite),
        seconds=sum(row.seconds for row in rows),
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _writable(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _records(path: str | os.PathLike[str]) -> Iterable[dict[str, Any]]:
    suffix = check_suffix(path)
    if suffix == ".html":
        raise InputError(f"{os.fspath(path)}: an HTML report cannot be loaded; save .parquet, .csv or .json too")
    if suffix == ".json":
        value = read_json(path)
        rows = value.get("rows") if isinstance(value, dict) else None
        if not isinstance(rows, list) or not all(isinstance(item, dict) for item in rows):
            raise InputError(f"{os.fspath(path)}: not a saved comparison (an object with a list `rows`)")
        return rows
    return _table_records(path, suffix)


def _table_records(path: str | os.PathLike[str], suffix: str) -> list[dict[str, Any]]:
    import polars as pl

    data = io.BytesIO(read_file(path))
    try:
        frame = pl.read_parquet(data) if suffix == ".parquet" else pl.read_csv(data, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{os.fspath(path)}: cannot be read as {suffix[1:]} ({str(error).splitlines()[0]})") from None
    return frame.to_dicts()


def _row(record: dict[str, Any], origin: str) -> Row:
    fields = Row.__dataclass_fields__
    missing = [name for name in ("instance", "problem", "method", "objective", "status") if name not in record]
    if missing:
        raise InputError(f"{origin}: no saved comparison, column {missing[0]} is missing")
    values: dict[str, Any] = {}
    for name in _NUMBERS & set(record):
        values[name] = _number(record[name], name, origin)
    for name in ("instance", "problem", "method", "status", "unit", "termination", "bound_scope"):
        values[name] = _text(record.get(name), name, origin)
    for name in ("proven", "best"):
        if not isinstance(record.get(name), bool | None):
            raise InputError(f"{origin}: column {name} must be true or false (got {shown(record[name])})")
        values[name] = record.get(name) is True
    values["reason"] = _text(record.get("reason"), "reason", origin) or None
    values["seconds"] = values.get("seconds") or 0.0
    own = {key: float(value) for key, value in record.items() if key not in fields and _is_number(value)}
    return Row(**{"best_bound": None, "rel_gap": None, **values}, metrics=own)


def _text(value: object, name: str, origin: str) -> str:
    if isinstance(value, bool | list | dict):
        raise InputError(f"{origin}: column {name} must be text (got {shown(value)})")
    return "" if value is None else str(value)


def _number(value: object, name: str, origin: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float("true" if isinstance(value, bool) else value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"{origin}: column {name} must be a number (got {shown(value)})") from None
    if math.isnan(number):
        raise InputError(f"{origin}: column {name} must be a number (got NaN)")
    return number
