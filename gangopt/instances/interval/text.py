"""Output of `gangopt show` and `gangopt solve` for intervals."""

from __future__ import annotations

from collections.abc import Iterator

from gangopt.base.errors import shorten
from gangopt.instances.allocation import text as allocation_text
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution
from gangopt.instances.placement.text import pieces_text, server_lines

__all__ = ["describe", "describe_solution"]


def describe(instance: IntervalInstance) -> str:
    """Return the servers by kind, the network, and a table of the jobs.

    Parameters
    ----------
    instance : IntervalInstance
        The interval.

    Returns
    -------
    str
        Several lines; at most 12 kinds of servers are listed.
    """
    jobs = instance.allocation
    lines = [f"{len(instance.machines):,} machines; decided every {instance.interval:g} s; charge {instance.charge}"]
    lines += server_lines(instance.capacity, jobs.units, jobs.resources)
    lines.append(
        f"models of {instance.size.min():g} to {instance.size.max():g} MB; bandwidths of "
        f"{min(instance.ps_bandwidth.min(), instance.worker_bandwidth.min()):g} to "
        f"{max(instance.ps_bandwidth.max(), instance.worker_bandwidth.max()):g} MB/s"
    )
    return "\n".join([*lines, "", allocation_text.describe(jobs)])


def describe_solution(instance: IntervalInstance, solution: IntervalSolution) -> Iterator[str]:
    """Yield a heading and, for every job, its tasks and their servers, or why it is paused.

    Parameters
    ----------
    instance : IntervalInstance
        Servers and jobs.
    solution : IntervalSolution
        A feasible allocation and placement.

    Yields
    ------
    str
        One line.
    """
    counts = zip(solution.allocation.workers, solution.allocation.parameter_servers, strict=True)
    yield f"{'job':<24} {'workers':>7} {'ps':>5}  machines"
    for j, (w, p) in enumerate(counts):
        label = shorten(instance.allocation.jobs[j], 24)
        yield f"{label:<24} {w:>7,} {p:>5,}  {pieces_text(instance.machines, solution.placement, j)}"
