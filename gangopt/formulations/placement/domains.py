"""Rows of `placement` that follow from the tree: room of each machine, and jobs inside one node of a level."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyomo.environ import Binary, Constraint, Var

from gangopt.base.types import Pyomo
from gangopt.formulations.placement.data import PlacementData
from gangopt.formulations.rows import linear
from gangopt.formulations.tree import add_use
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["Term", "add_inside", "add_use_of_tasks", "capacities_of", "hint_inside"]

Term = tuple[str, Pyomo, int, int]
"""Machine, variable, and the parameter servers and workers that one unit of the variable stands for."""


def capacities_of(instance: PlacementInstance, data: PlacementData) -> dict[str, tuple[int, dict[str, int]]]:
    """Return, by resource name, its position in the data, and the room of each machine in the data's units.

    A set of machines to which jobs are bound is a resource named `allowed_0`, `allowed_1` and so on.

    Parameters
    ----------
    instance : PlacementInstance
        Machines and jobs.
    data : PlacementData
        The instance in integers.
    """
    R = len(instance.resources)
    found = {}
    for at, r in enumerate(data.resources):
        name = instance.resources[r] if r < R else f"allowed_{r - R}"
        rows = zip(instance.machines, data.class_of, strict=True)
        found[name] = at, {machine: data.classes[c].capacity[at] for machine, c in rows}
    return found


def add_inside(block: Pyomo, instance: PlacementInstance, terms_of: Callable[[int], list[Term]]) -> None:
    """Add the rows that keep the tasks of each job with a required level inside one node of it.

    Adds Var `inside` [job, node] and Constraints `inside_one_node` [job], `parameter_servers_inside` and
    `workers_inside` [job, node]; nothing if no job has a required level. The block has a Var `paused` [job].

    Parameters
    ----------
    block : Block
        Block of a formulation.
    instance : PlacementInstance
        Machines and jobs.
    terms_of : callable
        Terms of the tasks of a job.
    """
    nodes = _nodes(instance)
    if not nodes:
        return
    block.inside = Var([(j, node) for j, (labels, _) in nodes.items() for node in labels], domain=Binary)
    within: dict[tuple[int, str], list[Term]] = {key: [] for key in block.inside}
    for j, (_, node_of) in nodes.items():
        for term in terms_of(j):
            within[j, node_of[term[0]]].append(term)

    def one_node(b: Pyomo, j: int) -> Pyomo:
        own = [b.inside[j, node] for node in nodes[j][0]]
        return (linear([1] * (len(own) + 1), [*own, b.paused[j]]), 1)

    def tasks(b: Pyomo, j: int, node: str, kind: int) -> Pyomo:
        count = int((instance.parameter_servers, instance.workers)[kind][j])
        terms = [(term[2 + kind], term[1]) for term in within[j, node] if term[2 + kind]]
        coefficients = [*(number for number, _ in terms), -count]
        return (linear(coefficients, [*(variable for _, variable in terms), b.inside[j, node]]), 0)

    keys = list(block.inside)
    block.inside_one_node = Constraint(list(nodes), rule=one_node)
    block.parameter_servers_inside = Constraint(keys, rule=lambda b, j, node: tasks(b, j, node, 0))
    block.workers_inside = Constraint(keys, rule=lambda b, j, node: tasks(b, j, node, 1))


def add_use_of_tasks(block: Pyomo, instance: PlacementInstance, terms: Iterable[tuple[int, Term]]) -> None:
    """Add the Expression `use` [machine, resource], in the unit of the resource.

    Parameters
    ----------
    block : Block
        Block of a formulation.
    instance : PlacementInstance
        Machines and jobs.
    terms : iterable of tuple of int and Term
        Job and term of each variable.
    """
    held: dict[str, list[tuple[int, Term]]] = {machine: [] for machine in instance.machines}
    for job, term in terms:
        held[term[0]].append((job, term))
    demands = instance.ps_demand.tolist(), instance.worker_demand.tolist()
    column = {name: r for r, name in enumerate(instance.resources)}

    def terms_of(machine: str, resource: str) -> list[tuple[float, Pyomo]]:
        r = column[resource]
        amounts = (
            (ps * demands[0][j][r] + workers * demands[1][j][r], variable)
            for j, (_, variable, ps, workers) in held[machine]
        )
        return [(amount, variable) for amount, variable in amounts if amount]

    add_use(block, instance.machines, instance.resources, terms_of)


def hint_inside(block: Pyomo, instance: PlacementInstance, solution: PlacementSolution) -> None:
    """Set the Var `inside`, if there is one, to the nodes of a feasible placement.

    Parameters
    ----------
    block : Block
        Block of a formulation.
    instance : PlacementInstance
        Machines and jobs.
    solution : PlacementSolution
        A feasible placement.
    """
    nodes = _nodes(instance)
    for j, (labels, node_of) in nodes.items():
        own = node_of[instance.machines[solution.pieces[j][0][0]]] if solution.pieces[j] else None
        for node in labels:
            block.inside[j, node].set_value(int(node == own))


def _nodes(instance: PlacementInstance) -> dict[int, tuple[tuple[str, ...], dict[str, str]]]:
    """Return, by job with a required level, the nodes of the level and the node of each machine."""
    found = {}
    for j, domain in enumerate(instance.domains):
        if domain is not None:
            labels = instance.cluster.nodes(instance.requirements[j].level)
            node_of = {machine: labels[d] for machine, d in zip(instance.machines, domain.tolist(), strict=True)}
            found[j] = labels, node_of
    return found
