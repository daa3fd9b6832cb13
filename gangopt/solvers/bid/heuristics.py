"""Simple splits of an app's GPUs among its jobs, and the resulting bid tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gangopt.instances.bid.instance import BidInstance, BidSolution
from gangopt.instances.bid.rows import Split, queued, shared_row, whole_row
from gangopt.solvers.bid.splits import deal, deal_to_longest, fold, longest_first

__all__ = ["even", "lpt"]


def even(instance: BidInstance) -> BidSolution:
    """Split the GPUs of every phase evenly.

    Split `whole` with at least one GPU per job: GPUs are dealt in rounds, one to each job per round, largest work
    first; jobs at their maximum are skipped. With more jobs than GPUs, jobs are dealt to the GPUs back and forth,
    largest work first, so that queues differ by at most one job. Split `shared`: GPUs pass from job to job so that all
    advance evenly and end together, as far as the maximum GPUs of a job allow.

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

    With at least one GPU per job, each job has one, and every further GPU goes to the job that takes longest, until
    that job is at its maximum or would not be faster. With more jobs than GPUs, the next longest job goes to the least
    loaded GPU. Split `shared`: the phase has the same length, and jobs share the GPUs evenly within it.

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
