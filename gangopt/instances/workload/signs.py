"""Notices that the columns of any workload give, whatever file it was read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.instances.workload.notices import Notice

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EPOCH_MILLISECONDS", "censored_jobs", "runs_with_duration", "signs_of"]

EPOCH_MILLISECONDS = 1e12
"""From here on a time looks like milliseconds since 1970 (2001 and later): in seconds it is after the year 33,000."""


def runs_with_duration(frame: pl.DataFrame) -> pl.Series:
    """Return which jobs have a duration although their status says that they still run.

    Parameters
    ----------
    frame : polars.DataFrame
        With columns `status` and `duration`.
    """
    return (frame["status"].str.to_lowercase() == "running").fill_null(value=False) & frame["duration"].is_not_null()


def censored_jobs(frame: pl.DataFrame) -> pl.Series:
    """Return which jobs have a duration that is a lower limit: by mark, or by status where there is no mark.

    Parameters
    ----------
    frame : polars.DataFrame
        Frame of a workload.
    """
    return frame["censored"].fill_null(runs_with_duration(frame)) & frame["duration"].is_not_null()


def signs_of(frame: pl.DataFrame) -> tuple[Notice, ...]:
    """Return a notice for durations that are lower limits, and for arrivals that can hardly be seconds.

    Parameters
    ----------
    frame : polars.DataFrame
        Frame of a workload.
    """
    censored = censored_jobs(frame)
    late = frame["arrival"] >= EPOCH_MILLISECONDS
    found = []
    if censored.any():
        row = frame.row(int(censored.arg_max() or 0), named=True)
        message = f"job {row['id']} has no end in the log; its duration, {row['duration']:.15g} s, is a lower limit"
        found.append(Notice("censored-durations", int(censored.sum()), message))
    if late.any():
        row = frame.row(int(late.arg_max() or 0), named=True)
        message = (
            f"job {row['id']} arrives at {row['arrival']:.15g}, which looks like milliseconds since 1970; times are "
            "read as seconds: divide them by 1000"
        )
        found.append(Notice("arrivals-in-milliseconds", int(late.sum()), message))
    return tuple(found)
