"""Text rendering of a cluster, and its totals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gangopt.base.types import Floats
from gangopt.topology._checks import natural_key, tidy
from gangopt.topology._cluster import Cluster
from gangopt.topology._symmetry import machine_classes, rack_classes

__all__ = ["Totals", "render", "totals"]

_UNITS = {"memory": " GB"}


@dataclass(frozen=True)
class Totals:
    """Totals of a cluster.

    Attributes
    ----------
    racks, machines, slots, gpus : int
        Counts.
    gpus_by_type : dict of str to int
        Number of GPUs of each type in alphabetical order; ``unknown type`` if the type is unknown.
    capacities : dict of str to int or float
        Sum of each resource over the machines, in the unit of the capacities.
    """

    racks: int
    machines: int
    slots: int
    gpus: int
    gpus_by_type: dict[str, int]
    capacities: dict[str, int | float]


def totals(cluster: Cluster) -> Totals:
    """Return the counts of a cluster, its GPUs by type and the sums of its capacities."""
    by_type: Counter[str] = Counter()
    for gpu_type, gpus in zip(cluster.gpu_types, cluster.gpus_per_machine.tolist(), strict=True):
        if gpus:
            by_type[gpu_type or "unknown type"] += gpus
    sums = (tidy(math.fsum(column)) for column in cluster.capacities.T.tolist())
    return Totals(
        racks=len(cluster.racks),
        machines=len(cluster.machines),
        slots=len(cluster.slots),
        gpus=len(cluster.gpus),
        gpus_by_type={key: by_type[key] for key in sorted(by_type, key=natural_key)},
        capacities=dict(zip(cluster.resources, sums, strict=True)),
    )


def render(cluster: Cluster) -> str:
    """Return the tree as compact text with one line for all equal racks and for all equal machines of a rack.

    Racks and machines are equal if they are in one class of `rack_classes` or `machine_classes`. The text ends with
    the annotations, without a final newline.
    """
    whole = totals(cluster)
    gpus = ", ".join(f"{count} {gpu_type}" for gpu_type, count in whole.gpus_by_type.items())
    lines = [
        f"cluster {cluster.name or cluster.root}: {_count(whole.racks, 'rack')}, "
        f"{_count(whole.machines, 'machine')}, {_count(whole.gpus, 'GPU')}" + (f" ({gpus})" if gpus else "")
    ]
    lines += [
        f"  {level}: {len(labels)} ({_span(labels, tuple(range(len(labels))))})"
        for level, labels in zip(cluster.switch_levels, cluster.switches, strict=True)
    ]
    kinds: dict[int, list[tuple[int, ...]]] = {}
    for group in machine_classes(cluster):
        kinds.setdefault(int(cluster.machine_rack[group[0]]), []).append(group)
    for racks in rack_classes(cluster):
        lines += _rack_lines(cluster, racks, kinds[racks[0]])
    amounts = _amounts(cluster.resources, list(whole.capacities.values()))
    if amounts:
        lines.append(f"  total {amounts}")
    notes = (("description", cluster.description), ("source", cluster.source))
    lines += [f"  {key}: {' '.join(words.split())}" for key, words in notes if words]
    return "\n".join(lines)


def _rack_lines(cluster: Cluster, racks: tuple[int, ...], kinds: list[tuple[int, ...]]) -> list[str]:
    """Return the lines of a class of racks, described by the kinds of machines of its first rack."""
    many = f"{len(racks)} x " if len(racks) > 1 else ""
    links = [_links(cluster.rack_bandwidth[list(racks[:1])], "uplink")]
    if cluster.switch_levels:
        links.insert(0, f"{cluster.switch_levels[-1]} {cluster.switches[-1][cluster.rack_switch[racks[0]]]}")
    network = ", ".join(link for link in links if link)
    head = f"  {many}rack {_span(cluster.racks, racks)}" + (f" ({network})" if network else "") + ":"
    machines = []
    for group in kinds:
        labels = "" if many else f" {_span(cluster.machines, group)}"
        machines.append(f"{len(group)} x machine{labels} ({_machine(cluster, group[0])})")
    return [f"{head} {machines[0]}"] if len(machines) == 1 else [head, *(f"    {line}" for line in machines)]


def _machine(cluster: Cluster, machine: int) -> str:
    """Return the description of one machine, e.g. ``8 GPUs: 4 slots x 2, P100; cpu 16, memory 80 GB``."""
    gpus = int(cluster.gpus_per_machine[machine])
    slots = list(cluster.machine_slots(machine))
    words = _count(gpus, "GPU") if gpus else "no GPU"
    if len(slots) > 1:
        sizes = [len(cluster.slot_gpus(slot)) for slot in slots]
        equal = f"{len(slots)} slots x {sizes[0]}"
        words += ": " + (equal if len(set(sizes)) == 1 else "slots of " + " + ".join(map(str, sizes)))
    gpu_type = cluster.gpu_types[machine]
    links = (
        _links(cluster.machine_bandwidth[[machine]], "network"),
        _links(cluster.slot_bandwidth[slots], "slot"),
        _links(cluster.gpu_bandwidth[list(cluster.machine_gpus(machine))], "GPU"),
    )
    parts = [
        words + (f", {gpu_type}" if gpu_type else ""),
        _amounts(cluster.resources, cluster.capacities[machine].tolist()),
        ", ".join(link for link in links if link),
        ", ".join(f"{key}={value}" for key, value in cluster.machine_labels[machine].items()),
    ]
    return "; ".join(part for part in parts if part)


def _amounts(resources: Sequence[str], values: Sequence[float]) -> str:
    pairs = zip(resources, values, strict=True)
    return ", ".join(f"{key} {tidy(value)}{_UNITS.get(key, '')}" for key, value in pairs if key != "gpu" and value)


def _links(bandwidths: Floats, kind: str) -> str:
    """Return the known bandwidths as text, e.g. ``slot 64 Gb/s`` or ``slot 64 to 128 Gb/s``."""
    known = [value for value in bandwidths.tolist() if not math.isnan(value)]
    if not known:
        return ""
    low, high = tidy(min(known)), tidy(max(known))
    unknown = ", some unknown" if len(known) < len(bandwidths) else ""
    return f"{kind} {low}{'' if low == high else f' to {high}'} Gb/s{unknown}"


def _span(labels: Sequence[str], members: tuple[int, ...]) -> str:
    """Return one label, the ends of a run of neighbours, or the first labels of scattered members."""
    if len(members) == 1:
        return labels[members[0]]
    if members[-1] - members[0] == len(members) - 1:
        return f"{labels[members[0]]} .. {labels[members[-1]]}"
    return ", ".join(labels[i] for i in members[:3]) + (", ..." if len(members) > 3 else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
