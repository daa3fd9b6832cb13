"""The program of an auction, solved again and again: one relaxation, and cores of the columns that still matter."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangopt.base.errors import SolverError
from gangopt.formulations.auction.columns import Column
from gangopt.formulations.auction.placing import choices_from
from gangopt.instances.auction.bids import Bundle
from gangopt.instances.auction.instance import AuctionInstance, log_of
from gangopt.instances.auction.solution import AuctionSolution
from gangopt.solvers.auction.exclusion import Exclusion, Seen
from gangopt.solvers.core.contract import Controls

if TYPE_CHECKING:
    from gangopt.solvers.highs import SolverOutcome

__all__ = ["Counts", "Master", "Optimum"]

Floats = NDArray[np.float64]
Counts = Mapping[tuple[int, int], int]
"""Number of apps by (group, column)."""

FIRST_DEPTH = 5e-4
"""Depth of the first core below the bound, in the logarithm of the product."""

NEAR = 1e-8
"""Selections whose logarithms differ by less are compared as rationals: solver and rounding errors are smaller."""

MOST_NEAR = 30
"""Most selections that are compared so, one after the other."""

_CLOSED = 5e-10
"""Largest distance in the logarithm between a proven selection and its bound; half of that allowed in a result."""

_WHOLE = 1e-6


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best selection that was found, and what is proven of it; logarithms leave out the constant of the model.

    Attributes
    ----------
    counts : Counts or None
        Apps by (group, column), None without a selection.
    product : Fraction
        Product of the shares of the columns, exact; 0 without a selection.
    bound : float
        Upper bound on its logarithm.
    proven : bool
        Whether no selection has a larger product by more than what logarithms resolve.
    compared : int
        Selections within `NEAR` of it that were compared exactly.
    exact : bool
        Whether no other selection within `NEAR` is left, so that the product is the largest as a rational.
    values : ndarray of float or None
        Of all columns of the model, None where the selection was given.
    """

    counts: Counts | None
    product: Fraction
    bound: float
    proven: bool
    compared: int = 0
    exact: bool = False
    values: Floats | None = None


