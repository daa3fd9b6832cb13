r"""Formulation `assign` of `parameters`: the parameters of each block on each server, and a binary for each part.

.. math::

    \min\; U - L \quad\text{with}\quad \sum_k a_{bk} = b,\quad y_{bk} \le a_{bk} \le b\, y_{bk},\quad
    L \le \sum_b a_{bk} \le U,\quad \sum_{bk} y_{bk} \le R

The readable formulation: each of the three objectives is an Expression, which can be minimised or limited.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from dataclasses import dataclass
from typing import Literal

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

from gangopt.base.errors import InputError
from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.deadline import paced
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.size import require_size
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution

__all__ = ["OBJECTIVES", "Assign", "assign"]

OBJECTIVES = ("size_difference", "requests", "request_difference")
"""Objectives: names of Expressions."""


@dataclass(frozen=True, eq=False)
class Assign(Formulation[ParametersInstance, ParametersSolution]):
    """Assignment of blocks and their parts to servers.

    Public components, for a parent that couples blocks: Var `amount` [block, server] (in `unit` parameters), Var
    `present` [block, server]; Expressions `parameters_on` [server], `requests_on` [server], `size_difference`
    (parameters), `requests`, `request_difference`, and `objective_value`, the chosen one of the three, to be minimised.
    Blocks are indexed by label, servers from 0. `unit` is the sizes' common divisor if no block may be cut, else 1.

    Attributes
    ----------
    objective : str
        Expression to minimise.
    requests : int, {'uncut'} or None
        Largest number of requests; `uncut` for the number of blocks, None for no limit.
    size_difference : int or None
        Largest size difference allowed, in parameters, None for no limit.
    request_difference : int or None
        Largest request difference allowed, None for no limit.

    Raises
    ------
    InputError
        If the objective is unknown or a limit is negative.
    ModelTooLargeError
        If the model would have too many columns.

    References
    ----------
    Peng et al.: Optimus, EuroSys 2018, section 5.3.
    """

    name = "assign"
    sense = "minimise"
    objective: str = "size_difference"
    requests: int | Literal["uncut"] | None = "uncut"
    size_difference: int | None = None
    request_difference: int | None = None

    def _fill(self, block: Pyomo, instance: ParametersInstance) -> None:
        if self.objective not in OBJECTIVES:
            raise InputError(f"objective must be one of {', '.join(OBJECTIVES)} (got {self.objective!r})")
        limit = len(instance.sizes) if self.requests == "uncut" else self.requests
        for name, cap in (("requests", limit), *_caps(self.size_difference, self.request_difference)):
            if cap is not None and cap < 0:
                raise InputError(f"{name} must be >= 0 (got {cap})")
        require_size("parameters assign", 2 * len(instance.sizes) * instance.servers + 4)
        with PauseGC():
            _add_parts(block, instance, limit)
            _add_extremes(block, instance)
            if limit is not None:
                block.request_limit = Constraint(expr=(None, sum_of(list(block.present.values())), limit))
            if self.size_difference is not None:
                cap = self.size_difference // block.unit
                block.size_difference_limit = Constraint(expr=block.most_loaded - block.least_loaded <= cap)
            if self.request_difference is not None:
                block.request_difference_limit = Constraint(
                    expr=block.most_requests - block.least_requests <= self.request_difference
                )
            block.objective_value = Expression(expr=block.component(self.objective))

    def _read(self, block: Pyomo, instance: ParametersInstance) -> ParametersSolution:
        """Return the solution given by `present` and `amount`, in integer parameters.

        Amounts are rounded and then evened out among the parts present: a solver's amounts are only accurate to its
        tolerance, and loads of integer parameters can be as even as fractional ones.
        """
        parts: list[dict[int, int]] = []
        for label, size in zip(instance.labels, instance.sizes.tolist(), strict=True):
            held = [k for k in range(instance.servers) if value(block.present[label, k]) > 0.5]
            held = held or [max(range(instance.servers), key=lambda k: value(block.amount[label, k]))]
            held = held[:size]
            amounts = {k: max(1, round(value(block.amount[label, k]) * block.unit)) for k in held}
            while excess := sum(amounts.values()) - size:
                largest = max(amounts, key=lambda k: amounts[k])
                amounts[largest] -= min(excess, amounts[largest] - 1)
            parts.append(amounts)
        _even_out(parts, instance.servers)
        return ParametersSolution(tuple(tuple(item.items()) for item in parts))

    def _hint(self, block: Pyomo, instance: ParametersInstance, solution: ParametersSolution) -> None:
        """Set every variable to a solution, for a warm start."""
        loads = [0] * instance.servers
        counts = [0] * instance.servers
        for label, parts in paced(zip(instance.labels, solution.parts, strict=True)):
            held = dict(parts)
            for k in range(instance.servers):
                amount = held.get(k, 0)
                block.present[label, k].set_value(int(amount > 0), skip_validation=True)
                block.amount[label, k].set_value(amount / block.unit, skip_validation=True)
                loads[k] += amount
                counts[k] += amount > 0
        block.most_loaded.set_value(-(-max(loads) // block.unit))
        block.least_loaded.set_value(min(loads) // block.unit)
        block.most_requests.set_value(max(counts))
        block.least_requests.set_value(min(counts))


assign = Assign()


def _caps(size_difference: int | None, request_difference: int | None) -> tuple[tuple[str, int | None], ...]:
    return (("size_difference", size_difference), ("request_difference", request_difference))


def _add_parts(block: Pyomo, instance: ParametersInstance, limit: int | None) -> None:
    sizes = instance.sizes.tolist()
    block.unit = math.gcd(*sizes) if limit is not None and limit <= len(sizes) else 1
    units = {label: size // block.unit for label, size in zip(instance.labels, sizes, strict=True)}
    block.blocks = Set(initialize=list(instance.labels))
    block.servers = RangeSet(0, instance.servers - 1)
    block.present = Var(block.blocks, block.servers, domain=Binary)
    block.amount = Var(block.blocks, block.servers, domain=NonNegativeReals)
    servers = range(instance.servers)
    present = {key: [block.present[key, k] for k in servers] for key in paced(units)}
    amount = {key: [block.amount[key, k] for k in servers] for key in paced(units)}
    block.whole_block = Constraint(block.blocks, rule=lambda _, key: (sum_of(amount[key]), units[key]))
    block.held_block = Constraint(block.blocks, rule=lambda _, key: (1, sum_of(present[key]), None))
    block.part_within_block = Constraint(
        block.blocks,
        block.servers,
        rule=lambda _, key, k: (None, linear([1, -units[key]], [amount[key][k], present[key][k]]), 0),
    )
    block.positive_part = Constraint(
        block.blocks,
        block.servers,
        rule=lambda _, key, k: (0, linear([1, -1], [amount[key][k], present[key][k]]), None),
    )
    block.parameters_on = Expression(
        block.servers, rule=lambda _, k: linear([block.unit] * len(units), [row[k] for row in amount.values()])
    )
    block.requests_on = Expression(block.servers, rule=lambda _, k: sum_of([row[k] for row in present.values()]))


def _add_extremes(block: Pyomo, instance: ParametersInstance) -> None:
    total, servers = instance.total // block.unit, instance.servers
    block.most_loaded = Var(domain=NonNegativeIntegers, bounds=(-(-total // servers), total))
    block.least_loaded = Var(domain=NonNegativeIntegers, bounds=(0, total // servers))
    block.most_requests = Var(domain=NonNegativeIntegers, bounds=(1, len(instance.sizes)))
    block.least_requests = Var(domain=NonNegativeIntegers, bounds=(0, len(instance.sizes)))
    labels = instance.labels
    for name, parts, extreme, row in (
        ("load_at_most", block.amount, block.most_loaded, (None, 0)),
        ("load_at_least", block.amount, block.least_loaded, (0, None)),
        ("requests_at_most", block.present, block.most_requests, (None, 0)),
        ("requests_at_least", block.present, block.least_requests, (0, None)),
    ):
        rows = {
            k: (
                row[0],
                linear([1] * len(labels) + [-1], [*(parts[key, k] for key in labels), extreme]),
                row[1],
            )
            for k in range(servers)
        }
        block.add_component(name, Constraint(block.servers, rule=lambda _, k, rows=rows: rows[k]))
    block.size_difference = Expression(expr=linear([block.unit, -block.unit], [block.most_loaded, block.least_loaded]))
    block.requests = Expression(expr=sum_of(list(block.present.values())))
    block.request_difference = Expression(expr=linear([1, -1], [block.most_requests, block.least_requests]))


def _even_out(parts: list[dict[int, int]], servers: int) -> None:
    """Shift parameters along shared blocks while a server can be relieved by one with at least two fewer."""
    cut = [item for item in parts if len(item) > 1]
    loads = [0] * servers
    for item in parts:
        for server, amount in item.items():
            loads[server] += amount
    while True:
        for source in sorted({k for item in cut for k in item}, key=lambda k: (-loads[k], k)):
            path = _path(cut, loads, source)
            if path:
                break
        else:
            return
        room = min(item[giver] - 1 for item, giver, _ in path)
        moved = min(room, (loads[source] - loads[path[-1][2]]) // 2)
        for item, giver, taker in path:
            item[giver] -= moved
            item[taker] += moved
        loads[source] -= moved
        loads[path[-1][2]] += moved


def _path(cut: list[dict[int, int]], loads: list[int], source: int) -> list[tuple[dict[int, int], int, int]]:
    """Return the steps (block, giver, taker) from a server to the least loaded server reachable by shared blocks."""
    came: dict[int, tuple[dict[int, int], int]] = {}
    queue = deque([source])
    while queue:
        giver = queue.popleft()
        for item, taker in itertools.chain.from_iterable(
            ((item, taker) for taker in item) for item in cut if item.get(giver, 0) > 1
        ):
            if taker != source and taker not in came:
                came[taker] = (item, giver)
                queue.append(taker)
    target = min(came, key=lambda k: (loads[k], k), default=source)
    if loads[source] - loads[target] < 2:
        return []
    steps = []
    while target != source:
        item, giver = came[target]
        steps.append((item, giver, target))
        target = giver
    return steps[::-1]
