r"""Formulation `counts` of `allocation`: equal jobs merged into classes, one integer for each class and configuration.

.. math::

    \min \sum_{k, (p, w)} t_k(p, w)\, n_{kpw} \quad\text{with}\quad \sum_{(p, w)} n_{kpw} = |J_k| \;\forall k, \quad
    \sum_{k, (p, w)} (w O_k^r + p N_k^r)\, n_{kpw} \le C^r \;\forall r, \quad n \in \mathbb{Z}_{\ge 0}

Optimum and relaxation equal those of `choice`; permutations of equal jobs are gone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.environ import (
    Constraint,
    Expression,
    NonNegativeIntegers,
    Param,
    Set,
    Var,
    value,
)

from gangopt.base.types import Pyomo
from gangopt.formulations.allocation._choice import add_capacity
from gangopt.formulations.allocation.configurations import Configurations, class_configurations
from gangopt.formulations.contract import Formulation
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.size import require_size
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution, equal_job_classes

__all__ = ["Counts", "counts"]


@dataclass(frozen=True, eq=False)
class Counts(Formulation[AllocationInstance, AllocationSolution]):
    """The model over classes of equal jobs: one integer for each class and configuration.

    Public components: Var `number` [class, p, w]; Param `jobs_in_class` [class]; Expressions `objective_value`
    (seconds, to be minimised) and `resource_use` [resource]. A class has the label of its first job.

    Attributes
    ----------
    configurations : Configurations or None
        The columns; None for all non-dominated configurations of each class.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.
    InfeasibleError
        If no configuration of a job fits into the capacities.
    """

    name = "counts"
    sense = "minimise"
    configurations: Configurations | None = None

    def _fill(self, block: Pyomo, instance: AllocationInstance) -> None:
        columns = class_configurations(instance) if self.configurations is None else self.configurations
        require_size("allocation counts", len(columns.owner))
        labels = [instance.jobs[members[0]] for members in columns.classes]
        sizes = [len(members) for members in columns.classes]
        owners = columns.owner.tolist()
        keys = [
            (labels[k], p, w) for k, p, w in zip(owners, columns.ps.tolist(), columns.workers.tolist(), strict=True)
        ]
        starts = np.searchsorted(columns.owner, np.arange(len(labels) + 1)).tolist()
        with PauseGC():
            block.classes = Set(initialize=labels)
            block.resources = Set(initialize=list(instance.resources))
            block.configurations = Set(initialize=keys, dimen=3)
            block.jobs_in_class = Param(block.classes, initialize=dict(zip(labels, sizes, strict=True)))
            block.number = Var(block.configurations, domain=NonNegativeIntegers)
            variables = list(block.number.values())
            for variable, k in zip(variables, owners, strict=True):
                variable.setub(sizes[k])
            rows = {
                label: (float(size), sum_of(variables[a:b]), float(size))
                for label, size, a, b in zip(labels, sizes, starts[:-1], starts[1:], strict=True)
            }
            block.one_configuration_per_job = Constraint(block.classes, rule=lambda _, label: rows[label])
            add_capacity(block, instance, columns, variables)
            block.objective_value = Expression(expr=linear(columns.seconds.tolist(), variables))

    def _read(self, block: Pyomo, instance: AllocationInstance) -> AllocationSolution:
        """Return the solution given by `number`: the jobs of a class take its configurations in order."""
        taken: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for (label, p, w), variable in block.number.items():
            taken[label] += [(p, w)] * round(value(variable))
        ps, workers = [0] * len(instance.jobs), [0] * len(instance.jobs)
        for members in equal_job_classes(instance):
            for j, (p, w) in zip(members, taken[instance.jobs[members[0]]], strict=False):
                ps[j], workers[j] = p, w
        return AllocationSolution(tuple(workers), tuple(ps))

    def _hint(self, block: Pyomo, instance: AllocationInstance, solution: AllocationSolution) -> None:
        """Set `number` to a solution, for a warm start; dropped configurations are replaced as in `Choice`."""
        offered = defaultdict(list)
        for label, p, w in block.number:
            offered[label].append((p, w))
        count: dict[tuple[str, int, int], int] = defaultdict(int)
        for members in equal_job_classes(instance):
            label = instance.jobs[members[0]]
            for j in members:
                p, w = _replacement(instance, j, offered[label], solution)
                count[label, p, w] += 1
        for key, variable in block.number.items():
            variable.set_value(count[key], skip_validation=True)


counts = Counts()


def _replacement(
    instance: AllocationInstance, j: int, offered: list[tuple[int, int]], solution: AllocationSolution
) -> tuple[int, int]:
    p, w = solution.parameter_servers[j], solution.workers[j]
    if (p, w) in offered:
        return p, w
    no_larger = [
        (instance.completion_time(j, a, b), a, b)
        for a, b in offered
        if ((a - p) * instance.ps_demand[j] + (b - w) * instance.worker_demand[j] <= 0).all()
    ]
    return min(no_larger)[1:]
