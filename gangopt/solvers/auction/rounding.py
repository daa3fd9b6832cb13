"""From the share c that an app keeps to whole GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from gangopt.base.errors import InputError, shown
from gangopt.instances.auction.bids import Bundle
from gangopt.instances.auction.instance import AuctionInstance

__all__ = ["ROUNDS_SLACK", "Rounding", "kept_bundle", "kept_part", "require_slack"]

ROUNDS_SLACK = 1e-6
"""Slack of rounds, whose bids are quotients of doubles: far above their rounding, far below what anyone measures."""

MOST_SLACK = 0.1
"""Largest slack: beyond it, it is a discount."""

Rounding = Literal["floor", "value", "random"]
"""`floor`: c times the GPUs, rounded down; `value`: the most GPUs worth at most c times the value; `random`: one more
than that with the probability that makes the mean of the value c times what was won."""


def require_slack(slack: float) -> Fraction:
    """Return the slack by which c may miss an integer number of GPUs, exactly.

    Parameters
    ----------
    slack : float
        Relative; 0 for the paper's rule, for bids that are exact.

    Raises
    ------
    InputError
        If it is no number from 0 to `MOST_SLACK`.
    """
    if isinstance(slack, bool) or not isinstance(slack, int | float) or not 0 <= slack <= MOST_SLACK:
        raise InputError(f"slack must be a number from 0 to {MOST_SLACK:g} (got {shown(slack)})")
    return Fraction(slack)


def kept_part(instance: AuctionInstance, app: int, bundle: Bundle, gpus: int) -> Bundle:
    """Return the part of a bundle that an app keeps when it may keep so many GPUs: the one of the best locality.

    The narrowest level of which one place has that many; among such places the one with the fewest, then the lowest
    index; within it machines with the most of its GPUs first, ties to the lowest index. For an app that holds GPUs,
    only places that hold them too count, and machines and racks that do come first elsewhere.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    app : int
        Index of the app.
    bundle : Bundle
        What it won.
    gpus : int
        How many it keeps, at most as many.
    """
    if not gpus:
        return ()
    rack_of = instance.machine_rack
    held = {machine for machine, _ in instance.apps[app].held}
    held_racks = {int(rack_of[machine]) for machine in held}
    by_rack: dict[int, list[tuple[int, int]]] = {}
    for part in bundle:
        by_rack.setdefault(int(rack_of[part[0]]), []).append(part)
    machines = {part[0]: [part] for part in bundle if not held or held == {part[0]}}
    racks = {rack: parts for rack, parts in by_rack.items() if not held or held_racks == {rack}}
    for places in (machines, racks):
        fitting = [
            (total, place) for place, parts in places.items() if (total := sum(count for _, count in parts)) >= gpus
        ]
        if fitting:
            return _largest_first(places[min(fitting)[1]], gpus)
    order = sorted(
        by_rack.items(),
        key=lambda item: (item[0] not in held_racks, -sum(count for _, count in item[1]), item[0]),
    )
    kept: list[tuple[int, int]] = []
    for _, parts in order:
        near = [part for part in parts if part[0] in held]
        for group in (near, [part for part in parts if part[0] not in held]):
            left = gpus - sum(count for _, count in kept)
            kept += _largest_first(group, left)
    return tuple(sorted(kept))


def _largest_first(parts: Sequence[tuple[int, int]], gpus: int) -> Bundle:
    kept = []
    for machine, count in sorted(parts, key=lambda part: (-part[1], part[0])):
        taken = min(count, gpus)
        if taken:
            kept.append((machine, taken))
        gpus -= taken
    return tuple(sorted(kept))


def kept_bundle(
    instance: AuctionInstance,
    app: int,
    bundle: Bundle,
    share: Fraction,
    rounding: Rounding,
    generator: np.random.Generator,
) -> Bundle:
    """Return what an app keeps of a bundle, in whole GPUs; all arithmetic is exact.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    app : int
        Index of the app.
    bundle : Bundle
        What it won.
    share : Fraction
        C, from 0 to 1.
    rounding : Rounding
        The rule, see `Rounding`; parts are those of `kept_part`.
    generator : numpy.random.Generator
        Drawn from once for an app under `random`.
    """
    most = sum(count for _, count in bundle)
    if rounding == "floor":
        return kept_part(instance, app, bundle, int(share * most))
    parts = [kept_part(instance, app, bundle, k) for k in range(most + 1)]
    values = [instance.value(app, part) for part in parts]
    base, won = values[0], instance.value(app, bundle)
    # an app that has a value without GPUs pays with what it has gained beyond that at most
    target = max(base, share * won)
    kept = max(k for k, value in enumerate(values) if value <= target)
    if rounding == "random" and kept < most:
        draw = Fraction(float(generator.random()))
        chance = (target - values[kept]) / (values[kept + 1] - values[kept])
        kept += draw < chance
    return parts[kept]
