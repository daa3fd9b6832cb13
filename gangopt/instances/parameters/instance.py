"""Parameter blocks of a network on parameter servers: instance, solution and checker."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gangopt.base import checks
from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError

__all__ = ["MAX_BLOCKS", "MAX_PARAMETERS", "MAX_SERVERS", "ParametersInstance", "ParametersSolution"]

MAX_BLOCKS = 100_000
"""Most blocks of one instance."""

MAX_SERVERS = 10_000
"""Most servers of one instance."""

MAX_PARAMETERS = 10**15
"""Most parameters of one instance: sums below it are exact in double precision."""

MAX_DIMENSIONS = 32
"""Most dimensions of one block."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ParametersInstance(Instance):
    """Blocks of b_1, ..., b_n parameters to be divided among p servers.

    Attributes
    ----------
    shapes : tuple of tuple of int
        Shape of every block, with at least one dimension; `(size,)` if only the size of a block is known.
    servers : int
        Number p of parameter servers.
    labels : tuple of str
        Name of every block; `block0`, `block1`, ... by default.
    sizes : ndarray
        Parameters b of every block, the products of the shapes, shape (n,).
    """

    noun: ClassVar[str] = "parameters"
    name: str
    description: str = ""
    source: str = ""
    shapes: tuple[tuple[int, ...], ...]
    servers: int
    labels: tuple[str, ...] = ()
    sizes: np.ndarray = field(init=False, compare=False)

    def __post_init__(self) -> None:
        checks.integer("servers", self.servers, 1, MAX_SERVERS)
        checks.integer("number of blocks", len(self.shapes), 1, MAX_BLOCKS)
        labels = checks.labels("labels", self.labels or (f"block{index}" for index in range(len(self.shapes))))
        if len(labels) != len(self.shapes):
            raise InputError(f"labels must name each of the {len(self.shapes)} blocks (got {len(labels)} labels)")
        sizes = [
            _size(index, label, shape) for index, (label, shape) in enumerate(zip(labels, self.shapes, strict=True))
        ]
        checks.integer("number of parameters", sum(sizes), 1, MAX_PARAMETERS)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "sizes", np.array(sizes, dtype=np.int64))
        self._freeze()

    @property
    def total(self) -> int:
        """Total number of parameters."""
        return int(self.sizes.sum())

    def check(self, solution: ParametersSolution) -> list[Violation]:
        """Return every broken rule of an assignment; empty if it is feasible.

        The rules: servers are 0, ..., p-1 (`known_server`), a part holds at least one parameter (`positive_part`), a
        block has at most one part on a server (`one_part_per_server`), and the parts of a block sum to its size
        (`whole_block`).

        Parameters
        ----------
        solution : ParametersSolution
            The assignment.
        """
        found = []
        if len(solution.parts) != len(self.sizes):
            return [Violation("whole_block", "number of blocks", len(solution.parts), len(self.sizes), "blocks")]
        for label, size, parts in zip(self.labels, self.sizes.tolist(), solution.parts, strict=True):
            where = f"block {label}"
            for server, amount in parts:
                if not 0 <= server < self.servers:
                    found.append(Violation("known_server", where, server, self.servers - 1))
                if amount < 1:
                    found.append(Violation("positive_part", where, amount, 1, "parameters"))
            repeats = len(parts) - len({server for server, _ in parts})
            if repeats:
                found.append(Violation("one_part_per_server", where, repeats + 1, 1, "parts"))
            held = sum(amount for _, amount in parts)
            if held != size:
                found.append(Violation("whole_block", where, held, size, "parameters"))
        return found

    def evaluate(self, solution: ParametersSolution) -> Score:
        """Return the size difference of an assignment; further metrics are its requests and their difference.

        `size_difference` is the largest minus the smallest number of parameters on a server, `requests` the number of
        parts, and `request_difference` the largest minus the smallest number of parts on a server.

        Parameters
        ----------
        solution : ParametersSolution
            A feasible assignment.
        """
        loads = [0] * self.servers
        counts = [0] * self.servers
        for parts in solution.parts:
            for server, amount in parts:
                loads[server] += amount
                counts[server] += 1
        difference = max(loads) - min(loads)
        return Score(
            float(difference),
            {
                "size_difference": difference,
                "requests": sum(counts),
                "request_difference": max(counts) - min(counts),
            },
        )


def _size(index: int, label: str, shape: tuple[int, ...]) -> int:
    where = f"shapes[{index}] ({label})"
    if not 1 <= len(shape) <= MAX_DIMENSIONS:
        raise InputError(f"{where} must have 1 to {MAX_DIMENSIONS} dimensions (got {len(shape)})")
    return math.prod(checks.integer(f"{where}: a dimension", value, 1, MAX_PARAMETERS) for value in shape)


@dataclass(frozen=True)
class ParametersSolution:
    """Servers of the parameters of every block.

    Attributes
    ----------
    parts : tuple of tuple of tuple of int
        Parts (server, parameters) of every block, servers ascending from 0.
    """

    parts: tuple[tuple[tuple[int, int], ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", checks.pieces("parts", self.parts, ("server", "parameters")))
