r"""Formulation `places` of `fair_share`: one binary for each app, place and count, and a capacity for each place.

.. math::

    \min T \quad\text{with}\quad \sum_o \rho_o x_o \le T \text{ for every app},\quad \sum_o x_o = 1
    \text{ for every app},\quad \sum_{o \text{ inside } q} k_o x_o \le g_q
    \text{ for every machine, rack and the cluster}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, Expression, RangeSet, Set, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.fair_share.goal import add_goal, hint_goal
from gangopt.formulations.fair_share.options import Option, best_inside, given_counts, options_of, require_option
from gangopt.formulations.rows import at_most, sum_of_terms
from gangopt.formulations.size import require_size
from gangopt.instances.auction.bids import MACHINE, RACK
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.market import Market, bundles_of, rows_of
from gangopt.instances.fair_share.solution import FairShareSolution

__all__ = ["Places", "add_bundles", "chosen_options", "hint_bundles", "places"]


class Places(Formulation[FairShareInstance, FairShareSolution]):
    """Minimum of the largest rho over placed bundles.

    Public components, for a parent that couples blocks: Var `give` [app, level, place, gpus] (1 for the bundle that the
    app gets; level 0 machine, 1 rack, 2 cluster), Expressions `gpus_given` [app] (GPUs), `rho` [app],
    `largest_rho` and `objective_value` (to be minimised); see `add_goal`. All indices count from 0.

    Raises
    ------
    InfeasibleError
        If no bundle gives some app a value.
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "places"
    sense = "minimise"
    relaxes = True

    def _fill(self, block: Pyomo, instance: FairShareInstance) -> None:
        market = instance.market
        options = _with_value(options_of(market))
        require_option(market, options)
        require_size("fair_share places", sum(map(len, options)) + 1)
        with PauseGC():
            add_bundles(block, market, options)
            add_goal(block, {item.key: item for mine in options for item in mine}, block.give)

    def _read(self, block: Pyomo, instance: FairShareInstance) -> FairShareSolution:
        """Return the solution given by `give`, placed by `given_counts`."""
        return FairShareSolution(bundles_of(given_counts(instance.market, chosen_options(block))))

    def _hint(self, block: Pyomo, instance: FairShareInstance, solution: FairShareSolution) -> None:
        """Set every variable to a solution, for a warm start."""
        options = [[item for item in mine if item.key in block.options] for mine in options_of(instance.market)]
        hint_bundles(block, best_inside(instance.market, options, rows_of(solution.bundles, len(instance.machines))))
        hint_goal(block)


places = Places()


def _with_value(options: Iterable[Sequence[Option]]) -> list[list[Option]]:
    return [[item for item in mine if item.value > 0] for mine in options]


def add_bundles(block: Pyomo, market: Market, options: Sequence[Sequence[Option]]) -> None:
    """Add Var `give` and the rows of an allocation: one bundle for each app, and the capacities of places.

    Parameters
    ----------
    block : Block
        Block to extend.
    market : Market
        Apps and GPUs.
    options : sequence of sequence of Option
        Bundles of each app, at least one each.
    """
    flat = [item for mine in options for item in mine]
    block.apps = RangeSet(0, len(market.apps) - 1)
    block.machines = RangeSet(0, len(market.gpus) - 1)
    block.racks = RangeSet(0, market.rack_count - 1)
    block.resources = Set(initialize=list(market.resources))
    block.options = Set(dimen=4, initialize=[item.key for item in flat])
    block.give = Var(block.options, domain=Binary)
    give = block.give
    by_app: list[list[Option]] = [list(mine) for mine in options]
    block.gpus_given = Expression(
        block.apps, rule=lambda _, i: sum_of_terms([(item.gpus, give[item.key]) for item in by_app[i]])
    )
    block.one_bundle_per_app = Constraint(
        block.apps, rule=lambda _, i: (1, sum_of_terms([(1, give[item.key]) for item in by_app[i]]), 1)
    )
    racks = market.racks.tolist()
    in_machine: dict[int, list[tuple[float, Pyomo]]] = {m: [] for m in block.machines}
    in_rack: dict[int, list[tuple[float, Pyomo]]] = {r: [] for r in block.racks}
    for item in flat:
        if item.level == MACHINE:
            in_machine[item.place].append((item.gpus, give[item.key]))
        if item.level <= RACK:
            in_rack[racks[item.place] if item.level == MACHINE else item.place].append((item.gpus, give[item.key]))
    room = market.in_places(RACK, market.gpus).tolist()
    gpus = market.gpus.tolist()
    block.machine_capacity = Constraint(block.machines, rule=lambda _, m: at_most(in_machine[m], gpus[m]))
    block.rack_capacity = Constraint(block.racks, rule=lambda _, r: at_most(in_rack[r], room[r]))
    every = [(item.gpus, give[item.key]) for item in flat if item.gpus]
    block.cluster_capacity = Constraint(rule=lambda _: at_most(every, market.total_gpus))
    add_resources(block, market, {i: [(item.gpus, give[item.key]) for item in by_app[i]] for i in block.apps})


def add_resources(block: Pyomo, market: Market, gpus: dict[int, list[tuple[float, Pyomo]]]) -> None:
    """Add `resource_capacity` [resource]: the use of each resource as a share of its free amount.

    Parameters
    ----------
    block : Block
        Block with Set `resources`.
    market : Market
        Apps and GPUs.
    gpus : dict of int to list of tuple of float and Pyomo
        For each app, the terms (coefficient, Var) that count its GPUs.
    """

    def rule(_: Pyomo, name: str) -> Pyomo:
        r = market.resources.index(name)
        limit = float(market.capacities[r])
        scale = limit or 1.0
        terms = [(float(market.demands[i, r]) * k / scale, var) for i, mine in gpus.items() for k, var in mine if k]
        return at_most([term for term in terms if term[0]], limit / scale)

    block.resource_capacity = Constraint(block.resources, rule=rule)


def chosen_options(block: Pyomo) -> list[Option]:
    """Return the bundle of each app with the largest `give`, with value 0.

    Parameters
    ----------
    block : Block
        Block with the components of `add_bundles`, whose variables have values.

    Returns
    -------
    list of Option
        In the order of the apps.
    """
    best: dict[int, tuple[float, tuple[int, int, int, int]]] = {}
    for key in block.options:
        share = value(block.give[key])
        if key[0] not in best or share > best[key[0]][0]:
            best[key[0]] = (share, key)
    return [Option(*best[app][1], 0.0) for app in sorted(best)]


def hint_bundles(block: Pyomo, chosen: Sequence[Option]) -> None:
    """Set `give` to 1 for the chosen bundles and to 0 for the others.

    Parameters
    ----------
    block : Block
        Block with the components of `add_bundles`.
    chosen : sequence of Option
        One bundle for each app.
    """
    keys = {item.key for item in chosen}
    for key in block.options:
        block.give[key].set_value(int(key in keys), skip_validation=True)
