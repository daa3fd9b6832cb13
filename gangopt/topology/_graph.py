"""Conversion between networkx graphs and clusters, with a message for each defect of a graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from gangopt.base.errors import InputError
from gangopt.topology import _checks
from gangopt.topology._checks import shown
from gangopt.topology._tree import LEVELS, ClusterFields, Layer, RawTree

__all__ = ["Attributes", "graph_of", "tree_from_graph"]

_ABSENT = object()


def graph_of(cluster: ClusterFields) -> nx.DiGraph:
    """Return a new networkx DiGraph of a cluster, nodes level by level in index order."""
    graph = nx.DiGraph(name=cluster.name, description=cluster.description, source=cluster.source)
    if cluster.switch_levels:
        graph.graph["switch_levels"] = list(cluster.switch_levels)
    graph.add_node(cluster.root, level="cluster")
    for level, labels in zip(cluster.switch_levels, cluster.switches, strict=True):
        graph.add_nodes_from(labels, level=level)
    graph.add_nodes_from(cluster.racks, level="rack")
    _add_machines(graph, cluster)
    graph.add_nodes_from(cluster.slots, level="slot")
    graph.add_nodes_from(cluster.gpus, level="gpu")
    uppers = ((cluster.root,), *cluster.switches)
    edges = (
        *zip(uppers[:-1], cluster.switch_parent, cluster.switches, cluster.switch_bandwidth, strict=True),
        (uppers[-1], cluster.rack_switch, cluster.racks, cluster.rack_bandwidth),
        (cluster.racks, cluster.machine_rack, cluster.machines, cluster.machine_bandwidth),
        (cluster.machines, cluster.slot_machine, cluster.slots, cluster.slot_bandwidth),
        (cluster.slots, cluster.gpu_slot, cluster.gpus, cluster.gpu_bandwidth),
    )
    for above, parents, labels, bandwidths in edges:
        for parent, label, value in zip(parents, labels, bandwidths.tolist(), strict=True):
            graph.add_edge(above[parent], label, bandwidth=None if math.isnan(value) else _checks.tidy(value))
    return graph


def _add_machines(graph: nx.DiGraph, cluster: ClusterFields) -> None:
    rows = zip(cluster.machines, cluster.capacities, cluster.gpu_types, cluster.machine_labels, strict=True)
    for machine, row, gpu_type, labels in rows:
        amounts = {name: _checks.tidy(value) for name, value in zip(cluster.resources, row, strict=True)}
        given = {"labels": dict(labels)} if labels else {}
        graph.add_node(machine, level="machine", capacities=amounts, gpu_type=gpu_type, **given)


def tree_from_graph(graph: object, names: Attributes, switch_levels: Sequence[str] | None) -> RawTree:
    """Return the raw tree of a networkx graph; see `Cluster.from_graph` for the attributes.

    Raises
    ------
    InputError
        If it is not a graph, a multigraph or empty, a label is not text, a level is missing or unknown, there is not
        exactly one cluster node, an edge joins wrong levels, a node has no parent or several, or a machine has no
        capacities or GPUs both in slots and outside of them.
    """
    singles = [names.capacities] if isinstance(names.capacities, str) else []
    for attribute in (names.level, names.gpu_type, names.bandwidth, names.labels, *singles):
        _checks.label(attribute, "an attribute name")
    if not isinstance(names.capacities, str):
        _check_columns(names.capacities)
    checked = _with_text_labels(_simple_graph(graph))
    tower = _Tower(_switch_levels(checked, switch_levels))
    levels = _levels(checked, names.level, tower)
    _check_root(levels)
    parents = _parents(checked, levels, tower)
    _check_parents(levels, parents, tower)
    return _plant(checked, levels, parents, names, tower)


@dataclass(frozen=True)
class Attributes:
    """Names of the attributes that hold the values of nodes and edges; see `Cluster.from_graph`."""

    level: str
    capacities: str | Mapping[str, str]
    gpu_type: str
    bandwidth: str
    labels: str

    def capacities_of(self, machine: str, data: Mapping[str, Any]) -> object:
        """Return the capacities of a machine as its node holds them, or raise InputError if it has none."""
        if isinstance(self.capacities, str):
            if self.capacities not in data:
                raise InputError(
                    f"machine {shown(machine)} has no {shown(self.capacities)}; "
                    "it must have a mapping from resource name to amount"
                )
            return data[self.capacities]
        for resource, attribute in self.capacities.items():
            if attribute not in data:
                raise InputError(
                    f"machine {shown(machine)} has no {shown(attribute)}, which holds the capacity {shown(resource)}"
                )
        return {resource: data[attribute] for resource, attribute in self.capacities.items()}


class _Tower:
    """The levels of one tree, widest first, and the depth of each."""

    def __init__(self, switch_levels: tuple[str, ...]) -> None:
        self.switch_levels = switch_levels
        self.levels = (LEVELS[0], *switch_levels, *LEVELS[1:])
        self.depth = {level: depth for depth, level in enumerate(self.levels)}

    def above(self, level: str) -> str:
        """Return the level above a level other than the widest."""
        return self.levels[self.depth[level] - 1]


def _switch_levels(graph: nx.Graph, given: Sequence[str] | None) -> tuple[str, ...]:
    named = graph.graph.get("switch_levels", ()) if given is None else given
    if isinstance(named, str) or not isinstance(named, Sequence):
        raise InputError(f"switch_levels must be a list of level names (got {shown(named)})")
    for i, name in enumerate(named):
        _checks.label(name, f"switch_levels[{i}]")
        if name in LEVELS or name in named[:i]:
            raise InputError(
                f"switch_levels[{i}] must differ from {', '.join((*LEVELS, *named[:i]))} (got {shown(name)})"
            )
    return tuple(named)


def _check_columns(capacities: object) -> None:
    if not isinstance(capacities, Mapping):
        raise InputError(f"capacities must be an attribute name, or a mapping to such names (got {shown(capacities)})")
    for resource, attribute in capacities.items():
        _checks.label(attribute, f"the attribute name of capacity {shown(resource)}")


def _simple_graph(graph: object) -> nx.Graph:
    if not isinstance(graph, nx.Graph):
        raise InputError(f"graph must be a networkx Graph or DiGraph (got {shown(graph)})")
    if graph.is_multigraph():
        raise InputError("graph must be a Graph or DiGraph with at most one edge between two nodes (got a multigraph)")
    if not len(graph):
        raise InputError("the graph is empty; it must have at least a cluster, a rack and a machine")
    return graph


def _with_text_labels(graph: nx.Graph) -> nx.Graph:
    """Return the graph with text labels instead of the integers that networkx's generators use."""
    texts = {node: text for node in graph if (text := _checks.number_label(node)) is not None}
    for node, text in texts.items():
        if text in graph:
            raise InputError(f"labels {shown(node)} and {shown(text)} must not both be used, they are equal as text")
    return nx.relabel_nodes(graph, texts) if texts else graph


