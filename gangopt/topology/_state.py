"""The state of a cluster: who holds what on it, and which machines are unavailable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NoReturn

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.presented import Presented
from gangopt.base.types import Bools, Floats, Ints
from gangopt.topology import _checks
from gangopt.topology._checks import shown
from gangopt.topology._cluster import Cluster
from gangopt.topology._counts import FreeGpus
from gangopt.topology._requests import (
    PER_UNIT,
    Amounts,
    Shares,
    amount_rows,
    distinct_gpus,
    millionths,
    share_parts,
)

__all__ = ["State"]


class State(Presented):
    """Holdings of the owners on a cluster, and its unavailable machines.

    GPUs are held individually, whole or in shares; other resources by amount on a machine. An owner is any non-empty
    text, e.g. the label of a job. Every call checks its whole request first and changes nothing if it raises.

    Parameters
    ----------
    cluster : Cluster
        The cluster, all of it free and available at first.

    Notes
    -----
    A machine that is down or drained has nothing free; what is held on it stays held until it is released. A GPU of
    which any share is held is not free as a whole. `copy` copies arrays of one entry per GPU and machine, and the
    dictionaries of holdings.
    """

    report = "gangopt.reporting.tree:state_text"
    picture = "gangopt.reporting.tree:tree_picture"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._owner = np.full(len(cluster.gpus), None, dtype=object)
        self._counts = FreeGpus(cluster)
        self._gpus: dict[str, tuple[int, ...]] = {}
        self._shares: dict[int, dict[str, int]] = {}
        self._held: dict[int, dict[str, dict[int, int]]] = {}
        self._unavailable: dict[int, str] = {}
        self._read_only = False

    @property
    def cluster(self) -> Cluster:
        """The cluster whose resources these are."""
        return self._cluster

    def copy(self) -> State:
        """Return an independent copy that can be changed."""
        twin = object.__new__(State)
        twin.__dict__.update(self.__dict__)
        twin._owner = self._owner.copy()
        twin._counts = self._counts.copy()
        # inner dictionaries are replaced at each change and never altered, so both may hold them
        for name in ("_gpus", "_shares", "_held", "_unavailable"):
            setattr(twin, name, getattr(self, name).copy())
        twin._read_only = False
        return twin

    def frozen(self) -> State:
        """Return a copy that cannot be changed, as instances hold it."""
        if self._read_only:
            return self
        twin = self.copy()
        twin._read_only = True
        return twin

    @property
    def unavailable(self) -> Mapping[str, str]:
        """Reason by label of each machine that is down or drained, in machine order."""
        names = self._cluster.machines
        return MappingProxyType({names[machine]: self._unavailable[machine] for machine in sorted(self._unavailable)})

    @property
    def machine_is_available(self) -> Bools:
        """Mask of the machines that are neither down nor drained, shape (machines,)."""
        mask = np.ones(len(self._cluster.machines), dtype=np.bool_)
        mask[list(self._unavailable)] = False
        return mask

    def close(self, machine: int | str, reason: str = "drained") -> None:
        """Mark a machine as unavailable, e.g. down or drained; what is held on it stays held."""
        self._check_writable()
        self._unavailable[self._cluster.machine_id(machine)] = _checks.label(reason, "the reason")

    def open(self, machine: int | str) -> None:
        """Mark a machine as available."""
        self._check_writable()
        self._unavailable.pop(self._cluster.machine_id(machine), None)

    @property
    def gpu_is_free(self) -> Bools:
        """Mask of the GPUs that are free as a whole, on available machines, shape (gpus,)."""
        free = np.array([owner is None for owner in self._owner], dtype=np.bool_)
        free[list(self._shares)] = False
        return free & self.machine_is_available[self._cluster.gpu_machine]

    @property
    def free_gpus_per_machine(self) -> Ints:
        """Number of GPUs that are free as a whole in each machine, shape (machines,); 0 if it is unavailable."""
        free = self._counts.free.copy()
        free[list(self._unavailable)] = 0
        return free

    @property
    def free_capacities(self) -> Floats:
        """Free amount of each resource in each machine, shape (machines, resources); 0 if it is unavailable."""
        free: Floats = np.array(self._cluster.capacities)
        for machine, owners in self._held.items():
            for k in {k for row in owners.values() for k in row}:
                free[machine, k] = self._free_millionths(machine, k) / PER_UNIT
        free[:, self._cluster.resources.index("gpu")] = self._counts.free
        free[list(self._unavailable)] = 0.0
        return free

    @property
    def gpu_owners(self) -> tuple[str | None, ...]:
        """Owner of each whole GPU in index order; None if it is free or held in shares."""
        return tuple(self._owner)

    @property
    def owners(self) -> tuple[str, ...]:
        """Owners of a GPU, a share or an amount, in label order with digits compared by value."""
        holders = set(self._gpus).union(*self._held.values(), *self._shares.values())
        return tuple(sorted(holders, key=_checks.natural_key))

    def free_gpus(self, machine: int | str) -> tuple[int, ...]:
        """Return the indices of the free GPUs of a machine given by index or label; none if it is unavailable."""
        m = self._cluster.machine_id(machine)
        if m in self._unavailable:
            return ()
        gpus = self._cluster.machine_gpus(m)
        return tuple(gpu for gpu in gpus if self._owner[gpu] is None and gpu not in self._shares)

    def gpus_of(self, owner: str) -> tuple[int, ...]:
        """Return the indices of the whole GPUs that an owner holds, ascending; empty if there is none."""
        return self._gpus.get(owner, ())

    def shares_of(self, owner: str) -> dict[int, float]:
        """Return the shares of GPUs that an owner holds, by GPU index."""
        return self.shares_by_owner().get(owner, {})

    def shares_by_owner(self) -> dict[str, dict[int, float]]:
        """Return the shares of GPUs that every owner of some holds, by GPU index."""
        found: dict[str, dict[int, float]] = {}
        for gpu, rows in sorted(self._shares.items()):
            for owner, share in rows.items():
                found.setdefault(owner, {})[gpu] = share / PER_UNIT
        return found

    def amounts_of(self, owner: str) -> dict[int, dict[str, float]]:
        """Return the amounts other than GPUs that an owner holds, by machine index and resource name."""
        return self.amounts_by_owner().get(owner, {})

    def amounts_by_owner(self) -> dict[str, dict[int, dict[str, float]]]:
        """Return the amounts other than GPUs that every owner of some holds, by machine index and resource name."""
        names = self._cluster.resources
        found: dict[str, dict[int, dict[str, float]]] = {}
        for machine, held in sorted(self._held.items()):
            for owner, row in held.items():
                amounts = {names[k]: value / PER_UNIT for k, value in sorted(row.items())}
                found.setdefault(owner, {})[machine] = amounts
        return found

    def allocate(
        self,
        owner: str,
        gpus: Iterable[int | str] = (),
        amounts: Amounts | None = None,
        shares: Shares | None = None,
    ) -> None:
        """Allocate GPUs, amounts and shares of GPUs to an owner, in addition to its holdings.

        Parameters
        ----------
        owner : str
            Non-empty text.
        gpus : iterable of int or str
            Distinct indices or labels of free GPUs.
        amounts : Amounts or None, optional
            Amount by machine (index or label) and resource, in the unit of the cluster's capacities, at least 0; GPUs
            are not allocated by amount.
        shares : mapping of int or str to float, optional
            Fraction of a GPU, above 0 and at most 1, that is neither held as a whole nor shared by more than the rest.

        Raises
        ------
        InputError
            If a GPU, machine or resource is unknown, a GPU is repeated or held, a machine is unavailable, or an amount
            or share is out of range or larger than what is free.
        """
        _checks.label(owner, "the owner")
        self._check_writable()
        ids = distinct_gpus(self._cluster, gpus)
        for gpu in ids:
            self._check_free(gpu, owner)
        rows = amount_rows(self._cluster, amounts)
        for machine, row in rows.items():
            self._check_open(machine, owner)
            for k, wanted in row.items():
                free = self._free_millionths(machine, k)
                if wanted > free:
                    raise InputError(
                        f"machine {shown(self._cluster.machines[machine])} has {free / PER_UNIT:g} "
                        f"{self._cluster.resources[k]} free, but {shown(owner)} requests {wanted / PER_UNIT:g}"
                    )
        parts = share_parts(self._cluster, shares)
        for gpu, part in parts.items():
            self._check_share(gpu, part, owner, ids)
        self._set_gpus(ids, owner)
        if ids:
            self._gpus[owner] = tuple(sorted((*self.gpus_of(owner), *ids)))
        for machine, row in rows.items():
            self._change(machine, owner, row, 1)
        for gpu, part in parts.items():
            self._set_share(gpu, owner, self._shares.get(gpu, {}).get(owner, 0) + part)

    def release(self, owner: str, gpus: Iterable[int | str] | None = None, amounts: Amounts | None = None) -> None:
        """Release GPUs and amounts of an owner, or all of its holdings if neither is given.

        Parameters
        ----------
        owner : str
            Owner of the resources.
        gpus : iterable of int or str or None, optional
            Distinct indices or labels of GPUs that it holds, whole or in shares.
        amounts : Amounts or None, optional
            Amount by machine (index or label) and resource, at most what it holds there.

        Raises
        ------
        InputError
            If the owner holds nothing, not the GPU, or less than the amount, or a GPU, machine or resource is unknown.
        """
        _checks.label(owner, "the owner")
        self._check_writable()
        if gpus is None and amounts is None:
            self._release_all(owner)
            return
        ids = distinct_gpus(self._cluster, () if gpus is None else gpus)
        for gpu in ids:
            if self._owner[gpu] != owner and owner not in self._shares.get(gpu, {}):
                raise InputError(
                    f"GPU {shown(self._cluster.gpus[gpu])} is {self._holders(gpu)}; {shown(owner)} cannot release it"
                )
        rows = amount_rows(self._cluster, amounts)
        for machine, row in rows.items():
            held = self._held.get(machine, {}).get(owner, {})
            for k, wanted in row.items():
                if wanted > held.get(k, 0):
                    raise InputError(
                        f"{shown(owner)} holds {held.get(k, 0) / PER_UNIT:g} {self._cluster.resources[k]} on machine "
                        f"{shown(self._cluster.machines[machine])}; it cannot release {wanted / PER_UNIT:g}"
                    )
        self._give_up(owner, ids)
        for machine, row in rows.items():
            self._change(machine, owner, row, -1)

    def _release_all(self, owner: str) -> None:
        machines = [machine for machine, held in self._held.items() if owner in held]
        shared = [gpu for gpu, rows in self._shares.items() if owner in rows]
        if not machines and not shared and owner not in self._gpus:
            raise InputError(f"{shown(owner)} holds nothing to release")
        self._give_up(owner, [*self.gpus_of(owner), *shared])
        for machine in machines:
            self._change(machine, owner, self._held[machine][owner], -1)

    def _check_writable(self) -> None:
        if self._read_only:
            _refuse()

    def _check_open(self, machine: int, owner: str) -> None:
        if machine in self._unavailable:
            reason = self._unavailable[machine]
            raise InputError(
                f"machine {shown(self._cluster.machines[machine])} is unavailable ({reason}) "
                f"and cannot be allocated to {shown(owner)}"
            )

    def _check_free(self, gpu: int, owner: str) -> None:
        self._check_open(int(self._cluster.gpu_machine[gpu]), owner)
        if self._owner[gpu] is not None or gpu in self._shares:
            held = f"GPU {shown(self._cluster.gpus[gpu])} is {self._holders(gpu)}"
            raise InputError(f"{held} and cannot be allocated to {shown(owner)}")

    def _check_share(self, gpu: int, part: int, owner: str, taken: list[int]) -> None:
        self._check_open(int(self._cluster.gpu_machine[gpu]), owner)
        left = 0 if self._owner[gpu] is not None or gpu in taken else PER_UNIT - sum(self._shares.get(gpu, {}).values())
        if part > left:
            raise InputError(
                f"GPU {shown(self._cluster.gpus[gpu])} has a share of {left / PER_UNIT:g} free, "
                f"but {shown(owner)} requests {part / PER_UNIT:g}"
            )

    def _holders(self, gpu: int) -> str:
        names = list(self._shares.get(gpu, ())) if self._owner[gpu] is None else [self._owner[gpu]]
        return f"held by {', '.join(shown(name) for name in names)}" if names else "free"

    def _free_millionths(self, machine: int, k: int) -> int:
        used = sum(row.get(k, 0) for row in self._held.get(machine, {}).values())
        return millionths(float(self._cluster.capacities[machine, k])) - used

    def _set_gpus(self, ids: list[int], owner: str | None) -> None:
        for gpu in ids:
            self._owner[gpu] = owner
            self._counts.free[self._cluster.gpu_machine[gpu]] += 1 if owner is None else -1

    def _set_share(self, gpu: int, owner: str, part: int) -> None:
        rows = {name: held for name, held in self._shares.get(gpu, {}).items() if name != owner}
        if part:
            rows[owner] = part
        machine = self._cluster.gpu_machine[gpu]
        self._counts.free[machine] += int(not rows) - int(gpu not in self._shares)
        if rows:
            self._shares[gpu] = rows
        else:
            self._shares.pop(gpu, None)

    def _give_up(self, owner: str, ids: list[int]) -> None:
        whole = [gpu for gpu in ids if self._owner[gpu] == owner]
        self._set_gpus(whole, None)
        left = tuple(gpu for gpu in self.gpus_of(owner) if gpu not in set(whole))
        if left:
            self._gpus[owner] = left
        else:
            self._gpus.pop(owner, None)
        for gpu in ids:
            if gpu in self._shares:
                self._set_share(gpu, owner, 0)

    def _change(self, machine: int, owner: str, row: Mapping[int, int], sign: int) -> None:
        before = self._held.get(machine, {})
        amounts = dict(before.get(owner, {}))
        for k, value in row.items():
            amounts[k] = amounts.get(k, 0) + sign * value
        amounts = {k: value for k, value in amounts.items() if value}
        held = {name: kept for name, kept in before.items() if name != owner} | ({owner: amounts} if amounts else {})
        if held:
            self._held[machine] = held
        else:
            self._held.pop(machine, None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        if not self._read_only:
            raise TypeError("a State that can be changed has no hash; use frozen()")
        return hash((self._cluster, self.gpu_owners, tuple(sorted(self._unavailable.items()))))

    def _content(self) -> tuple[object, ...]:
        return self._cluster, self._gpus, self._shares, self._held, self._unavailable

    def __repr__(self) -> str:
        free = int(self.free_gpus_per_machine.sum())
        closed = f", {len(self._unavailable)} machines unavailable" if self._unavailable else ""
        return f"<State: {free} of {len(self._owner)} GPUs free, {len(self.owners)} owners{closed}>"


def _refuse() -> NoReturn:
    raise TypeError("this state is read-only; use copy() to change it")
