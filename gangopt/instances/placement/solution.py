"""A placement: the pieces of every job, or the reason why it is paused."""

from __future__ import annotations

from dataclasses import dataclass

from gangopt.base import checks
from gangopt.base.errors import InputError

__all__ = ["PlacementSolution"]


@dataclass(frozen=True)
class PlacementSolution:
    """Servers of the tasks of every job, in the order of the instance.

    Attributes
    ----------
    pieces : tuple of tuple of tuple of int
        Pieces (server, parameter servers, workers) of every job, servers ascending from 0; none for a paused job.
    reasons : tuple of str
        Reason why each job is paused, empty for a placed job.

    Raises
    ------
    InputError
        If a piece does not consist of three integers, a paused job has no reason, or a placed job has one.
    """

    pieces: tuple[tuple[tuple[int, int, int], ...], ...]
    reasons: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "pieces", checks.pieces("pieces", self.pieces, ("server", "parameter servers", "workers"))
        )
        object.__setattr__(self, "reasons", checks.texts("reasons", self.reasons))
        if len(self.reasons) != len(self.pieces):
            raise InputError(
                f"reasons must have one entry for each of the {len(self.pieces)} jobs (got {len(self.reasons)})"
            )
        for index, (pieces, reason) in enumerate(zip(self.pieces, self.reasons, strict=True)):
            if bool(reason) == bool(pieces):
                expected = "be empty, since the job is placed" if pieces else "give a reason, since the job is paused"
                raise InputError(f"reasons[{index}] must {expected} (got {reason!r})")

    @property
    def paused(self) -> tuple[int, ...]:
        """Index of every paused job."""
        return tuple(index for index, pieces in enumerate(self.pieces) if not pieces)
