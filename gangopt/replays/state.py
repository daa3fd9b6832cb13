"""State of the jobs and GPUs at a moment of a replay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gangopt.base.types import Bools, Floats, Ints
from gangopt.replays.costs import Overheads
from gangopt.replays.machines import Machines, Place
from gangopt.replays.ties import resolution_of

if TYPE_CHECKING:
    from gangopt.instances.workload.job_table import JobTable
    from gangopt.topology import Cluster

__all__ = ["DONE", "RUNNING", "WAITING", "State"]

HIDDEN, WAITING, RUNNING, DONE = 0, 1, 2, 3

Jobs = Ints | Sequence[int]


class State:
    """Jobs, GPUs and time, as a policy sees them. Policies must only read; the engine makes all changes.

    Times are in s since the first arrival, work in s of the logged duration on the logged GPUs, service in GPU s.
    Arrays have one entry per job in the workload's order.

    Parameters
    ----------
    workload : JobTable
        Jobs, each with a duration.
    cluster : Cluster or None
        Machines, or None for a number of GPUs.
    n_gpus : int
        Number of GPUs.
    seed : int
        Random seed of `rng`.
    overheads : Overheads or None, optional
        Overheads of starts and spread placements, None for none.

    Attributes
    ----------
    now : float
        Current time, s.
    origin : float
        First arrival on the workload's clock, s; time 0 of the replay.
    resolution : float
        Times closer than this are equal, s.
    service_resolution : float
        Services closer than this are equal, GPU s: the service of the largest gang within the resolution.
    workload, cluster : JobTable, Cluster or None
        Workload and cluster as given.
    n_gpus, n_free : int
        Number of GPUs, and of GPUs not held by any job.
    machines : Machines or None
        Free GPUs per machine, None for a number of GPUs.
    arrived, ended : ndarray of int
        Jobs that arrived and ended since the last decision.
    active : ndarray of int
        Waiting and running jobs in order of arrival.
    gpus, duration : ndarray of int or ndarray of float
        GPUs and duration of each job in the workload.
    arrival : ndarray of float
        Arrival of each job, s since the first arrival.
    status : ndarray of int
        Status of each job: 0 not yet submitted, 1 waiting, 2 running, 3 ended.
    held : ndarray of int
        GPUs that each job holds.
    first_start : ndarray of float
        First start of each job, infinite before.
    submitted : ndarray of float
        Submission of each job: its arrival, or the end of the preceding phase of its app if that is later.
    overheads : Overheads
        Overheads of starts and spread placements.
    sensitive : ndarray of bool
        Whether each job is network-intensive.
    starts : ndarray of int
        Number of starts of each job.
    asked_rate : ndarray of float
        Progress per second that the policy set for each job's run, before slowdowns.
    ended_at : ndarray of float
        End of each job, nan before.
    place : list of Place
        (machine, GPUs) pairs of each running job, empty without machines.
    rng : numpy.random.Generator
        Random numbers of the policy.
    """

    def __init__(
        self,
        workload: JobTable,
        cluster: Cluster | None,
        n_gpus: int,
        seed: int,
        overheads: Overheads | None = None,
    ) -> None:
        n = len(workload)
        self.overheads = Overheads() if overheads is None else overheads
        self.sensitive: Bools = workload.numbers("network_intensive") == 1.0
        self.workload, self.cluster, self.n_gpus = workload, cluster, n_gpus
        self.machines = None if cluster is None else Machines(cluster)
        self.rng = np.random.default_rng(seed)
        self.now = -math.inf
        self.n_free = n_gpus
        self.arrived: Ints = np.empty(0, dtype=np.int64)
        self.ended: Ints = np.empty(0, dtype=np.int64)
        self.active: Ints = np.empty(0, dtype=np.int64)
        self.gpus: Ints = workload.gpus
        self.origin = workload.begin
        self.arrival: Floats = workload.arrival - self.origin
        self.duration: Floats = workload.duration
        self.resolution = resolution_of(self.arrival, self.gpus, self.duration, n_gpus)
        self.service_resolution = self.resolution * int(self.gpus.max(initial=1))
        self.status: npt.NDArray[np.int8] = np.zeros(n, dtype=np.int8)
        self.held: Ints = np.zeros(n, dtype=np.int64)
        self.first_start: Floats = np.full(n, np.inf)
        self.submitted: Floats = np.full(n, np.inf)
        self.starts: Ints = np.zeros(n, dtype=np.int64)
        self.ended_at: Floats = np.full(n, np.nan)
        self.place: list[Place] = [()] * n
        self.finish: Floats = np.full(n, np.inf)
        self._running: Ints | None = None
        self._left: Floats = self.duration.copy()
        self._rate: Floats = np.ones(n)
        self.asked_rate: Floats = np.ones(n)
        self._since: Floats = self.arrival.copy()
        self._ready: Floats = self.arrival.copy()
        self._service: Floats = np.zeros(n)
        self._executed: Floats = np.zeros(n)
        self._done: Floats = np.zeros(n)

    @property
    def running(self) -> Ints:
        """Running jobs in order of arrival."""
        if self._running is None:
            self._running = self.active[self.status[self.active] == RUNNING]
        return self._running

    @property
    def waiting(self) -> Ints:
        """Waiting jobs in order of arrival."""
        return np.asarray(self.active[self.status[self.active] == WAITING], dtype=np.int64)

    def is_running(self, jobs: Jobs) -> Bools:
        """Return whether each job runs."""
        return np.asarray(self.status[jobs] == RUNNING)

    def remaining(self, jobs: Jobs) -> Floats:
        """Return the remaining work of each job in s of its logged duration, which a real scheduler does not know."""
        left = self._left[jobs]
        (at,) = (self.status[jobs] == RUNNING).nonzero()
        if len(at):
            chosen = np.asarray(jobs)[at]
            left[at] = (self.finish[chosen] - np.maximum(self.now, self._ready[chosen])) * self._rate[chosen]
        return left

    def executed(self, jobs: Jobs) -> Floats:
        """Return the time that each job has run, in s."""
        return np.asarray(self._executed[jobs] + np.where(self.is_running(jobs), self.now - self._since[jobs], 0.0))

    def service(self, jobs: Jobs) -> Floats:
        """Return the attained service of each job, GPUs held times time, in GPU s."""
        return np.asarray(self._service[jobs] + self.held[jobs] * (self.now - self._since[jobs]))

    def waited(self, jobs: Jobs) -> Floats:
        """Return the time that each job has waited since it stopped or was submitted, in s; 0 for running jobs."""
        return np.where(self.is_running(jobs), 0.0, self.now - self._since[jobs])

    def slowdown(self, level: str, jobs: Sequence[int]) -> float:
        """Return the largest factor on the step time of jobs placed across a topology level; 1 without jobs."""
        return max((self.overheads.slowdown(level, bool(self.sensitive[job])) for job in jobs), default=1.0)

    def run_seconds(self, job: int) -> float:
        """Return the time that a running job has run since its last start, in s."""
        return float(self.now - self._since[job])

    def submit(self, jobs: Ints) -> None:
        """Add new jobs as waiting; only for the engine."""
        self._running = None
        self.status[jobs] = WAITING
        self._since[jobs] = self.now
        self.submitted[jobs] = self.now
        last = self.active[-1] if len(self.active) else -1
        self.active = np.concatenate([self.active, jobs])
        if jobs[0] < last:
            self.active.sort()

    def start(self, jobs: Ints, gpus: Ints, rates: Floats, delays: Floats) -> None:
        """Start jobs, which progress after `delays` seconds; only for the engine."""
        self._running = None
        self.status[jobs] = RUNNING
        self.first_start[jobs] = np.minimum(self.first_start[jobs], self.now)
        self.starts[jobs] += 1
        self.held[jobs] = gpus
        self.n_free -= int(gpus.sum())
        self._rate[jobs] = rates
        self._since[jobs] = self.now
        self._ready[jobs] = self.now + delays
        self.finish[jobs] = self.now + delays + self._left[jobs] / rates

    def stop(self, jobs: Ints) -> None:
        """Stop running jobs, which wait again; only for the engine."""
        self._left[jobs] -= self._leave(jobs)
        self.finish[jobs] = math.inf
        self.status[jobs] = WAITING
        self._since[jobs] = self.now

    def end(self, jobs: Ints) -> None:
        """End running jobs that finish now; only for the engine."""
        self._leave(jobs)
        self._left[jobs] = 0.0
        self.status[jobs] = DONE
        self.ended_at[jobs] = self.now
        self.active = self.active[self.status[self.active] != DONE]
        self.finish[jobs] = math.inf

    def _leave(self, jobs: Ints) -> Floats:
        """Release the GPUs of running jobs and return the work that each has done in this run."""
        seconds = self.now - self._since[jobs]
        progress = np.maximum(0.0, self.now - self._ready[jobs]) * self._rate[jobs]
        held = self.held[jobs]
        self._executed[jobs] += seconds
        self._service[jobs] += seconds * held
        self._done[jobs] += progress
        self._running = None
        self.n_free += int(held.sum())
        self.held[jobs] = 0
        return np.asarray(progress)

    def work_done(self, jobs: Jobs) -> Floats:
        """Return the work done in the ended runs of each job, rate times time, in s of its logged duration."""
        return self._done[jobs]

    def work_resolution(self, jobs: Jobs) -> Floats:
        """Return the work of each job within the resolution at its last rate, in s of its logged duration."""
        return np.asarray(self.resolution * self._rate[jobs])
