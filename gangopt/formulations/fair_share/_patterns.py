r"""Formulation `patterns` of `fair_share`: bundles without places, and equal machines of a rack cut by patterns.

.. math::

    \min T \quad\text{with}\quad \sum_{lk} \rho_{ilk} x_{ilk} \le T,\quad \sum_{lk} x_{ilk} = 1
    \text{ for every app},\quad \sum_{i, k \ge s} x_{i0k} \le \sum_{cp} t_s(p)\, z_{cp} \text{ for every size } s, \\
    \sum_p z_{cp} = N_c,\quad \sum_i x_{i1k} \le \sum_r y_{rk},\quad \sum_k k\, y_{rk} + \sum_{c \in r, p} |p| z_{cp}
    \le g_r,\quad \sum k\, x_{ilk} \le G

A class c contains equal machines of one rack, a pattern p is a multiset of sizes that fit on a machine, and t_s(p) is
the number of its parts of at least s. Sorted bundles fit sorted parts, so every solution can be placed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import (
    Binary,
    Constraint,
    Expression,
    NonNegativeIntegers,
    RangeSet,
    Set,
    Var,
    value,
)

from gangopt.base.errors import InputError
from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.fair_share._places import add_resources
from gangopt.formulations.fair_share.goal import add_goal, hint_goal
from gangopt.formulations.fair_share.options import Option, best_inside, given_counts, options_of, require_option
from gangopt.formulations.patterns import Pattern, patterns_of
from gangopt.formulations.rows import at_most, sum_of_terms
from gangopt.formulations.size import require_size
from gangopt.instances.auction.bids import MACHINE, RACK
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.market import Market, bundles_of, rows_of
from gangopt.instances.fair_share.solution import FairShareSolution

__all__ = ["Patterns", "add_patterns", "bundles_anywhere", "patterns", "placed_options"]

MAX_PATTERNS = 200_000
"""Largest number of patterns of a machine, including the empty one."""


@dataclass(frozen=True)
class _Class:
    """Equal machines of one rack, with GPUs and patterns of each."""

    rack: int
    gpus: int
    machines: tuple[int, ...]
    patterns: tuple[Pattern, ...]


def _classes(market: Market, sizes: Sequence[int]) -> list[_Class]:
    members: dict[tuple[int, int], list[int]] = {}
    for machine, (rack, gpus) in enumerate(zip(market.racks.tolist(), market.gpus.tolist(), strict=True)):
        if gpus:
            members.setdefault((rack, gpus), []).append(machine)
    patterns: dict[int, tuple[Pattern, ...]] = {}
    for gpus in {gpus for _, gpus in members}:
        found = patterns_of(gpus, sizes, MAX_PATTERNS - 1)
        if found is None:
            require_size("fair_share patterns", MAX_PATTERNS + 1, MAX_PATTERNS)
        patterns[gpus] = tuple(found or ())
    return [_Class(rack, gpus, tuple(machines), patterns[gpus]) for (rack, gpus), machines in members.items()]


def bundles_anywhere(market: Market, least: Sequence[float] | None = None) -> list[list[Option]]:
    """Return the useful bundles of each app without places, for apps that hold no GPUs.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    least : sequence of float or None, optional
        Least value of the returned bundles, for each app.

    Returns
    -------
    list of list of Option
        One bundle for each level and count, with place 0.

    Raises
    ------
    InputError
        If an app holds GPUs.
    """
    if market.held.any():
        app = market.apps[int(market.held.argmax())]
        raise InputError(
            f"formulation patterns requires apps without held GPUs ({app} holds some); use formulation places"
        )
    return [[item._replace(place=0) for item in mine] for mine in options_of(market, least, anywhere=True)]


class Patterns(Formulation[FairShareInstance, FairShareSolution]):
    """Minimum of the largest rho over bundles without places.

    Public components, for a parent that couples blocks: Var `give` [app, level, gpus] (1 for the bundle that the app
    gets; level 0 machine, 1 rack, 2 cluster), Expressions `gpus_given` [app] (GPUs), `rho` [app],
    `largest_rho` and `objective_value` (to be minimised); see `add_goal`.

    Raises
    ------
    InfeasibleError
        If no bundle gives some app a value.
    InputError
        If an app holds GPUs already.
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "patterns"
    sense = "minimise"
    relaxes = True

    def _fill(self, block: Pyomo, instance: FairShareInstance) -> None:
        market = instance.market
        options = [[item for item in mine if item.value > 0] for mine in bundles_anywhere(market)]
        require_option(market, options)
        with PauseGC():
            add_patterns(block, market, options)
            add_goal(block, {(i.app, i.level, i.gpus): i for mine in options for i in mine}, block.give)

    def _read(self, block: Pyomo, instance: FairShareInstance) -> FairShareSolution:
        """Return a solution with the bundles given by `give`, on machines with room by `cut` and `piece`."""
        return FairShareSolution(bundles_of(given_counts(instance.market, placed_options(block, instance.market))))

    def _hint(self, block: Pyomo, instance: FairShareInstance, solution: FairShareSolution) -> None:
        """Set every variable to a solution, for a warm start."""
        market = instance.market
        options = [[item for item in mine if (*item[:2], item.gpus) in block.options] for mine in options_of(market)]
        chosen = best_inside(market, options, rows_of(solution.bundles, len(instance.machines)))
        keys = {(item.app, item.level, item.gpus) for item in chosen}
        on_machine: dict[int, list[int]] = {}
        for item in chosen:
            if item.level == MACHINE and item.gpus:
                on_machine.setdefault(item.place, []).append(item.gpus)
        for key in block.options:
            block.give[key].set_value(int(key in keys), skip_validation=True)
        for c, cls in enumerate(_classes(market, list(block.sizes))):
            used = [tuple(sorted(on_machine.get(machine, []), reverse=True)) for machine in cls.machines]
            for p, pattern in enumerate(cls.patterns):
                block.cut[c, p].set_value(used.count(pattern), skip_validation=True)
        for r in block.racks:
            for span in block.spans:
                count = sum(item[1:4] == (RACK, r, span) for item in chosen)
                block.piece[r, span].set_value(count, skip_validation=True)
        hint_goal(block)


