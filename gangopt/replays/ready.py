"""Checks of whether the jobs of a workload can be replayed on a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Bools
from gangopt.instances.workload.notices import Notice

if TYPE_CHECKING:
    from gangopt.instances.workload.job_table import JobTable
    from gangopt.instances.workload.workload import Workload
    from gangopt.topology import Cluster

__all__ = ["check_durations", "check_sizes", "ignored_demands", "replayable"]


def check_durations(workload: JobTable) -> None:
    """Check that every duration is resolved next to its arrival in double precision.

    Raises
    ------
    InputError
        If not; names the first such job.
    """
    short = _unresolved(workload)
    if short.any():
        job = int(np.argmax(short))
        raise InputError(
            f"job {workload.ids[job]}: duration {workload.duration[job]:g} s is lost in double precision next to its "
            f"arrival {workload.arrival[job] - workload.begin:.17g} s after the first one; use longer durations or "
            "closer arrivals"
        )


def _unresolved(workload: JobTable) -> Bools:
    arrival = workload.arrival - workload.begin
    return np.asarray(arrival + workload.duration == arrival)


def check_sizes(workload: JobTable, n_gpus: int, cluster: str) -> None:
    """Check that no gang is larger than the cluster.

    Parameters
    ----------
    workload : JobTable
        Jobs to check.
    n_gpus : int
        GPUs of the cluster.
    cluster : str
        Name of the cluster, empty for a number of GPUs.

    Raises
    ------
    InputError
        If one is; reports how many, and names the first.
    """
    too_large = np.flatnonzero(workload.gpus > n_gpus)
    if len(too_large):
        job = int(too_large[0])
        raise InputError(
            f"{len(too_large)} of {len(workload)} jobs are larger than the cluster {cluster}".rstrip()
            + f" with {n_gpus} GPUs; the first is {workload.ids[job]} with {workload.gpus[job]} GPUs"
        )


def ignored_demands(workload: Workload, cluster: Cluster | None) -> tuple[Notice, ...]:
    """Return a notice for each kind of request that a replay ignores.

    Parameters
    ----------
    workload : Workload
        Replayed jobs.
    cluster : Cluster or None
        Machines, None for a number of GPUs.

    Returns
    -------
    tuple of Notice
        `gpu-type-ignored` counts jobs that request GPU types, unless all machines are known to have them; `cpu-ignored`
        and `memory-ignored` count jobs that request cores and memory.
    """
    found = []
    types = workload.texts("gpu_type")
    named = {kind: _may_differ(kind, cluster) for kind in set(types) if kind is not None}
    for name, concerned, request in (
        ("gpu-type-ignored", [kind is not None and named[kind] for kind in types], "GPUs of type {}"),
        ("cpu-ignored", workload.numbers("cpu") > 0, "{:g} cores"),
        ("memory-ignored", workload.numbers("memory") > 0, "{:g} GB of memory"),
    ):
        count = int(np.count_nonzero(concerned))
        if count:
            job = int(np.argmax(concerned))
            value = workload.frame[name.removesuffix("-ignored").replace("-", "_")][job]
            rule = "but replays place jobs by number of GPUs only"
            found.append(Notice(name, count, f"job {workload.ids[job]} requests {request.format(value)}, {rule}"))
    return tuple(found)


def _may_differ(kind: str, cluster: Cluster | None) -> bool:
    """Return whether a job that requests these GPU types may get GPUs of another or unknown type."""
    if cluster is None:
        return True
    types = set(kind.split("|"))
    machines = zip(cluster.gpu_types, cluster.gpus_per_machine.tolist(), strict=True)
    return any(gpus and of not in types for of, gpus in machines)


def replayable(workload: Workload, n_gpus: int) -> Workload:
    """Drop the jobs that cannot be replayed, with a notice of each kind.

    Parameters
    ----------
    workload : Workload
        Jobs to filter.
    n_gpus : int
        GPUs of the cluster.

    Returns
    -------
    Workload
        Jobs with a duration that fit the cluster; notices `unknown-durations`, `larger-than-the-cluster` and
        `lost-durations` (lost in double precision next to the arrival) count the others.
    """
    import polars as pl

    unknown, large = ~np.isfinite(workload.duration), workload.gpus > n_gpus
    lost = _unresolved(workload) & ~large
    notices = list(workload.notices)
    for name, wrong, reason in (
        ("unknown-durations", unknown, "has no duration"),
        ("larger-than-the-cluster", large & ~unknown, f"requests more than the {n_gpus} GPUs of the cluster"),
        ("lost-durations", lost, "has a duration that is lost in double precision next to its arrival"),
    ):
        if wrong.any():
            message = f"job {workload.ids[int(np.argmax(wrong))]} {reason}"
            notices.append(Notice(name, int(wrong.sum()), message, dropped=True))
    keep = pl.Series(~(unknown | large | lost), dtype=pl.Boolean)
    return replace(workload, frame=workload.frame.filter(keep), notices=tuple(notices))
