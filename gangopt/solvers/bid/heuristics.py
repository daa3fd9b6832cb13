"""Plain splits of an app's GPUs among its jobs, and the bid tables that follow from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gangopt.instances.bid.instance import BidInstance, BidSolution
from gangopt.instances.bid.rows import Split, queued, shared_row, whole_row
from gangopt.solvers.bid.splits import deal, deal_to_longest, fold, longest_first

__all__ = ["even", "lpt"]


def even(instance: BidInstance) -> BidSolution:
    """Split the GPUs of every phase evenly.

    Split `whole`, at least one GPU a job: GPUs are dealt out in rounds, one to each job in a round, the job of most
    work first, jobs that have their most passed over. More jobs than GPUs: jobs are dealt out to the GPUs back and
    forth, the job of most work first, so that queues differ by one job at most. Split `shared`: GPUs pass from job to
    job so that all advance evenly and end together, or as long as the most GPUs of a job let it.

    Parameters
    ----------
    instance : BidInstance
        An app with offers.
    """

    def phase(offer: int, runs: range) -> Split:
        work, gpus = instance.work[runs.start : runs.stop], int(instance.offer_gpus[offer])
        if len(runs) > gpus:
            return queued(fold(work, gpus).tolist())
        dealt = deal(work, instance.max_gpus[runs.start : runs.stop], gpus)
        return tuple(np.bincount(dealt, minlength=len(runs)).tolist()), (None,) * len(runs)

    if instance.split == "shared":
        return BidSolution(tuple(shared_row(instance, offer) for offer in range(len(instance.offer_levels))))
    return _table(instance, phase)


def lpt(instance: BidInstance) -> BidSolution:
    """Split the GPUs of every phase by longest processing time.

    At least one GPU a job: each job has one, and every further GPU goes to the job that takes longest, until that one
    has its most or would not be faster. More jobs than GPUs: the next longest job to the least loaded GPU. Split
    `shared`: the phase lasts as long as that, and jobs share the GPUs evenly within it.

    Parameters
    ----------
    instance : BidInstance
        An app with offers.
    """

    def phase(offer: int, runs: range) -> Split:
        part, gpus = slice(runs.start, runs.stop), int(instance.offer_gpus[offer])
        spread = instance.demands(offer)[part]
        single = spread if instance.split == "shared" else instance.work[part] * instance.factor(offer, 1)[part]
        if len(runs) > gpus:
            return queued(longest_first(single, gpus).tolist())
        return tuple(deal_to_longest(single, spread, instance.max_gpus[part], gpus).tolist()), (None,) * len(runs)

    if instance.split == "whole":
        return _table(instance, phase)
    rows = []
    for offer in range(len(instance.offer_levels)):
        splits = [phase(offer, runs) for runs in instance.phases]
        shares = tuple(item for split in splits for item in split[0])
        queues = tuple(item for split in splits for item in split[1])
        rows.append(shared_row(instance, offer, instance.lengths(offer, shares, queues)))
    return BidSolution(tuple(rows))


def _table(instance: BidInstance, phase: Callable[[int, range], Split]) -> BidSolution:
    """Return the bid table of a split into whole GPUs, given by the offer's index and the phase's runs."""
    offers = range(len(instance.offer_levels))
    return BidSolution(
        tuple(whole_row(instance, offer, [phase(offer, runs) for runs in instance.phases]) for offer in offers)
    )
