r"""Formulation `nested_flow` of `auction`: bundles without places, machines cut by patterns, racks filled along a flow.

With x the number of apps of a group that get k GPUs at a level, z the machines of a class cut by a pattern p (a
multiset of sizes, tail_s(p) of them at least s), and g and f the arcs of the racks' flows that fill a machine with t
GPUs and keep room for a rack-level piece of k,

.. math::

    \max \sum x \log V \quad\text{with}\quad
    \sum_{l,k} x_{ilk} = 1, \quad \sum k\, x_{ilk} \le G, \quad
    \sum_{i, k \ge s} x_{i0k} \le \sum_{c,p} \mathrm{tail}_s(p)\, z_{cp}, \\
    \sum_{p: |p| = t} z_{cp} \le \sum g_{ct}, \quad \sum_i x_{i1k} \le \sum f_k

The tails are exact, as sorted pieces fit sorted holes, and an integer flow decomposes into paths, one per rack. So
every solution can be placed. The relaxation has almost no gap.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Self

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import (
    Constraint,
    NonNegativeIntegers,
    NonNegativeReals,
    Set,
    Var,
    value,
)

from gangopt.base.types import Pyomo
from gangopt.formulations.auction.columns import app_groups
from gangopt.formulations.auction.goal import AuctionFormulation, Goal
from gangopt.formulations.auction.placing import Flows, choices_from, choices_of, place
from gangopt.formulations.auction.racks import Plan, plan_of
from gangopt.formulations.auction.rows import Chooser, add_goal
from gangopt.formulations.rows import Terms, sum_of, sum_of_terms
from gangopt.formulations.size import require_size
from gangopt.instances.auction.bids import CLUSTER, MACHINE, RACK
from gangopt.instances.auction.instance import AuctionInstance, log_of
from gangopt.instances.auction.solution import AuctionSolution

__all__ = ["NestedFlow", "nested_flow"]


@dataclass(frozen=True, eq=False)
class NestedFlow(AuctionFormulation):
    """Bundles without places, machines cut by patterns and racks filled along a flow.

    Public components: Var `assign` [group, level, GPUs], apps of the group that get that many GPUs in one place of that
    level (groups of apps with proportional tables, from 0, in order of their first app; level 0 machine, 1 rack,
    2 cluster); Var `cut` [class, pattern]; Vars `fill` [rack class, layer, machines, GPUs, fill], `leave` [rack class,
    layer, machines, GPUs] and `take` [rack class, GPUs, piece]; Expression `objective_value`, the sum of the logarithms
    of the values, to be maximised; see `mean_from_goal`.

    Attributes
    ----------
    plan : Plan or None
        Groups and classes; None to compute them when they are used.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "nested_flow"
    plan: Plan | None = None

    def prepared(self, instance: AuctionInstance) -> Self:
        """Return the formulation with the columns, the goal and the plan of an instance."""
        found = super().prepared(instance)
        return replace(found, plan=found.plan_for(instance))

    def plan_for(self, instance: AuctionInstance) -> Plan:
        """Return the given plan, or else that of the instance."""
        if self.plan is not None:
            return self.plan
        certain = self.goal_for(instance).all_served
        return plan_of(instance, app_groups(instance, all_served=certain, columns=self.columns_for(instance)))

    def _fill(self, block: Pyomo, instance: AuctionInstance) -> None:
        plan = self.plan_for(instance)
        arcs = sum(len(kind.fills) + len(kind.leaves) + len(kind.takes) for kind in plan.rack_classes)
        cuts = sum(len(machines.patterns) for machines in plan.machine_classes)
        require_size("auction nested_flow", sum(len(group.columns) for group in plan.groups) + cuts + arcs)
        with PauseGC():
            _add_columns(block, plan, self.goal_for(instance))
            _add_cuts(block, plan)
            if plan.rack_classes:
                _add_flows(block, plan)
            else:
                block.machines_of_class = Constraint(
                    block.machine_classes,
                    rule=lambda _, c: (
                        Constraint.Skip
                        if plan.machine_classes[c].alone
                        else (
                            None,
                            sum_of(_cuts_of(block, plan, c)),
                            float(len(plan.machine_classes[c].machines)),
                        )
                    ),
                )
            _add_homes(block, plan)

    def _read(self, block: Pyomo, instance: AuctionInstance) -> AuctionSolution:
        """Return the solution given by the variables, placed on machines."""
        plan = self.plan_for(instance)
        column = {
            (g, item.level, item.gpus): (g, j)
            for g, group in enumerate(plan.groups)
            for j, item in enumerate(group.columns)
        }
        counts = {column[key]: number for key, number in _rounded(block.assign).items()}
        flows = Flows(
            _rounded(block.cut),
            _rounded(block.fill) if plan.rack_classes else {},
            _rounded(block.take) if plan.rack_classes else {},
        )
        return AuctionSolution(place(instance, plan, choices_of(plan, counts), flows))

    def _hint(self, block: Pyomo, instance: AuctionInstance, solution: AuctionSolution) -> None:
        """Set every variable to a solution's bundles, for a warm start."""
        plan = self.plan_for(instance)
        group_of = {app: g for g, group in enumerate(plan.groups) for app in group.apps}
        chosen: Counter[tuple[str, tuple[int, ...]]] = Counter()
        on_machine: dict[int, list[int]] = {}
        extra: Counter[int] = Counter()
        in_rack: dict[int, list[int]] = {}
        for choice in choices_from(instance, self.columns_for(instance), solution.bundles):
            g = group_of[choice.app]
            chosen["assign", (g, choice.level, choice.gpus)] += 1
            if choice.level == CLUSTER or choice.place is None:
                continue
            free = plan.groups[g].home[choice.level] is None
            if choice.level == RACK and free:
                in_rack.setdefault(choice.place, []).append(choice.gpus)
            elif choice.level == MACHINE and free:
                on_machine.setdefault(choice.place, []).append(choice.gpus)
            elif choice.level == MACHINE:
                extra[choice.place] += choice.gpus
        for c, kind in enumerate(plan.machine_classes):
            index = {pattern: p for p, pattern in enumerate(kind.patterns)}
            for machine in kind.machines:
                parts = tuple(sorted(on_machine.get(machine, ()), reverse=True))
                for pattern in [(part,) for part in parts] if kind.alone else [parts] * bool(parts):
                    chosen["cut", (c, index[pattern])] += 1
        for r, racks in enumerate(plan.rack_classes):
            for rack in racks.racks:
                _hint_path(chosen, instance, plan, r, rack, on_machine, extra, in_rack.get(rack, []))
        for name in ("assign", "cut", "fill", "leave", "take"):
            variables = block.component(name)
            for key, x in () if variables is None else variables.items():
                x.set_value(chosen[name, key], skip_validation=True)


