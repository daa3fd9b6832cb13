"""Registry record of `interval`: allocation and placement, one after the other or jointly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gangopt.registry.problem import Family, Form, Method, Problem, resolve
from gangopt.registry.records import allocation, placement

if TYPE_CHECKING:
    from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution

__all__ = ["PROBLEM", "Pair"]

_FORMS = "gangopt.formulations.interval"
_GENERATORS = "gangopt.instances.interval.generate"

_ONE_JOB_ONLY = ("theorem1",)
"""Placement methods that only take instances with one job."""


@dataclass(frozen=True)
class Pair(Method):
    """An allocation method followed by a placement method, e.g. `optimus+spread`.

    `target` is a function that makes the method from the two names; its options are those of both methods.
    """

    allocation: str = ""
    placement: str = ""

    def function(self) -> Callable[..., Any]:
        """Return the method that runs the two methods one after the other."""
        return resolve(self.target)(self.allocation, self.placement)  # type: ignore[no-any-return]


def _pair(first: Method, second: Method) -> Pair:
    exact = first.exact or second.exact
    return Pair(
        name=f"{first.name}+{second.name}",
        target="gangopt.solvers.interval.exact:pair" if exact else "gangopt.solvers.interval.heuristics:pair",
        summary=f"allocation by {first.name}, then placement by {second.name}",
        exact=exact,
        allocation=first.name,
        placement=second.name,
    )


_EXACT = Method(
    "exact",
    "gangopt.solvers.interval.exact:exact",
    "both problems at once: bounds by classes of equal servers, placements that meet them, then `joint`",
    exact=True,
)
_RETRY = Method(
    "retry",
    "gangopt.solvers.interval.heuristics:retry",
    "a pair of heuristics, allocating within ever smaller capacities until all jobs can be placed",
)
_PAIRS = [
    _pair(first, second)
    for first in allocation.PROBLEM.methods.values()
    for second in placement.PROBLEM.methods.values()
    if second.name not in _ONE_JOB_ONLY
]

PROBLEM: Problem[IntervalInstance, IntervalSolution] = Problem(
    noun="interval",
    summary="allocate tasks to jobs and place them on servers for one interval, pausing jobs that do not fit",
    sense="minimise",
    objective="sum of completion times plus a charge for each job paused beyond a lower bound by counting",
    unit="s",
    instance="gangopt.instances.interval.instance:IntervalInstance",
    solution="gangopt.instances.interval.instance:IntervalSolution",
    document="gangopt.instances.interval.document:IntervalDocument",
    former_document="gangopt.instances.interval.document:IntervalDocumentV1",
    solution_document="gangopt.instances.interval.document:IntervalSolutionDocument",
    forms={
        item.name: item
        for item in (
            Form(
                "joint",
                f"{_FORMS}:joint",
                "configurations, levels and pieces on each server in one model; for small instances",
            ),
            Form(
                "classes",
                f"{_FORMS}:classes",
                "the same on classes of equal servers: a bound that a packing of the pieces may reach",
            ),
        )
    },
    methods={item.name: item for item in (_EXACT, *_PAIRS, _RETRY)},
    families={
        item.name: item
        for item in (
            Family("random", f"{_GENERATORS}:random", "random jobs of three model types on equal servers"),
            Family(
                "testbed",
                f"{_GENERATORS}:optimus_testbed",
                "the nine models of the testbed at random progress, on its servers",
            ),
        )
    },
    metrics={
        "jobs_placed": "jobs",
        "jobs_paused": "jobs",
        "paused_beyond_count": "jobs",
        "sum_completion_time": "s",
        "mean_completion_time": "s",
        "fitted_completion_time": "s",
        "transfer_time": "s",
        "tasks": "tasks",
        "hosts": "pairs of job and server",
    },
    default_methods=(
        "exact",
        "exact+exact",
        "exact+optimus",
        "optimus+exact",
        "optimus+optimus",
        "drf+spread",
        "tetris+pack",
        "retry",
    ),
    table_metrics=("jobs_placed", "sum_completion_time", "transfer_time"),
    describe="gangopt.instances.interval.text:describe",
    describe_solution="gangopt.instances.interval.text:describe_solution",
)
