"""Jobs of the Muri simulator, with Tiresias's columns, times in milliseconds and a time per iteration."""

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
"""Networks in the traces of Muri."""

_SPREAD = 5.0
"""Largest factor between the median of iterations x iteration_time / duration and its value for a unit."""

_AGREES = 0.05


def read(source: Source) -> Draft:
    """Return the jobs of a Muri file.

    iteration_time is in ms. The unit of submit_time and duration follows from the median r over all jobs of
    iterations x iteration_time / duration: ms if 1/5 <= r <= 5, s if 200 <= r <= 5000. The notice `unit` reports the
    unit; rows that deviate from it by more than 5 % are counted as `uneven-durations`.

    Raises
    ------
    InputError
        If the unit is unknown or the file is invalid; see `table_of`.

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
    """Return the number of units of the file's times in a second, and report how well the iterations agree."""
    frame = rows.frame
    if not frame.height:
        return 1000
    ratio = frame["iterations"] * frame["iteration_time"] / frame["duration"]
    middle = float(ratio.median())  # type: ignore[arg-type]
    factor = next((value for value in (1, 1000) if 1 / _SPREAD <= middle / value <= _SPREAD), None)
    if factor is None:
        raise InputError(
            f"{rows.tally.origin}: unknown unit of times: the median of iterations x iteration_time / duration "
            f"must be near 1 (ms) or 1000 (s) (got {middle:.3g})"
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
            f"iterations x iteration_time = {row['iterations'] * row['iteration_time'] / factor:.6g} {unit} "
            f"differs from duration {row['duration']:.6g} {unit}, which is used"
        ),
    )
    return 1000 if factor == 1 else 1