nested_flow = NestedFlow()


def _cuts_of(block: Pyomo, plan: Plan, c: int) -> list[Pyomo]:
    return [block.cut[c, p] for p in range(len(plan.machine_classes[c].patterns))]


def _add_columns(block: Pyomo, plan: Plan, goal: Goal) -> None:
    groups = plan.groups
    keys = [[(g, column.level, column.gpus) for column in group.columns] for g, group in enumerate(groups)]
    block.groups = Set(initialize=list(range(len(groups))))
    block.columns = Set(initialize=[key for own in keys for key in own], dimen=3)
    block.assign = Var(block.columns, domain=NonNegativeIntegers, bounds=lambda _, g, *__: (0, groups[g].size))
    choosers, constant = {}, 0.0
    for g, group in enumerate(groups):
        scales = [log_of(best) for best in group.best]
        # centred logarithms are small; but apps that may get nothing must keep their full logarithms in their columns
        shift = 0.0 if goal.all_served else scales[0]
        constant += math.fsum(scales) if goal.all_served else 0.0
        variables = [block.assign[key] for key in keys[g]]
        choosers[g] = Chooser(group.size, group.needs, variables, [log + shift for log in group.logs])
    add_goal(block, block.groups, choosers, goal, constant)
    used = [(float(k), x) for (_, _, k), x in block.assign.items() if k]
    if used:
        block.offered_gpus = Constraint(expr=(None, sum_of_terms(used), float(plan.total)))


