"""Measured speeds of one job at several numbers of parameter servers and workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Floats, Ints

__all__ = ["MAX_TASKS", "SpeedSamples"]


MAX_TASKS = 1_000_000
SLOWEST, FASTEST = 1e-15, 1e15


@dataclass(frozen=True, eq=False)
class SpeedSamples:
    """Speeds by pair (p, w); a pair that was measured repeatedly stands there repeatedly.

    Attributes
    ----------
    parameter_servers : ndarray of int
        P, tasks, 1 or more, shape (n,).
    workers : ndarray of int
        W, tasks, 1 or more, shape (n,).
    speeds : ndarray of float
        Measured speed, steps per second, above 0, shape (n,).

    Raises
    ------
    InputError
        If a number is outside its range or the lengths differ; says field, index and value.
    """

    parameter_servers: Ints
    workers: Ints
    speeds: Floats

    def __post_init__(self) -> None:
        servers = _counts("parameter_servers", self.parameter_servers)
        workers = _counts("workers", self.workers)
        try:
            speeds = np.array(self.speeds, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("speeds: numbers are needed") from None
        if not servers.shape == workers.shape == speeds.shape or not speeds.size:
            raise InputError(
                f"speeds: {speeds.size} given for {servers.size} and {workers.size} counts; as many of each, "
                "and at least one, are needed"
            )
        broken = np.flatnonzero(~((speeds >= SLOWEST) & (speeds <= FASTEST)))
        if broken.size:
            i = int(broken[0])
            raise InputError(f"speeds[{i}]: {speeds[i]:g} steps/s, {SLOWEST:g} to {FASTEST:g} is allowed")
        for field, array in (("parameter_servers", servers), ("workers", workers), ("speeds", speeds)):
            array.flags.writeable = False
            object.__setattr__(self, field, array)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Distinct pairs (p, w), ascending."""
        return tuple(sorted(set(zip(self.parameter_servers.tolist(), self.workers.tolist(), strict=True))))

    def where(self, chosen: Bools) -> Self:
        """Return the samples at which a mask of shape (n,) is true; at least one has to be."""
        return type(self)(self.parameter_servers[chosen], self.workers[chosen], self.speeds[chosen])

    def split(self, share: float, seed: int = 0) -> tuple[Self, Self]:
        """Return the samples to fit on and those held out: whole pairs, drawn at random.

        Parameters
        ----------
        share : float
            Part of the distinct pairs to hold out, above 0 and below 1; rounded to whole pairs, at least one.
        seed : int, optional
            Of numpy's default generator.

        Returns
        -------
        fitted : SpeedSamples
            Samples to fit on; all repetitions of a pair are on the same side.
        held_out : SpeedSamples
            The others.
        """
        if not 0 < share < 1:
            raise InputError(f"share: {share:g} of the pairs held out, above 0 and below 1 is needed")
        pairs = self.pairs
        count = max(1, round(share * len(pairs)))
        if count == len(pairs):
            raise InputError(f"share: {share:g} of {len(pairs)} pairs held out leaves none to fit")
        drawn = {pairs[i] for i in np.random.default_rng(seed).permutation(len(pairs))[:count].tolist()}
        own = zip(self.parameter_servers.tolist(), self.workers.tolist(), strict=True)
        out = np.array([pair in drawn for pair in own])
        return self.where(~out), self.where(out)


def _counts(field: str, values: object) -> Ints:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{field}: whole numbers are needed") from None
    if array.ndim != 1:
        raise InputError(f"{field}: {array.ndim} dimensions, one is needed")
    broken = np.flatnonzero(~((array >= 1) & (array <= MAX_TASKS) & (array == np.floor(array))))
    if broken.size:
        i = int(broken[0])
        raise InputError(f"{field}[{i}]: {array[i]:g}, a whole number from 1 to {MAX_TASKS:,} is needed")
    return array.astype(np.int64)
