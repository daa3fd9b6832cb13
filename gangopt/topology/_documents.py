"""Clusters and states inside other JSON files: short forms of a tree, and who holds what on it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import numpy as np

from gangopt.base.errors import InputError
from gangopt.topology import _checks
from gangopt.topology._checks import refuse_unknown, shown
from gangopt.topology._cluster import Cluster
from gangopt.topology._named import cluster_names, load_cluster, named_cluster
from gangopt.topology._state import State
from gangopt.topology._tree import Layer, RawTree

__all__ = ["cluster_content", "cluster_of_content", "state_content", "state_of_content"]

_ROW_FIELDS = {"name", "from", "count", "rack", "slots", "capacities", "gpu_type", "labels"}
_TABLE_FIELDS = {"name", "description", "source", "root", "machines"}
_HELD_FIELDS = {"owner", "gpus", "amounts", "shares"}
_STATE_FIELDS = {"held", "unavailable"}


def cluster_content(cluster: Cluster) -> str | dict[str, Any]:
    """Return a cluster as JSON content: its name, a table of machines, or node-link data.

    The name is returned if it is that of an equal named cluster. The table has one row for each run of equal machines
    with consecutive numbers; it is returned if it reads back as an equal cluster, i.e. there are no bandwidths and no
    switches and slots and GPUs have the labels of `Cluster.from_groups`.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    """
    if cluster.name in cluster_names() and named_cluster(cluster.name) == cluster:
        return cluster.name
    table = _table(cluster)
    return table if _has_short_form(cluster) else cluster.to_node_link()


def cluster_of_content(content: object) -> Cluster:
    """Return the cluster that JSON content describes.

    Parameters
    ----------
    content : str or mapping
        A name of `cluster_names`, the path of a cluster file, a table of machines, or node-link data.

    Raises
    ------
    InputError
        If the content is none of these.
    """
    if isinstance(content, str):
        return load_cluster(content)
    if not isinstance(content, Mapping):
        raise InputError(f"a cluster must be a name, a path or an object (got {shown(content)})")
    return _of_table(content) if "machines" in content else Cluster.from_node_link(content)


def _has_short_form(cluster: Cluster) -> bool:
    edges = (cluster.rack_bandwidth, cluster.machine_bandwidth, cluster.slot_bandwidth, cluster.gpu_bandwidth)
    if cluster.switch_levels or not all(np.isnan(values).all() for values in edges):
        return False
    slots = [
        f"{cluster.machines[m]}.s{s}"
        for m in range(len(cluster.machines))
        for s in range(len(cluster.machine_slots(m)))
    ]
    gpus = [f"{cluster.machines[m]}.g{g}" for m, count in enumerate(cluster.gpus_per_machine) for g in range(count)]
    return list(cluster.slots) == slots and list(cluster.gpus) == gpus


def _table(cluster: Cluster) -> dict[str, Any]:
    head = {key: getattr(cluster, key) for key in ("name", "description", "source") if getattr(cluster, key)}
    rows = [_row(cluster, m) for m in range(len(cluster.machines))]
    machines: list[dict[str, Any]] = []
    # equal machines with consecutive numbers differ from their position by one constant
    keyed = [(_split(label), row) for label, row in zip(cluster.machines, rows, strict=True)]

    def run(item: tuple[int, tuple[tuple[str, int | None], dict[str, Any]]]) -> tuple[Any, ...]:
        position, ((stem, number), row) = item
        return repr(row), stem, position if number is None else number - position, number is None

    for _, members in groupby(enumerate(keyed), key=run):
        first, *rest = [entry for _, entry in members]
        (stem, number), row = first
        if number is None or not rest:
            machines.append({"name": stem if number is None else f"{stem}{number}"} | row)
        else:
            machines.append({"name": stem, "from": number, "count": 1 + len(rest)} | row)
    return head | ({"root": cluster.root} if cluster.root != "cluster" else {}) | {"machines": machines}


def _split(label: str) -> tuple[str, int | None]:
    """Split a label into a stem and a final number without leading zeros, None if it has none."""
    stem = label.rstrip("0123456789")
    digits = label[len(stem) :]
    plain = digits.isascii() and digits and str(int(digits)) == digits
    return (stem, int(digits)) if plain else (label, None)


def _row(cluster: Cluster, machine: int) -> dict[str, Any]:
    amounts = {
        name: _checks.tidy(value)
        for name, value in zip(cluster.resources, cluster.capacities[machine].tolist(), strict=True)
        if name != "gpu"
    }
    row: dict[str, Any] = {"rack": cluster.racks[cluster.machine_rack[machine]]}
    slots = [len(cluster.slot_gpus(slot)) for slot in cluster.machine_slots(machine)]
    row |= {"slots": slots} if slots else {}
    row |= {"capacities": amounts} if amounts else {}
    row |= {"gpu_type": cluster.gpu_types[machine]} if cluster.gpu_types[machine] is not None else {}
    return row | ({"labels": dict(cluster.machine_labels[machine])} if cluster.machine_labels[machine] else {})


def _of_table(content: Mapping[str, Any]) -> Cluster:
    refuse_unknown(content, _TABLE_FIELDS, "cluster")
    rows = content["machines"]
    if not isinstance(rows, list) or not rows:
        raise InputError(f"machines must be a non-empty list (got {shown(rows)})")
    tree = RawTree(root=content.get("root", "cluster"), slots=Layer(ordered=True), gpus=Layer(ordered=True))
    racks: dict[str, int] = {}
    for i, row in enumerate(rows):
        _add_row(tree, racks, row, f"machines[{i}]")
    return Cluster._from_tree(tree, *(content.get(key, "") for key in ("name", "description", "source")))


def _add_row(tree: RawTree, racks: dict[str, int], row: object, where: str) -> None:
    if not isinstance(row, Mapping):
        raise InputError(f"{where} must be an object (got {shown(row)})")
    refuse_unknown(row, _ROW_FIELDS, where)
    name = _checks.label(row.get("name"), f"{where}.name")
    rack = _checks.label(row.get("rack", "r0"), f"{where}.rack")
    if rack not in racks:
        racks[rack] = tree.racks.add(rack, 0, None)
    slots = row.get("slots", [])
    if not isinstance(slots, list):
        raise InputError(f"{where}.slots must be a list with the GPUs of each slot (got {shown(slots)})")
    sizes = [_checks.count(size, f"{where}.slots[{s}]", least=1) for s, size in enumerate(slots)]
    labels = [name]
    if "count" in row:
        first = _checks.count(row.get("from", 0), f"{where}.from", least=0)
        labels = [f"{name}{first + k}" for k in range(_checks.count(row["count"], f"{where}.count", least=1))]
    elif "from" in row:
        raise InputError(f"{where}.from must come with count")
    if len(tree.gpus.labels) + len(labels) * sum(sizes) > _checks.LARGEST_CLUSTER:
        raise InputError(f"the cluster must have at most {_checks.LARGEST_CLUSTER:,} GPUs ({where} exceeds it)")
    for label in labels:
        machine = tree.machines.add(label, racks[rack], None)
        tree.capacities.append(row.get("capacities", {}))
        tree.gpu_types.append(row.get("gpu_type"))
        tree.machine_labels.append(row.get("labels"))
        gpu = 0
        for s, size in enumerate(sizes):
            slot = tree.slots.add(f"{label}.s{s}", machine, None)
            for _ in range(size):
                tree.gpus.add(f"{label}.g{gpu}", slot, None)
                gpu += 1


def state_content(state: State) -> dict[str, Any]:
    """Return a state as JSON content: what each owner holds, and the unavailable machines.

    Parameters
    ----------
    state : State
        The state; its cluster is not part of the content.
    """
    cluster = state.cluster
    held = []
    all_amounts, all_shares = state.amounts_by_owner(), state.shares_by_owner()
    for owner in state.owners:
        row: dict[str, Any] = {"owner": owner}
        gpus = [cluster.gpus[gpu] for gpu in state.gpus_of(owner)]
        amounts = {
            cluster.machines[machine]: {name: _checks.tidy(value) for name, value in values.items()}
            for machine, values in all_amounts.get(owner, {}).items()
        }
        shares = {cluster.gpus[gpu]: share for gpu, share in all_shares.get(owner, {}).items()}
        given = {"gpus": gpus, "amounts": amounts, "shares": shares}
        held.append(row | {key: value for key, value in given.items() if value})
    content: dict[str, Any] = {"held": held} if held else {}
    return content | ({"unavailable": dict(state.unavailable)} if state.unavailable else {})


def state_of_content(cluster: Cluster, content: object) -> State:
    """Return the state of a cluster that JSON content describes.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    content : mapping
        Content of `state_content`.

    Raises
    ------
    InputError
        If a field is unknown or of the wrong type, or the state holds more than the cluster has.
    """
    if not isinstance(content, Mapping):
        raise InputError(f"a state must be an object with {', '.join(sorted(_STATE_FIELDS))} (got {shown(content)})")
    refuse_unknown(content, _STATE_FIELDS, "state")
    state = State(cluster)
    rows = content.get("held", [])
    if not isinstance(rows, list):
        raise InputError(f"state.held must be a list (got {shown(rows)})")
    for i, row in enumerate(rows):
        where = f"state.held[{i}]"
        if not isinstance(row, Mapping):
            raise InputError(f"{where} must be an object (got {shown(row)})")
        refuse_unknown(row, _HELD_FIELDS, where)
        try:
            state.allocate(row.get("owner", ""), row.get("gpus", ()), row.get("amounts"), row.get("shares"))
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    closed = content.get("unavailable", {})
    if not isinstance(closed, Mapping):
        raise InputError(f"state.unavailable must be a mapping from machine to reason (got {shown(closed)})")
    for machine, reason in closed.items():
        try:
            state.close(machine, reason)
        except InputError as error:
            raise InputError(f"state.unavailable: {error}") from None
    return state
