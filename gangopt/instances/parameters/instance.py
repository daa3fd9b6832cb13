"""Parameter blocks of a network on parameter servers: the instance, the solution and the judge."""

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
"""Most parameters of one instance: sums below it are exact in double precision too."""

MAX_DIMENSIONS = 32
"""Most dimensions of one block."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ParametersInstance(Instance):
    """Blocks of b_1, ..., b_n parameters that p servers are to hold.

    Attributes
    ----------
    shapes : tuple of tuple of int
        Shape of every block, at least one dimension each; a block of which only the size is known is `(size,)`.
    servers : int
        P, number of parameter servers.
    labels : tuple of str
        Name of every block, `block0`, `block1`, ... if left empty.
    sizes : ndarray
        B, parameters of every block, shape (n,), the products of the shapes.
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
        if not isinstance(self.servers, int) or isinstance(self.servers, bool) or not 1 <= self.servers <= MAX_SERVERS:
            raise InputError(f"servers: {self.servers}, a whole number from 1 to {MAX_SERVERS} is needed")
        if not 1 <= len(self.shapes) <= MAX_BLOCKS:
            raise InputError(f"blocks: {len(self.shapes)} blocks, 1 to {MAX_BLOCKS} are allowed")
        labels = checks.labels("labels", self.labels or (f"block{index}" for index in range(len(self.shapes))))
        if len(labels) != len(self.shapes):
            raise InputError(f"labels: {len(labels)} labels for {len(self.shapes)} blocks, as many are needed")
        sizes = [
            _size(index, label, shape) for index, (label, shape) in enumerate(zip(labels, self.shapes, strict=True))
        ]
        if sum(sizes) > MAX_PARAMETERS:
            raise InputError(f"blocks: {sum(sizes)} parameters in all, at most {MAX_PARAMETERS} are allowed")
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "sizes", np.array(sizes, dtype=np.int64))
        self._freeze()

    @property
    def total(self) -> int:
        """Parameters of all blocks together."""
        return int(self.sizes.sum())

    def check(self, solution: ParametersSolution) -> list[Violation]:
        """Return every broken rule of an assignment; empty if it is feasible.

        The rules: a server is one of 0, ..., p-1 (`known_server`), a part holds at least one parameter
        (`positive_part`), a block has at most one part on a server (`one_part_per_server`), and the parts of a block
        add up to the block (`whole_block`).

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
        """Return the three objectives of a feasible assignment; the scalar one is `size_difference`.

        `size_difference` = largest minus least parameters on a server, `requests` = number of parts,
        `request_difference` = largest minus least number of parts on a server.

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
        raise InputError(f"{where}: {len(shape)} dimensions, 1 to {MAX_DIMENSIONS} are allowed")
    for value in shape:
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_PARAMETERS:
            raise InputError(f"{where}: dimension {value}, a whole number from 1 to {MAX_PARAMETERS} is needed")
    return math.prod(shape)


@dataclass(frozen=True)
class ParametersSolution:
    """Where the parameters of every block are.

    Attributes
    ----------
    parts : tuple of tuple of tuple of int
        For every block its parts (server, parameters), servers from 0, in ascending order.
    """

    parts: tuple[tuple[tuple[int, int], ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", checks.pieces("parts", self.parts, ("server", "parameters")))
