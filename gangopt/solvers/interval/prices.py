"""Bounds of `interval` that ignore single servers: resource prices over the cluster, and all-local allocation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangopt.base.interrupts import unless_interrupted
from gangopt.base.types import Floats
from gangopt.formulations.interval.data import Choice, IntervalData
from gangopt.instances.interval.instance import IntervalInstance
from gangopt.solvers.core.contract import Controls

if TYPE_CHECKING:
    from gangopt.instances.allocation.instance import AllocationInstance

__all__ = ["all_local_bound", "priced"]


def priced(
    instance: IntervalInstance, data: IntervalData, objective: float, time_limit: float | None = None
) -> tuple[float | None, IntervalData]:
    r"""Return a bound from resource prices, and the choices that a solution better than a known one can make.

    With prices :math:`\lambda^r \ge 0` for the cluster's total capacities,

    .. math:: L = \sum_j \min_i (T_{ji} + \lambda \cdot d_{ji}) - \lambda \cdot C

    is a bound on every solution that pauses no job (the others cost more), and a solution with choice i for job j costs
    at least L plus the excess of i over the minimum of its job. The prices are the dual of the linear relaxation; L is
    computed from them, so it holds at any solver tolerance.

    Parameters
    ----------
    instance : IntervalInstance
        The interval.
    data : IntervalData
        Choices of the instance.
    objective : float
        Objective of the known solution; infinite without one.
    time_limit : float or None, optional
        Seconds for the linear relaxation; suboptimal prices give a weaker but valid bound.
    """
    if instance.fewest_paused or not all(data.choices):
        return None, data
    flat = [item for mine in data.choices for item in mine]
    owner = np.array([item.job for item in flat])
    seconds = np.array([item.seconds for item in flat])
    need = _needs(data, flat)
    capacity = sum(
        len(item.servers) * np.array(item.capacity, dtype=float) for item in data.placement.classes
    ) * np.ones(need.shape[1])
    price = _prices(owner, seconds, need, capacity, len(data.choices), time_limit)
    reduced = seconds + need @ price
    least = np.full(len(data.choices), np.inf)
    np.minimum.at(least, owner, reduced)
    bound = float(least.sum() - price @ capacity)
    # subtract the rounding error, so that the bound never exceeds the optimum; pausing a job costs more
    bound = min(bound - 1e-11 * abs(bound), instance.pause_cost)
    if objective >= instance.pause_cost:
        return bound, data
    keep = bound + reduced - least[owner] <= objective + 1e-9 * abs(objective)
    kept: list[list[Choice]] = [[] for _ in data.choices]
    for item, chosen in zip(flat, keep.tolist(), strict=True):
        if chosen:
            kept[item.job].append(item)
    return bound, replace(data, choices=tuple(map(tuple, kept)))


def _needs(data: IntervalData, flat: list[Choice]) -> Floats:
    """Return the total use of each choice over all servers, in the units of the placement's data, shape (n, R)."""
    jobs = data.placement.jobs
    rows = [jobs[item.job].need((item.ps, item.workers)) for item in flat]
    return np.array(rows, dtype=float).reshape(len(flat), len(data.placement.resources))


def _prices(
    owner: NDArray[np.int64],
    seconds: Floats,
    need: Floats,
    capacity: Floats,
    J: int,
    time_limit: float | None,
) -> Floats:
    """Return the prices of the resources, seconds per unit, >= 0, shape (R,)."""
    from scipy.sparse import csr_matrix, vstack

    from gangopt.solvers.highs import LinearArrays, SolveSettings, solve_arrays

    n, R = need.shape
    one = csr_matrix((np.ones(n), (owner, np.arange(n))), shape=(J, n))
    used = csr_matrix((need / capacity).T)
    arrays = LinearArrays.from_matrix(
        costs=seconds,
        matrix=vstack([one, used]),
        row_lower=np.concatenate((np.ones(J), np.full(R, -np.inf))),
        row_upper=np.ones(J + R),
        lower=0.0,
        upper=np.inf,
        integer=False,
    )
    outcome = unless_interrupted(solve_arrays(arrays, SolveSettings(time_limit=time_limit)))
    if outcome.row_duals is None:
        return np.zeros(R)
    return np.maximum(0.0, -outcome.row_duals[J:]) / capacity


def all_local_bound(instance: IntervalInstance, controls: Controls) -> float | None:
    """Return the bound of the exact method of `allocation` on the jobs without any transfers.

    No placement makes a job faster than that, and placed jobs stay within the total capacities.

    Parameters
    ----------
    instance : IntervalInstance
        The interval.
    controls : Controls
        Settings of the call.

    Returns
    -------
    float or None
        Seconds; None if a job must be paused, or nothing was proven in time.
    """
    from gangopt.base.errors import InfeasibleError
    from gangopt.solvers.allocation import exact as allocation

    if instance.fewest_paused:
        return None
    try:
        local = _without_transfers(instance.allocation)
        outcome = unless_interrupted(allocation.exact(local, replace(controls, start=None, rel_gap=1e-4)))
    except InfeasibleError:
        return None
    return None if outcome.bound is None else min(outcome.bound, instance.pause_cost)


def _without_transfers(shared: AllocationInstance) -> AllocationInstance:
    theta = shared.theta.copy()
    mode = np.array(shared.mode)
    theta[mode == "async", 1] = 0.0
    theta[mode == "sync", 2] = 0.0
    # an instance must have finite speeds; a step time this small changes no bound
    theta[(mode != "table") & ~theta.any(axis=1), 0] = 1e-100
    return replace(shared, theta=theta)
