"""Jobs with the sizes and the heavy tail of Microsoft's Philly."""

from __future__ import annotations

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Ints
from gangopt.instances.workload.generate.arguments import check_count, check_positive
from gangopt.instances.workload.workload import Workload

__all__ = ["BINS", "philly_like"]

BINS = (("small", "short", 0.635), ("small", "long", 0.125), ("large", "short", 0.165), ("large", "long", 0.075))
"""Shares of jobs with up to 8 GPUs and more, of less than 4 hours and longer (table 3)."""

SIZES = {"small": (1, 2, 4, 8), "large": (16, 32, 64, 128)}
"""GPUs of small and of large jobs; the largest job of 2017 had 128."""

SIZE_SHARES = {"small": (0.7, 0.1, 0.1, 0.1), "large": (0.7, 0.2, 0.08, 0.02)}

SHORTEST, SPLIT, LONGEST = 60.0, 4 * 3600.0, 60 * 86400.0
"""Shortest duration, the bound between short and long, and the longest, in s."""


def philly_like(
    jobs: int = 1000, gap: float = 100.0, tail: float = 1.0, users: int = 50, vcs: int = 11, seed: int = 0
) -> Workload:
    """Return jobs of many sizes whose durations have a heavy tail.

    Jobs are assigned to the four bins of table 3 with the published shares. The sizes of small (up to 8 GPUs) and large
    jobs are powers of 2, mostly the smallest. The durations of short jobs (up to 4 hours) are log-uniform from one
    minute, those of long jobs follow a Pareto distribution with index `tail`, truncated at 60 days; both are rounded
    down to seconds. Arrivals are a Poisson process. Virtual clusters and their users have shares in proportion to 1,
    1/2, 1/3, ... Only the bins, the largest size and the shortest duration are published; the rest is chosen here.

    Parameters
    ----------
    jobs : int, optional
        Number of jobs.
    gap : float, optional
        Mean time between arrivals in s; the default loads 2,400 GPUs to about 80 %.
    tail : float, optional
        Index of the Pareto distribution, > 0; the tail is heavier for smaller values.
    users, vcs : int, optional
        Number of users and of virtual clusters; each virtual cluster has users / vcs users, rounded down.
    seed : int, optional
        Seed of the random generator.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, table 3 and appendix A.
    """
    for name, count in (("jobs", jobs), ("users", users), ("vcs", vcs)):
        check_count("philly-like", name, count)
    check_positive("philly-like", "gap", gap)
    check_positive("philly-like", "tail", tail)
    if users < vcs:
        raise InputError(f"philly-like: users must be >= vcs (got {users} and {vcs})")
    rng = np.random.default_rng(seed)
    bins = rng.choice(len(BINS), size=jobs, p=[share for *_, share in BINS])
    large = np.array([size == "large" for size, *_ in BINS])[bins]
    long = np.array([length == "long" for _, length, _ in BINS])[bins]
    gpus = np.where(
        large,
        rng.choice(SIZES["large"], size=jobs, p=SIZE_SHARES["large"]),
        rng.choice(SIZES["small"], size=jobs, p=SIZE_SHARES["small"]),
    )
    short_time = np.exp(rng.uniform(np.log(SHORTEST), np.log(SPLIT), jobs))
    rest = rng.uniform((SPLIT / LONGEST) ** tail, 1, jobs)
    duration = np.floor(np.where(long, SPLIT * rest ** (-1 / tail), short_time))
    vc = _by_rank(rng, vcs, jobs)
    user = vc + vcs * _by_rank(rng, users // vcs, jobs)
    return Workload.from_columns(
        {
            "id": [f"job{index}" for index in range(jobs)],
            "arrival": np.cumsum(rng.exponential(gap, jobs)),
            "gpus": gpus,
            "duration": duration,
            "user": [f"user{index}" for index in user.tolist()],
            "vc": [f"vc{index}" for index in vc.tolist()],
        },
        description=f"{jobs} jobs in the four bins of Tiresias's table 3, durations with a tail of index {tail:g}",
        source="Tiresias (NSDI 2019), table 3 and appendix A",
    )


def _by_rank(rng: np.random.Generator, kinds: int, size: int) -> Ints:
    """Return random integers below `kinds`, k with a probability in proportion to 1 / (k + 1)."""
    weight = 1 / np.arange(1, kinds + 1)
    return np.asarray(rng.choice(kinds, size=size, p=weight / weight.sum()), dtype=np.int64)
