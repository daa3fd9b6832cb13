"""Formulation `classes` of `bid`: equal jobs of a phase merged."""

from __future__ import annotations

from gangopt.formulations.bid.split import SplitFormulation

__all__ = ["Classes", "classes"]


class Classes(SplitFormulation):
    """The split of every phase of every offer, equal jobs of a phase merged into a class.

    As `Jobs`, with the first job of each class in place of `job`: `count` holds for every job of the class, and
    `queue` is the number of its jobs that wait for GPU q. Queues are ordered by length, the longest first.

    Raises
    ------
    ModelTooLargeError
        If there would be more columns than are built.
    """

    name = "classes"
    merge = True


classes = Classes()
