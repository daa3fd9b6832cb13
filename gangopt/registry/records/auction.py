"""Registry record of `auction`."""

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
    summary="divide offered GPUs among bidding apps to maximise the product of their values, with hidden payments",
    sense="maximise",
    objective="geometric mean of V = 1 / rho over the most apps that can have a value",
    unit="1/rho",
    instance="gangopt.instances.auction.instance:AuctionInstance",
    solution="gangopt.instances.auction.solution:AuctionSolution",
    document="gangopt.instances.auction.document:AuctionDocument",
    solution_document="gangopt.instances.auction.document:AuctionSolutionDocument",
    # the models maximise the logarithm of the product; the reported objective is the geometric mean
    forms={
        item.name: item
        for item in (
            Form(
                "nested_flow",
                f"{_FORMS}:nested_flow",
                "bundles without places, machines cut by patterns, racks filled along a flow; hardly any gap",
            ),
            Form(
                "places",
                f"{_FORMS}:places",
                "a binary for each app, level, place and number of GPUs; a capacity for each machine and rack",
            ),
            Form(
                "bids",
                f"{_FORMS}:bids",
                "the published program: a binary for each app and set of GPUs; exponential, for small instances",
            ),
        )
    },
    methods={
        item.name: item
        for item in (
            Method(
                "exact",
                "gangopt.solvers.auction.exact:exact",
                "one relaxation and small core models for the allocation and each payment; ties are compared exactly",
                exact=True,
            ),
            Method(
                "themis",
                f"{_HEURISTICS}:themis",
                "the complete mechanism: payments, rounding to whole GPUs, leftover GPUs to other apps",
            ),
            Method(
                "proportional", f"{_HEURISTICS}:proportional", "the proportionally fair allocation without payments"
            ),
            Method("greedy", f"{_HEURISTICS}:greedy", "the next GPUs to the app where they raise the product most"),
            Method("max_min_rho", f"{_HEURISTICS}:max_min_rho", "the next GPUs to the app with the largest rho"),
            Method("drf", f"{_HEURISTICS}:drf", "each GPU to the app with the fewest, ignoring locality"),
            Method("random", f"{_HEURISTICS}:random", "each GPU to a random app"),
        )
    },
    families={
        item.name: item
        for item in (
            Family("random", f"{_GENERATORS}:random", "random single-job apps on the GPUs of a named cluster"),
            Family("uniform", f"{_GENERATORS}:uniform", "random single-job apps on equal machines in equal racks"),
            Family(
                "lying",
                f"{_GENERATORS}:lying",
                "THEMIS's truth-telling experiment: equal apps, one of which may misreport its values",
            ),
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
