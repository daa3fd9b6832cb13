"""Last resort of `placement`: formulation `pieces` as one model, with the known bound as a row."""

from __future__ import annotations

from pyomo.environ import Constraint

from gangopt.base.errors import ModelTooLargeError
from gangopt.formulations.placement import Pieces
from gangopt.formulations.placement.focus import focus, in_seconds
from gangopt.solvers.highs import solve_model
from gangopt.solvers.placement.bound import levels_within
from gangopt.solvers.placement.search import Search

__all__ = ["count_pieces", "prove"]


NONZEROS = 8
"""Approximate number of coefficients of a piece in the rows of formulation `pieces`."""


def count_pieces(search: Search) -> int:
    """Return the number of pieces of formulation `pieces`."""
    return sum(
        len(job.pieces(item.capacity)) * len(item.servers) for job in search.data.jobs for item in search.data.classes
    )


def prove(search: Search) -> None:
    """Solve formulation `pieces` from the best placement, unless it is too large or would exceed the time limit.

    Parameters
    ----------
    search : Search
        Receives the placement and the bound.
    """
    instance = search.instance
    if not search.is_watched(NONZEROS * count_pieces(search)):
        return
    form = Pieces(levels_within(instance, search.data, search.levels, search.objective))
    try:
        model = form.model(instance)
    except ModelTooLargeError:
        return
    unit = focus(model, instance, search.objective, search.bound)
    least = search.bound if unit is None else search.bound / unit
    model.known_bound = Constraint(expr=(least - 1e-9 * max(1.0, abs(least)), model.objective.expr, None))
    if search.solution is not None:
        form.hint(model, instance, search.solution)
    outcome = solve_model(model, search.settings(), warm_start=search.solution is not None)
    search.seen(outcome)
    if outcome.values is not None:
        search.offer(form.read(model, instance))
    if outcome.bound is not None:
        search.offer(bound=in_seconds(outcome.bound, unit))
