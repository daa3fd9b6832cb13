"""Published and simple rules that place a job's workers and parameter servers."""

from __future__ import annotations

import heapq

import numpy as np

from gangopt.base.errors import InputError, NoSolutionError
from gangopt.instances.network_placement.instance import NetworkPlacementInstance, NetworkPlacementSolution
from gangopt.solvers.network_placement.room import Room, require_gpus

__all__ = ["LIMIT", "consolidate", "greedy_load", "packlimit", "random"]

LIMIT = 0.378
"""Default PACKLIMIT: midway between 0.146 and 0.610, the skews that separate the ten published networks."""


def packlimit(instance: NetworkPlacementInstance, *, limit: float = LIMIT) -> NetworkPlacementSolution:
    """Apply Tiresias's rule: consolidate a job whose skew exceeds the limit, and spread any other.

    Spread: machines with the fewest free GPUs first (at least one, ties to the lowest index), each filled before the
    next, so that leftovers are used up and whole machines stay free. Parameter server j joins the host of worker
    j mod W, workers counted machine by machine in the order in which the machines were taken.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.
    limit : float, optional
        PACKLIMIT, compared with the instance's `skew`.

    Raises
    ------
    InfeasibleError
        If fewer GPUs are free than the job has workers.
    NoSolutionError
        If this rule exhausts another resource.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, section 3.3.2.
    """
    if not 0 <= limit <= 1:
        raise InputError(f"packlimit: limit must be from 0 to 1 (got {limit})")
    assert instance.skew is not None
    return consolidate(instance) if instance.skew > limit else _filled(instance, descending=False)


def consolidate(instance: NetworkPlacementInstance) -> NetworkPlacementSolution:
    """Use the fewest machines: the most free GPUs first, and the last one by best fit.

    Ties go to the lowest index; best fit takes the machine with the fewest free GPUs that still holds the rest.
    Parameter servers go round robin with the workers, as in `packlimit`.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.

    Raises
    ------
    InfeasibleError, NoSolutionError
        As `packlimit`.
    """
    return _filled(instance, descending=True)


def random(instance: NetworkPlacementInstance, *, seed: int = 0) -> NetworkPlacementSolution:
    """Place every worker on a random free GPU, and parameter servers round robin with the workers.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.
    seed : int, optional
        Seed of the random choice.

    Raises
    ------
    InfeasibleError, NoSolutionError
        As `packlimit`.
    """
    require_gpus(instance)
    room = Room(instance).worker_room()
    if room.sum() < instance.workers:
        raise _no_room(instance, "workers", int(room.sum()), instance.workers)
    # draw without replacement from the free GPUs; only the count on each machine matters
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(room, instance.workers, method="count")
    order = np.flatnonzero(drawn)
    return _round_robin(instance, [(int(i), int(drawn[i])) for i in order])


def greedy_load(instance: NetworkPlacementInstance) -> NetworkPlacementSolution:
    """Place each task where the resulting load is smallest: parameter servers in descending size, then workers.

    Parameter servers are placed before any worker, so machine i gets T_i = t_i + W S_i. A worker adds M - 2 S_i. Ties
    go to the lowest index.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.

    Raises
    ------
    InfeasibleError, NoSolutionError
        As `packlimit`.
    """
    require_gpus(instance)
    room = Room(instance)
    sizes = instance.ps_sizes.tolist()
    hosts = [0] * len(sizes)
    hosted = np.zeros(len(instance.machines))
    loads = list(zip(instance.traffic.tolist(), range(len(instance.machines)), strict=True))
    heapq.heapify(loads)
    for placed, j in enumerate(sorted(range(len(sizes)), key=lambda item: (-sizes[item], item))):
        while loads and not room.takes_ps(loads[0][1]):
            heapq.heappop(loads)
        if not loads:
            raise _no_room(instance, "parameter servers", placed, len(sizes))
        load, i = loads[0]
        hosts[j] = i
        hosted[i] += sizes[j]
        room.add_ps(i)
        heapq.heapreplace(loads, (load + instance.workers * sizes[j], i))
    return NetworkPlacementSolution(tuple(_least_load_workers(instance, hosted, room.worker_room())), tuple(hosts))


def _least_load_workers(instance: NetworkPlacementInstance, hosted: np.ndarray, room: np.ndarray) -> list[int]:
    steps = (instance.model_size - 2 * hosted).tolist()
    loads = (instance.traffic + instance.workers * hosted).tolist()
    left, counts = room.tolist(), [0] * len(steps)
    heap = [(loads[i] + steps[i], i) for i in range(len(steps)) if left[i]]
    heapq.heapify(heap)
    for placed in range(instance.workers):
        if not heap:
            raise _no_room(instance, "workers", placed, instance.workers)
        load, i = heap[0]
        counts[i] += 1
        if counts[i] < left[i]:
            heapq.heapreplace(heap, (load + steps[i], i))
        else:
            heapq.heappop(heap)
    return counts


def _filled(instance: NetworkPlacementInstance, *, descending: bool) -> NetworkPlacementSolution:
    """Fill machines in order of room, ties to the lowest index; in descending order, choose the last by best fit."""
    require_gpus(instance)
    room = Room(instance).worker_room()
    order = np.argsort(-room if descending else room, kind="stable")
    order = order[room[order] > 0]
    filled = np.cumsum(room[order])
    if not len(filled) or filled[-1] < instance.workers:
        raise _no_room(instance, "workers", int(filled[-1]) if len(filled) else 0, instance.workers)
    last = int(np.searchsorted(filled, instance.workers))
    taken = order[:last]
    rest = instance.workers - (int(filled[last - 1]) if last else 0)
    chosen = int(order[last])
    if descending:
        fitting = order[last:][room[order[last:]] >= rest]
        chosen = int(fitting[np.argmin(room[fitting])])
    return _round_robin(instance, [*zip(taken.tolist(), room[taken].tolist(), strict=True), (chosen, rest)])


def _round_robin(instance: NetworkPlacementInstance, filled: list[tuple[int, int]]) -> NetworkPlacementSolution:
    """Put parameter server j with worker j mod W, or with the next worker that has room for it."""
    workers = np.zeros(len(instance.machines), dtype=np.int64)
    hosts_of_workers: list[int] = []
    for i, count in filled:
        workers[i] = count
        hosts_of_workers += [i] * count
    total = len(hosts_of_workers)
    servers = len(instance.ps_sizes)
    if not instance.resources:
        hosts = (hosts_of_workers * -(-servers // total))[:servers]
        return NetworkPlacementSolution(tuple(workers.tolist()), tuple(hosts))
    room = Room(instance, workers)
    hosts = []
    for j in range(servers):
        with_room = (hosts_of_workers[(j + k) % total] for k in range(total))
        host = next((i for i in with_room if room.takes_ps(i)), None)
        if host is None:
            host = next((i for i in range(len(workers)) if room.takes_ps(i)), None)
        if host is None:
            raise _no_room(instance, "parameter servers", j, servers)
        room.add_ps(host)
        hosts.append(host)
    return NetworkPlacementSolution(tuple(workers.tolist()), tuple(hosts))


def _no_room(instance: NetworkPlacementInstance, what: str, placed: int, wanted: int) -> NoSolutionError:
    return NoSolutionError(
        f"resource_capacity ({', '.join(instance.resources)}): this rule finds room for {placed} of {wanted} {what}"
    )
