"""Notices from the columns of a workload, for all formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.instances.workload.notices import Notice

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EPOCH_MILLISECONDS", "censored_jobs", "runs_with_duration", "signs_of", "unfinished_jobs"]

EPOCH_MILLISECONDS = 1e12
"""Smallest time taken for milliseconds since 1970: September 2001, or the year 33,658 if read as seconds."""


def runs_with_duration(frame: pl.DataFrame) -> pl.Series:
    """Return a mask of the jobs that have a duration but the status `running`.

    Parameters
    ----------
    frame : polars.DataFrame
        Frame with columns `status` and `duration`.
    """
    return (frame["status"].str.to_lowercase() == "running").fill_null(value=False) & frame["duration"].is_not_null()


def censored_jobs(frame: pl.DataFrame) -> pl.Series:
    """Return a mask of the jobs whose duration is a lower limit, by the column `censored` or else by status.

    Parameters
    ----------
    frame : polars.DataFrame
        Frame of a workload.
    """
    return frame["censored"].fill_null(runs_with_duration(frame)) & frame["duration"].is_not_null()


def unfinished_jobs(frame: pl.DataFrame) -> pl.Series:
    """Return a mask of the jobs that ran or waited when the log ended, with or without a lower limit of the duration.

    Parameters
    ----------
    frame : polars.DataFrame
        Frame of a workload.
    """
    present = frame["status"].str.to_lowercase().is_in(["running", "pending"]).fill_null(value=False)
    return censored_jobs(frame) | (present & frame["duration"].is_null())


def signs_of(frame: pl.DataFrame) -> tuple[Notice, ...]:
    """Return notices of durations that are lower limits and of arrivals that are probably milliseconds.

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
        message = f"job {row['id']} does not end in the log; its duration of {row['duration']:.15g} s is a lower limit"
        found.append(Notice("censored-durations", int(censored.sum()), message))
    if late.any():
        row = frame.row(int(late.arg_max() or 0), named=True)
        message = (
            f"job {row['id']} arrives at {row['arrival']:.15g}, probably milliseconds since 1970; times are read "
            "as seconds, divide them by 1000"
        )
        found.append(Notice("arrivals-in-milliseconds", int(late.sum()), message))
    return tuple(found)
