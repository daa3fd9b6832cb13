"""Dominant-resource fairness by a sequence of linear programs."""

from __future__ import annotations

from collections.abc import Mapping

from gangopt.base.errors import SolverError
from gangopt.base.interrupts import unless_interrupted
from gangopt.instances.fair_share.market import Market

__all__ = ["dominant_share_gpus"]

_EQUAL = 1e-7
"""Relative difference of shares within which an app counts as unable to exceed a share: the solver's tolerance."""

_SLACK = 1e-9
"""Fraction of a kept share that may be given up."""


def dominant_share_gpus(market: Market) -> tuple[float, ...]:
    """Return the (fractional) GPUs of each app under lexicographic max-min fairness of dominant shares.

    Each round maximises the common share of all growing apps, then settles those whose own share cannot exceed it while
    the others keep theirs.

    Parameters
    ----------
    market : Market
        Apps and GPUs.

    Returns
    -------
    tuple of float
        GPUs given to each app, held ones not counted.
    """
    unit, held = market.unit_shares(), market.held
    settled: dict[int, float] = {}
    while len(settled) < len(market.apps):
        growing = [i for i in range(len(market.apps)) if i not in settled]
        level = _highest_level(market, settled)
        kept = dict.fromkeys(growing, level) | settled
        stuck = [
            i
            for i in growing
            if _highest_level(market, {j: share for j, share in kept.items() if j != i}) <= level * (1 + _EQUAL)
        ]
        if not stuck:
            raise SolverError(f"dominant shares: no app is at its limit at the share {level}")
        settled.update(dict.fromkeys(stuck, level))
    return tuple(max(0.0, settled[i] / float(unit[i]) - float(held[i])) for i in range(len(market.apps)))


def _highest_level(market: Market, settled: Mapping[int, float]) -> float:
    """Return the greatest share that all unsettled apps can have together."""
    from pyomo.environ import ConcreteModel, Objective, maximize

    from gangopt.formulations.fair_share.drf import fill_dominant_share
    from gangopt.solvers.highs import solve_model

    model = ConcreteModel(name="dominant share")
    # the solver satisfies rows up to a tolerance, and a kept share must not make the next program infeasible
    fill_dominant_share(model, market, {i: share * (1 - _SLACK) for i, share in settled.items()})
    model.objective = Objective(expr=model.objective_value, sense=maximize)
    solved = unless_interrupted(solve_model(model))
    if solved.objective is None:
        raise SolverError(f"dominant shares: the linear program ended {solved.termination}")
    return solved.objective
