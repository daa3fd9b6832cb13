r"""Exact method of `allocation`: Lagrangian bound, reduced-cost fixing, and a core model that proves the optimum.

1. The prices of the resources that maximise the Lagrangian bound :math:`L` are found by cutting planes.
2. A solution that uses a configuration with reduced cost :math:`\bar t` costs at least :math:`L + \bar t`. Only the
   columns with :math:`\bar t` below a threshold are kept, and HiGHS solves formulation `counts` on them.
3. Every solution either uses kept columns only, and then the bound of the core model holds, or uses another one, and
   then it costs at least L plus the threshold. The smaller of the two is a bound for all. If it is below the incumbent,
   the threshold becomes incumbent - L, beyond which no better solution can lie, and step 2 is done once more.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InfeasibleError, NoSolutionError
from gangopt.formulations.deadline import building_within
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.solvers.allocation.core import CoreAnswer, objective_unit, solve_core
from gangopt.solvers.allocation.dual import Dual, PricedGrids, Selection, maximise_bound
from gangopt.solvers.allocation.moves import seed_configurations, to_solution
from gangopt.solvers.core.clock import Clock, OutOfTime
from gangopt.solvers.core.contract import Controls, Outcome, Termination
from gangopt.solvers.core.incumbent import GAP, Incumbent

__all__ = ["exact"]

FIRST_COLUMNS = 300
"""Columns beyond the cheapest of each class in the first core model."""

GROWTH = 8
"""Factor on these columns when the core model turns out infeasible."""


@dataclass
class _State(Incumbent):
    """Incumbent, bound, and counts of the core models solved."""

    cores: int = 0
    core_columns: int = 0
    evaluations: int = 0

    def offer(self, solution: AllocationSolution | None = None, bound: float | None = None) -> None:
        """Take a solution if the checker finds it feasible and better, and a bound if it is better."""
        super().offer(None if solution is None or self.instance.check(solution) else solution, bound)

    def outcome(self, termination: Termination, reason: str | None = None) -> Outcome:
        """Return the Outcome of what is known."""
        self.metrics = {
            "core_models": self.cores,
            "core_columns": self.core_columns,
            "bound_evaluations": self.evaluations,
        }
        return self.concluded(termination, reason, "counts" if self.cores else "dual")


def exact(instance: AllocationInstance, controls: Controls) -> Outcome:
    """Return an allocation with the least sum of completion times, and the proof.

    Parameters
    ----------
    instance : AllocationInstance
        The allocation.
    controls : Controls
        Settings of the call.

    Returns
    -------
    Outcome
        `optimal` with a bound within 1e-9 of the objective; out of time or interrupted, the incumbent and the bound
        proven until then.

    Raises
    ------
    InfeasibleError
        If no allocation fits; the message names the resource and the excess, or the resources that conflict.
    """
    state = _State(instance, controls)
    try:
        return _exact(state)
    except OutOfTime as stop:
        return state.outcome("time_limit", str(stop))
    except KeyboardInterrupt:
        return state.outcome("interrupted")


def _exact(state: _State) -> Outcome:
    instance, controls = state.instance, state.controls
    state.offer(controls.start)
    try:
        seed = seed_configurations(instance)
        state.offer(to_solution(seed.ps, seed.workers))
    except NoSolutionError:
        pass  # the smallest configurations do not fit, but others may: leave the decision to the core models
    begin = time.perf_counter()
    clock = Clock(controls.remaining())
    grids = PricedGrids(instance, clock)
    state.build_seconds += time.perf_counter() - begin
    dual = maximise_bound(grids)
    state.evaluations = len(dual.selections)
    base = dual.base()
    state.offer(_best_feasible(grids, instance, dual), base.bound)
    if state.proven():
        return state.outcome("optimal")
    clock.require()
    return _solve_cores(state, grids, base)


def _best_feasible(grids: PricedGrids, instance: AllocationInstance, dual: Dual) -> AllocationSolution | None:
    feasible = [item for item in dual.selections if (item.use <= grids.capacity).all()]
    if not feasible:
        return None
    best = min(feasible, key=lambda item: item.seconds)
    ps, workers = np.empty(len(instance.jobs), dtype=np.int64), np.empty(len(instance.jobs), dtype=np.int64)
    for k, members in enumerate(grids.classes):
        ps[members], workers[members] = best.ps[k], best.workers[k]
    return to_solution(ps, workers)


def _solve_cores(state: _State, grids: PricedGrids, base: Selection) -> Outcome:
    wanted = FIRST_COLUMNS
    threshold = min(grids.smallest_reduced_costs(base, wanted), _useful(state, base))
    while True:
        whole = threshold >= _useful(state, base)
        answer = _core(state, grids, base, threshold)
        # a solution outside the core uses a column whose reduced cost reaches the threshold; an infeasible core gives
        # no bound, because a false claim of infeasibility could not be detected
        if answer.bound is not None:
            state.offer(answer.solution, min(answer.bound, base.bound + threshold))
        if whole and state.solution is not None and answer.outcome.termination == "infeasible":
            return state.outcome("error", "HiGHS reports the core model infeasible, but it contains a known allocation")
        if answer.outcome.termination in {"time_limit", "interrupted", "error"}:
            return state.outcome(answer.outcome.termination, answer.outcome.message)
        if state.solution is None and math.isinf(threshold):
            raise InfeasibleError(_conflict(instance=state.instance, answer=answer))
        if state.proven():
            return state.outcome("optimal")
        if math.isinf(threshold) or threshold >= _useful(state, base):
            return state.outcome("error", "the core model ended with a gap above the requested one")
        wanted *= GROWTH
        threshold = _useful(state, base)
        if math.isinf(threshold):
            threshold = grids.smallest_reduced_costs(base, wanted)


def _useful(state: _State, base: Selection) -> float:
    """Return the reduced cost, in seconds, from which on a column cannot be part of a better solution."""
    return max(0.0, state.objective - base.bound) * (1 + 1e-12)


def _core(state: _State, grids: PricedGrids, base: Selection, threshold: float) -> CoreAnswer:
    from gangopt.solvers.highs import Progress, SolveSettings

    controls = state.controls
    columns, reduced = grids.columns_within(base, threshold)
    unit = objective_unit(base, reduced)

    def forward(progress: Progress) -> None:
        if progress.bound is not None:
            state.offer(bound=min(base.bound + unit * progress.bound, base.bound + threshold))

    settings = SolveSettings(
        time_limit=controls.remaining(),
        abs_gap=max(GAP, controls.rel_gap) * abs(base.bound) / unit,
        threads=controls.threads,
        seed=controls.seed,
        on_progress=forward,
        explain=math.isinf(threshold),
    )
    with building_within(controls.remaining):
        answer = solve_core(state.instance, columns, reduced, base, settings)
    state.cores += 1
    state.core_columns = len(reduced)
    state.build_seconds += answer.build_seconds
    state.version, state.options = answer.outcome.version, answer.outcome.options
    return answer


def _conflict(instance: AllocationInstance, answer: CoreAnswer) -> str:
    named = [
        r for r in instance.resources if any(f"resource_capacity[{r}]" in rule for rule in answer.outcome.conflict)
    ]
    which = " and ".join(named or instance.resources)
    return f"resource_capacity: no choice of configurations keeps {which} within capacity together"
