"""Workloads, the jobs that arrive at a cluster over time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from gangopt.base import checks
from gangopt.base.errors import InputError
from gangopt.base.plugins import resolve
from gangopt.base.presented import Presented
from gangopt.base.types import Floats, Ints
from gangopt.instances.workload.columns import COLUMNS, check_frame, columns_of, frame_of
from gangopt.instances.workload.notices import Notice

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Workload"]

Array = TypeVar("Array", Floats, Ints)


_CENSORED = "censored-durations"

# generators, readers and writers of files make and take workloads, so that the class refers to theirs by name
_LOAD = "gangopt.instances.workload.catalogue:load_workload"
_SAVE = "gangopt.instances.workload.files:save_workload"


@dataclass(frozen=True, eq=False, repr=False)
class Workload(Presented):
    """Jobs in order of arrival; jobs with equal arrivals keep the order in which they were given.

    Create workloads with `from_columns` or `load`. Do not change the frame in place.

    Attributes
    ----------
    frame : polars.DataFrame
        One row per job, with all columns of `gangopt.instances.workload.columns.COLUMNS`; unknown values are null.
        Times are in s.
    name, description, source : str
        Name, description and source of the workload.
    notices : tuple of Notice
        Findings of its reader.

    Notes
    -----
    A job in phase k of an app can start once it has arrived and all jobs of the app with a smaller phase have ended.
    Jobs without a phase do not depend on others.
    """

    report = "gangopt.reporting.workload:workload_text"

    frame: pl.DataFrame
    name: str = ""
    description: str = ""
    source: str = ""
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        if self.frame.columns != list(COLUMNS):
            raise InputError("the frame of a workload must have the columns COLUMNS; create it with from_columns")
        check_frame(self.frame)

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, Sequence[Any] | Any],
        *,
        name: str = "",
        description: str = "",
        source: str = "",
        notices: tuple[Notice, ...] = (),
    ) -> Self:
        """Create a workload from columns; rows are sorted by arrival, and keep their order if it is equal.

        Parameters
        ----------
        columns : mapping of str to sequence of object or object
            Sequences, numpy arrays or polars series of one length, by column name; `id`, `arrival` and `gpus` are
            required; others can be missing or have None.
        name, description, source, notices : str or tuple of Notice, optional
            Annotations.

        Raises
        ------
        InputError
            If a value is invalid; the message gives the column, the row (from 0) and the value.
        """
        frame = frame_of(columns)
        check_frame(frame, ordered=False)
        frame = frame.sort("arrival", maintain_order=True)
        return cls(frame, name, description, source, notices)

    @classmethod
    def from_frame(cls, frame: Any, *, name: str = "", description: str = "", source: str = "") -> Self:
        """Create a workload from a polars or pandas DataFrame, as `from_columns` does from its columns.

        Parameters
        ----------
        frame : polars.DataFrame or pandas.DataFrame
            One row per job; missing values are unknown.
        name, description, source : str, optional
            Annotations.

        Raises
        ------
        InputError
            If it is no DataFrame, or a value is invalid; the message gives the column, the row (from 0) and the value.
        """
        return cls.from_columns(columns_of(frame), name=name, description=description, source=source)

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str]) -> Workload:
        """Return a generated workload by name, e.g. `workload/themis-1?seed=2`, or the one in a file.

        Raises
        ------
        InputError
            If the name is unknown, or the file is invalid or of unknown format.
        """
        return resolve(_LOAD)(name_or_path)  # type: ignore[no-any-return]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the workload as parquet, CSV or JSON, by the suffix of the path; `load` restores it.

        Raises
        ------
        InputError
            If the suffix is not supported, or the file cannot be written.
        """
        resolve(_SAVE)(self, path)

    def __len__(self) -> int:
        return self.frame.height

    def __eq__(self, other: object) -> bool:
        """Return whether the jobs are equal, ignoring annotations and notices."""
        return self.frame.equals(other.frame) if isinstance(other, Workload) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Workload(name={self.name!r}, jobs={len(self)}, gpus={int(self.gpus.sum())})"

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Name of every job."""
        return tuple(self.frame["id"])

    @cached_property
    def arrival(self) -> Floats:
        """Arrival of every job in s, ascending; read-only."""
        return self.numbers("arrival")

    @property
    def begin(self) -> float:
        """First arrival in s, 0 without jobs."""
        return float(self.arrival[0]) if len(self) else 0.0

    def from_zero(self) -> Workload:
        """Return the jobs with arrivals relative to the first one, without deadlines and logged starts."""
        import polars as pl

        if not self.begin:
            return self
        null = pl.lit(None, dtype=pl.Float64)
        times = (pl.col("arrival") - self.begin, null.alias("deadline"), null.alias("start"))
        return replace(self, frame=self.frame.with_columns(*times))

    @cached_property
    def gpus(self) -> Ints:
        """GPUs of every job's gang; read-only."""
        return _locked(self.frame["gpus"].to_numpy().astype(np.int64))

    @cached_property
    def duration(self) -> Floats:
        """Running time of every job on its GPUs in s, NaN if unknown; read-only."""
        return self.numbers("duration")

    @cached_property
    def work(self) -> Floats:
        """Running time of every job on one GPU in GPU s, NaN if unknown; read-only."""
        return self.numbers("work")

    @cached_property
    def gpu_seconds(self) -> Floats:
        """GPUs times duration of every job in GPU s, NaN if unknown; read-only."""
        return _locked(np.asarray(self.gpus * self.duration, dtype=np.float64))

    def numbers(self, column: str) -> Floats:
        """Return a column of numbers (or flags as 1 and 0) as a read-only float array, NaN if unknown.

        Raises
        ------
        InputError
            If there is no such column of numbers.
        """
        import polars as pl

        known = [item.name for item in COLUMNS.values() if item.kind != "text"]
        if column not in known:
            raise InputError(f"unknown column of numbers {column!r}; known: {', '.join(known)}")
        values = self.frame[column].cast(pl.Float64).to_numpy()
        return _locked(np.array(values, dtype=np.float64))

    def texts(self, column: str) -> tuple[str | None, ...]:
        """Return a column of text, None if unknown.

        Raises
        ------
        InputError
            If there is no such column of text.
        """
        known = [item.name for item in COLUMNS.values() if item.kind == "text"]
        if column not in known:
            raise InputError(f"unknown column of text {column!r}; known: {', '.join(known)}")
        return tuple(self.frame[column])

    def has(self, column: str) -> bool:
        """Return whether every job has a value in a column."""
        return column in COLUMNS and self.frame[column].null_count() == 0

    def require(self, *columns: str) -> None:
        """Check that every job has values in some columns.

        Raises
        ------
        InputError
            If values are missing; the message gives the first such column, and the number and the first of the jobs.
        """
        for column in columns:
            missing = self.frame[column].is_null()
            if missing.any():
                first = self.ids[int(missing.arg_max() or 0)]
                raise InputError(
                    f"workload {self.name or 'without a name'}: {missing.sum()} of {len(self)} jobs have no {column} "
                    f"({COLUMNS[column].meaning}), the first is {first}"
                )

    def where(self, column: str) -> Workload:
        """Return the jobs that have a value in a column."""
        import polars as pl

        return replace(self, frame=self.frame.filter(pl.col(column).is_not_null()))

    def ended(self) -> Workload:
        """Return the jobs except those that ran or waited when the log ended."""
        from gangopt.instances.workload.signs import unfinished_jobs

        notices = tuple(replace(item, dropped=item.dropped or item.name == _CENSORED) for item in self.notices)
        return replace(self, frame=self.frame.filter(~unfinished_jobs(self.frame)), notices=notices)

    def slice(
        self,
        start: float | None = None,
        end: float | None = None,
        *,
        user: str | None = None,
        vc: str | None = None,
    ) -> Workload:
        """Return the jobs that arrive in [start, end), of a user, of a virtual cluster; times do not change.

        Parameters
        ----------
        start, end : float or None, optional
            Times in s; None means no limit.
        user, vc : str or None, optional
            Names; None means any.

        Raises
        ------
        InputError
            If end is not after start, or the workload has no jobs of the user or virtual cluster.
        """
        import polars as pl

        if start is not None and end is not None and not start < end:
            raise InputError(f"end must be > start={start:g} s (got {end:g})")
        frame = self.frame
        for column, value in (("user", user), ("vc", vc)):
            if value is None:
                continue
            known = [item for item in frame[column].unique().sort() if item is not None]
            if value not in known:
                raise _no_such(column, value, known)
            frame = frame.filter(pl.col(column) == value)
        if start is not None:
            frame = frame.filter(pl.col("arrival") >= start)
        if end is not None:
            frame = frame.filter(pl.col("arrival") < end)
        return replace(self, frame=frame)

    def scale_load(self, factor: float) -> Workload:
        """Return the workload at another load, with the times between arrivals divided by a factor.

        Deadlines keep their distance from the arrival; logged starts are meaningless then and become null.

        Parameters
        ----------
        factor : float
            Factor on the load, e.g. 2 for twice the load.

        Raises
        ------
        InputError
            If the factor is not a finite number > 0.
        """
        import polars as pl

        checks.number("factor", factor, above=0)
        if not len(self):
            return self
        first = pl.col("arrival").first()
        arrival = first + (pl.col("arrival") - first) / factor
        frame = self.frame.with_columns(
            arrival.alias("arrival"),
            (arrival + (pl.col("deadline") - pl.col("arrival"))).alias("deadline"),
            pl.lit(None, dtype=pl.Float64).alias("start"),
        )
        return replace(self, frame=frame)


def _no_such(column: str, value: str, known: list[str]) -> InputError:
    from gangopt.base.arguments import unknown

    label = {"user": "user", "vc": "virtual cluster"}[column]
    return (
        unknown(f"{label} of the workload", value, known)
        if known
        else InputError(f"no job of the workload has a {label}")
    )


def _locked(array: Array) -> Array:
    array.setflags(write=False)
    return array