def _add_cuts(block: Pyomo, plan: Plan) -> None:
    classes = plan.machine_classes
    block.machine_classes = Set(initialize=list(range(len(classes))))
    block.patterns = Set(
        initialize=[(c, p) for c, kind in enumerate(classes) for p in range(len(kind.patterns))], dimen=2
    )
    block.cut = Var(block.patterns, domain=NonNegativeIntegers, bounds=lambda _, c, p: (0, classes[c].most(p)))
    block.machine_sizes = Set(initialize=list(plan.machine_sizes))
    homeless = [g for g, group in enumerate(plan.groups) if group.home[MACHINE] is None]

    def holes(_: Pyomo, size: int) -> Pyomo:
        terms: Terms = [
            (1.0, block.assign[g, MACHINE, column.gpus])
            for g in homeless
            for column in plan.groups[g].columns
            if column.level == MACHINE and column.gpus >= size
        ]
        for c, kind in enumerate(classes):
            for p, pattern in enumerate(kind.patterns):
                tail = sum(part >= size for part in pattern)
                if tail:
                    terms.append((-float(tail), block.cut[c, p]))
        return (None, sum_of_terms(terms), 0.0)

    block.machine_holes = Constraint(block.machine_sizes, rule=holes)


def _add_flows(block: Pyomo, plan: Plan) -> None:
    kinds = plan.rack_classes
    block.rack_classes = Set(initialize=list(range(len(kinds))))
    for name, width in (("fills", 5), ("leaves", 4), ("takes", 3)):
        arcs = [(r, *arc) for r, kind in enumerate(kinds) for arc in getattr(kind, name)]
        setattr(block, name, Set(initialize=arcs, dimen=width))

    def racks(_: Pyomo, r: int, *__: int) -> tuple[int, int]:
        return (0, len(kinds[r].racks))

    block.fill = Var(block.fills, domain=NonNegativeIntegers, bounds=racks)
    block.leave = Var(block.leaves, domain=NonNegativeReals, bounds=racks)
    block.take = Var(block.takes, domain=NonNegativeIntegers, bounds=racks)
    _add_paths(block, plan)
    filled: dict[tuple[int, int], Terms] = {}
    for (r, layer, _, _, t), x in block.fill.items():
        filled.setdefault((kinds[r].layers[layer][0], t), []).append((-1.0, x))
    cut: dict[tuple[int, int], Terms] = {}
    for (c, p), x in block.cut.items():
        if not plan.machine_classes[c].alone:
            cut.setdefault((c, sum(plan.machine_classes[c].patterns[p])), []).append((1.0, x))
    block.machine_fills = Set(initialize=sorted(cut), dimen=2)
    block.machine_fill = Constraint(
        block.machine_fills, rule=lambda _, c, t: (None, sum_of_terms(cut[c, t] + filled.get((c, t), [])), 0.0)
    )
    pieces: dict[int, Terms] = {}
    for (g, level, k), x in block.assign.items():
        if level == RACK and k and plan.groups[g].home[RACK] is None:
            pieces.setdefault(k, []).append((1.0, x))
    for (_, _, k), x in block.take.items():
        pieces.setdefault(k, []).append((-1.0, x))
    block.rack_sizes = Set(initialize=list(plan.rack_sizes))
    block.rack_pieces = Constraint(block.rack_sizes, rule=lambda _, k: (None, sum_of_terms(pieces[k]), 0.0))


