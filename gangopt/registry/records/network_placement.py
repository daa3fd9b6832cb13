"""Registry record of `network_placement`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.registry.problem import Family, Form, Method, Problem

if TYPE_CHECKING:
    from gangopt.instances.network_placement.instance import NetworkPlacementInstance, NetworkPlacementSolution

__all__ = ["PROBLEM"]

_FORMS = "gangopt.formulations.network_placement"
_GENERATORS = "gangopt.instances.network_placement.generate"
_HEURISTICS = "gangopt.solvers.network_placement.heuristics"

PROBLEM: Problem[NetworkPlacementInstance, NetworkPlacementSolution] = Problem(
    noun="network_placement",
    summary="place the workers and parameter servers of a job to minimise the network load of the busiest machine",
    sense="minimise",
    objective="largest network load of a machine",
    unit="MiB per iteration",
    instance="gangopt.instances.network_placement.instance:NetworkPlacementInstance",
    solution="gangopt.instances.network_placement.instance:NetworkPlacementSolution",
    document="gangopt.instances.network_placement.document:NetworkPlacementDocument",
    solution_document="gangopt.instances.network_placement.document:NetworkPlacementSolutionDocument",
    forms={
        item.name: item
        for item in (
            Form(
                "level",
                f"{_FORMS}:level",
                "a packing whose capacities follow from a load between two bounds; equal parameter servers merged",
            ),
            Form(
                "literal",
                f"{_FORMS}:literal",
                "the published program, with products of worker counts and server places linearised",
            ),
        )
    },
    methods={
        item.name: item
        for item in (
            Method(
                "exact",
                "gangopt.solvers.network_placement.exact:exact",
                "combinatorial bounds, bisection on the load, and a proof that no lower load can be packed",
                exact=True,
            ),
            Method("packlimit", f"{_HEURISTICS}:packlimit", "Tiresias: consolidate when the skew exceeds the limit"),
            Method("consolidate", f"{_HEURISTICS}:consolidate", "the fewest machines, the last one by best fit"),
            Method(
                "random",
                f"{_HEURISTICS}:random",
                "each worker to a random free GPU, each parameter server to a random host",
            ),
            Method(
                "greedy_load", f"{_HEURISTICS}:greedy_load", "each task to the machine with the least resulting load"
            ),
        )
    },
    families={
        item.name: item
        for item in (
            Family("random", f"{_GENERATORS}:random", "random machines and traffic, parameter servers of skewed sizes"),
            Family("model", f"{_GENERATORS}:model", "one of ten networks on a named cluster with background traffic"),
            Family(
                "figure3-<model>",
                f"{_GENERATORS}:figure3",
                "an 8-worker job on eight empty 4-GPU machines, e.g. figure3-vgg16",
                pattern=r"figure3-(?P<model>[a-z0-9]+)",
            ),
            Family(
                "<model>-w<workers>-<cluster>",
                f"{_GENERATORS}:named",
                "one of ten networks on a half-busy cluster, e.g. vgg16-w32-philly-2017",
                pattern=r"(?P<model>[a-z0-9]+)-w(?P<workers>[0-9]+)-(?P<cluster>[a-z][a-z0-9-]*)",
            ),
        )
    },
    metrics={
        "largest_load": "MiB per iteration",
        "cross_machine_traffic": "MiB per iteration",
        "machines_used": "machines",
    },
    default_methods=("exact", "packlimit", "consolidate", "random", "greedy_load"),
    table_metrics=("machines_used", "cross_machine_traffic"),
    describe="gangopt.instances.network_placement.text:describe",
    describe_solution="gangopt.instances.network_placement.text:describe_solution",
)
