"""Generator of `time_share` instances."""

from __future__ import annotations

import numpy as np

from gangopt.base.errors import InputError
from gangopt_gavel.instance import TimeShareInstance

__all__ = ["random"]


def random(jobs: int = 8, types: int = 3, gpus: int = 4, seed: int = 0) -> TimeShareInstance:
    """Return random jobs of 1 or 2 GPUs whose throughput grows by a random factor from type to type.

    Parameters
    ----------
    jobs : int
        Number of jobs.
    types : int
        Number of GPU types.
    gpus : int
        Number of GPUs of every type, at least 2.
    seed : int
        Seed of the generator.

    Returns
    -------
    TimeShareInstance

    Raises
    ------
    InputError
        If an argument is out of range.
    """
    limits = (("jobs", jobs, 1, 10_000), ("types", types, 1, 6), ("gpus", gpus, 2, 10_000), ("seed", seed, 0, 2**63))
    for key, number, least, most in limits:
        if not least <= number <= most:
            raise InputError(f"time_share/random: {key} must be {least} to {most} (got {number})")
    generator = np.random.default_rng(seed)
    factors = np.cumprod(generator.uniform(1.0, 3.0, (jobs, types)), axis=1)
    return TimeShareInstance(
        name=f"time_share/random?jobs={jobs}&types={types}&gpus={gpus}&seed={seed}",
        description=f"{jobs} random jobs on {types} GPU types",
        source="generated",
        jobs=tuple(f"job{index}" for index in range(jobs)),
        gpu_types=tuple(f"type{index}" for index in range(types)),
        gpus=np.full(types, gpus),
        scale=generator.integers(1, 3, jobs),
        throughput=np.round(factors * generator.uniform(0.5, 20.0, (jobs, 1)), 3),
    )
