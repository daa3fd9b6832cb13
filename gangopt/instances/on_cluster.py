"""Base of the instances of place-dependent problems: a cluster and its state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gangopt.base.contract import Instance
from gangopt.base.errors import InputError, shown
from gangopt.base.types import Ints
from gangopt.topology import ANYWHERE, Cluster, Requirement, State, Use, assign, cluster_of_content, load_cluster

__all__ = ["ClusterInstance", "checked_requirements", "cluster_and_state", "cluster_of_machines"]

MOST_GPUS = 2_000_000
"""Most GPUs of listed machines: each becomes a node of the tree."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterInstance(Instance):
    """Base of the instances of place-dependent problems.

    Attributes
    ----------
    cluster : Cluster
        The cluster.
    state : State
        Who holds what on it, read-only; None for a cluster that is wholly free. Solutions use what is free.
    """

    name: str
    description: str = ""
    source: str = ""
    cluster: Cluster
    # None is accepted and replaced at construction, so that readers of this field never meet it
    state: State = None  # type: ignore[assignment]

    def _set_state(self) -> None:
        """Check cluster and state, and replace the state by a read-only copy."""
        if not isinstance(self.cluster, Cluster):
            raise InputError(f"cluster must be a Cluster (got {shown(self.cluster)})")
        state = State(self.cluster) if self.state is None else self.state
        if not isinstance(state, State) or state.cluster != self.cluster:
            raise InputError(f"state must be a State of the same cluster (got {shown(state)})")
        object.__setattr__(self, "state", state.frozen())

    @abstractmethod
    def uses(self, solution: Any) -> tuple[Use, ...]:
        """Return what each owner uses at each node, for `gangopt.topology.assign`.

        Parameters
        ----------
        solution : Solution
            A feasible solution.
        """

    def state_after(self, solution: Any) -> State:
        """Return the state in which what a solution uses is held, too.

        Parameters
        ----------
        solution : Solution
            A feasible solution.

        Raises
        ------
        InputError
            If the solution does not fit; see `gangopt.topology.assign`.
        """
        return assign(self.cluster, self.state, self.uses(solution)).state


def checked_requirements(
    given: Sequence[Requirement] | None, cluster: Cluster, kind: str, owners: Sequence[str]
) -> tuple[Requirement, ...]:
    """Return one requirement for each owner, all of them possible on the cluster.

    Parameters
    ----------
    given : sequence of Requirement or None
        One for each owner; None for anywhere.
    cluster : Cluster
        The cluster.
    kind : str
        Kind of the owners in messages, e.g. ``job``.
    owners : sequence of str
        Labels of the owners.

    Raises
    ------
    InputError
        If the number differs, an entry is no Requirement, or the cluster lacks a type, label or level.
    """
    if given is None:
        return (ANYWHERE,) * len(owners)
    found = tuple(given)
    if len(found) != len(owners):
        raise InputError(f"requirements must have one entry for each of the {len(owners)} {kind}s (got {len(found)})")
    checked: set[Requirement] = set()
    for label, item in zip(owners, found, strict=True):
        if not isinstance(item, Requirement):
            raise InputError(f"{kind} {label!r}: its requirement must be a Requirement (got {shown(item)})")
        if item not in checked:
            item.check(cluster, f"{kind} {label!r}")
            checked.add(item)
    return found


def cluster_and_state(cluster: str | Cluster, state: State | None) -> tuple[Cluster, State]:
    """Return the cluster that a generator has been given by name, path or object, and its state.

    Parameters
    ----------
    cluster : str or Cluster
        Name or path as `load_cluster` takes it, or the cluster itself.
    state : State or None
        State of the same cluster; None if all is free.

    Raises
    ------
    InputError
        If there is no such cluster, or the state is of another one.
    """
    found = cluster if isinstance(cluster, Cluster) else load_cluster(cluster)
    if state is not None and state.cluster != found:
        raise InputError(f"state must be a State of the same cluster (got {shown(state)})")
    return found, State(found) if state is None else state


def cluster_of_machines(
    machines: Sequence[str],
    capacities: Sequence[Mapping[str, float]],
    racks: Sequence[str] | None = None,
) -> tuple[Cluster, Ints]:
    """Return the cluster of listed machines, as files of version 1 describe it.

    Each machine has one slot with its GPUs. The cluster orders machines by rack and label with digits compared by
    value, whatever their order in the list.

    Parameters
    ----------
    machines : sequence of str
        Unique labels.
    capacities : sequence of mapping of str to float
        Amount of each resource by machine; ``gpu`` must be an integer.
    racks : sequence of str or None, optional
        Label of the rack of each machine; None for one rack. Racks that share a label with a machine or the root are
        named ``rack LABEL``.

    Returns
    -------
    tuple of Cluster and ndarray of int
        The cluster, and the index in it of each machine of the list, shape (machines,).

    Raises
    ------
    InputError
        If labels are not unique, or the GPUs of a machine are not an integer.
    """
    taken = set(machines)
    root = "cluster"
    while root in taken:
        root += "'"
    total = sum(row.get("gpu", 0) for row in capacities)
    if total > MOST_GPUS:
        raise InputError(f"the machines must have at most {MOST_GPUS:,} GPUs (got {total:g})")
    rows = []
    for i, (label, row) in enumerate(zip(machines, capacities, strict=True)):
        gpus = row.get("gpu", 0)
        if gpus != int(gpus):
            raise InputError(f"machine {shown(label)}: gpu must be an integer (got {gpus}); rename a shared resource")
        rack = "r0" if racks is None else racks[i]
        while rack in taken or rack == root:
            rack = f"rack {rack}"
        amounts = {name: value for name, value in row.items() if name != "gpu"}
        rows.append({"name": label, "rack": rack, "slots": [int(gpus)] if gpus else [], "capacities": amounts})
    cluster = cluster_of_content({"root": root, "machines": rows})
    return cluster, np.array([cluster.machine_index[label] for label in machines], dtype=np.int64)
