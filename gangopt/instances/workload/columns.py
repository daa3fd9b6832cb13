"""Columns of a workload: types, units, limits, and checks of their values."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.checks import LARGEST, limits
from gangopt.base.errors import InputError
from gangopt.instances.workload.shown import shown
from gangopt.instances.workload.speed import FittedSpeed

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "Column", "check_frame", "columns_of", "frame_of"]

Kind = Literal["text", "whole", "number", "flag"]


@dataclass(frozen=True)
class Column:
    """Column of a workload."""

    name: str
    kind: Kind
    unit: str
    meaning: str
    required: bool = False
    least: float = 0.0
    """Smallest value of an integer; numbers must be > 0, or >= 0 if `zero`."""
    zero: bool = False

    def allowed(self) -> str:
        """Describe the allowed values for messages."""
        if self.kind == "text":
            return "non-empty text without control characters and surrounding blanks"
        if self.kind == "flag":
            return "true or false"
        if self.kind == "whole":
            return f"an integer{limits(self.least, LARGEST)}"
        return f"a number{limits(0, LARGEST) if self.zero else limits(None, LARGEST, above=0)}"


_ALL = (
    Column("id", "text", "", "name of the job, unique", required=True),
    Column("arrival", "number", "s", "when the job is submitted, on the trace's own clock", required=True, zero=True),
    Column("gpus", "whole", "GPUs", "size of the gang; a share of a GPU counts as one", required=True, least=1),
    Column("duration", "number", "s", "running time on the `gpus` GPUs of the log, without waiting"),
    Column("work", "number", "GPU s", "running time on one GPU (serial work)"),
    Column("steps", "number", "steps", "training steps"),
    Column("ps", "whole", "tasks", "parameter servers", least=0),
    Column("workers", "whole", "tasks", "worker tasks, each of gpus / workers GPUs (replays may spread them)", least=1),
    Column("model", "text", "", "network that is trained"),
    Column("batch", "number", "samples", "global batch size"),
    Column("speed", "text", "", "fitted speed, `async t0 t1 t2 t3` or `sync M t0 t1 t2 t3 t4`; steps/s of ps, workers"),
    Column("user", "text", "", "who submitted the job"),
    Column("vc", "text", "", "virtual cluster"),
    Column("app", "text", "", "application that the job is part of"),
    Column("phase", "whole", "", "position among the app's phases, from 0; it starts when the earlier ones have ended"),
    Column("gpu_share", "number", "GPUs", "requested GPUs, if not an integer"),
    Column("gpu_type", "text", "", "allowed GPU types, joined by |"),
    Column("cpu", "number", "cores", "CPU cores of the whole job", zero=True),
    Column("memory", "number", "GB", "memory of the whole job", zero=True),
    Column("deadline", "number", "s", "due time, on the clock of `arrival`", zero=True),
    Column("start", "number", "s", "first start in the log, on the clock of `arrival`", zero=True),
    Column("status", "text", "", "final status in the log"),
    Column("censored", "flag", "", "whether `duration` is a lower limit: the log ends before the job, or lacks a part"),
    Column("network_intensive", "flag", "", "whether a spread placement slows the job down"),
)

COLUMNS: Mapping[str, Column] = {column.name: column for column in _ALL}
"""Columns by name, in the order of files and frames."""


_BAD_TEXT = r"[\x00-\x1f\x7f-\x9f]|^\s|\s$"
"""Text that would not survive writing to and reading from CSV."""


def columns_of(frame: Any) -> dict[str, Any]:
    """Return the columns of a polars or pandas DataFrame by name, missing values as None.

    Parameters
    ----------
    frame : polars.DataFrame or pandas.DataFrame
        The frame.

    Raises
    ------
    InputError
        If it is neither.
    """
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame.to_dict()
    if not _is_pandas(frame):
        raise InputError(f"frame must be a polars or pandas DataFrame (got {shown(frame)})")
    known = frame.notna()
    return {str(name): frame[name].astype(object).where(known[name], None).tolist() for name in frame.columns}


def _is_pandas(value: object) -> bool:
    # a frame of pandas can only be there if somebody has imported pandas, which gangopt itself never does
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def frame_of(columns: Mapping[str, Sequence[Any] | Any]) -> pl.DataFrame:
    """Return the frame of columns given as sequences, arrays or polars series.

    Parameters
    ----------
    columns : mapping of str to sequence of object or object
        Values by column name; None is an unknown value, and so is NaN in columns of numbers.

    Returns
    -------
    polars.DataFrame
        All columns of `COLUMNS`, in order and of the right type; columns that were not given are null.

    Raises
    ------
    InputError
        If a column is unknown, a required one is missing, lengths differ or a value is not of the column's type.
    """
    import polars as pl

    if isinstance(columns, pl.DataFrame) or _is_pandas(columns):
        raise InputError("columns must be a mapping of names to sequences; use from_frame for a DataFrame")
    for name in columns:
        if name not in COLUMNS:
            raise unknown("column of a workload", str(name), list(COLUMNS))
    for column in COLUMNS.values():
        if column.required and column.name not in columns:
            raise InputError(f"missing column {column.name} ({column.meaning})")
    for name, values in columns.items():
        _check_sequence(name, values)
    size = len(columns["id"])
    series = []
    for name, column in COLUMNS.items():
        if name not in columns:
            series.append(pl.Series(name, [None], dtype=_dtype(column)).new_from_index(0, size))
            continue
        if len(columns[name]) != size:
            raise InputError(f"column {name} must have {size} values like column id (got {len(columns[name])})")
        series.append(_series(columns[name], column))
    return pl.DataFrame(series)


def _check_sequence(name: str, values: object) -> None:
    import polars as pl

    listed = isinstance(values, list | tuple | range | pl.Series) or (
        isinstance(values, np.ndarray) and values.ndim == 1
    )
    if not listed:
        raise InputError(f"column {name} must be a list, tuple, polars series or numpy array (got {shown(values)})")


def _dtype(column: Column) -> Any:
    import polars as pl

    return {"text": pl.String, "whole": pl.Int64, "number": pl.Float64, "flag": pl.Boolean}[column.kind]


def _series(values: Any, column: Column) -> pl.Series:
    import polars as pl

    given = values if isinstance(values, pl.Series) else _from_sequence(values, column)
    given = given.alias(column.name)
    if given.dtype.is_decimal():
        given = given.cast(pl.Float64)
    if given.dtype.is_float():
        given = given.fill_nan(None)
    wanted = _dtype(column)
    if given.dtype in {wanted, pl.Null}:
        return given.cast(wanted)
    textual = given.dtype == pl.String or given.dtype in {pl.Categorical, pl.Enum}
    numeric = given.dtype.is_numeric() and column.kind in {"whole", "number"}
    whole_text = column.kind == "text" and given.dtype.is_integer()
    if not (numeric or whole_text or (textual and column.kind == "text")):
        index = int(given.is_not_null().arg_max() or 0)
        raise _refusal(column, index, given[index])
    if column.kind == "whole":
        broken = given > LARGEST
        if given.dtype.is_float():
            broken |= (given != given.round(0)) | (given < -LARGEST)
        if broken.any():
            index = int(broken.fill_null(value=False).arg_max() or 0)
            raise _refusal(column, index, given[index])
    return given.cast(wanted)


def _from_sequence(values: Sequence[Any], column: Column) -> pl.Series:
    import polars as pl

    try:
        return pl.Series(column.name, values, strict=True)
    except (TypeError, OverflowError, UnicodeEncodeError, pl.exceptions.PolarsError):
        for index, value in enumerate(values):
            if not _fits(value, column):
                raise _refusal(column, index, value) from None
    # integers and floats mixed, e.g. [1, 2.5]
    return pl.Series(column.name, [None if value is None else float(value) for value in values], dtype=pl.Float64)


def _fits(value: Any, column: Column) -> bool:
    if value is None:
        return True
    if column.kind == "flag":
        return isinstance(value, bool)
    if column.kind == "text":
        return isinstance(value, str) and not any(0xD800 <= ord(letter) <= 0xDFFF for letter in value)
    if isinstance(value, bool):
        return False
    try:
        return not isinstance(value, str) and (math.isnan(value) or abs(value) <= LARGEST)
    except (TypeError, OverflowError):
        return False


def _refusal(column: Column, index: int, value: object) -> InputError:
    return InputError(f"column {column.name}, row {index}: must be {column.allowed()} (got {shown(value)})")


def check_frame(frame: pl.DataFrame, ordered: bool = True) -> None:
    """Check all values of a frame from `frame_of`.

    Parameters
    ----------
    frame : polars.DataFrame
        All columns of `COLUMNS`, in order and of the right type.
    ordered : bool, optional
        Whether arrivals must ascend.

    Raises
    ------
    InputError
        If a value is missing or out of range, an id is a duplicate, a phase has no app, or an arrival is earlier than
        the previous one; the message gives the column, the row (from 0) and the value.
    """
    for column in COLUMNS.values():
        _check_column(frame[column.name], column)
    twice = frame["id"].is_duplicated()
    if twice.any():
        index = int(twice.arg_max() or 0)
        label = frame["id"][index]
        again = int((frame["id"] == label).arg_true()[1])
        raise InputError(f"column id, rows {index} and {again}: duplicate id {shown(label)}")
    lone = frame["phase"].is_not_null() & frame["app"].is_null()
    if lone.any():
        raise InputError(f"column app, row {lone.arg_max()}: missing app of a phase")
    _check_speeds(frame["speed"])
    late = frame["arrival"].diff() < 0
    if ordered and late.any():
        index = int(late.fill_null(value=False).arg_max() or 0)
        raise InputError(
            f"column arrival, row {index}: {frame['arrival'][index]:g} s is earlier than that of the previous row"
        )


def _check_speeds(values: pl.Series) -> None:
    for value in values.drop_nulls().unique(maintain_order=True):
        try:
            FittedSpeed.parse(value)
        except InputError as error:
            raise InputError(f"column speed, row {(values == value).arg_max()}: {error}") from None


def _check_column(values: pl.Series, column: Column) -> None:
    if column.required and values.null_count():
        index = values.is_null().arg_max()
        raise InputError(f"column {column.name}, row {index}: missing value; must be {column.allowed()}")
    if column.kind == "flag" or values.null_count() == len(values):
        return
    if column.kind == "text":
        wrong = (values.str.len_bytes() == 0) | values.str.contains(_BAD_TEXT)
    elif column.kind == "whole":
        wrong = (values < column.least) | (values > LARGEST)
    else:
        wrong = (values < 0) | (values > LARGEST) | (values.is_nan()) | ((values == 0) if not column.zero else False)
    wrong = wrong.fill_null(value=False)
    if wrong.any():
        index = int(wrong.arg_max() or 0)
        raise _refusal(column, index, values[index])
