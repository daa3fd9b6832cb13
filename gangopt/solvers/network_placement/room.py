"""Room of machines for the tasks of a job: GPUs and further resources, in whole tasks."""

from __future__ import annotations

import numpy as np

from gangopt.base.errors import InfeasibleError
from gangopt.instances.network_placement.instance import RESOURCE_TOLERANCE, NetworkPlacementInstance

__all__ = ["Room", "require_gpus"]


def require_gpus(instance: NetworkPlacementInstance) -> None:
    """Reject a job that requires more GPUs than are free.

    Raises
    ------
    InfeasibleError
        The message has both numbers.
    """
    free = int(instance.free_gpus.sum())
    if free < instance.workers:
        raise InfeasibleError(f"all_workers_placed: {instance.workers} workers, but only {free} GPUs are free")


class Room:
    """Resources left on every machine while tasks are placed one by one.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.
    workers : ndarray or None, optional
        Workers already placed on every machine, None for none.
    """

    def __init__(self, instance: NetworkPlacementInstance, workers: np.ndarray | None = None) -> None:
        assert instance.free_capacity is not None
        assert instance.worker_demand is not None
        assert instance.ps_demand is not None
        self._gpus = instance.free_gpus
        self._worker, self._ps = instance.worker_demand, instance.ps_demand
        self._limits = instance.free_capacity * (1 + RESOURCE_TOLERANCE)
        self._use = np.zeros_like(self._limits)
        if workers is not None:
            self._use += np.outer(workers, self._worker)

    def takes_ps(self, machine: int) -> bool:
        """Return whether a machine has room for one more parameter server."""
        return bool((self._use[machine] + self._ps <= self._limits[machine]).all())

    def add_ps(self, machine: int) -> None:
        """Reserve the resources of one parameter server."""
        self._use[machine] += self._ps

    def worker_room(self) -> np.ndarray:
        """Return the number of workers that fit on each machine, shape (machines,)."""
        room = self._gpus
        for r in np.flatnonzero(self._worker):
            rest = np.floor((self._limits[:, r] - self._use[:, r]) / self._worker[r])
            room = np.clip(rest, 0, room).astype(np.int64)
        return room
