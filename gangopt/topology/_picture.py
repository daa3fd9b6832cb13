"""Plot of racks, machines and GPUs, coloured by owner; matplotlib (not pyplot) is imported when it is drawn."""

from __future__ import annotations

import colorsys
from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from gangopt.base.errors import InputError
from gangopt.topology import _checks
from gangopt.topology._checks import shown
from gangopt.topology._cluster import Cluster
from gangopt.topology._layout import PAD, Box, Plan, short
from gangopt.topology._state import State

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["draw"]

Owners = Mapping[int | str, str | None] | Sequence[str | None]
Colour = tuple[float, float, float]
Parts = dict[int, list[tuple[str, float]]]
"""Owners and their shares, by index of a GPU or a machine."""

_MOST_RACK_LABELS = 60
_MOST_LEGEND_ENTRIES = 24
_FREE: Colour = (1.0, 1.0, 1.0)
_OTHERS: Colour = (0.55, 0.55, 0.55)


@overload
def draw(subject: Cluster | State, owners: Owners | None = None, ax: None = None) -> Figure: ...


@overload
def draw(subject: Cluster | State, owners: Owners | None = None, *, ax: Axes) -> Figure | SubFigure: ...


def draw(subject: Cluster | State, owners: Owners | None = None, ax: Axes | None = None) -> Figure | SubFigure:
    """Return a plot of a cluster: racks are frames, machines boxes, and GPUs squares in the colour of their owners.

    GPUs of one slot touch each other, slots do not. Shares of a GPU are strips of its square. A CPU-only machine is a
    hatched box, with one strip for each owner as wide as its largest share of a resource; a machine that is
    unavailable is crossed out. Above 400 machines, each machine is one square with a strip for each owner, and the
    owners with the most GPUs have colours of their own. Colours depend only on the owners in label order. Labels are
    omitted above 60 machines or racks, legend entries above 24 owners.

    Parameters
    ----------
    subject : Cluster or State
        The cluster, or a state of it with its owners.
    owners : Owners or None, optional
        Owner of each GPU in index order, or a mapping from GPU index or label to owner; omitted GPUs and GPUs with
        None are free. Only for a cluster.
    ax : Axes or None, optional
        Axes to draw on; default: a new figure of suitable size.

    Raises
    ------
    InputError
        If ``owners`` has a wrong length, names an unknown GPU, holds an owner that is not text, or comes with a state.
    """
    from matplotlib.figure import Figure as NewFigure

    held = _holdings(subject, owners)
    cluster, plan = held.cluster, Plan(held.cluster)
    if ax is None:
        scale = min(0.25, 14 / plan.width, 12 / plan.height)
        size = (max(plan.width * scale, 3.5) + 2.2, max(plan.height * scale, 1.2) + 0.7)
        ax = NewFigure(figsize=size, layout="constrained").add_subplot()
    colours = _colours(held, grouped=not plan.by_gpu)
    _paint(ax, held, plan, colours)
    _label(ax, cluster, plan)
    if owners is not None or isinstance(subject, State):
        _legend(ax, held, colours, grouped=not plan.by_gpu)
    ax.set_xlim(-PAD, plan.width + PAD)
    ax.set_ylim(plan.height + PAD, -PAD)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title(short(cluster.name or cluster.root), fontsize=10)
    return ax.figure


