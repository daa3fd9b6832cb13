"""Jobs of the Tiresias simulator, in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.instances.networks.models import MODELS
from gangopt.instances.workload.formats.muri import units_a_second
from gangopt.instances.workload.reading import Draft, Format, Source, table_of

if TYPE_CHECKING:
    from gangopt.instances.workload.rows import Rows

__all__ = ["FORMAT", "read"]

FORMAT = Format(
    "tiresias",
    "Tiresias simulator: job_id, num_gpu, submit_time, duration, model_name in s",
    "gangopt.instances.workload.formats.tiresias",
    required=("job_id", "num_gpu", "submit_time", "model_name", "duration"),
    optional=(
        *("iterations", "interval", "start_time", "model_size", "aggr_interval", "model_scale"),
        *("iteration_time", "batch_size"),
    ),
)


def read(source: Source) -> Draft:
    """Return the jobs of a Tiresias file.

    The columns used are job_id, num_gpu, submit_time (s), duration (s), model_name and iterations. Ignored are
    interval, the time to the next job, and columns of older samples (start_time, model_size, aggr_interval,
    model_scale). The unit of times can only be checked if there is a column iteration_time, in ms (`unchecked-unit`);
    times that are in ms according to it are reported (`unit-contradiction`).

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019; the simulator that came with it.
    """
    import polars as pl

    rows = table_of(source, FORMAT)
    rows.names("job_id")
    rows.names("model_name", optional=True)
    rows.numbers("num_gpu", least=1, whole=True)
    rows.numbers("submit_time")
    rows.numbers("duration", above=0)
    columns = {
        "id": pl.col("job_id"),
        "arrival": pl.col("submit_time"),
        "gpus": pl.col("num_gpu"),
        "duration": pl.col("duration"),
        "model": pl.col("model_name"),
    }
    if "iterations" in rows.frame.columns:
        rows.numbers("iterations", above=0, optional=True)
        columns["steps"] = pl.col("iterations")
    _check_unit(rows)
    return Draft(rows, columns, "jobs of a Tiresias file, times in s", frozenset(MODELS))


def _check_unit(rows: Rows) -> None:
    count = rows.frame.height
    if not {"iterations", "iteration_time"} <= set(rows.frame.columns):
        rows.tally.warn("unchecked-unit", count, "times are read as seconds; no column allows a check")
        return
    rows.numbers("iteration_time", above=0, optional=True)
    if units_a_second(rows) != 1:
        rows.tally.warn(
            "unit-contradiction",
            count,
            "times are read as seconds, but are in ms according to iterations x iteration_time",
        )
