"""Workload of the Tiresias testbed, 480 jobs of ten models."""

from __future__ import annotations

import numpy as np

from gangopt.instances.networks.models import MODELS
from gangopt.instances.workload.generate.arguments import check_positive
from gangopt.instances.workload.workload import Workload

__all__ = ["GPU_COUNTS", "SENSITIVE", "tiresias_testbed"]

GPU_COUNTS = {1: 240, 2: 40, 4: 80, 8: 90, 16: 25, 32: 5}
"""Number of jobs by number of GPUs."""

SENSITIVE = ("vgg19", "vgg16", "vgg11", "alexnet")
"""Models that a spread placement slows down (figure 3)."""

SHORT, LONG, SPLIT = 120.0, 7200.0, 800.0
"""Shortest and longest training time, and the limit between short and long jobs, in s."""

SHORT_SHARE = {"small": 63.5 / 76.0, "large": 16.5 / 24.0}
"""Share of short jobs among jobs with up to 4 GPUs and with more (table 3)."""


def tiresias_testbed(seed: int = 0, gap: float = 30.0) -> Workload:
    """Return the 480 jobs of the Tiresias testbed, with their published counts.

    240 jobs have 1 GPU, 40 have 2, 80 have 4, 90 have 8, 25 have 16 and 5 have 32. There are 48 jobs of each of ten
    models. Each worker has one GPU, and there is one parameter server per worker. Arrivals are a Poisson process. The
    shares of short jobs (up to 800 s) with up to 4 GPUs and with more are those of table 3. Training times range from 2
    minutes to 2 hours as published; within the short and the long jobs, they are log-uniform here, rounded down to
    seconds, and short jobs are drawn at random, since neither is published.

    Parameters
    ----------
    seed : int, optional
        Seed of the random generator.
    gap : float, optional
        Mean time between arrivals in s.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, section 5.1 and table 3.
    """
    check_positive("tiresias-testbed", "gap", gap)
    rng = np.random.default_rng(seed)
    gpus = rng.permutation(np.repeat(list(GPU_COUNTS), list(GPU_COUNTS.values())))
    models = rng.permutation(np.repeat(MODELS, len(gpus) // len(MODELS)))
    short = np.zeros(len(gpus), dtype=bool)
    for name, members in (("small", np.flatnonzero(gpus <= 4)), ("large", np.flatnonzero(gpus > 4))):
        short[rng.permutation(members)[: round(SHORT_SHARE[name] * len(members))]] = True
    low, high = np.where(short, SHORT, SPLIT), np.where(short, SPLIT, LONG)
    duration = np.floor(np.exp(rng.uniform(np.log(low), np.log(high))))
    return Workload.from_columns(
        {
            "id": [f"job{index}" for index in range(len(gpus))],
            "arrival": np.cumsum(rng.exponential(gap, len(gpus))),
            "gpus": gpus,
            "duration": duration,
            "ps": gpus,
            "workers": gpus,
            "model": models.tolist(),
            "network_intensive": [model in SENSITIVE for model in models.tolist()],
        },
        description="480 jobs of the Tiresias testbed: counts as published, times drawn from the published ranges",
        source="Tiresias (NSDI 2019), section 5.1 and table 3",
    )
