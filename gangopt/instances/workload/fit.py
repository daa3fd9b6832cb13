"""Check whether an empty cluster can run each job of a workload."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Floats
from gangopt.instances.workload.notices import Notice

if TYPE_CHECKING:
    from gangopt.instances.workload.workload import Workload
    from gangopt.topology import Cluster

__all__ = ["check_fit", "unplaceable"]

_UNITS = {"cpu": "cores", "memory": "GB"}
_SHAPE = ("gpus", "ps", "workers", "gpu_type", "cpu", "memory")


def check_fit(workload: Workload, cluster: Cluster, lenient: bool = False) -> Workload:
    """Return the jobs that fit the empty cluster.

    Parameters
    ----------
    workload, cluster : Workload or Cluster
        Jobs and machines.
    lenient : bool, optional
        Skip jobs that do not fit, with a notice `unplaceable`, instead of raising.

    Raises
    ------
    InputError
        If a job does not fit, or if none fits; the message gives the first one and the reason.
    """
    import polars as pl

    reasons = unplaceable(workload, cluster)
    if not reasons:
        return workload
    first = min(reasons)
    message = f"job {workload.ids[first]} cannot be placed on {cluster.name or 'the cluster'}: {reasons[first]}"
    if not lenient:
        raise InputError(f"{message} (unplaceable: {len(reasons)}; a lenient reader skips such jobs)")
    if len(reasons) == len(workload):
        raise InputError(f"none of the {len(workload)} jobs can be placed: {message}")
    keep = np.ones(len(workload), dtype=bool)
    keep[list(reasons)] = False
    notice = Notice("unplaceable", len(reasons), message, dropped=True)
    return replace(workload, frame=workload.frame.filter(pl.Series(keep)), notices=(*workload.notices, notice))


def unplaceable(workload: Workload, cluster: Cluster) -> dict[int, str]:
    """Return the reason for each job, by index, that does not fit the empty cluster.

    The machines of the job's GPU types, and those of unknown type, must have enough GPUs in total and, if the cluster
    has these resources, enough cores and memory. Each worker needs gpus / workers GPUs on one machine, with an equal
    share of the cores and memory. This share is not checked for jobs with parameter servers, whose part is unknown.

    Returns
    -------
    dict
        Empty if every job fits.
    """
    frame = workload.frame.select(_SHAPE).with_row_index("row")
    reasons: dict[int, str] = {}
    for shape, rows in frame.group_by(_SHAPE, maintain_order=True):
        reason = _reason(dict(zip(_SHAPE, shape, strict=True)), cluster)
        if reason is not None:
            reasons.update(dict.fromkeys(rows["row"].to_list(), reason))
    return reasons


def _reason(shape: dict[str, Any], cluster: Cluster) -> str | None:
    allowed = np.ones(len(cluster.machines), dtype=bool)
    if shape["gpu_type"] is not None:
        types = set(shape["gpu_type"].split("|"))
        allowed = np.array([kind is None or kind in types for kind in cluster.gpu_types])
    sizes = cluster.gpus_per_machine[allowed]
    total = int(sizes.sum())
    of_type = "" if shape["gpu_type"] is None else f" of type {shape['gpu_type']}"
    if shape["gpus"] > total:
        return f"needs {shape['gpus']} GPUs, but the cluster has {total}{of_type}"
    return _workers_reason(shape, cluster, allowed, of_type) or _whole_reason(shape, cluster, allowed, of_type)


def _whole_reason(shape: dict[str, Any], cluster: Cluster, allowed: Bools, of_type: str) -> str | None:
    """Return the first resource of which the job needs more than all machines have in total."""
    for name, unit in _UNITS.items():
        if shape[name] and name in cluster.resources:
            total = float(cluster.capacities[allowed, cluster.resources.index(name)].sum())
            if shape[name] > total * (1 + 1e-9):
                where = f" on machines{of_type}" if of_type else ""
                return f"needs {shape[name]:g} {unit}, but the cluster has {total:g}{where}"
    return None


def _workers_reason(shape: dict[str, Any], cluster: Cluster, allowed: Bools, of_type: str) -> str | None:
    """Return the reason why the workers of a job do not fit the empty machines."""
    workers = shape["workers"]
    if workers is None:
        return None
    each = shape["gpus"] / workers
    room = _workers_a_machine(shape, cluster, allowed, each, workers)
    if room.sum() >= workers:
        return None
    needs = ", ".join(
        f"{shape[name] / workers:g} {unit}"
        for name, unit in _UNITS.items()
        if shape[name] and not shape["ps"] and name in cluster.resources
    )
    return (
        f"has {workers} workers of {each:g} GPUs{of_type}{f', {needs}' if needs else ''}, but only "
        f"{int(room.sum())} of them fit the machines"
    )


def _workers_a_machine(shape: dict[str, Any], cluster: Cluster, allowed: Bools, each: float, workers: int) -> Floats:
    """Return the number of workers of a job that fit each empty machine."""
    room = np.floor(cluster.gpus_per_machine[allowed] / each + 1e-9)
    for name in _UNITS:
        if shape[name] and not shape["ps"] and name in cluster.resources:
            capacity = cluster.capacities[allowed, cluster.resources.index(name)]
            room = np.minimum(room, np.floor(capacity / (shape[name] / workers) + 1e-9))
    return room
