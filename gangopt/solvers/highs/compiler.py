"""Compile any linear Pyomo model or block to arrays.

Rows made of plain numbers and variables are read directly, with C-level loops over their argument lists; everything
else goes through Pyomo's own linear visitor. Both give the same arrays as Pyomo's standard-form compiler.
"""

from __future__ import annotations

import math
from itertools import chain, compress
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.common.gc_manager import PauseGC
from pyomo.core.base import Block, Constraint, Expression, Objective, Param, RangeSet, Set, Suffix, Var, maximize, value
from pyomo.core.base.component import ActiveComponent
from pyomo.core.base.external import ExternalFunction
from pyomo.core.base.var import ScalarVar, VarData
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression
from pyomo.core.expr.numvalue import native_numeric_types
from pyomo.network import Port
from pyomo.repn.linear import LinearRepnVisitor
from pyomo.repn.util import VarRecorder
from scipy.sparse import csr_matrix

from gangopt.base.errors import InputError, NonlinearModelError
from gangopt.base.types import Floats
from gangopt.formulations.deadline import paced
from gangopt.solvers.highs.arrays import LinearArrays, Sense
from gangopt.solvers.highs.columns import ColumnTable, bounds_and_integrality
from gangopt.solvers.highs.scaling import row_extremes

__all__ = ["compile_model"]

CONSTANT_ROW_TOLERANCE = 1e-9
"""A row without variables holds if it is violated by at most this times the larger of its constant and its unit. The
unit is the largest coefficient of its fixed variables, at most 1, and 1 if it has none."""

_UNDERSTOOD = {Block, Constraint, Var, Param, Expression, ExternalFunction, Set, RangeSet, Port, Suffix, Objective}
_VARIABLE_CLASSES = {VarData, ScalarVar}
_READ_DIRECTLY = _VARIABLE_CLASSES | native_numeric_types | {MonomialTermExpression}
_args = attrgetter("_args_")


def compile_model(block: Any, *, include_unused: bool = True) -> LinearArrays:
    """Read a linear Pyomo model or block into arrays, one row a constraint and one column a variable.

    Fixed variables become constants, whatever their bounds. Variables of other blocks that an active constraint uses
    become columns after the block's own. A constraint without variables is skipped if it holds (to 1e-9) and kept as
    an empty row if it fails, so that the solve reports it by name as infeasible. A block without an active objective
    gets the objective 0; objectives of its parent blocks do not count.

    Parameters
    ----------
    block : object
        ConcreteModel, Block or member of an indexed Block; its active parts are read.
    include_unused : bool, optional
        Also create columns for variables of the block that appear nowhere, so that they get a value.

    Returns
    -------
    LinearArrays
        Checked arrays, with the Pyomo variables and constraints in their order.

    Raises
    ------
    NonlinearModelError
        If an active constraint or objective is not linear in its unfixed variables.
    InputError
        If there are several active objectives, an active component of a kind that a linear model cannot hold, a
        domain with gaps, a fixed variable without a value or outside its domain, or a number that is not finite.
    """
    _check_block(block)
    with PauseGC():
        blocks = list(block.block_data_objects(active=True, descend_into=Block))
        _refuse_foreign_components(block)
        table = ColumnTable(chain.from_iterable([_data(item, Var) for item in blocks]))
        sense, objective = _only_objective(blocks)
        walk = _Walk()
        offset = 0.0 if objective is None else walk.add(objective.expr, objective)
        n_costs = len(walk.coefficients)
        rows = _add_rows(walk, blocks)
        arrays = _assemble(table, walk, rows, n_costs, (sense, offset), include_unused)
    arrays.check()
    return arrays


def _check_block(block: Any) -> None:
    if getattr(block, "ctype", None) is not Block:
        raise InputError(f"{type(block).__name__} is not a Pyomo model or block")
    if block.is_indexed():
        raise InputError(f"{block.name} is an indexed Block; give one of its members, or the block above it")
    if not block.is_constructed():
        raise InputError(f"{block.name} is not constructed; call create_instance first")
    if not block.active:
        raise InputError(f"{block.name} is deactivated; activate it before solving")


