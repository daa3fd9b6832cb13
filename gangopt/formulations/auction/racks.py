"""Classes of equal machines and racks of an auction, with machine patterns and rack flows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gangopt.formulations.auction.columns import Group
from gangopt.formulations.patterns import Pattern, patterns_of
from gangopt.instances.auction.bids import MACHINE, RACK
from gangopt.instances.auction.instance import AuctionInstance

__all__ = ["MachineClass", "Plan", "RackClass", "plan_of"]

MAX_PATTERNS = 2_000
"""Largest number of patterns of a machine class; machines with more are classes of their own."""


@dataclass(frozen=True)
class MachineClass:
    """Machines with equally many GPUs on offer, or one machine that is a class of its own.

    A machine is a class of its own if apps hold GPUs on it, or if it has too many patterns.

    Attributes
    ----------
    gpus : int
        GPUs on offer in each.
    machines : tuple of int
        Indices, ascending.
    alone : bool
        Whether it is a single machine, which is cut piece by piece.
    patterns : tuple of Pattern
        Multisets of machine-level sizes with a sum of at most `gpus`, in descending order, without the empty one; for
        a single machine, one pattern for each size.
    too_many : bool
        Whether there are more than `MAX_PATTERNS` such multisets.
    """

    gpus: int
    machines: tuple[int, ...]
    alone: bool
    patterns: tuple[Pattern, ...]
    too_many: bool = False

    def most(self, pattern: int) -> int:
        """Return how often the class can be cut by a pattern."""
        return self.gpus // self.patterns[pattern][0] if self.alone else len(self.machines)

    @property
    def fills(self) -> tuple[int, ...]:
        """Possible numbers of GPUs in machine-level pieces of one machine, in descending order."""
        sums = range(1, self.gpus + 1) if self.alone else {sum(pattern) for pattern in self.patterns}
        return tuple(sorted(sums, reverse=True))


@dataclass(frozen=True)
class RackClass:
    """Racks of equal composition, and a graph whose paths are the ways to fill one of them.

    Attributes
    ----------
    racks : tuple of int
        Indices, ascending.
    gpus : int
        GPUs on offer in each.
    home : bool
        Whether it is a single rack in which apps hold GPUs.
    layers : tuple of tuple of int
        (machine class, machines of it in each rack).
    fills : tuple of tuple of int
        Arcs (layer, m, u, t): from m machines filled with u GPUs used so far, one more machine is filled with t.
    leaves : tuple of tuple of int
        Arcs (layer, m, u) to the next layer with u GPUs used; after the last layer, to the rack-level pieces.
    takes : tuple of tuple of int
        Arcs (v, k): from v GPUs used, a rack-level piece of k.
    """

    racks: tuple[int, ...]
    gpus: int
    home: bool
    layers: tuple[tuple[int, int], ...]
    fills: tuple[tuple[int, int, int, int], ...]
    leaves: tuple[tuple[int, int, int], ...]
    takes: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Plan:
    """Groups and classes of `nested_flow`.

    Attributes
    ----------
    groups : tuple of Group
        Apps and their columns.
    total : int
        GPUs on offer.
    machine_sizes, rack_sizes : tuple of int
        GPUs of the columns of these levels that are not tied to a place, ascending.
    machine_classes : tuple of MachineClass
        Classes that can hold a machine-level piece.
    rack_classes : tuple of RackClass
        Classes of racks; empty if no column is of the rack level.
    """

    groups: tuple[Group, ...]
    total: int
    machine_sizes: tuple[int, ...]
    rack_sizes: tuple[int, ...]
    machine_classes: tuple[MachineClass, ...]
    rack_classes: tuple[RackClass, ...]

    def home_pieces(self, level: int, place: int) -> list[tuple[int, int, int]]:
        """Return (group, column, GPUs) of the columns of a level that are tied to this place."""
        return [
            (g, j, column.gpus)
            for g, group in enumerate(self.groups)
            if level in (MACHINE, RACK) and group.home[level] == place
            for j, column in enumerate(group.columns)
            if column.level == level and column.gpus
        ]


def plan_of(instance: AuctionInstance, groups: Sequence[Group]) -> Plan:
    """Return the groups, classes, patterns and flows of an auction.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    groups : sequence of Group
        Groups of apps.
    """
    machine_sizes, machine_homes = _sizes_and_homes(groups, MACHINE)
    rack_sizes, rack_homes = _sizes_and_homes(groups, RACK)
    classes, class_of = _machine_classes(instance, machine_sizes, machine_homes)
    racks: tuple[RackClass, ...] = ()
    if rack_sizes or rack_homes:
        racks = _rack_classes(instance, classes, class_of, rack_sizes, rack_homes)
    return Plan(tuple(groups), instance.total, machine_sizes, rack_sizes, classes, racks)


def _sizes_and_homes(groups: Sequence[Group], level: int) -> tuple[tuple[int, ...], set[int]]:
    sizes, homes = set(), set()
    for group in groups:
        own = {column.gpus for column in group.columns if column.level == level and column.gpus}
        home = group.home[level]
        if home is None:
            sizes |= own
        elif own:
            homes.add(home)
    return tuple(sorted(sizes)), homes


def _machine_classes(
    instance: AuctionInstance, sizes: Sequence[int], homes: set[int]
) -> tuple[tuple[MachineClass, ...], dict[int, int]]:
    members: dict[tuple[int, int], list[int]] = {}
    patterns = {gpus: patterns_of(gpus, sizes, MAX_PATTERNS) for gpus in set(instance.offered.tolist())}
    for machine, gpus in enumerate(instance.offered.tolist()):
        if gpus:
            alone = machine in homes or patterns[gpus] is None
            members.setdefault((gpus, machine if alone else -1), []).append(machine)
    classes: list[MachineClass] = []
    class_of: dict[int, int] = {}
    for (gpus, own), machines in sorted(members.items(), key=lambda item: (-item[0][0], item[1])):
        cuts = patterns[gpus]
        too_many = cuts is None
        if own >= 0 or cuts is None:
            cuts = [(size,) for size in sizes if size <= gpus]
        cuts = sorted(filter(None, cuts), reverse=True)
        if cuts or own in homes:
            class_of |= dict.fromkeys(machines, len(classes))
            classes.append(MachineClass(gpus, tuple(machines), own >= 0, tuple(cuts), too_many))
    return tuple(classes), class_of


def _rack_classes(
    instance: AuctionInstance,
    classes: Sequence[MachineClass],
    class_of: dict[int, int],
    sizes: Sequence[int],
    homes: set[int],
) -> tuple[RackClass, ...]:
    holds: list[Counter[int]] = [Counter() for _ in instance.racks]
    for machine, kind in class_of.items():
        holds[int(instance.machine_rack[machine])][kind] += 1
    members: dict[tuple[object, ...], list[int]] = {}
    for rack, gpus in enumerate(instance.rack_offered.tolist()):
        if gpus:
            key = (gpus, tuple(sorted(holds[rack].items())), rack if rack in homes else -1)
            members.setdefault(key, []).append(rack)
    found = []
    for racks in members.values():
        gpus, layers = int(instance.rack_offered[racks[0]]), tuple(sorted(holds[racks[0]].items()))
        fills, leaves, takes = _flow(gpus, [(number, classes[kind].fills) for kind, number in layers], sizes)
        found.append(RackClass(tuple(racks), gpus, racks[0] in homes, layers, fills, leaves, takes))
    return tuple(found)


def _flow(
    room: int, layers: Sequence[tuple[int, tuple[int, ...]]], sizes: Sequence[int]
) -> tuple[tuple[tuple[int, int, int, int], ...], tuple[tuple[int, int, int], ...], tuple[tuple[int, int], ...]]:
    """Return the arcs of the graph of a rack, whose paths include all fills and pieces in descending order.

    Arcs out of a node are at most as large as the largest arc into it. So every descending sequence is a path, and
    fewer nodes are reached than by sequences in any order.
    """
    fills, leaves = [], []
    entered = [0]
    for layer, (number, sums) in enumerate(layers):
        nodes = dict.fromkeys(entered, room)
        after = set()
        for m in range(number + 1):
            reached: dict[int, int] = {}
            for u, largest in sorted(nodes.items()):
                leaves.append((layer, m, u))
                after.add(u)
                for t in sums if m < number else ():
                    if t <= largest and u + t <= room:
                        fills.append((layer, m, u, t))
                        reached[u + t] = max(reached.get(u + t, 0), t)
            nodes = reached
        entered = sorted(after)
    takes = []
    nodes = dict.fromkeys(entered, room)
    for v in range(room):
        for k in sorted(sizes, reverse=True) if v in nodes else ():
            if k <= nodes[v] and v + k <= room:
                takes.append((v, k))
                nodes[v + k] = max(nodes.get(v + k, 0), k)
    starts = {v for v, _ in takes}
    last = len(layers) - 1
    return tuple(fills), tuple(arc for arc in leaves if arc[0] < last or arc[2] in starts), tuple(takes)
