"""Output of `gangopt show` and `gangopt solve` for schedules."""

from __future__ import annotations

from collections.abc import Iterator

from gangopt.base.errors import shorten
from gangopt.instances.schedule.instance import Run, ScheduleInstance, ScheduleSolution

__all__ = ["describe", "describe_solution"]

_SHOWN = 20
_RUNS = 8


def describe(instance: ScheduleInstance) -> str:
    """Return the cluster and a table of the jobs.

    Parameters
    ----------
    instance : ScheduleInstance
        The jobs.

    Returns
    -------
    str
        Several lines; at most 20 jobs are listed.
    """
    where = f"{instance.n_gpus:,} GPUs"
    if instance.machines:
        where += f" on {len(instance.machines):,} machines of {min(instance.machines)} to {max(instance.machines)}"
    times = "at any time" if instance.slot is None else f"every {instance.slot:g} s"
    area = float((instance.gpus * instance.duration).sum())
    lines = [
        f"{len(instance.jobs):,} jobs with a total of {area:,.6g} GPU s share {where}; they start and stop {times}",
        "",
        f"{'job':<24} {'arrival':>12} {'GPUs':>6} {'duration':>12} {'weight':>8}",
    ]
    for j, label in enumerate(instance.jobs[:_SHOWN]):
        numbers = f"{instance.arrival[j]:>12.6g} {instance.gpus[j]:>6} {instance.duration[j]:>12.6g}"
        lines.append(f"{shorten(label, 24):<24} {numbers} {instance.weights[j]:>8.4g}")
    if len(instance.jobs) > _SHOWN:
        lines.append(f"... and {len(instance.jobs) - _SHOWN:,} more")
    return "\n".join(lines)


def describe_solution(instance: ScheduleInstance, solution: ScheduleSolution) -> Iterator[str]:
    """Yield a heading and, for every job, its completion time and its runs.

    Parameters
    ----------
    instance : ScheduleInstance
        The jobs.
    solution : ScheduleSolution
        A feasible schedule.

    Yields
    ------
    str
        One line.
    """
    yield f"{'job':<24} {'completion':>12}  runs [from, to) in s"
    for j, runs in enumerate(solution.runs):
        shown = ", ".join(_text(run) for run in runs[:_RUNS])
        rest = f", and {len(runs) - _RUNS} more" if len(runs) > _RUNS else ""
        yield f"{shorten(instance.jobs[j], 24):<24} {runs[-1].end - instance.arrival[j]:>12.6g}  {shown}{rest}"


def _text(run: Run) -> str:
    places = " ".join(f"{machine}:{count}" for machine, count in run.places)
    return f"[{run.start:.6g}, {run.end:.6g})" + (f" on {places}" if places else "")
