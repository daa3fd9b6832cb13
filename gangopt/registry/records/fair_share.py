"""Registry record of `fair_share`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.registry.problem import Family, Form, Method, Problem

if TYPE_CHECKING:
    from gangopt.instances.fair_share.instance import FairShareInstance
    from gangopt.instances.fair_share.solution import FairShareSolution

__all__ = ["PROBLEM"]

_FORMS = "gangopt.formulations.fair_share"
_GENERATORS = "gangopt.instances.fair_share.generate"
_HEURISTICS = "gangopt.solvers.fair_share.heuristics"

PROBLEM: Problem[FairShareInstance, FairShareSolution] = Problem(
    noun="fair_share",
    summary="divide GPUs among apps to minimise the largest finish-time fairness rho, then the next largest, etc.",
    sense="minimise",
    objective="largest ratio of finish time in the shared cluster to finish time in an exclusive equal share",
    unit="rho",
    instance="gangopt.instances.fair_share.instance:FairShareInstance",
    solution="gangopt.instances.fair_share.solution:FairShareSolution",
    document="gangopt.instances.fair_share.document:FairShareDocument",
    solution_document="gangopt.instances.fair_share.document:FairShareSolutionDocument",
    # where values differ by many orders of magnitude, solver tolerances reduce a formulation's optimum to a bound
    forms={
        item.name: item
        for item in (
            Form(
                "places",
                f"{_FORMS}:places",
                "a binary for each app, place and number of GPUs; a capacity for each machine, rack and the cluster",
            ),
            Form(
                "patterns",
                f"{_FORMS}:patterns",
                "bundles without places; equal machines of a rack cut by patterns",
            ),
        )
    },
    methods={
        item.name: item
        for item in (
            Method(
                "exact",
                "gangopt.solvers.fair_share.exact:exact",
                "bisection on the possible values of the worst-off app, then of the next, in lexicographic order",
                exact=True,
            ),
            Method("drf", f"{_HEURISTICS}:drf", "dominant resource fairness: one GPU at a time, ignoring locality"),
            Method(
                "max_min_rho",
                f"{_HEURISTICS}:max_min_rho",
                "repeatedly the fewest useful GPUs to the app with the largest rho",
            ),
            Method("equal", f"{_HEURISTICS}:equal", "the same number of GPUs for every app"),
            Method("random", f"{_HEURISTICS}:random", "each GPU to a random app"),
        )
    },
    families={
        item.name: item
        for item in (
            Family("random", f"{_GENERATORS}:random", "random apps, locality slowdowns and machines"),
            Family("cluster", f"{_GENERATORS}:cluster", "random apps on the GPUs of a named cluster"),
        )
    },
    metrics={
        "min_rho": "rho",
        "geometric_mean": "",
        "jain": "",
        "above_one": "apps",
        "unserved": "apps",
        "least_dominant_share": "",
        "gpus_used": "GPUs",
        "gpus_left_over": "GPUs",
        "placement": "",
        "rho": "rho",
    },
    default_methods=("exact", "drf", "max_min_rho", "equal", "random"),
    table_metrics=("above_one", "jain", "gpus_left_over"),
    describe="gangopt.instances.fair_share.text:describe",
    describe_solution="gangopt.instances.fair_share.text:describe_solution",
)
