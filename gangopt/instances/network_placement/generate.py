"""Generators of the problem `network_placement`: real networks on named clusters, and random instances."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.checks import integer, number
from gangopt.instances.network_placement.instance import (
    MAX_MACHINES,
    MAX_PARAMETER_SERVERS,
    MAX_WORKERS,
    NetworkPlacementInstance,
)
from gangopt.instances.networks.models import tensor_model
from gangopt.topology import Cluster, cluster_names, named_cluster

__all__ = ["figure3", "map_tensors", "model", "named", "random"]

Mapping = Literal["round_robin", "greedy"]


def map_tensors(sizes: tuple[float, ...], servers: int, mapping: Mapping = "round_robin") -> np.ndarray:
    """Return the size held by each parameter server when all tensors are assigned, MiB.

    Parameters
    ----------
    sizes : tuple of float
        Size of every tensor, MiB.
    servers : int
        Number of parameter servers.
    mapping : Mapping, optional
        `round_robin`: tensor k goes to server k mod p, TensorFlow's default; `greedy`: tensors in descending size go
        to the server that holds least, ties to the lower number (TensorFlow's greedy strategy).
    """
    held = np.zeros(servers)
    if mapping == "round_robin":
        np.add.at(held, np.arange(len(sizes)) % servers, sizes)
        return held
    for size in sorted(sizes, reverse=True):
        held[int(np.argmin(held))] += size
    return held


def named(model: str, workers: int, cluster: str) -> NetworkPlacementInstance:
    """Return the job of a network on a half-busy named cluster, with the defaults of `model`.

    Parameters
    ----------
    model : str
        One of the ten networks, e.g. `vgg16`.
    workers : int
        Number of workers, and of parameter servers.
    cluster : str
        A named cluster with GPUs, e.g. `philly-2017`.
    """
    return _model_job(model, workers, cluster)


def model(
    model: str,
    workers: int = 8,
    cluster: str = "tiresias-testbed",
    servers: int | None = None,
    mapping: Mapping = "round_robin",
    busy: float = 0.5,
    traffic: float = 2.0,
    seed: int = 0,
) -> NetworkPlacementInstance:
    """Return the job of a network on a named cluster with other jobs.

    Each GPU is busy with probability `busy`. The traffic of a machine is the model size M times `traffic`, times the
    share of its GPUs that are busy, times a random number uniform on [0, 1): background traffic is measured in model
    sizes, so that neither it nor the job dominates.

    Parameters
    ----------
    model : str
        One of the ten networks, e.g. `vgg16`.
    workers : int, optional
        Number of workers.
    cluster : str, optional
        A named cluster with GPUs.
    servers : int or None, optional
        Number of parameter servers; None for one per worker.
    mapping : Mapping, optional
        Assignment of tensors to parameter servers, see `map_tensors`.
    busy : float, optional
        Probability that a GPU is busy.
    traffic : float, optional
        Largest background traffic of a machine, in model sizes.
    seed : int, optional
        Seed of the random number generator.
    """
    return _model_job(model, workers, cluster, servers, mapping, busy, traffic, seed)


def _model_job(
    model: str,
    workers: int,
    cluster: str,
    servers: int | None = None,
    mapping: Mapping = "round_robin",
    busy: float = 0.5,
    traffic: float = 2.0,
    seed: int = 0,
) -> NetworkPlacementInstance:
    tensors = tensor_model(model)
    if cluster not in cluster_names():
        raise unknown("cluster", cluster, cluster_names())
    count = workers if servers is None else servers
    integer("network_placement/model: workers", workers, 1, MAX_WORKERS)
    integer("network_placement/model: servers", count, 1, MAX_PARAMETER_SERVERS)
    number("network_placement/model: busy", busy, 0, 1)
    number("network_placement/model: traffic", traffic, 0, 1e6)
    integer("network_placement/model: seed", seed, 0)
    machines = named_cluster(cluster)
    gpus = _gpus(machines)
    generator = np.random.default_rng(seed)
    taken = generator.binomial(gpus, busy)
    share = taken / np.maximum(gpus, 1)
    load = tensors.size * traffic * share * generator.random(len(gpus))
    return NetworkPlacementInstance(
        name=f"network_placement/{model}-w{workers}-{cluster}",
        description=f"{model} with {workers} workers and {count} parameter servers on {cluster}, {busy:.0%} busy",
        source=f"tensors: {tensors.source}; background traffic and busy GPUs generated, seed {seed}",
        machines=tuple(machines.machines),
        free_gpus=gpus - taken,
        traffic=load,
        workers=workers,
        ps_sizes=map_tensors(tensors.sizes, count, mapping),
        skew=tensors.skew,
    )


def _gpus(cluster: Cluster) -> np.ndarray:
    return np.bincount(cluster.slot_machine[cluster.gpu_slot], minlength=len(cluster.machines)).astype(np.int64)


def figure3(model: str) -> NetworkPlacementInstance:
    """Return the first job of Tiresias's placement experiment: 8 workers, 8 servers, eight empty 4-GPU machines.

    Parameters
    ----------
    model : str
        One of the ten networks.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, section 2.2 and figure 3. The sequence of its four jobs is in
    `gangopt.solvers.network_placement.sequence.figure3_jobs`.
    """
    tensors = tensor_model(model)
    return NetworkPlacementInstance(
        name=f"network_placement/figure3-{model}",
        description=f"{model} with 8 workers and 8 parameter servers on eight empty machines of 4 GPUs",
        source=f"Tiresias (NSDI 2019), figure 3; tensors: {tensors.source}",
        machines=tuple(f"m{i}" for i in range(8)),
        free_gpus=np.full(8, 4),
        traffic=np.zeros(8),
        workers=8,
        ps_sizes=map_tensors(tensors.sizes, 8),
        skew=tensors.skew,
    )


def random(
    machines: int = 20,
    gpus: int = 8,
    workers: int = 8,
    servers: int | None = None,
    spread: float = 1.0,
    traffic: float = 4.0,
    seed: int = 0,
) -> NetworkPlacementInstance:
    """Return random machines and a job of 512 MiB with skewed parameter servers.

    Free GPUs are uniform on 0, ..., `gpus`; traffic is uniform on [0, `traffic`) model sizes; parameter servers have
    sizes proportional to exp(`spread` z) with z standard normal.

    Parameters
    ----------
    machines : int, optional
        Number of machines.
    gpus : int, optional
        Most free GPUs of a machine.
    workers : int, optional
        Number of workers.
    servers : int or None, optional
        Number of parameter servers; None for one per worker.
    spread : float, optional
        Standard deviation of the logarithm of the sizes; 0 makes them equal.
    traffic : float, optional
        Largest background traffic of a machine, in model sizes.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If an argument is out of range.
    """
    family = "network_placement/random"
    count = workers if servers is None else servers
    integer(f"{family}: machines", machines, 1, MAX_MACHINES)
    integer(f"{family}: gpus", gpus, 0, 10**6)
    integer(f"{family}: workers", workers, 1, MAX_WORKERS)
    integer(f"{family}: servers", count, 1, MAX_PARAMETER_SERVERS)
    number(f"{family}: spread", spread, 0, 10)
    number(f"{family}: traffic", traffic, 0, 1e6)
    integer(f"{family}: seed", seed, 0)
    generator = np.random.default_rng(seed)
    weights = np.exp(spread * generator.standard_normal(count))
    size = 512.0
    return NetworkPlacementInstance(
        name=f"{family}?machines={machines}&gpus={gpus}&workers={workers}&servers={count}&seed={seed}",
        description=f"{workers} workers and {count} parameter servers of 512 MiB on {machines} random machines",
        source="generated",
        machines=tuple(f"m{i}" for i in range(machines)),
        free_gpus=generator.integers(0, gpus + 1, machines),
        traffic=size * traffic * generator.random(machines),
        workers=workers,
        ps_sizes=size * weights / weights.sum(),
    )
