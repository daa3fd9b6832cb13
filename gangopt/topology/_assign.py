"""Assignment of solutions to the nodes of the tree: GPU indices, and the state that follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Ints
from gangopt.topology import _checks
from gangopt.topology._checks import shown
from gangopt.topology._cluster import Cluster
from gangopt.topology._state import State

__all__ = ["Assignment", "Use", "assign"]


@dataclass(frozen=True)
class Use:
    """Amounts that one owner uses at one node of the tree.

    Attributes
    ----------
    owner : str
        Owner, e.g. the label of a job.
    node : str
        Label of a machine, or of a slot, rack, switch or the cluster that contains the GPUs.
    gpus : int
        GPUs, at least 0.
    amounts : mapping of str to float
        Amounts of other resources in the unit of the cluster's capacities; only at a machine.
    """

    owner: str
    node: str
    gpus: int = 0
    amounts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Assignment:
    """GPU indices of every owner, and the state that follows.

    Attributes
    ----------
    gpus : mapping of str to tuple of int
        Indices of the GPUs that each owner has been given, ascending, in the order of the uses.
    state : State
        State with these GPUs and amounts held.
    """

    gpus: Mapping[str, tuple[int, ...]]
    state: State


def assign(cluster: Cluster, state: State | None, uses: Iterable[Use]) -> Assignment:
    """Return the GPUs that realise the uses of a solution, and the next state.

    Uses are served in their order. GPUs at a machine come from the slots with the fewest free GPUs that hold the rest,
    or else from the fullest slots first, in each by index; GPUs at a wider node come from the fewest machines below
    it: from the machine with the fewest free GPUs that holds the rest, or else from those with the most free GPUs.
    Ties go to the lower index.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    state : State or None
        State before; None if all is free. It is not changed.
    uses : iterable of Use
        Uses of a solution; see `uses` of the instances.

    Raises
    ------
    InputError
        If a node is unknown, or fewer GPUs or amounts are free there than a use takes.
    """
    if state is not None and state.cluster != cluster:
        raise InputError(f"state must be a State of the same cluster (got {shown(state)})")
    after = State(cluster) if state is None else state.copy()
    machines_of = _Machines(cluster)
    given: dict[str, list[int]] = {}
    for use in uses:
        machines, slots = machines_of.under(use.node)
        gpus = _picked(after, use, machines, slots)
        if use.amounts and len(machines) != 1:
            raise InputError(f"{shown(use.owner)}: amounts must be used at a machine (got node {shown(use.node)})")
        after.allocate(use.owner, gpus, {machines[0]: use.amounts} if use.amounts else None)
        given.setdefault(use.owner, []).extend(gpus)
    owners = MappingProxyType({owner: tuple(sorted(gpus)) for owner, gpus in given.items()})
    return Assignment(owners, after.frozen())


class _Machines:
    """Machines below each node of a cluster, and the slot if the node is one."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._slots = {label: i for i, label in enumerate(cluster.slots)}
        self._domains = {
            label: (level, i) for level in cluster.levels[:-3] for i, label in enumerate(cluster.nodes(level))
        }

    def under(self, node: str) -> tuple[list[int], int | None]:
        if node in self._cluster.machine_index:
            return [self._cluster.machine_index[node]], None
        if node in self._slots:
            slot = self._slots[node]
            return [int(self._cluster.slot_machine[slot])], slot
        if node not in self._domains:
            raise InputError(
                f"unknown node {shown(node)}; it must be the label of a node of the cluster above the GPUs"
            )
        level, index = self._domains[node]
        return np.flatnonzero(self._cluster.machine_domain(level) == index).tolist(), None


def _picked(state: State, use: Use, machines: list[int], slot: int | None) -> list[int]:
    """Return the GPUs of one use."""
    wanted = _checks.count(use.gpus, f"{shown(use.owner)}: GPUs at {shown(use.node)}", least=0)
    free = {machine: state.free_gpus(machine) for machine in machines}
    if slot is not None:
        within = set(state.cluster.slot_gpus(slot))
        free = {machine: tuple(gpu for gpu in gpus if gpu in within) for machine, gpus in free.items()}
    total = sum(len(gpus) for gpus in free.values())
    if total < wanted:
        raise InputError(
            f"{shown(use.node)} has {total} free GPUs, but {shown(use.owner)} uses {wanted}; the solution does not fit"
        )
    picked: list[int] = []
    for machine, count in _best_fit({machine: len(gpus) for machine, gpus in free.items()}, wanted):
        picked += _from_slots(state.cluster.gpu_slot, free[machine], count)
    return picked


def _from_slots(gpu_slot: Ints, free: tuple[int, ...], wanted: int) -> list[int]:
    slots: dict[int, list[int]] = {}
    for gpu in free:
        slots.setdefault(int(gpu_slot[gpu]), []).append(gpu)
    return [
        gpu for slot, count in _best_fit({s: len(g) for s, g in slots.items()}, wanted) for gpu in slots[slot][:count]
    ]


def _best_fit(free: dict[int, int], wanted: int) -> list[tuple[int, int]]:
    """Return numbers from the fewest holders: the tightest that holds the rest, or else the fullest first."""
    left, chosen = dict(free), []
    while wanted:
        fitting = [(count, holder) for holder, count in left.items() if count >= wanted]
        if fitting:
            chosen.append((min(fitting)[1], wanted))
            break
        holder = min(left, key=lambda item: (-left[item], item))
        chosen.append((holder, left[holder]))
        wanted -= left.pop(holder)
    return chosen
