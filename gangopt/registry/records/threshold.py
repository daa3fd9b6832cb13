"""Registry record of `threshold`: PACKLIMIT, learned from finished jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.registry.problem import Family, Form, Method, Problem

if TYPE_CHECKING:
    from gangopt.instances.threshold.instance import ThresholdInstance, ThresholdSolution

__all__ = ["PROBLEM"]

_FORMS = "gangopt.formulations.threshold"
_GENERATORS = "gangopt.instances.threshold.generate"
_HEURISTICS = "gangopt.solvers.threshold.heuristics"

PROBLEM: Problem[ThresholdInstance, ThresholdSolution] = Problem(
    noun="threshold",
    summary="learn from finished jobs which jobs to consolidate: a threshold on the skew, or a linear rule",
    sense="minimise",
    objective="weighted errors",
    unit="errors",
    instance="gangopt.instances.threshold.instance:ThresholdInstance",
    solution="gangopt.instances.threshold.instance:ThresholdSolution",
    document="gangopt.instances.threshold.document:ThresholdDocument",
    solution_document="gangopt.instances.threshold.document:ThresholdSolutionDocument",
    forms={
        "linear": Form(
            "linear",
            f"{_FORMS}:linear",
            "weights for any number of features, a binary for each job",
        ),
        "cut": Form("cut", f"{_FORMS}:cut", "one feature: a choice among the midpoints of its values"),
    },
    methods={
        item.name: item
        for item in (
            Method(
                "exact",
                "gangopt.solvers.threshold.exact:exact",
                "one feature: a scan of all cuts; several: `linear`, then the widest margin",
                exact=True,
            ),
            Method("class_means", f"{_HEURISTICS}:class_means", "midway between the means of the two classes"),
            Method("single_cut", f"{_HEURISTICS}:single_cut", "the best cut of the best single feature"),
            Method("perceptron", f"{_HEURISTICS}:perceptron", "the best rule found during perceptron training"),
        )
    },
    families={
        item.name: item
        for item in (
            Family(
                "figure3", f"{_GENERATORS}:figure3", "the ten published networks on a given number of parameter servers"
            ),
            Family("random", f"{_GENERATORS}:random", "random jobs that follow a linear rule, with some noise"),
            Family("history", f"{_GENERATORS}:history", "your own history in a CSV file"),
        )
    },
    metrics={"misclassified": "jobs", "missed": "jobs", "false_alarms": "jobs", "margin": "parts of the range"},
    default_methods=("exact", "class_means", "single_cut", "perceptron"),
    table_metrics=("missed", "false_alarms", "margin"),
    describe="gangopt.instances.threshold.text:describe",
    describe_solution="gangopt.instances.threshold.text:describe_solution",
)
