"""Submission of jobs: at their arrival, or when the earlier phases of their app have ended."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from gangopt.base.types import Floats, Ints

if TYPE_CHECKING:
    from gangopt.instances.workload.job_table import JobTable

__all__ = ["Phases"]


class Phases:
    """Arrivals in chronological order; jobs of later phases are held back.

    Parameters
    ----------
    workload : JobTable
        Jobs; those without an app or phase are independent.
    arrival : ndarray of float
        Arrival of each job in s since the first arrival, ascending.
    """

    def __init__(self, workload: JobTable, arrival: Floats) -> None:
        self.n_ended = 0
        self._arrival: list[float] = arrival.tolist()
        self._cursor = 0
        apps, phases = workload.texts("app"), workload.numbers("phase")
        self._app_of: dict[int, str] = {}
        self._jobs: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._open: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for job, app in enumerate(apps):
            if app is not None and not math.isnan(phases[job]):
                self._app_of[job] = app
                self._jobs[app][int(phases[job])].append(job)
                self._open[app][int(phases[job])] += 1
        self._phase = phases
        self._released: list[int] = []

    def next_arrival(self) -> float:
        """Return the time of the next arrival in s, infinite if there is none; its job may still be held back."""
        return self._arrival[self._cursor] if self._cursor < len(self._arrival) else math.inf

    def last_arrival(self, until: float) -> float:
        """Return the time of the last arrival up to a time in s, which must not precede the next arrival."""
        return self._arrival[bisect_right(self._arrival, until, lo=self._cursor) - 1]

    def arrivals(self, now: float) -> Ints:
        """Return the jobs submitted now, in file order."""
        end = bisect_right(self._arrival, now, lo=self._cursor)
        fresh = np.arange(self._cursor, end, dtype=np.int64)
        self._cursor = end
        if not self._app_of:
            return fresh
        jobs = self._released + [job for job in fresh.tolist() if not self._held_back(job)]
        self._released = []
        return np.array(sorted(jobs), dtype=np.int64)

    def ended(self, jobs: Ints) -> None:
        """Record ended jobs; the last job of a phase releases the next phase of its app."""
        self.n_ended += len(jobs)
        for job in jobs.tolist():
            app = self._app_of.get(job)
            if app is None:
                continue
            phase = int(self._phase[job])
            self._open[app][phase] -= 1
            following = self._first_open(app)
            if following is not None and following > phase and not self._open[app][phase]:
                self._released += [later for later in self._jobs[app][following] if later < self._cursor]

    def _first_open(self, app: str) -> int | None:
        return min((phase for phase, left in self._open[app].items() if left), default=None)

    def _held_back(self, job: int) -> bool:
        app = self._app_of.get(job)
        return app is not None and self._first_open(app) != int(self._phase[job])
