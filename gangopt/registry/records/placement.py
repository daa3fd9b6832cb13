"""Registry record of `placement`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.registry.problem import Family, Form, Method, Problem

if TYPE_CHECKING:
    from gangopt.instances.placement.instance import PlacementInstance
    from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["PROBLEM"]

_FORMS = "gangopt.formulations.placement"
_HEURISTICS = "gangopt.solvers.placement.heuristics"

PROBLEM: Problem[PlacementInstance, PlacementSolution] = Problem(
    noun="placement",
    summary="place the parameter servers and workers of every job on servers",
    sense="minimise",
    objective="transfer or completion times of the placed jobs plus charges for paused ones, and for each job "
    "paused beyond a lower bound by counting",
    unit="s",
    instance="gangopt.instances.placement.instance:PlacementInstance",
    solution="gangopt.instances.placement.solution:PlacementSolution",
    document="gangopt.instances.placement.document:PlacementDocument",
    former_document="gangopt.instances.placement.document:PlacementDocumentV1",
    solution_document="gangopt.instances.placement.document:PlacementSolutionDocument",
    forms={
        item.name: item
        for item in (
            Form(
                "tasks",
                f"{_FORMS}:tasks",
                "numbers of tasks for each server and job, big-M transfer rows; readable, for small instances",
            ),
            Form("pieces", f"{_FORMS}:pieces", "a binary for each server and piece of a job, one level for each job"),
            Form(
                "levels",
                f"{_FORMS}:levels",
                "pieces on classes of equal servers, one level for each job: the bound of the exact method",
            ),
        )
    },
    methods={
        item.name: item
        for item in (
            Method(
                "exact",
                "gangopt.solvers.placement.exact:exact",
                "bound of `levels`, then packing and repair until the bound is met",
                exact=True,
            ),
            Method("optimus", f"{_HEURISTICS}:optimus", "Optimus: smallest job first, evenly over the fewest servers"),
            Method(
                "theorem1",
                f"{_HEURISTICS}:theorem1",
                "Optimus for one job: evenly over the fewest servers, with the best pairing",
            ),
            Method("spread", f"{_HEURISTICS}:spread", "Kubernetes's default: each task to the least loaded server"),
            Method("pack", f"{_HEURISTICS}:pack", "Tetris: each task to the server in use that it aligns with best"),
            Method("random", f"{_HEURISTICS}:random", "each task to a random server with room"),
        )
    },
    families={
        item.name: item
        for item in (
            Family(
                "random",
                "gangopt.instances.placement.generate:random",
                "random jobs on servers like the testbed's, up to a share of the scarcest resource",
            ),
        )
    },
    metrics={
        "jobs_placed": "jobs",
        "jobs_paused": "jobs",
        "paused_beyond_count": "jobs",
        "transfer_time": "s",
        "completion_time": "s",
        "pause_charge": "s",
        "hosts": "pairs of job and server",
    },
    default_methods=("exact", "optimus", "spread", "pack", "random"),
    table_metrics=("jobs_placed", "transfer_time"),
    describe="gangopt.instances.placement.text:describe",
    describe_solution="gangopt.instances.placement.text:describe_solution",
)
