"""Lengths of phases on every number of GPUs, from which an agent's bid table is built."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from gangopt.base.arguments import unknown
from gangopt.base.interrupts import unless_interrupted
from gangopt.instances.apps.app import JobInfo
from gangopt.instances.bid.generate import from_phases
from gangopt.solvers.bid.splits import deal, fold
from gangopt.topology import LOCALITIES

__all__ = ["Split", "even_lengths", "lengths_on", "total_lengths"]

Split = Literal["even", "lpt", "exact"]
"""Rule by which an app splits its GPUs inside a phase."""


def even_lengths(jobs: Sequence[JobInfo], most: int) -> NDArray[np.float64]:
    """Return the length of a phase on 1 to `most` whole GPUs split evenly, at every locality.

    The split is that of method `even` of the problem `bid`, computed for all numbers together, since dealing one more
    GPU only extends the deal before.

    Parameters
    ----------
    jobs : sequence of JobInfo
        Jobs of one phase.
    most : int
        Largest number of GPUs.

    Returns
    -------
    ndarray
        Lengths, s, shape (localities, most), narrowest locality first; column k - 1 is for k GPUs.
    """
    n = len(jobs)
    work = np.array([job.work for job in jobs])
    slowdown = np.array([[job.locality_sensitivity.at(level) for job in jobs] for level in LOCALITIES])
    lengths = np.empty((len(LOCALITIES), most))
    single = work * slowdown[0]
    for k in range(1, min(n, most + 1)):
        lengths[:, k - 1] = np.bincount(fold(work, k), single, minlength=k).max()
    if most < n:
        return lengths
    dealt = deal(work, np.array([job.max_gpus for job in jobs]), most)
    held = np.zeros((most, n))
    held[np.arange(len(dealt)), dealt] = 1
    held = np.cumsum(held, axis=0)[n - 1 :]
    for row, factors in enumerate(slowdown):
        lengths[row, n - 1 :] = np.where(held == 1, single, work * factors / held).max(axis=1)
    return lengths


def total_lengths(phases: Sequence[Sequence[JobInfo]], most: int, split: Split = "even") -> NDArray[np.float64]:
    """Return the total length of all phases on 1 to `most` whole GPUs, at every locality.

    Parameters
    ----------
    phases : sequence of sequence of JobInfo
        Jobs of every phase.
    most : int
        Largest number of GPUs.
    split : Split, optional
        Rule that splits GPUs inside a phase.

    Returns
    -------
    ndarray
        Lengths, s, shape (localities, most), narrowest locality first; column k - 1 is for k GPUs.
    """
    if split == "even":
        known: dict[tuple[JobInfo, ...], NDArray[np.float64]] = {}
        for jobs in map(tuple, phases):
            if jobs not in known:
                known[jobs] = even_lengths(jobs, most)
        total: NDArray[np.float64] = np.sum([known[tuple(jobs)] for jobs in phases], axis=0)
        return total
    offers = [(k, level) for level in LOCALITIES for k in range(1, most + 1)]
    table = [math.fsum(seconds) for seconds in lengths_on(phases, offers, split)]
    return np.array(table).reshape(len(LOCALITIES), most)


def lengths_on(
    phases: Sequence[Sequence[JobInfo]], offers: Sequence[tuple[int, str]], split: Split
) -> list[tuple[float, ...]]:
    """Return the length of each phase on each offer.

    Parameters
    ----------
    phases : sequence of sequence of JobInfo
        Jobs of every phase.
    offers : sequence of tuple of int and str
        (GPUs, level), at least one.
    split : Split
        Rule that splits GPUs inside a phase.

    Returns
    -------
    list of tuple of float
        Lengths, s, for every offer and phase.
    """
    if split not in get_args(Split):
        raise unknown("split", str(split), list(get_args(Split)))
    most = max(gpus for gpus, _ in offers)
    instance = from_phases(phases, offers, name="offers", cluster_gpus=most, contention=1.0)
    if split == "exact":
        from gangopt.solvers.bid.exact import exact
        from gangopt.solvers.core.contract import Controls

        return [row.seconds for row in unless_interrupted(exact(instance, Controls())).solution.rows]
    from gangopt.solvers.bid.heuristics import even, lpt

    return [row.seconds for row in (even if split == "even" else lpt)(instance).rows]
