"""Requirements that bind a demand to the tree: GPU types, machine labels, tolerated taints and topology levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Ints
from gangopt.topology import _checks
from gangopt.topology._checks import shown
from gangopt.topology._cluster import Cluster
from gangopt.topology._state import State

__all__ = ["ANYWHERE", "Requirement"]

_TAINT = "taint:"
_REPELLING = ("NoSchedule", "NoExecute")


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """Machines and levels of the tree that are allowed for a demand.

    Attributes
    ----------
    gpu_types : tuple of str
        Allowed GPU types; empty for any.
    labels : mapping of str to str
        Labels that a machine must have with these values, e.g. ``{"partition": "a100"}``.
    tolerates : tuple of str
        Keys of taints that are tolerated. A machine with the label ``taint:KEY`` and a value ``VALUE:NoSchedule`` or
        ``VALUE:NoExecute`` is allowed only if KEY is one of them.
    level : str
        Level of which one node must contain the whole demand, e.g. ``rack``; empty for none.
    preferred_level : str
        Level of which one node should contain the whole demand if possible; empty for none.

    Raises
    ------
    InputError
        If a value is not text, or ``labels`` is not a mapping.
    """

    gpu_types: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    tolerates: tuple[str, ...] = ()
    level: str = ""
    preferred_level: str = ""

    def __post_init__(self) -> None:
        for name in ("gpu_types", "tolerates"):
            values = getattr(self, name)
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise InputError(f"{name} must be a list of text (got {shown(values)})")
            checked = tuple(_checks.label(value, f"{name}[{i}]") for i, value in enumerate(values))
            object.__setattr__(self, name, checked)
        if not isinstance(self.labels, Mapping):
            raise InputError(f"labels must be a mapping from text to text (got {shown(self.labels)})")
        for key, value in self.labels.items():
            _checks.label(key, "the key of a label")
            _checks.text(value, f"label {shown(key)}")
        ordered = {key: self.labels[key] for key in sorted(self.labels)}
        object.__setattr__(self, "labels", MappingProxyType(ordered))
        for name in ("level", "preferred_level"):
            _checks.text(getattr(self, name), name)

    def __hash__(self) -> int:
        return hash((self.gpu_types, tuple(self.labels.items()), self.tolerates, self.level, self.preferred_level))

    def __reduce__(self) -> tuple[object, ...]:
        # a mapping proxy cannot be pickled
        fields = (self.gpu_types, dict(self.labels), self.tolerates, self.level, self.preferred_level)
        return _made, fields

    @property
    def is_anywhere(self) -> bool:
        """True if nothing is required or preferred; taints still repel."""
        return not (self.gpu_types or self.labels or self.level or self.preferred_level)

    def check(self, cluster: Cluster, where: str) -> None:
        """Raise InputError if the cluster lacks a type, label or level that is required.

        Parameters
        ----------
        cluster : Cluster
            The cluster.
        where : str
            Name of the demand in messages, e.g. ``job 'j1'``.
        """
        types = sorted({kind for kind in cluster.gpu_types if kind is not None}, key=_checks.natural_key)
        for kind in self.gpu_types:
            if kind not in types:
                raise InputError(
                    f"{where}: unknown GPU type {shown(kind)}; the cluster has {', '.join(types) or 'none'}"
                )
        for key, value in self.labels.items():
            values = sorted({row[key] for row in cluster.machine_labels if key in row}, key=_checks.natural_key)
            if value not in values:
                known = ", ".join(values[:5]) or "no machine with that label"
                raise InputError(f"{where}: no machine has label {key}={value}; the cluster has {known}")
        for name in ("level", "preferred_level"):
            if getattr(self, name):
                cluster.check_level(getattr(self, name), cluster.levels[:-2], f"{where}: {name}")

    def machines(self, cluster: Cluster) -> Bools:
        """Return the mask of machines that types, labels and taints allow, shape (machines,)."""
        types = np.array([not self.gpu_types or kind in self.gpu_types for kind in cluster.gpu_types], dtype=np.bool_)
        if not self.labels and not any(cluster.machine_labels):
            return types
        return types & np.array([self._allows(row) for row in cluster.machine_labels], dtype=np.bool_)

    def _allows(self, labels: Mapping[str, str]) -> bool:
        if any(labels.get(key) != value for key, value in self.labels.items()):
            return False
        repelling = (key for key, value in labels.items() if key.startswith(_TAINT) and _effect(value) in _REPELLING)
        return all(key.removeprefix(_TAINT) in self.tolerates for key in repelling)

    def domain(self, cluster: Cluster) -> Ints:
        """Return the index of the node of the required level that contains each machine; all 0 without a level."""
        return cluster.machine_domain(self.level or "cluster")

    def obstacle(self, state: State, gpus: int) -> str | None:
        """Return the rule that keeps a number of GPUs from fitting on the free GPUs, or None if it fits.

        Parameters
        ----------
        state : State
            The state; GPUs are counted as whole free ones.
        gpus : int
            GPUs of the demand.

        Returns
        -------
        str or None
            E.g. ``16 GPUs inside one rack: at most 12 are free (r3)``. The rules are tried in the order: GPUs of the
            cluster, types, labels and taints, free GPUs, level; the first that binds is named.
        """
        cluster = state.cluster
        allowed = self.machines(cluster)
        kinds = Requirement(gpu_types=self.gpu_types, tolerates=_taints(cluster)).machines(cluster)
        names = " or ".join(self.gpu_types)
        labels = ", ".join(f"{key}={value}" for key, value in self.labels.items())
        capacity, free = cluster.gpus_per_machine, state.free_gpus_per_machine
        for mask, values, rule in (
            (np.ones_like(kinds), capacity, "the cluster has"),
            (kinds, capacity, f"GPU type {names}: the cluster has" if names else "the cluster has"),
            (allowed, capacity, f"label {labels}: the machines have" if labels else "tolerated machines have"),
            (np.ones_like(kinds), free, "free GPUs of the cluster are"),
            (allowed, free, "free GPUs on allowed machines are"),
        ):
            total = int(values[mask].sum())
            if total < gpus:
                return f"{gpus} GPUs: {rule} {total}"
        totals = np.bincount(self.domain(cluster), np.where(allowed, free, 0)).astype(np.int64)
        most = int(np.argmax(totals))
        if totals[most] < gpus:
            node = cluster.nodes(self.level)[most]
            return f"{gpus} GPUs inside one {self.level}: at most {totals[most]} are free ({node})"
        return None


def _effect(value: str) -> str:
    return value.rpartition(":")[2]


def _taints(cluster: Cluster) -> tuple[str, ...]:
    keys = {key for row in cluster.machine_labels for key in row if key.startswith(_TAINT)}
    return tuple(sorted(key.removeprefix(_TAINT) for key in keys))


def _made(
    gpu_types: tuple[str, ...], labels: dict[str, str], tolerates: tuple[str, ...], level: str, preferred_level: str
) -> Requirement:
    return Requirement(
        gpu_types=gpu_types, labels=labels, tolerates=tolerates, level=level, preferred_level=preferred_level
    )


ANYWHERE = Requirement()
"""No requirement; taints still repel."""
