"""Exact max-min finish-time fairness: lexicographic optimisation by thresholds on V = 1 / rho."""

from __future__ import annotations

import time
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any

from gangopt.base.errors import InfeasibleError, SolverError
from gangopt.base.interrupts import unless_interrupted
from gangopt.formulations.deadline import OutOfTime, building_within
from gangopt.formulations.fair_share.certificates import add_allocation, read_allocation, useful_bundles
from gangopt.formulations.fair_share.options import cheapest, require_option
from gangopt.formulations.rows import sum_of_terms
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.market import bundles_of, rows_of
from gangopt.instances.fair_share.solution import FairShareSolution
from gangopt.solvers.core.contract import Controls, Outcome, Termination, Trajectory
from gangopt.solvers.fair_share.heuristics import greedy_allocation

__all__ = ["exact"]


def exact(instance: FairShareInstance, controls: Controls, *, refine: bool = True) -> Outcome:
    """Minimise the largest rho, then the second largest among those optima, and so on to the last app.

    V takes finitely many values, so the smallest V of an optimum is the greatest one at which a packing model is
    feasible; it is found by bisection. Each model keeps, for each app and place, only the smallest bundle worth a
    threshold. The other apps are settled in the same way, with rows that count the apps below each settled threshold:
    first the next threshold, then the minimum number of apps at it.

    Parameters
    ----------
    instance : FairShareInstance
        Apps and GPUs.
    controls : Controls
        Settings of the call.
    refine : bool, optional
        Whether to continue after the largest rho.

    Returns
    -------
    Outcome
        Metric `settled_apps` counts the apps whose rank is proven.

    Raises
    ------
    InfeasibleError
        If not every app can get a value above 0.
    """
    search = None
    termination: Termination = "optimal"
    reason = None
    try:
        with building_within(controls.remaining):
            search = _Search(instance, controls)
            search.begin()
            while search.settled < len(search.options) and (refine or not search.settled):
                if not search.stage():
                    termination = "time_limit"
                    break
    except OutOfTime as stop:
        termination, reason = "time_limit", str(stop)
    except KeyboardInterrupt:
        termination, reason = "interrupted", "interrupted by the user"
    if search is None:
        return Outcome(termination, None, None, reason=reason)
    if termination == "time_limit" and search.settled:
        reason = f"the order is proven for {search.settled} of {len(search.options)} apps"
    return search.outcome(termination, reason)


@dataclass(frozen=True)
class _Cap:
    """At most `count` apps have V below `value`."""

    value: float
    count: int


