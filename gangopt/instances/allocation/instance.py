"""Problem `allocation`: numbers of workers and parameter servers of each job in a shared cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gangopt.base import checks
from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError
from gangopt.base.rows import classes_of_equal_rows
from gangopt.base.types import Floats, Ints
from gangopt.instances.allocation.speed_functions import MODES, THETA_COUNT, async_step_seconds, sync_step_seconds

__all__ = [
    "CAPACITY_TOLERANCE",
    "MAX_CONFIGURATIONS",
    "AllocationInstance",
    "AllocationSolution",
    "TimeGrid",
    "equal_job_classes",
]

CAPACITY_TOLERANCE = 1e-11
"""Relative excess over a capacity that is taken as rounding: three tasks of 0.1 fit a capacity of 0.3."""

MAX_CONFIGURATIONS = 40_000_000
"""Most configurations (p, w) of all jobs together; a table of them takes 320 MB."""


@dataclass(frozen=True)
class AllocationSolution:
    """Tasks of every job, in the order of the instance.

    Attributes
    ----------
    workers : tuple of int
        Workers w_j, shape (J,).
    parameter_servers : tuple of int
        Parameter servers p_j, shape (J,).

    Raises
    ------
    InputError
        If a number is not an integer.
    """

    workers: tuple[int, ...]
    parameter_servers: tuple[int, ...]

    def __post_init__(self) -> None:
        for field in ("workers", "parameter_servers"):
            object.__setattr__(self, field, checks.whole_numbers(field, getattr(self, field)))


@dataclass(frozen=True, eq=False)
class TimeGrid:
    """Completion times of jobs with the same limits P on parameter servers and W on workers.

    Attributes
    ----------
    jobs : ndarray of int
        Index of each job, shape (n,).
    seconds : ndarray of float
        Completion time with p + 1 parameter servers and w + 1 workers at [i, p, w], infinite if the configuration is
        not allowed, shape (n, P, W).
    """

    jobs: Ints
    seconds: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class AllocationInstance(Instance):
    r"""Jobs with a known speed and a cluster with capacities by resource.

    Job j takes :math:`t_j = Q_j / f_j(p_j, w_j)` seconds with p_j parameter servers and w_j workers, at least 1 each.
    The objective is to minimise :math:`\sum_j t_j` subject to :math:`\sum_j (w_j O_j^r + p_j N_j^r) \le C^r` for every
    resource r. A job without parameter servers (all-reduce) has a table of one row and a `ps_demand` of 0: its single
    parameter server takes no resources and does not count as a task.

    Attributes
    ----------
    resources : tuple of str
        Names of the R resources, e.g. `cpu`, `memory`, `gpu`.
    units : tuple of str
        Unit of each resource, e.g. `core`, `GB`, `GPU`, shape (R,).
    capacity : ndarray of float
        Capacity C^r, in the resource's unit, above 0, shape (R,).
    jobs : tuple of str
        Unique labels of the J jobs.
    steps : ndarray of float
        Steps left, Q_j, at least 0 (a job with none left still holds its smallest configuration), shape (J,).
    mode : tuple of str
        `async`, `sync` or `table`, shape (J,).
    theta : ndarray of float
        Fitted coefficients in seconds, zeros beyond those of the mode, shape (J, 5).
    batch : ndarray of float
        Samples in the global batch, M_j, above 0 for `sync` and otherwise 0, shape (J,).
    tables : tuple of ndarray of float, optional
        Measured speeds in steps per second at [p - 1, w - 1]; nan marks a configuration that is not allowed.
    table_labels : tuple of str, optional
        Name of each table.
    table : ndarray of int, optional
        Index into `tables` for jobs of mode `table`, otherwise -1, shape (J,).
    worker_demand : ndarray of float
        Demand O_j^r of one worker, in the resource's unit, shape (J, R).
    ps_demand : ndarray of float
        Demand N_j^r of one parameter server, in the resource's unit, shape (J, R).
    max_workers : ndarray of int
        Most workers of each job, shape (J,).
    max_ps : ndarray of int
        Most parameter servers of each job, shape (J,).
    progress : ndarray of float, optional
        Fraction of the job's steps that is done, 0 to 1; None for 0, shape (J,).
    job_sources : tuple of str, optional
        Origin of each job's numbers; None for no text, shape (J,).

    Raises
    ------
    InputError
        If a number is out of range, a shape does not match, a label is not unique, a fitted speed would be infinite
        because every coefficient is 0, or a job has no allowed configuration within its limits.

    References
    ----------
    Optimus (EuroSys'18), section 4.1, eqns 5 to 8.
    """

    noun: ClassVar[str] = "allocation"

    name: str
    description: str = ""
    source: str = ""
    resources: tuple[str, ...]
    units: tuple[str, ...]
    capacity: Floats
    jobs: tuple[str, ...]
    steps: Floats
    mode: tuple[str, ...]
    theta: Floats
    batch: Floats
    worker_demand: Floats
    ps_demand: Floats
    max_workers: Ints
    max_ps: Ints
    tables: tuple[Floats, ...] = ()
    table_labels: tuple[str, ...] = ()
    # None is accepted and replaced at construction, so that readers of these fields never meet it
    table: Ints = None  # type: ignore[assignment]
    progress: Floats = None  # type: ignore[assignment]
    job_sources: tuple[str, ...] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self._set("resources", checks.resource_names(self.resources))
        self._set("jobs", checks.labels("jobs", self.jobs))
        if not self.jobs:
            raise InputError("jobs must not be empty")
        J, R = len(self.jobs), len(self.resources)
        self._set("units", tuple(self.units))
        if len(self.units) != R:
            raise InputError(f"units must have one unit for each of the {R} resources (got {len(self.units)})")
        self._set("capacity", checks.numbers("capacity", self.capacity, (R,), smallest=checks.SMALLEST))
        if not self.capacity.all():
            r = int(np.argmin(self.capacity))
            raise InputError(f"capacity[{r}] of {self.resources[r]} must be > 0 (got 0)")
        self._set("steps", checks.numbers("steps", self.steps, (J,)))
        for name in ("worker_demand", "ps_demand"):
            self._set(name, checks.numbers(name, getattr(self, name), (J, R), smallest=checks.SMALLEST))
        self._set("max_workers", checks.counts("max_workers", self.max_workers, (J,), 1, MAX_CONFIGURATIONS))
        self._set("max_ps", checks.counts("max_ps", self.max_ps, (J,), 1, MAX_CONFIGURATIONS))
        progress = np.zeros(J) if self.progress is None else self.progress
        self._set("progress", checks.numbers("progress", progress, (J,), high=1.0))
        sources = ("",) * J if self.job_sources is None else tuple(self.job_sources)
        if len(sources) != J:
            raise InputError(f"job_sources must have one text for each of the {J} jobs (got {len(sources)})")
        self._set("job_sources", sources)
        self._check_speeds(J)
        self._check_limits()
        self._freeze()

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _check_speeds(self, J: int) -> None:
        self._set("mode", tuple(self.mode))
        if len(self.mode) != J:
            raise InputError(f"mode must have one mode for each of the {J} jobs (got {len(self.mode)})")
        self._set("tables", tuple(checks.table(f"tables[{i}]", item) for i, item in enumerate(self.tables)))
        self._set("table_labels", checks.labels("table_labels", self.table_labels))
        if len(self.table_labels) != len(self.tables):
            raise InputError(
                f"table_labels must name each of the {len(self.tables)} tables (got {len(self.table_labels)})"
            )
        table = np.full(J, -1) if self.table is None else self.table
        self._set("table", checks.counts("table", table, (J,), -1, len(self.tables) - 1))
        self._set("theta", checks.numbers("theta", self.theta, (J, 5)))
        self._set("batch", checks.numbers("batch", self.batch, (J,)))
        for j, mode in enumerate(self.mode):
            if mode not in MODES:
                raise InputError(f"mode[{j}] must be one of {', '.join(MODES)} (got {mode!r})")
            if (mode == "table") != (self.table[j] >= 0):
                allowed = "the index of a table" if mode == "table" else "-1"
                raise InputError(f"table[{j}] must be {allowed} for mode {mode} (got {self.table[j]})")
            if (mode == "sync") != (self.batch[j] > 0):
                allowed = "> 0" if mode == "sync" else "0"
                raise InputError(f"batch[{j}] must be {allowed} for mode {mode} (got {self.batch[j]:g})")
            if self.theta[j, THETA_COUNT[mode] :].any():
                raise InputError(f"theta[{j}] must be 0 after the {THETA_COUNT[mode]} coefficients of mode {mode}")
            if mode != "table" and not self.theta[j].any():
                raise InputError(f"theta[{j}] must have a coefficient other than 0, or the speed would be infinite")

    def _check_limits(self) -> None:
        cells = sum(int(p) * int(w) for p, w in zip(self.max_ps, self.max_workers, strict=True))
        if cells > MAX_CONFIGURATIONS:
            raise InputError(
                f"max_workers and max_ps must allow at most {MAX_CONFIGURATIONS:,} configurations (got {cells:,})"
            )
        for j in np.flatnonzero(self.table >= 0):
            speeds = self.tables[self.table[j]]
            rows, columns = speeds.shape
            P, W = int(self.max_ps[j]), int(self.max_workers[j])
            if rows < P or columns < W:
                raise InputError(
                    f"max_workers[{j}] and max_ps[{j}] must be at most {columns} and {rows}, the size of the job's "
                    f"table (got {W} and {P})"
                )
            if np.isnan(speeds[:P, :W]).all():
                raise InputError(f"table[{j}] has no speed for at most {P} parameter servers and {W} workers")

    @property
    def capacity_limit(self) -> Floats:
        """Capacity of each resource including the tolerance of rounding, shape (R,)."""
        return self.capacity * (1 + CAPACITY_TOLERANCE)

    def time_grids(self, jobs: Ints | None = None) -> list[TimeGrid]:
        """Return the completion times of every configuration, with one grid for all jobs of equal limits.

        Parameters
        ----------
        jobs : ndarray of int or None, optional
            Indices of the jobs, shape (n,); None for all.

        Returns
        -------
        list of TimeGrid
            Grids in ascending order of (P, W), each with jobs in ascending order.
        """
        wanted = np.arange(len(self.jobs)) if jobs is None else np.sort(np.asarray(jobs, dtype=np.int64))
        shapes = np.stack((self.max_ps[wanted], self.max_workers[wanted]), axis=1)
        distinct, group = np.unique(shapes, axis=0, return_inverse=True)
        return [self._grid(wanted[group.ravel() == g], int(P), int(W)) for g, (P, W) in enumerate(distinct.tolist())]

    def _grid(self, jobs: Ints, P: int, W: int) -> TimeGrid:
        ps, workers = np.arange(1.0, P + 1)[:, None], np.arange(1.0, W + 1)[None, :]
        modes = np.array([self.mode[j] for j in jobs.tolist()])
        seconds = np.full((len(jobs), P, W), np.inf)
        for mode in ("async", "sync"):
            at = np.flatnonzero(modes == mode)
            if at.size:
                chosen = jobs[at]
                theta = self.theta[chosen].T[:, :, None, None]
                if mode == "async":
                    step = async_step_seconds(theta, ps, workers)
                else:
                    step = sync_step_seconds(theta, self.batch[chosen][:, None, None], ps, workers)
                step *= self.steps[chosen][:, None, None]
                if at.size == len(jobs):
                    return TimeGrid(jobs, step)
                seconds[at] = step
        for i in np.flatnonzero(modes == "table"):
            seconds[i] = self._table_times(int(jobs[i]))[:P, :W]
        return TimeGrid(jobs, seconds)

    def _table_times(self, j: int) -> Floats:
        times = self.steps[j] / self.tables[self.table[j]]
        return np.where(np.isnan(times), np.inf, times)

    def completion_time(self, j: int, parameter_servers: int, workers: int) -> float:
        """Return the completion time t_j = Q_j / f_j(p, w) of one job.

        Parameters
        ----------
        j : int
            Index of the job.
        parameter_servers : int
            Number of parameter servers, p.
        workers : int
            Number of workers, w.

        Returns
        -------
        float
            Seconds; infinite if the configuration is not allowed.
        """
        p, w = parameter_servers, workers
        if not (1 <= p <= self.max_ps[j] and 1 <= w <= self.max_workers[j]):
            return math.inf
        if self.mode[j] == "table":
            return float(self._table_times(j)[p - 1, w - 1])
        if self.mode[j] == "async":
            return float(async_step_seconds(self.theta[j], p, w) * self.steps[j])
        return float(sync_step_seconds(self.theta[j], self.batch[j], p, w) * self.steps[j])

    def completion_times(self, parameter_servers: Ints, workers: Ints) -> Floats:
        """Return the completion time of every job in seconds, infinite if its configuration is not allowed.

        Parameters
        ----------
        parameter_servers, workers : ndarray of int
            Tasks of every job, shape (J,).

        Returns
        -------
        ndarray
            The values of `completion_time`, shape (J,).
        """
        modes = np.array(self.mode)
        allowed = (parameter_servers >= 1) & (workers >= 1)
        allowed &= (parameter_servers <= self.max_ps) & (workers <= self.max_workers)
        times = np.full(len(modes), np.inf)
        for mode in ("async", "sync"):
            at = np.flatnonzero((modes == mode) & allowed)
            p, w, theta = parameter_servers[at].astype(float), workers[at].astype(float), self.theta[at].T
            step = (
                async_step_seconds(theta, p, w) if mode == "async" else sync_step_seconds(theta, self.batch[at], p, w)
            )
            times[at] = step * self.steps[at]
        for j in np.flatnonzero((modes == "table") & allowed).tolist():
            times[j] = self._table_times(j)[parameter_servers[j] - 1, workers[j] - 1]
        return times

    def usage(self, solution: AllocationSolution) -> list[float]:
        """Return the use of each resource as a correctly rounded sum, in the resource's unit."""
        w, p = np.array(solution.workers, dtype=float), np.array(solution.parameter_servers, dtype=float)
        parts = np.concatenate((w[:, None] * self.worker_demand, p[:, None] * self.ps_demand))
        return [math.fsum(column) for column in parts.T.tolist()]

    def check(self, solution: AllocationSolution) -> list[Violation]:
        """Return every broken rule: configurations that are not allowed, and exceeded capacities.

        Parameters
        ----------
        solution : AllocationSolution
            Tasks of every job.

        Returns
        -------
        list of Violation
            Rules `one_configuration_per_job` and `resource_capacity`; empty if feasible.
        """
        J = len(self.jobs)
        lengths = (len(solution.workers), len(solution.parameter_servers))
        if lengths != (J, J):
            wrong = next(length for length in lengths if length != J)
            return [Violation("one_configuration_per_job", "all jobs", wrong, J, "jobs")]
        result = []
        for j in np.flatnonzero(np.isinf(self._times(solution))).tolist():
            p, w = solution.parameter_servers[j], solution.workers[j]
            where = f"job {j} ({self.jobs[j]}): p={p}, w={w} is not an allowed configuration"
            result.append(Violation("one_configuration_per_job", where, 0, 1, "configurations"))
        for r, used in enumerate(self.usage(solution)):
            if used > self.capacity_limit[r]:
                where = f"resource {self.resources[r]}"
                result.append(Violation("resource_capacity", where, used, float(self.capacity[r]), self.units[r]))
        return result

    def evaluate(self, solution: AllocationSolution) -> Score:
        """Return the sum of completion times in seconds, and further metrics.

        Parameters
        ----------
        solution : AllocationSolution
            A feasible solution.

        Returns
        -------
        Score
            Objective in seconds; metrics `sum_completion_time`, `mean_completion_time`, `max_completion_time`
            (seconds), `tasks`, `utilisation_<resource>` (share of the capacity) and `dominant_share` (the largest
            utilisation).
        """
        times = self._times(solution).tolist()
        total = math.fsum(times)
        used = dict(zip(self.resources, (np.array(self.usage(solution)) / self.capacity).tolist(), strict=True))
        return Score(
            total,
            {
                "sum_completion_time": total,
                "mean_completion_time": total / len(times),
                "max_completion_time": max(times),
                "tasks": self._tasks(solution),
                **{f"utilisation_{name}": share for name, share in used.items()},
                "dominant_share": max(used.values()),
            },
        )

    def _times(self, solution: AllocationSolution) -> Floats:
        return self.completion_times(np.array(solution.parameter_servers), np.array(solution.workers))

    def _tasks(self, solution: AllocationSolution) -> int:
        real = self.ps_demand.any(axis=1) | (self.max_ps > 1)
        servers = sum(p for p, counted in zip(solution.parameter_servers, real.tolist(), strict=True) if counted)
        return sum(solution.workers) + servers


def equal_job_classes(instance: AllocationInstance) -> list[list[int]]:
    """Return the classes of jobs with equal steps, speeds, demands and limits.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.

    Returns
    -------
    list of list of int
        Job indices of each class, ascending; classes by their first job.
    """
    modes = np.array([MODES.index(mode) for mode in instance.mode], dtype=float)
    data: Sequence[Floats] = (
        modes[:, None],
        instance.theta,
        instance.worker_demand,
        instance.ps_demand,
        np.stack((instance.steps, instance.batch, instance.table, instance.max_ps, instance.max_workers), axis=1),
    )
    return [list(members) for members in classes_of_equal_rows(data)]
