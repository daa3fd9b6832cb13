"""Generators of the problem `interval`."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np

from gangopt.base.checks import integer
from gangopt.instances.allocation import generate as allocations
from gangopt.instances.allocation.generate import NODE, SERVER
from gangopt.instances.allocation.instance import AllocationInstance
from gangopt.instances.allocation.testbed import optimus_testbed as allocation_testbed
from gangopt.instances.interval.instance import IntervalInstance
from gangopt.instances.on_cluster import cluster_and_state
from gangopt.instances.placement.generate import CPU_SERVER, GIGABIT, MB_A_MILLION, PARAMETERS, testbed_servers
from gangopt.topology import Cluster, MachineGroup, State

__all__ = ["optimus_testbed", "random"]

SIZE = np.array([102.2, 553.4, 6.92])
"""MB of ResNet-50, VGG-16 and ResNeXt-110, from the public trace of DL2."""

MODELS = dict(
    zip(
        (
            "ResNeXt-110",
            "ResNet-50",
            "Inception-BN",
            "KAGGLE",
            "CNN-rand",
            "DSSM",
            "RNN-LSTM",
            "Seq2Seq",
            "DeepSpeech2",
        ),
        (MB_A_MILLION * PARAMETERS).tolist(),
        strict=True,
    )
)
"""MB of the nine models of Optimus, four bytes per parameter."""

MAX_SERVERS, MAX_TASKS, MAX_TESTBED_JOBS = 100_000, 100, 200

LEAST_LEFT = 0.05
"""Smallest fraction of steps left of a job of the family `testbed`."""


def random(
    jobs: int = 50,
    servers: int | None = None,
    max_tasks: int = 20,
    tasks: Literal["gpu", "cpu"] = "gpu",
    mode: Literal["async", "sync", "mixed"] = "mixed",
    cluster: str | Cluster = "",
    state: State | None = None,
    seed: int = 0,
) -> IntervalInstance:
    """Return random jobs of three model types on equal servers, or on a cluster.

    The jobs are those of `allocation/random` with as many nodes; every model has the size of its type, and every task
    has a bandwidth of 125 MB/s.

    Parameters
    ----------
    jobs : int, optional
        Number of jobs.
    servers : int or None, optional
        Number of servers; default: two per job. Without effect if there is a cluster.
    max_tasks : int, optional
        Largest number of workers and of parameter servers of a job.
    tasks : {'gpu', 'cpu'}, optional
        `gpu`: a worker takes one GPU, and servers have 16 cores, 48 GB and 2 GPUs; `cpu`: workers train on their
        cores, and servers have 16 cores and 80 GB.
    mode : {'async', 'sync', 'mixed'}, optional
        `async`, `sync`, or `mixed`, which draws one of both for each job.
    cluster : str or Cluster, optional
        Name or path of a cluster with cores and memory (and GPUs, if tasks take them), or the cluster itself; empty
        for the servers above.
    state : State or None, optional
        State of the cluster; None if all is free.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If an argument is out of range.

    References
    ----------
    github pengyanghua/optimus, `scheduler/jobrepo.py`, `params.py`; github pengyanghua/DL2, `trace.py`.
    """
    servers = 2 * jobs if servers is None else servers
    integer("interval/random: servers", servers, 1, MAX_SERVERS)
    integer("interval/random: max_tasks", max_tasks, 1, MAX_TASKS)
    place, held = (_equal_servers(servers, tasks), state) if cluster == "" else cluster_and_state(cluster, state)
    machines = len(place.machines)
    shared = allocations.random(jobs=jobs, nodes=machines, max_tasks=max_tasks, mode=mode, seed=seed)
    kind = (shared.ps_demand[:, None, :] == SERVER).all(axis=2).argmax(axis=1)
    if tasks == "cpu":
        shared = _without_gpus(shared)
    bandwidth = np.full(jobs, GIGABIT)
    where = f"{servers} equal servers" if cluster == "" else f"{machines} machines of {place.name or 'a cluster'}"
    return IntervalInstance.on_cluster(
        shared,
        place,
        held,
        name="interval/random",
        description=f"{jobs} {mode} jobs of three model types on {where}, workers on {tasks}",
        source=f"{shared.source}; model sizes: public trace of DL2; 125 MB/s (1 GbE) for every task",
        size=SIZE[kind],
        ps_bandwidth=bandwidth,
        worker_bandwidth=bandwidth,
    )


def _equal_servers(count: int, tasks: str) -> Cluster:
    cpu, memory, gpus = NODE if tasks == "gpu" else (*CPU_SERVER[:2], 0)
    group = MachineGroup(count, int(gpus), capacities={"cpu": cpu, "memory": memory}, name="server-")
    return Cluster.from_groups([group])


def _without_gpus(shared: AllocationInstance) -> AllocationInstance:
    return dataclasses.replace(
        shared,
        resources=shared.resources[:2],
        units=shared.units[:2],
        capacity=shared.capacity[:2],
        worker_demand=shared.worker_demand[:, :2],
        ps_demand=shared.ps_demand[:, :2],
    )


def optimus_testbed(jobs: int = 9, cpu_servers: int = 7, gpu_servers: int = 6, seed: int = 0) -> IntervalInstance:
    """Return jobs of the nine models at random progress, on servers of the two kinds of the Optimus testbed.

    The models are in random order, which repeats after nine jobs; the fraction of its steps that a job has left is
    uniform from 0.05 to 1. All other data of a job are those of `allocation/optimus-testbed`.

    Parameters
    ----------
    jobs : int, optional
        Number of jobs.
    cpu_servers : int, optional
        Number of servers with 16 cores and 80 GB.
    gpu_servers : int, optional
        Number of servers with 8 cores, 48 GB and 2 GPUs; at least 1, since GPUs are a resource of the instance.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If an argument is out of range.

    References
    ----------
    Optimus (EuroSys'18), section 6.1 and table 1.
    """
    integer("interval/testbed: jobs", jobs, 1, MAX_TESTBED_JOBS)
    integer("interval/testbed: cpu_servers", cpu_servers, 1, MAX_SERVERS)
    integer("interval/testbed: gpu_servers", gpu_servers, 1, MAX_SERVERS)
    rng = np.random.default_rng(seed)
    models = rng.permutation(len(MODELS))
    chosen = [int(models[i % len(MODELS)]) for i in range(jobs)]
    shared = _copies(chosen, rng.uniform(LEAST_LEFT, 1.0, jobs))
    bandwidth = np.full(jobs, GIGABIT)
    return IntervalInstance.on_cluster(
        shared,
        testbed_servers(cpu_servers, gpu_servers),
        None,
        name="interval/testbed",
        description=f"{jobs} jobs of the nine models at random progress on {cpu_servers} + {gpu_servers} servers",
        source=(
            "jobs: allocation/optimus-testbed; servers and 1 GbE (125 MB/s for every task): Optimus (EuroSys'18), "
            "section 6.1; model sizes: its table 1, four bytes a parameter"
        ),
        size=np.array(list(MODELS.values()))[chosen],
        ps_bandwidth=bandwidth,
        worker_bandwidth=bandwidth,
    )


def _copies(chosen: list[int], left: np.ndarray) -> AllocationInstance:
    base = allocation_testbed()
    seen: dict[int, int] = {}
    labels = []
    for model in chosen:
        seen[model] = seen.get(model, 0) + 1
        labels.append(base.jobs[model] + (f"-{seen[model]}" if seen[model] > 1 else ""))
    columns = ("theta", "batch", "worker_demand", "ps_demand", "max_workers", "max_ps")
    return dataclasses.replace(
        base,
        jobs=tuple(labels),
        mode=tuple(base.mode[model] for model in chosen),
        steps=np.ceil(base.steps[chosen] * left),
        progress=1 - left,
        table=np.full(len(chosen), -1),
        job_sources=tuple(base.job_sources[model] for model in chosen),
        **{name: getattr(base, name)[chosen] for name in columns},
    )
