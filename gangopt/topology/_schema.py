"""JSON Schema of cluster files in the format gangopt-cluster."""

from __future__ import annotations

from typing import Any

from gangopt.topology._checks import LARGEST_AMOUNT, LARGEST_CLUSTER
from gangopt.topology._tree import LEVELS

__all__ = ["cluster_schema"]

_LABEL = {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]}


def cluster_schema() -> dict[str, Any]:
    """Return the JSON Schema of the files that `save_cluster` writes and `load_cluster` reads.

    Files of networkx without `graph.format` may hold further fields, which are ignored. Only `load_cluster` checks
    that the nodes form a tree of the levels.

    Returns
    -------
    dict
        A schema of draft 2020-12.
    """
    edges = {"type": "array", "items": {"$ref": "#/$defs/edge"}, "description": "from every parent to its children"}
    return {
        "title": "Cluster",
        "description": "Racks, machines, slots and GPUs as node-link data of networkx.",
        "type": "object",
        "properties": {
            "directed": {"type": "boolean", "default": False, "description": "edges go from parent to child"},
            "multigraph": {"const": False},
            "graph": _head(),
            "nodes": {
                "type": "array",
                "minItems": 3,
                "maxItems": LARGEST_CLUSTER,
                "items": {"anyOf": [{"$ref": "#/$defs/machine"}, {"$ref": "#/$defs/node"}]},
                "description": "the cluster, its racks, machines, slots and GPUs, in any order",
            },
            "edges": edges,
            "links": edges,
        },
        "required": ["nodes"],
        "oneOf": [{"required": ["edges"]}, {"required": ["links"]}],
        "additionalProperties": False,
        "if": {"properties": {"graph": {"required": ["switch_levels"]}}, "required": ["graph"]},
        "else": {"properties": {"nodes": {"items": {"properties": {"level": {"enum": list(LEVELS)}}}}}},
        "$defs": {"node": _node(), "machine": _machine(), "edge": _edge()},
    }


def _head() -> dict[str, Any]:
    from gangopt.topology._nodelink import FORMAT, VERSION

    return {
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION, "description": "version of the file format"},
            "name": {"type": "string", "description": "name of the cluster"},
            "description": {"type": "string", "description": "one-sentence description"},
            "source": {"type": "string", "description": "origin of the numbers"},
            "switch_levels": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "description": "names of the levels between cluster and rack, widest first",
            },
        },
        "required": ["format", "version"],
        "additionalProperties": False,
    }


def _node() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"id": _LABEL, "level": _level()},
        "required": ["id", "level"],
        "additionalProperties": False,
    }


def _level() -> dict[str, Any]:
    words = ", ".join(level for level in LEVELS if level != "machine")
    return {
        "type": "string",
        "minLength": 1,
        "not": {"const": "machine"},
        "description": f"one of {words}, or a name of graph.switch_levels",
    }


def _machine() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "id": _LABEL,
            "level": {"const": "machine"},
            "capacities": {
                "type": "object",
                "additionalProperties": {"type": "number", "minimum": 0, "maximum": LARGEST_AMOUNT},
                "description": "amount of each resource: cpu in cores, memory in GB, any other in your unit",
            },
            "labels": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "free-form labels, e.g. partition, pool or taints",
            },
            "gpu_type": {"type": ["string", "null"], "minLength": 1, "description": "type of its GPUs, e.g. V100"},
        },
        "required": ["id", "level", "capacities"],
        "additionalProperties": False,
    }


def _edge() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "source": _LABEL,
            "target": _LABEL,
            "bandwidth": {
                "type": ["number", "null"],
                "exclusiveMinimum": 0,
                "maximum": LARGEST_AMOUNT,
                "description": "Gb/s; absent or null if unknown",
            },
        },
        "required": ["source", "target"],
        "additionalProperties": False,
    }
