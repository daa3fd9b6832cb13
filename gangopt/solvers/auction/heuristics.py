"""The whole THEMIS mechanism and simpler ways to divide GPUs, scored by the same checker as the exact method."""

from __future__ import annotations

import numpy as np

from gangopt.base.errors import InputError
from gangopt.instances.auction.bids import Bundle
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.instances.auction.solution import AuctionSolution
from gangopt.solvers.auction.arbiter import hold_auction
from gangopt.solvers.auction.greedy import greedy, max_min_rho
from gangopt.solvers.auction.rounding import Rounding
from gangopt.solvers.core.contract import Controls

__all__ = ["drf", "greedy", "max_min_rho", "proportional", "random", "themis"]


def themis(
    instance: AuctionInstance,
    *,
    rounding: Rounding = "floor",
    slack: float = 0.0,
    seconds: float = 600.0,
    seed: int = 0,
    time_limit: float | None = None,
) -> AuctionSolution:
    """Run the whole mechanism: proportionally fair allocation, hidden payments, rounding, gifts to bystanders.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    rounding : Rounding, optional
        `floor`, as in the paper: c times the GPUs, rounded down; `value`: the most GPUs worth at most c times the
        value; `random`: one more GPU with the probability that makes the expected value c times the value.
    slack : float, optional
        Relative slack; c counts as min(1, (1 + slack) c). Use a slack > 0 for values that are rounded themselves.
    seconds : float, optional
        Maximum wall time; payments not proven by then use the lower end of their interval.
    seed : int, optional
        Seed of the gifts, and of the rounding `random`.
    time_limit : float or None, optional
        Remaining wall seconds of the call, None for no limit; the smaller of it and `seconds` applies.

    Returns
    -------
    AuctionSolution
        `remark` names payments that are not proven.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, section 3.3 and pseudocode 1; Cole, Gkatzelis, Goel: EC 2013.
    """
    return hold_auction(instance, rounding=rounding, slack=slack, seed=seed, controls=_controls(seconds, time_limit))


def proportional(
    instance: AuctionInstance, *, seconds: float = 600.0, time_limit: float | None = None
) -> AuctionSolution:
    """Divide GPUs in proportional fairness, and let every app keep its bundle: THEMIS without payments.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    seconds : float, optional
        Maximum wall time; the best allocation found by then is returned.
    time_limit : float or None, optional
        Remaining wall seconds of the call, None for no limit; the smaller of it and `seconds` applies.
    """
    return hold_auction(instance, payments=False, gifts=False, controls=_controls(seconds, time_limit))


def _controls(seconds: float, time_limit: float | None) -> Controls:
    if not 0 < seconds <= 1e9:
        raise InputError(f"seconds must be > 0 and <= 1e9 (got {seconds:g})")
    return Controls(time_limit=seconds if time_limit is None else min(seconds, time_limit))


def drf(instance: AuctionInstance) -> AuctionSolution:
    """Give every GPU to the app with the fewest, held ones included: dominant-resource fairness of one resource.

    The rule knows counts only: GPUs are taken machine by machine, whichever app is next. Ties go to the lowest index;
    apps with a satisfied demand drop out.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    """
    held = [sum(count for _, count in app.held) for app in instance.apps]
    counts: list[dict[int, int]] = [{} for _ in held]
    left = [app.demand for app in instance.apps]
    for machine, offered in enumerate(instance.offered.tolist()):
        for _ in range(offered):
            waiting = [i for i, demand in enumerate(left) if demand]
            if not waiting:
                return AuctionSolution(_bundles(counts))
            _give(counts, left, min(waiting, key=lambda i: (held[i] + sum(counts[i].values()), i)), machine)
    return AuctionSolution(_bundles(counts))


def random(instance: AuctionInstance, *, seed: int = 0) -> AuctionSolution:
    """Give every GPU, machine by machine, to an app drawn among those that can use more.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    seed : int, optional
        Seed of the draws.
    """
    generator = np.random.default_rng(seed)
    counts: list[dict[int, int]] = [{} for _ in instance.apps]
    left = [app.demand for app in instance.apps]
    for machine, offered in enumerate(instance.offered.tolist()):
        for _ in range(offered):
            waiting = [i for i, demand in enumerate(left) if demand]
            if not waiting:
                return AuctionSolution(_bundles(counts))
            _give(counts, left, waiting[int(generator.integers(len(waiting)))], machine)
    return AuctionSolution(_bundles(counts))


def _give(counts: list[dict[int, int]], left: list[int], app: int, machine: int) -> None:
    counts[app][machine] = counts[app].get(machine, 0) + 1
    left[app] -= 1


def _bundles(counts: list[dict[int, int]]) -> tuple[Bundle, ...]:
    return tuple(tuple(sorted(parts.items())) for parts in counts)
