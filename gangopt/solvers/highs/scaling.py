"""Rows with very small or very large numbers brought to a size at which HiGHS sees them, and what it still does not.

HiGHS takes matrix entries up to 1e-9 as 0 and lets a row be off by an absolute 1e-6 at most, whatever the size of its
numbers: `1e-10 x >= 1` has no solution for it, and `1e-7 y + 1e-7 z <= 1e-7` always holds. A row times a power of two
is the same row, digit for digit, and its numbers are then seen. The other way round, rounding errors of rows with
terms of 1e10 are beyond the tolerance, and HiGHS calls true solutions infeasible.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gangopt.solvers.highs.arrays import INFINITE, Floats, LinearArrays

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
"""A row whose coefficients are all at least this large is left as it is."""
_ROOM = 2.0**10
"""Size up to which the largest term of a row may grow: then rounding errors stay far below the tolerance."""
_LARGEST_SIDE = 1e19
"""Sides of rows stay below this, and so below what HiGHS reads as infinite."""
_LARGEST_TERM = 2.0**30
"""Size to which the largest term of a row is brought if it is larger."""
_TRUSTED_TERM = 2.0**33
"""Largest term up to which HiGHS tells in a MIP whether a row holds; beyond, nothing is claimed."""
_NOISE = 2.0**-50
"""An entry this much smaller than the largest of its row is what sums of floats leave over."""
_VISIBLE = 1e-7
"""What entries that are dropped may change in a scaled row at most: a tenth of the tolerance of rows."""


def with_scaled_rows(arrays: LinearArrays) -> LinearArrays:
    """Return the model with each row that has very small or very large numbers times a power of two.

    A row with a coefficient below 2^-10 is multiplied until its smallest coefficient is 1..2, or, if that comes first,
    until its largest term is about 2^10, but at any rate until its largest coefficient is 2^-10. A row of a MIP with a
    term above 2^30 is made smaller until that is about 2^30 or its smallest coefficient 2^-10.

    Parameters
    ----------
    arrays : LinearArrays
        The model, its rows not scaled before.

    Returns
    -------
    LinearArrays
        The same solutions; `row_factors` holds the power of two of each row, None where all are 1.
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
    """Return the largest absolute value that each column can take, inf where there is none.

    Parameters
    ----------
    arrays : LinearArrays
        The model.

    Returns
    -------
    ndarray
        One value a column.
    """
    reach = np.maximum(np.abs(arrays.lower), np.abs(arrays.upper))
    return np.where(reach >= INFINITE, np.inf, reach)


def largest_terms(arrays: LinearArrays) -> Floats:
    """Return the size of the largest number that each row is computed from.

    A term counts with all that a integer column can take, and as its coefficient in other columns, whose bounds
    are often mere limits; the sides of the row count too.

    Parameters
    ----------
    arrays : LinearArrays
        The model.

    Returns
    -------
    ndarray
        One value a row.
    """
    reach = np.where(arrays.integer, np.maximum(_finite(reaches(arrays)), 1.0), 1.0)
    _, largest = row_extremes(arrays.starts, np.abs(arrays.values) * reach[arrays.indices])
    sides = np.maximum(_finite(np.abs(arrays.row_lower)), _finite(np.abs(arrays.row_upper)))
    return np.maximum(largest, sides)


def row_extremes(starts: NDArray[np.int32], sizes: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and the largest entry of each row that are not 0; inf and 0 for a row that has none.

    Parameters
    ----------
    starts : ndarray of int
        First entry of each row, one more than rows.
    sizes : ndarray of float
        Absolute values of the entries.

    Returns
    -------
    tuple of ndarray
        Two vectors, one value a row.
    """
    smallest, largest = np.full(len(starts) - 1, np.inf), np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        smallest[filled] = np.minimum.reduceat(np.where(sizes > 0, sizes, np.inf), starts[filled])
        largest[filled] = np.maximum.reduceat(sizes, starts[filled])
    return smallest, largest


def lost_coefficient(arrays: LinearArrays, dropped_below: float = DROPPED_BELOW) -> str | None:
    """Say which entry HiGHS would drop although it may decide whether a row holds.

    An entry is of no account if the terms of all that are dropped from its row come to less than 1e-7 together, or if
    it is no more than the rounding error of the row's largest coefficient.

    Parameters
    ----------
    arrays : LinearArrays
        The model as HiGHS gets it.
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
    """Say which row or integer column of a MIP has numbers too large for HiGHS to tell them apart.

    Parameters
    ----------
    arrays : LinearArrays
        The model as HiGHS gets it.

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
    """Say how many entries HiGHS drops.

    Parameters
    ----------
    arrays : LinearArrays
        The model as HiGHS gets it.
    dropped_below : float, optional
        Size at or below which HiGHS drops entries.

    Returns
    -------
    str or None
        One line, None where there are none.
    """
    count = len(_dropped(arrays, dropped_below))
    return f"HiGHS takes {count} coefficients of size {dropped_below:g} or less as 0" if count else None


def _dropped(arrays: LinearArrays, dropped_below: float) -> NDArray[np.intp]:
    sizes = np.abs(arrays.values)
    return np.flatnonzero((sizes <= dropped_below) & (sizes > 0))


def _finite(sizes: Floats) -> Floats:
    return np.where(sizes >= INFINITE, 0.0, sizes)
