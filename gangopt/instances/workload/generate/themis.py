"""Workloads of THEMIS, with apps for hyper-parameter search that have many jobs of one model each."""

from __future__ import annotations

import numpy as np

from gangopt.base import checks
from gangopt.base.types import Bools, Floats, Ints
from gangopt.instances.workload.generate.arguments import check_count, check_positive, check_share
from gangopt.instances.workload.workload import Workload

__all__ = ["JOBS_AN_APP", "JOB_MINUTES", "MIX", "themis_1", "themis_2"]


JOBS_AN_APP = ((0.0, 1.0), (0.2, 7.0), (0.5, 78.0), (0.75, 88.0), (0.9, 98.0), (1.0, 100.0))
"""Quantiles of the number of jobs of an app, from the published plot (figure 2)."""

JOB_MINUTES = ((0.0, 10.0), (0.25, 140.0), (0.5, 231.0), (0.75, 341.0), (0.9, 459.0), (1.0, 1583.0))
"""Quantiles of the GPU minutes of a job, from the published plot (figure 4); the smallest one is chosen here."""

MIX = (
    (0.1, ("inception3", "alexnet", "resnet50", "vgg16", "vgg19")),
    (0.6, ("bi-att-flow", "language-model", "gnmt", "transformer")),
    (0.3, ("wavenet", "deepspeech")),
)
"""Shares of vision, language and speech apps (table 4), with their models."""

MAX_APPS = 50_000


def themis_1(
    apps: int = 20, network: float = 0.4, gap: float = 1200.0, time_scale: float = 1.0, seed: int = 0
) -> Workload:
    """Return THEMIS's workload 1, apps with many small jobs that all run at once.

    The number of jobs of an app (1 to 100, median 78) and the GPU time of a job (median 231 minutes, times
    `time_scale`) follow the published distributions. The jobs of an app have the same model, all 1 or all 2 GPUs, and
    one phase. Models have the published shares by category. Apps arrive as a Poisson process.

    Parameters
    ----------
    apps : int, optional
        Number of apps.
    network : float, optional
        Share of apps, drawn at random, whose jobs are network-intensive.
    gap : float, optional
        Mean time between arrivals of apps in s; the default is not verified against the paper.
    time_scale : float, optional
        Factor on every job's work.
    seed : int, optional
        Seed of the random generator.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, figures 2 and 4, table 4; workload 1 of the evaluation.
    """
    _check("themis-1", apps, network, gap, time_scale)
    rng = np.random.default_rng(seed)
    arrival, models, intensive = _apps(rng, apps, network, gap)
    counts = np.maximum(1, np.round(_quantile(JOBS_AN_APP, rng.uniform(size=apps)))).astype(np.int64)
    app = np.repeat(np.arange(apps), counts)
    order = np.arange(len(app)) - np.repeat(np.cumsum(counts) - counts, counts)
    work = 60 * time_scale * _quantile(JOB_MINUTES, rng.uniform(size=len(app)))
    gpus = rng.integers(1, 3, apps)[app]
    return _workload(app, np.zeros_like(app), order, arrival, models, intensive, gpus, work, "1: all jobs at once")


def themis_2(
    apps: int = 20,
    network: float = 0.4,
    gap: float = 1200.0,
    time_scale: float = 1.0,
    largest: int = 64,
    seed: int = 0,
) -> Workload:
    """Return THEMIS's workload 2, apps of successive halving with larger jobs.

    An app begins with n jobs; n = 4, 8, ..., `largest` are equally likely. In phase k, the first n / 2^k of them run,
    each for 2^k times the work of phase 0, down to one job, so that all phases have equal work. The jobs of an app have
    1, 2, 4 or 8 GPUs, equally likely. The GPU minutes of a job in phase 0 are those of workload 1 divided by the number
    of phases. A phase begins when the previous one has ended. Published is only that workload 2 has the structure of
    Hyperband and more tasks per job; the numbers are chosen here.

    Parameters
    ----------
    apps : int, optional
        Number of apps.
    network : float, optional
        Share of apps, drawn at random, whose jobs are network-intensive.
    gap : float, optional
        Mean time between arrivals of apps in s.
    time_scale : float, optional
        Factor on every job's work.
    largest : int, optional
        Largest number of jobs in phase 0, from 4 to 1024.
    seed : int, optional
        Seed of the random generator.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, workload 2 of the evaluation. Li et al.: Hyperband, JMLR 2018.
    """
    _check("themis-2", apps, network, gap, time_scale)
    checks.integer("themis-2: largest", largest, 4, 1024)
    rng = np.random.default_rng(seed)
    arrival, models, intensive = _apps(rng, apps, network, gap)
    halvings = rng.integers(2, int(np.log2(largest)) + 1, apps)
    base = 60 * time_scale * _quantile(JOB_MINUTES, rng.uniform(size=apps)) / (halvings + 1)
    rows = [
        (app, phase, job)
        for app, count in enumerate(halvings.tolist())
        for phase in range(count + 1)
        for job in range(2 ** (count - phase))
    ]
    app, phase, order = np.array(rows, dtype=np.int64).T
    gpus = (2 ** rng.integers(0, 4, apps))[app]
    return _workload(app, phase, order, arrival, models, intensive, gpus, base[app] * 2.0**phase, "2: halving")


def _check(generator: str, apps: int, network: float, gap: float, time_scale: float) -> None:
    check_count(generator, "apps", apps, MAX_APPS)
    check_share(generator, "network", network)
    check_positive(generator, "gap", gap)
    check_positive(generator, "time_scale", time_scale)


def _quantile(points: tuple[tuple[float, float], ...], share: Floats) -> Floats:
    """Return quantiles of a distribution given by points, with linear interpolation."""
    shares, values = zip(*points, strict=True)
    return np.asarray(np.interp(share, shares, values), dtype=np.float64)


def _apps(rng: np.random.Generator, apps: int, network: float, gap: float) -> tuple[Floats, list[str], Bools]:
    """Return arrivals in s, models, and a mask of network-intensive apps."""
    arrival = np.cumsum(rng.exponential(gap, apps))
    kinds = rng.choice(len(MIX), size=apps, p=[share for share, _ in MIX])
    picks = rng.uniform(size=apps)
    models = [MIX[kind][1][int(pick * len(MIX[kind][1]))] for kind, pick in zip(kinds, picks, strict=True)]
    intensive = np.zeros(apps, dtype=bool)
    intensive[rng.permutation(apps)[: round(network * apps)]] = True
    return arrival, models, intensive


def _workload(
    app: Ints,
    phase: Ints,
    order: Ints,
    arrival: Floats,
    models: list[str],
    intensive: Bools,
    gpus: Ints,
    work: Floats,
    label: str,
) -> Workload:
    return Workload.from_columns(
        {
            "id": [f"app{a}-phase{k}-job{j}" for a, k, j in zip(app, phase, order, strict=True)],
            "arrival": arrival[app],
            "gpus": gpus,
            "duration": work / gpus,
            "work": work,
            "workers": gpus,
            "model": [models[a] for a in app],
            "app": [f"app{a}" for a in app],
            "phase": phase,
            "network_intensive": intensive[app],
        },
        description=f"apps as in THEMIS workload {label}; {len(models)} apps, {int(intensive.sum())} network-intensive",
        source="THEMIS (NSDI 2020), figures 2 and 4, table 4 and the evaluation's workloads",
    )
