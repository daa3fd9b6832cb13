"""Jobs of SenseTime's Helios clusters, from logs of Slurm with virtual clusters and wall-clock times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.instances.workload.reading import Draft, Format, Source, table_of

if TYPE_CHECKING:
    from gangopt.instances.workload.rows import Rows

__all__ = ["FORMAT", "read"]

FORMAT = Format(
    "helios",
    "Helios logs: job_id, user, vc, gpu_num, cpu_num, node_num, state, wall-clock times, duration, queue",
    "gangopt.instances.workload.formats.helios",
    required=("job_id", "user", "vc", "gpu_num", "state", "submit_time", "start_time", "end_time", "duration"),
    optional=("cpu_num", "node_num", "queue", "jobname"),
)

_STATES = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "RUNNING", "PENDING")

_SLACK = 1.0
"""Tolerance in s of end - start against duration, since times are rounded to seconds."""


def read(source: Source) -> Draft:
    """Return the GPU jobs of a Helios log; time 0 is the first submission in the file.

    Jobs without GPUs are skipped (`cpu-only`). The duration of a job that never ran (duration 0 or no times) is unknown
    (`never-ran`); that of a job in state RUNNING is a lower limit (`censored-durations`). If end - start differs from
    duration by more than a second, duration is used (`uneven-durations`). If the GPUs divide evenly over node_num, the
    job has this number of workers. queue and jobname are ignored.

    References
    ----------
    Hu et al.: Characterization and Prediction of Deep Learning Workloads (Helios), SC 2021; its published logs.
    """
    import polars as pl

    rows = table_of(source, FORMAT)
    rows.names("job_id")
    rows.names("user", "vc", "state", optional=True)
    rows.numbers("gpu_num", whole=True)
    rows.times("submit_time")
    rows.times("start_time", "end_time", optional=True)
    rows.numbers("duration", optional=True)
    _check(rows)
    first = pl.col("submit_time").min()
    columns = {
        "id": pl.col("job_id"),
        "arrival": pl.col("submit_time") - first,
        "gpus": pl.col("gpu_num"),
        "duration": pl.when(pl.col("duration") > 0).then(pl.col("duration")),
        "user": pl.col("user"),
        "vc": pl.col("vc"),
        "start": pl.when(pl.col("start_time") >= first).then(pl.col("start_time") - first),
        "status": pl.col("state"),
    }
    if "cpu_num" in rows.frame.columns:
        rows.numbers("cpu_num", optional=True)
        columns["cpu"] = pl.col("cpu_num")
    if "node_num" in rows.frame.columns:
        rows.numbers("node_num", whole=True, optional=True)
        nodes = pl.when(pl.col("node_num") > 0).then(pl.col("node_num"))
        columns["workers"] = pl.when(pl.col("gpu_num") % nodes == 0).then(nodes)
    return Draft(rows, columns, "jobs of a Helios log, s since the first submission")


def _check(rows: Rows) -> None:
    rows.refuse(
        "unknown-states",
        ~rows.frame["state"].is_in(_STATES),
        lambda row: f"state must be one of {', '.join(_STATES)} (got {row['state']!r})",
    )
    rows.warn("cpu-only", rows.frame["gpu_num"] == 0, lambda row: f"job {row['job_id']} has no GPUs", dropped=True)
    rows.warn(
        "never-ran",
        (rows.frame["duration"] == 0) | rows.frame["duration"].is_null(),
        lambda row: f"job {row['job_id']} ({row['state']}) never ran; its duration is unknown",
    )
    rows.warn(
        "uneven-durations",
        ((rows.frame["end_time"] - rows.frame["start_time"]) - rows.frame["duration"]).abs() > _SLACK,
        lambda row: (
            f"end - start = {row['end_time'] - row['start_time']:.15g} s differs from duration "
            f"{row['duration']:.15g} s, which is used"
        ),
    )
    rows.refuse(
        "early-starts",
        rows.frame["start_time"] < rows.frame["submit_time"],
        lambda row: f"job {row['job_id']} starts before it is submitted",
    )
