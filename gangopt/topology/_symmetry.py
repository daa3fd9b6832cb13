"""Symmetry classes: which machines, and which racks, a formulation may treat as one kind."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from gangopt.base.errors import InputError
from gangopt.topology._checks import shown
from gangopt.topology._cluster import Cluster
from gangopt.topology._free import FreeState

__all__ = ["Classes", "machine_classes", "rack_classes"]

Classes = tuple[tuple[int, ...], ...]
_ACROSS = ("never", "equivalent", "always")


def machine_classes(
    cluster: Cluster,
    free: FreeState | None = None,
    extra_load: npt.ArrayLike | None = None,
    *,
    across_racks: Literal["never", "equivalent", "always"] = "never",
) -> Classes:
    """Return the classes of interchangeable machines.

    Machines are alike when capacities, GPU type, bandwidth of the edge above, and slot structure are equal
    (the slots as a multiset, each with its bandwidth and its GPUs, these with their bandwidths), and, if given,
    also the free amounts, which GPUs of each slot are free, and the extra load. Who holds a busy GPU does not
    matter. How racks matter is said by ``across_racks``.

    Parameters
    ----------
    cluster : Cluster
        Cluster.
    free : FreeState, optional
        State of the same cluster; without it all resources count as free.
    extra_load : array_like or None, optional
        Array, shape (machines,) or (machines, k), optional Finite numbers that must be equal too, as the traffic on
        each machine.
    across_racks : {"never", "equivalent", "always"}
        ``never``: a class lies in one rack. Machines of a class may be permuted in any way and nothing else
        moves: the safe choice for whatever looks at racks.
        ``equivalent``: also machines of different racks, if the racks are of one class of `rack_classes`.
        For any two machines of a class some symmetry of the whole tree exchanges them, but it moves their racks
        as a whole: the machines of a class are alike one at a time, not independently of each other.
        ``always``: racks are not looked at. Right only where they do not matter to the decision.

    Returns
    -------
    tuple of tuples of int
        Every machine index once; ascending in a class, classes by their least index.

    Raises
    ------
    InputError
        ``free`` is of another cluster, ``extra_load`` has another shape or is not finite, or ``across_racks`` is
        another word.
    """
    if across_racks not in _ACROSS:
        raise InputError(f"across_racks is {shown(across_racks)}; it must be one of {', '.join(_ACROSS)}")
    kinds = _machine_kinds(cluster, free, extra_load)
    if across_racks == "never":
        return _grouped(list(zip(cluster.machine_rack.tolist(), kinds, strict=True)))
    if across_racks == "always":
        return _grouped(kinds)
    rack_kind = _numbered(_rack_keys(cluster, kinds))
    return _grouped([(rack_kind[rack], kind) for rack, kind in zip(cluster.machine_rack, kinds, strict=True)])


def rack_classes(cluster: Cluster, free: FreeState | None = None, extra_load: npt.ArrayLike | None = None) -> Classes:
    """Return the classes of interchangeable racks: equal bandwidth above, and the same number of each kind of machine.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    free : FreeState or None, optional
        As in `machine_classes`.
    extra_load : array_like or None, optional
        As in `machine_classes`.

    Returns
    -------
    tuple of tuples of int
        Every rack index once; ascending in a class, classes by their least index.

    Raises
    ------
    InputError
        As `machine_classes`.
    """
    return _grouped(_rack_keys(cluster, _machine_kinds(cluster, free, extra_load)))


def _machine_kinds(cluster: Cluster, free: FreeState | None, extra_load: npt.ArrayLike | None) -> list[int]:
    """Return a number for each machine, equal where the machines are alike apart from their racks."""
    if free is not None and (not isinstance(free, FreeState) or free.cluster != cluster):
        raise InputError(f"free is {shown(free)}; it must be a FreeState of the cluster whose classes are asked")
    columns = [cluster.capacities, cluster.machine_bandwidth]
    if free is not None:
        columns.append(free.free_capacities)
    if extra_load is not None:
        columns.append(_load(extra_load, len(cluster.machines)))
    numbers = _row_keys(columns)
    slots = _slot_keys(cluster, free)
    keys = []
    for m, gpu_type in enumerate(cluster.gpu_types):
        structure = tuple(sorted(slots[s] for s in cluster.machine_slots(m)))
        keys.append((numbers[m], gpu_type, structure))
    return _numbered(keys)


def _slot_keys(cluster: Cluster, free: FreeState | None) -> list[int]:
    is_free = np.ones(len(cluster.gpus)) if free is None else free.gpu_is_free.astype(np.float64)
    gpu_kind = _numbered(_row_keys([cluster.gpu_bandwidth, is_free]))
    in_slot: list[list[int]] = [[] for _ in cluster.slots]
    for gpu, slot in enumerate(cluster.gpu_slot.tolist()):
        in_slot[slot].append(gpu_kind[gpu])
    own = _row_keys([cluster.slot_bandwidth])
    return _numbered([(own[s], tuple(sorted(kinds))) for s, kinds in enumerate(in_slot)])


def _rack_keys(cluster: Cluster, kinds: list[int]) -> list[Hashable]:
    own = _row_keys([cluster.rack_bandwidth])
    return [
        (own[rack], tuple(sorted(kinds[m] for m in cluster.rack_machines(rack)))) for rack in range(len(cluster.racks))
    ]


def _load(extra_load: npt.ArrayLike, machines: int) -> npt.NDArray[np.float64]:
    try:
        load = np.asarray(extra_load, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"extra_load is {shown(extra_load)}; it must be an array of numbers") from None
    if load.ndim not in (1, 2) or load.shape[0] != machines:
        raise InputError(f"extra_load has shape {load.shape}; it must be ({machines},) or ({machines}, k)")
    bad = np.argwhere(~np.isfinite(load))
    if len(bad):
        index = ", ".join(str(i) for i in bad[0])
        raise InputError(f"extra_load[{index}] is {load[tuple(bad[0])]}; it must be finite")
    return load


def _row_keys(columns: Sequence[npt.NDArray[np.float64]]) -> list[bytes]:
    """Return the bytes of each row; adding 0 makes -0 and 0 equal, and nan (unknown) equals itself."""
    table = np.column_stack(columns) + 0.0
    return [row.tobytes() for row in table]


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    """Replace equal keys by equal numbers, in the order of first appearance."""
    number: dict[Hashable, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]


def _grouped(keys: Sequence[Hashable]) -> Classes:
    members: dict[Hashable, list[int]] = {}
    for i, key in enumerate(keys):
        members.setdefault(key, []).append(i)
    return tuple(tuple(group) for group in members.values())
