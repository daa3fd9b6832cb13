"""Workloads of THEMIS: apps that search hyper-parameters, each with many jobs of one model."""

from __future__ import annotations

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Floats, Ints
from gangopt.instances.workload.generate.arguments import check_count, check_positive, check_share
from gangopt.instances.workload.workload import Workload

__all__ = ["JOBS_AN_APP", "JOB_MINUTES", "MIX", "themis_1", "themis_2"]


JOBS_AN_APP = ((0.0, 1.0), (0.2, 7.0), (0.5, 78.0), (0.75, 88.0), (0.9, 98.0), (1.0, 100.0))
"""Jobs of an app by share of apps, read off the published distribution (figure 2)."""

JOB_MINUTES = ((0.0, 10.0), (0.25, 140.0), (0.5, 231.0), (0.75, 341.0), (0.9, 459.0), (1.0, 1583.0))
"""GPU minutes of a job by share of jobs, read off the published distribution (figure 4); the least is chosen here."""

MIX = (
    (0.1, ("inception3", "alexnet", "resnet50", "vgg16", "vgg19")),
    (0.6, ("bi-att-flow", "language-model", "gnmt", "transformer")),
    (0.3, ("wavenet", "deepspeech")),
)
"""Share of apps of vision, language and speech (table 4), with models of each."""

MAX_APPS = 50_000


def themis_1(
    apps: int = 20, network: float = 0.4, gap: float = 1200.0, time_scale: float = 1.0, seed: int = 0
) -> Workload:
    """Return apps of many small jobs that all run at once: THEMIS's workload 1.

    An app has a number of jobs drawn from the published distribution (1 to 100, median 78), all of 1 or all of 2 GPUs,
    each with GPU time from the published distribution (median 231 minutes) times `time_scale`. Its jobs have one phase.
    Poisson arrivals of apps; one model an app, by category at the published shares.

    Parameters
    ----------
    apps : int, optional
        Number of apps.
    network : float, optional
        Share of apps whose jobs are network-intensive, rounded to whole apps, drawn at random.
    gap : float, optional
        Mean time between apps in s; 20 minutes are from memory.
    time_scale : float, optional
        Factor on every job's work.
    seed : int, optional
        Of numpy's default generator.

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
    """Return apps shaped as successive halving, with larger jobs: THEMIS's workload 2.

    An app begins with n jobs, n = 4, 8, ... up to `largest`, each power of 2 equally likely. In phase k the first
    n / 2^k of them run, each for 2^k times the work of phase 0, down to one job. All jobs of an app have 1, 2, 4 or 8
    GPUs, each equally likely; a job's GPU minutes in its first phase are those of workload 1's jobs divided by the
    number of phases, so that the phases of an app have equal work. A phase begins when the one before has ended. The
    published text says that workload 2 is shaped as Hyperband and has more tasks a job; these numbers are chosen here.

    Parameters
    ----------
    apps : int, optional
        Number of apps.
    network : float, optional
        Share of apps whose jobs are network-intensive, rounded to whole apps, drawn at random.
    gap : float, optional
        Mean time between apps in s.
    time_scale : float, optional
        Factor on every job's work.
    largest : int, optional
        Most jobs that an app begins with, 4 to 1024.
    seed : int, optional
        Of numpy's default generator.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, workload 2 of the evaluation. Li et al.: Hyperband, JMLR 2018.
    """
    _check("themis-2", apps, network, gap, time_scale)
    if not 4 <= largest <= 1024:
        raise InputError(f"themis-2: largest={largest}, 4 to 1024 is allowed")
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
    """Return the values at shares of a distribution that is linear between its points."""
    shares, values = zip(*points, strict=True)
    return np.asarray(np.interp(share, shares, values), dtype=np.float64)


def _apps(rng: np.random.Generator, apps: int, network: float, gap: float) -> tuple[Floats, list[str], Bools]:
    """Return arrival in s, model and whether network-intensive of every app."""
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
