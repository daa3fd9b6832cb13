"""Times of an interval: transfers within fitted times, and the smallest configurations of jobs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gangopt.base.types import Floats, Ints
from gangopt.instances.allocation.instance import AllocationInstance

__all__ = ["Smallest", "fitted_times", "full_transfer", "smallest_configurations", "transfer_parts"]


def fitted_times(allocation: AllocationInstance, ps: Ints, workers: Ints) -> tuple[Floats, Floats]:
    """Return the fitted times of all jobs and the transfers within them, in seconds.

    Parameters
    ----------
    allocation : AllocationInstance
        The jobs.
    ps, workers : ndarray of int
        Tasks of every job, an allowed configuration, shape (J,).

    Returns
    -------
    tuple of two ndarray
        Fitted times and transfers, each of shape (J,).
    """
    fitted = allocation.completion_times(ps, workers)
    return fitted, transfer_parts(allocation, np.arange(len(ps)), ps, workers, fitted)


def transfer_parts(allocation: AllocationInstance, jobs: Ints, ps: Ints, workers: Ints, fitted: Floats) -> Floats:
    r"""Return the transfers within fitted times, in seconds.

    They are the term in w/p of the fitted step, times the steps left: :math:`Q_j \theta_1 / p` for async (eqn 3
    divides by w) and :math:`Q_j \theta_2 w / p` for sync (eqn 4). For a measured table they are unknown and set to 0.

    Parameters
    ----------
    allocation : AllocationInstance
        The jobs.
    jobs : ndarray of int
        Index of the job of each entry, shape (n,).
    ps, workers : ndarray of int
        Tasks of the job, shape (n,).
    fitted : ndarray of float
        Fitted time of the job with these tasks, seconds, shape (n,).

    Returns
    -------
    ndarray
        Transfers, at most the fitted times, shape (n,).
    """
    modes, theta = np.array(allocation.mode)[jobs], allocation.theta[jobs]
    step = np.where(modes == "async", theta[:, 1] / ps, theta[:, 2] * workers / ps)
    # a fitted time that is all transfers equals them only up to rounding, which must not make the rest negative
    return np.minimum(np.where(modes == "table", 0.0, step * allocation.steps[jobs]), fitted)


def full_transfer(size: Floats, ps_bandwidth: Floats, worker_bandwidth: Floats, ps: Ints, workers: Ints) -> Floats:
    """Return the transfer times of jobs without two tasks on one server, in seconds, shape (J,).

    Parameters
    ----------
    size : ndarray of float
        Size S_j of the model's parameters, MB, shape (J,).
    ps_bandwidth, worker_bandwidth : ndarray of float
        Bandwidths B_j and b_j, MB/s, shape (J,).
    ps, workers : ndarray of int
        Tasks of every job, shape (J,).
    """
    times: Floats = np.maximum(size * workers / (ps * ps_bandwidth), size * ps / (ps * worker_bandwidth))
    return times


@dataclass(frozen=True)
class Smallest:
    """Smallest configurations of all jobs, as arrays of shape (J,).

    Attributes
    ----------
    ps, workers : ndarray of int
        Allowed configuration with the fewest tasks; ties go to the faster, then to fewer parameter servers.
    least_ps, least_workers : ndarray of int
        Fewest tasks of each kind over all allowed configurations.
    longest : ndarray of float
        Longest fitted time of an allowed configuration, seconds.
    """

    ps: Ints
    workers: Ints
    least_ps: Ints
    least_workers: Ints
    longest: Floats


def smallest_configurations(allocation: AllocationInstance) -> Smallest:
    """Return the smallest configurations of the jobs of an allocation.

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
