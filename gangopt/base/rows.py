"""Classes of equal rows of arrays, e.g. of equal machines or jobs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from gangopt.base.types import Floats

__all__ = ["classes_of_equal_rows", "grouped", "row_keys"]


def row_keys(columns: Sequence[Floats]) -> list[bytes]:
    """Return a key of each row, with -0 equal to 0, and nan equal to itself.

    Parameters
    ----------
    columns : sequence of ndarray of float
        Arrays of one or two dimensions with the same number of rows.
    """
    table = np.column_stack(columns) + 0.0
    return [row.tobytes() for row in table]


def grouped(keys: Sequence[Hashable]) -> tuple[tuple[int, ...], ...]:
    """Return the classes of indices with equal keys, each ascending, ordered by their smallest index."""
    members: dict[Hashable, list[int]] = {}
    for index, key in enumerate(keys):
        members.setdefault(key, []).append(index)
    return tuple(tuple(group) for group in members.values())


def classes_of_equal_rows(columns: Sequence[Floats]) -> tuple[tuple[int, ...], ...]:
    """Return the classes of equal rows, each ascending, ordered by their smallest index.

    Parameters
    ----------
    columns : sequence of ndarray of float
        Arrays of one or two dimensions with the same number of rows.
    """
    return grouped(row_keys(columns))
