"""Plot of racks, machines and GPUs, coloured by owner; matplotlib (not pyplot) is imported when it is drawn."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gangopt.base.errors import InputError
from gangopt.topology import _checks
from gangopt.topology._checks import shown
from gangopt.topology._cluster import Cluster

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["draw"]

Owners = Mapping[int | str, str | None] | Sequence[str | None]
Colour = tuple[float, float, float]

_ASPECT = 1.5  # width over height that the arrangement of racks aims at
_SLOT_GAP = 0.35  # all lengths are in sides of a GPU square
_PAD = 0.3
_LABEL_ROOM = 0.9
_RACK_GAP = 1.2
_LETTER = 0.22  # width of a letter of a machine's label
_LONGEST_LABEL = 24
_MOST_MACHINE_LABELS = 60
_MOST_RACK_LABELS = 60
_MOST_LEGEND_ENTRIES = 24
_MOST_ROWS = 200
_FREE: Colour = (1.0, 1.0, 1.0)


def draw(cluster: Cluster, owners: Owners | None = None, ax: Axes | None = None) -> Figure | SubFigure:
    """Return a plot of the cluster: racks are frames, machines boxes, and GPUs squares in the colour of their owners.

    GPUs of one slot touch each other, slots do not. A CPU-only machine is a hatched box. Colours depend only on the
    owners in label order. The plot is legible for up to a few hundred machines; labels are omitted above 60 machines
    or racks, legend entries above 24 owners.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    owners : Owners or None, optional
        Owner of each GPU in index order, e.g. `State.gpu_owners`, or a mapping from GPU index or label to owner;
        omitted GPUs and GPUs with None are free.
    ax : Axes or None, optional
        Axes to draw on; default: a new figure of suitable size.

    Raises
    ------
    InputError
        If ``owners`` has a wrong length, names an unknown GPU, or holds an owner that is not text.
    """
    from matplotlib.figure import Figure as NewFigure

    owner_of = _owner_list(cluster, owners)
    plan = _Plan(cluster)
    if ax is None:
        scale = min(0.25, 14 / plan.width, 12 / plan.height)
        size = (max(plan.width * scale, 3.5) + 2.2, max(plan.height * scale, 1.2) + 0.7)
        ax = NewFigure(figsize=size, layout="constrained").add_subplot()
    names = sorted({owner for owner in owner_of if owner is not None}, key=_checks.natural_key)
    colours = {name: _colour(i, len(names)) for i, name in enumerate(names)}
    _paint(ax, cluster, plan, [_FREE if owner is None else colours[owner] for owner in owner_of])
    _label(ax, cluster, plan)
    if owners is not None:
        _legend(ax, colours, any(owner is None for owner in owner_of))
    ax.set_xlim(-_PAD, plan.width + _PAD)
    ax.set_ylim(plan.height + _PAD, -_PAD)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title(_short(cluster.name or cluster.root), fontsize=10)
    return ax.figure


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


def _colour(number: int, total: int) -> Colour:
    """Return a colour with evenly spread hue; lightness alternates so that neighbours differ."""
    red, green, blue = colorsys.hls_to_rgb(number / max(total, 3), (0.5, 0.7, 0.36)[number % 3], 0.75)
    return (red, green, blue)


@dataclass(frozen=True)
class _Box:
    """A rectangle by its upper left corner, y downwards."""

    x: float
    y: float
    width: float
    height: float

    def corners(self) -> list[tuple[float, float]]:
        right, below = self.x + self.width, self.y + self.height
        return [(self.x, self.y), (right, self.y), (right, below), (self.x, below)]


class _Plan:
    """Layout of the plot: racks on shelves, machines of a rack in columns, GPUs of a machine in a row."""

    def __init__(self, cluster: Cluster) -> None:
        self.labelled = len(cluster.machines) <= _MOST_MACHINE_LABELS
        longest = max(len(_short(label)) for label in cluster.machines) if self.labelled else 0
        rows = (self._row_width(cluster, m) for m in range(len(cluster.machines)))
        self.cell_width = 2 * _PAD + max(*rows, longest * _LETTER, 1)
        self.cell_height = 1 + 2 * _PAD + (_LABEL_ROOM if self.labelled else 0)
        sizes = [len(cluster.rack_machines(r)) for r in range(len(cluster.racks))]
        self.rows, shelf = self._best_rows(sizes)
        self.racks, self.width, self.height = self._shelves(sizes, self.rows, shelf)
        self.machines = [self._machine(cluster, m) for m in range(len(cluster.machines))]

    def _row_width(self, cluster: Cluster, machine: int) -> float:
        gpus, slots = len(cluster.machine_gpus(machine)), len(cluster.machine_slots(machine))
        return max(1.0, gpus + _SLOT_GAP * max(slots - 1, 0))

    def _best_rows(self, sizes: list[int]) -> tuple[int, float]:
        """Return the machines a column and the shelf width that come nearest to the wanted aspect."""
        tries = [(rows, self._shelf(sizes, rows)) for rows in range(1, min(max(sizes), _MOST_ROWS) + 1)]

        def miss(candidate: tuple[int, float]) -> float:
            _, width, height = self._shelves(sizes, *candidate)
            return abs(math.log(width / height / _ASPECT))

        return min(tries, key=miss)

    def _shelf(self, sizes: list[int], rows: int) -> float:
        """Return the shelf width at which racks of these sizes would fill a field of the wanted aspect."""
        widths = [self._rack_width(size, rows) for size in sizes]
        area = sum(
            (w + _RACK_GAP) * (self._rack_height(n, rows) + _RACK_GAP) for w, n in zip(widths, sizes, strict=True)
        )
        return max(math.sqrt(area * _ASPECT), *widths)

    def _rack_width(self, size: int, rows: int) -> float:
        return math.ceil(size / rows) * self.cell_width + 2 * _PAD

    def _rack_height(self, size: int, rows: int) -> float:
        return min(size, rows) * self.cell_height + 2 * _PAD

    def _shelves(self, sizes: list[int], rows: int, shelf: float) -> tuple[list[_Box], float, float]:
        boxes: list[_Box] = []
        x = y = tallest = 0.0
        for size in sizes:
            width = self._rack_width(size, rows)
            height = self._rack_height(size, rows)
            if x > 0 and x + width > shelf:
                x, y, tallest = 0.0, y + tallest + _RACK_GAP, 0.0
            boxes.append(_Box(x, y + _RACK_GAP, width, height))
            x, tallest = x + width + _RACK_GAP, max(tallest, height)
        return boxes, max(box.x + box.width for box in boxes), y + _RACK_GAP + tallest

    def _machine(self, cluster: Cluster, machine: int) -> _Box:
        rack = int(cluster.machine_rack[machine])
        column, row = divmod(machine - cluster.rack_machines(rack).start, self.rows)
        x = self.racks[rack].x + _PAD + column * self.cell_width
        y = self.racks[rack].y + _PAD + row * self.cell_height + (_LABEL_ROOM if self.labelled else 0)
        return _Box(x + _PAD / 2, y + _PAD / 2, self._row_width(cluster, machine) + _PAD, 1 + _PAD)


def _paint(ax: Axes, cluster: Cluster, plan: _Plan, colours: list[Colour]) -> None:
    from matplotlib.collections import PolyCollection

    squares: list[_Box] = []
    for m, box in enumerate(plan.machines):
        x = box.x + _PAD / 2
        for slot in cluster.machine_slots(m):
            for _ in cluster.slot_gpus(slot):
                squares.append(_Box(x, box.y + _PAD / 2, 1, 1))
                x += 1
            x += _SLOT_GAP
    gpus = cluster.gpus_per_machine.tolist()
    bare = [box for box, count in zip(plan.machines, gpus, strict=True) if not count]
    filled = [box for box, count in zip(plan.machines, gpus, strict=True) if count]
    line = max(0.2, min(0.8, 60 / max(plan.width, plan.height)))
    layers: tuple[tuple[list[_Box], dict[str, Any]], ...] = (
        (plan.racks, {"facecolors": "#f3f3f3", "edgecolors": "#555555", "linewidths": line * 1.5}),
        (filled, {"facecolors": "#dddddd", "edgecolors": "#888888", "linewidths": line}),
        (bare, {"facecolors": "#e9e9e9", "edgecolors": "#aaaaaa", "linewidths": line, "hatch": "////"}),
        (squares, {"facecolors": colours, "edgecolors": "#666666", "linewidths": line}),
    )
    for order, (boxes, look) in enumerate(layers):
        if boxes:
            ax.add_collection(PolyCollection([box.corners() for box in boxes], zorder=order + 1, **look))


def _label(ax: Axes, cluster: Cluster, plan: _Plan) -> None:
    if len(cluster.racks) <= _MOST_RACK_LABELS:
        for label, box in zip(cluster.racks, plan.racks, strict=True):
            ax.text(box.x, box.y - 0.15, _short(label), fontsize=8, va="bottom", ha="left", clip_on=True)
    if plan.labelled:
        for label, box in zip(cluster.machines, plan.machines, strict=True):
            ax.text(box.x, box.y - 0.05, _short(label), fontsize=6.5, va="bottom", ha="left", color="#333333")


def _short(label: str) -> str:
    """Return a shortened label with dollar signs escaped, which would start mathematics."""
    cut = label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"
    return cut.replace("$", r"\$")


def _legend(ax: Axes, colours: dict[str, Colour], some_free: bool) -> None:
    from matplotlib.patches import Patch

    entries = list(colours.items())
    handles = [Patch(facecolor=colour, label=_short(name)) for name, colour in entries[:_MOST_LEGEND_ENTRIES]]
    if len(entries) > _MOST_LEGEND_ENTRIES:
        handles.append(Patch(fill=False, linewidth=0, label=f"and {len(entries) - _MOST_LEGEND_ENTRIES} more"))
    if some_free:
        handles.append(Patch(facecolor=_FREE, edgecolor="#666666", label="free"))
    if handles:
        ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8, frameon=False)