class _Search:
    """State of one call: the incumbent, the settled thresholds, and the models solved."""

    def __init__(self, instance: FairShareInstance, controls: Controls) -> None:
        self.instance, self.market, self.controls = instance, instance.market, controls
        self.options = [[item for item in mine if item.value > 0] for mine in useful_bundles(self.market)]
        require_option(self.market, self.options)
        self.values = sorted({item.value for mine in self.options for item in mine})
        self.best = sorted(max(item.value for item in mine) for mine in self.options)
        self.caps: list[_Cap] = []
        self.settled = 0
        self.given: tuple[tuple[int, ...], ...] | None = None
        self.reached: list[float] = []
        self.ceiling = self.best[0]
        self.trajectory: Trajectory = []
        self.build_seconds, self.models = 0.0, 0
        self.solver, self.version = "", ""
        self.solver_options: dict[str, Any] = {}

    def begin(self) -> None:
        """Offer the given start and the greedy allocation."""
        if self.controls.start is not None:
            self._take(rows_of(self.controls.start.bundles, len(self.instance.machines)))
        self._take(greedy_allocation(self.market))

    def _take(self, given: tuple[tuple[int, ...], ...]) -> None:
        """Keep an allocation that serves every app, if it is lexicographically better than the incumbent."""
        reached = sorted(self.market.value(i, row) for i, row in enumerate(given))
        if reached[0] and reached > self.reached:
            self.given, self.reached = given, reached
            self._report()

    def _report(self) -> None:
        objective = None if self.given is None else 1 / self.reached[0]
        self.controls.note(self.trajectory, objective, 1 / self.ceiling)

    def stage(self) -> bool:
        """Settle the next threshold and the apps at it; return False if time runs out."""
        threshold = self._highest_threshold()
        if threshold is None:
            return False
        self.caps.append(_Cap(threshold, self.settled))
        above = bisect_left(self.values, threshold) + 1
        if above == len(self.values):
            self.settled = len(self.options)
            return True
        count = self._fewest_below(self.values[above])
        if count is None:
            return False
        self.caps.append(_Cap(self.values[above], count))
        self.settled = count
        return True

    def _highest_threshold(self) -> float | None:
        """Bisect for the greatest value that all but the settled apps can have together; None if time runs out."""
        low = 0 if not self.caps else bisect_left(self.values, self.caps[-1].value)
        high = bisect_left(self.values, self.best[self.settled])
        if self.given is None:
            found = self.solve([_Cap(self.values[0], 0)])
            if found is None:
                return None
            if not found:
                raise InfeasibleError("everyone_served: no allocation gives every app a value above 0")
        while True:
            low = max(low, self._reached_index())
            if low >= high:
                return self.values[high]
            middle = (low + high + 1) // 2
            verdict = self.solve([_Cap(self.values[middle], self.settled)])
            if verdict is None:
                return None
            low, high = (middle, high) if verdict else (low, middle - 1)
            if not self.settled:
                self.ceiling = self.values[high]
                self._report()

    def _reached_index(self) -> int:
        value = self.reached[self.settled]
        at = bisect_left(self.values, value)
        return at if at < len(self.values) and self.values[at] <= value else at - 1

    def _fewest_below(self, value: float) -> int | None:
        """Return the least number of apps below a value; None if time runs out."""
        found = self.solve([], value)
        if found is None:
            return None
        if not found:
            raise SolverError(f"{self.instance.name}: a known allocation is infeasible in a later model")
        return sum(item < value for item in self.reached)

    def solve(self, more: list[_Cap], fewest_below: float | None = None) -> bool | None:
        """Search for an allocation within the settled and further caps, and keep it.

        Parameters
        ----------
        more : list of _Cap
            Caps in addition to the settled ones.
        fewest_below : float or None, optional
            A value; minimise the number of apps below it.

        Returns
        -------
        bool or None
            Whether there is one; None if time runs out.
        """
        from gangopt.solvers.core.by_form import settings_of
        from gangopt.solvers.highs import solve_model

        begin = time.perf_counter()
        try:
            model = self._model([*self.caps, *more], fewest_below)
        except InfeasibleError:
            return False
        self.build_seconds += time.perf_counter() - begin
        settings = replace(settings_of(self.controls), rel_gap=0.0, explain=False, on_progress=None)
        solved = solve_model(model, settings)
        self.models += 1
        self.solver, self.version, self.solver_options = solved.solver, solved.version, solved.options
        if solved.termination == "infeasible":
            return False
        if solved.values is not None:
            self._take(read_allocation(model, self.market))
        unless_interrupted(solved)
        return True if solved.termination == "optimal" else None

    def _model(self, caps: list[_Cap], fewest_below: float | None) -> Any:
        from pyomo.environ import ConcreteModel, Constraint, Objective

        thresholds = sorted({cap.value for cap in caps} | ({fewest_below} if fewest_below is not None else set()))
        options = cheapest(self.options, thresholds)
        require_option(self.market, options)
        model = ConcreteModel(name=self.instance.name)
        variable = add_allocation(model, self.market, options)

        def below(value: float) -> list[tuple[float, Any]]:
            return [(1.0, var) for item, var in variable.items() if item.value < value]

        limits = [(terms, cap.count) for cap in caps if (terms := below(cap.value))]
        model.apps_below = Constraint(
            range(len(limits)), rule=lambda _, k: (None, sum_of_terms(limits[k][0]), limits[k][1])
        )
        counted = [] if fewest_below is None else below(fewest_below)
        model.objective = Objective(expr=sum_of_terms(counted) if counted else 0.0)
        return model

    def outcome(self, termination: Termination, reason: str | None) -> Outcome:
        """Return the Outcome of the call."""
        elapsed = self.controls.elapsed()
        return Outcome(
            termination=termination,
            solution=None if self.given is None else FairShareSolution(bundles_of(self.given)),
            bound=1 / self.ceiling,
            form="places" if self.market.held.any() else "patterns",
            build_seconds=self.build_seconds,
            solve_seconds=elapsed - self.build_seconds,
            trajectory=tuple(self.trajectory),
            solver=self.solver,
            version=self.version,
            options=self.solver_options,
            metrics={"settled_apps": self.settled, "models": self.models},
            reason=reason,
        )
