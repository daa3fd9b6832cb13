"""Check of model sizes before anything is built."""

from __future__ import annotations

from gangopt.base.errors import ModelTooLargeError
from gangopt.formulations.deadline import require_time

__all__ = ["MAX_COLUMNS", "require_size"]

MAX_COLUMNS = 5_000_000
"""Largest number of columns of a Pyomo model: about 4 GB at 0.8 kB per column."""


def require_size(form: str, columns: int, limit: int = MAX_COLUMNS) -> None:
    """Check the number of columns of a model.

    Parameters
    ----------
    form : str
        Problem and formulation, e.g. `allocation choice`.
    columns : int
        Number of columns that the model would have.
    limit : int, optional
        Largest number that is built.

    Raises
    ------
    ModelTooLargeError
        If there are more columns than the limit.
    OutOfTime
        If the time limit for building is too short for the model.
    """
    if columns > limit:
        raise ModelTooLargeError(f"formulation {form} would have {columns:,} columns, more than the limit of {limit:,}")
    require_time(columns)