def _levels(graph: nx.Graph, attribute: str, tower: _Tower) -> dict[str, str]:
    levels: dict[str, str] = {}
    for node, data in graph.nodes(data=True):
        _checks.label(node, f"the label of node {len(levels)}")
        value = data.get(attribute, _ABSENT)
        if value is _ABSENT:
            raise InputError(
                f"node {shown(node)} has no {shown(attribute)}; it must be one of {', '.join(tower.levels)}"
            )
        if not isinstance(value, str) or value not in tower.depth:
            raise InputError(
                f"node {shown(node)}: {shown(attribute)} must be one of {', '.join(tower.levels)} (got {shown(value)})"
            )
        levels[node] = value
    return levels


def _check_root(levels: dict[str, str]) -> None:
    roots = sorted((node for node, level in levels.items() if level == "cluster"), key=_checks.natural_key)
    if len(roots) != 1:
        found = ", ".join(shown(node) for node in roots[:3]) or "none"
        raise InputError(f"the graph has {len(roots)} nodes of level cluster ({found}); it must have exactly one root")


def _parents(graph: nx.Graph, levels: dict[str, str], tower: _Tower) -> dict[str, str]:
    """Map each node to its parent; edges of an undirected graph are directed from wider to narrower levels."""
    parents: dict[str, str] = {}
    for edge in graph.edges():
        parent, child = edge
        if not graph.is_directed() and tower.depth[levels[parent]] > tower.depth[levels[child]]:
            parent, child = child, parent
        _check_edge(parent, levels[parent], child, levels[child], tower)
        if child in parents:
            first, second = sorted((parents[child], parent), key=_checks.natural_key)
            raise InputError(f"not a tree: node {shown(child)} has two parents, {shown(first)} and {shown(second)}")
        parents[child] = parent
    return parents


def _check_edge(parent: str, above: str, child: str, below: str, tower: _Tower) -> None:
    if parent == child:
        raise InputError(f"not a tree: node {shown(parent)} has an edge to itself")
    edge = f"edge from {shown(parent)} ({above}) to {shown(child)} ({below})"
    step = tower.depth[below] - tower.depth[above]
    if step < 0:
        raise InputError(f"{edge} goes up; directed edges go from parent to child (or pass the graph undirected)")
    if step == 0:
        raise InputError(f"{edge} joins two nodes of one level; a tree edge goes one level down")
    if step > 1 and (above, below) != ("machine", "gpu"):
        raise InputError(f"{edge} skips a level; the parent of a {below} must be a {tower.above(below)}")


def _check_parents(levels: dict[str, str], parents: dict[str, str], tower: _Tower) -> None:
    for node, level in levels.items():
        if level != "cluster" and node not in parents:
            above = tower.above(level)
            raise InputError(f"node {shown(node)} ({level}) has no parent; it must have a {above} as parent")
    with_slots = {parents[node] for node, level in levels.items() if level == "slot"}
    for node, level in levels.items():
        if level == "gpu" and parents[node] in with_slots:
            machine = parents[node]
            raise InputError(
                f"machine {shown(machine)} has slots, but GPU {shown(node)} is outside of them; put it into a slot"
            )


def _plant(
    graph: nx.Graph, levels: dict[str, str], parents: dict[str, str], names: Attributes, tower: _Tower
) -> RawTree:
    nodes: dict[str, list[str]] = {level: [] for level in tower.levels}
    for node, level in levels.items():
        nodes[level].append(node)
    tree = RawTree(nodes["cluster"][0], tower.switch_levels, [Layer() for _ in tower.switch_levels])
    index = {tree.root: 0}
    own_slot: dict[str, int] = {}
    for level, layer in tree.layers():
        for node in nodes[level]:
            parent = parents[node]
            bandwidth = graph.edges[parent, node].get(names.bandwidth)
            if level == "gpu" and levels[parent] == "machine":
                if parent not in own_slot:
                    own_slot[parent] = tree.slots.add(f"{parent}.s0", index[parent], None)
                layer.add(node, own_slot[parent], bandwidth)
                continue
            index[node] = layer.add(node, index[parent], bandwidth)
            if level == "machine":
                tree.capacities.append(names.capacities_of(node, graph.nodes[node]))
                tree.gpu_types.append(graph.nodes[node].get(names.gpu_type))
                tree.machine_labels.append(graph.nodes[node].get(names.labels))
    return tree
