"""Jobs of the ElasticFlow simulator: with global batch sizes and deadlines."""

from __future__ import annotations

from gangopt.instances.workload.reading import Draft, Format, Source, table_of

__all__ = ["FORMAT", "MODELS", "read"]

FORMAT = Format(
    "elasticflow",
    "ElasticFlow simulator: job_id, submit_time, model_name, ddl, batch_size, num_gpu, duration, iteration in s",
    "gangopt.instances.workload.formats.elasticflow",
    required=("job_id", "submit_time", "model_name", "ddl", "batch_size", "num_gpu", "duration", "iteration"),
    optional=("real_iteration", "real_duration", "best_effort"),
)

MODELS = frozenset({"vgg16", "resnet50", "inception3", "bert", "gpt2", "deepspeech2"})
"""Networks of ElasticFlow's own traces."""


def read(source: Source) -> Draft:
    """Return the jobs of an ElasticFlow file.

    ddl is the deadline on the clock of submit_time, in s; one before submit_time + duration, which no scheduler meets
    on the logged GPUs, is counted as `early-deadlines`. A real_duration that differs from duration is counted as
    `other-durations`; duration counts. A best-effort job (best_effort 1) has no deadline. real_iteration is not read.

    References
    ----------
    Gu et al.: ElasticFlow, ASPLOS 2023; its simulator.
    """
    import polars as pl

    rows = table_of(source, FORMAT)
    rows.names("job_id")
    rows.names("model_name", optional=True)
    rows.numbers("num_gpu", least=1, whole=True)
    rows.numbers("submit_time", "ddl")
    rows.numbers("duration", "iteration", above=0)
    rows.numbers("batch_size", above=0, optional=True)
    deadline = pl.col("ddl")
    if "best_effort" in rows.frame.columns:
        rows.numbers("best_effort", whole=True)
        deadline = pl.when(pl.col("best_effort") == 0).then(deadline)
    if "real_duration" in rows.frame.columns:
        rows.numbers("real_duration", above=0, optional=True)
        rows.warn(
            "other-durations",
            rows.frame["real_duration"] != rows.frame["duration"],
            lambda row: f"real_duration {row['real_duration']:g} s, duration {row['duration']:g} s; duration counts",
        )
    rows.warn(
        "early-deadlines",
        rows.frame.select(deadline < pl.col("submit_time") + pl.col("duration")).to_series(),
        lambda row: (
            f"deadline {row['ddl']:g} s is before submit_time + duration = {row['submit_time'] + row['duration']:g} s"
        ),
    )
    columns = {
        "id": pl.col("job_id"),
        "arrival": pl.col("submit_time"),
        "gpus": pl.col("num_gpu"),
        "duration": pl.col("duration"),
        "steps": pl.col("iteration"),
        "model": pl.col("model_name"),
        "batch": pl.col("batch_size"),
        "deadline": deadline,
    }
    return Draft(rows, columns, "jobs of an ElasticFlow file, times in s", MODELS)