patterns = Patterns()


def add_patterns(block: Pyomo, market: Market, options: Sequence[Sequence[Option]]) -> None:
    """Add Vars `give`, `cut` and `piece` and the rows of an allocation without places.

    Parameters
    ----------
    block : Block
        Block to extend.
    market : Market
        Apps that hold no GPUs, and GPUs.
    options : sequence of sequence of Option
        Bundles of each app from `bundles_anywhere`, at least one each.
    """
    flat = [item for mine in options for item in mine]
    sizes = sorted({item.gpus for item in flat if item.level == MACHINE and item.gpus})
    spans = sorted({item.gpus for item in flat if item.level == RACK and item.gpus})
    classes = _classes(market, sizes)
    racks = market.rack_count
    require_size("fair_share patterns", len(flat) + sum(len(c.patterns) for c in classes) + racks * len(spans))
    block.apps = RangeSet(0, len(market.apps) - 1)
    block.racks = RangeSet(0, racks - 1)
    block.resources = Set(initialize=list(market.resources))
    block.classes = RangeSet(0, len(classes) - 1)
    block.sizes = Set(initialize=sizes)
    block.spans = Set(initialize=spans)
    block.options = Set(dimen=3, initialize=[(item.app, item.level, item.gpus) for item in flat])
    block.patterns = Set(
        dimen=2, initialize=[(c, p) for c, item in enumerate(classes) for p in range(len(item.patterns))]
    )
    block.give = Var(block.options, domain=Binary)
    block.cut = Var(block.patterns, domain=NonNegativeIntegers, bounds=lambda _, c, _p: (0, len(classes[c].machines)))
    block.piece = Var(block.racks, block.spans, domain=NonNegativeIntegers)
    _add_rules(block, market, options, classes)


