r"""Formulation `choice` of `allocation`: one binary for each job and non-dominated configuration.

.. math::

    \min \sum_{j, (p, w)} t_j(p, w)\, x_{jpw} \quad\text{with}\quad \sum_{(p, w)} x_{jpw} = 1 \;\forall j, \quad
    \sum_{j, (p, w)} (w O_j^r + p N_j^r)\, x_{jpw} \le C^r \;\forall r, \quad x \in \{0, 1\}

A multiple-choice knapsack with a row for each resource. Speeds may be arbitrary functions or tables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, Expression, Set, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.allocation.configurations import Configurations, capacity_rows, job_configurations
from gangopt.formulations.contract import Formulation
from gangopt.formulations.deadline import paced
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.size import require_size
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution

__all__ = ["Choice", "choice"]


@dataclass(frozen=True, eq=False)
class Choice(Formulation[AllocationInstance, AllocationSolution]):
    """Multiple-choice knapsack: one binary for each job and configuration.

    Public components, for a parent that couples blocks: Var `choose` [job, p, w]; Expressions `objective_value`
    (seconds, to be minimised), `completion_time` [job] (seconds), `workers` [job], `parameter_servers` [job] (tasks),
    `resource_use` [resource] (the resource's unit). Jobs are indexed by label.

    Attributes
    ----------
    configurations : Configurations or None
        The columns, with a class for each job; None for all non-dominated configurations. A parent model with rows
        of its own beyond the resources of the instance may need dominated configurations, too.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.
    InfeasibleError
        If no configuration of a job fits into the capacities.

    References
    ----------
    Optimus (EuroSys'18), eqns 5 to 8, linearised by enumeration.
    """

    name = "choice"
    sense = "minimise"
    configurations: Configurations | None = None

    def _fill(self, block: Pyomo, instance: AllocationInstance) -> None:
        columns = job_configurations(instance) if self.configurations is None else self.configurations
        require_size("allocation choice", len(columns.owner))
        labels = [instance.jobs[members[0]] for members in columns.classes]
        keys = [
            (labels[k], p, w)
            for k, p, w in paced(
                zip(columns.owner.tolist(), columns.ps.tolist(), columns.workers.tolist(), strict=True)
            )
        ]
        starts = np.searchsorted(columns.owner, np.arange(len(labels) + 1)).tolist()
        with PauseGC():
            block.jobs = Set(initialize=labels)
            block.resources = Set(initialize=list(instance.resources))
            block.configurations = Set(initialize=keys, dimen=3)
            block.choose = Var(block.configurations, domain=Binary)
            variables = list(block.choose.values())
            slices = {label: slice(a, b) for label, a, b in zip(labels, starts[:-1], starts[1:], strict=True)}

            def by_job(coefficients: list[float]) -> dict[str, Pyomo]:
                return {label: linear(coefficients[part], variables[part]) for label, part in slices.items()}

            block.one_configuration_per_job = Constraint(
                block.jobs, rule=lambda _, job: (1.0, sum_of(variables[slices[job]]), 1.0)
            )
            add_capacity(block, instance, columns, variables)
            block.completion_time = Expression(block.jobs, initialize=by_job(columns.seconds.tolist()))
            block.workers = Expression(block.jobs, initialize=by_job(columns.workers.tolist()))
            block.parameter_servers = Expression(block.jobs, initialize=by_job(columns.ps.tolist()))
            block.objective_value = Expression(expr=linear(columns.seconds.tolist(), variables))

    def _read(self, block: Pyomo, instance: AllocationInstance) -> AllocationSolution:
        """Return the solution given by `choose`: for each job, the configuration with the largest value."""
        best: dict[str, tuple[float, int, int]] = {}
        for (job, p, w), variable in block.choose.items():
            chosen = value(variable)
            if job not in best or chosen > best[job][0]:
                best[job] = (chosen, p, w)
        picked = [best[job] for job in instance.jobs]
        return AllocationSolution(tuple(w for _, _, w in picked), tuple(p for _, p, _ in picked))

    def _hint(self, block: Pyomo, instance: AllocationInstance, solution: AllocationSolution) -> None:
        """Set `choose` to a solution, for a warm start.

        A configuration that was dropped as dominated is replaced by the fastest one of the job that takes no more of
        any resource.
        """
        picked: dict[str, tuple[float, int, int]] = {}
        place = {job: j for j, job in enumerate(instance.jobs)}
        for job, p, w in paced(block.choose):
            j = place[job]
            dp, dw = p - solution.parameter_servers[j], w - solution.workers[j]
            if (dp * instance.ps_demand[j] + dw * instance.worker_demand[j] > 0).any():
                continue
            candidate = (instance.completion_time(j, p, w), p, w)
            picked[job] = min(picked.get(job, candidate), candidate)
        for (job, p, w), variable in block.choose.items():
            variable.set_value(int(picked[job][1:] == (p, w)), skip_validation=True)


choice = Choice()


def add_capacity(block: Pyomo, instance: AllocationInstance, columns: Configurations, variables: list[Pyomo]) -> None:
    """Add `resource_use` (natural units) and `resource_capacity` (row units, see `capacity_rows`).

    Parameters
    ----------
    block : Block
        Block with the Set `resources`.
    instance : AllocationInstance
        The allocation.
    columns : Configurations
        The columns.
    variables : list of Var
        Variable of each column.
    """
    use = columns.usage(instance)
    scaling = capacity_rows(instance)
    coefficients = scaling.coefficients(use)
    used, rows = {}, {}
    for r, name in enumerate(instance.resources):
        at = np.flatnonzero(use[:, r])
        chosen = [variables[i] for i in at.tolist()]
        used[name] = linear(use[at, r].tolist(), chosen)
        body = linear(coefficients[at, r].tolist(), chosen)
        rows[name] = (None, body, float(scaling.limit[r]))
    block.resource_use = Expression(block.resources, initialize=used)
    block.resource_capacity = Constraint(block.resources, rule=lambda _, name: rows[name])
