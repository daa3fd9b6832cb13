"""Locality of a set of GPUs, and the slowdown that it costs."""

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
"""The localities, narrowest first; each is the level of the node that holds the whole set."""


def locality(cluster: Cluster, gpus: Iterable[int | str]) -> str:
    """Return the narrowest level of which a single node holds all of the GPUs.

    ``slot`` is within one slot, ``machine`` across slots of one machine, ``rack`` across machines of one rack
    (cross-machine), ``cluster`` across racks (cross-rack). One GPU alone is ``slot``.

    Parameters
    ----------
    cluster : Cluster
        Cluster.
    gpus : iterable of int or str
        GPU indices or labels; the order does not matter, nor that one comes twice.

    Raises
    ------
    InputError
        The set is empty, or a GPU is not of the cluster.
    """
    ids = cluster.gpu_ids(gpus)
    if not len(ids):
        raise InputError("the set of GPUs is empty; locality needs at least one GPU")
    for level, node_of in (("slot", cluster.gpu_slot), ("machine", cluster.gpu_machine), ("rack", cluster.gpu_rack)):
        nodes = node_of[ids]
        if np.all(nodes == nodes[0]):
            return level
    return "cluster"


@dataclass(frozen=True)
class Slowdown:
    """The slowdown S of a job by locality: step time at a locality over the undisturbed step time.

    S multiplies the time of a step: 1 is no loss, 1.3 is 30 % longer. The defaults are the priors of THEMIS.

    Attributes
    ----------
    slot, machine, rack, cluster : float
        S at each locality, finite and above 0. Measured values may be below 1 (some models ran faster spread
        out) and need not grow with the locality; see `is_monotone`.

    Raises
    ------
    InputError
        A value is not a finite number above 0.

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
        """Whether S never falls from a locality to the next wider one, which some formulations need."""
        return self.slot <= self.machine <= self.rack <= self.cluster

    def at(self, level: str) -> float:
        """Return S at a locality; InputError if ``level`` is none of `LOCALITIES`."""
        if level not in LOCALITIES:
            raise unknown("locality", str(level), list(LOCALITIES))
        return float(getattr(self, level))

    def of(self, cluster: Cluster, gpus: Iterable[int | str]) -> float:
        """Return S(G) of a set of GPUs; see `locality` for what it raises."""
        return self.at(locality(cluster, gpus))

    def measured(self, values: Mapping[str, float]) -> Slowdown:
        """Return this slowdown with measured values in place of its own at the localities they name.

        Raises
        ------
        InputError
            A locality is unknown, or a value is not a finite number above 0.
        """
        if not isinstance(values, Mapping):
            raise InputError(f"measured slowdowns are {_checks.shown(values)}; they must be a mapping from locality")
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
        For each model its slowdown, or measured values by
        locality that replace those of ``default`` (those of `PRIORS` if that is None).
    default : Slowdown, optional
        For the models that are not in the table; None makes them an error.

    Raises
    ------
    InputError
        A model's name is not text, or its values are not in range.
    """

    models: Mapping[str, Slowdown | Mapping[str, float]] = field(default_factory=dict)
    default: Slowdown | None = PRIORS

    def __post_init__(self) -> None:
        if not isinstance(self.models, Mapping):
            raise InputError(f"models are {_checks.shown(self.models)}; they must be a mapping from model to slowdown")
        if not isinstance(self.default, Slowdown | None):
            raise InputError(f"default is {_checks.shown(self.default)}; it must be a Slowdown or None")
        rows: dict[str, Slowdown] = {}
        for model, row in self.models.items():
            _checks.label(model, "a model's name")
            try:
                rows[model] = row if isinstance(row, Slowdown) else (self.default or PRIORS).measured(row)
            except InputError as error:
                raise InputError(f"model {_checks.shown(model)}: {error}") from None
        object.__setattr__(self, "models", rows)

    def of(self, model: str) -> Slowdown:
        """Return the slowdown of a model; InputError with near matches if it is unknown and there is no default."""
        row = self.models.get(model, self.default)
        if not isinstance(row, Slowdown):
            raise unknown("model", str(model), sorted(self.models))
        return row
