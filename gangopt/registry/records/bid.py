"""What an app bids for each offer of GPUs: its finish-time fairness with the offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.registry.problem import Family, Form, Method, Problem

if TYPE_CHECKING:
    from gangopt.instances.bid.instance import BidInstance, BidSolution

__all__ = ["PROBLEM"]

_FORMS = "gangopt.formulations.bid"
_GENERATORS = "gangopt.instances.bid.generate"
_HEURISTICS = "gangopt.solvers.bid.heuristics"

PROBLEM: Problem[BidInstance, BidSolution] = Problem(
    noun="bid",
    summary="split an app's GPUs among its jobs for every offer of GPUs: the table of its finish-time fairness",
    sense="minimise",
    objective="mean finish-time fairness over the offers",
    unit="ratio",
    instance="gangopt.instances.bid.instance:BidInstance",
    solution="gangopt.instances.bid.instance:BidSolution",
    document="gangopt.instances.bid.document:BidDocument",
    solution_document="gangopt.instances.bid.document:BidSolutionDocument",
    forms={
        "classes": Form(
            "classes", f"{_FORMS}:classes", "equal jobs of a phase merged, queues in the order of their lengths"
        ),
        "jobs": Form("jobs", f"{_FORMS}:jobs", "every job apart: its number of GPUs, its queue, or its GPU time"),
    },
    methods={
        item.name: item
        for item in (
            Method("exact", "gangopt.solvers.bid.exact:exact", "every phase of every offer, each proven", exact=True),
            Method(
                "even", f"{_HEURISTICS}:even", "GPUs dealt out evenly, jobs back and forth where they outnumber GPUs"
            ),
            Method("lpt", f"{_HEURISTICS}:lpt", "longest processing time: the next GPU to the slowest job"),
        )
    },
    families={
        item.name: item
        for item in (
            Family("random", f"{_GENERATORS}:random", "random apps: successive halving, curve stopping or one job"),
            Family(
                "table1", f"{_GENERATORS}:table1", "VGG16 or Inception-v3 on one server and across two, as measured"
            ),
        )
    },
    metrics={"max_rho": "ratio", "min_rho": "ratio"},
    default_methods=("exact", "even", "lpt"),
    table_metrics=("max_rho", "min_rho"),
    describe="gangopt.instances.bid.text:describe",
)
