"""Output of `gangopt show` and `gangopt solve` for allocations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gangopt.base.errors import shorten
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution, equal_job_classes

__all__ = ["describe", "describe_solution"]

SHOWN = 20


def describe(instance: AllocationInstance) -> str:
    """Return a table of the resources and a table of the jobs.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.

    Returns
    -------
    str
        Several lines; at most `SHOWN` jobs are listed.
    """
    modes = Counter(instance.mode)
    cells = int((instance.max_ps * instance.max_workers).sum())
    by_mode = ", ".join(f"{count:,} {mode}" for mode, count in sorted(modes.items()))
    different = len(equal_job_classes(instance))
    lines = [
        f"{len(instance.jobs):,} jobs ({by_mode}), {different:,} different; {cells:,} configurations",
        "",
        f"{'resource':<12} {'capacity':>14} {'unit':<8} {'per worker':>24} {'per parameter server':>20}",
    ]
    for r, name in enumerate(instance.resources):
        worker, server = instance.worker_demand[:, r], instance.ps_demand[:, r]
        lines.append(
            f"{name:<12} {instance.capacity[r]:>14,.6g} {instance.units[r]:<8} "
            f"{f'{worker.min():g} to {worker.max():g}':>24} {f'{server.min():g} to {server.max():g}':>20}"
        )
    lines += ["", f"{'job':<24} {'mode':<6} {'steps left':>14} {'max. w':>10} {'max. p':>10}  speed"]
    lines += [_job_line(instance, j) for j in range(min(SHOWN, len(instance.jobs)))]
    if len(instance.jobs) > SHOWN:
        lines.append(f"... and {len(instance.jobs) - SHOWN:,} more")
    return "\n".join(lines)


def _job_line(instance: AllocationInstance, j: int) -> str:
    if instance.mode[j] == "table":
        speed = f"table {instance.table_labels[instance.table[j]]}"
    else:
        speed = "theta " + ", ".join(f"{value:.4g}" for value in instance.theta[j] if value)
        speed += f"; batch {instance.batch[j]:g}" if instance.mode[j] == "sync" else ""
    return (
        f"{shorten(instance.jobs[j], 24):<24} {instance.mode[j]:<6} {instance.steps[j]:>14,.6g} "
        f"{instance.max_workers[j]:>10} {instance.max_ps[j]:>10}  {speed}"
    )


def describe_solution(instance: AllocationInstance, solution: AllocationSolution) -> Iterator[str]:
    """Yield a heading and, for every job, its workers, parameter servers and completion time.

    Parameters
    ----------
    instance : AllocationInstance
        The jobs.
    solution : AllocationSolution
        A feasible allocation.

    Yields
    ------
    str
        One line.
    """
    yield f"{'job':<24} {'workers':>7} {'ps':>5} {'completion (s)':>14}"
    for j, (w, p) in enumerate(zip(solution.workers, solution.parameter_servers, strict=True)):
        yield f"{shorten(instance.jobs[j], 24):<24} {w:>7,} {p:>5,} {instance.completion_time(j, p, w):>14,.6g}"
