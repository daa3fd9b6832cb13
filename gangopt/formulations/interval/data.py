"""Data of the formulations of `interval`: configurations, their levels, and the pieces of each level."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from gangopt.base.types import Floats
from gangopt.formulations.deadline import require_time
from gangopt.formulations.placement.data import JobData, Level, PlacementData, levels_of
from gangopt.instances.interval.instance import IntervalInstance
from gangopt.instances.interval.times import transfer_parts

__all__ = ["Choice", "IntervalData", "choices_of"]


@dataclass(frozen=True)
class Choice:
    """One configuration of a job at one transfer time.

    Attributes
    ----------
    job : int
        Index.
    ps, workers : int
        Tasks.
    level : int
        Index of the transfer time among those of the configuration, ascending.
    seconds : float
        Completion time T_j.
    pieces : tuple of tuple of tuple of int
        For each class of equal servers, the allowed pieces (ps, workers).
    """

    job: int
    ps: int
    workers: int
    level: int
    seconds: float
    pieces: tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True)
class IntervalData:
    """An instance in small integers, with all choices of the jobs.

    Attributes
    ----------
    placement : PlacementData
        Servers by class, and demands of the jobs.
    choices : tuple of tuple of Choice
        Choices of each job, by parameter servers, workers and level.
    """

    placement: PlacementData
    choices: tuple[tuple[Choice, ...], ...]

    def within(self, instance: IntervalInstance, objective: float) -> IntervalData:
        """Return the data without choices that only occur in solutions worse than a known one.

        If the known solution pauses no job, a better one does not either, so each job costs at least its cheapest
        choice. The objective less the sum of these is the most that one job can cost beyond its cheapest choice.

        Parameters
        ----------
        instance : IntervalInstance
            Servers and jobs.
        objective : float
            Objective of the known solution.

        Returns
        -------
        IntervalData
            Unchanged if the known solution pauses a job.
        """
        if instance.fewest_paused or objective >= instance.pause_cost or not all(self.choices):
            return self
        least = [min(item.seconds for item in mine) for mine in self.choices]
        # the margin keeps a solution as good as the known one from being cut off by rounding
        room = objective - sum(least) + 1e-9 * max(1.0, abs(objective))
        kept = [
            tuple(item for item in mine if item.seconds <= cheapest + room)
            for mine, cheapest in zip(self.choices, least, strict=True)
        ]
        return dataclasses.replace(self, choices=tuple(kept))


def choices_of(instance: IntervalInstance) -> IntervalData:
    """Return the choices of each job that no smaller configuration dominates.

    Removing tasks from a placed job frees resources, and its time is then at most the fitted time of the remaining
    tasks. So a configuration at a transfer time is left out if one with no more tasks of either kind has at most its
    fitted time.

    Parameters
    ----------
    instance : IntervalInstance
        Servers and jobs.
    """
    data = PlacementData.of(instance.template)
    cache: dict[JobData, list[Level]] = {}
    found: list[list[Choice]] = [[] for _ in data.jobs]
    for grid in instance.allocation.time_grids():
        for i, j in enumerate(grid.jobs.tolist()):
            require_time()
            found[j] = _choices(instance, data, j, grid.seconds[i], cache)
    return IntervalData(data, tuple(map(tuple, found)))


def _choices(
    instance: IntervalInstance,
    data: PlacementData,
    j: int,
    fitted: Floats,
    cache: dict[JobData, list[Level]],
) -> list[Choice]:
    smaller = _least_of_smaller(fitted)
    p, w = np.nonzero(np.isfinite(fitted))
    part = transfer_parts(instance.allocation, np.full(len(p), j), p + 1, w + 1, fitted[p, w])
    useful = fitted[p, w] - part < smaller[p, w]
    found = []
    for a, b, transfers in zip(p[useful].tolist(), w[useful].tolist(), part[useful].tolist(), strict=True):
        job = _relative(data.jobs[j], a + 1, b + 1)
        if job not in cache:
            cache[job] = levels_of(job, data.classes)
        full = max(job.sends(0), job.receives(0))
        for number, level in enumerate(cache[job]):
            seconds = float(fitted[a, b]) - transfers * (1 - level.time / full)
            if seconds < smaller[a, b]:
                found.append(Choice(j, a + 1, b + 1, number, seconds, level.pieces))
    return found


def _least_of_smaller(fitted: Floats) -> Floats:
    """Return at [p, w] the least fitted time of configurations with fewer tasks, and no more of either kind."""
    least = np.minimum.accumulate(np.minimum.accumulate(fitted, axis=0), axis=1)
    smaller = np.full_like(fitted, np.inf)
    smaller[1:, :] = least[:-1, :]
    smaller[:, 1:] = np.minimum(smaller[:, 1:], least[:, :-1])
    return smaller


def _relative(job: JobData, ps: int, workers: int) -> JobData:
    """Return a job with other tasks and relative transfer times, so that jobs with equal tasks share their levels.

    Only the ratio to the full transfer time matters, from which size and bandwidths cancel out except for b / B.
    """
    return dataclasses.replace(
        job,
        index=0,
        ps=ps,
        workers=workers,
        size=1.0,
        ps_bandwidth=1.0,
        worker_bandwidth=job.worker_bandwidth / job.ps_bandwidth,
        steps=1.0,
        compute=0.0,
        pause_charge=0.0,
    )
