"""Tasks of Alibaba's PAI cluster of 2020: several tasks per job, requests in percent, often a separate header file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.base.errors import InputError
from gangopt.instances.workload.reading import Draft, Format, Source
from gangopt.instances.workload.rows import Rows, header_of, read_bytes, read_rows

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMAT", "HEADER", "STATES", "read"]

HEADER = (
    *("job_name", "task_name", "inst_num", "status", "start_time", "end_time"),
    *("plan_cpu", "plan_mem", "plan_gpu", "gpu_type"),
)
"""Columns of the task table, as in its header file."""

FORMAT = Format(
    "pai",
    "Alibaba PAI task table (2020): percent units, header in the first line or a separate file",
    "gangopt.instances.workload.formats.pai",
    required=HEADER,
    fields=(len(HEADER),),
)

STATES = ("Terminated", "Running", "Waiting", "Failed")
"""States of tasks from best to worst; the state of a job is the worst of its tasks."""


def read(source: Source) -> Draft:
    """Return one job for all tasks of a job_name.

    plan_cpu and plan_gpu are in percent of a core and of a GPU per instance, plan_mem is in GB. The gang has
    sum inst_num x ceil(plan_gpu / 100) GPUs; fractional requests are kept in gpu_share. Tasks named ps are parameter
    servers; the other tasks with GPUs are workers if all have the same integer number of GPUs. Submission times are
    missing, so arrival is the first start (`arrival-is-start`), and duration is the last end minus the first start.
    Jobs without a start (`no-start`) or without GPUs (`cpu-only`) are skipped. The duration of a job with an unfinished
    task is unknown (`never-ended`). If all tasks have an end but one is still running, the end is that of the log, and
    the duration is a lower limit (`censored-durations`).

    A lenient reader skips all tasks of a job with an invalid row (`partial-gangs`). If only the times of some tasks are
    invalid, the job keeps the GPUs of all tasks and its duration is unknown (`untimed-tasks`).

    The column names are read from the first line if it is the header, or else from a file `<name>.header` next to the
    table. Without either, the published order is assumed (`assumed-header`).

    References
    ----------
    Weng et al.: MLaaS in the Wild, NSDI 2022; Alibaba cluster-trace-gpu-v2020.
    """
    import polars as pl

    rows = _rows(source)
    every = rows.frame.select("line", pl.col("job_name").str.strip_chars())
    rows.names("job_name", "task_name", "status")
    rows.names("gpu_type", optional=True)
    rows.refuse(
        "unknown-states",
        ~rows.frame["status"].is_in(STATES),
        lambda row: f"status must be one of {', '.join(STATES)} (got {row['status']!r})",
    )
    rows.numbers("inst_num", least=1, whole=True)
    rows.numbers("plan_cpu", "plan_mem", "plan_gpu", optional=True)
    _drop_partial_gangs(rows, every)
    tasks = rows.frame
    rows.numbers("start_time", "end_time", optional=True)
    rows.refuse(
        "no-running-time",
        rows.frame["end_time"] < rows.frame["start_time"],
        lambda row: f"job {row['job_name']}, task {row['task_name']} ends before it starts",
    )
    _restore_untimed(rows, tasks)
    rows.frame = _jobs(rows.frame)
    rows.warn("cpu-only", rows.frame["gpus"] == 0, lambda row: f"job {row['job_name']} has no GPUs", dropped=True)
    rows.warn(
        "no-start", rows.frame["start"].is_null(), lambda row: f"job {row['job_name']} has no start", dropped=True
    )
    rows.warn(
        "never-ended",
        rows.frame["duration"].is_null(),
        lambda row: (
            f"job {row['job_name']}: a task has no end, or the last end is not after the start; the duration is unknown"
        ),
    )
    source.tally.warn(
        "arrival-is-start", rows.frame.height, "the table has no submission times; arrival is the first start"
    )
    return Draft(rows, _columns(), "jobs of an Alibaba PAI task table, times in s with the table's own offset")


def _drop_partial_gangs(rows: Rows, every: pl.DataFrame) -> None:
    """Skip the remaining rows of jobs with an invalid row, so that gangs are complete.

    Parameters
    ----------
    rows : Rows
        The valid rows.
    every : polars.DataFrame
        Line and job of all rows with the right number of fields; a ragged row may belong to any job that it names.
    """
    lost = every.join(rows.frame, on="line", how="anti")["job_name"].drop_nulls()
    broken = sorted({*lost.to_list(), *rows.ragged})
    rows.warn(
        "partial-gangs",
        rows.frame["job_name"].is_in(broken),
        lambda row: f"job {row['job_name']} is skipped, since another of its rows is invalid",
        dropped=True,
    )


def _restore_untimed(rows: Rows, tasks: pl.DataFrame) -> None:
    """Restore tasks that were skipped only because of invalid times, without times, if the start of the job is known.

    Parameters
    ----------
    rows : Rows
        The tasks with valid times.
    tasks : polars.DataFrame
        All tasks.
    """
    import polars as pl

    kept = rows.frame
    lost = tasks.join(kept, on="line", how="anti").join(kept, on="job_name", how="semi")
    blank = [pl.lit(None, dtype=pl.Float64).alias(name) for name in ("start_time", "end_time")]
    rows.frame = pl.concat([kept, lost.with_columns(blank).select(kept.columns)]).sort("line")
    rows.warn(
        "untimed-tasks",
        rows.frame["line"].is_in(lost["line"].implode()),
        lambda row: f"task {row['task_name']} of job {row['job_name']} keeps its GPUs; its times are unknown",
    )


def _rows(source: Source) -> Rows:
    if header_of(source.data) == HEADER:
        return read_rows(source.data, source.tally)
    names = _header_beside(source)
    if names is None:
        source.tally.warn(
            "assumed-header", 1, "no header line and no header file; columns are assumed in the published order"
        )
    return read_rows(source.data, source.tally, header=names or HEADER)


def _header_beside(source: Source) -> tuple[str, ...] | None:
    file = source.path.with_name(f"{source.stem}.header")
    if not file.is_file():
        return None
    names = header_of(read_bytes(file))
    if sorted(names) != sorted(HEADER):
        raise InputError(f"{file}: columns must be {', '.join(HEADER)} in any order (got {', '.join(names)})")
    return names


def _jobs(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row per job, with the line of its first task, in the order of these lines."""
    import polars as pl

    gpus = pl.col("plan_gpu").fill_null(0.0)
    count = pl.col("inst_num")
    whole = (gpus / 100).ceil()
    is_ps = pl.col("task_name") == "ps"
    works = (gpus > 0) & ~is_ps
    even = (whole.filter(works).n_unique() == 1) & ((gpus.filter(is_ps) > 0).sum() == 0)
    state = pl.col("status").replace_strict(list(STATES), list(range(len(STATES))), return_dtype=pl.Int64)
    first, last = pl.col("start_time").min(), pl.col("end_time").max()
    ended = (pl.col("end_time").null_count() == 0) & (last > first)
    return frame.group_by("job_name", maintain_order=True).agg(
        pl.col("line").first(),
        (count * whole).sum().cast(pl.Int64).alias("gpus"),
        (count * gpus / 100).sum().alias("asked"),
        first.alias("start"),
        pl.when(ended).then(last - first).alias("duration"),
        ((pl.col("status") == "Running").any() & ended).alias("censored"),
        pl.when(is_ps.any()).then(count.filter(is_ps).sum()).alias("ps"),
        pl.when(even).then(count.filter(works).sum()).alias("workers"),
        (count * pl.col("plan_cpu") / 100).sum().alias("cpu"),
        (count * pl.col("plan_mem")).sum().alias("memory"),
        pl.col("gpu_type").drop_nulls().unique().sort().str.join("|").alias("gpu_type"),
        pl.lit(pl.Series(STATES)).gather(state.max()).first().alias("status"),
    )


def _columns() -> dict[str, pl.Expr]:
    import polars as pl

    return {
        "id": pl.col("job_name"),
        "arrival": pl.col("start"),
        "gpus": pl.col("gpus"),
        "duration": pl.col("duration"),
        "ps": pl.col("ps"),
        "workers": pl.col("workers"),
        "gpu_share": pl.when(pl.col("asked") != pl.col("gpus")).then(pl.col("asked")),
        "gpu_type": pl.when(pl.col("gpu_type") != "").then(pl.col("gpu_type")),
        "cpu": pl.col("cpu"),
        "memory": pl.col("memory"),
        "start": pl.col("start"),
        "status": pl.col("status"),
        "censored": pl.col("censored"),
    }
