"""Measured slowdowns by locality: THEMIS's table 1, and profiles that replace priors by measurements."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gangopt.base import checks
from gangopt.base.arguments import unknown
from gangopt.topology import LOCALITIES, PRIORS, Slowdown, SlowdownTable

__all__ = ["TABLE1", "LocalityProfile", "measured_slowdown", "monotone", "table1_slowdowns"]

TABLE1: Mapping[str, tuple[float, float]] = {"vgg16": (103.6, 80.4), "inception3": (242.0, 243.0)}
"""Images/s by model on four P100 GPUs of one server and of two servers; THEMIS (NSDI 2020), table 1."""


def measured_slowdown(near: float, far: float) -> float:
    """Return the slowdown S of a placement from measured speeds.

    Parameters
    ----------
    near : float
        Speed on GPUs of one server, in any unit.
    far : float
        Speed on the same number of GPUs at the locality, in the same unit.

    Returns
    -------
    float
        Ratio `near / far`, which is < 1 if the job is faster at the locality.
    """
    return checks.number("near", near, above=0) / checks.number("far", far, above=0)


def table1_slowdowns() -> SlowdownTable:
    """Return the slowdowns of VGG16 and Inception-v3 measured in THEMIS.

    Two servers have the locality `rack`, since both are in one: 103.6 / 80.4 = 1.289 for VGG16, 242 / 243 = 0.996 for
    Inception-v3. Across racks, and for other models, the prior of 1.3 remains.

    Returns
    -------
    SlowdownTable
        Slowdowns by name in `gangopt.instances.networks.models`.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, table 1.
    """
    return SlowdownTable({name: {"rack": measured_slowdown(*speeds)} for name, speeds in TABLE1.items()})


def monotone(slowdown: Slowdown) -> Slowdown:
    """Return a slowdown that does not decrease from a locality to the next wider one.

    Auctions over places require that wider places are not better than narrower ones.

    Parameters
    ----------
    slowdown : Slowdown
        Slowdown, e.g. a measured one.
    """
    values: dict[str, float] = {}
    least = 0.0
    for level in LOCALITIES:
        least = max(least, slowdown.at(level))
        values[level] = least
    return Slowdown(**values)


class LocalityProfile:
    """Slowdown of a job as learnt by its agent: priors, replaced by the mean of measurements at a locality.

    Parameters
    ----------
    seconds_per_iteration : float
        Time of one iteration on one GPU in s.
    max_gpus : int
        Largest number of GPUs that the job can use.
    prior : Slowdown, optional
        Slowdown at localities without measurements.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, footnote 3.
    """

    def __init__(self, seconds_per_iteration: float, max_gpus: int, prior: Slowdown = PRIORS) -> None:
        self._serial = checks.number("seconds_per_iteration", seconds_per_iteration, above=0, unit="s")
        self._most = checks.integer("max_gpus", max_gpus, 1)
        self._prior = prior
        self._seen: dict[str, list[float]] = {}

    def observe(self, level: str, gpus: int, seconds: float) -> None:
        """Record the time of an iteration on an allocation.

        Parameters
        ----------
        level : str
            Narrowest topology level that contained the GPUs.
        gpus : int
            Number of GPUs.
        seconds : float
            Time of one iteration in s.
        """
        if level not in LOCALITIES:
            raise unknown("locality", str(level), list(LOCALITIES))
        checks.integer("gpus", gpus, 1)
        checks.number("seconds", seconds, above=0, unit="s")
        self._seen.setdefault(level, []).append(seconds * min(gpus, self._most) / self._serial)

    @property
    def slowdown(self) -> Slowdown:
        """Current slowdown."""
        return self._prior.measured({level: math.fsum(seen) / len(seen) for level, seen in self._seen.items()})
