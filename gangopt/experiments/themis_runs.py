"""Random workloads of THEMIS's rounds, and their measures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gangopt.base.checks import integer, number
from gangopt.instances.finish_time import jain
from gangopt.solvers.themis.rounds import Rounds, RoundSettings, run_rounds
from gangopt.solvers.themis.rounds_apps import SingleJobApp
from gangopt.topology import PRIORS, Slowdown, named_cluster

__all__ = ["DEMANDS", "Workload", "measures", "run"]

DEMANDS = (32, 64, 128, 256)
"""Possible maximum numbers of GPUs of an app, equally likely."""

FLAT = Slowdown(1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Workload:
    """Random arrivals of single-job apps at a named cluster.

    Attributes
    ----------
    cluster : str
        Name of the cluster.
    apps : int
        Number of single-job apps.
    gap : float
        Mean of the exponential time between arrivals, in minutes.
    hours : float
        Median of the log-normal work of an app, in GPU-hours.
    spread : float
        Standard deviation of the logarithm of the work.
    intensive : float
        Share of apps with THEMIS's prior slowdowns; the others are insensitive to placement.
    restart : float
        Delay after every change of an app's GPUs, in s.
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
        integer("apps", self.apps, 1, 200)
        for field, low, high in (
            ("gap", 0.0, 1e6),
            ("hours", 1e-6, 1e6),
            ("spread", 0.0, 5.0),
            ("intensive", 0.0, 1.0),
            ("restart", 0.0, 1e6),
        ):
            number(field, getattr(self, field), low, high)

    def draw(self, seed: int, error: float = 0.0) -> list[SingleJobApp]:
        """Draw the apps of a seed, with estimation errors of their agents.

        Parameters
        ----------
        seed : int
            Random seed of the workload and of the errors.
        error : float, optional
            Largest relative error X. Each app's estimates of its work, and of the excess of its slowdowns over 1, are
            wrong by shares drawn uniformly from -X to X.
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
    """Return slowdowns with a relative error of their excess over 1, which keeps them monotone in the level."""
    return Slowdown(*(1.0 + (true.at(level) - 1.0) * (1.0 + error) for level in ("slot", "machine", "rack", "cluster")))


def run(workload: Workload, settings: RoundSettings, seed: int, error: float = 0.0) -> Rounds:
    """Run the rounds of one random workload to completion."""
    return run_rounds(workload.draw(seed, error), named_cluster(workload.cluster), settings, seed=seed)


def measures(runs: Sequence[Rounds], workload: Workload, seeds: Sequence[int]) -> Mapping[str, float]:
    """Return mean measures of several runs.

    Parameters
    ----------
    runs : sequence of Rounds
        One run per seed.
    workload : Workload
        Workload of the runs.
    seeds : sequence of int
        Seeds of the runs.

    Returns
    -------
    mapping
        `max rho`, `mean rho`, `jain` (of rho), `mean JCT` in hours, `GPU time` in hours, and `rounds`.
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
