"""Records that the entry points refer to: the problem and the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.registry.problem import Family, Form, Method, Problem
from gangopt.replays.registry import PolicyRecord

if TYPE_CHECKING:
    from gangopt_gavel.instance import TimeShareInstance, TimeShareSolution

__all__ = ["POLICY", "PROBLEM"]

PROBLEM: Problem[TimeShareInstance, TimeShareSolution] = Problem(
    noun="time_share",
    summary="divide the time of jobs among GPU types: maximise the least normalised throughput",
    sense="maximise",
    objective="least effective throughput of a job relative to its equal share",
    unit="ratio",
    instance="gangopt_gavel.instance:TimeShareInstance",
    solution="gangopt_gavel.instance:TimeShareSolution",
    document="gangopt_gavel.document:TimeShareDocument",
    solution_document="gangopt_gavel.document:TimeShareSolutionDocument",
    forms={"rates": Form("rates", "gangopt_gavel.formulation:rates", "time share of every job on every GPU type")},
    methods={
        item.name: item
        for item in (
            Method("exact", "gangopt_gavel.methods:exact", "formulation rates, solved by HiGHS", exact=True),
            Method("isolated", "gangopt_gavel.methods:isolated", "an equal share of every GPU type for every job"),
            Method("greedy", "gangopt_gavel.methods:greedy", "the next slice of time to the job with the least ratio"),
        )
    },
    families={
        "random": Family("random", "gangopt_gavel.generate:random", "random throughputs on up to six GPU types"),
    },
    metrics={"mean_ratio": "ratio", "gpus_used": "GPUs"},
    default_methods=("exact", "isolated", "greedy"),
    table_metrics=("mean_ratio", "gpus_used"),
    library="gangopt_gavel.library",
    describe="gangopt_gavel.text:describe",
    describe_solution="gangopt_gavel.text:describe_solution",
)

POLICY = PolicyRecord(
    "max-min-time",
    "gangopt_gavel.policy:max_min_time",
    "Gavel's rounds on one GPU type: jobs with the least share of run time first",
)
