"""Verify a solver's point: round integers, clip to bounds, and check every row again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gangopt.base.types import Floats
from gangopt.solvers.highs.arrays import INFINITE, LinearArrays

__all__ = [
    "FEASIBILITY_TOLERANCE",
    "INTEGRALITY_TOLERANCE",
    "WHOLE_TOLERANCE",
    "fixed_integers",
    "rounded",
    "violation",
]

FEASIBILITY_TOLERANCE = 1e-6
"""A scaled row holds if it is violated by at most this times max(1, abs(bound), largest abs(term))."""
WHOLE_TOLERANCE = 1e-12
"""The same for the bound and terms of a row with integer columns only, where only sums are inexact."""
INTEGRALITY_TOLERANCE = 1e-5
"""Values further than this from an integer are rejected instead of rounded."""


def rounded(arrays: LinearArrays, x: Floats) -> Floats:
    """Return a point with integers rounded and all values clipped to their bounds.

    Parameters
    ----------
    arrays : LinearArrays
        The model.
    x : ndarray of float
        One value per column, as returned by a solver.

    Returns
    -------
    ndarray
        A new vector.
    """
    point = np.clip(x, arrays.lower, arrays.upper)
    point[arrays.integer] = np.round(point[arrays.integer])
    return point + 0.0


def violation(arrays: LinearArrays, x: Floats, original: Floats | None = None) -> str | None:
    """Return a message on the first constraint that a point violates, or None.

    Parameters
    ----------
    arrays : LinearArrays
        The model.
    x : ndarray of float
        One value per column.
    original : ndarray of float or None, optional
        The point before rounding; no value may have moved by more than the integrality tolerance.

    Returns
    -------
    str or None
        One line with the component, its value and the allowed range.
    """
    before = x if original is None else original
    if not np.isfinite(before).all():
        return f"{arrays.column_name(int(np.argmin(np.isfinite(before))))} has no finite value"
    moved = np.where(arrays.integer, np.abs(before - np.round(before)), 0.0)
    if len(moved) and moved.max() > INTEGRALITY_TOLERANCE:
        at = int(np.argmax(moved))
        return f"{arrays.column_name(at)} is {before[at]}, not an integer"
    outside = np.maximum(arrays.lower - before, before - arrays.upper)
    outside -= FEASIBILITY_TOLERANCE * np.maximum(1.0, np.abs(before))
    if len(outside) and outside.max() > 0:
        at = int(np.argmax(outside))
        return f"{arrays.column_name(at)} is {before[at]}, outside {arrays.lower[at]}..{arrays.upper[at]}"
    return _broken_row(arrays, x)


def _broken_row(arrays: LinearArrays, x: Floats) -> str | None:
    if not arrays.n_rows:
        return None
    activity = arrays.activity(x)
    lower = np.where(arrays.row_lower <= -INFINITE, -np.inf, arrays.row_lower)
    upper = np.where(arrays.row_upper >= INFINITE, np.inf, arrays.row_upper)
    excess = np.maximum(lower - activity, activity - upper)
    for row in np.flatnonzero(excess > FEASIBILITY_TOLERANCE).tolist():
        if excess[row] > _allowed(arrays, row, x, activity[row]):
            unit = arrays.row_factor(row)
            return f"{arrays.row_name(row)} is {activity[row] / unit}, violated by {excess[row] / unit:.3g}"
    return None


def _allowed(arrays: LinearArrays, row: int, x: Floats, activity: float) -> float:
    """Return the allowed violation of a row, in the unit of its scaled numbers."""
    entries = slice(arrays.starts[row], arrays.starts[row + 1])
    columns = arrays.indices[entries]
    terms = np.abs(arrays.values[entries] * x[columns])
    bound = arrays.row_lower[row] if arrays.row_lower[row] > activity else arrays.row_upper[row]
    size = max(abs(float(bound)), float(terms.max(initial=0.0)))
    relative = WHOLE_TOLERANCE if arrays.integer[columns].all() else FEASIBILITY_TOLERANCE
    return max(FEASIBILITY_TOLERANCE, relative * size)


def fixed_integers(arrays: LinearArrays, x: Floats) -> LinearArrays:
    """Return the linear program in which every integer column is fixed at a point.

    Parameters
    ----------
    arrays : LinearArrays
        The model.
    x : ndarray of float
        A point with integral values of the integer columns.

    Returns
    -------
    LinearArrays
        The same model without integrality.
    """
    return replace(
        arrays,
        lower=np.where(arrays.integer, x, arrays.lower),
        upper=np.where(arrays.integer, x, arrays.upper),
        integer=np.zeros(arrays.n_columns, dtype=np.bool_),
    )
