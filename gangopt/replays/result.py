"""Result of a replay: per-job figures, metrics and the event log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.contract import Record
from gangopt.base.presented import Presented
from gangopt.base.types import Floats, Ints
from gangopt.instances.finish_time import jain
from gangopt.replays.fairness import finish_time_fairness

if TYPE_CHECKING:
    import polars as pl

    from gangopt.instances.workload.notices import Notice
    from gangopt.instances.workload.workload import Workload
    from gangopt.replays.log import Log

__all__ = ["METRICS", "Replay", "Times"]

METRICS: Mapping[str, str] = {
    "jobs": "",
    "avg_jct": "s",
    "median_jct": "s",
    "p95_jct": "s",
    "max_jct": "s",
    "makespan": "s",
    "avg_queueing": "s",
    "preemptions": "stops",
    "gpu_seconds": "GPU s",
    "utilisation": "share of the GPUs until the last end",
    "max_rho": "",
    "mean_rho": "",
    "jain": "",
    "placement_score": "",
}
"""Unit of each metric, by name."""


@dataclass(frozen=True, eq=False)
class Times(Record):
    """Submission, first start and end of each job in s since the first arrival, shape (jobs,)."""

    submitted: Floats
    first_start: Floats
    end: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Replay(Presented, Record):
    """Replay of one workload under one policy; equal to another with the same figures, whatever its wall time.

    Attributes
    ----------
    workload : Workload
        Replayed jobs.
    policy : str
        Name of the policy with its options.
    cluster : str
        Name of the cluster, empty for a number of GPUs.
    n_gpus : int
        GPUs of the cluster.
    seed : int
        Random seed of the policy.
    after : Times
        Submission, first start and end of each job.
    executed : ndarray of float
        Time for which each job held GPUs, s, shape (jobs,).
    service : ndarray of float
        Attained service of each job, GPU s, shape (jobs,).
    starts : ndarray of int
        Number of starts of each job, shape (jobs,).
    fixed_gangs : bool
        Whether every job always held the GPUs of the workload and never ran faster than logged.
    localities : mapping of str to float
        Running time of jobs by the narrowest topology level that held them, s; empty for a number of GPUs.
    seconds : float
        Wall time of the replay, s.
    log : Log
        All arrivals, starts, stops and ends.
    machine_gpus : tuple of int
        GPUs of each machine, empty for a number of GPUs.
    notices : tuple of Notice
        Requests of jobs that the replay ignored: GPU types, cores, memory.
    """

    report = "gangopt.reporting.replay:replay_text"

    workload: Workload
    policy: str
    cluster: str
    n_gpus: int
    seed: int
    after: Times
    executed: Floats
    service: Floats
    starts: Ints
    fixed_gangs: bool
    localities: Mapping[str, float]
    seconds: float = field(compare=False)
    log: Log
    machine_gpus: tuple[int, ...] = ()
    notices: tuple[Notice, ...] = ()

    # workload and log are compared by content and have no hash
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        where = f"cluster={self.cluster!r}, n_gpus={self.n_gpus}"
        return f"Replay(workload={self.workload.name!r}, policy={self.policy!r}, {where}, jobs={len(self.workload)})"

    @cached_property
    def submitted(self) -> Floats:
        """Submission of each job in s on the workload's clock: its arrival, or the end of earlier phases."""
        return np.asarray(self.workload.begin + self.after.submitted)

    @cached_property
    def first_start(self) -> Floats:
        """First start of each job in s on the workload's clock."""
        return np.asarray(self.workload.begin + self.after.first_start)

    @cached_property
    def end(self) -> Floats:
        """End of each job in s on the workload's clock."""
        return np.asarray(self.workload.begin + self.after.end)

    @cached_property
    def jct(self) -> Floats:
        """Completion time of each job in s, from its arrival to its end."""
        return np.asarray(self.after.end - (self.workload.arrival - self.workload.begin))

    @cached_property
    def queueing(self) -> Floats:
        """Waiting time of each job in s since its submission, before its first start and between runs."""
        return np.asarray(self.after.end - self.after.submitted - self.executed)

    @cached_property
    def rho(self) -> Floats:
        """Finish-time fairness of each app; a job without an app counts as an app."""
        return finish_time_fairness(self.workload.from_zero(), self.after.end, self.n_gpus)

    @cached_property
    def metrics(self) -> dict[str, float | int | None]:
        """Metrics of the replay by name; `METRICS` has their units."""
        if not len(self.workload):
            return {name: 0 if name in {"jobs", "preemptions"} else None for name in METRICS}
        jct, span = self.jct, float(self.after.end.max())
        return {
            "jobs": len(jct),
            "avg_jct": float(jct.mean()),
            "median_jct": float(np.median(jct)),
            "p95_jct": float(np.percentile(jct, 95)),
            "max_jct": float(jct.max()),
            "makespan": span,
            "avg_queueing": float(self.queueing.mean()),
            "preemptions": int((self.starts - 1).sum()),
            "gpu_seconds": float(self.service.sum()),
            "utilisation": float(self.service.sum()) / (self.n_gpus * span),
            "max_rho": float(self.rho.max()),
            "mean_rho": float(self.rho.mean()),
            "jain": jain(self.rho.tolist()) if self.rho.any() else None,
            "placement_score": self._placement_score(),
        }

    def _placement_score(self) -> float | None:
        """Return the share of running time that jobs spent on a single machine."""
        total = sum(self.localities.values())
        return self.localities.get("machine", 0.0) / total if total else None

    def jobs(self) -> pl.DataFrame:
        """Return one row per job: id, gpus, arrival, ..., executed (all s), service (GPU s), starts."""
        import polars as pl

        return pl.DataFrame(
            {
                "id": pl.Series(self.workload.ids, dtype=pl.String),
                "gpus": self.workload.gpus,
                "arrival": self.workload.arrival,
                "first_start": self.first_start,
                "end": self.end,
                "jct": self.jct,
                "queueing": self.queueing,
                "executed": self.executed,
                "service": self.service,
                "starts": self.starts,
            }
        )

    def events(self) -> pl.DataFrame:
        """Return one row per event: time (s), event, job, id, gpus, delay (s), machines."""
        return self.log.frame(self.workload.ids, self.workload.begin)

    def bins(self, *, gpus: int = 8, seconds: float = 4 * 3600.0) -> dict[str, dict[str, Any]]:
        """Return completion times in four bins by size and length (Tiresias, table 3).

        Parameters
        ----------
        gpus : int, optional
            Size of the largest small gang.
        seconds : float, optional
            Smallest long duration, s.

        Returns
        -------
        dict
            `jobs`, `avg_jct`, `median_jct` and `p95_jct` (s, None in an empty bin) by bin: `SS`, `SL`, `LS`, `LL` for
            small or large, short or long.
        """
        large, long = self.workload.gpus > gpus, self.workload.duration >= seconds
        chosen = {"SS": ~large & ~long, "SL": ~large & long, "LS": large & ~long, "LL": large & long}
        return {name: _bin(self.jct[mask]) for name, mask in chosen.items()}


def _bin(jct: Floats) -> dict[str, Any]:
    if not len(jct):
        return {"jobs": 0, "avg_jct": None, "median_jct": None, "p95_jct": None}
    return {
        "jobs": len(jct),
        "avg_jct": float(jct.mean()),
        "median_jct": float(np.median(jct)),
        "p95_jct": float(np.percentile(jct, 95)),
    }
