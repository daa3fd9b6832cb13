"""Hidden payments of an auction: the cost of each app's presence to the others."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction

from gangopt.instances.auction.bids import Bundle
from gangopt.instances.auction.instance import AuctionInstance, log_of
from gangopt.instances.auction.solution import Payment
from gangopt.solvers.auction.master import MOST_NEAR, NEAR, Counts, Master, Optimum
from gangopt.solvers.core.contract import Controls, Termination

__all__ = ["FREE", "Payments", "below", "payments_of", "unsettled"]

FREE: Payment = (Fraction(1), Fraction(1))
"""Payment of an app that keeps everything."""


@dataclass(frozen=True)
class Payments:
    """Shares kept by the apps.

    Attributes
    ----------
    shares : tuple of Payment
        Bounds (low, high) on c of every app.
    solves : int
        Number of models solved for them.
    exact : bool
        Whether each best product without an app was distinguished from all others as a rational.
    """

    shares: tuple[Payment, ...]
    solves: int
    exact: bool


def payments_of(
    instance: AuctionInstance, master: Master, optimum: Optimum, bundles: tuple[Bundle, ...], controls: Controls
) -> Payments:
    r"""Return the payments for an optimal selection.

    With P the apps that have a value in it,

    .. math:: c_i = \frac{\prod_{j \in P, j \ne i} V_j(G)}{\max \prod_{j \in P, j \ne i} V_j}

    Apps that were not served pay nothing and are left out of the counterfactuals; otherwise an app that replaces
    another would make every payment total. An app without GPUs has c = 1. If time runs out, c lies between the
    quotient with the proven bound and the one with the best selection found.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    master : Master
        Its model.
    optimum : Optimum
        The best selection.
    bundles : tuple of Bundle
        Its bundles.
    controls : Controls
        Settings of the call.
    """
    served = [i for i, bundle in enumerate(bundles) if instance.value(i, bundle)]
    if len(served) < len(bundles) or not master.goal.all_served:
        if not served:
            return Payments(tuple(FREE for _ in bundles), 0, exact=True)
        return _among_served(instance, master, served, bundles, controls)
    shares = [FREE] * len(bundles)
    before, exact = master.solves, True
    of_app = master.columns_of(bundles)
    for g, group in enumerate(master.plan.groups):
        own = sorted({of_app[app][1] for app in group.apps})
        if all(not group.columns[j].gpus for j in own):
            continue
        bounds, settled = _without_one(master, optimum, g, own)
        exact &= settled
        for app in group.apps:
            j = of_app[app][1]
            shares[app] = bounds[j] if group.columns[j].gpus else FREE
    return Payments(tuple(shares), master.solves - before, exact)


def _without_one(master: Master, optimum: Optimum, g: int, own: list[int]) -> tuple[dict[int, Payment], bool]:
    """Return bounds on c for an app of the group by its column; removing any of them leaves the same other apps."""
    assert optimum.counts is not None
    others = {j: optimum.product / master.plan.groups[g].shares[j] for j in own}
    start = max(own, key=lambda j: (others[j], -j))
    rest = dict(optimum.counts)
    rest[g, start] -= 1
    found = master.best(g, {key: number for key, number in rest.items() if number})
    bounds = {}
    for j, product in others.items():
        high = product / found.product
        low = high if found.exact else min(high, below(log_of(product) - found.bound, NEAR))
        bounds[j] = (low, high)
    return bounds, found.exact


def below(logarithm: float, margin: float) -> Fraction:
    """Return a rational below exp of a logarithm.

    Parameters
    ----------
    logarithm : float
        Logarithm of the quotient.
    margin : float
        Maximum error of the logarithm by solver tolerances and rounding.
    """
    return Fraction(math.exp(logarithm - margin)) if math.isfinite(logarithm) else Fraction(0)


def unsettled(controls: Controls, ended: Termination | None = None) -> tuple[Termination, str]:
    """Return the termination and reason for a proven allocation with payments that remain intervals.

    Parameters
    ----------
    controls : Controls
        Settings of the call.
    ended : Termination or None, optional
        Why a solve for a payment stopped, None if none did.
    """
    reason = "some payments are known only within an interval"
    if ended is None and controls.remaining() != 0:
        return "optimal", f"{reason}: more than {MOST_NEAR} products are within {NEAR:g} of the largest"
    return ended or "time_limit", reason


def _among_served(
    instance: AuctionInstance, whole: Master, served: list[int], bundles: tuple[Bundle, ...], controls: Controls
) -> Payments:
    part = dataclasses.replace(instance, apps=tuple(instance.apps[i] for i in served))
    columns = whole.app_columns
    master = Master(part, controls, [columns[i] for i in served], all_served=True)
    own = tuple(bundles[i] for i in served)
    counts: Counts = master.counts_of(own)
    optimum = Optimum(counts, master.product(counts), log_of(master.product(counts)), proven=True)
    found = payments_of(part, master, optimum, own, controls)
    shares = [FREE] * len(bundles)
    for i, share in zip(served, found.shares, strict=True):
        shares[i] = share
    return Payments(tuple(shares), found.solves, found.exact)
