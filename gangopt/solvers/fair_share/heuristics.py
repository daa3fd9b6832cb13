"""Heuristics of `fair_share`: dominant-resource fairness, a greedy rule on rho, equal counts, and random choice."""

from __future__ import annotations

import heapq
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gangopt.formulations.deadline import require_time
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.market import Market, bundles_of
from gangopt.instances.fair_share.solution import FairShareSolution
from gangopt.solvers.fair_share.placing import place_counts

__all__ = ["drf", "equal", "greedy_allocation", "max_min_rho", "progressive_filling", "random"]

Placement = Literal["adverse", "pack", "spread"]

_SLACK = 1e-9
"""Tolerated relative excess of a resource's capacity, since sums of decimal fractions are not exact."""


def drf(
    instance: FairShareInstance, *, counts: Literal["filling", "lp"] = "filling", placement: Placement = "adverse"
) -> FairShareSolution:
    """Give equal dominant shares in whole GPUs, then place the counts regardless of their value there.

    The share of an app is its largest share of the GPUs or of a resource. Counts come from `progressive_filling`, or
    from the linear program's shares rounded down and then filled in the same way. Dominant-resource fairness knows no
    places; `placement` maps the counts to machines (see `place_counts`). The default is the worst case that the rule
    allows.

    Parameters
    ----------
    instance : FairShareInstance
        Apps and GPUs.
    counts : {'filling', 'lp'}, optional
        `filling` one GPU after another, or `lp`.
    placement : Placement, optional
        `adverse`, `pack` or `spread`.

    References
    ----------
    Ghodsi et al.: Dominant Resource Fairness, NSDI 2011, algorithm 1. THEMIS (NSDI 2020), figure 5.
    """
    market = instance.market
    start = None
    if counts == "lp":
        from gangopt.solvers.fair_share.drf import dominant_share_gpus

        start = np.floor(np.array(dominant_share_gpus(market)) * (1 + _SLACK) + _SLACK).astype(np.int64)
    return FairShareSolution(bundles_of(place_counts(market, progressive_filling(market, start), placement)))


