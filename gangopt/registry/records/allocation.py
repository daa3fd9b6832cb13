"""Registry record of decision `allocation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.registry.problem import Family, Form, Method, Problem

if TYPE_CHECKING:
    from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution

__all__ = ["PROBLEM"]

_FORMS = "gangopt.formulations.allocation"
_HEURISTICS = "gangopt.solvers.allocation.heuristics"

PROBLEM: Problem[AllocationInstance, AllocationSolution] = Problem(
    noun="allocation",
    summary="how many workers and parameter servers each job of a shared cluster gets",
    sense="minimise",
    objective="sum of completion times",
    unit="s",
    instance="gangopt.instances.allocation.instance:AllocationInstance",
    solution="gangopt.instances.allocation.instance:AllocationSolution",
    document="gangopt.instances.allocation.document:AllocationDocument",
    solution_document="gangopt.instances.allocation.document:AllocationSolutionDocument",
    forms={
        "literal": Form("literal", f"{_FORMS}:literal", "the nonlinear integer program as printed"),
        "choice": Form("choice", f"{_FORMS}:choice", "one binary for every job and non-dominated configuration"),
        "counts": Form(
            "counts", f"{_FORMS}:counts", "equal jobs merged: one integer for every class and configuration"
        ),
    },
    methods={
        "exact": Method(
            "exact",
            "gangopt.solvers.allocation.exact:exact",
            "Lagrangian bound, reduced-cost fixing and a core model that proves the optimum",
            exact=True,
        ),
        "optimus": Method("optimus", f"{_HEURISTICS}:optimus", "marginal gain for each unit of the dominant resource"),
        "drf": Method("drf", f"{_HEURISTICS}:drf", "dominant-resource fairness, one parameter server for each worker"),
        "tetris": Method("tetris", f"{_HEURISTICS}:tetris", "packing alignment and least time left, one to one"),
        "equal": Method("equal", f"{_HEURISTICS}:equal", "the same number of tasks for every job"),
    },
    families={
        "random": Family(
            "random",
            "gangopt.instances.allocation.generate:random",
            "random jobs of three model types on equal nodes with GPUs",
        ),
        "table": Family(
            "table",
            "gangopt.instances.allocation.throughput:table",
            "jobs whose throughput by GPU count was measured, read from CSV files",
        ),
    },
    metrics={
        "sum_completion_time": "s",
        "mean_completion_time": "s",
        "max_completion_time": "s",
        "tasks": "tasks",
        "utilisation_cpu": "share",
        "utilisation_memory": "share",
        "utilisation_gpu": "share",
        "dominant_share": "share",
    },
    default_methods=("exact", "optimus", "optimus?skip=true", "drf", "tetris", "equal"),
    describe="gangopt.instances.allocation.text:describe",
    describe_solution="gangopt.instances.allocation.text:describe_solution",
)
