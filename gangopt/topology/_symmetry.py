"""Symmetry classes: machines and racks that a formulation may treat as one kind."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from gangopt.base.errors import InputError
from gangopt.base.rows import grouped, row_keys
from gangopt.base.types import Floats
from gangopt.topology._checks import shown
from gangopt.topology._cluster import Cluster
from gangopt.topology._state import State

__all__ = ["Classes", "machine_classes", "rack_classes"]

Classes = tuple[tuple[int, ...], ...]
_ACROSS = ("never", "equivalent", "always")


def machine_classes(
    cluster: Cluster,
    free: State | None = None,
    extra_load: npt.ArrayLike | None = None,
    *,
    across_racks: Literal["never", "equivalent", "always"] = "never",
) -> Classes:
    """Return the classes of interchangeable machines.

    Machines are interchangeable if capacities, GPU type, labels, bandwidth of the edge above, and slot structure are
    equal (the slots as a multiset, each with its bandwidth and its GPUs, and these with their bandwidths), and, if
    given, also the free amounts, the free GPUs of each slot, and the extra load. Owners of busy GPUs do not matter.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    free : State, optional
        State of the same cluster; by default all resources are free.
    extra_load : array_like or None, optional
        Finite numbers that must be equal, too, e.g. the traffic on each machine, shape (machines,) or (machines, k).
    across_racks : {"never", "equivalent", "always"}
        ``never``: a class lies in one rack. Machines of a class may be permuted in any way while nothing else moves;
        this is safe for any problem in which racks matter.
        ``equivalent``: a class may span racks of one class of `rack_classes`. Any two machines of a class are
        exchanged by some symmetry of the whole tree, but it moves their racks as a whole: single machines of a class
        are interchangeable, but not several of them independently of each other.
        ``always``: racks are ignored; valid only for problems in which they do not matter.

    Returns
    -------
    tuple of tuples of int
        Classes that partition the machine indices, each ascending, ordered by their smallest index.

    Raises
    ------
    InputError
        If ``free`` is of another cluster, ``extra_load`` has a wrong shape or is not finite, or ``across_racks`` is
        another word.
    """
    if across_racks not in _ACROSS:
        raise InputError(f"across_racks must be one of {', '.join(_ACROSS)} (got {shown(across_racks)})")
    kinds = _machine_kinds(cluster, free, extra_load)
    if across_racks == "never":
        return grouped(list(zip(cluster.machine_rack.tolist(), kinds, strict=True)))
    if across_racks == "always":
        return grouped(kinds)
    rack_kind = _numbered(_rack_keys(cluster, kinds))
    return grouped([(rack_kind[rack], kind) for rack, kind in zip(cluster.machine_rack, kinds, strict=True)])


def rack_classes(cluster: Cluster, free: State | None = None, extra_load: npt.ArrayLike | None = None) -> Classes:
    """Return the classes of racks under one switch with equal bandwidth above and equal machines.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    free : State or None, optional
        As in `machine_classes`.
    extra_load : array_like or None, optional
        As in `machine_classes`.

    Returns
    -------
    tuple of tuples of int
        Classes that partition the rack indices, each ascending, ordered by their smallest index.

    Raises
    ------
    InputError
        As in `machine_classes`.
    """
    return grouped(_rack_keys(cluster, _machine_kinds(cluster, free, extra_load)))


def _machine_kinds(cluster: Cluster, free: State | None, extra_load: npt.ArrayLike | None) -> list[int]:
    """Return a number for each machine, equal for machines that are interchangeable apart from their racks."""
    if free is not None and (not isinstance(free, State) or free.cluster != cluster):
        raise InputError(f"free must be a State of the same cluster (got {shown(free)})")
    columns = [cluster.capacities, cluster.machine_bandwidth]
    if free is not None:
        columns.append(free.free_capacities)
    if extra_load is not None:
        columns.append(_load(extra_load, len(cluster.machines)))
    numbers = row_keys(columns)
    slots = _slot_keys(cluster, free)
    keys = []
    for m, gpu_type in enumerate(cluster.gpu_types):
        structure = tuple(sorted(slots[s] for s in cluster.machine_slots(m)))
        keys.append((numbers[m], gpu_type, tuple(cluster.machine_labels[m].items()), structure))
    return _numbered(keys)


def _slot_keys(cluster: Cluster, free: State | None) -> list[int]:
    is_free = np.ones(len(cluster.gpus)) if free is None else free.gpu_is_free.astype(np.float64)
    gpu_kind = _numbered(row_keys([cluster.gpu_bandwidth, is_free]))
    in_slot: list[list[int]] = [[] for _ in cluster.slots]
    for gpu, slot in enumerate(cluster.gpu_slot.tolist()):
        in_slot[slot].append(gpu_kind[gpu])
    own = row_keys([cluster.slot_bandwidth])
    return _numbered([(own[s], tuple(sorted(kinds))) for s, kinds in enumerate(in_slot)])


def _rack_keys(cluster: Cluster, kinds: list[int]) -> list[Hashable]:
    own = row_keys([cluster.rack_bandwidth])
    return [
        (int(cluster.rack_switch[rack]), own[rack], tuple(sorted(kinds[m] for m in cluster.rack_machines(rack))))
        for rack in range(len(cluster.racks))
    ]


def _load(extra_load: npt.ArrayLike, machines: int) -> Floats:
    try:
        load = np.asarray(extra_load, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"extra_load must be an array of numbers (got {shown(extra_load)})") from None
    if load.ndim not in (1, 2) or load.shape[0] != machines:
        raise InputError(f"extra_load must have shape ({machines},) or ({machines}, k) (got {load.shape})")
    bad = np.argwhere(~np.isfinite(load))
    if len(bad):
        index = ", ".join(str(i) for i in bad[0])
        raise InputError(f"extra_load[{index}] must be finite (got {load[tuple(bad[0])]})")
    return load


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    """Replace equal keys by equal numbers, in the order of first appearance."""
    number: dict[Hashable, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]
