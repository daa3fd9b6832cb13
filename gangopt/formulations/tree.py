"""The topology on a Block: sets of its nodes, free capacities, and the rows that couple several decisions on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyomo.core.expr.numvalue import is_potentially_variable
from pyomo.environ import Constraint, Expression, Param, Set

from gangopt.base.errors import InputError
from gangopt.base.types import Pyomo
from gangopt.formulations.rows import sum_of_terms
from gangopt.topology import Cluster, State

__all__ = ["add_use", "couple", "fill_topology"]


def fill_topology(block: Pyomo, cluster: Cluster, state: State | None = None) -> None:
    """Add the nodes of a cluster and its free capacities to a block.

    Public components, all over the labels of the tree: Sets `racks`, `machines`, `slots`, `resources` and one for each
    switch level, named after it; Params `rack_of` [machine], `machine_of` [slot], `capacity` [machine, resource] and
    `free` [machine, resource], the last mutable.

    Parameters
    ----------
    block : Block
        An empty constructed Block.
    cluster : Cluster
        The cluster.
    state : State or None, optional
        Its state; None if all is free.

    Raises
    ------
    InputError
        If the state is of another cluster.
    """
    if state is not None and state.cluster != cluster:
        raise InputError("state must be a State of the same cluster")
    for level, labels in zip(cluster.switch_levels, cluster.switches, strict=True):
        block.add_component(level, Set(initialize=list(labels)))
    block.racks = Set(initialize=list(cluster.racks))
    block.machines = Set(initialize=list(cluster.machines))
    block.slots = Set(initialize=list(cluster.slots))
    block.resources = Set(initialize=list(cluster.resources))
    racks = {machine: cluster.racks[r] for machine, r in zip(cluster.machines, cluster.machine_rack, strict=True)}
    owners = {slot: cluster.machines[m] for slot, m in zip(cluster.slots, cluster.slot_machine, strict=True)}
    block.rack_of = Param(block.machines, within=block.racks, initialize=racks)
    block.machine_of = Param(block.slots, within=block.machines, initialize=owners)
    block.capacity = Param(block.machines, block.resources, initialize=_amounts(cluster, cluster.capacities.tolist()))
    free = cluster.capacities if state is None else state.free_capacities
    block.free = Param(block.machines, block.resources, initialize=_amounts(cluster, free.tolist()), mutable=True)


def _amounts(cluster: Cluster, rows: list[list[float]]) -> dict[tuple[str, str], float]:
    return {
        (machine, resource): value
        for machine, row in zip(cluster.machines, rows, strict=True)
        for resource, value in zip(cluster.resources, row, strict=True)
    }


def add_use(
    block: Pyomo,
    machines: Iterable[str],
    resources: Iterable[str],
    terms: Callable[[str, str], list[tuple[float, Pyomo]]],
) -> None:
    """Add the Expression `use` [machine, resource] to the block of a formulation.

    Parameters
    ----------
    block : Block
        Block of the formulation.
    machines, resources : iterable of str
        Labels of the machines, and names of the resources, that the formulation decides about.
    terms : callable
        Coefficients and variables of the amount that the decision uses on a machine of a resource.
    """

    def use(_: Pyomo, machine: str, resource: str) -> Pyomo:
        found = terms(machine, resource)
        return sum_of_terms(found) if found else 0.0

    block.use = Expression(list(machines), list(resources), rule=use)


def couple(topology: Pyomo, decisions: Iterable[Pyomo]) -> None:
    r"""Add the rows that keep several decisions on one cluster within what is free.

    .. math:: \sum_d \text{use}^d_{mr} \le \text{free}_{mr} \quad\text{for every machine } m \text{, resource } r

    as Constraint `machine_capacity` [machine, resource] of the topology's block. Pairs that no decision uses have no
    row.

    Parameters
    ----------
    topology : Block
        A block filled by `fill_topology`.
    decisions : iterable of Block
        Blocks of formulations with an Expression `use` [machine, resource].

    Raises
    ------
    InputError
        If a block has no `use`, or it names a machine or resource that the topology lacks.
    """
    blocks = list(decisions)
    for block in blocks:
        if block.component("use") is None:
            raise InputError(f"{block.name} has no use[machine, resource]; fill it with a formulation over machines")
        for machine, resource in block.use:
            if (machine, resource) not in topology.free:
                raise InputError(f"{block.name}: use[{machine}, {resource}] is not of the cluster of {topology.name}")

    def machine_capacity(rows: Pyomo, machine: str, resource: str) -> Pyomo:
        used = [block.use[machine, resource] for block in blocks if (machine, resource) in block.use]
        if not any(is_potentially_variable(item.expr) for item in used):
            return Constraint.Skip
        return sum(used) <= rows.free[machine, resource]

    topology.machine_capacity = Constraint(topology.machines, topology.resources, rule=machine_capacity)