def _refuse_foreign_components(block: Any) -> None:
    """Reject active components that a linear model would silently drop, e.g. disjuncts and special ordered sets."""
    for item in block.block_data_objects(active=True, descend_into=Block):
        for kind in item.collect_ctypes(active=None, descend_into=False):
            if kind in _UNDERSTOOD or not issubclass(kind, ActiveComponent):
                continue
            for data in item.component_data_objects(kind, active=True, descend_into=False):
                raise InputError(
                    f"{data.name} is an active {kind.__name__}, which a linear model cannot hold; "
                    "transform it to linear constraints or deactivate it"
                )


def _data(block: Any, kind: type) -> list[Any]:
    """Return the members of a block's own components of one kind, with those of References last."""
    members: list[Any] = []
    references: list[Any] = []
    for component in block.component_objects(kind, active=None if kind is Var else True, descend_into=False):
        if component.is_reference():
            references.extend(component.values())
        else:
            # read the dictionary itself: values() looks up each index again, a fifth of the whole compilation time
            members.extend(component._data.values())
    return members + references if references else members


def _only_objective(blocks: list[Any]) -> tuple[Sense, Any]:
    active = [item for block in blocks for item in _data(block, Objective) if item.active]
    if len(active) > 1:
        names = ", ".join(item.name for item in active[:5])
        raise InputError(f"{len(active)} objectives are active ({names}); deactivate all but one")
    if not active:
        return "minimise", None
    return ("maximise" if active[0].sense == maximize else "minimise"), active[0]


class _Rows:
    """Row data in the order of the constraints."""

    def __init__(self) -> None:
        self.constraints: list[Any] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.shifts: list[float] = []
        self.ends: list[int] = []


def _add_rows(walk: _Walk, blocks: list[Any]) -> _Rows:
    rows = _Rows()
    # a Reference lists constraints that belong to another component, so each may come up several times
    seen: set[int] = set()
    for block in blocks:
        for constraint in paced(_data(block, Constraint)):
            if not constraint.active or id(constraint) in seen:
                continue
            seen.add(id(constraint))
            lower, body, upper = _sides(constraint)
            if lower is None and upper is None:
                continue
            rows.shifts.append(walk.add(body, constraint))
            rows.constraints.append(constraint)
            rows.lower.append(-math.inf if lower is None else _number(lower, constraint))
            rows.upper.append(math.inf if upper is None else _number(upper, constraint))
            rows.ends.append(len(walk.coefficients))
    return rows


def _sides(constraint: Any) -> tuple[Any, Any, Any]:
    try:
        return constraint.to_bounded_expression()  # type: ignore[no-any-return]
    except ValueError as error:
        raise InputError(
            f"{constraint.name} is a ranged row with a variable bound; write it as two constraints"
        ) from error


def _number(bound: Any, constraint: Any) -> float:
    try:
        return float(bound if bound.__class__ in native_numeric_types else value(bound))
    except (ValueError, TypeError) as error:
        raise InputError(f"{constraint.name} has a bound without a value: {bound}") from error


class _Walk:
    """Collect the linear terms of expressions as two parallel lists."""

    def __init__(self) -> None:
        self.coefficients: list[Any] = []
        self.variables: list[Any] = []
        self._recorder = VarRecorder({}, False)
        self._visitor = LinearRepnVisitor({}, var_recorder=self._recorder)

    def add(self, expression: Any, owner: Any) -> float:
        """Append the terms of an expression and return its constant."""
        if expression.__class__ is LinearExpression:
            arguments = expression._args_
            # the common cases, monomials only and variables only, need no Python step per term
            kinds = set(map(type, arguments))
            if kinds == {MonomialTermExpression}:
                pairs = list(chain.from_iterable(map(_args, arguments)))
                self.coefficients += pairs[::2]
                self.variables += pairs[1::2]
                return 0.0
            if kinds <= _VARIABLE_CLASSES:
                self.coefficients += [1.0] * len(arguments)
                self.variables += arguments
                return 0.0
            if kinds <= _READ_DIRECTLY:
                return self._add_mixed(arguments)
        return self._visit(expression, owner)

    def _add_mixed(self, arguments: list[Any]) -> float:
        constant = 0.0
        for item in arguments:
            if item.__class__ is MonomialTermExpression:
                coefficient, variable = item._args_
                self.coefficients.append(coefficient)
                self.variables.append(variable)
            elif item.__class__ in _VARIABLE_CLASSES:
                self.coefficients.append(1.0)
                self.variables.append(item)
            else:
                constant += item
        return constant

    def _visit(self, expression: Any, owner: Any) -> float:
        try:
            linear = self._visitor.walk_expression(expression)
            constant = float(linear.constant)
        except (ValueError, TypeError) as error:
            raise InputError(f"{owner.name} cannot be evaluated: {str(error).splitlines()[0]}") from error
        if linear.nonlinear is not None:
            raise NonlinearModelError(f"{owner.name} is not linear in its unfixed variables")
        self.coefficients += linear.linear.values()
        self.variables += map(self._recorder.var_map.__getitem__, linear.linear)
        return constant

    def numbers(self) -> Floats:
        """Return the coefficients as floats; those that are Params or expressions are evaluated."""
        # numpy converts plain numbers in C; only models with Params or expressions pay for the loop
        try:
            return np.array(self.coefficients, dtype=np.float64)
        except (TypeError, ValueError):
            return np.array(
                [_evaluated(c, v) for c, v in zip(self.coefficients, self.variables, strict=True)], dtype=np.float64
            )


