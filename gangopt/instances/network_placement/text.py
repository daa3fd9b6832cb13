"""Output of `gangopt show` and `gangopt solve` for a job that joins a cluster."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import numpy as np

from gangopt.base.errors import shorten
from gangopt.instances.network_placement.instance import (
    NetworkPlacementInstance,
    NetworkPlacementSolution,
    machine_loads,
)

__all__ = ["describe", "describe_solution"]

_SHOWN = 20


def describe(instance: NetworkPlacementInstance) -> str:
    """Return the job and a table of the machines before it is placed.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.

    Returns
    -------
    str
        Several lines; at most 20 machines are listed.
    """
    sizes, free = instance.ps_sizes, instance.free_gpus
    span = f"{sizes.min():,.4g} to {sizes.max():,.4g} MiB, {instance.model_size:,.6g} MiB in all"
    hosts = int(np.count_nonzero(free))
    lines = [
        f"{instance.workers:,} workers, {len(sizes):,} parameter servers of {span}",
        f"{len(instance.machines):,} machines, {int(free.sum()):,} free GPUs on {hosts:,} of them",
        "",
        f"{'machine':<24} {'free GPUs':>9} {'traffic (MiB per iteration)':>28}",
    ]
    for i, label in enumerate(instance.machines[:_SHOWN]):
        lines.append(f"{shorten(label, 24):<24} {free[i]:>9,} {instance.traffic[i]:>28,.6g}")
    if len(instance.machines) > _SHOWN:
        lines.append(f"... and {len(instance.machines) - _SHOWN:,} more")
    return "\n".join(lines)


def describe_solution(instance: NetworkPlacementInstance, solution: NetworkPlacementSolution) -> Iterator[str]:
    """Yield a heading and, for every machine that hosts a part of the job, its workers, load and parameter servers.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.
    solution : NetworkPlacementSolution
        A feasible placement.

    Yields
    ------
    str
        One line.
    """
    loads = machine_loads(instance, solution).tolist()
    hosted: dict[int, list[int]] = {}
    for server, machine in enumerate(solution.ps_hosts):
        hosted.setdefault(machine, []).append(server)
    yield f"{'machine':<24} {'workers':>7} {'load (MiB)':>12}  parameter servers"
    for i, workers in enumerate(solution.workers):
        if workers or i in hosted:
            servers = textwrap.shorten(", ".join(map(str, hosted.get(i, []))), 80, placeholder=" ...") or "-"
            yield f"{shorten(instance.machines[i], 24):<24} {workers:>7,} {loads[i]:>12,.6g}  {servers}"
