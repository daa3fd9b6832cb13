"""Registry record of `parameters`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.registry.problem import Family, Form, Method, Problem

if TYPE_CHECKING:
    from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution

__all__ = ["PROBLEM"]

_FORMS = "gangopt.formulations.parameters"
_EXACT = "gangopt.solvers.parameters.exact"
_HEURISTICS = "gangopt.solvers.parameters.heuristics"

PROBLEM: Problem[ParametersInstance, ParametersSolution] = Problem(
    noun="parameters",
    summary="assign the parameter blocks of a network to parameter servers, splitting blocks where it pays",
    sense="minimise",
    objective="difference in parameters between the most and the least loaded server",
    unit="parameters",
    instance="gangopt.instances.parameters.instance:ParametersInstance",
    solution="gangopt.instances.parameters.instance:ParametersSolution",
    document="gangopt.instances.parameters.document:ParametersDocument",
    solution_document="gangopt.instances.parameters.document:ParametersSolutionDocument",
    forms={
        "assign": Form(
            "assign", f"{_FORMS}:assign", "each block on each server, with split blocks and all three objectives"
        ),
        "groups": Form(
            "groups", f"{_FORMS}:groups", "equal blocks merged into counts, splits modelled as merged servers"
        ),
    },
    methods={
        item.name: item
        for item in (
            Method("exact", f"{_EXACT}:exact", "the three objectives in a chosen order, each with proof", exact=True),
            Method(
                "frontier", f"{_EXACT}:frontier_method", "least size difference for each number of requests", exact=True
            ),
            Method("paa", f"{_HEURISTICS}:paa", "Optimus's parameter assignment algorithm"),
            Method(
                "mxnet",
                f"{_HEURISTICS}:mxnet",
                "MXNet: blocks below 10^6 parameters whole, larger ones split over all servers",
            ),
            Method("round_robin", f"{_HEURISTICS}:round_robin", "TensorFlow: block i whole on server i mod p"),
            Method(
                "lpt", f"{_HEURISTICS}:lpt", "longest processing time: the largest block to the least loaded server"
            ),
            Method(
                "karmarkar_karp",
                f"{_HEURISTICS}:karmarkar_karp",
                "largest differencing method, without splitting blocks",
            ),
        )
    },
    families={
        item.name: item
        for item in (
            Family(
                "<network>-p<servers>",
                "gangopt.instances.parameters.generate:network",
                "blocks of a real network, e.g. resnet50-p10",
                pattern=r"(?P<network>[a-z][a-z0-9-]*)-p(?P<servers>[0-9]+)",
            ),
            Family(
                "blocks",
                "gangopt.instances.parameters.generate:blocks",
                "your own list of blocks in a JSON or text file",
            ),
            Family("random", "gangopt.instances.parameters.generate:random", "blocks of random, heavy-tailed sizes"),
        )
    },
    metrics={"size_difference": "parameters", "requests": "requests", "request_difference": "requests"},
    default_methods=("exact", "paa", "mxnet", "round_robin", "lpt", "karmarkar_karp"),
    table_metrics=("requests", "request_difference"),
    whole=True,
    row_bound=f"{_EXACT}:row_bound",
    bound_metric="requests",
    describe="gangopt.instances.parameters.text:describe",
    describe_solution="gangopt.instances.parameters.text:describe_solution",
)
