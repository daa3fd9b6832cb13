"""Jobs of the Gavel simulator: steps to be done, and running times by a table of measured throughputs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gangopt.base.errors import InputError
from gangopt.base.jsonfile import read_json
from gangopt.instances.workload.reading import Draft, Format, Source
from gangopt.instances.workload.rows import Rows, read_rows
from gangopt.instances.workload.shown import shown

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

__all__ = ["FORMAT", "MODELS", "read", "read_throughputs", "split_job_type"]

FORMAT = Format(
    "gavel",
    "Gavel simulator: 7 or 10 tabbed fields without a header; running times by --throughputs",
    "gangopt.instances.workload.formats.gavel",
    fields=(7, 10),
    separator="\t",
)

_SEVEN = ("job_type", "command", "num_steps_arg", "needs_data_dir", "total_steps", "arrival_time", "scale_factor")
_TEN = (
    *("job_type", "command", "working_directory", "num_steps_arg", "needs_data_dir", "total_steps", "scale_factor"),
    *("priority_weight", "slo", "arrival_time"),
)

MODELS = frozenset({"a3c", "cyclegan", "lm", "recommendation", "resnet-18", "resnet-50", "transformer"})
"""Job types of the simulator's throughput tables, without batch sizes."""

GPU_TYPE = "v100"
"""GPU type that is looked up where none is named."""


def read(source: Source) -> Draft:
    """Return the jobs of a Gavel trace.

    Read are job_type (network and batch size), total_steps, scale_factor (GPUs), arrival_time (s) and, of ten fields,
    SLO. An SLO of at least 0 is a factor on the running time, hence a deadline of arrival + SLO x duration where the
    duration is known; -1 is none. Jobs have no names: `line1`, `line2`, ... are given. Commands and the priority
    weight are not read.

    With a throughput table, duration = total_steps / throughput(job_type, scale_factor) on one GPU type; without one it
    is unknown (`no-durations`).

    References
    ----------
    Narayanan et al.: Gavel, OSDI 2020; its simulator.
    """
    import polars as pl

    width = source.data.split(b"\n", 1)[0].count(b"\t") + 1
    if width not in FORMAT.fields:
        raise InputError(f"{source.tally.origin}: line 1 has {width} tabbed fields, format gavel has 7 or 10")
    rows = read_rows(source.data, source.tally, separator="\t", header=_SEVEN if width == 7 else _TEN)
    rows.names("job_type")
    rows.numbers("scale_factor", least=1, whole=True)
    rows.numbers("total_steps", above=0)
    rows.numbers("arrival_time")
    add_durations(rows, source)
    columns = {
        "id": pl.concat_str(pl.lit("line"), pl.col("line")),
        "arrival": pl.col("arrival_time"),
        "gpus": pl.col("scale_factor"),
        "duration": pl.col("duration"),
        "steps": pl.col("total_steps"),
        **split_job_type(),
    }
    if width == 10:
        rows.numbers("slo", least=-1)
        met = (pl.col("slo") >= 0) & pl.col("duration").is_not_null()
        columns["deadline"] = pl.when(met).then(pl.col("arrival_time") + pl.col("slo") * pl.col("duration"))
    return Draft(rows, columns, "jobs of a Gavel trace, times in s", MODELS)


def split_job_type() -> dict[str, pl.Expr]:
    """Return model and batch of a job type such as `ResNet-18 (batch size 16)`; without a bracket no batch is known."""
    import polars as pl

    job = pl.col("job_type")
    pattern = r"^(.*?)\s*\(batch size (\d+)\)$"
    return {
        "model": pl.coalesce(job.str.extract(pattern, 1), job),
        "batch": job.str.extract(pattern, 2).cast(pl.Float64),
    }


def add_durations(rows: Rows, source: Source) -> None:
    """Add a column `duration` in s: steps over throughput; a pair that the table lacks is counted (`no-throughput`)."""
    import polars as pl

    if source.throughputs is None:
        source.tally.warn(
            "no-durations", rows.frame.height, "the format tells steps and no running times; give a throughput table"
        )
        rows.frame = rows.frame.with_columns(pl.lit(None, dtype=pl.Float64).alias("duration"))
        return
    kind = source.gpu_type or GPU_TYPE
    speeds = read_throughputs(source.throughputs, kind)
    pairs = zip(rows.frame["job_type"], rows.frame["scale_factor"], strict=True)
    speed = pl.Series("speed", [speeds.get(pair) for pair in pairs], dtype=pl.Float64)
    rows.warn(
        "no-throughput",
        speed.is_null(),
        lambda row: (
            f"{row['job_type']} on {row['scale_factor']} GPUs has no throughput above 0 on {kind}; "
            "its duration is unknown"
        ),
    )
    rows.frame = rows.frame.with_columns((rows.frame["total_steps"] / speed).alias("duration"))


def read_throughputs(path: Path, gpu_type: str) -> dict[tuple[str, int], float]:
    """Return the throughput in steps/s of each job type and number of GPUs that runs alone on one GPU type.

    Parameters
    ----------
    path : Path
        Table in Gavel's layout: GPU type, then `('<job type>', <GPUs>)`, then `null` for running alone.
    gpu_type : str
        As v100, k80 or v100_unconsolidated.

    Raises
    ------
    InputError
        If the file is no such table or lacks the GPU type.
    """
    table = read_json(path)
    if not isinstance(table, dict) or not all(isinstance(value, dict) for value in table.values()):
        raise InputError(f"{path}: no throughput table: GPU types, each with its job types, are needed")
    if gpu_type not in table:
        raise InputError(f"{path}: no GPU type {shown(gpu_type)}; known: {', '.join(sorted(table))}")
    found: dict[tuple[str, int], tuple[str, float]] = {}
    for key, entry in table[gpu_type].items():
        pair = _pair(key)
        alone = entry.get("null") if isinstance(entry, dict) else None
        if pair is None or isinstance(alone, bool) or not isinstance(alone, int | float) or alone < 0:
            raise InputError(f"{path}: {gpu_type}, entry {shown(key)}: a job type, its GPUs and a speed are needed")
        first, before = found.setdefault(pair, (key, float(alone)))
        if before != alone:
            raise InputError(
                f"{path}: {gpu_type}, entries {shown(first)} and {shown(key)}: {before:g} and {alone:g} steps/s; "
                "one speed is allowed"
            )
    return {pair: speed for pair, (_, speed) in found.items() if speed > 0}


def _pair(key: str) -> tuple[str, int] | None:
    try:
        value = ast.literal_eval(key)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    match value:
        case (str() as job_type, int() as gpus) if not isinstance(gpus, bool) and gpus >= 1:
            return job_type, gpus
    return None
