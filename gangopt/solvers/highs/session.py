"""A model held in HiGHS: solve it, change it, solve it again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gangopt.base.errors import InputError
from gangopt.base.types import Floats
from gangopt.solvers.highs.arrays import LinearArrays, vector
from gangopt.solvers.highs.compiler import compile_model
from gangopt.solvers.highs.engine import Engine
from gangopt.solvers.highs.records import Progress, SolverOutcome, SolveSettings
from gangopt.solvers.highs.trivial import tightened

__all__ = [
    "Progress",
    "Session",
    "SolveSettings",
    "SolverOutcome",
    "current_values",
    "load_values",
    "solve_arrays",
    "solve_model",
]


class Session:
    """A linear model held in HiGHS for one or many solves, with changes in between.

    Parameters
    ----------
    arrays : LinearArrays
        The model.
    settings : SolveSettings or None, optional
        Settings of the solves.

    Raises
    ------
    InputError
        If the arrays or an option are invalid.
    """

    def __init__(self, arrays: LinearArrays, settings: SolveSettings | None = None) -> None:
        if not isinstance(arrays, LinearArrays):
            raise InputError(
                f"{type(arrays).__name__} is not LinearArrays; use compile_model to build them from a model"
            )
        self.settings = SolveSettings() if settings is None else settings
        if not isinstance(self.settings, SolveSettings):
            raise InputError(f"settings must be SolveSettings (got {type(settings).__name__})")
        self._engine = Engine(self.settings)
        self._start: Floats | None = None
        self._set(arrays)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.clear()

    @property
    def arrays(self) -> LinearArrays:
        """The current model, including changes."""
        return self._arrays

    def warm_start(self, values: ArrayLike) -> None:
        """Set the start of the next solve; it is checked then, and the message reports if it was ignored.

        Parameters
        ----------
        values : array_like
            One finite value for every column.

        Raises
        ------
        InputError
            If the length differs from the number of columns, or a value is not finite.
        """
        start = vector(values, "the start")
        if start.shape != (self._arrays.n_columns,):
            raise InputError(f"the start must have {self._arrays.n_columns} values (got shape {start.shape})")
        if not np.isfinite(start).all():
            at = int(np.argmin(np.isfinite(start)))
            raise InputError(f"the start of {self._arrays.column_name(at)} must be finite (got {start[at]})")
        self._start = start

    def limit_time(self, seconds: float | None) -> None:
        """Set the time limit of each further solve, replacing that of the settings.

        Parameters
        ----------
        seconds : float or None
            Wall seconds >= 0, None for no limit.

        Raises
        ------
        InputError
            If it is not such a number.
        """
        self.settings = replace(self.settings, time_limit=seconds)
        self._engine.limit_time(self.settings)

    def solve(self) -> SolverOutcome:
        """Solve the current model.

        Returns
        -------
        SolverOutcome
            Returned even without a solution; only a wrong option or a failure inside HiGHS raises.
        """
        start, self._start = self._start, None
        return self._engine.solve(self._arrays, self._tight, start)

    def change_costs(self, columns: ArrayLike, costs: ArrayLike) -> None:
        """Change objective coefficients.

        Parameters
        ----------
        columns : array_like
            Positions, 0-based.
        costs : array_like
            New coefficients, one per position.
        """
        changed = _changed(self._arrays.costs, columns, costs)
        self._set(replace(self._arrays, costs=changed))

    def change_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Change bounds of columns.

        Parameters
        ----------
        columns : array_like
            Positions, 0-based.
        lower, upper : array_like
            New bounds, one per position or one for all.
        """
        arrays = self._arrays
        lowers, uppers = _changed(arrays.lower, columns, lower), _changed(arrays.upper, columns, upper)
        self._set(replace(arrays, lower=lowers, upper=uppers))

    def change_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Change bounds of rows.

        Parameters
        ----------
        rows : array_like
            Positions, 0-based.
        lower, upper : array_like
            New bounds, one per position or one for all.
        """
        arrays = self._arrays
        lowers, uppers = _changed(arrays.row_lower, rows, lower), _changed(arrays.row_upper, rows, upper)
        self._set(replace(arrays, row_lower=lowers, row_upper=uppers))

    def add_rows(self, matrix: Any, lower: ArrayLike, upper: ArrayLike, names: Sequence[str] = ()) -> None:
        """Append rows.

        Parameters
        ----------
        matrix : object
            Scipy sparse matrix or two-dimensional array, shape (new rows, columns).
        lower, upper : array_like
            Bounds of the new rows, one per row or one for all.
        names : sequence of str, optional
            Names of the new rows, for messages; empty for none.

        Raises
        ------
        InputError
            If the matrix has another number of columns than the model, or a length or number is invalid.
        """
        old = self._arrays
        new = LinearArrays.from_matrix(old.costs, matrix, lower, upper, old.lower, old.upper, old.integer, names=names)
        old_names = old.rows or [f"row {k}" for k in range(old.n_rows)]
        new_names = new.rows or [f"row {k + old.n_rows}" for k in range(new.n_rows)]
        self._set(
            replace(
                old,
                row_lower=np.concatenate([old.row_lower, new.row_lower]),
                row_upper=np.concatenate([old.row_upper, new.row_upper]),
                starts=np.concatenate([old.starts, new.starts[1:] + len(old.values)]),
                indices=np.concatenate([old.indices, new.indices]),
                values=np.concatenate([old.values, new.values]),
                rows=[*old_names, *new_names],
            )
        )

    def _set(self, arrays: LinearArrays) -> None:
        arrays.check()
        self._arrays = arrays
        self._tight = tightened(arrays)


def _changed(vector: Floats, positions: ArrayLike, values: ArrayLike) -> Floats:
    at: NDArray[Any] = np.atleast_1d(np.asarray(positions))
    if not np.issubdtype(at.dtype, np.integer) or (len(at) and not 0 <= at.min() <= at.max() < len(vector)):
        raise InputError(f"positions must be integers from 0 to {len(vector) - 1}")
    result = vector.copy()
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"not numbers: {str(error).splitlines()[0]}") from error
    if numbers.shape not in {(), at.shape}:
        raise InputError(f"{numbers.size} values for {len(at)} positions")
    result[at] = numbers
    return result


def solve_arrays(
    arrays: LinearArrays, settings: SolveSettings | None = None, start: ArrayLike | None = None
) -> SolverOutcome:
    """Solve a model given as arrays.

    Parameters
    ----------
    arrays : LinearArrays
        The model.
    settings : SolveSettings or None, optional
        Settings of the solves.
    start : array_like or None, optional
        One value for every column to start from, or None.

    Returns
    -------
    SolverOutcome
        Returned even without a solution.
    """
    session = Session(arrays, settings)
    if start is not None:
        session.warm_start(start)
    return session.solve()


def solve_model(
    model: Any,
    settings: SolveSettings | None = None,
    *,
    warm_start: bool = False,
    load: bool = True,
    arrays: LinearArrays | None = None,
) -> SolverOutcome:
    """Solve a linear Pyomo model or block and write the solution back to its variables.

    Parameters
    ----------
    model : object
        ConcreteModel, Block or member of an indexed Block.
    settings : SolveSettings or None, optional
        Settings of the solves.
    warm_start : bool, optional
        Start from the current values of the variables; every unfixed variable must have one.
    load : bool, optional
        Write the solution to the variables, if there is one.
    arrays : LinearArrays or None, optional
        The model as `compile_model` returns it now; None compiles it.

    Returns
    -------
    SolverOutcome
        Returned even without a solution, in which case the variables keep their values.

    Raises
    ------
    InputError
        If the model is not linear, or a variable has no value to start from.
    """
    begin = time.perf_counter()
    arrays = compile_model(model) if arrays is None else arrays
    start = current_values(arrays) if warm_start else None
    if settings is not None and settings.time_limit is not None:
        left = max(0.0, settings.time_limit - (time.perf_counter() - begin))
        settings = replace(settings, time_limit=left)
    outcome = solve_arrays(arrays, settings, start)
    if load and outcome.values is not None:
        load_values(arrays, outcome.values)
    return outcome


def current_values(arrays: LinearArrays) -> Floats:
    """Return the values of the Pyomo variables in column order.

    Parameters
    ----------
    arrays : LinearArrays
        A compiled model.

    Returns
    -------
    ndarray
        One value per column.

    Raises
    ------
    InputError
        If a variable has no value.
    """
    values = [variable.value for variable in arrays.columns]
    if None in values:
        name = arrays.column_name(values.index(None))
        raise InputError(f"{name} has no value; a start must give every variable one")
    return np.array(values, dtype=np.float64)


def load_values(arrays: LinearArrays, values: ArrayLike) -> None:
    """Write values to the Pyomo variables of a compiled model.

    Parameters
    ----------
    arrays : LinearArrays
        A compiled model.
    values : array_like
        One value per column.

    Raises
    ------
    InputError
        If the arrays have no model, or the lengths differ.
    """
    vector = np.asarray(values, dtype=np.float64)
    if vector.shape != (len(arrays.columns),):
        raise InputError(f"{vector.size} values for {len(arrays.columns)} variables")
    for variable, number in zip(arrays.columns, vector.tolist(), strict=True):
        variable.set_value(number, skip_validation=True)
