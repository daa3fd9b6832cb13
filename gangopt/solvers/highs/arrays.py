"""A linear model as plain arrays, in which it is checked, passed to HiGHS and verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gangopt.base.errors import InputError, ModelTooLargeError
from gangopt.base.types import Floats

__all__ = ["INFINITE", "LARGEST_COEFFICIENT", "LinearArrays", "Sense"]

Sense = Literal["minimise", "maximise"]

INFINITE = 1e20
"""Bounds of at least this magnitude count as infinite, in HiGHS and in all checks here."""
LARGEST_COEFFICIENT = 1e15
"""HiGHS rejects larger matrix entries."""
_LARGEST_INDEX = 2**31 - 1


@dataclass(frozen=True, eq=False)
class LinearArrays:
    r"""A mixed-integer linear model, rows in compressed sparse row form.

    .. math:: \min\; c^\top x + c_0 \quad\text{with}\quad l \le A x \le u,\; \underline x \le x \le \overline x

    Attributes
    ----------
    sense : Sense
        `minimise` or `maximise`.
    offset : float
        Constant of the objective.
    costs : ndarray of float
        Objective coefficient of each column.
    lower, upper : ndarray of float
        Bounds of the columns; -inf and inf if there is none.
    integer : ndarray of bool
        True for columns that take integers only.
    row_lower, row_upper : ndarray of float
        Bounds of the rows; -inf and inf if there is none.
    starts : ndarray of int
        First entry of each row in `indices`, and the number of entries, 0-based.
    indices : ndarray of int
        Column of each entry, 0-based.
    values : ndarray of float
        Coefficient of each entry.
    columns : sequence of object
        Pyomo variables in column order; empty for arrays without a model.
    rows : sequence of object
        Pyomo constraints, or names, in row order; empty for rows without names.
    row_factors : ndarray of float or None
        Factor by which each row was multiplied, None if all are 1; messages divide by it.
    """

    sense: Sense
    offset: float
    costs: Floats
    lower: Floats
    upper: Floats
    integer: NDArray[np.bool_]
    row_lower: Floats
    row_upper: Floats
    starts: NDArray[np.int32]
    indices: NDArray[np.int32]
    values: Floats
    columns: Sequence[Any] = ()
    rows: Sequence[Any] = ()
    row_factors: Floats | None = None

    @classmethod
    def from_matrix(
        cls,
        costs: ArrayLike,
        matrix: Any,
        row_lower: ArrayLike,
        row_upper: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        integer: ArrayLike,
        sense: Sense = "minimise",
        offset: float = 0.0,
        names: Sequence[str] = (),
    ) -> LinearArrays:
        """Build checked arrays from numpy vectors and a scipy matrix.

        Parameters
        ----------
        costs : array_like
            Objective coefficients, shape (columns,).
        matrix : object
            Scipy sparse matrix or two-dimensional array, shape (rows, columns).
        row_lower, row_upper : array_like
            Bounds of the rows, shape (rows,) or one number for all.
        lower, upper : array_like
            Bounds of the columns, shape (columns,) or one number for all.
        integer : array_like
            True for integer columns, shape (columns,) or one value for all.
        sense : Sense, optional
            `minimise` or `maximise`.
        offset : float, optional
            Constant of the objective.
        names : sequence of str, optional
            Names of the rows, for messages; empty for none.

        Returns
        -------
        LinearArrays
            Checked arrays; duplicate entries are summed.

        Raises
        ------
        InputError
            If lengths differ, or a number is invalid.
        """
        csr = _as_rows(matrix)
        rows, columns = csr.shape
        costs = vector(costs, "costs")
        if columns != len(costs):
            raise InputError(f"costs must have one entry per column (got {len(costs)} for {columns} columns)")
        arrays = cls(
            sense=sense,
            offset=float(offset),
            costs=costs,
            lower=_filled(lower, "lower", columns),
            upper=_filled(upper, "upper", columns),
            integer=_filled(integer, "integer", columns).astype(np.bool_),
            row_lower=_filled(row_lower, "row_lower", rows),
            row_upper=_filled(row_upper, "row_upper", rows),
            starts=csr.indptr.astype(np.int32),
            indices=csr.indices.astype(np.int32),
            values=csr.data,
            rows=tuple(names),
        )
        arrays.check()
        return arrays

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.costs)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.row_lower)

    @property
    def is_mip(self) -> bool:
        """True if any column takes integers only."""
        return bool(self.integer.any())

    @property
    def has_whole_objective(self) -> bool:
        """True if c x is an integer at every feasible point: all costs are integers and belong to integer columns."""
        used = self.costs != 0
        return bool(self.integer[used].all() and (self.costs == np.round(self.costs)).all())

    def column_name(self, column: int) -> str:
        """Return the name of a column: that of its Pyomo variable, or `column k` (0-based)."""
        return _name(self.columns, column, "column")

    def row_name(self, row: int) -> str:
        """Return the name of a row: that of its constraint, or `row k` (0-based)."""
        return _name(self.rows, row, "row")

    def row_factor(self, row: int) -> float:
        """Return the factor by which a row was multiplied."""
        return 1.0 if self.row_factors is None else float(self.row_factors[row])

    def activity(self, x: Floats) -> Floats:
        """Return A x, the left side of every row at a point.

        Parameters
        ----------
        x : ndarray of float
            One value per column.

        Returns
        -------
        ndarray
            One value per row.
        """
        return _row_sums(self.starts, self.values * x[self.indices])

    def objective(self, x: Floats) -> float:
        """Return c x + offset at a point.

        Parameters
        ----------
        x : ndarray of float
            One value per column.

        Returns
        -------
        float
            In the model's own sense and unit.
        """
        return float(self.costs @ x + self.offset)

    def check(self) -> None:
        """Reject arrays that a solver would misread.

        Raises
        ------
        InputError
            If lengths do not fit, an index is out of range or duplicated in a row, a coefficient or cost is not
            finite or too large, or a bound is NaN or infinite on the wrong side; the message names the component.
        """
        if self.sense not in {"minimise", "maximise"}:
            raise InputError(f"sense must be 'minimise' or 'maximise' (got {self.sense!r})")
        self._check_lengths()
        self._check_structure()
        self._check_numbers()

    def _check_lengths(self) -> None:
        n, m, entries = self.n_columns, self.n_rows, len(self.values)
        if max(n, m, entries) >= _LARGEST_INDEX:
            raise ModelTooLargeError(f"{entries} matrix entries; HiGHS takes fewer than {_LARGEST_INDEX}")
        expected = {
            "lower": (self.lower, n),
            "upper": (self.upper, n),
            "integer": (self.integer, n),
            "row_upper": (self.row_upper, m),
            "starts": (self.starts, m + 1),
            "indices": (self.indices, entries),
        }
        for field, (array, length) in expected.items():
            if len(array) != length:
                raise InputError(f"{field} must have {length} entries (got {len(array)})")
        for field, names, length in (("columns", self.columns, n), ("rows", self.rows, m)):
            if len(names) not in {0, length}:
                raise InputError(f"{field} must have 0 or {length} entries (got {len(names)})")

    def _check_structure(self) -> None:
        starts, indices = self.starts, self.indices
        if starts[0] != 0 or starts[-1] != len(indices) or (np.diff(starts) < 0).any():
            raise InputError("starts must rise from 0 to the number of matrix entries")
        if len(indices) and not 0 <= indices.min() <= indices.max() < self.n_columns:
            raise InputError(f"indices must be from 0 to {self.n_columns - 1}")
        if not _rising_in_rows(starts, indices):
            twice = _first_duplicate(starts, indices, self.n_columns)
            if twice is not None:
                row, column = twice
                raise InputError(f"duplicate entry of {self.column_name(column)} in {self.row_name(row)}")

    def _check_numbers(self) -> None:
        if not abs(self.offset) < INFINITE:
            raise InputError(f"the objective's constant must be finite and below {INFINITE:g} (got {self.offset})")
        for name, bad, array, allowed in (
            ("objective coefficient", ~(np.abs(self.costs) < INFINITE), self.costs, f"finite, below {INFINITE:g}"),
            ("lower bound", ~(self.lower < INFINITE), self.lower, f"below {INFINITE:g}, which counts as infinite"),
            ("upper bound", ~(self.upper > -INFINITE), self.upper, f"above -{INFINITE:g}, which counts as infinite"),
        ):
            if bad.any():
                at = int(np.argmax(bad))
                raise InputError(f"{self.column_name(at)} has the {name} {array[at]}; allowed: {allowed}")
        for name, bad, array in (
            ("lower bound", ~(self.row_lower < INFINITE), self.row_lower),
            ("upper bound", ~(self.row_upper > -INFINITE), self.row_upper),
        ):
            if bad.any():
                at = int(np.argmax(bad))
                raise InputError(
                    f"{self.row_name(at)} has the {name} {array[at]}; allowed: magnitude below {INFINITE:g}, "
                    "which counts as infinite"
                )
        bad = ~(np.abs(self.values) <= LARGEST_COEFFICIENT)
        if bad.any():
            entry = int(np.argmax(bad))
            row = int(np.searchsorted(self.starts, entry, side="right")) - 1
            raise InputError(
                f"{self.row_name(row)} has the coefficient {self.values[entry]} on "
                f"{self.column_name(int(self.indices[entry]))}; allowed: finite, at most {LARGEST_COEFFICIENT:g}"
            )


def vector(values: ArrayLike, field: str) -> Floats:
    """Return numbers as a new vector; reject anything else, naming the field."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{field} is not a vector of numbers: {str(error).splitlines()[0]}") from error
    if array.ndim != 1:
        raise InputError(f"{field} must be a vector (got shape {array.shape})")
    return array


