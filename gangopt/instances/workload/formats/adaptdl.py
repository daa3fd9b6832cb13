"""Jobs of the Pollux and Sia simulators (AdaptDL): requests without running times."""

from __future__ import annotations

from gangopt.instances.workload.reading import Draft, Format, Source, table_of

__all__ = ["FORMAT", "MODELS", "read"]

FORMAT = Format(
    "adaptdl",
    "Pollux and Sia simulators: name, time, application, num_replicas, batch_size; no running times",
    "gangopt.instances.workload.formats.adaptdl",
    required=("name", "time", "application", "num_replicas", "batch_size"),
)

MODELS = frozenset({"cifar10", "imagenet", "bert", "deepspeech2", "yolov3", "ncf"})
"""Applications in the workloads of the simulators."""


def read(source: Source) -> Draft:
    """Return the jobs of a Pollux or Sia workload: time in s from its start, num_replicas GPUs, global batch size.

    Running times depend on the simulators' models of the applications, so `duration` is unknown (`no-durations`).

    References
    ----------
    Qiao et al.: Pollux, OSDI 2021; Jayaram Subramanya et al.: Sia, SOSP 2023; their simulators.
    """
    import polars as pl

    rows = table_of(source, FORMAT)
    rows.names("name")
    rows.names("application", optional=True)
    rows.numbers("num_replicas", least=1, whole=True)
    rows.numbers("time")
    rows.numbers("batch_size", above=0, optional=True)
    source.tally.warn("no-durations", rows.frame.height, "the format has no running times")
    columns = {
        "id": pl.col("name"),
        "arrival": pl.col("time"),
        "gpus": pl.col("num_replicas"),
        "model": pl.col("application"),
        "batch": pl.col("batch_size"),
    }
    return Draft(rows, columns, "jobs of a Pollux or Sia workload, times in s", MODELS)
