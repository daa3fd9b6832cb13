"""Which jobs may start to wait: at their arrival, and when the earlier phases of their app have ended."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from gangopt.replays.records import Floats, Ints

if TYPE_CHECKING:
    from gangopt.instances.workload.job_table import JobTable

__all__ = ["Phases"]


class Phases:
    """Arrivals in order of time and file, those of later phases held back.

    Parameters
    ----------
    workload : JobTable
        The jobs; those without app or phase depend on nothing.
    arrival : ndarray of float
        Of each job in s since the first arrival, ascending.
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
        """Return the time in s of the next arrival, infinite if there is none; its job may still be held back."""
        return self._arrival[self._cursor] if self._cursor < len(self._arrival) else math.inf

    def last_arrival(self, until: float) -> float:
        """Return the time in s of the last arrival up to a time, which is not before the next one."""
        return self._arrival[bisect_right(self._arrival, until, lo=self._cursor) - 1]

    def arrivals(self, now: float) -> Ints:
        """Return the jobs that start to wait now, in file order."""
        end = bisect_right(self._arrival, now, lo=self._cursor)
        fresh = np.arange(self._cursor, end, dtype=np.int64)
        self._cursor = end
        if not self._app_of:
            return fresh
        jobs = self._released + [job for job in fresh.tolist() if not self._held_back(job)]
        self._released = []
        return np.array(sorted(jobs), dtype=np.int64)

    def ended(self, jobs: Ints) -> None:
        """Note jobs that ended; the next phase of an app is released with the last job of the one before."""
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
