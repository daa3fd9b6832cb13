"""What a reader found odd in a log: named warnings with counts."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Notice"]


@dataclass(frozen=True)
class Notice:
    """A named warning about a workload.

    Attributes
    ----------
    name : what was found, as `unsorted-arrivals`
    count : rows it concerns
    message : one line for people
    dropped : whether these rows were left out
    """

    name: str
    count: int
    message: str
    dropped: bool = False
