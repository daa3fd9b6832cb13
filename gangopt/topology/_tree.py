"""The raw tree that every builder fills, and its conversion to the checked arrays of a Cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.topology import _checks

__all__ = ["LEVELS", "ClusterFields", "Layer", "RawTree", "cluster_fields"]

LEVELS = ("cluster", "rack", "machine", "slot", "gpu")
"""The levels that every tree has, widest first; a cluster may have switch levels between cluster and rack."""

_NO_INDEX: Ints = np.zeros(0, dtype=np.int64)


@dataclass
class Layer:
    """The nodes of one level: label, index of the parent one level above, Gb/s of the edge to it.

    `ordered` tells that the nodes of each parent have been added in the order of their labels; otherwise they are
    sorted.
    """

    labels: list[Any] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    bandwidths: list[Any] = field(default_factory=list)
    ordered: bool = False

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
    switch_levels: tuple[str, ...] = ()
    switches: list[Layer] = field(default_factory=list)
    racks: Layer = field(default_factory=Layer)
    machines: Layer = field(default_factory=Layer)
    slots: Layer = field(default_factory=Layer)
    gpus: Layer = field(default_factory=Layer)
    capacities: list[Any] = field(default_factory=list)
    gpu_types: list[Any] = field(default_factory=list)
    machine_labels: list[Any] = field(default_factory=list)

    def layers(self) -> Iterator[tuple[str, Layer]]:
        """Yield the level name and the layer below the root, widest first."""
        yield from zip(self.switch_levels, self.switches, strict=True)
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
    machine_labels: tuple[Mapping[str, str], ...]
    switch_levels: tuple[str, ...] = ()
    switches: tuple[tuple[str, ...], ...] = ()
    switch_parent: tuple[Ints, ...] = ()
    switch_bandwidth: tuple[Floats, ...] = ()
    rack_switch: Ints = field(default_factory=lambda: _NO_INDEX)
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
    fields: dict[str, Any] = {"root": tree.root, "switch_levels": tree.switch_levels}
    ordered = _ordered(tree)
    for level in LEVELS[1:]:
        fields[f"{level}s"], parents, fields[f"{level}_bandwidth"], _ = ordered[level]
        fields[_PARENT_FIELDS[level]] = parents
    above = [ordered[level] for level in tree.switch_levels]
    fields["switches"] = tuple(labels for labels, _, _, _ in above)
    fields["switch_parent"] = tuple(parents for _, parents, _, _ in above)
    fields["switch_bandwidth"] = tuple(bandwidths for _, _, bandwidths, _ in above)
    machine_order = ordered["machine"][3]
    gpu_counts = np.bincount(fields["slot_machine"][fields["gpu_slot"]], minlength=len(machine_order))
    capacities = [tree.capacities[i] for i in machine_order]
    fields["resources"], fields["capacities"] = _capacities(fields["machines"], capacities, gpu_counts)
    types = [tree.gpu_types[i] for i in machine_order]
    fields["gpu_types"] = _gpu_types(fields["machines"], types, gpu_counts)
    fields["machine_labels"] = _machine_labels(fields["machines"], tree, machine_order)
    return fields


_PARENT_FIELDS = {"rack": "rack_switch", "machine": "machine_rack", "slot": "slot_machine", "gpu": "gpu_slot"}


def _ordered(tree: RawTree) -> dict[str, tuple[tuple[str, ...], Ints, Floats, list[int]]]:
    """Return labels, parents, bandwidths and the order as added of the nodes of each level."""
    found = {}
    rank = np.zeros(1, dtype=np.int64)
    for level, layer in tree.layers():
        parents = rank[np.array(layer.parents, dtype=np.int64)]
        order = np.argsort(parents, kind="stable").tolist() if layer.ordered else _order(layer.labels, parents.tolist())
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        labels = tuple(layer.labels[i] for i in order)
        found[level] = (labels, parents[order], _bandwidths(level, layer, order), order)
    return found


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
    below = [*tree.layers()]
    checked = [(level, layer, *below[i + 1]) for i, (level, layer) in enumerate(below) if level in tree.switch_levels]
    checked += [("rack", tree.racks, "machine", tree.machines), ("slot", tree.slots, "GPU", tree.gpus)]
    for level, layer, part, child in checked:
        filled = set(child.parents)
        for i, name in enumerate(layer.labels):
            if i not in filled:
                raise InputError(f"{level} {_checks.shown(name)} is empty; it must hold at least one {part}")


def _order(labels: list[str], parents: list[int]) -> list[int]:
    return sorted(range(len(labels)), key=lambda i: (parents[i], _checks.natural_key(labels[i])))


def _bandwidths(level: str, layer: Layer, order: list[int]) -> Floats:
    values = np.full(len(order), np.nan)
    if all(value is None for value in layer.bandwidths):
        return values
    for new, old in enumerate(order):
        if layer.bandwidths[old] is not None:
            where = f"{level} {_checks.shown(layer.labels[old])}: bandwidth of the edge above (Gb/s)"
            values[new] = _checks.amount(layer.bandwidths[old], where, positive=True)
    return values


def _capacities(machines: tuple[str, ...], given: list[Any], gpu_counts: Ints) -> tuple[tuple[str, ...], Floats]:
    # machines of one group share one mapping, which is checked once
    rows: dict[int, dict[str, float]] = {}
    for machine, row in zip(machines, given, strict=True):
        if id(row) not in rows:
            rows[id(row)] = _checked_row(machine, row)
    resources = tuple(sorted({"gpu"}.union(*rows.values())))
    table = {key: [row.get(name, 0.0) for name in resources] for key, row in rows.items()}
    amounts = np.array([table[id(row)] for row in given])
    stated = np.array(["gpu" in rows[id(row)] for row in given])
    column = resources.index("gpu")
    for m in np.flatnonzero(stated & (amounts[:, column] != gpu_counts))[:1].tolist():
        raise InputError(
            f"machine {_checks.shown(machines[m])}: capacity 'gpu' is {_checks.shown(given[m]['gpu'])}, "
            f"but the machine has {gpu_counts[m]} GPU nodes"
        )
    amounts[:, column] = gpu_counts
    return resources, amounts


def _checked_row(machine: str, row: object) -> dict[str, float]:
    where = f"machine {_checks.shown(machine)}"
    if not isinstance(row, Mapping):
        raise InputError(
            f"{where}: capacities must be a mapping from resource name to amount (got {_checks.shown(row)})"
        )
    for name in row:
        _checks.label(name, f"{where}: a resource name")
    return {name: _checks.amount(row[name], f"{where}: capacity {_checks.shown(name)}") for name in row}


def _gpu_types(machines: tuple[str, ...], given: list[Any], gpu_counts: Ints) -> tuple[str | None, ...]:
    for m, kind in enumerate(given):
        if kind is None:
            continue
        where = f"machine {_checks.shown(machines[m])}: gpu_type"
        _checks.label(kind, where)
        if not gpu_counts[m]:
            raise InputError(f"{where} is {_checks.shown(kind)}, but the machine has no GPU; leave it out")
    return tuple(given)


def _machine_labels(machines: tuple[str, ...], tree: RawTree, order: list[int]) -> tuple[Mapping[str, str], ...]:
    given = [tree.machine_labels[i] for i in order] if tree.machine_labels else [None] * len(order)
    none: Mapping[str, str] = MappingProxyType({})
    return tuple(
        none if not row else _checked_labels(machine, row) for machine, row in zip(machines, given, strict=True)
    )


def _checked_labels(machine: str, row: object) -> Mapping[str, str]:
    where = f"machine {_checks.shown(machine)}"
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: labels must be a mapping from text to text (got {_checks.shown(row)})")
    for key, value in row.items():
        _checks.label(key, f"{where}: the key of a label")
        _checks.text(value, f"{where}: label {_checks.shown(key)}")
    return MappingProxyType({key: row[key] for key in sorted(row)})