def _filled(values: ArrayLike, field: str, length: int) -> Floats:
    if np.ndim(values) == 0:
        return np.full(length, vector(np.asarray(values).reshape(1), field)[0])
    return vector(values, field)


def _as_rows(matrix: Any) -> Any:
    """Return a matrix in compressed rows, with duplicate entries summed."""
    from scipy.sparse import csr_matrix

    try:
        if len(np.shape(matrix)) != 2:
            raise InputError(f"the matrix must have rows and columns (got shape {np.shape(matrix)})")
        csr = csr_matrix(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the matrix must hold numbers: {str(error).splitlines()[0]}") from error
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _name(components: Sequence[Any], index: int, kind: str) -> str:
    if not len(components):
        return f"{kind} {index}"
    component = components[index]
    return component if isinstance(component, str) else str(component.name)


def _row_sums(starts: NDArray[np.int32], terms: Floats) -> Floats:
    """Sum terms by row; `add.reduceat` alone would give a neighbour's term for an empty row."""
    sums = np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        sums[filled] = np.add.reduceat(terms, starts[filled])
    return sums


def _rising_in_rows(starts: NDArray[np.int32], indices: NDArray[np.int32]) -> bool:
    """Return whether columns ascend strictly inside each row, which rules out duplicates without sorting."""
    rising = np.diff(indices) > 0
    first_of_row = starts[1:-1]
    rising[first_of_row[(first_of_row > 0) & (first_of_row < len(indices))] - 1] = True
    return bool(rising.all())


def _first_duplicate(starts: NDArray[np.int32], indices: NDArray[np.int32], n_columns: int) -> tuple[int, int] | None:
    row_of_entry = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
    keys = np.sort(row_of_entry * n_columns + indices)
    twice = np.flatnonzero(np.diff(keys) == 0)
    if not len(twice):
        return None
    row, column = divmod(int(keys[twice[0]]), n_columns)
    return row, column
