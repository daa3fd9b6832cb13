"""Which jobs of a workload can be replayed on a cluster, and what becomes of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gangopt.base.errors import InputError
from gangopt.instances.workload.notices import Notice

if TYPE_CHECKING:
    from gangopt.instances.workload.job_table import JobTable
    from gangopt.instances.workload.workload import Workload
    from gangopt.topology import Cluster

__all__ = ["check_durations", "check_sizes", "ignored_demands", "replayable"]


def check_durations(workload: JobTable) -> None:
    """Check that every job ends later than it arrives, as numbers of 64 bits have it.

    Raises
    ------
    InputError
        Names the first job that does not.
    """
    short = _unresolved(workload)
    if short.any():
        job = int(np.argmax(short))
        raise InputError(
            f"job {workload.ids[job]}: a duration of {workload.duration[job]:g} s is lost beside its arrival "
            f"{workload.arrival[job] - workload.begin:.17g} s after the first one; longer durations or arrivals nearer "
            "each other are needed"
        )


def _unresolved(workload: JobTable) -> npt.NDArray[np.bool_]:
    arrival = workload.arrival - workload.begin
    return np.asarray(arrival + workload.duration == arrival)


def check_sizes(workload: JobTable, n_gpus: int, cluster: str) -> None:
    """Check that no gang is larger than the cluster.

    Parameters
    ----------
    workload : JobTable
        The jobs.
    n_gpus : int
        GPUs of the cluster.
    cluster : str
        Its name, empty where GPUs are only counted.

    Raises
    ------
    InputError
        Tells how many jobs are too large, and names the first.
    """
    too_large = np.flatnonzero(workload.gpus > n_gpus)
    if len(too_large):
        job = int(too_large[0])
        raise InputError(
            f"{len(too_large)} of {len(workload)} jobs are larger than the cluster {cluster}".rstrip()
            + f" of {n_gpus} GPUs, the first is {workload.ids[job]} with {workload.gpus[job]}"
        )


def ignored_demands(workload: Workload, cluster: Cluster | None) -> tuple[Notice, ...]:
    """Return a notice for each kind of demand that a replay does not hold the jobs to.

    Parameters
    ----------
    workload : Workload
        The jobs.
    cluster : Cluster or None
        Where they run, None where GPUs are only counted.

    Returns
    -------
    tuple of Notice
        `gpu-type-ignored` counts jobs that name GPU types, unless all machines are known to be of them;
        `cpu-ignored` and `memory-ignored` count jobs that ask for cores and memory.
    """
    found = []
    types = workload.texts("gpu_type")
    named = {kind: _may_differ(kind, cluster) for kind in set(types) if kind is not None}
    for name, concerned, wish in (
        ("gpu-type-ignored", [kind is not None and named[kind] for kind in types], "GPUs of type {}"),
        ("cpu-ignored", workload.numbers("cpu") > 0, "{:g} cores"),
        ("memory-ignored", workload.numbers("memory") > 0, "{:g} GB of memory"),
    ):
        count = int(np.count_nonzero(concerned))
        if count:
            job = int(np.argmax(concerned))
            value = workload.frame[name.removesuffix("-ignored").replace("-", "_")][job]
            rule = "replays place jobs by the number of GPUs alone"
            found.append(Notice(name, count, f"job {workload.ids[job]} asks for {wish.format(value)}, {rule}"))
    return tuple(found)


def _may_differ(kind: str, cluster: Cluster | None) -> bool:
    """Return whether a job that names these GPU types may be given GPUs that are not known to be of them."""
    if cluster is None:
        return True
    types = set(kind.split("|"))
    machines = zip(cluster.gpu_types, cluster.gpus_per_machine.tolist(), strict=True)
    return any(gpus and of not in types for of, gpus in machines)


def replayable(workload: Workload, n_gpus: int) -> Workload:
    """Leave out the jobs that no policy could replay, with a notice of each kind.

    Parameters
    ----------
    workload : Workload
        The jobs.
    n_gpus : int
        GPUs of the cluster.

    Returns
    -------
    Workload
        The jobs that have a duration and fit the cluster; notices `unknown-durations`, `larger-than-the-cluster`
        and `lost-durations` (too short beside the arrival) count the others.
    """
    import polars as pl

    unknown, large = ~np.isfinite(workload.duration), workload.gpus > n_gpus
    lost = _unresolved(workload) & ~large
    notices = list(workload.notices)
    for name, wrong, reason in (
        ("unknown-durations", unknown, "has no duration"),
        ("larger-than-the-cluster", large & ~unknown, f"needs more than the {n_gpus} GPUs there are"),
        ("lost-durations", lost, "has a duration that is lost beside its arrival"),
    ):
        if wrong.any():
            message = f"job {workload.ids[int(np.argmax(wrong))]} {reason}"
            notices.append(Notice(name, int(wrong.sum()), message, dropped=True))
    keep = pl.Series(~(unknown | large | lost), dtype=pl.Boolean)
    return replace(workload, frame=workload.frame.filter(keep), notices=tuple(notices))
