"""The cluster: an immutable rooted tree of racks, machines, slots and GPUs, with array views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.presented import Presented
from gangopt.base.types import Ints
from gangopt.topology import _checks
from gangopt.topology._groups import MachineGroup, tree_from_groups
from gangopt.topology._tree import LEVELS, ClusterFields, RawTree, cluster_fields

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Cluster"]

_ANNOTATIONS = ("name", "description", "source")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Cluster(Presented, ClusterFields):
    """An immutable rooted tree with the levels cluster, rack, machine, slot and gpu, and any switch levels.

    The constructors `uniform`, `from_groups`, `from_graph` and `from_node_link` check every value. The nodes of a
    level are indexed from 0 by rack, then machine, then slot, each in the order of labels with runs of digits
    compared by value (``m2`` before ``m10``), regardless of the order in which they were given. So the machines
    of a rack, the slots of a machine and the GPUs of a slot are consecutive.

    Attributes
    ----------
    root : str
        Label of the cluster node.
    racks, machines, slots, gpus : tuple of str
        Labels, unique over the whole tree.
    machine_rack, slot_machine, gpu_slot : ndarray of int
        Index of the parent, shape (machines,), (slots,) and (gpus,).
    rack_bandwidth, machine_bandwidth, slot_bandwidth, gpu_bandwidth : ndarray of float
        Bandwidth in Gb/s of the edge from the parent to each node of the level; nan if unknown.
    resources : tuple of str
        Resource names in alphabetical order, including ``gpu``.
    capacities : ndarray of float
        Amount of each resource in each machine, shape (machines, resources), 0 if a machine does not name it:
        ``cpu`` in cores, ``memory`` in GB, ``gpu`` in GPUs, others in the user's unit.
    gpu_types : tuple of str or None
        Type of the GPUs of each machine; None if unknown, or without GPUs.
    machine_labels : tuple of mapping of str to str
        Free-form labels of each machine, e.g. its partition, pool or taints; empty if it has none.
    switch_levels : tuple of str
        Names of the levels between cluster and rack, widest first, e.g. ``("spine", "leaf")``; empty for most.
    switches : tuple of tuple of str
        Labels of the nodes of each switch level.
    switch_parent : tuple of ndarray of int
        Index of the parent of each node of each switch level, in the level above.
    switch_bandwidth : tuple of ndarray of float
        Bandwidth in Gb/s of the edges above the nodes of each switch level; nan if unknown.
    rack_switch : ndarray of int
        Index of the parent of each rack in the lowest switch level, shape (racks,); all 0 without switch levels.
    name, description, source : str
        Name of the cluster, its description, and the origin of the numbers.

    Notes
    -----
    Arrays are read-only. Two clusters are equal if their trees, labels, capacities, GPU types and bandwidths are;
    name, description and source do not count. Equal clusters have equal hashes and equal indices.
    """

    report = "gangopt.topology:render"
    picture = "gangopt.reporting.tree:tree_picture"

    def __post_init__(self) -> None:
        for field_name in _ANNOTATIONS:
            _checks.text(getattr(self, field_name), f"the cluster's {field_name}")
        self._lock()

    @classmethod
    def _from_tree(cls, tree: RawTree, name: str, description: str, source: str) -> Self:
        return cls(**cluster_fields(tree), name=name, description=description, source=source)

    @classmethod
    def uniform(
        cls,
        *,
        racks: int = 1,
        machines_per_rack: int,
        slots_per_machine: int = 1,
        gpus_per_slot: int,
        capacities: Mapping[str, float] | None = None,
        gpu_type: str | None = None,
        bandwidth: float | None = None,
        rack_bandwidth: float | None = None,
        name: str = "",
        description: str = "",
        source: str = "",
    ) -> Self:
        """Return a cluster of equal machines in equal racks.

        Parameters
        ----------
        racks, machines_per_rack, slots_per_machine : int
            Counts, at least 1.
        gpus_per_slot : int
            GPUs in each slot; 0 for CPU-only machines, which have no slots.
        capacities : mapping of str to float, optional
            Amount of each resource in one machine (cpu in cores, memory in GB).
        gpu_type : str, optional
            Type of the GPUs.
        bandwidth, rack_bandwidth : float, optional
            Gb/s from rack to machine, and from cluster to rack; None if unknown.
        name, description, source : str
            Annotations.

        Raises
        ------
        InputError
            If a count, amount or bandwidth is out of range.
        """
        rack_count = _checks.count(racks, "racks", least=1)
        per_rack = _checks.count(machines_per_rack, "machines_per_rack", least=1)
        slots = _checks.count(slots_per_machine, "slots_per_machine", least=1)
        gpus = slots * _checks.count(gpus_per_slot, "gpus_per_slot", least=0)
        group = MachineGroup(
            rack_count * per_rack, gpus, slots, capacities or {}, gpu_type=gpu_type, bandwidth=bandwidth
        )
        tree = tree_from_groups([group], per_rack, rack_bandwidth)
        return cls._from_tree(tree, name, description, source)

    @classmethod
    def from_groups(
        cls,
        groups: Sequence[MachineGroup],
        *,
        machines_per_rack: int | Sequence[int] | None = None,
        rack_bandwidth: float | None = None,
        name: str = "",
        description: str = "",
        source: str = "",
    ) -> Self:
        """Return a cluster of groups of equal machines.

        Parameters
        ----------
        groups : sequence of MachineGroup
            Groups in the order of the machines; machines of one name are numbered from 0.
        machines_per_rack : int or sequence of int, optional
            Number of machines in each rack (the last may have fewer), or the size of every rack; racks are filled in
            the order of the machines. None puts all machines into one rack.
        rack_bandwidth : float, optional
            Gb/s from cluster to rack; None if unknown.
        name, description, source : str
            Annotations.

        Raises
        ------
        InputError
            If an amount or bandwidth is out of range, rack sizes do not sum to the machines, or labels coincide.
        """
        tree = tree_from_groups(groups, machines_per_rack, rack_bandwidth)
        return cls._from_tree(tree, name, description, source)

    @classmethod
    def from_graph(
        cls,
        graph: nx.Graph,
        *,
        level: str = "level",
        capacities: str | Mapping[str, str] = "capacities",
        gpu_type: str = "gpu_type",
        bandwidth: str = "bandwidth",
        labels: str = "labels",
        switch_levels: Sequence[str] | None = None,
        name: str | None = None,
        description: str | None = None,
        source: str | None = None,
    ) -> Self:
        """Return the cluster that a networkx graph describes.

        Parameters
        ----------
        graph : networkx.Graph
            A rooted tree over text labels; integers become text. Edges of a DiGraph go from parent to child; those of
            a Graph have no direction. Every child is one level below its parent, except that GPUs may be children of
            a machine: they then get one slot, labelled ``<machine>.s0``. The graph is copied.
        level : str
            Node attribute with ``cluster``, ``rack``, ``machine``, ``slot`` or ``gpu``, or a name of ``switch_levels``.
        capacities : str or mapping of str to str
            Node attribute of machines that holds a mapping from resource to amount; or a mapping from resource name to
            attribute name, if each resource has its own attribute.
        gpu_type, bandwidth : str
            Node attribute of machines, and edge attribute in Gb/s; both may be absent (unknown).
        labels : str
            Node attribute of machines with a mapping from text to text; absent for none.
        switch_levels : sequence of str, optional
            Names of the levels between cluster and rack, widest first; default: attribute ``switch_levels`` of the
            graph, or none. Every path from the cluster to a rack must then have one node of each.
        name, description, source : str, optional
            Annotations; default: attributes of the graph of these names, or empty.

        Raises
        ------
        InputError
            If the graph is not such a tree, or a value is out of range. Other attributes are ignored.
        """
        from gangopt.topology._graph import Attributes, tree_from_graph

        tree = tree_from_graph(graph, Attributes(level, capacities, gpu_type, bandwidth, labels), switch_levels)
        given = dict(zip(_ANNOTATIONS, (name, description, source), strict=True))
        notes = {key: graph.graph.get(key, "") if value is None else value for key, value in given.items()}
        return cls._from_tree(tree, notes["name"], notes["description"], notes["source"])

    @classmethod
    def from_node_link(cls, data: object) -> Self:
        """Return the cluster that networkx node-link data describe.

        Parameters
        ----------
        data : mapping
            Data of `to_node_link` or networkx's ``node_link_data``, with edges under ``edges`` or ``links``.

        Raises
        ------
        InputError
            If the data are not node-link data of such a tree; see `from_graph`. Unknown fields are rejected if
            ``graph.format`` is ``gangopt-cluster``, and ignored if it is absent.
        """
        from gangopt.topology._nodelink import graph_from_node_link

        return cls.from_graph(graph_from_node_link(data))

    def to_node_link(self, *, edges: str = "edges") -> dict[str, Any]:
        """Return node-link data that `from_node_link` and networkx's ``node_link_graph`` read.

        Parameters
        ----------
        edges : {"edges", "links"}
            Key of the list of edges; older versions of networkx read only ``links``.

        Raises
        ------
        InputError
            If ``edges`` is another word.
        """
        from gangopt.topology._nodelink import node_link_of

        return node_link_of(self, edges)

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The tree as a frozen networkx DiGraph with edges from parent to child, built on first use.

        Nodes have ``level``; machines have ``capacities`` and ``gpu_type``; edges have ``bandwidth`` (Gb/s, None if
        unknown). Attributes are read-only, too; ``graph.copy()`` returns a graph that can be changed.
        """
        from gangopt.topology._graph import graph_of
        from gangopt.topology._readonly import frozen

        return frozen(graph_of(self))

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels of this tree, widest first, switch levels included."""
        return (LEVELS[0], *self.switch_levels, *LEVELS[1:])

    def nodes(self, level: str) -> tuple[str, ...]:
        """Return the labels of the nodes of a level in index order, or raise InputError for an unknown level."""
        if level in self.switch_levels:
            return self.switches[self.switch_levels.index(level)]
        self.check_level(level)
        return (self.root,) if level == LEVELS[0] else getattr(self, f"{level}s")

    def check_level(self, level: object, allowed: Sequence[str] | None = None, where: str = "level") -> str:
        """Return a level that this tree has, or raise InputError that names those allowed."""
        known = self.levels if allowed is None else allowed
        if not isinstance(level, str) or level not in known:
            raise InputError(f"{where} must be one of {', '.join(known)} (got {_checks.shown(level)})")
        return level

    def machine_domain(self, level: str) -> Ints:
        """Return the index of the node of a level that contains each machine, shape (machines,).

        Parameters
        ----------
        level : str
            ``cluster``, a switch level, ``rack`` or ``machine``.

        Raises
        ------
        InputError
            If the level is none of these.
        """
        self.check_level(level, self.levels[:-2])
        if level == "machine":
            return np.arange(len(self.machines), dtype=np.int64)
        domain: Ints = self.machine_rack
        if level == "rack":
            return domain
        domain = self.rack_switch[domain]
        for name, parents in zip(reversed(self.switch_levels), reversed(self.switch_parent), strict=True):
            if name == level:
                return domain
            domain = parents[domain]
        return np.zeros(len(self.machines), dtype=np.int64)

    @cached_property
    def gpu_machine(self) -> Ints:
        """Machine index of each GPU."""
        return _locked(self.slot_machine[self.gpu_slot])

    @cached_property
    def gpu_rack(self) -> Ints:
        """Rack index of each GPU."""
        return _locked(self.machine_rack[self.gpu_machine])

    @cached_property
    def gpus_per_machine(self) -> Ints:
        """Number of GPUs in each machine."""
        return _locked(np.bincount(self.gpu_machine, minlength=len(self.machines)).astype(np.int64))

    @cached_property
    def gpus_per_slot(self) -> Ints:
        """Number of GPUs in each slot."""
        return _locked(np.bincount(self.gpu_slot, minlength=len(self.slots)).astype(np.int64))

    @cached_property
    def machine_index(self) -> Mapping[str, int]:
        """Index of each machine label."""
        return MappingProxyType({label: i for i, label in enumerate(self.machines)})

    @cached_property
    def gpu_index(self) -> Mapping[str, int]:
        """Index of each GPU label."""
        return MappingProxyType({label: i for i, label in enumerate(self.gpus)})

    def rack_machines(self, rack: int) -> range:
        """Return the indices of the machines in the rack with this index."""
        return _children(self.machine_rack, rack, len(self.racks), "rack")

    def machine_slots(self, machine: int) -> range:
        """Return the indices of the slots in the machine with this index."""
        return _children(self.slot_machine, machine, len(self.machines), "machine")

    def slot_gpus(self, slot: int) -> range:
        """Return the indices of the GPUs in the slot with this index."""
        return _children(self.gpu_slot, slot, len(self.slots), "slot")

    def machine_gpus(self, machine: int) -> range:
        """Return the indices of the GPUs in the machine with this index."""
        return _children(self.gpu_machine, machine, len(self.machines), "machine")

    def machine_id(self, machine: int | str) -> int:
        """Return the index of a machine given by index or label, or raise InputError."""
        return _resolve(machine, self.machine_index, "machine")

    def gpu_ids(self, gpus: Iterable[int | str]) -> Ints:
        """Return the indices of GPUs given by index or label, in the given order.

        Raises
        ------
        InputError
            If ``gpus`` is not a collection, or contains a GPU that the cluster does not have.
        """
        if isinstance(gpus, str) or not isinstance(gpus, Iterable):
            raise InputError(f"gpus must be a collection of GPU indices or labels (got {_checks.shown(gpus)})")
        return np.array([_resolve(gpu, self.gpu_index, "GPU") for gpu in gpus], dtype=np.int64)

    @cached_property
    def _content(self) -> tuple[object, ...]:
        values = (getattr(self, item.name) for item in fields(self) if item.name not in _ANNOTATIONS)
        return tuple(_hashable(value) for value in values)

    def __eq__(self, other: object) -> bool:
        return self._content == other._content if isinstance(other, Cluster) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content)

    def __repr__(self) -> str:
        sizes = f"racks={len(self.racks)}, machines={len(self.machines)}, gpus={len(self.gpus)}"
        return f"Cluster(name={self.name!r}, {sizes})"

    def __getstate__(self) -> dict[str, Any]:
        state = {item.name: getattr(self, item.name) for item in fields(self)}
        # a mapping proxy cannot be pickled
        return state | {"machine_labels": tuple(dict(row) for row in self.machine_labels)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        labels = tuple(MappingProxyType(row) for row in state["machine_labels"])
        self.__dict__.update(state | {"machine_labels": labels})
        self._lock()

    def _lock(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            for array in value if isinstance(value, tuple) else (value,):
                if isinstance(array, np.ndarray):
                    _locked(array)


def _hashable(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, Mapping):
        return tuple(value.items())
    return tuple(_hashable(item) for item in value) if isinstance(value, tuple) else value


def _locked(array: Ints) -> Ints:
    array.setflags(write=False)
    return array


def _children(parents: Ints, index: int, size: int, kind: str) -> range:
    if not isinstance(index, int | np.integer) or not 0 <= index < size:
        raise InputError(f"{kind} index must be from 0 to {size - 1} (got {_checks.shown(index)})")
    first, last = np.searchsorted(parents, [index, index + 1])
    return range(int(first), int(last))


def _resolve(node: object, index: Mapping[str, int], kind: str) -> int:
    if isinstance(node, str) and node in index:
        return index[node]
    if isinstance(node, int | np.integer) and not isinstance(node, bool) and 0 <= node < len(index):
        return int(node)
    count = len(index)
    allowed = f"must be an index from 0 to {count - 1} or a label" if count else "the cluster has none"
    raise InputError(f"unknown {kind} {_checks.shown(node)}; {allowed}")
