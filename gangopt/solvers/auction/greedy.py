"""Greedy rules for auctions: the next step of an app, and the choice of the app that takes it."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from fractions import Fraction

from gangopt.instances.auction.bids import Bundle
from gangopt.instances.auction.instance import AuctionInstance, log_of
from gangopt.instances.auction.solution import AuctionSolution

__all__ = ["Filling", "greedy", "max_min_rho"]

Step = tuple[Bundle, int, Fraction]
"""Bundle after the step, GPUs that it adds, value after it."""


class Filling:
    """A growing allocation: free GPUs, and the bundle and value of every app.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    """

    def __init__(self, instance: AuctionInstance) -> None:
        self.instance = instance
        self.free: list[int] = instance.offered.tolist()
        self.rack_free: list[int] = instance.rack_offered.tolist()
        self.bundles: list[Bundle] = [()] * len(instance.apps)
        self.values: list[Fraction] = [instance.value(i, ()) for i in range(len(instance.apps))]

    def step(self, app: int) -> Step | None:
        """Return the fewest further GPUs that raise an app's value, or None.

        The next GPU comes from the machine where the app has most GPUs, held ones included, then from its rack, then
        from elsewhere: machine and rack with the most free GPUs first, ties to the lowest index.

        Parameters
        ----------
        app : int
            Index of the app.
        """
        bid, rack_of = self.instance.apps[app], self.instance.machine_rack
        counts = dict(self.bundles[app])
        near = dict(bid.held)
        for machine, count in counts.items():
            near[machine] = near.get(machine, 0) + count
        in_rack: dict[int, int] = {}
        for machine, count in near.items():
            in_rack[int(rack_of[machine])] = in_rack.get(int(rack_of[machine]), 0) + count
        order = sorted(
            (m for m, free in enumerate(self.free) if free),
            key=lambda m: (
                -near.get(m, 0),
                -in_rack.get(int(rack_of[m]), 0),
                -self.rack_free[rack_of[m]],
                int(rack_of[m]),
                -self.free[m],
                m,
            ),
        )
        added, most = 0, bid.demand - sum(counts.values())
        for machine in order:
            for _ in range(self.free[machine]):
                if added == most:
                    return None
                counts[machine] = counts.get(machine, 0) + 1
                added += 1
                bundle = tuple(sorted(counts.items()))
                value = self.instance.value(app, bundle)
                if value > self.values[app]:
                    return bundle, added, value
        return None

    def take(self, app: int, step: Step) -> None:
        """Apply a step, whose GPUs must still be free."""
        before = dict(self.bundles[app])
        self.bundles[app], _, self.values[app] = step
        for machine, count in step[0]:
            used = count - before.get(machine, 0)
            self.free[machine] -= used
            self.rack_free[self.instance.machine_rack[machine]] -= used

    def fits(self, app: int, step: Step) -> bool:
        """Return whether the GPUs of a step are still free."""
        before = dict(self.bundles[app])
        return all(count - before.get(machine, 0) <= self.free[machine] for machine, count in step[0])

    def solution(self) -> AuctionSolution:
        """Return the current allocation."""
        return AuctionSolution(tuple(self.bundles))


def _fill(instance: AuctionInstance, rank: Callable[[Filling, int, Step], tuple[float, ...]]) -> AuctionSolution:
    """Apply the step that ranks lowest until no app has one; ties go to the lowest index."""
    filling = Filling(instance)
    waiting: list[tuple[tuple[float, ...], int, Step]] = []

    def offer(app: int) -> None:
        step = filling.step(app)
        if step is not None:
            heapq.heappush(waiting, (rank(filling, app, step), app, step))

    for app in range(len(instance.apps)):
        offer(app)
    while waiting:
        _, app, step = heapq.heappop(waiting)
        if filling.fits(app, step):
            filling.take(app, step)
        offer(app)
    return filling.solution()


def greedy(instance: AuctionInstance) -> AuctionSolution:
    """Give the next GPUs where they raise the product of values most per GPU.

    First come the apps without a value, fewest GPUs first; then the largest increase of log V per GPU. The next step of
    an app is that of `Filling.step`. Ties go to the lowest index.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    """

    def rank(filling: Filling, app: int, step: Step) -> tuple[float, ...]:
        _, added, value = step
        old = filling.values[app]
        if not old:
            return (0.0, float(added), -log_of(value))
        return (1.0, -(log_of(value) - log_of(old)) / added)

    return _fill(instance, rank)


def max_min_rho(instance: AuctionInstance) -> AuctionSolution:
    """Give the next GPUs repeatedly to the app with the largest rho = 1 / V.

    Apps without a value come first, fewest GPUs first; apps that cannot improve drop out. The next step of an app is
    that of `Filling.step`. Ties go to the lowest index.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    """

    def rank(filling: Filling, app: int, step: Step) -> tuple[float, ...]:
        old = filling.values[app]
        return (-math.inf, float(step[1])) if not old else (log_of(old),)

    return _fill(instance, rank)
