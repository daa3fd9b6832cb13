"""What a replay has shown: figures of every job, of the whole, and the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.instances.finish_time import jain
from gangopt.replays.fairness import finish_time_fairness
from gangopt.replays.records import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

    from gangopt.instances.workload.notices import Notice
    from gangopt.instances.workload.workload import Workload
    from gangopt.replays.log import Log

__all__ = ["METRICS", "Replay", "Times"]

METRICS: Mapping[str, str] = {
    "jobs": "jobs",
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


@dataclass(frozen=True)
class Times:
    """When each job began to wait, started first and ended, in s since the first arrival, shape (jobs,)."""

    submitted: Floats
    first_start: Floats
    end: Floats


@dataclass(frozen=True, eq=False)
class Replay:
    """One workload under one policy.

    Attributes
    ----------
    workload : Workload
        The jobs replayed.
    policy : str
        Its name, with the arguments that were given.
    cluster : str
        Name of the cluster, empty where GPUs were only counted.
    n_gpus : int
        GPUs of the cluster.
    seed : int
        Of the policy's random numbers.
    after : Times
        When each job was submitted, first started and ended, in s since the first arrival.
    executed : ndarray of float
        S that each job held GPUs, shape (jobs,).
    service : ndarray of float
        GPU s that each job held, shape (jobs,).
    starts : ndarray of int
        How often each job started, shape (jobs,).
    fixed_gangs : bool
        Whether every job always held the GPUs of the workload and was never faster than in it.
    localities : mapping of str to float
        Job seconds by narrowest level that held the job, empty where GPUs were only counted.
    seconds : float
        Wall time of the replay.
    log : Log
        Every arrival, start, stop and end.
    machine_gpus : tuple of int
        GPUs of each machine, empty where GPUs were only counted.
    notices : tuple of Notice
        What jobs asked for that the replay did not hold them to: GPU types, cores, memory.
    """

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
    seconds: float
    log: Log = field(repr=False)
    machine_gpus: tuple[int, ...] = ()
    notices: tuple[Notice, ...] = ()

    @cached_property
    def submitted(self) -> Floats:
        """When each job began to wait, in s on the workload's clock: at its arrival, or after the phases before it."""
        return np.asarray(self.workload.begin + self.after.submitted)

    @cached_property
    def first_start(self) -> Floats:
        """When each job started first, in s on the workload's clock."""
        return np.asarray(self.workload.begin + self.after.first_start)

    @cached_property
    def end(self) -> Floats:
        """When each job ended, in s on the workload's clock."""
        return np.asarray(self.workload.begin + self.after.end)

    @cached_property
    def jct(self) -> Floats:
        """Completion time of every job in s: from its arrival to its end."""
        return np.asarray(self.after.end - (self.workload.arrival - self.workload.begin))

    @cached_property
    def queueing(self) -> Floats:
        """Time in s that every job waited since it was submitted, before its first start and between runs."""
        return np.asarray(self.after.end - self.after.submitted - self.executed)

    @cached_property
    def rho(self) -> Floats:
        """Finish-time fairness of every app; a job without an app is one."""
        return finish_time_fairness(self.workload.from_zero(), self.after.end, self.n_gpus)

    @cached_property
    def metrics(self) -> dict[str, float | int | None]:
        """Figures of the whole by name; their units are in METRICS."""
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
        """Return the share of the job seconds that were spent on one machine."""
        total = sum(self.localities.values())
        return self.localities.get("machine", 0.0) / total if total else None

    def jobs(self) -> pl.DataFrame:
        """Return one row a job: id, arrival, first_start, end, jct, queueing, executed (s), service (GPU s), starts."""
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
        """Return the log, one row an event: time (s), event, job, id, gpus, delay (s), machines."""
        return self.log.frame(self.workload.ids, self.workload.begin)

    def bins(self, *, gpus: int = 8, seconds: float = 4 * 3600.0) -> dict[str, dict[str, Any]]:
        """Return the figures of the four bins by size and length (Tiresias, table 3).

        Parameters
        ----------
        gpus : int, optional
            Largest gang that is small.
        seconds : float, optional
            Least duration that is long.

        Returns
        -------
        dict
            By bin (`SS`, `SL`, `LS`, `LL`: small or large, short or long) jobs, and avg_jct, median_jct, p95_jct in
            s, None in an empty bin.
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
