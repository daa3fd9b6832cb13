"""Instance, solution and checker of `time_share`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from gangopt.base import checks
from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Floats, Ints

__all__ = ["TimeShareInstance", "TimeShareSolution"]

TOLERANCE = 1e-9
"""Relative tolerance of the limits on sums of shares."""

MAX_GPUS = 1_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class TimeShareInstance(Instance):
    """Jobs that can run on GPUs of several types.

    Attributes
    ----------
    jobs : tuple of str
        Labels of the n jobs.
    gpu_types : tuple of str
        Names of the m GPU types.
    gpus : array
        Number W of GPUs of every type, shape (m,).
    scale : array
        Number of GPUs that every job needs at once, shape (n,).
    throughput : array
        Throughput T in steps/s of every job on every type, shape (n, m). 0 if the job cannot run there.
    usable : array
        Whether a job can run on a type: its throughput is positive and its gang fits, shape (n, m).
    equal_throughput : array
        Throughput in steps/s of every job if its time is spread over the types in proportion to W, shape (n,).
    """

    noun: ClassVar[str] = "time_share"
    name: str
    description: str = ""
    source: str = ""
    jobs: tuple[str, ...]
    gpu_types: tuple[str, ...]
    gpus: Ints
    scale: Ints
    throughput: Floats
    usable: Bools = field(init=False, compare=False)
    equal_throughput: Floats = field(init=False, compare=False)

    def __post_init__(self) -> None:
        n, m = len(self.jobs), len(self.gpu_types)
        if not n or not m:
            raise InputError(f"there must be at least one job and one GPU type (got {n} and {m})")
        values = {
            "jobs": checks.labels("jobs", self.jobs),
            "gpu_types": checks.labels("gpu_types", self.gpu_types),
            "gpus": checks.counts("gpus", self.gpus, (m,), 1, MAX_GPUS),
            "scale": checks.counts("scale", self.scale, (n,), 1, MAX_GPUS),
            "throughput": checks.numbers("throughput", self.throughput, (n, m), smallest=checks.SMALLEST),
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "usable", (self.throughput > 0) & (self.scale[:, None] <= self.gpus))
        idle = np.flatnonzero(~self.usable.any(axis=1))
        if idle.size:
            raise InputError(f"jobs[{idle[0]}]: {self.jobs[idle[0]]} can run on no GPU type")
        object.__setattr__(self, "equal_throughput", self.throughput @ self.gpus / self.gpus.sum())
        self._freeze()

    def ratios(self, shares: Floats) -> Floats:
        """Return the effective throughput of every job relative to its equal share.

        Parameters
        ----------
        shares : array
            Time shares, shape (n, m).

        Returns
        -------
        array
            Shape (n,).
        """
        result: Floats = (shares * self.throughput).sum(axis=1) / self.equal_throughput
        return result

    def check(self, solution: TimeShareSolution) -> list[Violation]:
        """Return the violations of `shape`, `share`, `usable`, `one_time_per_job` and `gpus_of_type`."""
        shares = np.array(solution.shares, dtype=np.float64)
        if shares.shape != self.throughput.shape:
            return [Violation("shape", "shares", shares.size, self.throughput.size, "shares")]
        found = [
            Violation("share", f"job {self.jobs[j]} on {self.gpu_types[t]}", float(shares[j, t]), 0.0)
            for j, t in np.argwhere(shares < 0)
        ]
        found += [
            Violation("usable", f"job {self.jobs[j]} on {self.gpu_types[t]}", float(shares[j, t]), 0.0)
            for j, t in np.argwhere((shares > 0) & ~self.usable)
        ]
        time, used = shares.sum(axis=1), self.scale @ shares
        found += [
            Violation("one_time_per_job", f"job {self.jobs[j]}", float(time[j]), 1.0)
            for j in np.flatnonzero(time > 1 + TOLERANCE)
        ]
        found += [
            Violation("gpus_of_type", self.gpu_types[t], float(used[t]), float(self.gpus[t]), "GPUs")
            for t in np.flatnonzero(used > self.gpus * (1 + TOLERANCE))
        ]
        return found

    def evaluate(self, solution: TimeShareSolution) -> Score:
        """Return the least ratio, with the metrics `mean_ratio` and `gpus_used` (mean number of GPUs in use)."""
        shares = np.array(solution.shares, dtype=np.float64)
        ratios = self.ratios(shares)
        metrics = {"mean_ratio": float(ratios.mean()), "gpus_used": float((self.scale @ shares).sum())}
        return Score(float(ratios.min()), metrics)


@dataclass(frozen=True)
class TimeShareSolution:
    """Time share of every job on every GPU type, in the order of the instance."""

    shares: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, shares: Floats) -> Self:
        """Return the solution with the shares of an array of shape (n, m)."""
        return cls(tuple(tuple(row) for row in shares.tolist()))

    def __post_init__(self) -> None:
        rows = tuple(checks.finite_numbers(f"shares[{j}]", row) for j, row in enumerate(self.shares))
        object.__setattr__(self, "shares", rows)
