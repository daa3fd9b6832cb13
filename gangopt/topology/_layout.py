"""Layout of the plot of a cluster: boxes of racks, machines and GPUs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gangopt.topology._cluster import Cluster

__all__ = ["MOST_MACHINES", "PAD", "Box", "Plan", "short"]

_ASPECT = 1.5  # width over height that the arrangement of racks aims at
_SLOT_GAP = 0.35  # all lengths are in sides of a GPU square
PAD = 0.3
_LABEL_ROOM = 0.9
_RACK_GAP = 1.2
_LETTER = 0.22  # width of a letter of a machine's label
_LONGEST_LABEL = 24
_MOST_MACHINE_LABELS = 60
_MOST_ROWS = 200
MOST_MACHINES = 400


def short(label: str) -> str:
    """Return a shortened label with dollar signs escaped, which would start mathematics."""
    cut = label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"
    return cut.replace("$", r"\$")


@dataclass(frozen=True)
class Box:
    """A rectangle by its upper left corner, y downwards; lengths are in sides of a GPU square."""

    x: float
    y: float
    width: float
    height: float

    def part(self, start: float, share: float) -> Box:
        """Return the part of the rectangle from a fraction of its width on, with a share of its width."""
        return Box(self.x + start * self.width, self.y, share * self.width, self.height)

    def corners(self) -> list[tuple[float, float]]:
        """Return the four corners in order."""
        right, below = self.x + self.width, self.y + self.height
        return [(self.x, self.y), (right, self.y), (right, below), (self.x, below)]


class Plan:
    """Layout of the plot: racks on shelves, machines of a rack in columns, GPUs of a machine in a row.

    Above `MOST_MACHINES` machines, each machine is one square that stands for its GPUs.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.by_gpu = len(cluster.machines) <= MOST_MACHINES
        self.labelled = len(cluster.machines) <= _MOST_MACHINE_LABELS
        longest = max(len(short(label)) for label in cluster.machines) if self.labelled else 0
        rows = (self._row_width(cluster, m) for m in range(len(cluster.machines)))
        self.cell_width = 2 * PAD + max(*rows, longest * _LETTER, 1)
        self.cell_height = 1 + 2 * PAD + (_LABEL_ROOM if self.labelled else 0)
        sizes = [len(cluster.rack_machines(r)) for r in range(len(cluster.racks))]
        self.rows, shelf = self._best_rows(sizes)
        self.racks, self.width, self.height = self._shelves(sizes, self.rows, shelf)
        self.machines = [self._machine(cluster, m) for m in range(len(cluster.machines))]

    def _row_width(self, cluster: Cluster, machine: int) -> float:
        if not self.by_gpu:
            return 1.0
        gpus, slots = len(cluster.machine_gpus(machine)), len(cluster.machine_slots(machine))
        return max(1.0, gpus + _SLOT_GAP * max(slots - 1, 0))

    def gpus(self, cluster: Cluster, machine: int) -> list[Box]:
        """Return the square of each GPU of a machine."""
        box = self.machines[machine]
        squares, x = [], box.x + PAD / 2
        for slot in cluster.machine_slots(machine):
            for _ in cluster.slot_gpus(slot):
                squares.append(Box(x, box.y + PAD / 2, 1, 1))
                x += 1
            x += _SLOT_GAP
        return squares

    def body(self, machine: int) -> Box:
        """Return the inside of a machine, where its owners are drawn if its GPUs are not."""
        box = self.machines[machine]
        return Box(box.x + PAD / 2, box.y + PAD / 2, box.width - PAD, 1)

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
        return math.ceil(size / rows) * self.cell_width + 2 * PAD

    def _rack_height(self, size: int, rows: int) -> float:
        return min(size, rows) * self.cell_height + 2 * PAD

    def _shelves(self, sizes: list[int], rows: int, shelf: float) -> tuple[list[Box], float, float]:
        boxes: list[Box] = []
        x = y = tallest = 0.0
        for size in sizes:
            width = self._rack_width(size, rows)
            height = self._rack_height(size, rows)
            if x > 0 and x + width > shelf:
                x, y, tallest = 0.0, y + tallest + _RACK_GAP, 0.0
            boxes.append(Box(x, y + _RACK_GAP, width, height))
            x, tallest = x + width + _RACK_GAP, max(tallest, height)
        return boxes, max(box.x + box.width for box in boxes), y + _RACK_GAP + tallest

    def _machine(self, cluster: Cluster, machine: int) -> Box:
        rack = int(cluster.machine_rack[machine])
        column, row = divmod(machine - cluster.rack_machines(rack).start, self.rows)
        x = self.racks[rack].x + PAD + column * self.cell_width
        y = self.racks[rack].y + PAD + row * self.cell_height + (_LABEL_ROOM if self.labelled else 0)
        return Box(x + PAD / 2, y + PAD / 2, self._row_width(cluster, machine) + PAD, 1 + PAD)