def _evaluated(coefficient: Any, variable: Any) -> float:
    try:
        return float(coefficient if coefficient.__class__ in native_numeric_types else value(coefficient))
    except (ValueError, TypeError) as error:
        raise InputError(f"{variable.name} has a coefficient without a value: {coefficient}") from error


def _assemble(
    table: ColumnTable,
    walk: _Walk,
    rows: _Rows,
    n_costs: int,
    objective: tuple[Sense, float],
    include_unused: bool,
) -> LinearArrays:
    """Turn terms into arrays: sum repeated variables, move fixed ones to the constants, drop rows that hold."""
    # the first `n_costs` terms are those of the objective, the others those of the rows in order
    positions, coefficients = table.positions_of(walk.variables), walk.numbers()
    n = len(table.variables)
    costs: Floats = np.bincount(positions[:n_costs], coefficients[:n_costs], minlength=n).astype(np.float64)
    starts = np.array([n_costs, *rows.ends], dtype=np.int32) - n_costs
    matrix = csr_matrix(
        (coefficients[n_costs:], positions[n_costs:].astype(np.int32), starts), shape=(len(rows.ends), n)
    )
    if not matrix.has_canonical_format:
        matrix.sum_duplicates()
    if (matrix.data == 0).any():
        matrix.eliminate_zeros()
    sense, offset = objective
    # constants of the row bodies, to be subtracted from the sides
    shifts = np.array(rows.shifts)
    units = np.ones(len(shifts))
    used = np.zeros(n, dtype=np.bool_)
    used[positions] = True
    fixed = table.fixed()
    if fixed.any():
        # measured before fixed columns are dropped: a row of fixed variables only is checked in their unit
        units = _units(matrix)
        constants = table.fixed_values(fixed, used)
        offset += float(costs @ constants)
        shifts += matrix @ constants
    if include_unused:
        used[: table.n_own] = True
    kept = used & ~fixed
    variables = table.variables
    if not kept.all():
        variables = list(compress(variables, kept.tolist()))
        matrix, costs = matrix[:, kept], costs[kept]
    row_lower, row_upper = np.array(rows.lower) - shifts, np.array(rows.upper) - shifts
    constraints: list[Any] = rows.constraints
    holds = _constant_rows_that_hold(matrix, row_lower, row_upper, np.maximum(units, np.abs(shifts)))
    if holds.any():
        constraints = list(compress(constraints, (~holds).tolist()))
        matrix, row_lower, row_upper = matrix[~holds], row_lower[~holds], row_upper[~holds]
    lower, upper, integer = bounds_and_integrality(variables)
    return LinearArrays(
        sense=sense,
        offset=offset,
        costs=costs,
        lower=lower,
        upper=upper,
        integer=integer,
        row_lower=row_lower,
        row_upper=row_upper,
        starts=matrix.indptr,
        indices=matrix.indices,
        values=matrix.data,
        columns=variables,
        rows=constraints,
    )


def _units(matrix: Any) -> Floats:
    """Return the largest coefficient of each row, capped at 1, and 1 for rows without any."""
    _, largest = row_extremes(matrix.indptr, np.abs(matrix.data))
    return np.where(largest > 0, np.minimum(largest, 1.0), 1.0)


def _constant_rows_that_hold(matrix: Any, lower: Floats, upper: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """Mark rows without entries whose constant is within the bounds, to a tolerance relative to the row's size."""
    slack = CONSTANT_ROW_TOLERANCE * sizes
    empty: NDArray[np.bool_] = np.diff(matrix.indptr) == 0
    return empty & (lower <= slack) & (upper >= -slack)
