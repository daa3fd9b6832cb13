"""The outcome of an auction: who wins which GPUs, what share of them everybody keeps, who is given the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gangopt.base.checks import pieces
from gangopt.base.errors import InputError, shown
from gangopt.instances.auction.bids import Bundle

__all__ = ["AuctionSolution", "Payment"]

Payment = tuple[Fraction, Fraction]
"""Bounds (low, high) on the share c that an app keeps; equal where the payment is proven."""


@dataclass(frozen=True)
class AuctionSolution:
    """What the auction ends with.

    Attributes
    ----------
    bundles : tuple of Bundle
        GPUs that each app ends with, (machine, number) with machines ascending; empty for none.
    payments : tuple of Payment
        For each app the bounds on c; empty for a method without payments.
    won : tuple of Bundle
        GPUs that each app won before it paid; empty where everybody keeps all of it.
    gifts : tuple of Bundle
        GPUs that each bystander is given; empty for none.
    """

    bundles: tuple[Bundle, ...]
    payments: tuple[Payment, ...] = ()
    won: tuple[Bundle, ...] = ()
    gifts: tuple[Bundle, ...] = ()

    def __post_init__(self) -> None:
        for field in ("bundles", "won", "gifts"):
            object.__setattr__(self, field, pieces(field, getattr(self, field), ("machine", "GPUs")))
        object.__setattr__(self, "payments", tuple(_payment(k, item) for k, item in enumerate(self.payments)))

    @property
    def before_payment(self) -> tuple[Bundle, ...]:
        """What each app won."""
        return self.won or self.bundles

    @property
    def remark(self) -> str | None:
        """What is not proven of the payments, None if all are or there are none."""
        wide = [(low, high) for low, high in self.payments if low < high]
        if not wide:
            return None
        unknown = sum(low == 0 and high == 1 for low, high in wide)
        if unknown == len(wide):
            return (
                f"{unknown} of {len(self.payments)} payments are unknown; such an app keeps the share 0 of what it won"
            )
        return (
            f"{len(wide)} of {len(self.payments)} payments are only known to lie in an interval, {unknown} of them "
            f"not at all; such an app keeps the low end{self._undecided()}"
        )

    def _undecided(self) -> str:
        """Return for how many apps the whole GPUs of the share depend on where in its interval it lies."""
        number = 0
        for (low, high), bundle in zip(self.payments, self.before_payment, strict=False):
            won = sum(count for _, count in bundle)
            number += int(low * won) < int(high * won)
        return f"; rounded down to whole GPUs the high end is more for {number} of them" if number else ""


def _payment(index: int, item: Any) -> Payment:
    if not isinstance(item, Sequence) or len(item) != 2:
        raise InputError(f"payments[{index}]: {shown(item)}, a lower and an upper bound are needed")
    for bound in item:
        if not isinstance(bound, Fraction | int) or isinstance(bound, bool):
            raise InputError(f"payments[{index}]: {shown(bound)}, an exact rational is needed")
    return (Fraction(item[0]), Fraction(item[1]))
