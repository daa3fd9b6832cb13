"""Machines and nodes of the tree to which requirements bind the jobs of a placement."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gangopt.base.contract import Violation
from gangopt.base.types import Bools, Ints
from gangopt.topology import Cluster, Requirement

__all__ = ["Bindings"]


class Bindings:
    """Machines and nodes to which requirements bind jobs.

    Parameters
    ----------
    cluster : Cluster
        The cluster, with K machines.
    requirements : tuple of Requirement
        One for each of J jobs, all of them possible on the cluster.
    """

    def __init__(self, cluster: Cluster, requirements: tuple[Requirement, ...]) -> None:
        self._cluster = cluster
        self._requirements = requirements

    @cached_property
    def _allowed(self) -> dict[Requirement, Bools]:
        return {item: item.machines(self._cluster) for item in set(self._requirements)}

    def allowed(self, job: int) -> Bools:
        """Return the mask of the machines that a job may use, shape (K,)."""
        return self._allowed[self._requirements[job]]

    @cached_property
    def domains(self) -> tuple[Ints | None, ...]:
        """For each job, the index of the node of its required level that contains each machine, None without one."""
        levels = [item.level for item in self._requirements]
        found = {level: self._cluster.machine_domain(level) for level in set(levels) - {"", "cluster"}}
        return tuple(found.get(level) for level in levels)

    def columns(self, most_tasks: int) -> tuple[Ints, Ints]:
        """Return the sets of machines to which jobs are bound as resources, of which every task takes one.

        Parameters
        ----------
        most_tasks : int
            Most tasks that a job can ever have. The room must not depend on the tasks that it has: an interval takes
            the room from one configuration of its jobs for all of them.

        Returns
        -------
        tuple of ndarray of int
            Room of each machine, shape (K, sets), and demand of a task of each job, shape (J, sets).
        """
        bound = {item: mask.tobytes() for item, mask in self._allowed.items() if not mask.all()}
        sets: dict[bytes, list[int]] = {}
        for j, requirement in enumerate(self._requirements) if bound else ():
            if requirement in bound:
                sets.setdefault(bound[requirement], []).append(j)
        rows = np.zeros((len(self._cluster.machines), len(sets)), dtype=np.int64)
        demands = np.zeros((len(self._requirements), len(sets)), dtype=np.int64)
        for column, (mask, jobs) in enumerate(sets.items()):
            rows[np.frombuffer(mask, dtype=np.bool_), column] = most_tasks * len(jobs)
            demands[jobs, column] = 1
        return rows, demands

    def violations(self, job: int, where: str, machines: list[int]) -> list[Violation]:
        """Return the rules `allowed_machine` and `required_level` that the machines of a job break.

        Parameters
        ----------
        job : int
            Index of the job.
        where : str
            Name of the job in violations.
        machines : list of int
            Machines that host it.
        """
        allowed, domain = self.allowed(job), self.domains[job]
        found = [
            Violation("allowed_machine", f"{where}, machine {self._cluster.machines[machine]}", 1, 0, "pieces")
            for machine in machines
            if not allowed[machine]
        ]
        nodes = 1 if domain is None else len(set(domain[machines].tolist()))
        if nodes > 1:
            level = self._requirements[job].level
            found.append(Violation("required_level", where, nodes, 1, f"nodes of level {level}"))
        return found
