"""Capacity rows for pieces with a class of servers, but without a server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyomo.environ import Constraint

from gangopt.base.types import Pyomo
from gangopt.formulations.placement.data import PlacementData, ServerClass
from gangopt.formulations.rows import at_most

__all__ = ["add_class_capacities"]

DUAL_FEASIBLE = range(1, 5)
"""Values of k in the dual feasible functions f_k."""


def add_class_capacities(
    block: Pyomo,
    data: PlacementData,
    of_class: Sequence[Sequence[tuple[tuple[int, ...], Pyomo]]],
) -> None:
    r"""Add the joint capacities of the servers of a class: plain rows and those of dual feasible functions.

    .. math::
        \sum d^r y \le n_c C_c^r,\quad \sum f_k(d^r)\,y \le n_c,\quad k = 1, \dots, 4

    with f_k(d) = d/C if (k+1) d/C is an integer, else floor((k+1) d/C)/k, whose sum over the pieces of a server is at
    most 1.

    Public components: Constraints `class_capacity` [class, resource], `dual_feasible_capacity` [class, resource, k].

    Parameters
    ----------
    block : Block
        Block with the Set `classes`.
    data : PlacementData
        Classes of servers.
    of_class : sequence of sequence of tuple of tuple of int and object
        For each class, its pieces: the demand of one for each resource, and the variable that counts them.

    References
    ----------
    Fekete and Schepers: New classes of fast lower bounds for bin packing problems (Math. Program. 91, 2001).
    """
    resources = range(len(data.resources))
    rows = {
        (c, r): [(need[r], variable) for need, variable in pieces if need[r]]
        for c, pieces in enumerate(of_class)
        for r in resources
    }

    def capacity(_: Pyomo, c: int, r: int) -> Pyomo:
        item = data.classes[c]
        return at_most(rows[c, r], len(item.servers) * item.capacity[r])

    def dual_feasible(_: Pyomo, c: int, r: int, k: int) -> Pyomo:
        item = data.classes[c]
        return at_most(list(_dual_feasible(item, rows[c, r], r, k)), len(item.servers) * k * item.capacity[r])

    block.class_capacity = Constraint(block.classes, resources, rule=capacity)
    block.dual_feasible_capacity = Constraint(block.classes, resources, DUAL_FEASIBLE, rule=dual_feasible)


def _dual_feasible(item: ServerClass, row: Sequence[tuple[int, Pyomo]], r: int, k: int) -> Iterator[tuple[int, Pyomo]]:
    """Yield the integers k C f_k(d) for the pieces of a capacity row; nothing if that row is as strong."""
    whole = item.capacity[r]
    scaled = [
        (k * need if (k + 1) * need % whole == 0 else whole * ((k + 1) * need // whole), variable)
        for need, variable in row
    ]
    if any(value > k * need for (value, _), (need, _) in zip(scaled, row, strict=True)):
        yield from ((value, variable) for value, variable in scaled if value)
