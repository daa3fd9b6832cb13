"""Who wins which GPUs of those on offer, and what share of them everybody keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.registry.problem import Family, Form, Method, Problem

if TYPE_CHECKING:
    from gangopt.instances.auction.instance import AuctionInstance
    from gangopt.instances.auction.solution import AuctionSolution

__all__ = ["PROBLEM"]

_FORMS = "gangopt.formulations.auction"
_GENERATORS = "gangopt.instances.auction.generate"
_HEURISTICS = "gangopt.solvers.auction.heuristics"

PROBLEM: Problem[AuctionInstance, AuctionSolution] = Problem(
    noun="auction",
    summary="divide offered GPUs among bidding apps: the largest product of values, with hidden payments",
    sense="maximise",
    objective="geometric mean of V = 1 / rho over the most apps that can have a value",
    unit="1/rho",
    instance="gangopt.instances.auction.instance:AuctionInstance",
    solution="gangopt.instances.auction.solution:AuctionSolution",
    document="gangopt.instances.auction.document:AuctionDocument",
    solution_document="gangopt.instances.auction.document:AuctionSolutionDocument",
    # the models maximise the logarithm of the product; what is reported is the geometric mean
    forms={
        item.name: item
        for item in (
            Form(
                "nested_flow",
                f"{_FORMS}:nested_flow",
                "bundles without places; machines cut by patterns, racks filled along a flow: almost no gap",
            ),
            Form(
                "places",
                f"{_FORMS}:places",
                "a binary for every app, level, place and number of GPUs; a capacity for every machine and rack",
            ),
            Form(
                "bids",
                f"{_FORMS}:bids",
                "the published program: a binary for every app and set of GPUs; exponential, for small cases",
            ),
        )
    },
    methods={
        item.name: item
        for item in (
            Method(
                "exact",
                "gangopt.solvers.auction.exact:exact",
                "one relaxation and cores of few columns, for the allocation and every payment; ties compared exactly",
                exact=True,
            ),
            Method("themis", f"{_HEURISTICS}:themis", "the mechanism whole: payments, whole GPUs, gifts to bystanders"),
            Method("proportional", f"{_HEURISTICS}:proportional", "the proportionally fair allocation, nobody pays"),
            Method("greedy", f"{_HEURISTICS}:greedy", "the next GPUs where they raise the product most"),
            Method("max_min_rho", f"{_HEURISTICS}:max_min_rho", "the next GPUs to the app of largest rho"),
            Method("drf", f"{_HEURISTICS}:drf", "every GPU to the app with the fewest, wherever it is"),
            Method("random", f"{_HEURISTICS}:random", "every GPU to an app drawn at random"),
        )
    },
    families={
        item.name: item
        for item in (
            Family("random", f"{_GENERATORS}:random", "random single-job apps on the GPUs of a named cluster"),
            Family("uniform", f"{_GENERATORS}:uniform", "random single-job apps on equal machines in equal racks"),
            Family("lying", f"{_GENERATORS}:lying", "THEMIS's truth-telling case: equal apps, one of which may lie"),
        )
    },
    metrics={
        "served": "apps",
        "mean_of_served": "1/rho",
        "max_rho": "rho",
        "min_rho": "rho",
        "jain": "",
        "gpus_used": "GPUs",
        "gpus_given": "GPUs",
        "gpus_left_over": "GPUs",
        "placement": "",
        "payments_proven": "apps",
        "least_share": "",
        "mean_share": "",
        "payments": "",
        "programs": "",
        "compared_exactly": "selections",
        "exact": "",
    },
    default_methods=("exact", "themis", "proportional", "greedy", "max_min_rho", "drf", "random"),
    table_metrics=("served", "max_rho", "jain", "gpus_left_over"),
    describe="gangopt.instances.auction.text:describe",
    describe_solution="gangopt.instances.auction.text:describe_solution",
)
