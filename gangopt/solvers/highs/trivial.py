"""Cases that need no solver: crossed bounds, rows without entries, models without columns or rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gangopt.base.types import Floats
from gangopt.solvers.highs.arrays import INFINITE, LinearArrays
from gangopt.solvers.highs.records import Termination
from gangopt.solvers.highs.scaling import with_scaled_rows

__all__ = ["Decision", "decide", "tightened"]

_TOLERANCE = 1e-9
"""Bounds that cross by at most this times max(1, abs(bound)) count as equal, the error of float sums."""


@dataclass(frozen=True)
class Decision:
    """Answer to a model that needs no solver.

    Attributes
    ----------
    termination : Termination
        `optimal`, `infeasible` or `unbounded`.
    values : ndarray of float or None
        One value per column, None without a solution.
    conflict : tuple of str
        Names of the conflicting components.
    message : str or None
        One line with the reason.
    """

    termination: Termination
    values: Floats | None = None
    conflict: tuple[str, ...] = ()
    message: str | None = None


def tightened(arrays: LinearArrays) -> LinearArrays:
    """Return the model with scaled rows, integer bounds on integer columns, and no bounds crossed by rounding.

    Parameters
    ----------
    arrays : LinearArrays
        The model.

    Returns
    -------
    LinearArrays
        A model with the same solutions; rows are scaled by `with_scaled_rows`.
    """
    arrays = with_scaled_rows(arrays)
    lower, upper = arrays.lower, arrays.upper
    if arrays.is_mip:
        lower = np.where(arrays.integer, np.ceil(lower - _slack(lower)) + 0.0, lower)
        upper = np.where(arrays.integer, np.floor(upper + _slack(upper)) + 0.0, upper)
    row_lower = arrays.row_lower
    return replace(
        arrays,
        lower=lower,
        upper=_uncrossed(lower, upper),
        row_upper=_uncrossed(row_lower, arrays.row_upper),
    )


def decide(arrays: LinearArrays) -> Decision | None:
    """Return the answer to a model that needs no solver, or None.

    Parameters
    ----------
    arrays : LinearArrays
        The model, tightened.

    Returns
    -------
    Decision or None
        None if HiGHS has to decide.
    """
    for lower, upper, name, factor in (
        (arrays.lower, arrays.upper, arrays.column_name, lambda _: 1.0),
        (arrays.row_lower, arrays.row_upper, arrays.row_name, arrays.row_factor),
    ):
        crossed = lower > upper
        if crossed.any():
            at = int(np.argmax(crossed))
            low, high = lower[at] / factor(at), upper[at] / factor(at)
            reason = f"{name(at)} has the lower bound {low} above its upper bound {high}"
            return Decision("infeasible", conflict=(name(at),), message=reason)
    empty = np.diff(arrays.starts) == 0
    broken = empty & ((arrays.row_lower > 0) | (arrays.row_upper < 0))
    if broken.any():
        at = int(np.argmax(broken))
        reason = f"{arrays.row_name(at)} has no variables and cannot hold"
        return Decision("infeasible", conflict=(arrays.row_name(at),), message=reason)
    return _best_of_each_column(arrays) if empty.all() else None


def _best_of_each_column(arrays: LinearArrays) -> Decision:
    costs = arrays.costs if arrays.sense == "minimise" else -arrays.costs
    idle = np.clip(0.0, arrays.lower, arrays.upper)
    values = np.where(costs > 0, arrays.lower, np.where(costs < 0, arrays.upper, idle))
    free = np.abs(values) >= INFINITE
    if free.any():
        name = arrays.column_name(int(np.argmax(free)))
        return Decision("unbounded", message=f"{name} improves the objective without end")
    return Decision("optimal", values=values + 0.0)


def _slack(bounds: Floats) -> Floats:
    return _TOLERANCE * np.maximum(1.0, np.where(np.isfinite(bounds), np.abs(bounds), 0.0))


def _uncrossed(lower: Floats, upper: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.where((lower > upper) & (lower - upper <= _slack(lower)), lower, upper)
