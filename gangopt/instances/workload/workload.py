"""A workload: the jobs that arrive at a cluster over time, in order of arrival."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.workload.columns import COLUMNS, check_frame, frame_of
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
class Workload:
    """Jobs in order of arrival; jobs that arrive at the same second keep the order in which they were given.

    Build one with `from_columns`, or read one with `load`. Never change the frame in place.

    Attributes
    ----------
    frame : polars.DataFrame
        polars.DataFrame, one row a job Every column of `gangopt.instances.workload.columns.COLUMNS`; what a trace
        does not tell is null. Times in s.
    name, description, source : str
        What the workload is called, what it holds and where it comes from.
    notices : tuple of Notice
        What its reader found odd.

    Notes
    -----
    A job of phase k of an app may start once all jobs of the app with a smaller phase have ended, and not before its
    own arrival. Jobs without a phase depend on nothing.
    """

    frame: pl.DataFrame
    name: str = ""
    description: str = ""
    source: str = ""
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        if self.frame.columns != list(COLUMNS):
            raise InputError("the frame of a workload has other columns than COLUMNS; build one with from_columns")
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
        """Return the workload of columns; rows are sorted by arrival, those of equal arrival keep their order.

        Parameters
        ----------
        columns : mapping of str to sequence of object or object
            Sequences, numpy arrays or polars series of one length, by column name; `id`, `arrival` and `gpus` are
            needed, the others may be absent or hold None.
        name, description, source, notices : str or tuple of Notice, optional
            Annotations.

        Raises
        ------
        InputError
            Names the column, the row as given (from 0) and the value that is not allowed.
        """
        frame = frame_of(columns)
        check_frame(frame, ordered=False)
        frame = frame.sort("arrival", maintain_order=True)
        return cls(frame, name, description, source, notices)

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str]) -> Workload:
        """Return the workload of a name, as `workload/themis-1?seed=2`, or of a file; short for `load_workload`.

        Raises
        ------
        InputError
            If the name is unknown, or the file is defective or of no known format.
        """
        return resolve(_LOAD)(name_or_path)  # type: ignore[no-any-return]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the workload by the ending of the path; `load` reads it back equal. Short for `save_workload`.

        Raises
        ------
        InputError
            If the ending is another, or the file cannot be written.
        """
        resolve(_SAVE)(self, path)

    def __len__(self) -> int:
        return self.frame.height

    def __eq__(self, other: object) -> bool:
        """Whether the jobs are equal; annotations and notices do not count."""
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
        """Return the jobs with arrivals in s since the first one, without the other times on the same clock."""
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
        """Running time of every job on its GPUs in s, nan where unknown; read-only."""
        return self.numbers("duration")

    @cached_property
    def work(self) -> Floats:
        """Running time of every job on one GPU in GPU s, nan where unknown; read-only."""
        return self.numbers("work")

    @cached_property
    def gpu_seconds(self) -> Floats:
        """GPUs times duration of every job in GPU s, nan where unknown; read-only."""
        return _locked(np.asarray(self.gpus * self.duration, dtype=np.float64))

    def numbers(self, column: str) -> Floats:
        """Return a column of numbers (or true and false as 1 and 0) as a read-only float array, nan where unknown.

        Raises
        ------
        InputError
            If there is no such column, or it holds text.
        """
        import polars as pl

        known = [item.name for item in COLUMNS.values() if item.kind != "text"]
        if column not in known:
            raise InputError(f"{column!r} is no column of numbers; those are {', '.join(known)}")
        values = self.frame[column].cast(pl.Float64).to_numpy()
        return _locked(np.array(values, dtype=np.float64))

    def texts(self, column: str) -> tuple[str | None, ...]:
        """Return a column of text, None where unknown.

        Raises
        ------
        InputError
            If there is no such column, or it holds numbers.
        """
        known = [item.name for item in COLUMNS.values() if item.kind == "text"]
        if column not in known:
            raise InputError(f"{column!r} is no column of text; those are {', '.join(known)}")
        return tuple(self.frame[column])

    def has(self, column: str) -> bool:
        """Return whether every job has a value in a column."""
        return column in COLUMNS and self.frame[column].null_count() == 0

    def require(self, *columns: str) -> None:
        """Check that every job has a value in some columns.

        Raises
        ------
        InputError
            Names the first column that lacks a value, in how many jobs, and the first of them.
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
        """Return the jobs without those whose duration is a lower limit, since they still ran when the log ended."""
        from gangopt.instances.workload.signs import censored_jobs

        notices = tuple(replace(item, dropped=item.dropped or item.name == _CENSORED) for item in self.notices)
        return replace(self, frame=self.frame.filter(~censored_jobs(self.frame)), notices=notices)

    def slice(
        self,
        start: float | None = None,
        end: float | None = None,
        *,
        user: str | None = None,
        vc: str | None = None,
    ) -> Workload:
        """Return the jobs that arrive in [start, end), of a user, of a virtual cluster; times stay as they are.

        Parameters
        ----------
        start, end : float or None, optional
            S; None is no limit.
        user, vc : str or None, optional
            Names; None is any.

        Raises
        ------
        InputError
            If end is not after start, or the workload has no job of this user or virtual cluster at all.
        """
        import polars as pl

        if start is not None and end is not None and not start < end:
            raise InputError(f"end={end:g} s is not after start={start:g} s")
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
        """Return the workload at another load: times between arrivals are divided by the factor, jobs stay as they are.

        Deadlines keep their distance from the arrival; logged starts no longer mean anything and become null.

        Parameters
        ----------
        factor : float
            2 is twice the load.

        Raises
        ------
        InputError
            If the factor is not a finite number above 0.
        """
        import polars as pl

        if not np.isfinite(factor) or factor <= 0:
            raise InputError(f"factor={factor}: a finite number above 0 is needed")
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
    return unknown(f"{label} of the workload", value, known) if known else InputError(f"no job has a {label}")


def _locked(array: Array) -> Array:
    array.setflags(write=False)
    return array
