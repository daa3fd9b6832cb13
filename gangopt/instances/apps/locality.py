"""Slowdown by locality as measured: THEMIS's table 1, and a profile that replaces priors as placements are seen."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gangopt.base.arguments import unknown
from gangopt.base.errors import InputError
from gangopt.topology import LOCALITIES, PRIORS, Slowdown, SlowdownTable

__all__ = ["TABLE1", "LocalityProfile", "measured_slowdown", "monotone", "table1_slowdowns"]

TABLE1: Mapping[str, tuple[float, float]] = {"vgg16": (103.6, 80.4), "inception3": (242.0, 243.0)}
"""Images/s of a model on 4 P100 of one server and on 4 across two servers; THEMIS (NSDI 2020), table 1."""


def measured_slowdown(near: float, far: float) -> float:
    """Return S of a placement from the speeds of the undisturbed job and of the job placed so.

    Parameters
    ----------
    near : float
        Speed on GPUs of one server, in any unit.
    far : float
        Speed on as many GPUs at the locality, in the same unit.

    Returns
    -------
    float
        `near / far`; below 1 if the job ran faster spread out.
    """
    for name, speed in (("near", near), ("far", far)):
        if not 0 < speed < math.inf:
            raise InputError(f"{name}: a speed of {speed:g}, a finite number above 0 is needed")
    return near / far


def table1_slowdowns() -> SlowdownTable:
    """Return the slowdowns of VGG16 and Inception-v3 as THEMIS measured them.

    Across two servers is locality `rack`, as both stand in one: 103.6 / 80.4 = 1.289 for VGG16, 242 / 243 = 0.996 for
    Inception-v3. Across racks nothing was measured, which leaves the prior, 1.3, as do all other models.

    Returns
    -------
    SlowdownTable
        By the names of `gangopt.instances.networks.models`.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, table 1.
    """
    return SlowdownTable({name: {"rack": measured_slowdown(*speeds)} for name, speeds in TABLE1.items()})


def monotone(slowdown: Slowdown) -> Slowdown:
    """Return a slowdown that never falls from a locality to the next wider one: each at least the narrower ones.

    A wider place then promises no more than a narrower one, which an auction over places relies on.

    Parameters
    ----------
    slowdown : Slowdown
        Possibly measured.
    """
    values: dict[str, float] = {}
    least = 0.0
    for level in LOCALITIES:
        least = max(least, slowdown.at(level))
        values[level] = least
    return Slowdown(**values)


class LocalityProfile:
    """The slowdown of a job as its agent learns it: priors, replaced by the mean of what was measured at a locality.

    Parameters
    ----------
    seconds_per_iteration : float
        Time of one iteration on one GPU, s.
    max_gpus : int
        Most GPUs that the job makes use of.
    prior : Slowdown, optional
        Slowdown at localities that have not been seen.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, footnote 3.
    """

    def __init__(self, seconds_per_iteration: float, max_gpus: int, prior: Slowdown = PRIORS) -> None:
        if not 0 < seconds_per_iteration < math.inf:
            raise InputError(f"seconds_per_iteration: {seconds_per_iteration:g}, a finite number above 0 is needed")
        if max_gpus < 1:
            raise InputError(f"max_gpus: {max_gpus}, at least 1 is needed")
        self._serial = seconds_per_iteration
        self._most = max_gpus
        self._prior = prior
        self._seen: dict[str, list[float]] = {}

    def observe(self, level: str, gpus: int, seconds: float) -> None:
        """Note how long an iteration took on an allocation.

        Parameters
        ----------
        level : str
            Narrowest level that held the GPUs.
        gpus : int
            How many there were.
        seconds : float
            Time of one iteration, s.
        """
        if level not in LOCALITIES:
            raise unknown("locality", str(level), list(LOCALITIES))
        if gpus < 1:
            raise InputError(f"gpus: {gpus}, at least 1 is needed")
        if not 0 < seconds < math.inf:
            raise InputError(f"seconds: {seconds:g}, a finite number above 0 is needed")
        self._seen.setdefault(level, []).append(seconds * min(gpus, self._most) / self._serial)

    @property
    def slowdown(self) -> Slowdown:
        """The slowdown as it is known now."""
        return self._prior.measured({level: math.fsum(seen) / len(seen) for level, seen in self._seen.items()})
