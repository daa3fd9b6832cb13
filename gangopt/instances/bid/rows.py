"""Rows of a bid table from the splits that methods and formulations choose."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gangopt.instances.bid.instance import BidInstance, BidRow

__all__ = ["Split", "queued", "shared_row", "whole_row"]

Split = tuple[tuple[int, ...], tuple[int | None, ...]]
"""GPUs and queue of every run of one phase."""


def queued(queues: Sequence[int]) -> Split:
    """Return the split in which every run has one GPU and queues for it."""
    return (1,) * len(queues), tuple(queues)


def whole_row(instance: BidInstance, offer: int, splits: Sequence[Split]) -> BidRow:
    """Return the row of an offer of which every run keeps an integer number of GPUs.

    Parameters
    ----------
    instance : BidInstance
        An app whose split is `whole`.
    offer : int
        Index of the offer.
    splits : sequence of Split
        One split for every phase.
    """
    shares = tuple(item for split in splits for item in split[0])
    queues = tuple(item for split in splits for item in split[1])
    seconds = instance.lengths(offer, shares, queues)
    gpus, level = int(instance.offer_gpus[offer]), instance.offer_levels[offer]
    return BidRow(gpus, level, instance.rho(seconds), seconds, shares, queues)


def shared_row(instance: BidInstance, offer: int, least: Sequence[float] | None = None) -> BidRow:
    r"""Return the row of an offer whose GPUs pass from run to run so that all runs of a phase end together.

    .. math:: T_i = \max\Bigl(\frac1g \sum_j w_j S_j,\; \max_j \frac{w_j S_j}{d_j}\Bigr), \quad
        \text{share}_j = w_j S_j / T_i

    Parameters
    ----------
    instance : BidInstance
        An app whose split is `shared`.
    offer : int
        Index of the offer.
    least : sequence of float or None, optional
        Lower bound on the length of every phase, s; None for none.
    """
    gpus, demand = int(instance.offer_gpus[offer]), instance.demands(offer)
    seconds: list[float] = []
    shares: list[float] = []
    for i, runs in enumerate(instance.phases):
        part = demand[runs.start : runs.stop]
        alone = float((part / instance.max_gpus[runs.start : runs.stop]).max())
        length = max(math.fsum(part.tolist()) / gpus, alone, 0.0 if least is None else least[i])
        seconds.append(length)
        shares += (part / length).tolist()
    lengths = tuple(seconds)
    waits = (None,) * len(shares)
    return BidRow(gpus, instance.offer_levels[offer], instance.rho(lengths), lengths, tuple(shares), waits)