def _add_paths(block: Pyomo, plan: Plan) -> None:
    """Add flow conservation: at most as much leaves a node as enters it; all racks enter at the first node."""
    last = [len(kind.layers) for kind in plan.rack_classes]
    flow: dict[tuple[int, int, int, int], Terms] = {}
    for (r, layer, m, u, t), x in block.fill.items():
        flow.setdefault((r, layer, m, u), []).append((1.0, x))
        flow.setdefault((r, layer, m + 1, u + t), []).append((-1.0, x))
    for (r, layer, m, u), x in block.leave.items():
        flow.setdefault((r, layer, m, u), []).append((1.0, x))
        flow.setdefault((r, layer + 1, 0, u), []).append((-1.0, x))
    for (r, v, k), x in block.take.items():
        flow.setdefault((r, last[r], 0, v), []).append((1.0, x))
        flow.setdefault((r, last[r], 0, v + k), []).append((-1.0, x))
    nodes = [node for node, terms in flow.items() if any(coef > 0 for coef, _ in terms)]
    block.nodes = Set(initialize=sorted(nodes), dimen=4)
    block.rack_path = Constraint(
        block.nodes,
        rule=lambda _, r, layer, m, u: (
            None,
            sum_of_terms(flow[r, layer, m, u]),
            0.0 if layer or m or u else float(len(plan.rack_classes[r].racks)),
        ),
    )


def _add_homes(block: Pyomo, plan: Plan) -> None:
    """Add the capacities of single machines and racks, for the pieces tied to them and all others."""

    def pieces(level: int, place: int) -> Terms:
        return [(float(k), block.assign[g, level, k]) for g, _, k in plan.home_pieces(level, place)]

    block.machines_alone = Set(initialize=[c for c, kind in enumerate(plan.machine_classes) if kind.alone])

    def in_machine(_: Pyomo, c: int) -> Pyomo:
        kind = plan.machine_classes[c]
        terms = pieces(MACHINE, kind.machines[0])
        terms += [(float(sum(kind.patterns[p])), x) for p, x in enumerate(_cuts_of(block, plan, c))]
        if not plan.rack_classes:
            return (None, sum_of_terms(terms), float(kind.gpus))
        for (r, layer, _m, _u, t), x in block.fill.items():
            if plan.rack_classes[r].layers[layer][0] == c:
                terms.append((-float(t), x))
        return (None, sum_of_terms(terms), 0.0)

    def in_rack(_: Pyomo, r: int) -> Pyomo:
        kind = plan.rack_classes[r]
        terms = pieces(RACK, kind.racks[0])
        terms += [(float(arc[-1]), block.fill[(r, *arc)]) for arc in kind.fills]
        terms += [(float(arc[-1]), block.take[(r, *arc)]) for arc in kind.takes]
        return (None, sum_of_terms(terms), float(kind.gpus))

    block.machine_alone = Constraint(block.machines_alone, rule=in_machine)
    block.racks_alone = Set(initialize=[r for r, kind in enumerate(plan.rack_classes) if kind.home])
    block.rack_alone = Constraint(block.racks_alone, rule=in_rack)


def _rounded(variables: Pyomo) -> dict[Pyomo, int]:
    return {key: number for key, x in variables.items() if (number := round(value(x)))}


def _hint_path(
    chosen: Counter[tuple[str, tuple[int, ...]]],
    instance: AuctionInstance,
    plan: Plan,
    r: int,
    rack: int,
    on_machine: dict[int, list[int]],
    extra: Counter[int],
    pieces: list[int],
) -> None:
    used = 0
    for layer, (c, _) in enumerate(plan.rack_classes[r].layers):
        machines = [m for m in plan.machine_classes[c].machines if instance.machine_rack[m] == rack]
        fills = sorted((sum(on_machine.get(m, ())) + extra[m] for m in machines), reverse=True)
        filled = [t for t in fills if t]
        for m, t in enumerate(filled):
            chosen["fill", (r, layer, m, used, t)] += 1
            used += t
        chosen["leave", (r, layer, len(filled), used)] += 1
    for k in sorted(pieces, reverse=True):
        chosen["take", (r, used, k)] += 1
        used += k
