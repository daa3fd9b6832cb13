"""Generators of the problem `bid`: the measured models of THEMIS, and apps with random tuners."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.checks import integer
from gangopt.instances.apps.app import JobInfo, remaining_phases
from gangopt.instances.apps.limits import MAX_GPUS
from gangopt.instances.apps.locality import TABLE1, table1_slowdowns
from gangopt.instances.apps.tuners import CurveJob, CurveStopping, SuccessiveHalving, forecast, halvings
from gangopt.instances.bid.instance import BidInstance
from gangopt.topology import LOCALITIES, PRIORS

__all__ = ["from_phases", "random", "table1"]

MAX_JOBS = 1000
"""Most jobs of a random app."""


def from_phases(
    phases: Sequence[Sequence[JobInfo]],
    offers: Sequence[tuple[int, str]],
    *,
    name: str,
    cluster_gpus: int,
    contention: float,
    split: str = "whole",
    elapsed: float = 0.0,
    budget: float | None = None,
    app_gpus: int | None = None,
    description: str = "",
    source: str = "",
) -> BidInstance:
    """Return the instance of an app with the phases that its tuner plans.

    Parameters
    ----------
    phases : sequence of sequence of JobInfo
        Jobs of every remaining phase.
    offers : sequence of tuple of int and str
        (GPUs, level) of every offer.
    name : str
        Name of the instance.
    cluster_gpus : int
        As in `BidInstance`.
    contention : float
        As in `BidInstance`.
    split : str, optional
        As in `BidInstance`.
    elapsed : float, optional
        As in `BidInstance`.
    budget : float or None, optional
        As in `BidInstance`.
    app_gpus : int or None, optional
        As in `BidInstance`.
    description, source : str, optional
        Annotations of the instance.
    """
    jobs = [(i, job) for i, part in enumerate(phases) for job in part]
    return BidInstance(
        name=name,
        description=description,
        source=source,
        jobs=tuple(job.label for _, job in jobs),
        phase=np.array([i for i, _ in jobs], dtype=np.int64),
        iterations=np.array([job.iterations_remaining for _, job in jobs]),
        seconds=np.array([job.seconds_per_iteration for _, job in jobs]),
        max_gpus=np.array([job.max_gpus for _, job in jobs], dtype=np.int64),
        slowdown=np.array([[job.locality_sensitivity.at(level) for level in LOCALITIES] for _, job in jobs]),
        offer_gpus=np.array([gpus for gpus, _ in offers], dtype=np.int64),
        offer_levels=tuple(level for _, level in offers),
        split=split,
        elapsed=elapsed,
        budget=budget,
        cluster_gpus=cluster_gpus,
        app_gpus=app_gpus,
        contention=contention,
    )


def table1(model: str = "vgg16") -> BidInstance:
    """Return an app of one job that trains VGG16 or Inception-v3, offered 4 GPUs of one server or of two.

    An iteration is 1,000 images; one GPU is assumed to have a quarter of the speed of 4 GPUs of one server. All 1,000
    iterations are left; the cluster has 8 GPUs and two apps.

    Parameters
    ----------
    model : str, optional
        `vgg16` or `inception3`.

    Raises
    ------
    InputError
        If the model was not measured.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, table 1.
    """
    if model not in TABLE1:
        raise unknown("model of THEMIS's table 1", model, list(TABLE1))
    near, _ = TABLE1[model]
    job = JobInfo(model, 1000, 4 * 1000 / near, 4, table1_slowdowns().of(model))
    return from_phases(
        [[job]],
        [(4, "machine"), (4, "rack")],
        name=f"bid/table1?model={model}",
        description=f"{model}: 4 GPUs of one server, or 4 across two",
        source="slowdown: THEMIS (NSDI 2020), table 1; iterations, cluster and contention are made up",
        cluster_gpus=8,
        contention=2.0,
    )


def random(
    jobs: int = 8,
    gpus: int = 16,
    tuner: Literal["halving", "curves", "single"] = "halving",
    split: Literal["whole", "shared"] = "whole",
    seed: int = 0,
) -> BidInstance:
    """Return a new app with random jobs, offered 1, 2, 4, ... GPUs in a machine, a rack and the cluster.

    An iteration takes 60 to 140 s (an integer) on one GPU. Slowdowns are the priors; for half of the jobs they are
    raised across machines and racks by up to 0.3. A machine has at most 8 GPUs and a rack at most 32. The number of
    apps is uniform on [2, 6), rounded to 2 decimals.

    Parameters
    ----------
    jobs : int, optional
        Jobs of the first phase; `single` has only one.
    gpus : int, optional
        GPUs of the cluster.
    tuner : {'halving', 'curves', 'single'}, optional
        `halving`: successive halving, with 8 to 16 iterations per phase and 1, 2, 4 or 8 GPUs per job at first.
        `curves`: each job ends at the latest forecast of three random loss curves, checked every 50 iterations up to
        400, on 1 to 8 GPUs. `single`: one job with 100 to 400 iterations on 4 to 16 GPUs.
    split : {'whole', 'shared'}, optional
        Split of the GPUs within a phase, as in `BidInstance`.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If an argument is out of range.
    """
    integer("bid/random: jobs", jobs, 1, MAX_JOBS)
    integer("bid/random: gpus", gpus, 1, MAX_GPUS)
    integer("bid/random: seed", seed, 0)
    generator = np.random.default_rng(seed)
    number = 1 if tuner == "single" else jobs
    infos = [_job(generator, j) for j in range(number)]
    if tuner == "halving":
        plan = halvings(jobs, float(generator.integers(8, 17)), 2 ** int(generator.integers(0, 4)))
        phases = remaining_phases(SuccessiveHalving(infos, plan), gpus)
    elif tuner == "curves":
        phases = remaining_phases(CurveStopping([_curve_job(generator, job) for job in infos]), gpus)
    else:
        phases = [[_with(infos[0], float(generator.integers(100, 401)), int(generator.integers(4, 17)))]]
    sizes = [2**k for k in range(gpus.bit_length()) if 2**k <= gpus]
    widest = {"machine": 8, "rack": 32, "cluster": gpus}
    return from_phases(
        phases,
        [
            (size, level)
            for level, limit in widest.items()
            for size in sizes
            if size <= limit and (size > 1 or limit == 8)
        ],
        name=f"bid/random?jobs={jobs}&gpus={gpus}&tuner={tuner}&split={split}&seed={seed}",
        description=f"a random app of {number} jobs ({tuner}), {gpus} GPUs, split {split}",
        source="generated",
        cluster_gpus=gpus,
        contention=round(2 + 4 * generator.random(), 2),
        split=split,
    )


def _job(generator: np.random.Generator, index: int) -> JobInfo:
    raised = 0.3 * generator.random() if generator.random() < 0.5 else 0.0
    slowdown = PRIORS.measured({"rack": round(PRIORS.rack + raised, 2), "cluster": round(PRIORS.cluster + raised, 2)})
    return JobInfo(f"job{index}", 1, float(generator.integers(60, 141)), 1, slowdown)


def _curve_job(generator: np.random.Generator, job: JobInfo) -> CurveJob:
    curves = [(float(generator.uniform(0.05, 0.3)), 1.0, float(generator.uniform(0, 0.05))) for _ in range(3)]
    latest = 50 * math.ceil(forecast(curves, target=0.1, limit=400) / 50)
    return CurveJob(_with(job, latest, int(generator.integers(1, 9))), latest)


def _with(job: JobInfo, iterations: float, max_gpus: int) -> JobInfo:
    return JobInfo(job.label, iterations, job.seconds_per_iteration, max_gpus, job.locality_sensitivity)
