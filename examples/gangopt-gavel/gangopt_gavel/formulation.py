r"""Formulation `rates` of `time_share`: the linear program of Gavel's max-min fairness.

.. math::

    \max z \quad\text{with}\quad z \le \sum_t x_{jt} T_{jt} / T_j^{\text{equal}} \;\forall j, \quad
    \sum_t x_{jt} \le 1 \;\forall j, \quad \sum_j s_j x_{jt} \le W_t \;\forall t, \quad x \ge 0
"""

from __future__ import annotations

import numpy as np
from pyomo.environ import Constraint, Expression, NonNegativeReals, Set, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.rows import Terms, at_most, linear, sum_of, sum_of_terms
from gangopt.formulations.size import require_size
from gangopt_gavel.instance import TimeShareInstance, TimeShareSolution

__all__ = ["Rates", "rates"]


class Rates(Formulation[TimeShareInstance, TimeShareSolution]):
    """Linear program over the time shares.

    Public components: Var `share` [job, type], for usable pairs; Var `least`; Expressions `ratio` [job] and
    `objective_value`, to be maximised. Jobs and types are indexed by label.

    References
    ----------
    Narayanan et al.: Gavel, OSDI 2020, section 4.1.
    """

    name = "rates"
    sense = "maximise"

    def _fill(self, block: Pyomo, instance: TimeShareInstance) -> None:
        pairs = np.argwhere(instance.usable).tolist()
        require_size("time_share rates", len(pairs) + 1)
        keys = [(instance.jobs[j], instance.gpu_types[t]) for j, t in pairs]
        block.jobs = Set(initialize=list(instance.jobs))
        block.gpu_types = Set(initialize=list(instance.gpu_types))
        block.usable = Set(initialize=keys, dimen=2)
        block.share = Var(block.usable, domain=NonNegativeReals, bounds=(0, 1))
        block.least = Var(domain=NonNegativeReals)
        of_job: dict[str, Terms] = {label: [] for label in instance.jobs}
        of_type: dict[str, Terms] = {label: [] for label in instance.gpu_types}
        speed = (instance.throughput / instance.equal_throughput[:, None]).tolist()
        for (j, t), (job, kind) in zip(pairs, keys, strict=True):
            of_job[job].append((speed[j][t], block.share[job, kind]))
            of_type[kind].append((float(instance.scale[j]), block.share[job, kind]))
        gpus = dict(zip(instance.gpu_types, instance.gpus.tolist(), strict=True))
        block.ratio = Expression(block.jobs, rule=lambda _, job: sum_of_terms(of_job[job]))
        block.least_of_all = Constraint(
            block.jobs, rule=lambda b, job: (0, sum_of_terms([*of_job[job], (-1.0, b.least)]), None)
        )
        block.one_time_per_job = Constraint(
            block.jobs, rule=lambda _, job: (None, sum_of([x for _, x in of_job[job]]), 1)
        )
        block.gpus_of_type = Constraint(
            block.gpu_types,
            rule=lambda _, kind: at_most(of_type[kind], gpus[kind]),
        )
        block.objective_value = Expression(expr=linear([1.0], [block.least]))

    def _read(self, block: Pyomo, instance: TimeShareInstance) -> TimeShareSolution:
        """Return the shares, scaled down where a limit is exceeded within the tolerances of the solver."""
        shares = np.zeros(instance.throughput.shape)
        for j, t in np.argwhere(instance.usable).tolist():
            shares[j, t] = max(0.0, value(block.share[instance.jobs[j], instance.gpu_types[t]]))
        shares /= np.maximum(1.0, shares.sum(axis=1, keepdims=True))
        shares /= np.maximum(1.0, instance.scale @ shares / instance.gpus)
        return TimeShareSolution.of(shares)

    def _hint(self, block: Pyomo, instance: TimeShareInstance, solution: TimeShareSolution) -> None:
        """Set every share and the least ratio."""
        for j, t in np.argwhere(instance.usable).tolist():
            block.share[instance.jobs[j], instance.gpu_types[t]].set_value(solution.shares[j][t])
        block.least.set_value(instance.evaluate(solution).objective)


rates = Rates()