def progressive_filling(market: Market, start: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Give one GPU after another to the app of the least dominant share, ties to the lower index.

    An app leaves when its demand is met, or when one more GPU would exceed the offer. Held GPUs count as received.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    start : ndarray of int or None, optional
        GPUs given already, shape (apps,); None for none.

    Returns
    -------
    ndarray, shape (apps,)
        GPUs given to each app.
    """
    held = market.held
    given = np.zeros(len(market.apps), dtype=np.int64) if start is None else start.copy()
    share = market.unit_shares()
    free = market.total_gpus - int(given.sum())
    left = market.capacities - given @ market.demands
    waiting = [((held[i] + given[i]) * share[i], i) for i in range(len(market.apps)) if given[i] < market.wanted[i]]
    heapq.heapify(waiting)
    while free and waiting:
        app = heapq.heappop(waiting)[1]
        if np.any(market.demands[app] > left + _SLACK * market.capacities):
            continue
        given[app] += 1
        free -= 1
        left = left - market.demands[app]
        if given[app] < market.wanted[app]:
            heapq.heappush(waiting, ((held[app] + given[app]) * share[app], app))
    return given


def max_min_rho(instance: FairShareInstance) -> FairShareSolution:
    """Improve the app with the largest rho repeatedly by the fewest GPUs that help (see `greedy_allocation`).

    Parameters
    ----------
    instance : FairShareInstance
        Apps and GPUs.
    """
    return FairShareSolution(bundles_of(greedy_allocation(instance.market)))


def greedy_allocation(market: Market) -> tuple[tuple[int, ...], ...]:
    """Return the allocation of the greedy rule on rho.

    The app with the smallest V gets as many further GPUs on one machine, in one rack, or anywhere as raise its V. The
    option with the fewest GPUs wins; ties go to the greatest V, then the narrowest place, then the most free GPUs, then
    the lowest index. Within a place, machines where the app has GPUs come first, then those with the fewest free. An
    app that cannot improve leaves. Ties between apps go to the lower index.

    Parameters
    ----------
    market : Market
        Apps and GPUs.

    Returns
    -------
    tuple of tuple of int
        GPUs given, shape (apps, machines).

    Raises
    ------
    OutOfTime
        If an exact method calls it and the time limit is reached.
    """
    free = market.gpus.copy()
    left = market.capacities.copy()
    given = np.zeros((len(market.apps), len(market.gpus)), dtype=np.int64)
    worth = [market.value(i, given[i]) for i in range(len(market.apps))]
    active = list(range(len(market.apps)))
    while active:
        require_time()
        app = min(active, key=lambda i: (worth[i], i))
        step = _cheapest_step(market, app, given[app], worth[app], free)
        if step is None or np.any(int(step.sum()) * market.demands[app] > left + _SLACK * market.capacities):
            active.remove(app)
            continue
        given[app] += step
        free -= step
        left -= int(step.sum()) * market.demands[app]
        worth[app] = market.value(app, given[app])
    return tuple(tuple(row) for row in given.tolist())


def _cheapest_step(
    market: Market, app: int, row: NDArray[np.int64], worth: float, free: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return GPUs to add on each machine, or None if nothing raises V."""
    best: tuple[int, float, int, int, int] | None = None
    for level, table in enumerate(market.values[app]):
        # the first count worth more: values never fall with the count
        needed = int(np.searchsorted(table, worth, side="right"))
        places = np.array(market.places(app, level), dtype=np.int64)
        if needed == len(table) or not len(places):
            continue
        room, own = market.in_places(level, free)[places], market.in_places(level, row)[places]
        more = np.maximum(0, needed - own)
        fits = np.flatnonzero(more <= room)
        if not len(fits):
            continue
        after = table[np.minimum(own + more, len(table) - 1)]
        at = fits[np.lexsort((places[fits], -room[fits], -after[fits], more[fits]))[0]]
        key = (int(more[at]), -float(after[at]), level, -int(room[at]), int(places[at]))
        best = key if best is None else min(best, key)
    if best is None:
        return None
    return _fill(best[0], np.where(market.inside(best[2], best[4]), free, 0), row)


def _fill(count: int, free: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.int64]:
    step = np.zeros_like(free)
    for machine in sorted(np.flatnonzero(free).tolist(), key=lambda m: (row[m] == 0, free[m], m)):
        take = min(count, int(free[machine]))
        step[machine] = take
        count -= take
    return step


def equal(instance: FairShareInstance, *, placement: Placement = "pack") -> FairShareSolution:
    """Give every app the same count, G / n rounded down, regardless of demand, placed by `place_counts`.

    Parameters
    ----------
    instance : FairShareInstance
        Apps and GPUs.
    placement : Placement, optional
        `adverse`, `pack` or `spread`.
    """
    market = instance.market
    counts = np.full(len(market.apps), market.total_gpus // len(market.apps))
    for app in range(len(counts)):
        while counts[app] and np.any(counts @ market.demands > market.capacities * (1 + _SLACK)):
            counts -= counts > 0
    return FairShareSolution(bundles_of(place_counts(market, counts, placement)))


def random(instance: FairShareInstance, *, seed: int = 0) -> FairShareSolution:
    """Give each GPU, machine by machine, to an app drawn among those that still want one and whose needs fit.

    Parameters
    ----------
    instance : FairShareInstance
        Apps and GPUs.
    seed : int, optional
        Seed of the draws.
    """
    market = instance.market
    generator = np.random.default_rng(seed)
    given = np.zeros((len(market.apps), len(market.gpus)), dtype=np.int64)
    left = market.capacities.copy()
    for machine, gpus in enumerate(market.gpus.tolist()):
        for _ in range(gpus):
            fits = np.all(market.demands <= left + _SLACK * market.capacities, axis=1)
            open_to = np.flatnonzero((given.sum(axis=1) < market.wanted) & fits)
            if not len(open_to):
                break
            app = int(generator.choice(open_to))
            given[app, machine] += 1
            left -= market.demands[app]
    return FairShareSolution(bundles_of(given.tolist()))
