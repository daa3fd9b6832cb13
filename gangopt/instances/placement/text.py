"""Output of `gangopt show` and `gangopt solve` for placements."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from gangopt.base.errors import shorten
from gangopt.base.rows import classes_of_equal_rows
from gangopt.base.types import Floats
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["describe", "describe_solution", "pieces_text", "server_lines"]

_KINDS = 12
_JOBS = 20
_PIECES = 20


def describe(instance: PlacementInstance) -> str:
    """Return the servers by kind and a table of the jobs with their tasks.

    Parameters
    ----------
    instance : PlacementInstance
        Servers and jobs.

    Returns
    -------
    str
        Several lines; at most 12 kinds of servers and 20 jobs are listed.
    """
    counted = f"{len(instance.machines):,} machines, {len(instance.jobs):,} jobs"
    lines = [f"{counted}; {instance.objective} times; charge {instance.charge}"]
    lines += server_lines(instance.capacity, instance.units, instance.resources)
    lines += ["", f"{'job':<24} {'workers':>7} {'ps':>5} {'size (MB)':>10}  per worker; per parameter server"]
    for j in range(min(_JOBS, len(instance.jobs))):
        demand = _amounts(instance.worker_demand[j].tolist(), instance.units, instance.resources)
        ps_demand = _amounts(instance.ps_demand[j].tolist(), instance.units, instance.resources)
        lines.append(
            f"{shorten(instance.jobs[j], 24):<24} {instance.workers[j]:>7,} {instance.parameter_servers[j]:>5,} "
            f"{instance.size[j]:>10,.4g}  {demand}; {ps_demand}"
        )
    if len(instance.jobs) > _JOBS:
        lines.append(f"... and {len(instance.jobs) - _JOBS:,} more")
    return "\n".join(lines)


def server_lines(capacity: Floats, units: Sequence[str], resources: Sequence[str]) -> list[str]:
    """Return a line for each kind of equal servers, with their number and amounts, for at most 12 kinds.

    Parameters
    ----------
    capacity : ndarray of float
        Capacity of every server, shape (K, R).
    units, resources : sequence of str
        Unit and name of every resource.
    """
    kinds = classes_of_equal_rows([capacity])
    lines = [
        f"  {len(members):>6,} x {_amounts(capacity[members[0]].tolist(), units, resources)}"
        for members in kinds[:_KINDS]
    ]
    return lines if len(kinds) <= _KINDS else [*lines, f"  ... and {len(kinds) - _KINDS:,} more kinds"]


def _amounts(amounts: Sequence[float], units: Sequence[str], resources: Sequence[str]) -> str:
    named = zip(amounts, units, resources, strict=True)
    return ", ".join(f"{amount:g} {unit} {name}" for amount, unit, name in named)


def describe_solution(instance: PlacementInstance, solution: PlacementSolution) -> Iterator[str]:
    """Yield a heading and, for every job, its transfer time and the servers of its tasks, or why it is paused.

    Parameters
    ----------
    instance : PlacementInstance
        Servers and jobs.
    solution : PlacementSolution
        A feasible placement.

    Yields
    ------
    str
        One line.
    """
    times = instance.transfer_times(solution).tolist()
    yield f"{'job':<24} {'transfer (s)':>12}  machines"
    for j, label in enumerate(instance.jobs):
        time = f"{times[j]:,.6g}" if solution.pieces[j] else "-"
        yield f"{shorten(label, 24):<24} {time:>12}  {pieces_text(instance.machines, solution, j)}"


def pieces_text(servers: Sequence[str], solution: PlacementSolution, j: int) -> str:
    """Return the servers of a job's tasks, e.g. `m0: 2 workers, 1 ps; m1: 2 workers`, or why it is paused.

    Parameters
    ----------
    servers : sequence of str
        Label of every server.
    solution : PlacementSolution
        A placement.
    j : int
        Index of the job.

    Returns
    -------
    str
        At most 100 characters.
    """
    pieces = solution.pieces[j]
    if not pieces:
        return textwrap.shorten(f"paused: {solution.reasons[j]}", 100, placeholder=" ...")
    hosted = (f"{servers[k]}: {_tasks(w, p)}" for k, p, w in pieces[:_PIECES])
    more = ["..."] if len(pieces) > _PIECES else []
    return textwrap.shorten("; ".join([*hosted, *more]), 100, placeholder=" ...")


def _tasks(workers: int, parameter_servers: int) -> str:
    counts = ((workers, "worker" if workers == 1 else "workers"), (parameter_servers, "ps"))
    return ", ".join(f"{count:,} {name}" for count, name in counts if count)
