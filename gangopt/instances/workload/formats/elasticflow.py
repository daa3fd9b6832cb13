"""Jobs of the ElasticFlow simulator, with global batch sizes and deadlines."""

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
"""Networks in the traces of ElasticFlow."""


def read(source: Source) -> Draft:
    """Return the jobs of an ElasticFlow file.

    ddl is the deadline in s on the clock of submit_time. Deadlines before submit_time + duration, which cannot be met
    on the logged GPUs, are counted as `early-deadlines`. If real_duration differs from duration, duration is used and
    the job counted as `other-durations`. Best-effort jobs (best_effort 1) have no deadline. real_iteration is ignored.

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
            lambda row: (
                f"real_duration {row['real_duration']:g} s differs from duration {row['duration']:g} s, which is used"
            ),
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
