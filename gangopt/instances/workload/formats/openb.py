"""Pods of Alibaba's GPU cluster of 2023 (openb), each on one node, many with a share of a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.instances.workload.reading import Draft, Format, Source, table_of

if TYPE_CHECKING:
    import polars as pl

    from gangopt.instances.workload.rows import Rows

__all__ = ["FORMAT", "read"]

FORMAT = Format(
    "openb",
    "Alibaba openb pods (2023): name, cpu_milli, memory_mib, num_gpu, gpu_milli and times in s",
    "gangopt.instances.workload.formats.openb",
    required=("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"),
    optional=("gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time"),
)

_TIMES = ("creation_time", "deletion_time", "scheduled_time")


def read(source: Source) -> Draft:
    """Return the GPU pods of an openb list.

    arrival is creation_time, start is scheduled_time, and duration is deletion_time - scheduled_time, all in s. The
    duration of a pod that was never scheduled is unknown (`never-ran`). The deletion_time of a pod in phase Running is
    the end of the log, so its duration is a lower limit (`censored-durations`). In lists without times, every pod
    arrives at 0 (`no-times`). A pod is one worker on one node; gpu_milli < 1000 is a share of one GPU. cpu_milli / 1000
    is the number of cores, memory_mib / 1024 the memory in GB. Pods without GPUs are skipped (`cpu-only`). qos is
    ignored.

    References
    ----------
    Weng et al.: Beware of Fragmentation, USENIX ATC 2023; Alibaba cluster-trace-gpu-v2023.
    """
    import polars as pl

    rows = table_of(source, FORMAT)
    rows.names("name")
    rows.numbers("num_gpu", "gpu_milli", whole=True)
    rows.numbers("cpu_milli", "memory_mib")
    rows.warn("cpu-only", rows.frame["num_gpu"] == 0, lambda row: f"pod {row['name']} has no GPUs", dropped=True)
    rows.refuse(
        "bad-shares",
        ~rows.frame["gpu_milli"].is_between(1, 1000) | ((rows.frame["num_gpu"] > 1) & (rows.frame["gpu_milli"] < 1000)),
        lambda row: (
            "gpu_milli must be from 1 to 1000, and 1000 for several GPUs "
            f"(got {row['gpu_milli']} with num_gpu {row['num_gpu']})"
        ),
    )
    columns = {
        "id": pl.col("name"),
        "gpus": pl.col("num_gpu"),
        "gpu_share": pl.when(pl.col("gpu_milli") < 1000).then(pl.col("gpu_milli") / 1000),
        "workers": pl.lit(1),
        "cpu": pl.col("cpu_milli") / 1000,
        "memory": pl.col("memory_mib") / 1024,
        **_times(rows),
    }
    if "gpu_spec" in rows.frame.columns:
        rows.names("gpu_spec", optional=True)
        types = pl.col("gpu_spec").str.split("|").list.unique(maintain_order=True).list.join("|")
        columns["gpu_type"] = types
    if "pod_phase" in rows.frame.columns:
        rows.names("pod_phase", optional=True)
        columns["status"] = pl.col("pod_phase")
    elif "duration" in columns:
        message = "without pod_phase, durations of pods that still ran cannot be told from whole ones"
        rows.tally.warn("unknown-phases", rows.frame.height, message)
    return Draft(rows, columns, "pods of an openb list, times in s")


def _times(rows: Rows) -> dict[str, pl.Expr]:
    import polars as pl

    if not all(name in rows.frame.columns for name in _TIMES):
        rows.tally.warn("no-times", rows.frame.height, "the list has no times: every pod arrives at 0")
        return {"arrival": pl.lit(0.0)}
    rows.numbers("creation_time")
    rows.numbers("deletion_time", "scheduled_time", optional=True)
    rows.warn(
        "never-ran",
        rows.frame["scheduled_time"].is_null() | rows.frame["deletion_time"].is_null(),
        lambda row: f"pod {row['name']} was not scheduled or did not end; its duration is unknown",
    )
    rows.refuse(
        "early-starts",
        rows.frame["scheduled_time"] < rows.frame["creation_time"],
        lambda row: f"pod {row['name']} is scheduled before it is created",
    )
    rows.refuse(
        "no-running-time",
        rows.frame["deletion_time"] <= rows.frame["scheduled_time"],
        lambda row: (
            f"pod {row['name']} is deleted at {row['deletion_time']:.15g} s but scheduled only "
            f"at {row['scheduled_time']:.15g} s"
        ),
    )
    return {
        "arrival": pl.col("creation_time"),
        "start": pl.col("scheduled_time"),
        "duration": pl.col("deletion_time") - pl.col("scheduled_time"),
    }
