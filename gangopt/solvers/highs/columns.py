"""Pyomo variables as columns: positions, bounds, integrality, and the values of fixed ones.

The variables' own slots are read with C-level loops; the public accessors cost 3 to 10 times as much and are used
where a slot holds anything but a plain number. A test compares both on every kind of domain and bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import count
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.base import value
from pyomo.core.expr.numvalue import native_numeric_types

from gangopt.base.errors import InputError
from gangopt.base.types import Floats

__all__ = ["ColumnTable", "bounds_and_integrality"]

FIXED_VALUE_TOLERANCE = 1e-6
"""Tolerance by which a fixed variable may violate its domain, as values written by other solvers do."""

_PLAIN = native_numeric_types | {type(None)}
_domain = attrgetter("_domain")
_fixed = attrgetter("_fixed")


class ColumnTable:
    """All variables of a block, then those of other blocks in order of appearance.

    Attributes
    ----------
    variables : iterable of object
        Pyomo variables.
    n_own : object
        Number of variables that belong to the block.
    """

    def __init__(self, variables: Iterable[Any]) -> None:
        self.variables = list(variables)
        self._sort()
        if (self._sorted_ids[1:] == self._sorted_ids[:-1]).any():
            self.variables = list({id(item): item for item in self.variables}.values())
            self._sort()
        self.n_own = len(self.variables)

    def _sort(self) -> None:
        ids = _ids(self.variables)
        self._order = np.argsort(ids, kind="stable")
        self._sorted_ids = ids[self._order]

    def positions_of(self, variables: Sequence[Any]) -> NDArray[np.intp]:
        """Return the position of each variable, adding those of other blocks; called once per table.

        The ids are looked up by binary search in the sorted ids of the block's own variables: in C, and several times
        faster than a dictionary, as neighbours in a row are neighbours in memory.

        Parameters
        ----------
        variables : sequence of object
            Pyomo variables, possibly repeated.

        Returns
        -------
        ndarray of int
            Positions in `variables` of the table, 0-based.
        """
        ids = _ids(variables)
        if not self.n_own:
            return self._added(variables, np.zeros(len(ids), dtype=np.intp), np.ones(len(ids), dtype=np.bool_))
        found = np.minimum(np.searchsorted(self._sorted_ids, ids), self.n_own - 1)
        foreign = self._sorted_ids[found] != ids
        positions: NDArray[np.intp] = self._order[found]
        return self._added(variables, positions, foreign) if foreign.any() else positions

    def _added(
        self, variables: Sequence[Any], positions: NDArray[np.intp], foreign: NDArray[np.bool_]
    ) -> NDArray[np.intp]:
        position_of: dict[int, int] = {}
        for entry in np.flatnonzero(foreign).tolist():
            item = variables[entry]
            if id(item) not in position_of:
                position_of[id(item)] = len(self.variables)
                self.variables.append(item)
            positions[entry] = position_of[id(item)]
        return positions

    def fixed(self) -> NDArray[np.bool_]:
        """Return one flag per variable of the table, true for fixed ones."""
        return np.fromiter(map(_fixed, self.variables), np.bool_, len(self.variables))

    def fixed_values(self, fixed: NDArray[np.bool_], used: NDArray[np.bool_]) -> Floats:
        """Return the values of the fixed variables, 0 for all others.

        Parameters
        ----------
        fixed : ndarray of bool
            Which variables are fixed.
        used : ndarray of bool
            Which variables appear in the objective or a constraint.

        Returns
        -------
        ndarray
            One value per variable of the table.

        Raises
        ------
        InputError
            If a used fixed variable has no value, or a value is outside its domain.
        """
        values = np.zeros(len(self.variables))
        for position in np.flatnonzero(fixed).tolist():
            item = self.variables[position]
            if item.value is not None:
                values[position] = _value_in_domain(item)
            elif used[position]:
                raise InputError(f"{item.name} is fixed without a value; give it one or unfix it")
        return values


def _ids(variables: Sequence[Any]) -> NDArray[np.uint64]:
    return np.fromiter(map(id, variables), np.uint64, len(variables))


def _value_in_domain(variable: Any) -> float:
    number = float(variable.value)
    lower, upper, integer = _domain_facts(variable.domain, variable)
    gap = max(lower - number, number - upper, abs(number - round(number)) if integer and math.isfinite(number) else 0.0)
    if not (math.isfinite(number) and gap <= FIXED_VALUE_TOLERANCE):
        raise InputError(f"{variable.name} is fixed at {number}, outside its domain {variable.domain}")
    return number


def bounds_and_integrality(variables: Sequence[Any]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return lower bounds, upper bounds and integrality, the tighter of domain and declared bound.

    Parameters
    ----------
    variables : sequence of object
        Unfixed Pyomo variables.

    Returns
    -------
    tuple of three arrays
        Lower bounds, upper bounds (-inf and inf if there is none) and integer flags.

    Raises
    ------
    InputError
        If a domain is neither an interval of the reals nor one of the integers, or a bound is NaN.
    """
    lower = _declared(variables, "_lb", -math.inf)
    upper = _declared(variables, "_ub", math.inf)
    domains = list(map(_domain, variables))
    an_example = dict(zip(map(id, domains), variables, strict=True))
    facts = np.array([_domain_facts(item.domain, item) for item in an_example.values()]).reshape(-1, 3)
    if len(facts) == 1:
        domain_lower, domain_upper, whole = facts[0]
        integer = np.full(len(domains), bool(whole))
    else:
        number = dict(zip(an_example, count(), strict=False))
        which = np.fromiter(map(number.__getitem__, map(id, domains)), np.intp, len(domains))
        domain_lower, domain_upper, integer = facts[which, 0], facts[which, 1], facts[which, 2] > 0
    return np.maximum(lower, domain_lower), np.minimum(upper, domain_upper), integer


def _declared(variables: Sequence[Any], slot: str, absent: float) -> Floats:
    bounds = list(map(attrgetter(slot), variables))
    kinds = set(map(type, bounds))
    if kinds <= {type(None)}:
        return np.full(len(bounds), absent)
    if not kinds <= _PLAIN:
        bounds = [b if b.__class__ in _PLAIN else _evaluated(b, v) for b, v in zip(bounds, variables, strict=True)]
    array = np.array(bounds, dtype=np.float64)
    no_number = np.isnan(array)
    if np.count_nonzero(no_number) != bounds.count(None):
        at = next(k for k in np.flatnonzero(no_number).tolist() if bounds[k] is not None)
        raise InputError(f"{variables[at].name} has a bound that is not a number")
    array[no_number] = absent
    return array


def _evaluated(bound: Any, variable: Any) -> float:
    try:
        return float(value(bound))
    except (ValueError, TypeError) as error:
        raise InputError(f"{variable.name} has a bound without a value: {bound}") from error


def _domain_facts(domain: Any, variable: Any) -> tuple[float, float, bool]:
    lower, upper, step = domain.get_interval()
    whole = step is not None and abs(step) == 1 and (lower is None or float(lower).is_integer())
    if not whole and step != 0:
        raise InputError(f"{variable.name} must have an interval of the reals or integers as its domain (got {domain})")
    return (-math.inf if lower is None else float(lower)), (math.inf if upper is None else float(upper)), whole
