"""Scale rows with very small or very large numbers for HiGHS, and detect numbers that it still cannot resolve.

HiGHS drops matrix entries up to 1e-9 and lets a row be violated by an absolute 1e-6, whatever the size of its numbers:
it finds no solution of `1e-10 x >= 1`, and `1e-7 y + 1e-7 z <= 1e-7` always holds. A row times a power of two is the
same row, digit for digit, with numbers of a visible size. Conversely, rounding errors of rows with terms of 1e10
exceed the tolerance, and HiGHS reports true solutions as infeasible.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gangopt.base.types import Floats
from gangopt.solvers.highs.arrays import INFINITE, LinearArrays

__all__ = [
    "DROPPED_BELOW",
    "dropped_note",
    "largest_terms",
    "lost_coefficient",
    "reaches",
    "row_extremes",
    "unseen_numbers",
    "with_scaled_rows",
]

DROPPED_BELOW = 1e-9
"""HiGHS drops matrix entries at or below this size (`small_matrix_value`)."""
_SMALL = 2.0**-10
"""Rows whose coefficients are all at least this large are not scaled."""
_ROOM = 2.0**10
"""Maximum size to which the largest term of a row may grow, so that rounding errors stay far below the tolerance."""
_LARGEST_SIDE = 1e19
"""Maximum size of row sides, below the size that HiGHS reads as infinite."""
_LARGEST_TERM = 2.0**30
"""Size to which larger terms of a row are scaled down."""
_TRUSTED_TERM = 2.0**33
"""Largest term for which HiGHS decides reliably in a MIP whether a row holds; beyond it nothing is claimed."""
_NOISE = 2.0**-50
"""Entries smaller than this, relative to the largest of their row, are remainders of float sums."""
_VISIBLE = 1e-7
"""Maximum change of a scaled row by dropped entries: a tenth of the row tolerance."""


def with_scaled_rows(arrays: LinearArrays) -> LinearArrays:
    """Return the model with rows of very small or very large numbers scaled by powers of two.

    A row with a coefficient below 2^-10 is multiplied until its smallest coefficient is 1..2, or, if that comes first,
    until its largest term is about 2^10, but at any rate until its largest coefficient is 2^-10. A row of a MIP with a
    term above 2^30 is made smaller until that is about 2^30 or its smallest coefficient 2^-10.

    Parameters
    ----------
    arrays : LinearArrays
        The model, with unscaled rows.

    Returns
    -------
    LinearArrays
        A model with the same solutions; `row_factors` has the power of two of each row, None if all are 1.
    """
    sizes = np.abs(arrays.values)
    terms = largest_terms(arrays) if arrays.is_mip else np.zeros(arrays.n_rows)
    if not ((sizes < _SMALL) & (sizes > 0)).any() and not (terms > _LARGEST_TERM).any():
        return arrays
    smallest, largest = row_extremes(arrays.starts, sizes)
    small = smallest < _SMALL
    _, largest_term = row_extremes(arrays.starts, sizes * np.maximum(_finite(reaches(arrays)), 1.0)[arrays.indices])
    side = np.maximum(_finite(np.abs(arrays.row_lower)), _finite(np.abs(arrays.row_upper)))
    with np.errstate(divide="ignore"):
        wanted = np.minimum(1.0 / smallest, _ROOM / np.maximum(largest_term, side))
        factors = np.minimum(np.maximum(wanted, _SMALL / largest), _LARGEST_SIDE / side)
    factors = np.where(small, np.exp2(np.ceil(np.log2(np.maximum(np.where(small, factors, 1.0), 1.0)))), 1.0)
    shrunk = np.minimum(np.maximum(_LARGEST_TERM / np.maximum(terms, 1.0), _SMALL / np.maximum(smallest, 1e-300)), 1.0)
    factors = np.where(small, factors, np.exp2(np.ceil(np.log2(shrunk))))
    if (factors == 1.0).all():
        return arrays
    return replace(
        arrays,
        row_lower=arrays.row_lower * factors,
        row_upper=arrays.row_upper * factors,
        values=arrays.values * np.repeat(factors, np.diff(arrays.starts)),
        row_factors=factors,
    )


def reaches(arrays: LinearArrays) -> Floats:
    """Return the largest absolute value of each column, inf if unbounded.

    Parameters
    ----------
    arrays : LinearArrays
        The model.

    Returns
    -------
    ndarray
        One value per column.
    """
    reach = np.maximum(np.abs(arrays.lower), np.abs(arrays.upper))
    return np.where(reach >= INFINITE, np.inf, reach)


def largest_terms(arrays: LinearArrays) -> Floats:
    """Return the magnitude of the largest number in the computation of each row.

    The term of an integer column counts with the column's largest value, that of other columns as its coefficient,
    since their bounds are often mere safeguards; the sides of the row count too.

    Parameters
    ----------
    arrays : LinearArrays
        The model.

    Returns
    -------
    ndarray
        One value per row.
    """
    reach = np.where(arrays.integer, np.maximum(_finite(reaches(arrays)), 1.0), 1.0)
    _, largest = row_extremes(arrays.starts, np.abs(arrays.values) * reach[arrays.indices])
    sides = np.maximum(_finite(np.abs(arrays.row_lower)), _finite(np.abs(arrays.row_upper)))
    return np.maximum(largest, sides)


def row_extremes(starts: NDArray[np.int32], sizes: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and the largest nonzero entry of each row; inf and 0 for an empty row.

    Parameters
    ----------
    starts : ndarray of int
        First entry of each row, one more than rows.
    sizes : ndarray of float
        Absolute values of the entries.

    Returns
    -------
    tuple of ndarray
        Two vectors, one value per row.
    """
    smallest, largest = np.full(len(starts) - 1, np.inf), np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        smallest[filled] = np.minimum.reduceat(np.where(sizes > 0, sizes, np.inf), starts[filled])
        largest[filled] = np.maximum.reduceat(sizes, starts[filled])
    return smallest, largest


