"""Locality of a set of GPUs, and the slowdown by locality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.errors import InputError
from gangopt.topology import _checks
from gangopt.topology._cluster import Cluster

__all__ = ["LOCALITIES", "PRIORS", "Slowdown", "SlowdownTable", "locality"]

LOCALITIES = ("slot", "machine", "rack", "cluster")
"""The localities, narrowest first; each is the level of the node that contains the whole set."""


def locality(cluster: Cluster, gpus: Iterable[int | str]) -> str:
    """Return the narrowest level at which a single node contains all of the GPUs.

    ``slot`` is within one slot, ``machine`` across slots of one machine, ``rack`` across machines of one rack
    (cross-machine), ``cluster`` across racks (cross-rack). One GPU alone is ``slot``.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    gpus : iterable of int or str
        GPU indices or labels in any order; repetitions do not matter.

    Raises
    ------
    InputError
        If the set is empty, or a GPU is not in the cluster.
    """
    ids = cluster.gpu_ids(gpus)
    if not len(ids):
        raise InputError("the set of GPUs must not be empty")
    for level, node_of in (("slot", cluster.gpu_slot), ("machine", cluster.gpu_machine), ("rack", cluster.gpu_rack)):
        nodes = node_of[ids]
        if np.all(nodes == nodes[0]):
            return level
    return "cluster"


@dataclass(frozen=True)
class Slowdown:
    """The slowdown S of a job by locality: step time at a locality divided by the undisturbed step time.

    A slowdown of 1 is no loss, 1.3 makes steps 30 % longer. The defaults are the priors of THEMIS.

    Attributes
    ----------
    slot, machine, rack, cluster : float
        S at each locality, finite and above 0. Measured values may be below 1 (some models run faster when spread)
        and need not increase with the locality; see `is_monotone`.

    Raises
    ------
    InputError
        If a value is not a finite number above 0.

    References
    ----------
    THEMIS (NSDI 2020), footnote 3: same machine 1, cross-machine 1.1, cross-rack 1.3.
    """

    slot: float = 1.0
    machine: float = 1.0
    rack: float = 1.1
    cluster: float = 1.3

    def __post_init__(self) -> None:
        for level in LOCALITIES:
            value = _checks.amount(getattr(self, level), f"slowdown at locality {level}", positive=True)
            object.__setattr__(self, level, value)

    @property
    def is_monotone(self) -> bool:
        """True if S never decreases from a locality to the next wider one, as some formulations require."""
        return self.slot <= self.machine <= self.rack <= self.cluster

    def at(self, level: str) -> float:
        """Return S at a locality of `LOCALITIES`, or raise InputError."""
        if level not in LOCALITIES:
            raise unknown("locality", str(level), list(LOCALITIES))
        return float(getattr(self, level))

    def of(self, cluster: Cluster, gpus: Iterable[int | str]) -> float:
        """Return S of a set of GPUs; raises as `locality` does."""
        return self.at(locality(cluster, gpus))

    def measured(self, values: Mapping[str, float]) -> Slowdown:
        """Return a copy of this slowdown with measured values at the given localities.

        Raises
        ------
        InputError
            If a locality is unknown, or a value is not a finite number above 0.
        """
        if not isinstance(values, Mapping):
            raise InputError(f"measured slowdowns must be a mapping from locality (got {_checks.shown(values)})")
        for level in values:
            if level not in LOCALITIES:
                raise unknown("locality", str(level), list(LOCALITIES))
        return replace(self, **dict(values))


PRIORS = Slowdown()
"""THEMIS's priors: slot and machine 1, across machines 1.1, across racks 1.3."""


@dataclass(frozen=True)
class SlowdownTable:
    """Measured slowdowns of several models.

    Attributes
    ----------
    models : mapping of str to Slowdown or mapping of str to float, optional
        Slowdown of each model, or measured values by locality that replace those of ``default`` (of `PRIORS` if that
        is None).
    default : Slowdown, optional
        Slowdown of the models that are not in the table; None makes them an error.

    Raises
    ------
    InputError
        If the name of a model is not text, or a value is out of range.
    """

    models: Mapping[str, Slowdown | Mapping[str, float]] = field(default_factory=dict)
    default: Slowdown | None = PRIORS

    def __post_init__(self) -> None:
        if not isinstance(self.models, Mapping):
            raise InputError(f"models must be a mapping from model to slowdown (got {_checks.shown(self.models)})")
        if not isinstance(self.default, Slowdown | None):
            raise InputError(f"default must be a Slowdown or None (got {_checks.shown(self.default)})")
        rows: dict[str, Slowdown] = {}
        for model, row in self.models.items():
            _checks.label(model, "a model's name")
            try:
                rows[model] = row if isinstance(row, Slowdown) else (self.default or PRIORS).measured(row)
            except InputError as error:
                raise InputError(f"model {_checks.shown(model)}: {error}") from None
        object.__setattr__(self, "models", rows)

    def of(self, model: str) -> Slowdown:
        """Return the slowdown of a model, or raise InputError if it is unknown and there is no default."""
        row = self.models.get(model, self.default)
        if not isinstance(row, Slowdown):
            raise unknown("model", str(model), sorted(self.models))
        return row
