"""Gangs that arrive over time and share GPUs, with preemption: instance, solution and judge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from gangopt.base import checks
from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError, shown

__all__ = ["MAX_JOBS", "ROUNDING", "Run", "ScheduleInstance", "ScheduleSolution", "fewest_machines"]

MAX_JOBS = 1_000_000
"""Most jobs of one instance."""

MAX_GPUS = 1_000_000
"""Most GPUs of one cluster."""

WORK_TOLERANCE = 1e-9
"""Part of its running time by which the runs of a job may miss it."""

ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Part of the latest time by which two times may differ that are meant to be equal."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ScheduleInstance(Instance):
    """Jobs j that arrive at r_j and need W_j GPUs at once for d_j seconds in all; they can be stopped and resumed.

    Attributes
    ----------
    jobs : tuple of str
        Label of every job, index j from 0.
    arrival : ndarray
        R, s, shape (jobs,).
    gpus : ndarray
        W, GPUs of each gang, shape (jobs,), whole numbers.
    duration : ndarray
        D, running time on W GPUs, s, shape (jobs,), above 0.
    weight : ndarray or None
        V, what a second of the job counts, shape (jobs,), above 0; None is 1 for all.
    n_gpus : int
        G, GPUs of the cluster.
    machines : tuple of int
        GPUs of each machine, of sum G; a gang then runs on the fewest machines that could hold it if they were
        empty. Without machines GPUs are only counted.
    slot : float or None
        S; jobs start and stop at multiples of it only, and arrivals and durations are such. None: at any time.
    """

    noun: ClassVar[str] = "schedule"
    name: str
    description: str = ""
    source: str = ""
    jobs: tuple[str, ...]
    arrival: np.ndarray
    gpus: np.ndarray
    duration: np.ndarray
    weight: np.ndarray | None = None
    n_gpus: int
    machines: tuple[int, ...] = ()
    slot: float | None = None

    def __post_init__(self) -> None:
        self._set("jobs", checks.labels("jobs", self.jobs))
        n = len(self.jobs)
        if not 1 <= n <= MAX_JOBS:
            raise InputError(f"jobs: {n} given, 1 to {MAX_JOBS} are allowed")
        self._set("n_gpus", _in_range("n_gpus", self.n_gpus, 1, MAX_GPUS))
        given = checks.whole_numbers("machines", self.machines)
        self._set("machines", tuple(_in_range(f"machines[{k}]", g, 1, MAX_GPUS) for k, g in enumerate(given)))
        if given and sum(given) != self.n_gpus:
            raise InputError(f"machines: {sum(given)} GPUs in all, n_gpus says {self.n_gpus}")
        self._set("arrival", checks.numbers("arrival", self.arrival, (n,)))
        self._set("gpus", checks.counts("gpus", self.gpus, (n,), 1, self.n_gpus))
        self._set("duration", checks.numbers("duration", self.duration, (n,), low=1e-9))
        weight = np.ones(n) if self.weight is None else self.weight
        self._set("weight", checks.numbers("weight", weight, (n,), low=1e-9))
        if self.slot is not None:
            self._check_slot()
        self._freeze()

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _check_slot(self) -> None:
        slot = checks.finite("slot", self.slot)
        if not 1e-9 <= slot <= checks.LARGEST:
            raise InputError(f"slot: {slot:g} s, a number from 1e-09 to {checks.LARGEST:g} is needed")
        self._set("slot", slot)
        for field in ("arrival", "duration"):
            values = getattr(self, field)
            off = np.abs(np.round(values / slot) * slot - values) > ROUNDING * values
            if off.any():
                j = int(np.argmax(off))
                raise InputError(f"{field}[{j}]: {values[j]:g} s, a multiple of the slot of {slot:g} s is needed")

    @property
    def weights(self) -> np.ndarray:
        """Return v of every job."""
        assert self.weight is not None
        return self.weight

    def check(self, solution: ScheduleSolution) -> list[Violation]:
        """Return every broken rule of a schedule; empty if it is feasible.

        The rules: a list of runs for every job (`runs_of_every_job`), no run before the arrival (`after_arrival`), runs
        of a job one after the other (`runs_in_order`), their lengths sum to d_j (`work_done`), gangs that run at once
        need at most G GPUs (`gpu_capacity`); with a slot, runs of whole slots (`whole_slots`); with machines, GPUs of
        known machines for the whole gang (`whole_gang`), on the fewest machines (`fewest_machines`), within what each
        has (`machine_capacity`).

        Parameters
        ----------
        solution : ScheduleSolution
            The schedule.
        """
        if len(solution.runs) != len(self.jobs):
            return [Violation("runs_of_every_job", "the schedule", len(solution.runs), len(self.jobs), "jobs")]
        flat = _Flat.of(solution)
        found = [*self._check_times(flat), *self._check_work(flat)]
        if self.machines:
            found += self._check_gangs(solution)
        if not found:
            found += self._check_capacity(solution, flat)
        return found

    def _check_times(self, flat: _Flat) -> list[Violation]:
        slack = flat.slack
        early = flat.start < self.arrival[flat.job] - slack
        same = np.append(False, flat.job[1:] == flat.job[:-1]) if len(flat.job) else np.zeros(0, dtype=bool)
        previous = np.append(-np.inf, flat.end[:-1]) if len(flat.job) else flat.end
        overlaps = same & (flat.start < previous - slack)
        found = [
            Violation("after_arrival", self._where(flat, i), flat.start[i], float(self.arrival[flat.job[i]]), "s")
            for i in np.flatnonzero(early).tolist()
        ]
        for i in np.flatnonzero(overlaps).tolist():
            found.append(Violation("runs_in_order", self._where(flat, i), flat.start[i], previous[i], "s"))
        for i in np.flatnonzero(flat.end <= flat.start).tolist():
            found.append(Violation("runs_in_order", self._where(flat, i), flat.end[i], flat.start[i], "s"))
        if self.slot is not None:
            for times in (flat.start, flat.end):
                off = np.abs(np.round(times / self.slot) * self.slot - times) > slack
                for i in np.flatnonzero(off).tolist():
                    found.append(Violation("whole_slots", self._where(flat, i), times[i], self.slot, "s"))
        return found

    def _where(self, flat: _Flat, index: int) -> str:
        return f"job {self.jobs[flat.job[index]]}"

    def _check_work(self, flat: _Flat) -> list[Violation]:
        n = len(self.jobs)
        done = np.bincount(flat.job, weights=flat.end - flat.start, minlength=n)
        runs = np.bincount(flat.job, minlength=n)
        wrong = np.abs(done - self.duration) > WORK_TOLERANCE * self.duration + runs * flat.slack
        return [
            Violation("work_done", f"job {self.jobs[j]}", float(done[j]), float(self.duration[j]), "s")
            for j in np.flatnonzero(wrong).tolist()
        ]

    def _check_gangs(self, solution: ScheduleSolution) -> list[Violation]:
        found = []
        fewest = fewest_machines(self.machines, self.gpus)
        for j, runs in enumerate(solution.runs):
            where = f"job {self.jobs[j]}"
            for run in runs:
                known = all(0 <= m < len(self.machines) and g > 0 for m, g in run.places)
                distinct = len({m for m, _ in run.places}) == len(run.places)
                held = sum(g for _, g in run.places)
                if not known or not distinct or held != self.gpus[j]:
                    found.append(Violation("whole_gang", where, held, int(self.gpus[j]), "GPUs"))
                if len(run.places) > fewest[j]:
                    found.append(Violation("fewest_machines", where, len(run.places), int(fewest[j]), "machines"))
        return found

    def _check_capacity(self, solution: ScheduleSolution, flat: _Flat) -> list[Violation]:
        used = self.gpus[flat.job].astype(np.float64)
        found = _overfull("gpu_capacity", "the cluster", flat.start, flat.end, used, self.n_gpus, flat.slack)
        if not self.machines:
            return found
        rows: dict[int, list[tuple[float, float, int]]] = {}
        for runs in solution.runs:
            for run in runs:
                for machine, count in run.places:
                    rows.setdefault(machine, []).append((run.start, run.end, count))
        for machine in sorted(rows):
            start, end, held = (np.array(column, dtype=np.float64) for column in zip(*rows[machine], strict=True))
            where = f"machine {machine}"
            found += _overfull("machine_capacity", where, start, end, held, self.machines[machine], flat.slack)
        return found

    def evaluate(self, solution: ScheduleSolution) -> Score:
        """Return the weighted mean completion time sum_j v_j (C_j - r_j) / sum_j v_j, C_j the end of the last run.

        Parameters
        ----------
        solution : ScheduleSolution
            A feasible schedule.

        Returns
        -------
        Score
            Objective in s; metrics `total_jct` = sum_j (C_j - r_j) and `max_jct` in s, `makespan` in s from the
            first arrival to the last completion, `queueing`, the mean time in s that a job neither runs, and
            `preemptions`.
        """
        end = np.array([runs[-1].end for runs in solution.runs])
        jct = end - self.arrival
        stops = sum(
            later.start - earlier.end > ROUNDING * later.end
            for runs in solution.runs
            for earlier, later in pairwise(runs)
        )
        objective = math.fsum((self.weights * jct).tolist()) / math.fsum(self.weights.tolist())
        return Score(
            objective,
            {
                "total_jct": math.fsum(jct.tolist()),
                "max_jct": float(jct.max()),
                "makespan": float(end.max() - self.arrival.min()),
                "queueing": math.fsum((jct - self.duration).tolist()) / len(jct),
                "preemptions": stops,
            },
        )


@dataclass(frozen=True)
class Run:
    """A stretch of time in which a job runs.

    Attributes
    ----------
    start, end : float
        S.
    places : tuple of tuple of int
        (machine, GPUs) pairs in order of machine, empty where GPUs are only counted.
    """

    start: float
    end: float
    places: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", checks.finite("start", self.start))
        object.__setattr__(self, "end", checks.finite("end", self.end))
        object.__setattr__(self, "places", checks.pieces("places", [self.places], ("machine", "GPUs"))[0])


@dataclass(frozen=True)
class ScheduleSolution:
    """When each job runs.

    Attributes
    ----------
    runs : tuple of tuple of Run
        For every job its runs in order of time.
    """

    runs: tuple[tuple[Run, ...], ...]

    def __post_init__(self) -> None:
        runs = tuple(tuple(items) for items in self.runs)
        for j, items in enumerate(runs):
            for item in items:
                if not isinstance(item, Run):
                    raise InputError(f"runs[{j}]: {shown(item)}, a Run is needed")
        object.__setattr__(self, "runs", runs)


@dataclass(frozen=True)
class _Flat:
    """All runs of a schedule, job by job."""

    job: np.ndarray
    start: np.ndarray
    end: np.ndarray
    slack: float

    @classmethod
    def of(cls, solution: ScheduleSolution) -> _Flat:
        rows = [(j, run.start, run.end) for j, runs in enumerate(solution.runs) for run in runs]
        job, start, end = zip(*rows, strict=True) if rows else ((), (), ())
        latest = max((abs(value) for value in end), default=0.0)
        return cls(
            np.array(job, dtype=np.int64), np.array(start, dtype=float), np.array(end, dtype=float), ROUNDING * latest
        )


def _overfull(
    rule: str, where: str, start: np.ndarray, end: np.ndarray, count: np.ndarray, limit: int, slack: float
) -> list[Violation]:
    """Return the first moment at which more than the limit is used, ends before starts that are meant to be equal."""
    times = np.concatenate([end - slack, start])
    order = np.argsort(times, kind="stable")
    used = np.cumsum(np.concatenate([-count, count])[order])
    over = np.flatnonzero(used > limit)
    if not len(over):
        return []
    return [Violation(rule, f"{where} at {times[order[over[0]]]:g} s", float(used[over].max()), limit, "GPUs")]


def fewest_machines(machines: tuple[int, ...], gpus: Any) -> np.ndarray:
    """Return on how many machines each gang fits at least when all are empty.

    Parameters
    ----------
    machines : tuple of int
        GPUs of each machine.
    gpus : object
        GPUs of each gang, at most the sum of the machines.
    """
    filled = np.cumsum(np.sort(np.array(machines, dtype=np.int64))[::-1])
    return np.searchsorted(filled, np.asarray(gpus, dtype=np.int64), side="left") + 1


def _in_range(field: str, value: object, least: int, most: int) -> int:
    number = checks.whole(field, value)
    if not least <= number <= most:
        raise InputError(f"{field}: {number}, a whole number from {least} to {most} is needed")
    return number