def lost_coefficient(arrays: LinearArrays, dropped_below: float = DROPPED_BELOW) -> str | None:
    """Return a message if HiGHS would drop an entry that may decide whether a row holds.

    Entries do not matter if all dropped terms of their row add up to less than 1e-7, or if they are within the rounding
    error of the row's largest coefficient.

    Parameters
    ----------
    arrays : LinearArrays
        The model as passed to HiGHS.
    dropped_below : float, optional
        Size at or below which HiGHS drops entries.

    Returns
    -------
    str or None
        One line that names row, column and coefficient in the model's own unit.
    """
    sizes, at = np.abs(arrays.values), _dropped(arrays, dropped_below)
    if not len(at):
        return None
    rows = np.searchsorted(arrays.starts, at, side="right") - 1
    terms = sizes[at] * reaches(arrays)[arrays.indices[at]]
    largest = row_extremes(arrays.starts, sizes)[1][rows]
    noise = (sizes[at] <= _NOISE * largest) & ~((terms > _VISIBLE * largest) & np.isfinite(terms))
    terms[noise] = 0.0
    together = np.bincount(rows, terms, minlength=arrays.n_rows)[rows]
    seen = np.flatnonzero((together > _VISIBLE) & (terms > 0))
    if not len(seen):
        return None
    entry, row = int(at[seen[0]]), int(rows[seen[0]])
    name = arrays.column_name(int(arrays.indices[entry]))
    return (
        f"HiGHS takes the coefficient {arrays.values[entry] / arrays.row_factor(row):g} on {name} in "
        f"{arrays.row_name(row)} as 0, too small beside the rest of the row; give {name} in a larger unit"
    )


def unseen_numbers(arrays: LinearArrays) -> str | None:
    """Return a message if a row or integer column of a MIP has numbers too large for HiGHS to distinguish.

    Parameters
    ----------
    arrays : LinearArrays
        The model as passed to HiGHS.

    Returns
    -------
    str or None
        One line that names the component and its largest number in the model's own unit.
    """
    if not arrays.is_mip:
        return None
    reach = np.where(arrays.integer, _finite(reaches(arrays)), 0.0)
    if reach.max() > _TRUSTED_TERM:
        column = int(np.argmax(reach))
        return (
            f"{arrays.column_name(column)} takes integers up to {reach[column]:.3g}, more than HiGHS can "
            "distinguish; use a larger unit"
        )
    terms = largest_terms(arrays)
    row = int(np.argmax(terms)) if len(terms) else 0
    if not len(terms) or terms[row] <= _TRUSTED_TERM:
        return None
    largest = terms[row] / arrays.row_factor(row)
    return (
        f"{arrays.row_name(row)} adds numbers up to {largest:.3g} to much smaller ones, more than HiGHS can "
        "resolve; use units of similar size for its variables"
    )


def dropped_note(arrays: LinearArrays, dropped_below: float = DROPPED_BELOW) -> str | None:
    """Return a message with the number of entries that HiGHS drops.

    Parameters
    ----------
    arrays : LinearArrays
        The model as passed to HiGHS.
    dropped_below : float, optional
        Size at or below which HiGHS drops entries.

    Returns
    -------
    str or None
        One line, None if there are none.
    """
    count = len(_dropped(arrays, dropped_below))
    return f"HiGHS takes {count} coefficients of size {dropped_below:g} or less as 0" if count else None


def _dropped(arrays: LinearArrays, dropped_below: float) -> NDArray[np.intp]:
    sizes = np.abs(arrays.values)
    return np.flatnonzero((sizes <= dropped_below) & (sizes > 0))


def _finite(sizes: Floats) -> Floats:
    return np.where(sizes >= INFINITE, 0.0, sizes)
