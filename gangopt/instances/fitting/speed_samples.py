"""Measured speeds of one job at several numbers of parameter servers and workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gangopt.base import checks
from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Floats, Ints

__all__ = ["MAX_TASKS", "SpeedSamples"]


MAX_TASKS = 1_000_000
SLOWEST, FASTEST = 1e-15, 1e15


@dataclass(frozen=True, eq=False)
class SpeedSamples:
    """Measured speeds by pair (p, w); pairs can be repeated.

    Attributes
    ----------
    parameter_servers : ndarray of int
        Numbers of parameter servers p, at least 1; shape (n,).
    workers : ndarray of int
        Numbers of workers w, at least 1; shape (n,).
    speeds : ndarray of float
        Measured speeds in steps/s, > 0; shape (n,).

    Raises
    ------
    InputError
        If a number is out of range or the lengths differ; the message gives field, index and value.
    """

    parameter_servers: Ints
    workers: Ints
    speeds: Floats

    def __post_init__(self) -> None:
        servers = _counts("parameter_servers", self.parameter_servers)
        workers = _counts("workers", self.workers)
        speeds = checks.vector("speeds", self.speeds, SLOWEST, FASTEST)
        if not servers.shape == workers.shape == speeds.shape or not speeds.size:
            raise InputError(
                "speeds, parameter_servers and workers must have the same length >= 1 "
                f"(got {speeds.size}, {servers.size} and {workers.size})"
            )
        for field, array in (("parameter_servers", servers), ("workers", workers), ("speeds", speeds)):
            array.flags.writeable = False
            object.__setattr__(self, field, array)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Distinct pairs (p, w), ascending."""
        return tuple(sorted(set(zip(self.parameter_servers.tolist(), self.workers.tolist(), strict=True))))

    def where(self, chosen: Bools) -> Self:
        """Return the samples selected by a mask of shape (n,), at least one."""
        return type(self)(self.parameter_servers[chosen], self.workers[chosen], self.speeds[chosen])

    def split(self, share: float, seed: int = 0) -> tuple[Self, Self]:
        """Split the samples at random into those to fit and those held out, by pairs.

        Parameters
        ----------
        share : float
            Share of the distinct pairs to hold out, > 0 and < 1; rounded to an integer number of pairs, at least one.
        seed : int, optional
            Seed of the random generator.

        Returns
        -------
        fitted : SpeedSamples
            Samples to fit; repetitions of a pair are in the same part.
        held_out : SpeedSamples
            The others.
        """
        if not 0 < share < 1:
            raise InputError(f"share must be > 0 and < 1 (got {share:g})")
        pairs = self.pairs
        count = max(1, round(share * len(pairs)))
        if count == len(pairs):
            raise InputError(f"share must leave pairs to fit (got {share:g} of {len(pairs)} pairs)")
        drawn = {pairs[i] for i in np.random.default_rng(seed).permutation(len(pairs))[:count].tolist()}
        own = zip(self.parameter_servers.tolist(), self.workers.tolist(), strict=True)
        out = np.array([pair in drawn for pair in own])
        return self.where(~out), self.where(out)


def _counts(field: str, values: object) -> Ints:
    array = checks.vector(field, values, 1, MAX_TASKS)
    broken = np.flatnonzero(array != np.floor(array))
    if broken.size:
        checks.integer(f"{field}[{broken[0]}]", array[broken[0]], 1, MAX_TASKS)
    return array.astype(np.int64)
