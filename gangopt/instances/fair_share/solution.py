"""An allocation of GPUs to apps."""

from __future__ import annotations

from dataclasses import dataclass

from gangopt.base.checks import pieces
from gangopt.instances.auction.bids import Bundle

__all__ = ["FairShareSolution"]


@dataclass(frozen=True)
class FairShareSolution:
    """GPUs of every app.

    Attributes
    ----------
    bundles : tuple of Bundle
        GPUs of each app, (machine, number) with machines ascending; empty for none.

    Raises
    ------
    InputError
        If a bundle does not consist of pairs of integers.
    """

    bundles: tuple[Bundle, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "bundles", pieces("bundles", self.bundles, ("machine", "GPUs")))
