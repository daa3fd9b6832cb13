"""Jobs of the Gavel simulator, with steps, and running times from a table of measured throughputs."""

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
    "Gavel simulator: 7 or 10 tab-separated fields, no header; running times from --throughputs",
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
"""Default GPU type."""


def read(source: Source) -> Draft:
    """Return the jobs of a Gavel trace.

    The fields used are job_type (network and batch size), total_steps, scale_factor (GPUs), arrival_time (s) and, if
    there are ten, slo. An slo >= 0 is a factor on the running time and gives the deadline arrival + slo x duration if
    the duration is known; -1 means none. Jobs are named `line1`, `line2`, ... Commands and priorities are ignored.

    The duration is total_steps / throughput(job_type, scale_factor) on one GPU type; without a throughput table, it is
    unknown (`no-durations`).

    References
    ----------
    Narayanan et al.: Gavel, OSDI 2020; its simulator.
    """
    import polars as pl

    width = source.data.split(b"\n", 1)[0].count(b"\t") + 1
    if width not in FORMAT.fields:
        raise InputError(
            f"{source.tally.origin}: line 1 must have 7 or 10 tab-separated fields in format gavel (got {width})"
        )
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
    """Return model and batch size of a job type such as `ResNet-18 (batch size 16)`; the latter is optional."""
    import polars as pl

    job = pl.col("job_type")
    pattern = r"^(.*?)\s*\(batch size (\d+)\)$"
    return {
        "model": pl.coalesce(job.str.extract(pattern, 1), job),
        "batch": job.str.extract(pattern, 2).cast(pl.Float64),
    }


def add_durations(rows: Rows, source: Source) -> None:
    """Add a column `duration` in s, steps over throughput; pairs missing in the table are counted (`no-throughput`)."""
    import polars as pl

    if source.throughputs is None:
        source.tally.warn(
            "no-durations", rows.frame.height, "the format has steps but no running times; provide a throughput table"
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
            f"{row['job_type']} on {row['scale_factor']} GPUs has no throughput > 0 on {kind}; its duration is unknown"
        ),
    )
    rows.frame = rows.frame.with_columns((rows.frame["total_steps"] / speed).alias("duration"))


def read_throughputs(path: Path, gpu_type: str) -> dict[tuple[str, int], float]:
    """Return the throughput in steps/s by job type and number of GPUs, for jobs running alone on one GPU type.

    Parameters
    ----------
    path : Path
        Table in Gavel's layout, with the keys GPU type, `('<job type>', <GPUs>)` and `null` (running alone).
    gpu_type : str
        E.g. v100, k80 or v100_unconsolidated.

    Raises
    ------
    InputError
        If the file is not such a table or does not have the GPU type.
    """
    table = read_json(path)
    if not isinstance(table, dict) or not all(isinstance(value, dict) for value in table.values()):
        raise InputError(f"{path}: throughput table must be an object of GPU types with their job types")
    if gpu_type not in table:
        raise InputError(f"{path}: unknown GPU type {shown(gpu_type)}; known: {', '.join(sorted(table))}")
    found: dict[tuple[str, int], tuple[str, float]] = {}
    for key, entry in table[gpu_type].items():
        pair = _pair(key)
        alone = entry.get("null") if isinstance(entry, dict) else None
        if pair is None or isinstance(alone, bool) or not isinstance(alone, int | float) or alone < 0:
            raise InputError(f"{path}: {gpu_type}, entry {shown(key)} must have a job type, its GPUs and a speed")
        first, before = found.setdefault(pair, (key, float(alone)))
        if before != alone:
            raise InputError(
                f"{path}: {gpu_type}, entries {shown(first)} and {shown(key)}: different speeds for one job "
                f"({before:g} and {alone:g} steps/s)"
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
