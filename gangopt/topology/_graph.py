"""Conversion between networkx graphs and clusters, with a message for each defect of a graph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx

from gangopt.base.errors import InputError
from gangopt.topology import _checks
from gangopt.topology._checks import shown
from gangopt.topology._tree import LEVELS, ClusterFields, RawTree

__all__ = ["graph_of", "tree_from_graph"]

_DEPTH = {level: depth for depth, level in enumerate(LEVELS)}
_ABSENT = object()


def graph_of(cluster: ClusterFields) -> nx.DiGraph:
    """Return a new networkx DiGraph of a cluster, nodes level by level in index order."""
    graph = nx.DiGraph(name=cluster.name, description=cluster.description, source=cluster.source)
    graph.add_node(cluster.root, level="cluster")
    graph.add_nodes_from(cluster.racks, level="rack")
    for machine, row, gpu_type in zip(cluster.machines, cluster.capacities, cluster.gpu_types, strict=True):
        amounts = {name: _checks.tidy(value) for name, value in zip(cluster.resources, row, strict=True)}
        graph.add_node(machine, level="machine", capacities=amounts, gpu_type=gpu_type)
    graph.add_nodes_from(cluster.slots, level="slot")
    graph.add_nodes_from(cluster.gpus, level="gpu")
    edges = (
        ((cluster.root,), [0] * len(cluster.racks), cluster.racks, cluster.rack_bandwidth),
        (cluster.racks, cluster.machine_rack, cluster.machines, cluster.machine_bandwidth),
        (cluster.machines, cluster.slot_machine, cluster.slots, cluster.slot_bandwidth),
        (cluster.slots, cluster.gpu_slot, cluster.gpus, cluster.gpu_bandwidth),
    )
    for above, parents, labels, bandwidths in edges:
        for parent, label, value in zip(parents, labels, bandwidths.tolist(), strict=True):
            graph.add_edge(above[parent], label, bandwidth=None if math.isnan(value) else _checks.tidy(value))
    return graph


def tree_from_graph(
    graph: object, level: str, capacities: str | Mapping[str, str], gpu_type: str, bandwidth: str
) -> RawTree:
    """Return the raw tree of a networkx graph; see `Cluster.from_graph` for the attributes.

    Raises
    ------
    InputError
        If it is not a graph, a multigraph or empty, a label is not text, a level is missing or unknown, there is not
        exactly one cluster node, an edge joins wrong levels, a node has no parent or several, or a machine has no
        capacities or GPUs both in slots and outside of them.
    """
    for attribute in (level, gpu_type, bandwidth, *([capacities] if isinstance(capacities, str) else [])):
        _checks.label(attribute, "an attribute name")
    if not isinstance(capacities, str):
        _check_columns(capacities)
    checked = _with_text_labels(_simple_graph(graph))
    levels = _levels(checked, level)
    _check_root(levels)
    parents = _parents(checked, levels)
    _check_parents(levels, parents)
    return _plant(checked, levels, parents, _Attributes(capacities, gpu_type, bandwidth))


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


def _levels(graph: nx.Graph, attribute: str) -> dict[str, str]:
    levels: dict[str, str] = {}
    for node, data in graph.nodes(data=True):
        _checks.label(node, f"the label of node {len(levels)}")
        value = data.get(attribute, _ABSENT)
        if value is _ABSENT:
            raise InputError(f"node {shown(node)} has no {shown(attribute)}; it must be one of {', '.join(LEVELS)}")
        if not isinstance(value, str) or value not in _DEPTH:
            raise InputError(
                f"node {shown(node)}: {shown(attribute)} must be one of {', '.join(LEVELS)} (got {shown(value)})"
            )
        levels[node] = value
    return levels


def _check_root(levels: dict[str, str]) -> None:
    roots = sorted((node for node, level in levels.items() if level == "cluster"), key=_checks.natural_key)
    if len(roots) != 1:
        found = ", ".join(shown(node) for node in roots[:3]) or "none"
        raise InputError(f"the graph has {len(roots)} nodes of level cluster ({found}); it must have exactly one root")


def _parents(graph: nx.Graph, levels: dict[str, str]) -> dict[str, str]:
    """Map each node to its parent; edges of an undirected graph are directed from wider to narrower levels."""
    parents: dict[str, str] = {}
    for edge in graph.edges():
        parent, child = edge
        if not graph.is_directed() and _DEPTH[levels[parent]] > _DEPTH[levels[child]]:
            parent, child = child, parent
        _check_edge(parent, levels[parent], child, levels[child])
        if child in parents:
            first, second = sorted((parents[child], parent), key=_checks.natural_key)
            raise InputError(f"not a tree: node {shown(child)} has two parents, {shown(first)} and {shown(second)}")
        parents[child] = parent
    return parents


def _check_edge(parent: str, above: str, child: str, below: str) -> None:
    if parent == child:
        raise InputError(f"not a tree: node {shown(parent)} has an edge to itself")
    edge = f"edge from {shown(parent)} ({above}) to {shown(child)} ({below})"
    step = _DEPTH[below] - _DEPTH[above]
    if step < 0:
        raise InputError(f"{edge} goes up; directed edges go from parent to child (or pass the graph undirected)")
    if step == 0:
        raise InputError(f"{edge} joins two nodes of one level; a tree edge goes one level down")
    if step > 1 and (above, below) != ("machine", "gpu"):
        raise InputError(f"{edge} skips a level; the parent of a {below} must be a {LEVELS[_DEPTH[below] - 1]}")


def _check_parents(levels: dict[str, str], parents: dict[str, str]) -> None:
    for node, level in levels.items():
        if level != "cluster" and node not in parents:
            above = LEVELS[_DEPTH[level] - 1]
            raise InputError(f"node {shown(node)} ({level}) has no parent; it must have a {above} as parent")
    with_slots = {parents[node] for node, level in levels.items() if level == "slot"}
    for node, level in levels.items():
        if level == "gpu" and parents[node] in with_slots:
            machine = parents[node]
            raise InputError(
                f"machine {shown(machine)} has slots, but GPU {shown(node)} is outside of them; put it into a slot"
            )


@dataclass(frozen=True)
class _Attributes:
    """Names of the attributes that hold the values of nodes and edges."""

    capacities: str | Mapping[str, str]
    gpu_type: str
    bandwidth: str

    def capacities_of(self, machine: str, data: Mapping[str, Any]) -> object:
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


def _plant(graph: nx.Graph, levels: dict[str, str], parents: dict[str, str], names: _Attributes) -> RawTree:
    nodes: dict[str, list[str]] = {level: [] for level in LEVELS}
    for node, level in levels.items():
        nodes[level].append(node)
    tree = RawTree(root=nodes["cluster"][0])
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
    return tree