@dataclass
class _Holdings:
    """Owners of the parts of a cluster, as far as a plot shows them."""

    cluster: Cluster
    owner_of: list[str | None]
    shares: Parts = field(default_factory=dict)
    bare: Parts = field(default_factory=dict)
    closed: list[int] = field(default_factory=list)

    def gpus(self) -> Counter[str]:
        """Return the GPUs of each owner, shares included; owners of other resources alone count 0."""
        count: Counter[str] = Counter(owner for owner in self.owner_of if owner is not None)
        for parts in self.shares.values():
            count.update(dict(parts))
        for parts in self.bare.values():
            count.update(dict.fromkeys((owner for owner, _ in parts), 0))
        return count

    def machine_parts(self, machine: int) -> list[tuple[str, float]]:
        """Return each owner's share of a machine's GPUs, or of a machine without GPUs, in label order."""
        gpus = self.cluster.machine_gpus(machine)
        if not len(gpus):
            return self.bare.get(machine, [])
        found: dict[str, float] = {}
        for gpu in gpus:
            owner = self.owner_of[gpu]
            for name, share in self.shares.get(gpu, []) if owner is None else [(owner, 1.0)]:
                found[name] = found.get(name, 0.0) + share / len(gpus)
        return [(name, found[name]) for name in sorted(found, key=_checks.natural_key)]


def _holdings(subject: Cluster | State, owners: Owners | None) -> _Holdings:
    if isinstance(subject, Cluster):
        return _Holdings(subject, _owner_list(subject, owners))
    if owners is not None:
        raise InputError("owners must be left out for a state, which has its own")
    held = _Holdings(subject.cluster, list(subject.gpu_owners))
    cluster = subject.cluster
    held.closed = [cluster.machine_index[label] for label in subject.unavailable]
    capacities = [dict(zip(cluster.resources, row, strict=True)) for row in cluster.capacities.tolist()]
    all_amounts, all_shares = subject.amounts_by_owner(), subject.shares_by_owner()
    for owner in subject.owners:
        for gpu, share in all_shares.get(owner, {}).items():
            held.shares.setdefault(gpu, []).append((owner, share))
        for machine, amounts in all_amounts.get(owner, {}).items():
            if not len(cluster.machine_gpus(machine)):
                largest = max(value / capacities[machine][name] for name, value in amounts.items())
                held.bare.setdefault(machine, []).append((owner, largest))
    for machine, parts in held.bare.items():
        # owners with different dominant resources may sum to more than the machine
        total = max(1.0, sum(share for _, share in parts))
        held.bare[machine] = [(owner, share / total) for owner, share in parts]
    return held


def _owner_list(cluster: Cluster, owners: Owners | None) -> list[str | None]:
    found: list[str | None] = [None] * len(cluster.gpus)
    if owners is None:
        return found
    if isinstance(owners, Mapping):
        for gpu, owner in zip(cluster.gpu_ids(owners), owners.values(), strict=True):
            found[gpu] = owner
    elif isinstance(owners, str) or not isinstance(owners, Sized) or len(owners) != len(found):
        raise InputError(f"owners must be one owner or None for each of {len(found)} GPUs (got {shown(owners)})")
    else:
        found = list(owners)
    for gpu, owner in enumerate(found):
        if owner is not None:
            _checks.label(owner, f"the owner of GPU {shown(cluster.gpus[gpu])}")
    return found


def _colours(held: _Holdings, grouped: bool) -> dict[str, Colour]:
    """Return the colour of each owner; if grouped, only those with the most GPUs have one of their own."""
    gpus = held.gpus()
    names = sorted(gpus, key=_checks.natural_key)
    if grouped and len(names) > _MOST_LEGEND_ENTRIES:
        largest = sorted(names, key=lambda name: -gpus[name])[: _MOST_LEGEND_ENTRIES - 1]
        names = sorted(largest, key=_checks.natural_key)
    own = {name: _colour(i, len(names)) for i, name in enumerate(names)}
    return own | dict.fromkeys(sorted(gpus.keys() - own.keys(), key=_checks.natural_key), _OTHERS)


def _colour(number: int, total: int) -> Colour:
    """Return a colour with evenly spread hue; lightness alternates so that neighbours differ."""
    red, green, blue = colorsys.hls_to_rgb(number / max(total, 3), (0.5, 0.7, 0.36)[number % 3], 0.75)
    return (red, green, blue)


