"""Refusal of models that would not fit into memory, or into the time that is left, before anything is built."""

from __future__ import annotations

from gangopt.base.errors import ModelTooLargeError
from gangopt.formulations.deadline import require_time

__all__ = ["MAX_COLUMNS", "require_size"]

MAX_COLUMNS = 5_000_000
"""Most columns of one Pyomo model; about 0.8 kB a column, so about 4 GB."""


def require_size(form: str, columns: int, limit: int = MAX_COLUMNS) -> None:
    """Refuse a model of more columns than the limit.

    Parameters
    ----------
    form : str
        Decision and form, as `allocation choice`.
    columns : int
        Columns that the model would have.
    limit : int, optional
        Most columns that are built.

    Raises
    ------
    ModelTooLargeError
        With the size and the limit.
    OutOfTime
        If the form is built within a time limit that is too short for it.
    """
    if columns > limit:
        raise ModelTooLargeError(f"form {form} would need {columns:,} columns, at most {limit:,} are built")
    require_time(columns)
