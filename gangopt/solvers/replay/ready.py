"""Which jobs of a workload can be replayed on a cluster, and what becomes of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gangopt.errors import InputError
from gangopt.instances.workload_notices import Notice

if TYPE_CHECKING:
    from gangopt.instances.workload import Workload

__all__ = ["check_durations", "check_sizes", "replayable"]


def check_durations(workload: Workload) -> None:
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
            f"job {workload.ids[job]}: a duration of {workload.duration[job]:g} s is lost beside its arrival at "
            f"{workload.arrival[job]:.17g} s; longer durations or arrivals nearer 0 are needed"
        )


def _unresolved(workload: Workload) -> npt.NDArray[np.bool_]:
    return np.asarray(workload.arrival + workload.duration == workload.arrival)


def check_sizes(workload: Workload, n_gpus: int, cluster: str) -> None:
    """Check that no gang is larger than the cluster.

    Raises
    ------
    InputError
        Tells how many are, and names the first.
    """
    too_large = np.flatnonzero(workload.gpus > n_gpus)
    if len(too_large):
        job = int(too_large[0])
        raise InputError(
            f"{len(too_large)} of {len(workload)} jobs are larger than the cluster {cluster}".rstrip()
            + f" of {n_gpus} GPUs, the first is {workload.ids[job]} with {workload.gpus[job]}"
        )


def replayable(workload: Workload, n_gpus: int) -> Workload:
    """Leave out the jobs that no policy could replay, with a notice of each kind.

    Parameters
    ----------
    workload : the jobs
    n_gpus : GPUs of the cluster

    Returns
    -------
    Workload
        The jobs that have a duration and fit the cluster; notices `unknown-durations`, `larger-than-the-cluster` and
        `lost-durations` (too short beside the arrival) count the others.
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
