"""Patterns: the ways to cut a machine into pieces of given sizes."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Pattern", "patterns_of"]

Pattern = tuple[int, ...]
"""GPUs of each piece, in descending order."""


def patterns_of(room: int, sizes: Sequence[int], limit: int) -> list[Pattern] | None:
    """Return all multisets of sizes whose sum is at most the room.

    Parameters
    ----------
    room : int
        GPUs of the machine.
    sizes : sequence of int
        GPUs of a piece, in ascending order.
    limit : int
        Largest number of patterns to return, apart from the empty one.

    Returns
    -------
    list of Pattern or None
        In lexicographic order, the empty pattern first; None if there are more than `limit`.
    """
    found: list[Pattern] = [()]
    for pattern in found:
        left = room - sum(pattern)
        found += [(*pattern, size) for size in sizes if size <= min([left, *pattern[-1:]])]
        if len(found) > limit + 1:
            return None
    return sorted(found)
