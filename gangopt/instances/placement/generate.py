"""Generators of the problem `placement`."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gangopt.base.checks import integer, number
from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.placement.instance import PlacementInstance

__all__ = ["random"]

MAX_SERVERS, MAX_JOBS = 100_000, 50_000

RESOURCES, UNITS = ("cpu", "memory", "gpu"), ("core", "GB", "GPU")
CPU_SERVER, GPU_SERVER = (16.0, 80.0, 0.0), (8.0, 48.0, 2.0)
CPU_SERVERS_OF_13 = 7

PARAMETERS = np.array([1.7, 25.0, 11.3, 1.4, 6.0, 1.5, 4.7, 9.1, 38.0])
"""Millions of parameters of the nine models in table 1."""

MB_A_MILLION = 4.0
"""Single precision."""

GIGABIT = 125.0
"""MB/s of 1 Gb/s Ethernet."""

MOST_TASKS = 50
"""Most tasks of one kind per job."""


def random(
    servers: int = 13,
    jobs: int = 9,
    load: float = 0.75,
    tasks: Literal["small", "paper"] = "small",
    bandwidth: Literal["equal", "mixed"] = "equal",
    charge: Literal["tasks", "hosts"] = "tasks",
    seed: int = 0,
) -> PlacementInstance:
    """Return random jobs on servers of the two kinds of the Optimus testbed, in the ratio seven to six.

    Every job starts with one parameter server and one worker; then tasks of random jobs and kinds are added as long as
    the use of every resource stays within `load` times the total capacity. So all tasks fit the total capacity, but
    not always the single servers.

    Parameters
    ----------
    servers : int, optional
        Number of servers, with 16 cores and 80 GB, or 8 cores, 48 GB and 2 GPUs.
    jobs : int, optional
        Number of jobs; each has the size of a model in table 1, four bytes per parameter.
    load : float, optional
        Share of the scarcest resource that the jobs use, above 0 and at most 1.
    tasks : {'small', 'paper'}, optional
        `paper`: every task takes 5 cores and 10 GB; `small`: tasks take 1 to 3 cores and 3 to 9 GB, drawn for each job
        and kind, and the workers of one job in four take a GPU.
    bandwidth : {'equal', 'mixed'}, optional
        `equal`: 125 MB/s for every task; `mixed`: 0.5, 1 or 2 times that for the workers of a job.
    charge : {'tasks', 'hosts'}, optional
        Transfers that count, as in `PlacementInstance`.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If an argument is out of range, or one task of each kind per job exceeds the load.

    References
    ----------
    Optimus (EuroSys'18), table 1 and section 6.1.
    """
    integer("placement/random: servers", servers, 1, MAX_SERVERS)
    integer("placement/random: jobs", jobs, 1, MAX_JOBS)
    number("placement/random: load", load, above=0, high=1)
    integer("placement/random: seed", seed, 0)
    rng = np.random.default_rng(seed)
    cpu_servers = round(servers * CPU_SERVERS_OF_13 / 13)
    capacity = np.array([CPU_SERVER] * cpu_servers + [GPU_SERVER] * (servers - cpu_servers))
    demand = _demands(rng, jobs, tasks)
    counts = _counts(rng, demand, load * capacity.sum(axis=0))
    factor = rng.choice([0.5, 1.0, 2.0], jobs) if bandwidth == "mixed" else np.ones(jobs)
    return PlacementInstance(
        name="placement/random",
        description=f"{jobs} jobs of {tasks} tasks, {int(counts.sum())} in all, on {servers} servers at load {load:g}",
        source="servers, task sizes (paper) and model sizes: Optimus (EuroSys'18), table 1 and section 6.1; else drawn",
        resources=RESOURCES,
        units=UNITS,
        servers=tuple([f"cpu-{i}" for i in range(cpu_servers)] + [f"gpu-{i}" for i in range(servers - cpu_servers)]),
        capacity=capacity,
        jobs=tuple(f"job-{j}" for j in range(jobs)),
        parameter_servers=counts[:, 0],
        workers=counts[:, 1],
        ps_demand=demand[:, 0],
        worker_demand=demand[:, 1],
        size=MB_A_MILLION * rng.choice(PARAMETERS, jobs),
        ps_bandwidth=np.full(jobs, GIGABIT),
        worker_bandwidth=GIGABIT * factor,
        charge=charge,
    )


def _demands(rng: np.random.Generator, jobs: int, tasks: str) -> Floats:
    """Return the demand of one task, shape (jobs, kinds, resources)."""
    demand = np.zeros((jobs, 2, len(RESOURCES)))
    if tasks == "paper":
        demand[:, :, :2] = 5.0, 10.0
        return demand
    demand[:, :, 0] = rng.integers(1, 4, (jobs, 2))
    demand[:, :, 1] = rng.integers(3, 10, (jobs, 2))
    demand[rng.permutation(jobs)[: jobs // 4], 1, 2] = 1.0
    return demand


def _counts(rng: np.random.Generator, demand: Floats, limit: Floats) -> Ints:
    """Return parameter servers and workers of every job, shape (jobs, 2)."""
    jobs = len(demand)
    counts = np.ones((jobs, 2), dtype=np.int64)
    room = (limit + 1e-9 - demand.sum(axis=(0, 1))).tolist()
    if min(room) < 0:
        r = int(np.argmin(room))
        raise InputError(
            f"placement/random: one task of each kind for {jobs} jobs takes {limit[r] - room[r]:g} {UNITS[r]} of "
            f"{RESOURCES[r]}, but the load allows {limit[r]:g}"
        )
    open_pairs = [(j, kind) for j in range(jobs) for kind in (0, 1)]
    rows = demand.tolist()
    while open_pairs:
        at = int(rng.integers(len(open_pairs)))
        j, kind = open_pairs[at]
        left = [free - need for free, need in zip(room, rows[j][kind], strict=True)]
        if min(left) < 0 or counts[j, kind] == MOST_TASKS:
            open_pairs[at] = open_pairs[-1]
            open_pairs.pop()
            continue
        room = left
        counts[j, kind] += 1
    return counts
