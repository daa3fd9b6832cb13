"""Reasons why jobs are paused, one line each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangopt.base.types import Ints
from gangopt.instances.placement.instance import PER_UNIT, PlacementInstance

__all__ = ["pause_reason", "paused_reasons"]


def pause_reason(instance: PlacementInstance, job: int, free: Ints) -> str:
    """Return the reason why a job is paused, given the total free amounts.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    job : int
        Index of the job.
    free : ndarray of int
        Total free amount of every resource, millionths of the unit, shape (R,).
    """
    for what, demand in (("parameter servers", instance.ps_millionths), ("workers", instance.worker_millionths)):
        if not (instance.capacity_millionths >= demand[job]).all(axis=1).any():
            return f"no server is large enough for one of its {what}"
    needs = (
        instance.parameter_servers[job] * instance.ps_millionths[job]
        + instance.workers[job] * instance.worker_millionths[job]
    )
    for r in np.flatnonzero(needs > free).tolist():
        return (
            f"it needs {needs[r] / PER_UNIT:g} {instance.units[r]} of {instance.resources[r]}, "
            f"but only {free[r] / PER_UNIT:g} are free"
        )
    return "the free amounts suffice in total, but not on single servers"


def paused_reasons(instance: PlacementInstance, pieces: Sequence[tuple[tuple[int, int, int], ...]]) -> tuple[str, ...]:
    """Return for every job the reason why it is paused, empty for a placed job.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    pieces : sequence of tuple of tuple of int
        Pieces (server, parameter servers, workers) of every job, none for a paused job.
    """
    free = instance.capacity_millionths.sum(axis=0)
    for j, held in enumerate(pieces):
        for _, ps, workers in held:
            free = free - ps * instance.ps_millionths[j] - workers * instance.worker_millionths[j]
    return tuple("" if held else pause_reason(instance, j, free) for j, held in enumerate(pieces))
