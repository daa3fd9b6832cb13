"""Interface of jobs for a replay, and rigid gangs as plain arrays, without polars, which does not allow forks."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints

__all__ = ["Gangs", "JobTable"]


class JobTable(Protocol):
    """Jobs in order of arrival, by column; `gangopt.Workload` is one."""

    def __len__(self) -> int:
        """Return the number of jobs."""
        ...

    @property
    def ids(self) -> tuple[str, ...]:
        """Name of every job."""
        ...

    @property
    def arrival(self) -> Floats:
        """Arrival of every job in s, ascending."""
        ...

    @property
    def begin(self) -> float:
        """Arrival of the first job in s, 0 without jobs."""
        ...

    @property
    def gpus(self) -> Ints:
        """GPUs of every job's gang."""
        ...

    @property
    def duration(self) -> Floats:
        """Running time of every job on its GPUs in s, NaN if unknown."""
        ...

    def numbers(self, column: str) -> Floats:
        """Return a column of numbers, NaN if unknown."""
        ...

    def texts(self, column: str) -> tuple[str | None, ...]:
        """Return a column of text, None if unknown."""
        ...

    def require(self, *columns: str) -> None:
        """Check that every job has values in some columns."""
        ...


class Gangs:
    """Jobs with only arrival, GPUs and duration, all known and valid.

    Parameters
    ----------
    arrival : ndarray of float
        Arrivals in s, shape (jobs,).
    gpus : ndarray of int
        GPUs of each gang, shape (jobs,).
    duration : ndarray of float
        Running times in s, shape (jobs,).

    Attributes
    ----------
    order : ndarray of int
        Indices into the given arrays, in order of arrival; equal arrivals keep their order.
    arrival, gpus, duration : ndarray of float or ndarray of int
        Values in that order.
    """

    def __init__(self, arrival: Floats, gpus: Ints, duration: Floats) -> None:
        self.order: Ints = np.argsort(arrival, kind="stable")
        self.arrival: Floats = np.array(arrival[self.order], dtype=np.float64)
        self.gpus: Ints = np.array(gpus[self.order], dtype=np.int64)
        self.duration: Floats = np.array(duration[self.order], dtype=np.float64)

    def __len__(self) -> int:
        return len(self.order)

    @property
    def begin(self) -> float:
        """Arrival of the first job in s, 0 without jobs."""
        return float(self.arrival[0]) if len(self) else 0.0

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Index of every job, as text."""
        return tuple(map(str, self.order.tolist()))

    def numbers(self, column: str) -> Floats:
        """Return a column of numbers, NaN if it is not one of the three."""
        known = {"arrival": self.arrival, "gpus": self.gpus.astype(np.float64), "duration": self.duration}
        return known.get(column, np.full(len(self), np.nan))

    def texts(self, column: str) -> tuple[str | None, ...]:
        """Return a column of text, None except for `id`."""
        return self.ids if column == "id" else (None,) * len(self)

    def require(self, *columns: str) -> None:
        """Check that the gangs have some columns.

        Raises
        ------
        InputError
            If a column is not available; the message gives the first one.
        """
        for column in columns:
            if len(self) and column not in {"id", "arrival", "gpus", "duration"}:
                raise InputError(f"rigid gangs have no {column}")
