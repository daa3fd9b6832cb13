"""Preemptive scheduling of gangs that arrive over time and share GPUs: instance, solution and checker."""

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
"""Relative tolerance of the total length of a job's runs."""

ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Largest difference of two times considered equal, relative to the latest time."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ScheduleInstance(Instance):
    """Jobs that arrive at r_j and run on W_j GPUs at once for d_j seconds in total; they can be preempted and resumed.

    Attributes
    ----------
    jobs : tuple of str
        Label of every job, index j from 0.
    arrival : ndarray
        Arrival r_j, s, shape (jobs,).
    gpus : ndarray
        GPUs W_j of each gang, integers, shape (jobs,).
    duration : ndarray
        Running time d_j on W_j GPUs, s, above 0, shape (jobs,).
    weight : ndarray or None
        Weight v_j of the job's completion time, above 0, shape (jobs,); None for 1.
    n_gpus : int
        Number G of GPUs of the cluster.
    machines : tuple of int
        GPUs of each machine, which sum to G; a gang then runs on the fewest machines that could hold it if they were
        empty. Without machines GPUs are only counted.
    slot : float or None
        Time slot, s: arrivals and durations are multiples of it, and jobs start and stop only at multiples. None: at
        any time.
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
        checks.integer("number of jobs", n, 1, MAX_JOBS)
        self._set("n_gpus", checks.integer("n_gpus", self.n_gpus, 1, MAX_GPUS))
        given = checks.whole_numbers("machines", self.machines)
        self._set("machines", tuple(checks.integer(f"machines[{k}]", g, 1, MAX_GPUS) for k, g in enumerate(given)))
        if given and sum(given) != self.n_gpus:
            raise InputError(f"machines must have n_gpus={self.n_gpus} GPUs in total (got {sum(given)})")
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
        slot = checks.number("slot", self.slot, 1e-9, checks.LARGEST, "s")
        self._set("slot", slot)
        for field in ("arrival", "duration"):
            values = getattr(self, field)
            off = np.abs(np.round(values / slot) * slot - values) > ROUNDING * values
            if off.any():
                j = int(np.argmax(off))
                raise InputError(f"{field}[{j}] must be a multiple of the slot of {slot:g} s (got {values[j]:g})")

    @property
    def weights(self) -> np.ndarray:
        """Weight v_j of every job, shape (jobs,)."""
        assert self.weight is not None
        return self.weight

    def check(self, solution: ScheduleSolution) -> list[Violation]:
        """Return every broken rule of a schedule; empty if it is feasible.

        The rules: every job has a list of runs (`runs_of_every_job`), none of them before its arrival
        (`after_arrival`), in chronological order without overlap (`runs_in_order`) and of total length d_j
        (`work_done`); gangs that run at once use at most G GPUs (`gpu_capacity`). With a slot, runs start and end at
        multiples of it (`whole_slots`). With machines, a run has GPUs of known machines for the whole gang
        (`whole_gang`), on the fewest machines (`fewest_machines`), within the GPUs of each (`machine_capacity`).

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
        """Return the weighted mean completion time sum_j v_j (C_j - r_j) / sum_j v_j, with C_j the end of the last run.

        Parameters
        ----------
        solution : ScheduleSolution
            A feasible schedule.

        Returns
        -------
        Score
            Objective in s; metrics `total_jct` = sum_j (C_j - r_j) and `max_jct` in s, `makespan` in s from the
            first arrival to the last completion, `queueing`, the mean time in s that a job is present but not
            running, and `preemptions`.
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
    """A period in which a job runs.

    Attributes
    ----------
    start, end : float
        Start and end of the period, s.
    places : tuple of tuple of int
        (machine, GPUs) pairs in ascending order of machines, empty if GPUs are only counted.
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
    """Runs of each job.

    Attributes
    ----------
    runs : tuple of tuple of Run
        Runs of every job, in chronological order.
    """

    runs: tuple[tuple[Run, ...], ...]

    def __post_init__(self) -> None:
        runs = tuple(tuple(items) for items in self.runs)
        for j, items in enumerate(runs):
            for item in items:
                if not isinstance(item, Run):
                    raise InputError(f"runs[{j}] must hold objects of type Run (got {shown(item)})")
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
    """Return a violation for the first time at which the limit is exceeded; equal ends come before starts."""
    times = np.concatenate([end - slack, start])
    order = np.argsort(times, kind="stable")
    used = np.cumsum(np.concatenate([-count, count])[order])
    over = np.flatnonzero(used > limit)
    if not len(over):
        return []
    return [Violation(rule, f"{where} at {times[order[over[0]]]:g} s", float(used[over].max()), limit, "GPUs")]


def fewest_machines(machines: tuple[int, ...], gpus: Any) -> np.ndarray:
    """Return the smallest number of empty machines that can hold each gang.

    Parameters
    ----------
    machines : tuple of int
        GPUs of each machine.
    gpus : object
        GPUs of each gang, at most the sum of the machines.
    """
    filled = np.cumsum(np.sort(np.array(machines, dtype=np.int64))[::-1])
    return np.searchsorted(filled, np.asarray(gpus, dtype=np.int64), side="left") + 1
