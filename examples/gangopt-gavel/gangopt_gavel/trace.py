"""Reader of job logs in the format `gavel-csv`: columns of Gavel with a header and the measured speed of each job."""

from __future__ import annotations

from gangopt.instances.workload.reading import Draft, Format, Source, table_of

__all__ = ["FORMAT", "read"]

FORMAT = Format(
    "gavel-csv",
    "Gavel's columns with a header: job_type, scale_factor, total_steps, arrival_time, steps_per_second",
    "gangopt_gavel.trace",
    required=("job_id", "job_type", "scale_factor", "total_steps", "arrival_time", "steps_per_second"),
)


def read(source: Source) -> Draft:
    """Return the jobs of a file, with durations of total_steps / steps_per_second in s."""
    import polars as pl

    rows = table_of(source, FORMAT)
    rows.names("job_id", "job_type")
    rows.numbers("scale_factor", least=1, whole=True)
    rows.numbers("total_steps", "steps_per_second", above=0)
    rows.numbers("arrival_time")
    columns = {
        "id": pl.col("job_id"),
        "arrival": pl.col("arrival_time"),
        "gpus": pl.col("scale_factor"),
        "duration": pl.col("total_steps") / pl.col("steps_per_second"),
        "steps": pl.col("total_steps"),
        "model": pl.col("job_type"),
    }
    return Draft(rows, columns, "jobs of a gavel-csv file, times in s")
