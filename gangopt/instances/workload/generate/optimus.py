"""Workloads of the Optimus testbed: jobs with fitted speeds, arriving uniformly, as a Poisson process or in bursts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gangopt.base import checks
from gangopt.base.types import Floats, Ints
from gangopt.instances.allocation.testbed import optimus_testbed
from gangopt.instances.workload.generate.arguments import check_count, check_positive
from gangopt.instances.workload.speed import FittedSpeed
from gangopt.instances.workload.workload import Workload

if TYPE_CHECKING:
    from gangopt.instances.allocation.instance import AllocationInstance

__all__ = ["optimus_bursts", "optimus_poisson", "optimus_uniform"]


WINDOW = 12_000.0
"""Period in s over which the nine jobs arrive."""

INTERVAL = 600.0
"""Scheduling interval in s."""

SHAPES = 4
"""Largest number of workers, and of parameter servers, that a job requests."""

STEPS_SHARE = 0.02
"""Default factor on the training steps; the paper reduces data sets so that a run takes six hours."""


def optimus_uniform(seed: int = 0, steps_share: float = STEPS_SHARE) -> Workload:
    """Return the nine jobs of the Optimus testbed, one per model, arriving uniformly over 12,000 s.

    Speeds and steps are those of the instance `allocation/optimus-testbed`, with the steps multiplied by
    `steps_share`. A job requests 1 to 4 workers of one GPU each, drawn at random, and the same number of parameter
    servers; its duration is steps / f(p, w) for these.

    Parameters
    ----------
    seed : int, optional
        Seed of the random generator.
    steps_share : float, optional
        Factor on every job's steps, above 0.

    References
    ----------
    Peng et al.: Optimus, EuroSys 2018, section 6.1 and table 1.
    """
    check_positive("optimus-uniform", "steps_share", steps_share)
    rng = np.random.default_rng(seed)
    arrival = rng.uniform(0, WINDOW, 9)
    return _workload(rng, arrival, np.arange(9), steps_share, "nine jobs arriving uniformly over 12,000 s")


def optimus_poisson(jobs: int = 60, rate: float = 3.0, seed: int = 0, steps_share: float = STEPS_SHARE) -> Workload:
    """Return jobs drawn from the nine models, with Poisson arrivals.

    Parameters
    ----------
    jobs : int, optional
        Number of jobs; the public scheduler's experiment has 60.
    rate : float, optional
        Mean arrivals in a scheduling interval of 600 s.
    seed : int, optional
        Seed of the random generator.
    steps_share : float, optional
        Factor on every job's steps, above 0.

    References
    ----------
    Peng et al.: Optimus, EuroSys 2018, figure 17.
    """
    _check("optimus-poisson", jobs, rate, steps_share)
    rng = np.random.default_rng(seed)
    arrival = np.cumsum(rng.exponential(INTERVAL / rate, jobs))
    kinds = rng.integers(0, 9, jobs)
    return _workload(rng, arrival, kinds, steps_share, f"{jobs} jobs, Poisson, {rate:g} per interval of 600 s")


def optimus_bursts(
    jobs: int = 60, rate: float = 3.0, burst: float = 6.0, seed: int = 0, steps_share: float = STEPS_SHARE
) -> Workload:
    """Return jobs drawn from the nine models, arriving in bursts at the mean rate of `optimus_poisson`.

    Bursts arrive as a Poisson process; each has a geometric number of jobs and lasts a minute. They replace the window
    of Google's cluster trace in the paper, which has spikes of arrivals but is not published.

    Parameters
    ----------
    jobs : int, optional
        Number of jobs.
    rate : float, optional
        Mean arrivals in a scheduling interval of 600 s.
    burst : float, optional
        Mean jobs in a burst, at least 1.
    seed : int, optional
        Seed of the random generator.
    steps_share : float, optional
        Factor on every job's steps, above 0.

    References
    ----------
    Peng et al.: Optimus, EuroSys 2018, figure 17.
    """
    _check("optimus-bursts", jobs, rate, steps_share)
    checks.number("optimus-bursts: burst", burst, 1, jobs, "jobs")
    rng = np.random.default_rng(seed)
    sizes = rng.geometric(1 / burst, jobs)
    starts = np.cumsum(rng.exponential(burst * INTERVAL / rate, jobs))
    arrival = np.repeat(starts, sizes)[:jobs] + rng.uniform(0, 60, jobs)
    kinds = rng.integers(0, 9, jobs)
    return _workload(rng, arrival, kinds, steps_share, f"{jobs} jobs in bursts of {burst:g}, {rate:g} per interval")


def _check(generator: str, jobs: int, rate: float, steps_share: float) -> None:
    check_count(generator, "jobs", jobs)
    check_positive(generator, "rate", rate)
    check_positive(generator, "steps_share", steps_share)


def _workload(rng: np.random.Generator, arrival: Floats, kinds: Ints, share: float, description: str) -> Workload:
    table = optimus_testbed()
    speeds = [_speed(table, kind) for kind in range(len(table.jobs))]
    shape = rng.integers(1, SHAPES + 1, len(kinds))
    steps = table.steps[kinds] * share
    seconds = [
        count / speeds[kind].steps_a_second(int(size), int(size))
        for count, kind, size in zip(steps, kinds, shape, strict=True)
    ]
    demand = table.worker_demand + table.ps_demand
    return Workload.from_columns(
        {
            "id": [f"job{index}" for index in range(len(kinds))],
            "arrival": arrival,
            "gpus": shape,
            "duration": seconds,
            "steps": steps,
            "ps": shape,
            "workers": shape,
            "model": [table.jobs[kind] for kind in kinds],
            "speed": [speeds[kind].text() for kind in kinds],
            "cpu": demand[kinds, table.resources.index("cpu")] * shape,
            "memory": demand[kinds, table.resources.index("memory")] * shape,
        },
        description=f"{description}; kinds, speeds and steps of allocation/optimus-testbed, steps times {share:g}",
        source="Optimus (EuroSys 2018), sections 6.1 and 6.4",
    )


def _speed(table: AllocationInstance, kind: int) -> FittedSpeed:
    mode = table.mode[kind]
    count = 5 if mode == "sync" else 4
    return FittedSpeed(mode, tuple(table.theta[kind, :count].tolist()), float(table.batch[kind]))
