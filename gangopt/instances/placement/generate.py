"""Generators of the problem `placement`."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gangopt.base.checks import integer, number
from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.on_cluster import cluster_and_state
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.topology import Cluster, MachineGroup, State

__all__ = ["random", "testbed_servers"]

MAX_SERVERS, MAX_JOBS = 100_000, 50_000

RESOURCES = ("cpu", "memory", "gpu")
UNITS = {"cpu": "core", "memory": "GB", "gpu": "GPU"}
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
    cluster: str | Cluster = "",
    state: State | None = None,
    seed: int = 0,
) -> PlacementInstance:
    """Return random jobs on a cluster, or on servers of the two kinds of the Optimus testbed, seven to six.

    Every job starts with one parameter server and one worker; then tasks of random jobs and kinds are added as long as
    the use of every resource stays within `load` times what is free in total. So all tasks fit the total, but not
    always the single machines.

    Parameters
    ----------
    servers : int, optional
        Number of servers, with 16 cores and 80 GB, or 8 cores, 48 GB and 2 GPUs; without effect if there is a cluster.
    jobs : int, optional
        Number of jobs; each has the size of a model in table 1, four bytes per parameter.
    load : float, optional
        Share of the scarcest resource that the jobs use, above 0 and at most 1.
    tasks : {'small', 'paper'}, optional
        `paper`: every task takes 5 cores and 10 GB; `small`: tasks take 1 to 3 cores and 3 to 9 GB, drawn for each job
        and kind, and the workers of one job in four take a GPU. Resources that the cluster lacks are left out; without
        cores and memory, every worker takes a GPU.
    bandwidth : {'equal', 'mixed'}, optional
        `equal`: 125 MB/s for every task; `mixed`: 0.5, 1 or 2 times that for the workers of a job.
    charge : {'tasks', 'hosts'}, optional
        Transfers that count, as in `PlacementInstance`.
    cluster : str or Cluster, optional
        Name or path of a cluster, or the cluster itself; empty for the servers above.
    state : State or None, optional
        State of the cluster; None if all is free.
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
    place, held = (_servers(servers), state) if cluster == "" else cluster_and_state(cluster, state)
    names = tuple(name for name in RESOURCES if name in place.resources)
    columns = [RESOURCES.index(name) for name in names]
    free = (State(place) if held is None else held).free_capacities
    capacity = free[:, [place.resources.index(name) for name in names]]
    demand = _demands(rng, jobs, tasks, gpus_only=names == ("gpu",))[:, :, columns]
    counts = _counts(rng, demand, load * capacity.sum(axis=0), names)
    factor = rng.choice([0.5, 1.0, 2.0], jobs) if bandwidth == "mixed" else np.ones(jobs)
    where = f"{servers} servers" if cluster == "" else f"{len(place.machines)} machines of {place.name or 'a cluster'}"
    return PlacementInstance(
        name="placement/random",
        description=f"{jobs} jobs of {tasks} tasks, {int(counts.sum())} in all, on {where} at load {load:g}",
        source="servers, task sizes (paper) and model sizes: Optimus (EuroSys'18), table 1 and section 6.1; else drawn",
        cluster=place,
        state=held,  # type: ignore[arg-type]  # None is accepted
        resources=names,
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


def _servers(count: int) -> Cluster:
    cpu_servers = round(count * CPU_SERVERS_OF_13 / 13)
    return testbed_servers(cpu_servers, count - cpu_servers)


def testbed_servers(cpu_servers: int, gpu_servers: int) -> Cluster:
    """Return a cluster of servers of the two kinds of the Optimus testbed in one rack.

    Parameters
    ----------
    cpu_servers, gpu_servers : int
        Numbers of servers with 16 cores and 80 GB, and with 8 cores, 48 GB and 2 GPUs.

    References
    ----------
    Optimus (EuroSys'18), section 6.1.
    """
    kinds = ((cpu_servers, CPU_SERVER, "cpu-"), (gpu_servers, GPU_SERVER, "gpu-"))
    return Cluster.from_groups(
        [
            MachineGroup(count, int(gpus), capacities={"cpu": cpu, "memory": memory}, name=name)
            for count, (cpu, memory, gpus), name in kinds
            if count
        ]
    )


def _demands(rng: np.random.Generator, jobs: int, tasks: str, *, gpus_only: bool) -> Floats:
    """Return the demand of one task, shape (jobs, kinds, resources)."""
    demand = np.zeros((jobs, 2, len(RESOURCES)))
    if gpus_only:
        demand[:, 1, 2] = 1.0
        return demand
    if tasks == "paper":
        demand[:, :, :2] = 5.0, 10.0
        return demand
    demand[:, :, 0] = rng.integers(1, 4, (jobs, 2))
    demand[:, :, 1] = rng.integers(3, 10, (jobs, 2))
    demand[rng.permutation(jobs)[: jobs // 4], 1, 2] = 1.0
    return demand


def _counts(rng: np.random.Generator, demand: Floats, limit: Floats, names: tuple[str, ...]) -> Ints:
    """Return parameter servers and workers of every job, shape (jobs, 2)."""
    jobs = len(demand)
    counts = np.ones((jobs, 2), dtype=np.int64)
    room = (limit + 1e-9 - demand.sum(axis=(0, 1))).tolist()
    if min(room) < 0:
        r = int(np.argmin(room))
        raise InputError(
            f"placement/random: one task of each kind for {jobs} jobs takes {limit[r] - room[r]:g} "
            f"{UNITS[names[r]]} of {names[r]}, but the load allows {limit[r]:g}"
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