def _add_rules(block: Pyomo, market: Market, placeless: Sequence[Sequence[Option]], classes: Sequence[_Class]) -> None:
    give, cut, piece = block.give, block.cut, block.piece
    flat = [item for mine in placeless for item in mine]
    var = {item: give[item.app, item.level, item.gpus] for item in flat}
    parts = [(c, p, pattern) for c, item in enumerate(classes) for p, pattern in enumerate(item.patterns)]
    counted = {i: [(float(item.gpus), var[item]) for item in mine] for i, mine in enumerate(placeless)}
    block.gpus_given = Expression(block.apps, rule=lambda _, i: sum_of_terms(counted[i]))
    block.one_bundle_per_app = Constraint(
        block.apps, rule=lambda _, i: (1, sum_of_terms([(1.0, var[item]) for item in placeless[i]]), 1)
    )
    block.every_machine_cut = Constraint(
        block.classes,
        rule=lambda _, c: (
            len(classes[c].machines),
            sum_of_terms([(1.0, cut[c, p]) for p in range(len(classes[c].patterns))]),
            len(classes[c].machines),
        ),
    )

    def machine_bundles(_: Pyomo, size: int) -> Pyomo:
        taken = [(1.0, var[item]) for item in flat if item.level == MACHINE and item.gpus >= size]
        tails = [(-float(sum(part >= size for part in pattern)), cut[c, p]) for c, p, pattern in parts]
        return (None, sum_of_terms(taken + [term for term in tails if term[0]]), 0)

    def rack_bundles(_: Pyomo, span: int) -> Pyomo:
        taken = [(1.0, var[item]) for item in flat if item.level == RACK and item.gpus == span]
        return (None, sum_of_terms(taken + [(-1.0, piece[r, span]) for r in block.racks]), 0)

    def rack_room(_: Pyomo, r: int) -> Pyomo:
        terms = [(float(span), piece[r, span]) for span in block.spans]
        terms += [(float(sum(pattern)), cut[c, p]) for c, p, pattern in parts if pattern and classes[c].rack == r]
        limit = sum(item.gpus * len(item.machines) for item in classes if item.rack == r)
        return at_most(terms, limit)

    block.machine_bundles_fit = Constraint(block.sizes, rule=machine_bundles)
    block.rack_bundles_fit = Constraint(block.spans, rule=rack_bundles)
    block.rack_capacity = Constraint(block.racks, rule=rack_room)
    every = [term for mine in counted.values() for term in mine if term[0]]
    block.cluster_capacity = Constraint(rule=lambda _: at_most(every, market.total_gpus))
    add_resources(block, market, counted)


def placed_options(block: Pyomo, market: Market) -> list[Option]:
    """Return the bundle of each app with its machine or rack; the largest bundles go to the largest parts.

    Parameters
    ----------
    block : Block
        Block with the components of `add_patterns`, whose variables have values.
    market : Market
        Apps and GPUs.

    Returns
    -------
    list of Option
        Bundles with value 0.
    """
    best: dict[int, tuple[float, int, int]] = {}
    for app, level, gpus in block.options:
        share = value(block.give[app, level, gpus])
        if app not in best or share > best[app][0]:
            best[app] = (share, level, gpus)
    parts = []
    for c, item in enumerate(_classes(market, list(block.sizes))):
        machines = iter(item.machines)
        for p, pattern in enumerate(item.patterns):
            for _ in range(round(value(block.cut[c, p]))):
                machine = next(machines)
                parts += [(-part, machine) for part in pattern]
    pieces = {span: [r for r in block.racks for _ in range(round(value(block.piece[r, span])))] for span in block.spans}
    places = iter([machine for _, machine in sorted(parts)])
    chosen = []
    for app, (_, level, gpus) in sorted(best.items(), key=lambda entry: (-entry[1][2], entry[0])):
        place = next(places) if level == MACHINE and gpus else pieces[gpus].pop(0) if level == RACK and gpus else 0
        chosen.append(Option(app, level, place, gpus, 0.0))
    return sorted(chosen)
