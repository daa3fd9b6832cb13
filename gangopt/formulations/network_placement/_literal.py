r"""Formulation `literal` of `network_placement`: the published program, linearised.

.. math::

    \min T \quad\text{with}\quad T \ge t_i + M w_i + W \sum_j s_j p_{ij} - 2 \sum_j s_j q_{ij} \;\forall i,\quad
    w_i \le g_i,\quad \sum_i w_i = W,\quad \sum_i p_{ij} = 1 \;\forall j,\quad q_{ij} = w_i p_{ij}

The product of an integer in [0, U_i], U_i = min(g_i, W), and a binary is exact under McCormick's four inequalities.
"""

from __future__ import annotations

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import (
    Binary,
    Constraint,
    Expression,
    NonNegativeIntegers,
    NonNegativeReals,
    RangeSet,
    Set,
    Var,
    value,
)

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.size import require_size
from gangopt.instances.network_placement.instance import (
    NetworkPlacementInstance,
    NetworkPlacementSolution,
    machine_loads,
)

__all__ = ["Literal", "literal"]


class Literal(Formulation[NetworkPlacementInstance, NetworkPlacementSolution]):
    """The published integer program.

    Public components, for a parent that couples blocks: Vars `workers` [machine] (workers), `place` [machine, server]
    (1 where the server is), `product` [machine, server] (workers beside the server), `largest_load` (MiB per
    iteration); Expressions `machine_load` [machine] and `objective_value` (MiB per iteration, to be minimised).
    Machines and servers are counted from 0.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, appendix D.
    """

    name = "literal"
    sense = "minimise"

    def _fill(self, block: Pyomo, instance: NetworkPlacementInstance) -> None:
        m, servers = len(instance.machines), len(instance.ps_sizes)
        require_size("network_placement literal", 2 * m * servers + m + 1)
        size, total = instance.model_size, instance.workers
        sizes, traffic = instance.ps_sizes.tolist(), instance.traffic.tolist()
        most = [min(int(g), total) for g in instance.free_gpus]
        with PauseGC():
            block.machines = RangeSet(0, m - 1)
            block.servers = RangeSet(0, servers - 1)
            block.workers = Var(block.machines, domain=NonNegativeIntegers, bounds=(0, total))
            block.place = Var(block.machines, block.servers, domain=Binary)
            block.product = Var(block.machines, block.servers, domain=NonNegativeReals)
            block.largest_load = Var(domain=NonNegativeReals)
            workers, place, product = block.workers, block.place, block.product

            def load(_: Pyomo, i: int) -> Pyomo:
                return linear(
                    [size] + [total * s for s in sizes] + [-2 * s for s in sizes],
                    [workers[i], *(place[i, j] for j in range(servers)), *(product[i, j] for j in range(servers))],
                    traffic[i],
                )

            block.machine_load = Expression(block.machines, rule=load)
            block.largest_load_covers_machine = Constraint(
                block.machines, rule=lambda b, i: b.machine_load[i] <= b.largest_load
            )
            block.free_gpus = Constraint(block.machines, rule=lambda _, i: workers[i] <= most[i])
            block.all_workers_placed = Constraint(expr=sum_of(list(workers.values())) == total)
            block.one_host_per_parameter_server = Constraint(
                block.servers, rule=lambda _, j: sum_of([place[i, j] for i in range(m)]) == 1
            )
            pairs = block.machines * block.servers
            block.product_at_most_bound = Constraint(
                pairs, rule=lambda _, i, j: (None, linear([1, -most[i]], [product[i, j], place[i, j]]), 0)
            )
            block.product_at_most_workers = Constraint(
                pairs, rule=lambda _, i, j: (None, linear([1, -1], [product[i, j], workers[i]]), 0)
            )
            block.product_at_least = Constraint(
                pairs,
                rule=lambda _, i, j: (
                    -most[i],
                    linear([1, -1, -most[i]], [product[i, j], workers[i], place[i, j]]),
                    None,
                ),
            )
            add_resource_capacity(
                block,
                instance,
                {i: [(1.0, workers[i])] for i in range(m)},
                {i: [place[i, j] for j in range(servers)] for i in range(m)},
            )
            block.objective_value = Expression(expr=block.largest_load)

    def _read(self, block: Pyomo, instance: NetworkPlacementInstance) -> NetworkPlacementSolution:
        """Return the solution given by `workers` and `place`; a server is on the machine with its largest binary."""
        machines = range(len(instance.machines))
        hosts = []
        for j in range(len(instance.ps_sizes)):
            share = [value(block.place[i, j]) for i in machines]
            hosts.append(share.index(max(share)))
        return NetworkPlacementSolution(tuple(round(value(block.workers[i])) for i in machines), tuple(hosts))

    def _hint(self, block: Pyomo, instance: NetworkPlacementInstance, solution: NetworkPlacementSolution) -> None:
        """Set every variable to a solution, for a warm start."""
        for i, count in enumerate(solution.workers):
            block.workers[i].set_value(count, skip_validation=True)
            for j, host in enumerate(solution.ps_hosts):
                block.place[i, j].set_value(int(host == i), skip_validation=True)
                block.product[i, j].set_value(count * int(host == i), skip_validation=True)
        block.largest_load.set_value(float(machine_loads(instance, solution).max()), skip_validation=True)


literal = Literal()


def add_resource_capacity(
    block: Pyomo,
    instance: NetworkPlacementInstance,
    workers: dict[int, list[tuple[float, Pyomo]]],
    servers: dict[int, list[Pyomo]],
) -> None:
    """Add Set `resources` and `resource_capacity` [machine, resource]: the tasks take at most the free amount.

    Parameters
    ----------
    block : Block
        Block to extend.
    instance : NetworkPlacementInstance
        Machines and job.
    workers : dict of int to list of tuple of float and Pyomo
        Terms (coefficient, Var) that count the workers of each machine.
    servers : dict of int to list of Pyomo
        Vars that count the parameter servers of each machine.
    """
    assert instance.free_capacity is not None
    assert instance.worker_demand is not None
    assert instance.ps_demand is not None
    free, demand_w, demand_p = instance.free_capacity, instance.worker_demand.tolist(), instance.ps_demand.tolist()
    block.resources = Set(initialize=list(instance.resources))
    position = {name: r for r, name in enumerate(instance.resources)}

    def rule(_: Pyomo, i: int, name: str) -> Pyomo:
        r = position[name]
        # rows are in shares of the capacity, unless it is 0
        limit = float(free[i, r]) or 1.0
        coefs = [demand_w[r] * c / limit for c, _ in workers[i]] + [demand_p[r] / limit] * len(servers[i])
        body = linear(coefs, [v for _, v in workers[i]] + servers[i])
        return (None, body, 1.0 if free[i, r] else 0.0)

    block.resource_capacity = Constraint(list(workers), block.resources, rule=rule)
