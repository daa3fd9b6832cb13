"""Registry record of `bid`."""

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
    summary="split each offer of GPUs among the jobs of an app, and tabulate the finish-time fairness it would reach",
    sense="minimise",
    objective="mean finish-time fairness over the offers",
    unit="ratio",
    instance="gangopt.instances.bid.instance:BidInstance",
    solution="gangopt.instances.bid.instance:BidSolution",
    document="gangopt.instances.bid.document:BidDocument",
    solution_document="gangopt.instances.bid.document:BidSolutionDocument",
    forms={
        "classes": Form("classes", f"{_FORMS}:classes", "equal jobs of a phase merged, queues ordered by length"),
        "jobs": Form("jobs", f"{_FORMS}:jobs", "each job on its own: its number of GPUs, its queue, or its GPU time"),
    },
    methods={
        item.name: item
        for item in (
            Method(
                "exact",
                "gangopt.solvers.bid.exact:exact",
                "the optimum of each phase of each offer, with proof",
                exact=True,
            ),
            Method(
                "even",
                f"{_HEURISTICS}:even",
                "GPUs dealt out evenly; where jobs outnumber GPUs, jobs dealt to GPUs back and forth",
            ),
            Method("lpt", f"{_HEURISTICS}:lpt", "longest processing time: the next GPU to the slowest job"),
        )
    },
    families={
        item.name: item
        for item in (
            Family("random", f"{_GENERATORS}:random", "random apps: successive halving, curve stopping or one job"),
            Family(
                "table1",
                f"{_GENERATORS}:table1",
                "VGG16 or Inception-v3 with measured speeds on one server and across two",
            ),
        )
    },
    metrics={"max_rho": "ratio", "min_rho": "ratio"},
    default_methods=("exact", "even", "lpt"),
    table_metrics=("max_rho", "min_rho"),
    describe="gangopt.instances.bid.text:describe",
)
