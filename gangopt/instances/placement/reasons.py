"""Why a job found no place, as one line for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gangopt.instances.placement.instance import PER_UNIT, PlacementInstance

__all__ = ["pause_reason", "paused_reasons"]


def pause_reason(instance: PlacementInstance, job: int, free: NDArray[np.int64]) -> str:
    """Return why a job is paused, given what is free in all.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    job : int
        Index of the job.
    free : ndarray of int
        Free amount of every resource over all servers, millionths of the unit, shape (R,).
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
            f"{free[r] / PER_UNIT:g} are free in all"
        )
    return "enough is free in all, but not where its tasks could use it"


def paused_reasons(instance: PlacementInstance, pieces: Sequence[tuple[tuple[int, int, int], ...]]) -> tuple[str, ...]:
    """Return for every job why it is paused beside the pieces of the others, empty for a placed one.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    pieces : sequence of tuple of tuple of int
        For every job its pieces (server, parameter servers, workers), none for a paused one.
    """
    free = instance.capacity_millionths.sum(axis=0)
    for j, held in enumerate(pieces):
        for _, ps, workers in held:
            free = free - ps * instance.ps_millionths[j] - workers * instance.worker_millionths[j]
    return tuple("" if held else pause_reason(instance, j, free) for j, held in enumerate(pieces))
