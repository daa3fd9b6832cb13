"""Placement of bundles on machines, from the numbers of pieces and the rack fills of a model without places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gangopt.formulations.auction.columns import Column
from gangopt.formulations.auction.racks import Plan, RackClass
from gangopt.instances.auction.bids import CLUSTER, MACHINE, RACK, Bundle
from gangopt.instances.auction.instance import AuctionInstance

__all__ = ["Choice", "Flows", "choices_from", "choices_of", "give_out", "place"]


@dataclass(frozen=True)
class Choice:
    """Bundle of one app: `gpus` GPUs in one place of `level`; `place` is None if it is not known."""

    app: int
    level: int
    gpus: int
    place: int | None


@dataclass(frozen=True)
class Flows:
    """Integer variables of `nested_flow`: machines by (class, pattern), and racks by (rack class, arc)."""

    cuts: Mapping[tuple[int, int], int]
    fills: Mapping[tuple[int, int, int, int, int], int]
    takes: Mapping[tuple[int, int, int], int]


def choices_of(plan: Plan, counts: Mapping[tuple[int, int], int]) -> list[Choice]:
    """Return the choice of each app; within a group, apps of lower index get the better columns.

    Parameters
    ----------
    plan : Plan
        The groups.
    counts : mapping of tuple of int to int
        Number of apps by (group, column); other apps get nothing.

    Returns
    -------
    list of Choice
        Choices of the apps that get GPUs, in ascending order.
    """
    found = []
    for g, group in enumerate(plan.groups):
        given = [j for j in range(len(group.columns)) for _ in range(counts.get((g, j), 0))]
        given.sort(key=lambda j: (-group.shares[j], j))
        for app, j in zip(group.apps, given, strict=False):
            column = group.columns[j]
            if column.gpus:
                home = group.home[column.level] if column.level != CLUSTER else None
                found.append(Choice(app, column.level, column.gpus, home))
    return sorted(found, key=lambda choice: choice.app)


def place(instance: AuctionInstance, plan: Plan, choices: Sequence[Choice], flows: Flows) -> tuple[Bundle, ...]:
    """Return bundles that realise the choices of the apps.

    The paths of the rack flows assign patterns to machines. Machine-level pieces go to the holes of the patterns, both
    largest first. See `give_out` for the rest.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    plan : Plan
        Its classes.
    choices : sequence of Choice
        Choices of the apps.
    flows : Flows
        Feasible cuts and paths for the choices.
    """
    holes, rooms = _holes(instance, plan, flows)
    next_hole = iter(holes)
    placed = []
    for choice in sorted(choices, key=lambda item: (-item.gpus, item.app)):
        where = choice.place
        if where is None and choice.level == MACHINE:
            where = next(next_hole)[1]
        elif where is None and choice.level == RACK:
            where = rooms[choice.gpus].pop(0)
        placed.append(replace(choice, place=where))
    return give_out(instance, placed)


def give_out(instance: AuctionInstance, choices: Sequence[Choice]) -> tuple[Bundle, ...]:
    """Return bundles that realise choices with known machines and racks.

    Machine-level choices are placed first, then rack-level ones, then the rest, in order of decreasing size and
    increasing app. Inside a rack or the cluster, machines with the most free GPUs are used first, ties by index.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    choices : sequence of Choice
        Choices that fit: no place has more GPUs chosen, narrower places included, than on offer.
    """
    free = instance.offered.tolist()
    members: dict[int, list[int]] = {}
    for machine, rack in enumerate(instance.machine_rack.tolist()):
        members.setdefault(rack, []).append(machine)
    given: list[dict[int, int]] = [{} for _ in instance.apps]
    for choice in sorted(choices, key=lambda item: (item.level, -item.gpus, item.app)):
        machines: Sequence[int] = range(len(free))
        if choice.place is not None and choice.level != CLUSTER:
            machines = [choice.place] if choice.level == MACHINE else members[choice.place]
        left = choice.gpus
        for machine in sorted(machines, key=lambda m: (-free[m], m)):
            part = min(left, free[machine])
            if part:
                free[machine] -= part
                given[choice.app][machine] = part
                left -= part
    return tuple(tuple(sorted(parts.items())) for parts in given)


def choices_from(
    instance: AuctionInstance, columns: Sequence[Sequence[Column]], bundles: Sequence[Bundle]
) -> list[Choice]:
    """Return, for each app, the best column that its bundle satisfies, with its place.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    columns : sequence of sequence of Column
        Columns of each app.
    bundles : sequence of Bundle
        GPUs of each app.

    Returns
    -------
    list of Choice
        Includes apps without GPUs that have a column for 0 GPUs; ties go to the first column and the lowest place.
    """
    found = []
    for app, bundle in enumerate(bundles):
        reach = instance.reach(app, bundle)
        met = [column for column in columns[app] if column.gpus <= reach[column.level]]
        if not met:
            continue
        best = max(met, key=lambda column: column.value)
        where = _where(instance, app, best, bundle) if best.level != CLUSTER else None
        found.append(Choice(app, best.level, best.gpus, where))
    return found


def _where(instance: AuctionInstance, app: int, column: Column, bundle: Bundle) -> int:
    if instance.apps[app].held:
        home = instance.home(app)[column.level]
        assert home is not None
        return home
    counts: dict[int, int] = {}
    for machine, count in bundle:
        place = machine if column.level == MACHINE else int(instance.machine_rack[machine])
        counts[place] = counts.get(place, 0) + count
    return min(place for place, count in sorted(counts.items()) if count >= column.gpus)


def _holes(instance: AuctionInstance, plan: Plan, flows: Flows) -> tuple[list[tuple[int, int]], dict[int, list[int]]]:
    """Return the holes (size, machine), largest first, and for each rack-level size the racks with room for it."""
    filled: dict[tuple[int, int], list[int]] = {}
    rooms: dict[int, list[int]] = {}
    for r, kind in enumerate(plan.rack_classes):
        _walk(r, kind, flows, filled, rooms)
    holes = []
    for c, machines in enumerate(plan.machine_classes):
        unused = list(machines.machines)
        for p, pattern in enumerate(machines.patterns):
            for _ in range(flows.cuts.get((c, p), 0)):
                machine = unused[0]
                if plan.rack_classes and not machines.alone:
                    rack = filled[c, sum(pattern)].pop(0)
                    machine = next(m for m in unused if instance.machine_rack[m] == rack)
                if not machines.alone:
                    unused.remove(machine)
                holes += [(size, machine) for size in pattern]
    return sorted(holes, key=lambda hole: (-hole[0], hole[1])), rooms


def _walk(
    r: int,
    kind: RackClass,
    flows: Flows,
    filled: dict[tuple[int, int], list[int]],
    rooms: dict[int, list[int]],
) -> None:
    """Send the racks of a class along the used arcs, and record them by (machine class, fill) and by size."""
    at: dict[int, list[int]] = {0: list(kind.racks)}
    arcs: dict[tuple[int, int, int], list[int]] = {}
    for layer, m, u, t in kind.fills:
        arcs.setdefault((layer, m, u), []).append(t)
    for layer, (machine_class, number) in enumerate(kind.layers):
        here = at
        left: dict[int, list[int]] = {}
        for m in range(number + 1):
            onward: dict[int, list[int]] = {}
            for u, racks in sorted(here.items()):
                waiting = list(racks)
                for t in arcs.get((layer, m, u), []):
                    used = flows.fills.get((r, layer, m, u, t), 0)
                    moving, waiting = waiting[:used], waiting[used:]
                    onward.setdefault(u + t, []).extend(moving)
                    filled.setdefault((machine_class, t), []).extend(moving)
                left.setdefault(u, []).extend(waiting)
            here = onward
        at = left
    for v, k in kind.takes:
        used = flows.takes.get((r, v, k), 0)
        waiting = at.get(v, [])
        moving, at[v] = waiting[:used], waiting[used:]
        at.setdefault(v + k, []).extend(moving)
        rooms.setdefault(k, []).extend(moving)
