"""Jobs of the Shockwave simulator, in Gavel's layout with measured durations and a batch-size mode."""

from __future__ import annotations

from gangopt.base.errors import InputError
from gangopt.instances.workload.formats.gavel import MODELS, split_job_type
from gangopt.instances.workload.reading import Draft, Format, Source
from gangopt.instances.workload.rows import read_rows

__all__ = ["FORMAT", "read"]

FORMAT = Format(
    "shockwave",
    "Shockwave simulator: 12 tab-separated fields with durations, no header",
    "gangopt.instances.workload.formats.shockwave",
    fields=(12,),
    separator="\t",
)

_FIELDS = (
    *("job_type", "command", "working_directory", "num_steps_arg", "needs_data_dir", "total_steps", "scale_factor"),
    *("mode", "priority_weight", "slo", "duration", "arrival_time"),
)


def read(source: Source) -> Draft:
    """Return the jobs of a Shockwave trace.

    The fields used are job_type (network and first batch size), total_steps, scale_factor (GPUs), duration (s),
    arrival_time (s) and slo, a factor on the duration if it is >= 0. Jobs are named `line1`, `line2`, ... Jobs of mode
    accordion or gns change their batch size while they run; they are counted as `changing-batches`.

    References
    ----------
    Zheng et al.: Shockwave, NSDI 2023; its simulator.
    """
    import polars as pl

    width = source.data.split(b"\n", 1)[0].count(b"\t") + 1
    if width not in FORMAT.fields:
        raise InputError(
            f"{source.tally.origin}: line 1 must have 12 tab-separated fields in format shockwave (got {width})"
        )
    rows = read_rows(source.data, source.tally, separator="\t", header=_FIELDS)
    rows.names("job_type", "mode")
    rows.numbers("scale_factor", least=1, whole=True)
    rows.numbers("total_steps", "duration", above=0)
    rows.numbers("arrival_time")
    rows.numbers("slo", least=-1)
    modes = rows.frame["mode"]
    rows.refuse(
        "unknown-modes",
        ~modes.is_in(["static", "accordion", "gns"]),
        lambda row: f"mode must be static, accordion or gns (got {row['mode']!r})",
    )
    rows.warn(
        "changing-batches",
        rows.frame["mode"] != "static",
        lambda row: f"mode {row['mode']}: the batch size changes during the run; the first one is used",
    )
    columns = {
        "id": pl.concat_str(pl.lit("line"), pl.col("line")),
        "arrival": pl.col("arrival_time"),
        "gpus": pl.col("scale_factor"),
        "duration": pl.col("duration"),
        "steps": pl.col("total_steps"),
        "deadline": pl.when(pl.col("slo") >= 0).then(pl.col("arrival_time") + pl.col("slo") * pl.col("duration")),
        **split_job_type(),
    }
    return Draft(rows, columns, "jobs of a Shockwave trace, times in s", MODELS)
