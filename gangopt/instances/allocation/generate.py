"""Generators of the problem `allocation`."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gangopt.base.checks import integer
from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Floats, Ints
from gangopt.instances.allocation.instance import MAX_CONFIGURATIONS, AllocationInstance

__all__ = ["NODE", "random"]

RESOURCES = ("cpu", "memory", "gpu")
UNITS = ("core", "GB", "GPU")
NODE = (16.0, 48.0, 2.0)
"""Cores, GB and GPUs of one node in the public scheduler of Optimus's first author."""

WORKER = np.array([[2.0, 8.0, 1.0], [2.0, 10.0, 1.0], [2.0, 10.0, 1.0]])
SERVER = np.array([[3.0, 9.0, 0.0], [4.0, 10.0, 0.0], [3.0, 10.0, 0.0]])
BATCH = np.array([32.0, 32.0, 128.0])
"""Demands and batch sizes of ResNet-50, VGG-16 and ResNeXt-110 in the same public scheduler."""

ASYNC_ROWS = np.array([[2.8335, 3.9188, 0.0, 0.505], [1.8432, 3.8148, 0.0331, 0.3584], [4.0933, 3.679, 0.0, 0.6471]])
"""Fitted asynchronous coefficients in seconds, from the public trace of DL2 by the same author."""

SYNC_ROW = np.array([1.0203, 2.7765, 4.9247, 0.0016, 0.02])
"""Fitted synchronous coefficients in seconds (the first four from the same list), for a batch of `SYNC_BATCH`."""

SYNC_BATCH = 40.0

MAX_JOBS, MAX_NODES, MAX_TASKS = 1_000_000, 10_000_000, 1_000


def random(
    jobs: int = 50,
    nodes: int | None = None,
    max_tasks: int = 20,
    load: float = 0.0,
    mode: Literal["async", "sync", "mixed"] = "mixed",
    seed: int = 0,
) -> AllocationInstance:
    """Return random jobs of three model types on equal nodes of 16 cores, 48 GB and 2 GPUs.

    Every job draws one of three types (demands and batch size), a row of fitted coefficients, each scaled by a
    log-normal factor (sigma 0.5), and steps left, log-uniform from 1,000 to 100,000. A worker takes one GPU and a
    parameter server none, so GPUs are the bottleneck as soon as jobs have far fewer than they can use.

    Parameters
    ----------
    jobs : int, optional
        Number of jobs, 1 to 1,000,000.
    nodes : int or None, optional
        Number of nodes; default: two per job, the ratio of the paper's largest simulation.
    max_tasks : int, optional
        Largest number of workers and of parameter servers of a job.
    load : float, optional
        Fraction of every capacity that other work holds, at least 0 and below 1; capacities are rounded down to
        integers.
    mode : {'async', 'sync', 'mixed'}, optional
        `async` (eqn 3), `sync` (eqn 4), or `mixed`, which draws one of both for each job.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If an argument is out of range, or the configurations of all jobs would not fit into memory.

    References
    ----------
    Optimus (EuroSys'18), sections 3.2 and 6.2; github pengyanghua/optimus, `scheduler/jobrepo.py`, `params.py`;
    github pengyanghua/DL2, `trace.py`.
    """
    nodes = 2 * jobs if nodes is None else nodes
    integer("allocation/random: jobs", jobs, 1, MAX_JOBS)
    integer("allocation/random: nodes", nodes, 1, MAX_NODES)
    integer("allocation/random: max_tasks", max_tasks, 1, MAX_TASKS)
    integer("allocation/random: seed", seed, 0)
    if not 0 <= load < 1:
        raise InputError(f"allocation/random: load must be >= 0 and < 1 (got {load:g})")
    integer("allocation/random: jobs x max_tasks^2", jobs * max_tasks**2, 1, MAX_CONFIGURATIONS)
    capacity = np.floor(nodes * np.array(NODE) * (1 - load) + 1e-9)
    if not capacity.all():
        raise InputError(f"allocation/random: nodes={nodes} at load={load:g} leave less than one unit of a resource")
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, jobs)
    sync = {"async": np.zeros(jobs, bool), "sync": np.ones(jobs, bool), "mixed": rng.random(jobs) < 0.5}[mode]
    theta, batch = _coefficients(rng, kind, sync)
    return AllocationInstance(
        name="allocation/random",
        description=f"{jobs} {mode} jobs of three model types on {nodes} equal nodes, {load:g} of each held by others",
        source="demands, batch sizes and node shape: public code of Optimus; fitted rows: public code of DL2; scaled",
        resources=RESOURCES,
        units=UNITS,
        capacity=capacity,
        jobs=tuple(f"job-{j}" for j in range(jobs)),
        steps=np.round(10 ** rng.uniform(3, 5, jobs)),
        mode=tuple(np.where(sync, "sync", "async").tolist()),
        theta=theta,
        batch=batch,
        worker_demand=WORKER[kind],
        ps_demand=SERVER[kind],
        max_workers=np.full(jobs, max_tasks),
        max_ps=np.full(jobs, max_tasks),
        progress=rng.random(jobs),
    )


def _coefficients(rng: np.random.Generator, kind: Ints, sync: Bools) -> tuple[Floats, Floats]:
    theta = np.zeros((len(kind), 5))
    batch = np.where(sync, BATCH[kind], 0.0)
    theta[~sync, :4] = ASYNC_ROWS[rng.integers(0, len(ASYNC_ROWS), len(kind))[~sync]]
    theta[sync] = SYNC_ROW
    # theta_0 is per sample: rescaled so that a whole batch takes as long as where the row was fitted
    theta[sync, 0] *= SYNC_BATCH / batch[sync]
    return theta * rng.lognormal(0.0, 0.5, theta.shape), batch
