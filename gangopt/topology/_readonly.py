"""Networkx graphs with read-only attributes, which `networkx.freeze` does not provide."""

from __future__ import annotations

import copy
from typing import Any, NoReturn

import networkx as nx

__all__ = ["ReadOnlyDict", "frozen"]


class ReadOnlyDict(dict[str, Any]):
    """A read-only dict; copies of it, including those of `copy.deepcopy` and pickle, are plain dicts."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("the graph of a cluster is read-only; use graph.copy() to change it")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def copy(self) -> dict[str, Any]:
        """Return a deep copy that is not read-only."""
        return copy.deepcopy(self)

    def __copy__(self) -> dict[str, Any]:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def frozen(graph: nx.DiGraph) -> nx.DiGraph:
    """Make a graph and the attributes of its nodes, edges and itself read-only.

    Parameters
    ----------
    graph : networkx.DiGraph
        A graph with attributes that are plain values, or dicts of these.

    Returns
    -------
    networkx.DiGraph
        The same object.
    """
    nodes, below, above = graph._node, graph._succ, graph._pred
    for node, data in nodes.items():
        nodes[node] = _frozen(data)
        for child, attributes in below[node].items():
            below[node][child] = above[child][node] = _frozen(attributes)
    graph.graph = _frozen(graph.graph)
    return nx.freeze(graph)


def _frozen(data: dict[str, Any]) -> ReadOnlyDict:
    return ReadOnlyDict({key: _frozen(value) if isinstance(value, dict) else value for key, value in data.items()})
