"""A placement: the pieces of every job, and why the paused ones are paused."""

from __future__ import annotations

from dataclasses import dataclass

from gangopt.base import checks
from gangopt.base.errors import InputError

__all__ = ["PlacementSolution"]


@dataclass(frozen=True)
class PlacementSolution:
    """Where the tasks of every job are, in the order of the instance.

    Attributes
    ----------
    pieces : tuple of tuple of tuple of int
        For every job its pieces (server, parameter servers, workers), servers from 0 in ascending order; none for a
        paused job.
    reasons : tuple of str
        For every job why it is paused, empty for a placed one.

    Raises
    ------
    InputError
        If a piece is not three whole numbers, a paused job has no reason or a placed one has one.
    """

    pieces: tuple[tuple[tuple[int, int, int], ...], ...]
    reasons: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "pieces", checks.pieces("pieces", self.pieces, ("server", "parameter servers", "workers"))
        )
        object.__setattr__(self, "reasons", checks.texts("reasons", self.reasons))
        if len(self.reasons) != len(self.pieces):
            raise InputError(f"reasons: {len(self.reasons)} given, one for each of {len(self.pieces)} jobs is needed")
        for index, (pieces, reason) in enumerate(zip(self.pieces, self.reasons, strict=True)):
            if bool(reason) == bool(pieces):
                needed = "none, as the job is placed" if pieces else "some text, as the job has no pieces"
                raise InputError(f"reasons[{index}]: {reason!r}, {needed}, is needed")

    @property
    def paused(self) -> tuple[int, ...]:
        """Index of every paused job."""
        return tuple(index for index, pieces in enumerate(self.pieces) if not pieces)