def _paint(ax: Axes, held: _Holdings, plan: Plan, colours: Mapping[str, Colour]) -> None:
    from matplotlib.collections import PolyCollection

    gpus = held.cluster.gpus_per_machine.tolist()
    bare = [box for box, count in zip(plan.machines, gpus, strict=True) if not count]
    filled = [box for box, count in zip(plan.machines, gpus, strict=True) if count]
    squares: list[Box] = []
    strips: list[tuple[Box, Colour]] = []
    for m in range(len(gpus)):
        if plan.by_gpu:
            own = plan.gpus(held.cluster, m)
            squares += own
            for gpu, square in zip(held.cluster.machine_gpus(m), own, strict=True):
                strips += _strips(square, held.shares.get(gpu, []), colours)
        if not plan.by_gpu or not gpus[m]:
            strips += _strips(plan.body(m), held.machine_parts(m), colours)
    shades = [_FREE if owner is None else colours[owner] for owner in held.owner_of]
    line = max(0.2, min(0.8, 60 / max(plan.width, plan.height)))
    closed = [plan.machines[m] for m in held.closed]
    layers: tuple[tuple[list[Box], dict[str, Any]], ...] = (
        (plan.racks, {"facecolors": "#f3f3f3", "edgecolors": "#555555", "linewidths": line * 1.5}),
        (filled, {"facecolors": "#dddddd" if plan.by_gpu else "#ffffff", "edgecolors": "#888888", "linewidths": line}),
        (bare, {"facecolors": "#e9e9e9", "edgecolors": "#aaaaaa", "linewidths": line, "hatch": "////"}),
        (squares, {"facecolors": shades, "edgecolors": "#666666", "linewidths": line}),
        ([box for box, _ in strips], {"facecolors": [shade for _, shade in strips], "linewidths": 0}),
        (closed, {"facecolors": "none", "edgecolors": "#444444", "linewidths": line, "hatch": "xxx"}),
    )
    for order, (boxes, look) in enumerate(layers):
        if boxes:
            ax.add_collection(PolyCollection([box.corners() for box in boxes], zorder=order + 1, **look))


def _strips(box: Box, parts: list[tuple[str, float]], colours: Mapping[str, Colour]) -> list[tuple[Box, Colour]]:
    found, start = [], 0.0
    for owner, share in parts:
        found.append((box.part(start, share), colours[owner]))
        start += share
    return found


def _label(ax: Axes, cluster: Cluster, plan: Plan) -> None:
    if len(cluster.racks) <= _MOST_RACK_LABELS:
        for label, box in zip(cluster.racks, plan.racks, strict=True):
            ax.text(box.x, box.y - 0.15, short(label), fontsize=8, va="bottom", ha="left", clip_on=True)
    if plan.labelled:
        for label, box in zip(cluster.machines, plan.machines, strict=True):
            ax.text(box.x, box.y - 0.05, short(label), fontsize=6.5, va="bottom", ha="left", color="#333333")


def _legend(ax: Axes, held: _Holdings, colours: Mapping[str, Colour], grouped: bool) -> None:
    from matplotlib.patches import Patch

    entries = [(name, colour) for name, colour in colours.items() if colour != _OTHERS]
    others = len(colours) - len(entries)
    handles = [Patch(facecolor=colour, label=short(name)) for name, colour in entries[:_MOST_LEGEND_ENTRIES]]
    if len(entries) > _MOST_LEGEND_ENTRIES:
        handles.append(Patch(fill=False, linewidth=0, label=f"and {len(entries) - _MOST_LEGEND_ENTRIES} more"))
    if others and grouped:
        handles.append(Patch(facecolor=_OTHERS, label=f"{others} others"))
    if any(owner is None and gpu not in held.shares for gpu, owner in enumerate(held.owner_of)):
        handles.append(Patch(facecolor=_FREE, edgecolor="#666666", label="free"))
    if held.closed:
        handles.append(Patch(facecolor="none", edgecolor="#444444", hatch="xxx", label="unavailable"))
    if handles:
        ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8, frameon=False)
