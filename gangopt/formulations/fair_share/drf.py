r"""Dominant resource fairness as a linear program: the largest common dominant share of all growing apps.

.. math::

    \max \lambda \quad\text{with}\quad s_i x_i \ge \lambda \text{ for every growing app},\quad s_i x_i \ge \sigma_i
    \text{ for every settled one},\\ \sum_i x_i \le G,\quad \sum_i d_{ir} x_i \le C_r \;\forall r,\quad
    0 \le x_i \le w_i

x_i is the (fractional) number of GPUs of app i, s_i the dominant share of one GPU, d_ir the amount of resource r per
GPU and w_i the demand of the app. Solving the program repeatedly, settling the apps that cannot exceed lambda, is
progressive filling.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyomo.environ import Constraint, Expression, NonNegativeReals, RangeSet, Set, Var

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import check_empty
from gangopt.formulations.rows import at_most, sum_of
from gangopt.instances.fair_share.market import Market

__all__ = ["fill_dominant_share"]


def fill_dominant_share(block: Pyomo, market: Market, settled: Mapping[int, float] | None = None) -> None:
    """Build the program for the largest common dominant share of the apps that are not settled.

    Public components: Var `gpus` [app] (GPUs, fractional), Var `level` (share), Expressions `share` [app] and
    `objective_value` (share, to be maximised). Held GPUs count as received.

    Parameters
    ----------
    block : Block
        Empty model or block.
    market : Market
        Apps and GPUs.
    settled : mapping of int to float or None, optional
        Dominant share of each settled app by index.
    """
    check_empty(block, "fair_share dominant share")
    settled = {} if settled is None else settled
    held, wanted = market.held.tolist(), market.wanted.tolist()
    unit = market.unit_shares().tolist()
    block.apps = RangeSet(0, len(market.apps) - 1)
    block.resources = Set(initialize=list(market.resources))
    block.gpus = Var(
        block.apps,
        domain=NonNegativeReals,
        bounds=lambda _, i: (0, min(wanted[i], market.total_gpus)),
    )
    block.level = Var(domain=NonNegativeReals)
    block.share = Expression(block.apps, rule=lambda b, i: unit[i] * (b.gpus[i] + held[i]))
    block.share_at_least_level = Constraint(
        [i for i in block.apps if i not in settled], rule=lambda b, i: b.share[i] >= b.level
    )
    block.settled_share_kept = Constraint(list(settled), rule=lambda b, i: b.share[i] >= settled[i])
    block.cluster_capacity = Constraint(expr=sum_of([block.gpus[i] for i in block.apps]) <= market.total_gpus)

    def capacity(b: Pyomo, name: str) -> Pyomo:
        r = market.resources.index(name)
        scale = float(market.capacities[r])
        terms = [(float(market.demands[i, r]) / scale, b.gpus[i]) for i in b.apps if market.demands[i, r]]
        return at_most(terms, 1.0)

    block.resource_capacity = Constraint(block.resources, rule=capacity)
    block.objective_value = Expression(expr=block.level)