class Master:
    """Form `nested_flow` of an auction, held as arrays.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    controls : Controls
        Settings of the call.
    columns : sequence of tuple of Column or None, optional
        Columns of every app; None to compute them.
    all_served : bool, optional
        Whether some allocation is known to give every app a value.
    """

    def __init__(
        self,
        instance: AuctionInstance,
        controls: Controls,
        columns: Sequence[tuple[Column, ...]] | None = None,
        *,
        all_served: bool = False,
    ) -> None:
        from scipy.sparse import csc_matrix, csr_matrix

        from gangopt.formulations.auction import NestedFlow
        from gangopt.solvers.core.by_form import settings_of
        from gangopt.solvers.highs import Session, compile_model

        begin = time.perf_counter()
        self.instance, self._controls = instance, controls
        self._form = NestedFlow(all_served=all_served, columns=columns).prepared(instance)
        self.goal, self.plan = self._form.goal_for(instance), self._form.plan_for(instance)
        self.model = self._form.model(instance)
        self._settings = replace(settings_of(controls), on_progress=None, explain=False)
        arrays = self._arrays = compile_model(self.model)
        shape = (arrays.n_rows, arrays.n_columns)
        self._matrix = csc_matrix(csr_matrix((arrays.values, arrays.indices, arrays.starts), shape=shape))
        position = {id(variable): j for j, variable in enumerate(arrays.columns)}
        row = {id(constraint): r for r, constraint in enumerate(arrays.rows)}
        assign, one = self.model.assign, self.model.one_bundle_per_app
        self.columns = {
            (g, j): position[id(assign[g, column.level, column.gpus])]
            for g, group in enumerate(self.plan.groups)
            for j, column in enumerate(group.columns)
        }
        self._group_row = {g: row[id(one[g])] for g in one}
        self._relaxed = Session(replace(arrays, integer=np.zeros_like(arrays.integer)), self._settings)
        self.solves = 0
        self.partial: Optimum | None = None
        """Best selection known so far, in case the search is interrupted."""
        self.last: SolverOutcome | None = None
        self.build_seconds = time.perf_counter() - begin

    @property
    def app_columns(self) -> Sequence[tuple[Column, ...]]:
        """Columns of every app."""
        return self._form.columns_for(self.instance)

    @property
    def offset(self) -> float:
        """Constant of the objective: what the logarithms of the columns leave out."""
        return self._arrays.offset

    def columns_of(self, bundles: tuple[Bundle, ...]) -> dict[int, tuple[int, int]]:
        """Return (group, column) of every app that has one: the best column that its bundle meets."""
        of_app = {app: g for g, group in enumerate(self.plan.groups) for app in group.apps}
        columns = [self.plan.groups[of_app[app]].columns for app in range(len(bundles))]
        index = {
            (g, c.level, c.gpus): j for g, group in enumerate(self.plan.groups) for j, c in enumerate(group.columns)
        }
        return {
            choice.app: (of_app[choice.app], index[of_app[choice.app], choice.level, choice.gpus])
            for choice in choices_from(self.instance, columns, bundles)
        }

    def counts_of(self, bundles: tuple[Bundle, ...]) -> dict[tuple[int, int], int]:
        """Return the selection that bundles amount to."""
        return dict(Counter(self.columns_of(bundles).values()))

    def in_order(self, bundles: tuple[Bundle, ...]) -> tuple[Bundle, ...]:
        """Return the bundles with those of each group exchanged so that lower apps have better ones."""
        found = list(bundles)
        for group in self.plan.groups:
            worth = {app: self.instance.value(app, bundles[app]) / group.best[k] for k, app in enumerate(group.apps)}
            order = sorted(group.apps, key=lambda app: (-worth[app], app))
            for app, other in zip(group.apps, order, strict=True):
                found[app] = bundles[other]
        return tuple(found)

    def product(self, counts: Counts) -> Fraction:
        """Return the product of a selection: of shares of the best value, or of values where some may go without."""
        result = Fraction(1)
        for (g, j), number in counts.items():
            group = self.plan.groups[g]
            share = group.shares[j] * (1 if self.goal.all_served else group.best[0])
            result *= share**number
        return result

    def logarithm(self, counts: Counts) -> float:
        """Return a selection's value of the model's objective, without the constant."""
        served = sum(number for (g, _), number in counts.items() if self.plan.groups[g].needs)
        return log_of(self.product(counts)) + self.goal.weight * served

    def best(self, without: int | None = None, start: Counts | None = None) -> Optimum:
        """Return the best selection, or the best without one app of a group.

        Parameters
        ----------
        without : int or None, optional
            The group that loses an app, None for all apps.
        start : Counts or None, optional
            A feasible selection, to be used if nothing better is found.
        """
        rows = self._rows(without)
        relaxed = self._relax(rows)
        incumbent = Optimum(start, self.product(start) if start else Fraction(0), np.inf, proven=False)
        if relaxed is None:
            return replace(incumbent, bound=self._most(rows))
        bound, reduced, point = relaxed
        if point is not None:
            incumbent = self._better(incumbent, point)
        self.partial = replace(incumbent, bound=bound)
        incumbent = self._close(rows, bound, reduced, incumbent)
        if not incumbent.proven:
            return incumbent
        found = self._settle(rows, bound, reduced, incumbent)
        # nothing within `NEAR` is larger as a rational, and nothing else was left: the selection is its own bound
        return replace(found, bound=self.logarithm(found.counts)) if found.exact and found.counts else found

    def read(self, optimum: Optimum) -> AuctionSolution:
        """Return the bundles of a selection that the model itself gave."""
        from gangopt.solvers.highs import load_values

        assert optimum.values is not None
        load_values(self._arrays, optimum.values)
        return self._form.read(self.model, self.instance)

    def _rows(self, without: int | None) -> tuple[Floats, Floats]:
        lower, upper = self._arrays.row_lower.copy(), self._arrays.row_upper.copy()
        if without is not None:
            at = self._group_row[without]
            lower[at], upper[at] = max(0.0, lower[at] - 1.0), upper[at] - 1.0
        return lower, upper

    def _most(self, rows: tuple[Floats, Floats]) -> float:
        """Return what the objective would be if every app had its best column."""
        best: dict[int, float] = {}
        for (g, _), j in self.columns.items():
            best[g] = max(best.get(g, 0.0 if self.plan.groups[g].needs else -np.inf), float(self._arrays.costs[j]))
        return float(sum(cost * rows[1][self._group_row[g]] for g, cost in best.items()))

    def _relax(self, rows: tuple[Floats, Floats]) -> tuple[float, Floats, Floats | None] | None:
        """Return bound, reduced costs and, if it is whole, the point of the linear relaxation; None if stopped."""
        self._relaxed.change_row_bounds(np.arange(len(rows[0])), *rows)
        self.solves += 1
        self._relaxed.limit_time(self._controls.remaining())
        outcome = self.last = self._relaxed.solve()
        if outcome.termination == "interrupted":
            raise KeyboardInterrupt
        if outcome.termination == "time_limit":
            return None
        if outcome.termination != "optimal" or outcome.values is None:
            raise SolverError(f"{self.instance.name}: the relaxation ended as {outcome.termination}: {outcome.message}")
        # a model that needs no solver has no duals; any prices prove a bound, also none
        duals = np.zeros(len(rows[0])) if outcome.row_duals is None else outcome.row_duals
        bound, reduced = self._lagrangian(duals, rows)
        whole = np.rint(outcome.values)
        near = np.abs(outcome.values - whole)[self._arrays.integer].max(initial=0.0) <= _WHOLE
        return bound, reduced, whole if near and self._feasible(whole, rows) else None

    def _lagrangian(self, duals: Floats, rows: tuple[Floats, Floats]) -> tuple[float, Floats]:
        """Return the bound that any row prices prove, and the reduced costs: at most 0 for a column that only costs."""
        lower, upper = rows
        prices = np.where(np.isfinite(upper), np.maximum(duals, 0.0), 0.0)
        prices += np.where(np.isfinite(lower), np.minimum(duals, 0.0), 0.0)
        reduced = self._arrays.costs - self._matrix.T @ prices
        sides = np.where(prices > 0, upper, np.where(prices < 0, lower, 0.0))
        # every column has the lower bound 0 and a finite upper bound
        return float(prices @ sides + np.maximum(reduced, 0.0) @ self._arrays.upper), reduced

    def _feasible(self, point: Floats, rows: tuple[Floats, Floats]) -> bool:
        activity = self._matrix @ point
        return bool(np.all(activity >= rows[0] - 1e-9) and np.all(activity <= rows[1] + 1e-9))

    def _better(self, incumbent: Optimum, point: Floats) -> Optimum:
        counts = {key: number for key, j in self.columns.items() if (number := round(float(point[j])))}
        product = self.product(counts)
        if incumbent.counts is not None:
            old = self._served(incumbent.counts), incumbent.product
            if (self._served(counts), product) <= old:
                return incumbent
        return replace(incumbent, counts=counts, product=product, values=point)

    def _served(self, counts: Counts) -> int:
        return sum(number for (g, _), number in counts.items() if self.plan.groups[g].needs)

    def _value(self, incumbent: Optimum) -> float:
        return -np.inf if incumbent.counts is None else self.logarithm(incumbent.counts)

    def _close(self, rows: tuple[Floats, Floats], bound: float, reduced: Floats, incumbent: Optimum) -> Optimum:
        """Solve cores until the incumbent is at least as good as all that they leave out."""
        depth = FIRST_DEPTH
        # a column with a negative reduced cost takes that much off the bound as soon as it is used once
        limit = bound + np.minimum(reduced, 0.0)
        while True:
            least = max(bound - depth, self._value(incumbent))
            if least >= bound - _CLOSED:
                return replace(incumbent, bound=bound, proven=True)
            self.partial = replace(incumbent, bound=bound)
            if self._controls.remaining() == 0:
                return self.partial
            outcome = self._core(rows, limit >= least - _CLOSED)
            if outcome.values is not None:
                incumbent = self._better(incumbent, self._whole_point)
            if outcome.termination not in {"optimal", "infeasible"}:
                inside = bound if outcome.bound is None else min(bound, outcome.bound - self.offset)
                return replace(incumbent, bound=max(inside, least), proven=False)
            value = self._value(incumbent)
            if value >= least - _CLOSED:
                return replace(incumbent, bound=value, proven=True)
            depth = 4 * depth if incumbent.counts is None else min(4 * depth, bound - value)
            if incumbent.counts is None and least < limit.min():
                raise SolverError(f"{self.instance.name}: the auction's model has no solution")

    def _core(
        self, rows: tuple[Floats, Floats], kept: NDArray[np.bool_], exclusion: Exclusion | None = None
    ) -> SolverOutcome:
        """Solve the model on some of its columns; `_whole_point` then has a value for every column."""
        from scipy.sparse import csc_matrix, hstack, vstack

        from gangopt.solvers.highs import LinearArrays, solve_arrays

        arrays = self._arrays
        matrix, lower, upper = self._matrix[:, kept], *rows
        costs, most, whole = arrays.costs[kept], arrays.upper[kept], arrays.integer[kept]
        if exclusion is not None:
            new = exclusion.switches
            kept_rows = np.concatenate([kept, np.ones(new, dtype=np.bool_)])
            matrix = vstack([hstack([matrix, csc_matrix((len(lower), new))]), exclusion.matrix[:, kept_rows]])
            lower = np.concatenate([lower, exclusion.lower])
            upper = np.concatenate([upper, np.full(len(exclusion.lower), np.inf)])
            costs, most = np.append(costs, np.zeros(new)), np.append(most, np.ones(new))
            whole = np.append(whole, np.ones(new, dtype=np.bool_))
        part = LinearArrays.from_matrix(
            costs, matrix, lower, upper, 0.0, most, whole, sense="maximise", offset=arrays.offset
        )
        self.solves += 1
        outcome = self.last = solve_arrays(part, replace(self._settings, time_limit=self._controls.remaining()))
        if outcome.termination == "interrupted":
            raise KeyboardInterrupt
        if outcome.termination in {"error", "unbounded"}:
            raise SolverError(f"{self.instance.name}: the core ended as {outcome.termination}: {outcome.message}")
        self._whole_point = np.zeros(arrays.n_columns)
        if outcome.values is not None:
            self._whole_point[kept] = outcome.values[: int(kept.sum())]
        return outcome

    def _settle(self, rows: tuple[Floats, Floats], bound: float, reduced: Floats, incumbent: Optimum) -> Optimum:
        """Compare every other selection within `NEAR` of the incumbent with it, as exact rationals."""
        limit = bound + np.minimum(reduced, 0.0)
        seen: list[Seen] = []
        assert incumbent.counts is not None
        last = incumbent.counts
        for compared in range(MOST_NEAR + 1):
            kept = limit >= self._value(incumbent) - NEAR
            usable = [(key, j) for key, j in self.columns.items() if kept[j]]
            if not seen and len(usable) == len(last):
                return replace(incumbent, exact=True)
            seen.append(self._seen(usable, last))
            outcome = self._core(rows, kept, Exclusion.of(seen, self._arrays.n_columns))
            if outcome.termination not in {"optimal", "infeasible"}:
                return replace(incumbent, compared=compared)
            if outcome.values is None:
                return replace(incumbent, compared=compared, exact=True)
            point = self._whole_point
            last = {key: number for key, j in self.columns.items() if (number := round(float(point[j])))}
            if self.logarithm(last) < self._value(incumbent) - NEAR:
                return replace(incumbent, compared=compared, exact=True)
            incumbent = self._better(incumbent, point)
        return replace(incumbent, compared=MOST_NEAR)

    def _seen(self, usable: Sequence[tuple[tuple[int, int], int]], counts: Counts) -> Seen:
        """Return a selection by kinds of columns: those of one factor, for as many apps of each group in any case."""
        kinds: dict[tuple[bool, Fraction], list[tuple[tuple[int, int], int]]] = {}
        for (g, j), position in usable:
            group = self.plan.groups[g]
            # where every app has a column, the first column of its group may be its unit
            factor = group.shares[j] * (1 / group.shares[0] if self.goal.all_served else group.best[0])
            kinds.setdefault((group.needs, factor), []).append(((g, j), position))
        return Seen(
            tuple(
                (
                    tuple(position for _, position in items),
                    sum(counts.get(key, 0) for key, _ in items),
                    sum(self.plan.groups[g].size for g in {g for (g, _), _ in items}),
                )
                for items in kinds.values()
            )
        )
