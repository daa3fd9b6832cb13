r"""Formulation `bids` of `auction`: one binary for each app and set of GPUs in its bid table.

.. math::

    \max \sum_i \sum_{G} x_{iG} \log V_i(G) \quad\text{with}\quad \sum_G x_{iG} = 1 \text{ for every app } i, \quad
    \sum_i \sum_G |G \cap m|\, x_{iG} \le G_m \text{ for every machine } m

This is the published program, of exponential size: a table has a row for each set of GPUs. GPUs of a machine are equal,
so a set is a number of GPUs on each machine; sets with useless GPUs are left out.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, Set, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.auction.goal import AuctionFormulation
from gangopt.formulations.auction.rows import Chooser, add_goal
from gangopt.formulations.rows import sum_of_terms
from gangopt.formulations.size import require_size
from gangopt.instances.auction.bids import Bundle
from gangopt.instances.auction.instance import AuctionInstance, log_of
from gangopt.instances.auction.solution import AuctionSolution

__all__ = ["Bids", "bid_rows", "bids"]

MAX_SETS = 200_000
"""Largest number of sets of GPUs that are evaluated."""


def bid_rows(instance: AuctionInstance, app: int, sets: list[Bundle]) -> dict[Bundle, Fraction]:
    """Return the bid table of an app: all sets with a value above 0 from which no GPU can be removed without loss.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    app : int
        Index of the app.
    sets : list of Bundle
        All sets, each after all of its subsets.

    Returns
    -------
    dict
        Value by set; includes the empty set if it has a value.
    """
    values: dict[Bundle, Fraction] = {}
    rows = {}
    for bundle in sets:
        worth = values[bundle] = instance.value(app, bundle)
        fewer = (_without(bundle, position) for position in range(len(bundle)))
        if worth and all(values[part] < worth for part in fewer):
            rows[bundle] = worth
    return rows


def _without(bundle: Bundle, position: int) -> Bundle:
    machine, count = bundle[position]
    middle = ((machine, count - 1),) if count > 1 else ()
    return (*bundle[:position], *middle, *bundle[position + 1 :])


def _sets(instance: AuctionInstance) -> list[Bundle]:
    offered = instance.offered.tolist()
    number = math.prod(size + 1 for size in offered)
    require_size("auction bids", number * len(instance.apps), MAX_SETS)
    counts = itertools.product(*(range(size + 1) for size in offered))
    return [tuple((m, count) for m, count in enumerate(vector) if count) for vector in counts]


class Bids(AuctionFormulation):
    """Choice of rows of the bid tables.

    Public components: Var `assign` [app, row], 1 if the app wins the set of that row of its table, rows from 0;
    Expression `objective_value`, the sum of the logarithms of the values, to be maximised; see `mean_from_goal`.

    Raises
    ------
    ModelTooLargeError
        If there are more than `MAX_SETS` sets to evaluate.
    """

    name = "bids"

    def _fill(self, block: Pyomo, instance: AuctionInstance) -> None:
        sets = _sets(instance)
        tables = [bid_rows(instance, i, sets) for i in range(len(instance.apps))]
        with PauseGC():
            block.apps = Set(initialize=list(range(len(tables))))
            block.rows = Set(initialize=[(i, t) for i, table in enumerate(tables) for t in range(len(table))], dimen=2)
            block.assign = Var(block.rows, domain=Binary)
            choosers = {}
            on_machine: dict[int, list[tuple[float, Pyomo]]] = {}
            for i, table in enumerate(tables):
                variables = [block.assign[i, t] for t in range(len(table))]
                choosers[i] = Chooser(
                    1, not instance.apps[i].value_at_zero, variables, [log_of(worth) for worth in table.values()]
                )
                for bundle, x in zip(table, variables, strict=True):
                    for machine, count in bundle:
                        on_machine.setdefault(machine, []).append((float(count), x))
            add_goal(block, block.apps, choosers, self.goal_for(instance))
            block.machines = Set(initialize=sorted(on_machine))

            def capacity(_: Pyomo, machine: int) -> Pyomo:
                return (None, sum_of_terms(on_machine[machine]), float(instance.offered[machine]))

            block.machine_capacity = Constraint(block.machines, rule=capacity)

    def _read(self, block: Pyomo, instance: AuctionInstance) -> AuctionSolution:
        """Return the solution given by `assign`."""
        sets = _sets(instance)
        bundles: list[Bundle] = [()] * len(instance.apps)
        for i in range(len(instance.apps)):
            for t, bundle in enumerate(bid_rows(instance, i, sets)):
                if value(block.assign[i, t]) > 0.5:
                    bundles[i] = bundle
        return AuctionSolution(tuple(bundles))

    def _hint(self, block: Pyomo, instance: AuctionInstance, solution: AuctionSolution) -> None:
        """Set every variable to a solution's bundles, for a warm start: the first best row that a bundle covers."""
        sets = _sets(instance)
        for i, bundle in enumerate(solution.bundles):
            counts = dict(bundle)
            table = bid_rows(instance, i, sets)
            covered = [
                (worth, -t)
                for t, (row, worth) in enumerate(table.items())
                if all(count <= counts.get(machine, 0) for machine, count in row)
            ]
            chosen = -max(covered)[1] if covered else None
            for t in range(len(table)):
                block.assign[i, t].set_value(int(t == chosen), skip_validation=True)


bids = Bids()
