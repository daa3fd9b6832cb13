"""Machine groups: short descriptions of clusters with a few kinds of machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeGuard

import numpy as np

from gangopt.base.errors import InputError
from gangopt.topology import _checks
from gangopt.topology._checks import shown
from gangopt.topology._tree import Layer, RawTree

__all__ = ["MachineGroup", "tree_from_groups"]


@dataclass(frozen=True)
class MachineGroup:
    """A number of equal machines.

    Attributes
    ----------
    count : int
        Number of machines, at least 1.
    gpus : int
        GPUs in each machine; 0 for a CPU-only machine.
    slots : int or sequence of int
        Number of equal slots (it must divide ``gpus``), or the GPUs in each slot.
    capacities : mapping of str to float
        Amount of each resource in one machine: ``cpu`` in cores, ``memory`` in GB, others in the user's unit. ``gpu``
        follows from ``gpus`` and may be omitted.
    gpu_type : str, optional
        Type of the GPUs; None if unknown.
    name : str
        Prefix of the machine labels; groups of one name are numbered consecutively.
    bandwidth, slot_bandwidth, gpu_bandwidth : float, optional
        Gb/s of the edge from rack to machine, machine to slot, slot to GPU; None if unknown.
    labels : mapping of str to str
        Free-form labels of each machine, e.g. its partition or pool.

    Raises
    ------
    InputError
        If a number is not an integer or too small, or the slots do not hold exactly ``gpus`` GPUs.
    """

    count: int
    gpus: int = 0
    slots: int | Sequence[int] = 1
    capacities: Mapping[str, float] = field(default_factory=dict)
    gpu_type: str | None = None
    name: str = "m"
    bandwidth: float | None = None
    slot_bandwidth: float | None = None
    gpu_bandwidth: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _checks.count(self.count, "MachineGroup: count", least=1)
        _checks.count(self.gpus, "MachineGroup: gpus", least=0)
        _checks.label(self.name, "MachineGroup: name")
        sizes = self.slot_sizes
        if sum(sizes) != self.gpus:
            raise InputError(f"MachineGroup: slots must hold exactly {self.gpus} GPUs (got {shown(self.slots)})")

    @property
    def slot_sizes(self) -> tuple[int, ...]:
        """GPUs in each slot of one machine; empty for a CPU-only machine."""
        if _is_list(self.slots):
            return tuple(_checks.count(size, f"MachineGroup: slots[{i}]", least=1) for i, size in enumerate(self.slots))
        slots = _checks.count(self.slots, "MachineGroup: slots", least=1)
        return (self.gpus // slots,) * slots if self.gpus >= slots else ()


def tree_from_groups(
    groups: Sequence[MachineGroup],
    machines_per_rack: int | Sequence[int] | None,
    rack_bandwidth: float | None,
) -> RawTree:
    """Return the raw tree of the groups, with machines numbered in order and racks filled one after the other."""
    if not isinstance(groups, Sequence):
        raise InputError(f"groups must be a list of MachineGroup (got {shown(groups)})")
    for i, group in enumerate(groups):
        if not isinstance(group, MachineGroup):
            raise InputError(f"groups[{i}] must be a MachineGroup (got {shown(group)})")
    if not groups:
        raise InputError("groups must not be empty")
    machines = sum(group.count for group in groups)
    nodes = sum(group.count * (1 + len(group.slot_sizes) + group.gpus) for group in groups)
    if nodes > _checks.LARGEST_CLUSTER:
        raise InputError(f"the cluster must have at most {_checks.LARGEST_CLUSTER:,} nodes (got {nodes})")
    tree = RawTree(root="cluster", slots=Layer(ordered=True), gpus=Layer(ordered=True))
    rack_of: list[int] = []
    for size in _rack_sizes(machines, machines_per_rack):
        rack = tree.racks.add(f"r{len(tree.racks.labels)}", 0, rack_bandwidth)
        rack_of.extend([rack] * size)
    numbered: dict[str, int] = {}
    for group in groups:
        for _ in range(group.count):
            number = numbered.get(group.name, 0)
            numbered[group.name] = number + 1
            _add_machine(tree, group, f"{group.name}{number}", rack_of[len(tree.machines.labels)])
    return tree


def _is_list(value: int | Sequence[int]) -> TypeGuard[Sequence[int]]:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def _rack_sizes(machines: int, machines_per_rack: int | Sequence[int] | None) -> list[int]:
    if machines_per_rack is None:
        return [machines]
    if _is_list(machines_per_rack):
        sizes = [_checks.count(size, f"machines_per_rack[{i}]", least=1) for i, size in enumerate(machines_per_rack)]
        if sum(sizes) != machines:
            raise InputError(f"machines_per_rack must sum to the {machines} machines of the groups (got {sum(sizes)})")
        return sizes
    full = _checks.count(machines_per_rack, "machines_per_rack", least=1)
    return [min(full, machines - start) for start in range(0, machines, full)]


def _add_machine(tree: RawTree, group: MachineGroup, label: str, rack: int) -> None:
    machine = tree.machines.add(label, rack, group.bandwidth)
    tree.capacities.append(group.capacities)
    tree.gpu_types.append(group.gpu_type)
    tree.machine_labels.append(group.labels)
    sizes = group.slot_sizes
    for s, (end, size) in enumerate(zip(accumulate(sizes), sizes, strict=True)):
        slot = tree.slots.add(f"{label}.s{s}", machine, group.slot_bandwidth)
        for g in range(end - size, end):
            tree.gpus.add(f"{label}.g{g}", slot, group.gpu_bandwidth)
