r"""Formulation `groups` of `parameters`: equal blocks merged, and p servers with c cuts merged into p - c groups.

.. math::

    \min\; U - L \quad\text{with}\quad \sum_g n_{ag} = N_a,\quad
    s_g L \le \sum_a a\, n_{ag} \le s_g U,\quad \sum_g s_g = p

n_ag blocks of size a are in group g of s_g servers. The blocks of a group are then cut over its servers with at most
s_g - 1 cuts, so that each holds ceil(T_g / s_g) or floor(T_g / s_g) of the group's T_g parameters.
"""

from __future__ import annotations

import math
from collections import Counter
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
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.size import require_size
from gangopt.instances.parameters.grouping import Assignment, cut, grouped, spread
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution

__all__ = ["Groups", "groups"]

OBJECTIVES = ("size_difference", "request_difference")
"""Objectives: names of Expressions."""


@dataclass(frozen=True, eq=False)
class Groups(Formulation[ParametersInstance, ParametersSolution]):
    """Assignment of blocks to groups of servers, with at most `cuts` cuts.

    Public components, for a parent that couples blocks: Var `blocks_in_group` [size, group]; Expressions `total`
    [group] and `size_difference` (parameters), `objective_value`. Sizes are in parameters, groups count from 0. Without
    cuts a group is a server, and there are `requests_on` [group] and `request_difference` too. With cuts, Var
    `has_servers` [group, s] is 1 if the group has s servers.

    Attributes
    ----------
    cuts : int
        c, from 0 to p - 1.
    objective : str
        Expression to minimise; `request_difference` requires cuts = 0.
    size_difference : int or None
        Largest size difference allowed, in parameters, None for no limit.
    request_difference : int or None
        Largest request difference allowed, None for no limit; requires cuts = 0.

    Raises
    ------
    InputError
        If the objective is unknown, the number of cuts is out of range, or the request difference is used with cuts:
        the model does not say how a group is cut.
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "groups"
    sense = "minimise"
    cuts: int = 0
    objective: str = "size_difference"
    size_difference: int | None = None
    request_difference: int | None = None

    def _fill(self, block: Pyomo, instance: ParametersInstance) -> None:
        if not 0 <= self.cuts < instance.servers:
            raise InputError(
                f"cuts must be 0 to {instance.servers - 1} for {instance.servers} servers (got {self.cuts})"
            )
        if self.objective not in OBJECTIVES:
            raise InputError(f"objective must be one of {', '.join(OBJECTIVES)} (got {self.objective!r})")
        if self.cuts and (self.objective == "request_difference" or self.request_difference is not None):
            raise InputError(f"request_difference requires cuts = 0 (got {self.cuts}); use formulation assign")
        count = Counter(instance.sizes.tolist())
        groups = instance.servers - self.cuts
        require_size("parameters groups", groups * (len(count) + self.cuts + 1) + 4)
        with PauseGC():
            block.unit = math.gcd(*count) if not self.cuts else 1
            block.sizes = Set(initialize=sorted(count, reverse=True))
            block.groups = RangeSet(0, groups - 1)
            block.blocks_in_group = Var(
                block.sizes, block.groups, domain=NonNegativeIntegers, bounds=lambda _, size, g: (0, count[size])
            )
            block.every_block = Constraint(
                block.sizes,
                rule=lambda _, size: (
                    sum_of([block.blocks_in_group[size, g] for g in block.groups]),
                    count[size],
                ),
            )
            sizes = list(block.sizes)
            members = {g: [block.blocks_in_group[size, g] for size in sizes] for g in block.groups}
            block.total = Expression(block.groups, rule=lambda _, g: linear(sizes, members[g]))
            _add_loads(block, instance, [size // block.unit for size in sizes], members)
            if not self.cuts:
                _add_requests(block, instance, members)
            if self.size_difference is not None:
                limit = self.size_difference // block.unit
                block.size_difference_limit = Constraint(expr=block.most_loaded - block.least_loaded <= limit)
            if self.request_difference is not None:
                block.request_difference_limit = Constraint(
                    expr=block.most_requests - block.least_requests <= self.request_difference
                )
            block.objective_value = Expression(expr=block.component(self.objective))

    def _read(self, block: Pyomo, instance: ParametersInstance) -> ParametersSolution:
        """Return the solution given by `blocks_in_group`.

        Blocks of equal size go to the groups in order; then each group is cut over its servers.
        """
        groups = list(block.groups)
        queues = {
            size: [g for g in groups for _ in range(round(value(block.blocks_in_group[size, g])))]
            for size in block.sizes
        }
        waiting = {size: iter(queue) for size, queue in queues.items()}
        chosen = tuple(next(waiting[size]) for size in instance.sizes.tolist())
        if block.component("has_servers") is None:
            servers = (1,) * len(groups)
        else:
            servers = tuple(max(block.group_sizes, key=lambda s: value(block.has_servers[g, s])) for g in groups)
        totals = [0] * len(groups)
        for group, size in zip(chosen, instance.sizes.tolist(), strict=True):
            totals[group] += size
        return cut(instance, Assignment(servers, chosen, spread(totals, servers)))

    def _hint(self, block: Pyomo, instance: ParametersInstance, solution: ParametersSolution) -> None:
        """Set every variable to a solution, for a warm start."""
        assignment = grouped(instance, solution, len(block.groups))
        held = Counter(zip(instance.sizes.tolist(), assignment.groups, strict=True))
        for (size, g), variable in block.blocks_in_group.items():
            variable.set_value(held[size, g])
        totals = [sum(size * held[size, g] for size in block.sizes) // block.unit for g in block.groups]
        pairs = list(zip(totals, assignment.servers, strict=True))
        block.most_loaded.set_value(max(-(-total // count) for total, count in pairs))
        block.least_loaded.set_value(min(total // count for total, count in pairs))
        if block.component("has_servers") is not None:
            for (g, s), variable in block.has_servers.items():
                variable.set_value(int(assignment.servers[g] == s))
        else:
            counts = [sum(held[size, g] for size in block.sizes) for g in block.groups]
            block.most_requests.set_value(max(counts))
            block.least_requests.set_value(min(counts))


groups = Groups()


def _add_loads(block: Pyomo, instance: ParametersInstance, units: list[int], members: dict[int, list[Pyomo]]) -> None:
    """Add the largest and the least load of a server and, with cuts, the sizes of the groups."""
    total, servers = instance.total // block.unit, instance.servers
    fair, short = -(-total // servers), total // servers
    block.most_loaded = Var(domain=NonNegativeIntegers, bounds=(fair, total))
    block.least_loaded = Var(domain=NonNegativeIntegers, bounds=(0, short))
    largest = servers - len(members) + 1
    if largest > 1:
        block.group_sizes = RangeSet(1, largest)
        block.has_servers = Var(block.groups, block.group_sizes, domain=Binary)
        block.one_group_size = Constraint(
            block.groups,
            rule=lambda _, g: (sum_of([block.has_servers[g, s] for s in block.group_sizes]), 1),
        )
        block.all_servers = Constraint(
            expr=(
                linear([s for _, s in block.has_servers], list(block.has_servers.values())),
                servers,
            )
        )

    def row(g: int, s: int, extreme: Pyomo, slack: int) -> Pyomo:
        coefficients, variables = [*units, -s], [*members[g], extreme]
        if largest > 1:
            coefficients, variables = [*coefficients, slack], [*variables, block.has_servers[g, s]]
        return linear(coefficients, variables)

    # U >= fair and L <= short, so T_g <= s U + (T - s fair) and T_g >= s L - s short hold for every group anyway
    index = (block.groups, block.group_sizes) if largest > 1 else (block.groups,)
    above = {s: max(0, total - s * fair) for s in range(1, largest + 1)}
    block.load_at_most = Constraint(
        *index,
        rule=lambda _, g, s=1: (None, row(g, s, block.most_loaded, above[s]), above[s] if largest > 1 else 0),
    )
    block.load_at_least = Constraint(
        *index,
        rule=lambda _, g, s=1: (-s * short if largest > 1 else 0, row(g, s, block.least_loaded, -s * short), None),
    )
    block.size_difference = Expression(expr=linear([block.unit, -block.unit], [block.most_loaded, block.least_loaded]))


def _add_requests(block: Pyomo, instance: ParametersInstance, members: dict[int, list[Pyomo]]) -> None:
    blocks, servers = len(instance.sizes), instance.servers
    block.requests_on = Expression(block.groups, rule=lambda _, g: sum_of(members[g]))
    block.most_requests = Var(domain=NonNegativeIntegers, bounds=(-(-blocks // servers), blocks))
    block.least_requests = Var(domain=NonNegativeIntegers, bounds=(0, blocks // servers))

    def row(g: int, extreme: Pyomo) -> Pyomo:
        return linear([1] * len(members[g]) + [-1], [*members[g], extreme])

    block.requests_at_most = Constraint(block.groups, rule=lambda _, g: (None, row(g, block.most_requests), 0))
    block.requests_at_least = Constraint(block.groups, rule=lambda _, g: (0, row(g, block.least_requests), None))
    block.request_difference = Expression(expr=linear([1, -1], [block.most_requests, block.least_requests]))
