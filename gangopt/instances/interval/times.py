"""Times of an interval: what transfers make of fitted times, and the least that every job can have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangopt.instances.allocation.instance import AllocationInstance

__all__ = ["Smallest", "fitted_times", "full_transfer", "smallest_configurations", "transfer_parts"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def fitted_times(allocation: AllocationInstance, ps: IntArray, workers: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the fitted times of all jobs and the seconds of them that are transfers.

    Parameters
    ----------
    allocation : AllocationInstance
        The jobs.
    ps, workers : ndarray of int
        Tasks of every job, an allowed configuration, shape (J,).

    Returns
    -------
    tuple of two ndarray
        Shape (J,).
    """
    fitted = allocation.completion_times(ps, workers)
    return fitted, transfer_parts(allocation, np.arange(len(ps)), ps, workers, fitted)


def transfer_parts(
    allocation: AllocationInstance, jobs: IntArray, ps: IntArray, workers: IntArray, fitted: FloatArray
) -> FloatArray:
    r"""Return the seconds of fitted times that are transfers.

    The term in w/p of the fitted step times the steps left: :math:`Q_j \theta_1 / p` for async (eqn 3 divides by w)
    and :math:`Q_j \theta_2 w / p` for sync (eqn 4). A measured table does not say which part is transfer: 0.

    Parameters
    ----------
    allocation : AllocationInstance
        The jobs.
    jobs : ndarray of int
        Index of the job of each entry, shape (n,).
    ps, workers : ndarray of int
        Its tasks, shape (n,).
    fitted : ndarray of float
        Its fitted time with them, seconds, shape (n,).

    Returns
    -------
    ndarray
        Shape (n,), at most the fitted times.
    """
    modes, theta = np.array(allocation.mode)[jobs], allocation.theta[jobs]
    step = np.where(modes == "async", theta[:, 1] / ps, theta[:, 2] * workers / ps)
    # a fitted time that is all transfers is the same number but for rounding, which must not leave less than no time
    return np.minimum(np.where(modes == "table", 0.0, step * allocation.steps[jobs]), fitted)


def full_transfer(
    size: FloatArray, ps_bandwidth: FloatArray, worker_bandwidth: FloatArray, ps: IntArray, workers: IntArray
) -> FloatArray:
    """Return the transfer time in seconds of jobs of which no two tasks share a server.

    Parameters
    ----------
    size : ndarray of float
        S_j, MB, shape (J,).
    ps_bandwidth, worker_bandwidth : ndarray of float
        B_j and b_j, MB/s, shape (J,).
    ps, workers : ndarray of int
        Tasks, shape (J,).

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
    ps, workers : ndarray of int
        The allowed configuration of the fewest tasks; ties to the faster, then to fewer parameter servers.
    least_ps, least_workers : ndarray of int
        Fewest of each kind over all allowed configurations.
    longest : ndarray of float
        Longest fitted time of an allowed configuration, seconds.
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
    allocation : AllocationInstance
        The jobs.
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
