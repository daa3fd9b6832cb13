"""Outcome of an auction: winners, kept shares after payments, and leftover assignment."""

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
    """Final GPUs, payments and gifts of an auction.

    Attributes
    ----------
    bundles : tuple of Bundle
        GPUs that each app ends with, (machine, number) with machines ascending; empty for none.
    payments : tuple of Payment
        Bounds on the share c of each app; empty for a method without payments.
    won : tuple of Bundle
        GPUs that each app won before its payment; empty if all apps keep what they won.
    gifts : tuple of Bundle
        GPUs that each bystander receives; empty for none.
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
        """GPUs that each app won."""
        return self.won or self.bundles

    @property
    def remark(self) -> str | None:
        """Remark on the payments that are not proven, None if there are none."""
        wide = [(low, high) for low, high in self.payments if low < high]
        if not wide:
            return None
        unknown = sum(low == 0 and high == 1 for low, high in wide)
        if unknown == len(wide):
            return f"{unknown} of {len(self.payments)} payments are unknown; these apps keep nothing of what they won"
        return (
            f"{len(wide)} of {len(self.payments)} payments are known only as an interval, {unknown} of these not at "
            f"all; such an app keeps the lower end{self._undecided()}"
        )

    def _undecided(self) -> str:
        """Report for how many apps the kept GPUs, rounded down, depend on the position within the interval."""
        number = 0
        for (low, high), bundle in zip(self.payments, self.before_payment, strict=False):
            won = sum(count for _, count in bundle)
            number += int(low * won) < int(high * won)
        return f"; for {number} of them the upper end would be at least one more GPU" if number else ""


def _payment(index: int, item: Any) -> Payment:
    if not isinstance(item, Sequence) or len(item) != 2:
        raise InputError(f"payments[{index}] must be a lower and an upper bound (got {shown(item)})")
    for bound in item:
        if not isinstance(bound, Fraction | int) or isinstance(bound, bool):
            raise InputError(f"payments[{index}] must hold exact rationals (got {shown(bound)})")
    return (Fraction(item[0]), Fraction(item[1]))
