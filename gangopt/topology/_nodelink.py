"""Node-link JSON data of networkx, checked before a graph is built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx

from gangopt.base.errors import InputError
from gangopt.topology._checks import number_label, refuse_unknown, shown
from gangopt.topology._graph import graph_of
from gangopt.topology._tree import ClusterFields

__all__ = ["graph_from_node_link", "node_link_of"]

FORMAT = "gangopt-cluster"
VERSION = 1
_EDGE_KEYS = ("edges", "links")
_TOP_FIELDS = {"directed", "multigraph", "graph", "nodes", *_EDGE_KEYS}
_GRAPH_FIELDS = {"format", "version", "name", "description", "source", "switch_levels"}
_EDGE_FIELDS = {"source", "target", "bandwidth"}
_NODE_FIELDS = {"id", "level"}
_MACHINE_FIELDS = {"id", "level", "capacities", "gpu_type", "labels"}


def node_link_of(cluster: ClusterFields, edges: str) -> dict[str, Any]:
    """Return the node-link data of a cluster without unknown GPU types and bandwidths."""
    if edges not in _EDGE_KEYS:
        raise InputError(f"edges must be 'edges' or 'links' (got {shown(edges)})")
    graph = graph_of(cluster)
    head = {"format": FORMAT, "version": VERSION}
    head |= {key: word for key, word in graph.graph.items() if word}
    nodes = [{"id": node} | _known(data) for node, data in graph.nodes(data=True)]
    links = [{"source": u, "target": v} | _known(data) for u, v, data in graph.edges(data=True)]
    return {"directed": True, "multigraph": False, "graph": head, "nodes": nodes, edges: links}


def _known(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


def graph_from_node_link(data: object) -> nx.Graph:
    """Return the networkx graph of node-link data.

    Raises
    ------
    InputError
        If the data are not an object with ``nodes`` and one of ``edges`` and ``links``, a node or edge is not an object
        or lacks its id or an end, an id or an edge is repeated, an edge names an unknown node, or a file of the format
        gangopt-cluster has another version or an unknown field.
    """
    top = _mapping(data, "the file")
    head = _mapping(top.get("graph", {}), "graph")
    strict = "format" in head
    if strict:
        _check_format(head)
        refuse_unknown(top, _TOP_FIELDS, "the file")
        refuse_unknown(head, _GRAPH_FIELDS, "graph")
    if _flag(top, "multigraph"):
        raise InputError("multigraph must be false (got true)")
    graph = nx.DiGraph() if _flag(top, "directed") else nx.Graph()
    graph.graph.update(head)
    _add_nodes(graph, _list(top, "nodes"), strict)
    keys = [key for key in _EDGE_KEYS if key in top]
    if len(keys) != 1:
        raise InputError(f"exactly one of 'edges' and 'links' must be present (got {'both' if keys else 'neither'})")
    _add_edges(graph, _list(top, keys[0]), keys[0], strict)
    return graph


def _check_format(head: Mapping[str, Any]) -> None:
    if head["format"] != FORMAT:
        raise InputError(f"graph.format must be {FORMAT!r} (got {shown(head['format'])})")
    version = head.get("version")
    if version != VERSION or isinstance(version, bool):
        raise InputError(f"graph.version must be {VERSION} (got {shown(version)})")


def _add_nodes(graph: nx.Graph, rows: list[Any], strict: bool) -> None:
    for i, row in enumerate(rows):
        node = dict(_mapping(row, f"nodes[{i}]"))
        if strict:
            fields = _MACHINE_FIELDS if node.get("level") == "machine" else _NODE_FIELDS
            refuse_unknown(node, fields, f"nodes[{i}]")
        label = _label(node, "id", f"nodes[{i}]")
        if label in graph:
            raise InputError(f"nodes[{i}]: duplicate id {shown(label)}")
        del node["id"]
        graph.add_nodes_from([(label, node)])


def _add_edges(graph: nx.Graph, rows: list[Any], key: str, strict: bool) -> None:
    for i, row in enumerate(rows):
        where = f"{key}[{i}]"
        edge = dict(_mapping(row, where))
        if strict:
            refuse_unknown(edge, _EDGE_FIELDS, where)
        ends = [_label(edge, end, where) for end in ("source", "target")]
        for end, label in zip(("source", "target"), ends, strict=True):
            if label not in graph:
                raise InputError(f"{where}.{end}: unknown node {shown(label)}")
            del edge[end]
        if graph.has_edge(*ends):
            raise InputError(f"{where}: duplicate edge between {shown(ends[0])} and {shown(ends[1])}")
        graph.add_edges_from([(*ends, edge)])


def _label(row: Mapping[str, Any], field: str, where: str) -> str:
    if field not in row:
        raise InputError(f"{where} has no {field!r}; it must have the label of a node")
    number = number_label(row[field])
    value = row[field] if number is None else number
    if not isinstance(value, str):
        raise InputError(f"{where}.{field} must be text or an integer (got {shown(value)})")
    return value


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} must be a JSON object (got {shown(value)})")
    return value


def _list(top: Mapping[str, Any], key: str) -> list[Any]:
    if key not in top:
        raise InputError(f"{key!r} is missing; node-link data must have it")
    if not isinstance(top[key], list):
        raise InputError(f"{key} must be a list (got {shown(top[key])})")
    return list(top[key])


def _flag(top: Mapping[str, Any], key: str) -> bool:
    value = top.get(key, False)
    if not isinstance(value, bool):
        raise InputError(f"{key} must be true or false (got {shown(value)})")
    return value
