"""The raw tree that every builder fills, and its conversion to the checked arrays of a Cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.topology import _checks

__all__ = ["LEVELS", "ClusterFields", "Layer", "RawTree", "cluster_fields"]

LEVELS = ("cluster", "rack", "machine", "slot", "gpu")
"""The levels of the tree, widest first."""


@dataclass
class Layer:
    """The nodes of one level in any order: label, index of the parent one level above, Gb/s of the edge to it."""

    labels: list[Any] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    bandwidths: list[Any] = field(default_factory=list)

    def add(self, label: object, parent: int, bandwidth: object) -> int:
        """Append a node and return its index."""
        self.labels.append(label)
        self.parents.append(parent)
        self.bandwidths.append(bandwidth)
        return len(self.labels) - 1


@dataclass
class RawTree:
    """A tree with the levels of a cluster, before labels, amounts and bandwidths are checked."""

    root: Any
    racks: Layer = field(default_factory=Layer)
    machines: Layer = field(default_factory=Layer)
    slots: Layer = field(default_factory=Layer)
    gpus: Layer = field(default_factory=Layer)
    capacities: list[Any] = field(default_factory=list)
    gpu_types: list[Any] = field(default_factory=list)

    def layers(self) -> Iterator[tuple[str, Layer]]:
        """Yield the level name and the layer below the root, widest first."""
        yield from zip(LEVELS[1:], (self.racks, self.machines, self.slots, self.gpus), strict=True)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClusterFields:
    """The checked fields of a `Cluster`, which documents them; a graph or a file is made of these alone."""

    root: str
    racks: tuple[str, ...]
    machines: tuple[str, ...]
    slots: tuple[str, ...]
    gpus: tuple[str, ...]
    machine_rack: Ints
    slot_machine: Ints
    gpu_slot: Ints
    rack_bandwidth: Floats
    machine_bandwidth: Floats
    slot_bandwidth: Floats
    gpu_bandwidth: Floats
    resources: tuple[str, ...]
    capacities: Floats
    gpu_types: tuple[str | None, ...]
    name: str = ""
    description: str = ""
    source: str = ""


def cluster_fields(tree: RawTree) -> dict[str, Any]:
    """Check the values of a raw tree and return the fields of a Cluster.

    Nodes are ordered by rack, then machine, then slot, each by label with runs of digits compared by value,
    regardless of the order in which they were added.

    Raises
    ------
    InputError
        If a label is not text or not unique, a rack or slot is empty, an amount or bandwidth is out of range, a
        capacity ``gpu`` differs from the number of GPUs, or a machine without GPUs has a GPU type.
    """
    _check_labels(tree)
    _check_leaves(tree)
    fields: dict[str, Any] = {"root": tree.root}
    rank = np.zeros(1, dtype=np.int64)
    machine_order: list[int] = []
    for level, layer in tree.layers():
        parents = rank[np.array(layer.parents, dtype=np.int64)]
        order = _order(layer.labels, parents.tolist())
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        fields[f"{level}s"] = tuple(layer.labels[i] for i in order)
        fields[f"{level}_bandwidth"] = _bandwidths(level, layer, order)
        if level != "rack":
            fields[f"{level}_{LEVELS[LEVELS.index(level) - 1]}"] = parents[order]
        if level == "machine":
            machine_order = order
    gpu_counts = np.bincount(fields["slot_machine"][fields["gpu_slot"]], minlength=len(machine_order))
    capacities = [tree.capacities[i] for i in machine_order]
    fields["resources"], fields["capacities"] = _capacities(fields["machines"], capacities, gpu_counts)
    types = [tree.gpu_types[i] for i in machine_order]
    fields["gpu_types"] = _gpu_types(fields["machines"], types, gpu_counts)
    return fields


def _check_labels(tree: RawTree) -> None:
    level_of = {_checks.label(tree.root, "the label of the cluster node"): "cluster"}
    for level, layer in tree.layers():
        for i, name in enumerate(layer.labels):
            checked = _checks.label(name, f"the label of {level} {i}")
            if checked in level_of:
                raise InputError(f"duplicate label {_checks.shown(name)}, of a {level_of[checked]} and a {level}")
            level_of[checked] = level


def _check_leaves(tree: RawTree) -> None:
    if not tree.machines.labels:
        raise InputError("the cluster has no machine; it must have at least one")
    for level, layer, child in (("rack", tree.racks, tree.machines), ("slot", tree.slots, tree.gpus)):
        filled = set(child.parents)
        for i, name in enumerate(layer.labels):
            if i not in filled:
                part = "machine" if level == "rack" else "GPU"
                raise InputError(f"{level} {_checks.shown(name)} is empty; it must hold at least one {part}")


def _order(labels: list[str], parents: list[int]) -> list[int]:
    return sorted(range(len(labels)), key=lambda i: (parents[i], _checks.natural_key(labels[i])))


def _bandwidths(level: str, layer: Layer, order: list[int]) -> Floats:
    values = np.full(len(order), np.nan)
    for new, old in enumerate(order):
        if layer.bandwidths[old] is not None:
            where = f"{level} {_checks.shown(layer.labels[old])}: bandwidth of the edge above (Gb/s)"
            values[new] = _checks.amount(layer.bandwidths[old], where, positive=True)
    return values


def _capacities(machines: tuple[str, ...], given: list[Any], gpu_counts: Ints) -> tuple[tuple[str, ...], Floats]:
    names = {"gpu"}
    for machine, row in zip(machines, given, strict=True):
        if not isinstance(row, Mapping):
            raise InputError(
                f"machine {_checks.shown(machine)}: capacities must be a mapping from resource name to amount "
                f"(got {_checks.shown(row)})"
            )
        names.update(_checks.label(key, f"machine {_checks.shown(machine)}: a resource name") for key in row)
    resources = tuple(sorted(names))
    column = {resource: k for k, resource in enumerate(resources)}
    amounts = np.zeros((len(machines), len(resources)))
    amounts[:, column["gpu"]] = gpu_counts
    for m, row in enumerate(given):
        for resource, value in row.items():
            where = f"machine {_checks.shown(machines[m])}: capacity {_checks.shown(resource)}"
            checked = _checks.amount(value, where)
            if resource == "gpu" and checked != gpu_counts[m]:
                raise InputError(f"{where} is {_checks.shown(value)}, but the machine has {gpu_counts[m]} GPU nodes")
            amounts[m, column[resource]] = checked
    return resources, amounts


def _gpu_types(machines: tuple[str, ...], given: list[Any], gpu_counts: Ints) -> tuple[str | None, ...]:
    for m, kind in enumerate(given):
        if kind is None:
            continue
        where = f"machine {_checks.shown(machines[m])}: gpu_type"
        _checks.label(kind, where)
        if not gpu_counts[m]:
            raise InputError(f"{where} is {_checks.shown(kind)}, but the machine has no GPU; leave it out")
    return tuple(given)
