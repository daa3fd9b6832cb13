"""Free and held resources of a cluster: a small mutable state beside the immutable cluster."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Floats, Ints
from gangopt.topology import _checks
from gangopt.topology._checks import shown
from gangopt.topology._cluster import Cluster

__all__ = ["FreeState"]

_TOLERANCE = 1e-9
"""Excess over the free amount that is taken as rounding, relative to a machine's capacity."""

Amounts = Mapping[int | str, Mapping[str, float]]


class FreeState:
    """The free and the held resources of a cluster.

    GPUs are held individually, other resources by amount on a machine. An owner is any non-empty text, e.g. the id
    of a job. Every call checks its whole request first and changes nothing if it raises.

    Parameters
    ----------
    cluster : Cluster
        The cluster, all of it free at first.

    Notes
    -----
    `copy` copies two arrays of one entry per GPU, one array of machines x resources, and two dictionaries of holdings.
    Free amounts are computed from the holdings with exact summation, so they do not depend on the order of past
    calls.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._owner = np.full(len(cluster.gpus), None, dtype=object)
        self._is_free = np.ones(len(cluster.gpus), dtype=np.bool_)
        self._gpus: dict[str, tuple[int, ...]] = {}
        self._held: dict[int, dict[str, tuple[float, ...]]] = {}
        self._free = cluster.capacities.copy()
        self._gpu_column = cluster.resources.index("gpu")

    @property
    def cluster(self) -> Cluster:
        """The cluster whose resources these are."""
        return self._cluster

    def copy(self) -> FreeState:
        """Return an independent copy."""
        twin = object.__new__(FreeState)
        twin._cluster = self._cluster
        twin._owner = self._owner.copy()
        twin._is_free = self._is_free.copy()
        twin._gpus = self._gpus.copy()
        # The inner dictionaries are replaced at each change and never altered, so both may hold them.
        twin._held = self._held.copy()
        twin._free = self._free.copy()
        twin._gpu_column = self._gpu_column
        return twin

    @property
    def gpu_is_free(self) -> Bools:
        """Mask of the free GPUs, shape (gpus,), as a copy."""
        return self._is_free.copy()

    @property
    def free_gpus_per_machine(self) -> Ints:
        """Number of free GPUs in each machine, shape (machines,)."""
        return self._free[:, self._gpu_column].astype(np.int64)

    @property
    def free_capacities(self) -> Floats:
        """Free amount of each resource in each machine, shape (machines, resources), as a copy."""
        return self._free.copy()

    @property
    def gpu_owners(self) -> tuple[str | None, ...]:
        """Owner of each GPU in index order; None if free."""
        return tuple(self._owner)

    @property
    def owners(self) -> tuple[str, ...]:
        """Owners of a GPU or an amount, in label order with digits compared by value."""
        holders = set(self._gpus)
        for amounts in self._held.values():
            holders.update(amounts)
        return tuple(sorted(holders, key=_checks.natural_key))

    def free_gpus(self, machine: int | str) -> tuple[int, ...]:
        """Return the indices of the free GPUs of a machine given by index or label."""
        gpus = self._cluster.machine_gpus(self._cluster.machine_id(machine))
        return tuple(gpu for gpu in gpus if self._owner[gpu] is None)

    def gpus_of(self, owner: str) -> tuple[int, ...]:
        """Return the indices of the GPUs that an owner holds, ascending; empty if there is none."""
        return self._gpus.get(owner, ())

    def amounts_of(self, owner: str) -> dict[int, dict[str, float]]:
        """Return the amounts other than GPUs that an owner holds, by machine index and resource name."""
        names = self._cluster.resources
        return {
            machine: {name: value for name, value in zip(names, held[owner], strict=True) if value}
            for machine, held in sorted(self._held.items())
            if owner in held
        }

    def allocate(self, owner: str, gpus: Iterable[int | str] = (), amounts: Amounts | None = None) -> None:
        """Allocate GPUs and amounts to an owner, in addition to its holdings.

        Parameters
        ----------
        owner : str
            Non-empty text.
        gpus : iterable of int or str
            Distinct indices or labels of free GPUs.
        amounts : Amounts or None, optional
            Amount by machine (index or label) and resource, in the unit of the cluster's capacities, at least 0; GPUs
            are not allocated by amount.

        Raises
        ------
        InputError
            If a GPU, machine or resource is unknown, a GPU is repeated or held, or an amount is out of range or larger
            than the free amount.
        """
        _checks.label(owner, "the owner")
        ids = self._distinct(gpus)
        for gpu in ids:
            if self._owner[gpu] is not None:
                held = f"GPU {shown(self._cluster.gpus[gpu])} is held by {shown(self._owner[gpu])}"
                raise InputError(f"{held} and cannot be allocated to {shown(owner)}")
        rows = self._rows(amounts)
        for machine, row in rows.items():
            slack = _TOLERANCE * self._cluster.capacities[machine]
            for k in np.flatnonzero(row > self._free[machine] + slack):
                raise InputError(
                    f"machine {shown(self._cluster.machines[machine])} has {self._free[machine, k]:g} "
                    f"{self._cluster.resources[k]} free, but {shown(owner)} requests {row[k]:g}"
                )
        self._set_gpus(ids, owner)
        if ids:
            self._gpus[owner] = tuple(sorted((*self.gpus_of(owner), *ids)))
        for machine, row in rows.items():
            self._change(machine, owner, row)

    def release(self, owner: str, gpus: Iterable[int | str] | None = None, amounts: Amounts | None = None) -> None:
        """Release GPUs and amounts of an owner, or all of its holdings if neither is given.

        Parameters
        ----------
        owner : str
            Owner of the resources.
        gpus : iterable of int or str or None, optional
            Distinct indices or labels of GPUs that it holds.
        amounts : Amounts or None, optional
            Amount by machine (index or label) and resource, at most what it holds there.

        Raises
        ------
        InputError
            If the owner holds nothing, not the GPU, or less than the amount, or a GPU, machine or resource is unknown.
        """
        _checks.label(owner, "the owner")
        if gpus is None and amounts is None:
            self._release_all(owner)
            return
        ids = self._distinct(() if gpus is None else gpus)
        for gpu in ids:
            if self._owner[gpu] is None or self._owner[gpu] != owner:
                holder = "free" if self._owner[gpu] is None else f"held by {shown(self._owner[gpu])}"
                raise InputError(f"GPU {shown(self._cluster.gpus[gpu])} is {holder}; {shown(owner)} cannot release it")
        rows = self._rows(amounts)
        for machine, row in rows.items():
            held = np.array(self._holding(machine, owner))
            slack = _TOLERANCE * self._cluster.capacities[machine]
            for k in np.flatnonzero(row > held + slack):
                raise InputError(
                    f"{shown(owner)} holds {held[k]:g} {self._cluster.resources[k]} on machine "
                    f"{shown(self._cluster.machines[machine])}; it cannot release {row[k]:g}"
                )
        self._set_gpus(ids, None)
        self._keep(owner, set(self.gpus_of(owner)) - set(ids))
        for machine, row in rows.items():
            self._change(machine, owner, -row)

    def _release_all(self, owner: str) -> None:
        machines = [machine for machine, held in self._held.items() if owner in held]
        if not machines and owner not in self._gpus:
            raise InputError(f"{shown(owner)} holds nothing to release")
        self._set_gpus(self.gpus_of(owner), None)
        self._keep(owner, set())
        for machine in machines:
            self._change(machine, owner, -np.array(self._holding(machine, owner)))

    def _distinct(self, gpus: Iterable[int | str]) -> list[int]:
        ids: list[int] = self._cluster.gpu_ids(gpus).tolist()
        seen: set[int] = set()
        for gpu in ids:
            if gpu in seen:
                raise InputError(f"duplicate GPU {shown(self._cluster.gpus[gpu])}")
            seen.add(gpu)
        return ids

    def _rows(self, amounts: Amounts | None) -> dict[int, Floats]:
        """Return the requested amounts as a vector for each machine."""
        rows: dict[int, Floats] = {}
        if amounts is not None and not isinstance(amounts, Mapping):
            raise InputError(f"amounts must be a mapping from machine to amounts (got {shown(amounts)})")
        for machine, wanted in (amounts or {}).items():
            m = self._cluster.machine_id(machine)
            where = f"machine {shown(self._cluster.machines[m])}"
            if not isinstance(wanted, Mapping):
                raise InputError(f"{where}: amounts must be a mapping from resource (got {shown(wanted)})")
            row = rows.setdefault(m, np.zeros(len(self._cluster.resources)))
            for resource, value in wanted.items():
                if resource == "gpu":
                    raise InputError(f"{where}: GPUs must be given by index or label, not by amount")
                if resource not in self._cluster.resources:
                    known = ", ".join(name for name in self._cluster.resources if name != "gpu") or "none"
                    raise InputError(f"{where}: unknown resource {shown(resource)}; known: {known}")
                k = self._cluster.resources.index(resource)
                row[k] += _checks.amount(value, f"{where}: amount of {shown(resource)}")
        return rows

    def _holding(self, machine: int, owner: str) -> tuple[float, ...]:
        return self._held.get(machine, {}).get(owner, (0.0,) * len(self._cluster.resources))

    def _set_gpus(self, ids: Sequence[int], owner: str | None) -> None:
        if not len(ids):
            return
        self._owner[list(ids)] = owner
        self._is_free[list(ids)] = owner is None
        machines = self._cluster.gpu_machine[list(ids)]
        np.add.at(self._free[:, self._gpu_column], machines, 1.0 if owner is None else -1.0)

    def _keep(self, owner: str, gpus: set[int]) -> None:
        if gpus:
            self._gpus[owner] = tuple(sorted(gpus))
        else:
            self._gpus.pop(owner, None)

    def _change(self, machine: int, owner: str, change: Floats) -> None:
        capacity = self._cluster.capacities[machine]
        amounts = np.array(self._holding(machine, owner)) + change
        amounts[amounts <= _TOLERANCE * capacity] = 0.0
        others = {name: row for name, row in self._held.get(machine, {}).items() if name != owner}
        held = others | ({owner: tuple(amounts.tolist())} if amounts.any() else {})
        if held:
            self._held[machine] = held
        else:
            self._held.pop(machine, None)
        for k in range(len(capacity)):
            if k != self._gpu_column:
                left = capacity[k] - math.fsum(row[k] for row in held.values())
                self._free[machine, k] = max(left, 0.0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FreeState):
            return NotImplemented
        return (self._cluster, self._gpus, self._held) == (other._cluster, other._gpus, other._held)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        free = int(self._free[:, self._gpu_column].sum())
        return f"<FreeState: {free} of {len(self._owner)} GPUs free, {len(self.owners)} owners>"
