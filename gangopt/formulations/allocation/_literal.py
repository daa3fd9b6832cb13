r"""Formulation `literal` of `allocation`: the nonlinear integer program as published.

.. math::

    \min \sum_j t_j, \quad t_j = Q_j / f_j(p_j, w_j), \quad \sum_j (w_j O_j^r + p_j N_j^r) \le C^r, \quad
    p_j, w_j \in \mathbb{Z}^+

It can be built, checked and exported (NL), but linear solvers do not accept it.
"""

from __future__ import annotations

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.environ import (
    Constraint,
    Expression,
    NonNegativeReals,
    PositiveIntegers,
    Set,
    Var,
    value,
)

from gangopt.base.errors import InputError
from gangopt.base.types import Pyomo
from gangopt.formulations.allocation.configurations import capacity_rows
from gangopt.formulations.contract import Formulation
from gangopt.formulations.deadline import require_time
from gangopt.formulations.rows import linear
from gangopt.formulations.size import require_size
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution

__all__ = ["Literal", "literal"]


class Literal(Formulation[AllocationInstance, AllocationSolution]):
    """The nonlinear integer program as published, eqns 5 to 8.

    Public components: Vars `workers` [job], `parameter_servers` [job] (tasks) and `completion_time` [job] (seconds);
    Expressions `speed` [job] (steps per second), `resource_use` [resource] and `objective_value` (seconds, to be
    minimised). Jobs are indexed by label. Constraint `resource_capacity` [resource] is written in the units of
    `capacity_rows`, in which demands are integers if possible.

    Raises
    ------
    InputError
        If a job's speed is a measured table, which has no algebraic form.
    ModelTooLargeError
        If the model would have too many columns.

    References
    ----------
    Optimus (EuroSys'18), eqns 3 to 8.
    """

    name = "literal"
    sense = "minimise"
    linear = False

    def _fill(self, block: Pyomo, instance: AllocationInstance) -> None:
        if "table" in instance.mode:
            j = instance.mode.index("table")
            raise InputError(
                f"formulation literal requires speed functions (job {j} ({instance.jobs[j]}) has a measured table); "
                "use formulation choice"
            )
        J = len(instance.jobs)
        require_size("allocation literal", 3 * J)
        place = {label: j for j, label in enumerate(instance.jobs)}
        with PauseGC():
            block.jobs = Set(initialize=list(instance.jobs))
            block.resources = Set(initialize=list(instance.resources))
            block.workers = Var(
                block.jobs,
                domain=PositiveIntegers,
                bounds=lambda _, job: (1, int(instance.max_workers[place[job]])),
                initialize=1,
            )
            block.parameter_servers = Var(
                block.jobs,
                domain=PositiveIntegers,
                bounds=lambda _, job: (1, int(instance.max_ps[place[job]])),
                initialize=1,
            )
            block.completion_time = Var(block.jobs, domain=NonNegativeReals)
            block.speed = Expression(
                block.jobs,
                rule=lambda b, job: _speed(instance, place[job], b.parameter_servers[job], b.workers[job]),
            )
            block.time_is_steps_over_speed = Constraint(
                block.jobs,
                rule=lambda b, job: b.completion_time[job] == float(instance.steps[place[job]]) / b.speed[job],
            )
            _add_capacity(block, instance)
            block.objective_value = Expression(expr=sum(block.completion_time[job] for job in block.jobs))

    def _read(self, block: Pyomo, instance: AllocationInstance) -> AllocationSolution:
        """Return the solution given by `workers` and `parameter_servers`, rounded."""
        return AllocationSolution(
            tuple(round(value(block.workers[job])) for job in instance.jobs),
            tuple(round(value(block.parameter_servers[job])) for job in instance.jobs),
        )

    def _hint(self, block: Pyomo, instance: AllocationInstance, solution: AllocationSolution) -> None:
        """Set every variable to a solution, including completion times."""
        for j, job in enumerate(instance.jobs):
            p, w = solution.parameter_servers[j], solution.workers[j]
            block.parameter_servers[job].set_value(p)
            block.workers[job].set_value(w)
            block.completion_time[job].set_value(instance.completion_time(j, p, w))


literal = Literal()


def _speed(instance: AllocationInstance, j: int, p: Pyomo, w: Pyomo) -> Pyomo:
    require_time()
    t0, t1, t2, t3, t4 = instance.theta[j].tolist()
    if instance.mode[j] == "async":
        return w / (t0 + t1 * w / p + t2 * w + t3 * p)
    return 1 / (t0 * float(instance.batch[j]) / w + t1 + t2 * w / p + t3 * w + t4 * p)


def _add_capacity(block: Pyomo, instance: AllocationInstance) -> None:
    place = {name: r for r, name in enumerate(instance.resources)}
    tasks = [*block.workers.values(), *block.parameter_servers.values()]
    demand = np.concatenate((instance.worker_demand, instance.ps_demand))
    rows = capacity_rows(instance)
    scaled = rows.coefficients(demand)

    block.resource_use = Expression(
        block.resources, rule=lambda _, name: linear(demand[:, place[name]].tolist(), tasks)
    )
    block.resource_capacity = Constraint(
        block.resources,
        rule=lambda _, name: (None, linear(scaled[:, place[name]].tolist(), tasks), float(rows.limit[place[name]])),
    )
