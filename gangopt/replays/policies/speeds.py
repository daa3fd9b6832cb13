"""Speeds of a job on other numbers of GPUs than its gang."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.instances.workload.speed import FittedSpeed
from gangopt.replays.state import State

__all__ = ["FittedSpeeds", "LinearSpeeds", "SpeedModel", "speeds_of"]

SpeedModel = Literal["fitted", "linear"]


class FittedSpeeds:
    """Speeds f(p, w) from the workload's column `speed`, with the remaining work in steps.

    A worker uses the gang's GPUs divided by the logged number of workers. A parameter server runs on CPUs.

    Parameters
    ----------
    state : State
        State of the replay.
    max_tasks : int
        Maximum number of workers, and of parameter servers, of a job; the logged numbers are always allowed.

    Raises
    ------
    InputError
        If a job has no `speed`, `ps` or `workers`, or its GPUs are not a multiple of its workers.
    """

    def __init__(self, state: State, max_tasks: int) -> None:
        workload = state.workload
        workload.require("speed", "ps", "workers")
        self._fitted = [FittedSpeed.parse(text or "") for text in workload.texts("speed")]
        self._ps = np.maximum(workload.numbers("ps").astype(np.int64), 1)
        workers = workload.numbers("workers").astype(np.int64)
        uneven = np.flatnonzero(workload.gpus % workers)
        if len(uneven):
            job = int(uneven[0])
            name, given = workload.ids[job], workload.gpus[job]
            raise InputError(f"job {name}: gpus must be a multiple of its {workers[job]} workers (got {given})")
        self._worker_gpus = workload.gpus // workers
        self._max_ps, self._max_workers = np.maximum(self._ps, max_tasks), np.maximum(workers, max_tasks)
        pairs = zip(self._fitted, self._ps.tolist(), workers.tolist(), strict=True)
        self._logged = np.array([fitted.steps_a_second(p, w) for fitted, p, w in pairs])
        if not np.isfinite(self._logged).all():
            raise InputError(
                f"job {workload.ids[int(np.argmin(np.isfinite(self._logged)))]}: fitted speed must be finite"
            )

    def least_gpus(self, jobs: Ints) -> Ints:
        """Return the GPUs of the smallest configuration of each job."""
        return np.asarray(self._worker_gpus[jobs])

    def instance(self, state: State, jobs: Ints) -> AllocationInstance:
        """Return the allocation instance of workers and parameter servers for these jobs."""
        chosen = [self._fitted[job] for job in jobs.tolist()]
        theta = np.zeros((len(jobs), 5))
        for row, fitted in enumerate(chosen):
            theta[row, : len(fitted.theta)] = fitted.theta
        most = state.n_gpus // self._worker_gpus[jobs]
        return AllocationInstance(
            name="allocation/replay",
            resources=("gpu",),
            units=("GPU",),
            capacity=np.array([float(state.n_gpus)]),
            jobs=tuple(state.workload.ids[job] for job in jobs.tolist()),
            steps=state.remaining(jobs) * self._logged[jobs],
            mode=tuple(fitted.mode for fitted in chosen),
            theta=theta,
            batch=np.array([fitted.batch for fitted in chosen]),
            tables=(),
            table_labels=(),
            table=np.full(len(jobs), -1, dtype=np.int64),
            worker_demand=self._worker_gpus[jobs].astype(np.float64)[:, None],
            ps_demand=np.zeros((len(jobs), 1)),
            max_workers=np.minimum(self._max_workers[jobs], np.maximum(most, 1)),
            max_ps=self._max_ps[jobs],
            progress=1.0 - np.clip(state.remaining(jobs) / state.duration[jobs], 0.0, 1.0),
        )

    def shapes(self, jobs: Ints, solution: AllocationSolution) -> tuple[Ints, Floats]:
        """Return GPUs and progress per second of each job under a solution."""
        workers = np.array(solution.workers, dtype=np.int64)
        triples = zip(jobs.tolist(), solution.parameter_servers, solution.workers, strict=True)
        speeds = np.array([self._fitted[job].steps_a_second(p, w) for job, p, w in triples])
        return workers * self._worker_gpus[jobs], speeds / self._logged[jobs]


class LinearSpeeds:
    """Speeds proportional to the GPUs, up to those of the gang, as in THEMIS, equation 1.

    Parameters
    ----------
    state : State
        State of the replay.
    """

    def __init__(self, state: State) -> None:
        self._gang = state.gpus
        sizes = sorted(set(state.gpus.tolist()))
        self._table = {size: at for at, size in enumerate(sizes)}
        self._speeds = tuple(np.arange(1.0, size + 1)[None, :] for size in sizes)
        self._labels = tuple(f"linear-{size}" for size in sizes)

    def least_gpus(self, jobs: Ints) -> Ints:
        """Return the GPUs of the smallest configuration of each job."""
        return np.ones(len(jobs), dtype=np.int64)

    def instance(self, state: State, jobs: Ints) -> AllocationInstance:
        """Return the allocation instance of GPUs for these jobs."""
        sizes = state.gpus[jobs]
        return AllocationInstance(
            name="allocation/replay",
            resources=("gpu",),
            units=("GPU",),
            capacity=np.array([float(state.n_gpus)]),
            jobs=tuple(state.workload.ids[job] for job in jobs.tolist()),
            steps=state.remaining(jobs) * sizes,
            mode=("table",) * len(jobs),
            theta=np.zeros((len(jobs), 5)),
            batch=np.zeros(len(jobs)),
            tables=self._speeds,
            table_labels=self._labels,
            table=np.array([self._table[size] for size in sizes.tolist()], dtype=np.int64),
            worker_demand=np.ones((len(jobs), 1)),
            ps_demand=np.zeros((len(jobs), 1)),
            max_workers=sizes.copy(),
            max_ps=np.ones(len(jobs), dtype=np.int64),
            progress=1.0 - np.clip(state.remaining(jobs) / state.duration[jobs], 0.0, 1.0),
        )

    def shapes(self, jobs: Ints, solution: AllocationSolution) -> tuple[Ints, Floats]:
        """Return GPUs and progress per second of each job under a solution."""
        workers = np.array(solution.workers, dtype=np.int64)
        return workers, workers / self._gang[jobs]


def speeds_of(state: State, model: SpeedModel, max_tasks: int) -> FittedSpeeds | LinearSpeeds:
    """Return the speed model of a replay's jobs."""
    return FittedSpeeds(state, max_tasks) if model == "fitted" else LinearSpeeds(state)
