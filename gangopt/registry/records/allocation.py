"""Registry record of `allocation`."""

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
    summary="choose the number of workers and parameter servers of each job in a shared cluster",
    sense="minimise",
    objective="sum of completion times",
    unit="s",
    instance="gangopt.instances.allocation.instance:AllocationInstance",
    solution="gangopt.instances.allocation.instance:AllocationSolution",
    document="gangopt.instances.allocation.document:AllocationDocument",
    solution_document="gangopt.instances.allocation.document:AllocationSolutionDocument",
    forms={
        "literal": Form("literal", f"{_FORMS}:literal", "the nonlinear integer program, as published"),
        "choice": Form("choice", f"{_FORMS}:choice", "one binary for each job and non-dominated configuration"),
        "counts": Form("counts", f"{_FORMS}:counts", "equal jobs merged: one integer for each class and configuration"),
    },
    methods={
        "exact": Method(
            "exact",
            "gangopt.solvers.allocation.exact:exact",
            "Lagrangian bound, reduced-cost fixing and a core model that proves the optimum",
            exact=True,
        ),
        "optimus": Method(
            "optimus",
            f"{_HEURISTICS}:optimus",
            "Optimus: the next task by marginal gain per unit of its dominant resource",
        ),
        "drf": Method("drf", f"{_HEURISTICS}:drf", "dominant resource fairness, one parameter server per worker"),
        "tetris": Method(
            "tetris",
            f"{_HEURISTICS}:tetris",
            "Tetris: packing alignment and least remaining time, one parameter server per worker",
        ),
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
            "jobs with throughput measured by number of GPUs, read from CSV files",
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
