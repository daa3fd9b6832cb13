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
    R = len(instance.resources)
    for what, demand in (("parameter servers", instance.ps_millionths), ("workers", instance.worker_millionths)):
        if not (instance.capacity_millionths[:, :R] >= demand[job, :R]).all(axis=1).any():
            return f"no machine is large enough for one of its {what}"
        if not (instance.capacity_millionths >= demand[job]).all(axis=1).any():
            return f"none of the machines that {_binding(instance, job)} is large enough for one of its {what}"
    needs = (
        instance.parameter_servers[job] * instance.ps_millionths[job]
        + instance.workers[job] * instance.worker_millionths[job]
    )
    for r in np.flatnonzero(needs[:R] > free[:R]).tolist():
        return (
            f"it needs {needs[r] / PER_UNIT:g} {instance.units[r]} of {instance.resources[r]}, "
            f"but only {free[r] / PER_UNIT:g} are free"
        )
    if instance.requirements[job].is_anywhere and instance.bindings.allowed(job).all():
        return "the free amounts suffice in total, but not on single machines"
    return f"the free amounts suffice in total, but not on machines that {_binding(instance, job)}"


def _binding(instance: PlacementInstance, job: int) -> str:
    """Return what machines must have by the requirement of a job, e.g. `have GPU type V100 and lie in one rack`."""
    item = instance.requirements[job]
    words = [f"have GPU type {' or '.join(item.gpu_types)}"] if item.gpu_types else []
    words += [f"have label {key}={value}" for key, value in item.labels.items()]
    words += [f"lie in one {item.level}"] if item.level not in ("", "cluster") else []
    return " and ".join(words) if words else "have no taint that it does not tolerate"


def paused_reasons(instance: PlacementInstance, pieces: Sequence[tuple[tuple[int, int, int], ...]]) -> tuple[str, ...]:
    """Return for every job the reason why it is paused, empty for a placed job.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    pieces : sequence of tuple of tuple of int
        Pieces (machine, parameter servers, workers) of every job, none for a paused job.
    """
    free = instance.capacity_millionths.sum(axis=0)
    for j, held in enumerate(pieces):
        for _, ps, workers in held:
            free = free - ps * instance.ps_millionths[j] - workers * instance.worker_millionths[j]
    return tuple("" if held else pause_reason(instance, j, free) for j, held in enumerate(pieces))
