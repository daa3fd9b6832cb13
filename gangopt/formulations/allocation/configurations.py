"""Configurations (p, w) of the linear formulations of `allocation`: allowed, fitting and not dominated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gangopt.base.errors import InfeasibleError
from gangopt.base.types import Bools, Floats, Ints
from gangopt.formulations.deadline import paced, require_time
from gangopt.instances.allocation.instance import AllocationInstance, equal_job_classes

__all__ = [
    "CapacityRows",
    "Configurations",
    "capacity_rows",
    "class_configurations",
    "job_configurations",
    "on_the_frontier",
]

MOST_DECIMALS = 6
"""Largest number of decimals of demands that are scaled to integers."""

LARGEST_WHOLE = 2.0**53
TWO_ROUNDINGS = 2.0**-51
"""Relative error of a decimal number stored in binary and multiplied by a power of ten."""

SCALED_CAPACITY = 1e6
"""Right-hand side of a capacity row without integer demands: a tolerance of 1e-6 is then 1e-12 of the capacity."""

PAIRS_AT_ONCE = 4_000_000

CLASSES_AT_ONCE = 1_000
"""Number of classes enumerated between two checks of the time."""


@dataclass(frozen=True, eq=False)
class Configurations:
    """Columns of a linear formulation, each a configuration of a class of equal jobs.

    Attributes
    ----------
    classes : list of list of int
        Jobs of each class, ascending; one job each where jobs are not merged.
    owner : ndarray of int
        Class of each column, ascending, shape (n,).
    ps, workers : ndarray of int
        Tasks of each column, shape (n,).
    seconds : ndarray of float
        Completion time of one job in each column, shape (n,).
    """

    classes: list[list[int]]
    owner: Ints
    ps: Ints
    workers: Ints
    seconds: Floats

    def usage(self, instance: AllocationInstance) -> Floats:
        """Return the resources that one job takes in each column, in the unit of each resource, shape (n, R)."""
        first = np.array([members[0] for members in self.classes])[self.owner]
        servers = self.ps[:, None] * instance.ps_demand[first]
        use: Floats = servers + self.workers[:, None] * instance.worker_demand[first]
        return use

    def only(self, keep: Bools | Ints) -> Configurations:
        """Return a subset of the columns, of the same classes."""
        return Configurations(self.classes, self.owner[keep], self.ps[keep], self.workers[keep], self.seconds[keep])


def job_configurations(instance: AllocationInstance, *, drop_dominated: bool = True) -> Configurations:
    """Return the non-dominated configurations of each job.

    A configuration is dropped if another of the same job is no slower and takes no more of any resource, or if it
    exceeds a capacity by itself. Of equal ones, the one with the fewest parameter servers, then workers, is kept.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.
    drop_dominated : bool, optional
        Whether to drop dominated configurations; a parent model with limits on other quantities may need them.

    Returns
    -------
    Configurations
        With a class for each job.

    Raises
    ------
    InfeasibleError
        If no allowed configuration of a job fits into the capacities.
    """
    return _configurations(instance, [[j] for j in range(len(instance.jobs))], drop_dominated)


def class_configurations(instance: AllocationInstance) -> Configurations:
    """Return the non-dominated configurations of each class of equal jobs; see `job_configurations`."""
    return _configurations(instance, equal_job_classes(instance), drop_dominated=True)


def _configurations(instance: AllocationInstance, classes: list[list[int]], drop_dominated: bool) -> Configurations:
    parts = []
    for start in range(0, len(classes), CLASSES_AT_ONCE):
        part = Configurations(classes, *_grid_columns(instance, classes, start, drop_dominated))
        use = part.usage(instance)
        fits: Bools = np.all(use <= instance.capacity_limit, axis=1)
        _require_one_each(instance, part, use, fits, start)
        fitting, use = part.only(fits), use[fits]
        if drop_dominated:
            edges = np.searchsorted(fitting.owner, np.arange(start, start + CLASSES_AT_ONCE + 1))
            keep = [~_dominated(fitting.seconds[a:b], use[a:b]) for a, b in paced(pairwise(edges)) if a < b]
            fitting = fitting.only(np.concatenate(keep))
        parts.append((fitting.owner, fitting.ps, fitting.workers, fitting.seconds))
    return Configurations(classes, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def _grid_columns(
    instance: AllocationInstance, classes: list[list[int]], start: int, drop_dominated: bool
) -> tuple[Ints, Ints, Ints, Floats]:
    """Return owner, tasks and seconds of the allowed configurations of some classes, by class, ps and workers."""
    require_time()
    first = np.array([members[0] for members in classes[start : start + CLASSES_AT_ONCE]])
    class_of = {int(j): k for k, j in enumerate(first, start)}
    parts = []
    for grid in instance.time_grids(first):
        keep = on_the_frontier(grid.seconds) if drop_dominated else np.isfinite(grid.seconds)
        i, p, w = np.nonzero(keep)
        owner = np.array([class_of[int(j)] for j in grid.jobs])[i]
        parts.append((owner, p + 1, w + 1, grid.seconds[keep]))
    owner, ps, workers, seconds = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((workers, ps, owner))
    return owner[order], ps[order], workers[order], seconds[order]


def on_the_frontier(seconds: Floats) -> Bools:
    """Return which configurations are allowed and faster than all with no more tasks of either kind.

    Parameters
    ----------
    seconds : ndarray of float
        Completion times, infinite where not allowed, shape (n, P, W).

    Returns
    -------
    array of bool
        Shape (n, P, W).
    """
    least = np.minimum.accumulate(np.minimum.accumulate(seconds, axis=1), axis=2)
    keep = np.isfinite(seconds)
    keep[:, 1:, :] &= seconds[:, 1:, :] < least[:, :-1, :]
    keep[:, :, 1:] &= seconds[:, :, 1:] < least[:, :, :-1]
    return keep


def _dominated(seconds: Floats, use: Floats) -> Bools:
    n = len(seconds)
    result = np.zeros(n, dtype=bool)
    rows = max(1, PAIRS_AT_ONCE // max(1, n))
    index = np.arange(n)
    for a in range(0, n, rows):
        part = slice(a, a + rows)
        no_worse = seconds <= seconds[part, None]
        equal = seconds == seconds[part, None]
        for r in range(use.shape[1]):
            no_worse &= use[:, r] <= use[part, r, None]
            equal &= use[:, r] == use[part, r, None]
        result[part] = (no_worse & (~equal | (index < index[part, None]))).any(axis=1)
    return result


def _require_one_each(
    instance: AllocationInstance, columns: Configurations, use: Floats, fits: Bools, start: int
) -> None:
    """Raise InfeasibleError if no column of some class from `start` on fits."""
    stop = min(start + CLASSES_AT_ONCE, len(columns.classes))
    missing = np.setdiff1d(np.arange(start, stop), columns.owner[fits])
    if not missing.size:
        return
    j = columns.classes[missing[0]][0]
    least = use[columns.owner == missing[0]].min(axis=0)
    over = least - instance.capacity
    r = int(np.argmax(over / instance.capacity))
    if over[r] > 0:
        detail = (
            f"it takes at least {least[r]:g} {instance.units[r]} of {instance.resources[r]}, {over[r]:g} more than the "
            f"capacity {instance.capacity[r]:g}"
        )
    else:
        detail = "each exceeds the capacity of some resource"
    raise InfeasibleError(f"resource_capacity: no allowed configuration of job {j} ({instance.jobs[j]}) fits: {detail}")


@dataclass(frozen=True, eq=False)
class CapacityRows:
    """Scaling of the capacity rows that keeps the absolute tolerance of a solver from mattering.

    Attributes
    ----------
    factor : ndarray of float
        Row units for one unit of each resource, shape (R,).
    limit : ndarray of float
        Right-hand side of each row, in row units, shape (R,).
    whole : ndarray of bool
        Whether all coefficients of a row are integers, shape (R,).
    """

    factor: Floats
    limit: Floats
    whole: Bools

    @property
    def capacity(self) -> Floats:
        """Capacity of each resource in its own unit, shape (R,)."""
        return self.limit / self.factor

    def coefficients(self, use: Floats) -> Floats:
        """Convert the resource use of columns from natural to row units, shape (n, R)."""
        scaled = use * self.factor
        return np.where(self.whole, np.round(scaled), scaled)


def capacity_rows(instance: AllocationInstance) -> CapacityRows:
    """Return the scaling of each capacity row.

    Where all demands are multiples of 10^-k, k <= 6, the row unit is their greatest common divisor and the limit is
    rounded down to a multiple of it. Otherwise the row unit is a millionth of the capacity.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.
    """
    R = len(instance.resources)
    factor, limit, whole = np.empty(R), np.empty(R), np.zeros(R, dtype=bool)
    for r in range(R):
        demands = np.unique(np.concatenate((instance.worker_demand[:, r], instance.ps_demand[:, r])))
        step = _whole_step(demands)
        capacity = float(instance.capacity_limit[r])
        whole[r] = step is not None
        if step is None:
            factor[r] = SCALED_CAPACITY / capacity
            limit[r] = SCALED_CAPACITY
        else:
            factor[r] = float(step)
            # in floats, capacity * factor could round up to the next integer
            limit[r] = float(math.floor(Fraction(capacity) * step))
    return CapacityRows(factor, limit, whole)


def _whole_step(demands: Floats) -> Fraction | None:
    """Return the row units per natural unit that make all demands integers, or None if there are none."""
    for decimals in range(MOST_DECIMALS + 1):
        scaled = demands * 10.0**decimals
        rounded = np.round(scaled)
        if scaled.max() > LARGEST_WHOLE:
            return None
        if (np.abs(scaled - rounded) <= TWO_ROUNDINGS * rounded).all():
            divisor = int(np.gcd.reduce(rounded.astype(np.int64)))
            return Fraction(10**decimals, max(1, divisor))
    return None
