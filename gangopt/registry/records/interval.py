"""Registry record of decision `interval`: allocation and placement in turn, or jointly."""

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
"""Placement methods that take instances of one job only."""


@dataclass(frozen=True)
class Pair(Method):
    """An allocation method and a placement method in turn, as `optimus+spread`.

    `target` is a function that makes the method of the two names; its options are those of both.
    """

    allocation: str = ""
    placement: str = ""

    def function(self) -> Callable[..., Any]:
        """Return the method that takes the two decisions in turn."""
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
    "both decisions at once: bounds by classes of equal servers, placements that meet them, then form `joint`",
    exact=True,
)
_RETRY = Method(
    "retry",
    "gangopt.solvers.interval.heuristics:retry",
    "a pair of heuristics, the allocator within ever smaller capacities until all jobs find a place",
)
_PAIRS = [
    _pair(first, second)
    for first in allocation.PROBLEM.methods.values()
    for second in placement.PROBLEM.methods.values()
    if second.name not in _ONE_JOB_ONLY
]

PROBLEM: Problem[IntervalInstance, IntervalSolution] = Problem(
    noun="interval",
    summary="allocate tasks to jobs and place them on servers for one scheduling interval, pausing what does not fit",
    sense="minimise",
    objective="sum of completion times, and a charge for each job paused beyond the fewest that counting forces",
    unit="s",
    instance="gangopt.instances.interval.instance:IntervalInstance",
    solution="gangopt.instances.interval.instance:IntervalSolution",
    document="gangopt.instances.interval.document:IntervalDocument",
    solution_document="gangopt.instances.interval.document:IntervalSolutionDocument",
    forms={
        item.name: item
        for item in (
            Form(
                "joint",
                f"{_FORMS}:joint",
                "configurations, levels and pieces on every server in one model; for small cases",
            ),
            Form(
                "classes",
                f"{_FORMS}:classes",
                "the same on classes of equal servers: a bound, which a packing of the pieces may reach",
            ),
        )
    },
    methods={item.name: item for item in (_EXACT, *_PAIRS, _RETRY)},
    families={
        item.name: item
        for item in (
            Family("random", f"{_GENERATORS}:random", "random jobs of three model types on equal servers"),
            Family(
                "testbed", f"{_GENERATORS}:optimus_testbed", "the nine models at random progress on testbed servers"
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
