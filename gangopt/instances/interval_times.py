"""Times of an interval: fitted ones as the allocator sees them, and what a placement makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangopt.instances.allocation import AllocationInstance
from gangopt.instances.speed import async_step_seconds, sync_step_seconds

__all__ = ["Smallest", "fitted_times", "full_transfer", "smallest_configurations", "transfer_parts"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def fitted_times(allocation: AllocationInstance, ps: IntArray, workers: IntArray) -> FloatArray:
    """Return Q_j / f_j(p_j, w_j) of every job in seconds; infinite where the configuration is not allowed.

    Parameters
    ----------
    allocation : the jobs
    ps, workers : tasks of every job, shape (J,)

    Returns
    -------
    ndarray
        Shape (J,).
    """
    modes = np.array(allocation.mode)
    allowed = (ps >= 1) & (workers >= 1) & (ps <= allocation.max_ps) & (workers <= allocation.max_workers)
    times = np.full(len(modes), np.inf)
    for mode in ("async", "sync"):
        at = np.flatnonzero((modes == mode) & allowed)
        p, w = ps[at].astype(float), workers[at].astype(float)
        theta = allocation.theta[at].T
        step = async_step_seconds(theta, p, w) if mode == "async" else _sync(theta, allocation.batch[at], p, w)
        times[at] = step * allocation.steps[at]
    for j in np.flatnonzero((modes == "table") & allowed).tolist():
        times[j] = allocation.completion_time(j, int(ps[j]), int(workers[j]))
    return times


def _sync(theta: FloatArray, batch: FloatArray, p: FloatArray, w: FloatArray) -> FloatArray:
    step: FloatArray = sync_step_seconds(theta, batch, p, w)
    return step


def transfer_parts(allocation: AllocationInstance, jobs: IntArray, ps: IntArray, workers: IntArray) -> FloatArray:
    r"""Return the seconds of fitted times that are transfers.

    The term in w/p of the fitted step times the steps left: :math:`Q_j \theta_1 / p` for async (eqn 3 divides by w)
    and :math:`Q_j \theta_2 w / p` for sync (eqn 4). A measured table does not say which part is transfer: 0.

    Parameters
    ----------
    allocation : the jobs
    jobs : index of the job of each entry, shape (n,)
    ps, workers : its tasks, shape (n,)

    Returns
    -------
    ndarray
        Shape (n,).
    """
    modes, theta = np.array(allocation.mode)[jobs], allocation.theta[jobs]
    step = np.where(modes == "async", theta[:, 1] / ps, theta[:, 2] * workers / ps)
    return np.where(modes == "table", 0.0, step * allocation.steps[jobs])


def full_transfer(
    size: FloatArray, ps_bandwidth: FloatArray, worker_bandwidth: FloatArray, ps: IntArray, workers: IntArray
) -> FloatArray:
    """Return the transfer time in seconds of jobs of which no two tasks share a server.

    Parameters
    ----------
    size : S_j, MB, shape (J,)
    ps_bandwidth, worker_bandwidth : B_j and b_j, MB/s, shape (J,)
    ps, workers : tasks, shape (J,)

    Returns
    -------
    ndarray
        Shape (J,).
    """
    times: FloatArray = np.maximum(size * workers / (ps * ps_bandwidth), size * ps / (ps * worker_bandwidth))
    return times


@dataclass(frozen=True)
class Smallest:
    """The least that every job can have.

    Attributes
    ----------
    ps, workers : the allowed configuration of the fewest tasks; ties to the faster, then to fewer parameter servers
    least_ps, least_workers : fewest of each kind over all allowed configurations
    longest : longest fitted time of an allowed configuration, seconds
    """

    ps: IntArray
    workers: IntArray
    least_ps: IntArray
    least_workers: IntArray
    longest: FloatArray


def smallest_configurations(allocation: AllocationInstance) -> Smallest:
    """Return the least that every job of an allocation can have, arrays of shape (J,).

    Parameters
    ----------
    allocation : the jobs

    Returns
    -------
    Smallest
    """
    J = len(allocation.jobs)
    ps, workers, least_ps, least_workers = np.ones((4, J), dtype=np.int64)
    longest = np.empty(J)
    for grid in allocation.time_grids():
        finite = np.isfinite(grid.seconds)
        longest[grid.jobs] = np.where(finite, grid.seconds, 0.0).max(axis=(1, 2))
        for i in np.flatnonzero(~finite[:, 0, 0]).tolist():
            j = int(grid.jobs[i])
            p, w = np.nonzero(finite[i])
            best = np.lexsort((p, grid.seconds[i][p, w], p + w))[0]
            ps[j], workers[j] = p[best] + 1, w[best] + 1
            least_ps[j], least_workers[j] = p.min() + 1, w.min() + 1
    return Smallest(ps, workers, least_ps, least_workers, longest)
