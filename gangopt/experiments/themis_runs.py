"""Workloads and runs that the experiments on THEMIS's rounds share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InputError
from gangopt.instances.finish_time import jain
from gangopt.solvers.themis.rounds import Rounds, RoundSettings, run_rounds
from gangopt.solvers.themis.rounds_apps import SingleJobApp
from gangopt.topology import PRIORS, Slowdown, named_cluster

__all__ = ["DEMANDS", "Workload", "measures", "run"]

DEMANDS = (32, 64, 128, 256)
"""Most GPUs that an app makes use of, each as likely."""

FLAT = Slowdown(1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Workload:
    """Single-job apps that arrive at random on a named cluster.

    Attributes
    ----------
    cluster : str
        Named cluster.
    apps : int
        Number of apps.
    gap : float
        Mean minutes between arrivals, exponential.
    hours : float
        Median GPU-hours of an app; its logarithm is normal.
    spread : float
        Standard deviation of that logarithm.
    intensive : float
        Share of apps with THEMIS's prior slowdowns; the rest is insensitive to placement.
    restart : float
        Seconds without progress whenever the GPUs of an app change.
    """

    cluster: str = "themis-simulator"
    apps: int = 12
    gap: float = 10.0
    hours: float = 40.0
    spread: float = 1.0
    intensive: float = 0.5
    restart: float = 42.5

    def __post_init__(self) -> None:
        named_cluster(self.cluster)
        if not (isinstance(self.apps, int) and 1 <= self.apps <= 200):
            raise InputError(f"apps: {self.apps}, a whole number from 1 to 200 is needed")
        for field, low, high in (
            ("gap", 0.0, 1e6),
            ("hours", 1e-6, 1e6),
            ("spread", 0.0, 5.0),
            ("intensive", 0.0, 1.0),
            ("restart", 0.0, 1e6),
        ):
            value = getattr(self, field)
            if not low <= value <= high:
                raise InputError(f"{field}: {value}, a number from {low:g} to {high:g} is needed")

    def draw(self, seed: int, error: float = 0.0) -> list[SingleJobApp]:
        """Return the apps of a seed, whose agents may be wrong.

        Parameters
        ----------
        seed : int
            Of the workload and of the errors.
        error : float, optional
            X as a share; each app over- or underestimates its work, and what is above 1 of its slowdowns, by shares
            drawn uniformly from -X to X.
        """
        generator, wrong = np.random.default_rng(seed), np.random.default_rng([seed, 1])
        arrivals = 60.0 * np.cumsum(generator.exponential(self.gap, self.apps))
        arrivals -= arrivals[0]
        work = 3600.0 * self.hours * np.exp(self.spread * generator.standard_normal(self.apps))
        demands = generator.choice(DEMANDS, self.apps)
        sensitive = generator.random(self.apps) < self.intensive
        errors = wrong.uniform(-1.0, 1.0, (self.apps, 2)) * error
        return [
            SingleJobApp(
                f"app{i}",
                float(arrivals[i]),
                float(work[i]),
                int(demands[i]),
                slowdown=PRIORS if sensitive[i] else FLAT,
                told_slowdown=_wrong(PRIORS if sensitive[i] else FLAT, float(errors[i, 1])),
                work_error=1.0 + float(errors[i, 0]),
                restart=self.restart,
            )
            for i in range(self.apps)
        ]


def _wrong(true: Slowdown, error: float) -> Slowdown:
    """Return slowdowns whose excess over 1 is wrong by a share, so that they still never fall with the width."""
    return Slowdown(*(1.0 + (true.at(level) - 1.0) * (1.0 + error) for level in ("slot", "machine", "rack", "cluster")))


def run(workload: Workload, settings: RoundSettings, seed: int, error: float = 0.0) -> Rounds:
    """Run the rounds of one drawn workload to completion."""
    return run_rounds(workload.draw(seed, error), named_cluster(workload.cluster), settings, seed=seed)


def measures(runs: Sequence[Rounds], workload: Workload, seeds: Sequence[int]) -> Mapping[str, float]:
    """Return means over runs: the largest rho, Jain's index of rho, completion time, GPU time and rounds.

    Parameters
    ----------
    runs : sequence of Rounds
        One for each seed.
    workload : Workload
        What was run.
    seeds : sequence of int
        Of the runs.

    Returns
    -------
    mapping
        `max rho`, `mean rho`, `jain`, `mean JCT` in hours, `GPU time` in hours, `rounds`.
    """
    found: dict[str, list[float]] = {}
    for result, seed in zip(runs, seeds, strict=True):
        rho = list(result.rho.values())
        arrival = {app.label: app.arrival for app in workload.draw(seed)}
        jct = [(end - arrival[label]) / 3600.0 for label, end in result.ends.items()]
        row = {
            "max rho": max(rho),
            "mean rho": math.fsum(rho) / len(rho),
            "jain": jain(rho),
            "mean JCT": math.fsum(jct) / len(jct),
            "GPU time": result.gpu_seconds / 3600.0,
            "rounds": float(len(result.rounds)),
        }
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return {name: math.fsum(values) / len(values) for name, values in found.items()}
