"""Jobs of the Muri simulator: Tiresias's columns, with times in milliseconds and a time for each iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.base.errors import InputError
from gangopt.instances.workload.reading import Draft, Format, Source, table_of

if TYPE_CHECKING:
    from gangopt.instances.workload.rows import Rows

__all__ = ["FORMAT", "MODELS", "read", "units_a_second"]

FORMAT = Format(
    "muri",
    "Muri simulator: Tiresias's columns and iteration_time, in ms",
    "gangopt.instances.workload.formats.muri",
    required=("job_id", "num_gpu", "submit_time", "iterations", "model_name", "duration", "iteration_time"),
    optional=("batch_size", "interval", "resource_time_0", "resource_time_1", "resource_time_2", "priority"),
)

MODELS = frozenset({"vgg16", "vgg19", "resnet18", "shufflenet_v2_x1_0", "bert", "gpt2", "a2c", "dqn"})
"""Networks of Muri's own traces."""

_SPREAD = 5.0
"""How far the median of iterations x iteration_time / duration may be from that of a unit."""

_AGREES = 0.05


def read(source: Source) -> Draft:
    """Return the jobs of a Muri file.

    iteration_time is in ms. Whether submit_time and duration are too is told by the median r of
    iterations x iteration_time / duration over the jobs: ms where 1/5 <= r <= 5, seconds where 200 <= r <= 5000.
    The notice `unit` says which; rows that differ from the unit by more than 5 % are counted as `uneven-durations`.

    Raises
    ------
    InputError
        If r is neither, so that the unit is unknown; or as `table_of`.

    References
    ----------
    Zhao et al.: Multi-Resource Interleaving for Deep Learning Training (Muri), SIGCOMM 2022; its simulator.
    """
    import polars as pl

    rows = table_of(source, FORMAT)
    rows.names("job_id")
    rows.names("model_name", optional=True)
    rows.numbers("num_gpu", least=1, whole=True)
    rows.numbers("submit_time")
    rows.numbers("duration", "iterations", "iteration_time", above=0)
    second = units_a_second(rows)
    columns = {
        "id": pl.col("job_id"),
        "arrival": pl.col("submit_time") / second,
        "gpus": pl.col("num_gpu"),
        "duration": pl.col("duration") / second,
        "steps": pl.col("iterations"),
        "model": pl.col("model_name"),
    }
    if "batch_size" in rows.frame.columns:
        rows.numbers("batch_size", above=0, optional=True)
        columns["batch"] = pl.col("batch_size")
    unit = "ms" if second == 1000 else "s"
    return Draft(rows, columns, f"jobs of a Muri file, times of the file in {unit}", MODELS)


def units_a_second(rows: Rows) -> int:
    """Return how many units of the file's times make a second, and report how well the iterations agree."""
    frame = rows.frame
    if not frame.height:
        return 1000
    ratio = frame["iterations"] * frame["iteration_time"] / frame["duration"]
    middle = float(ratio.median())  # type: ignore[arg-type]
    factor = next((value for value in (1, 1000) if 1 / _SPREAD <= middle / value <= _SPREAD), None)
    if factor is None:
        raise InputError(
            f"{rows.tally.origin}: iterations x iteration_time / duration has the median {middle:.3g}; near 1 times "
            "are ms, near 1000 they are s, this is neither"
        )
    uneven = (ratio / factor - 1).abs() > _AGREES
    agree = frame.height - int(uneven.sum())
    unit = "ms" if factor == 1 else "s"
    rows.tally.warn(
        "unit",
        frame.height,
        f"times read as {unit}: iterations x iteration_time agrees with duration within 5 % in {agree} of "
        f"{frame.height} rows",
    )
    rows.warn(
        "uneven-durations",
        uneven,
        lambda row: (
            f"iterations x iteration_time = {row['iterations'] * row['iteration_time'] / factor:.6g} {unit}, "
            f"duration {row['duration']:.6g} {unit}; duration counts"
        ),
    )
    return 1000 if factor == 1 else 1
