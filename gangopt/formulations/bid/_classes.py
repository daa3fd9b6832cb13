"""Formulation `classes` of `bid`: equal jobs of a phase merged."""

from __future__ import annotations

from gangopt.formulations.bid.split import SplitFormulation

__all__ = ["Classes", "classes"]


class Classes(SplitFormulation):
    """The split of each phase of each offer, with equal jobs of a phase merged into a class.

    Like `Jobs`, with the first job of each class in place of `job`: `count` holds for each job of the class, and
    `queue` is the number of its jobs in the queue of GPU q. Queues are ordered by length, longest first.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "classes"
    merge = True


classes = Classes()
