"""Registry record of `schedule`: the offline optimum to which online policies are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.registry.problem import Family, Form, Method, Problem

if TYPE_CHECKING:
    from gangopt.instances.schedule.instance import ScheduleInstance, ScheduleSolution

__all__ = ["PROBLEM"]

_FORMS = "gangopt.formulations.schedule"
_GENERATORS = "gangopt.instances.schedule.generate"
_HEURISTICS = "gangopt.replays.as_heuristics"

PROBLEM: Problem[ScheduleInstance, ScheduleSolution] = Problem(
    noun="schedule",
    summary="schedule gangs that arrive over time on shared GPUs, with preemption, to minimise mean completion time",
    sense="minimise",
    objective="weighted mean completion time",
    unit="s",
    instance="gangopt.instances.schedule.instance:ScheduleInstance",
    solution="gangopt.instances.schedule.instance:ScheduleSolution",
    document="gangopt.instances.schedule.document:ScheduleDocument",
    solution_document="gangopt.instances.schedule.document:ScheduleSolutionDocument",
    forms={
        item.name: item
        for item in (
            Form(
                "event",
                f"{_FORMS}:event",
                "running times of job sets between arrivals and completions, by order of completion; continuous time",
            ),
            Form(
                "slotted",
                f"{_FORMS}:slotted",
                "a binary for each job and time slot; for instances with a slot length",
            ),
        )
    },
    methods={
        item.name: item
        for item in (
            Method(
                "exact",
                "gangopt.solvers.schedule.exact:exact",
                "the best schedule of the policies, bounds by prices of GPU time, and a formulation to close the gap",
                exact=True,
            ),
            Method("srsf", f"{_HEURISTICS}:srsf", "smallest product of remaining time and GPUs first"),
            Method("srtf", f"{_HEURISTICS}:srtf", "least remaining time first"),
            Method("sf", f"{_HEURISTICS}:sf", "fewest GPUs first"),
            Method("fifo", f"{_HEURISTICS}:fifo", "first come, first served, without preemption"),
            Method("2d-las", f"{_HEURISTICS}:las", "least attained service first, re-evaluated every interval"),
            Method("2d-gittins", f"{_HEURISTICS}:gittins", "largest Gittins index first, by the published formula"),
            Method("tiresias-g", f"{_HEURISTICS}:tiresias_g", "Gittins index, within queues by attained service"),
        )
    },
    families={
        item.name: item
        for item in (
            Family("random", f"{_GENERATORS}:random", "random gangs, running times, arrivals and weights"),
            Family(
                "slice", f"{_GENERATORS}:slice", "consecutive jobs of a log, on a number of GPUs or a named cluster"
            ),
        )
    },
    metrics={
        "total_jct": "s",
        "max_jct": "s",
        "makespan": "s",
        "queueing": "s",
        "preemptions": "stops",
    },
    default_methods=("exact", "srsf", "srtf", "sf", "fifo", "2d-las", "2d-gittins", "tiresias-g"),
    table_metrics=("max_jct", "preemptions"),
    describe="gangopt.instances.schedule.text:describe",
    describe_solution="gangopt.instances.schedule.text:describe_solution",
)
