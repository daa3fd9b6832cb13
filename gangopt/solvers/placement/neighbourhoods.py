"""Small parts of a placement, solved again by the per-server model while the rest is fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangopt.formulations.placement import Pieces
from gangopt.formulations.placement.data import PlacementData, levels_of
from gangopt.formulations.placement.fixed_levels import fixed_levels_model, read_fixed_levels
from gangopt.instances.placement.instance import PER_UNIT, PlacementInstance
from gangopt.instances.placement.reasons import paused_reasons
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.solvers.highs import SolverOutcome, SolveSettings, solve_model
from gangopt.solvers.placement.bound import levels_within

__all__ = ["Held", "Neighbourhood", "neighbourhood_of"]

Held = dict[int, tuple[tuple[int, int, int], ...]]
"""Pieces (server, parameter servers, workers) by index of every placed job."""

SERVERS_BESIDE = 16
"""Number of servers with the most room added to those of the chosen jobs."""


@dataclass(frozen=True)
class Neighbourhood:
    """Some jobs and servers of an instance, as an instance of its own.

    Attributes
    ----------
    part : PlacementInstance
        The jobs on the servers, with the capacity that the other jobs leave free.
    jobs, servers : tuple of int
        Their indices in the whole instance.
    """

    part: PlacementInstance
    jobs: tuple[int, ...]
    servers: tuple[int, ...]

    def within(self, settings: SolveSettings, limits: Mapping[int, float]) -> tuple[SolverOutcome, Held | None]:
        """Place the most jobs of the part, each within its own transfer time.

        Parameters
        ----------
        settings : SolveSettings
            How to solve.
        limits : mapping of int to float
            Maximum transfer time in seconds by index of the job in the whole instance; other jobs are paused.

        Returns
        -------
        tuple of SolverOutcome and dict
            Pieces of the placed jobs with the indices of the whole instance; None without a solution.
        """
        model = fixed_levels_model(self.part, {at: limits[j] for at, j in enumerate(self.jobs) if j in limits})
        outcome = solve_model(model, settings)
        return outcome, None if outcome.values is None else self.whole(read_fixed_levels(model, self.part).pieces)

    def better(self, settings: SolveSettings, held: Held) -> tuple[SolverOutcome, Held | None]:
        """Minimise the objective of the part, starting from the current pieces of its jobs.

        Parameters
        ----------
        settings : SolveSettings
            How to solve.
        held : Held
            Pieces of the placed jobs of the whole instance.

        Returns
        -------
        tuple of SolverOutcome and dict
            As for `within`.
        """
        number = {k: at for at, k in enumerate(self.servers)}
        pieces = [tuple((number[k], x, y) for k, x, y in held.get(j, ())) for j in self.jobs]
        start = PlacementSolution(tuple(pieces), paused_reasons(self.part, pieces))
        data = PlacementData.of(self.part)
        levels = [levels_of(job, data.classes) for job in data.jobs]
        objective = self.part.evaluate(start).objective
        form = Pieces(levels_within(self.part, data, levels, objective))
        model = form.model(self.part)
        form.hint(model, self.part, start)
        outcome = solve_model(model, settings, warm_start=True)
        return outcome, None if outcome.values is None else self.whole(form.read(model, self.part).pieces)

    def whole(self, pieces: Sequence[tuple[tuple[int, int, int], ...]]) -> Held:
        """Return pieces of the part with the indices of the whole instance, without the paused jobs."""
        return {
            j: tuple((self.servers[k], x, y) for k, x, y in items)
            for j, items in zip(self.jobs, pieces, strict=True)
            if items
        }


def neighbourhood_of(
    instance: PlacementInstance, held: Held, jobs: Sequence[int], beside: int = SERVERS_BESIDE
) -> Neighbourhood:
    """Return some jobs with the servers they are on and those with the most room.

    Parameters
    ----------
    instance : PlacementInstance
        The whole placement.
    held : Held
        Pieces of every placed job.
    jobs : sequence of int
        The jobs to place again.
    beside : int, optional
        Number of servers with the most room to add.
    """
    chosen = sorted(set(jobs))
    free = free_beside(instance, held, chosen)
    own = {piece[0] for j in chosen for piece in held.get(j, ())}
    capacity = np.maximum(1, instance.capacity_millionths.max(axis=0))
    room = (free / capacity).sum(axis=1)
    others = [k for k in np.argsort(-room, kind="stable").tolist() if k not in own]
    servers = sorted(own.union(others[:beside]))
    columns = {
        name: getattr(instance, name)[chosen]
        for name in (
            "parameter_servers",
            "workers",
            "size",
            "ps_bandwidth",
            "worker_bandwidth",
            "steps",
            "compute",
            "pause_charge",
        )
    }
    # positions as labels keep the order of the machines, and resources without names the cluster without GPU nodes
    names = tuple(f"r{r}" for r in range(free.shape[1]))
    part = PlacementInstance.from_machines(
        name=instance.name,
        jobs=tuple(instance.jobs[j] for j in chosen),
        machines=tuple(f"m{at}" for at in range(len(servers))),
        capacity=free[servers] / PER_UNIT,
        resources=names,
        objective=instance.objective,
        charge=instance.charge,
        ps_demand=instance.ps_millionths[chosen] / PER_UNIT,
        worker_demand=instance.worker_millionths[chosen] / PER_UNIT,
        **columns,
    )
    return Neighbourhood(part, tuple(chosen), tuple(servers))


def free_beside(instance: PlacementInstance, held: Held, jobs: Sequence[int]) -> NDArray[np.int64]:
    """Return the free capacity of every server without some jobs, millionths of the unit, shape (K, R)."""
    free = instance.capacity_millionths.copy()
    for j, pieces in held.items():
        if j not in jobs:
            for k, x, y in pieces:
                free[k] -= x * instance.ps_millionths[j] + y * instance.worker_millionths[j]
    return free
