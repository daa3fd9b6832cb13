"""Exact network placement: combinatorial bounds, packing rules, and level models for the remaining gap."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Literal

from gangopt.base.errors import InfeasibleError, NoSolutionError
from gangopt.base.types import Pyomo
from gangopt.formulations.deadline import OutOfTime, building_within
from gangopt.instances.network_placement.instance import NetworkPlacementInstance
from gangopt.solvers.core.clock import Clock
from gangopt.solvers.core.contract import Controls, Outcome, Termination
from gangopt.solvers.core.incumbent import Incumbent
from gangopt.solvers.network_placement.bounds import Reduced, lower_bound, reduce_machines
from gangopt.solvers.network_placement.heuristics import greedy_load
from gangopt.solvers.network_placement.improve import improve
from gangopt.solvers.network_placement.packing import RULES, Packer, Packing, require_room

if TYPE_CHECKING:
    from gangopt.solvers.highs import SolveSettings

__all__ = ["exact"]

_PROVEN = 4e-10
"""Relative step below the incumbent at which nothing may fit; smaller than the tolerance of a proven optimum."""

_NARROW = 2e-6
"""Relative gap below which a fixed level is too close to the incumbent, so that the load is minimised instead."""

_HALVINGS = 50

_TOLERANCES = {"mip_feasibility_tolerance": 1e-9, "primal_feasibility_tolerance": 1e-9}
"""Rows are in model sizes, so that these resolve the step of `_PROVEN`."""


def exact(
    instance: NetworkPlacementInstance, controls: Controls, *, search: Literal["window", "bisection"] = "window"
) -> Outcome:
    """Minimise the largest load over all placements of the job, and prove the optimum.

    Machines that some optimum leaves empty are dropped. Relaxations solved by dynamic programming give the lower bound;
    packing rules, bisected over the level, and exchanges give the incumbent. If they do not meet, formulation `level`
    is built once on the remaining machines, and its levels are moved by changing its parameters:

    - `window` minimises T between bound and incumbent, then searches below the new incumbent;
    - `bisection` repeatedly fixes T midway and packs, and minimises over the last millionths.

    Both end when nothing fits below (1 - 4e-10) times the incumbent, or at the requested relative gap. If the solver's
    tolerances hide the rest of the gap, the termination is `completed`, with the proven bound.

    Parameters
    ----------
    instance : NetworkPlacementInstance
        Machines and job.
    controls : Controls
        Settings of the call.
    search : {'window', 'bisection'}, optional
        How the level models close the gap.

    Raises
    ------
    InfeasibleError
        If GPUs or resources do not suffice; the message names the constraint.
    """
    run = _Run(instance, controls)
    termination: Termination = "optimal"
    reason = None
    try:
        run.combinatorial()
        if not run.closed():
            termination, reason = run.levels(search)
    except OutOfTime as stop:
        termination, reason = "time_limit", str(stop)
    except KeyboardInterrupt:
        termination, reason = "interrupted", "interrupted by the user"
    return run.outcome(termination, reason)


class _Run(Incumbent):
    """State of one call; levels are in MiB per iteration."""

    def __init__(self, instance: NetworkPlacementInstance, controls: Controls) -> None:
        super().__init__(instance, controls, bound=float(instance.traffic.max()))
        self.clock = Clock(controls.remaining())
        self.reduced: Reduced = reduce_machines(instance, self.clock)
        require_room(instance, self.reduced)
        self.packer = Packer(instance, self.reduced, self.clock)
        self.models = 0
        self.offer(controls.start)

    def closed(self) -> bool:
        """Return whether the requested gap, or that of a proven optimum, is reached."""
        return self.proven(2 * _PROVEN)

    def combinatorial(self) -> None:
        """Bound, pack at levels between bound and incumbent, and exchange."""
        reduced, scale = self.reduced, self.reduced.scale
        # a rule that takes almost no time, so that there is a solution at any time limit
        with contextlib.suppress(NoSolutionError):
            self.offer(greedy_load(self.instance))
        highest = reduced.background + reduced.workers
        best = self._packed(highest)
        low = lower_bound(reduced, highest if best is None else best.level, self.clock)
        self.offer(bound=low * scale)
        if best is None:
            return
        best = self._better(self._packed(low), best)
        tried = low
        for _ in range(_HALVINGS):
            if self.closed() or best.level - tried <= 1e-6 * tried:
                break
            middle = (tried + best.level) / 2
            found = self._packed(middle)
            if found is None:
                tried = middle
            best = self._better(found, best)
        if not self.closed():
            self._better(improve(self.packer, reduced, best, low, self.controls.seed), best)

    def _packed(self, level: float) -> Packing | None:
        found = [item for rule in RULES if (item := self.packer.pack(level, rule)) is not None]
        return min(found, key=lambda item: item.level, default=None)

    def _better(self, found: Packing | None, best: Packing) -> Packing:
        candidate = best if found is None or found.level >= best.level else found
        self.offer(candidate.solution(self.instance, self.reduced))
        return candidate

    def levels(self, search: Literal["window", "bisection"]) -> tuple[Termination, str | None]:
        """Close the gap by level models; return why it stopped and, if early, a reason."""
        self.clock.require()
        model = self._model()
        while not self.closed():
            self.clock.require()
            before = (self.objective, self.bound)
            stopped = self._solve_between(model, *self._next_levels(search))
            if stopped is not None:
                return stopped
            if before == (self.objective, self.bound):
                if search == "window":
                    return "completed", "the solver's tolerances do not resolve the rest of the gap"
                search = "window"
        return "optimal", None

    def _next_levels(self, search: Literal["window", "bisection"]) -> tuple[float, float]:
        if self.solution is None:
            return self.bound, self._ceiling()
        if search == "bisection" and self.objective - self.bound > _NARROW * self.objective:
            middle = (self.bound + self.objective) / 2
            return middle, middle
        return self.bound, self.objective * (1 - _PROVEN)

    def _ceiling(self) -> float:
        return float(self.instance.traffic.max() + self.reduced.scale * self.instance.workers)

    def _model(self) -> Pyomo:
        from gangopt.formulations.network_placement import Level

        begin = time.perf_counter()
        with building_within(self.controls.remaining):
            model = Level(machines=self.reduced.machines.tolist()).model(self.instance)
        self.build_seconds += time.perf_counter() - begin
        return model

    def _solve_between(self, model: Pyomo, lowest: float, highest: float) -> tuple[Termination, str | None] | None:
        from dataclasses import replace

        from gangopt.formulations.network_placement import level, set_levels
        from gangopt.solvers.core.by_form import settings_of
        from gangopt.solvers.highs import solve_model

        set_levels(model, self.instance, lowest, highest)
        settings = replace(settings_of(self.controls), options=_TOLERANCES, explain=False, on_progress=None)
        solved = solve_model(model, settings)
        self.models += 1
        self.version, self.options = solved.version, solved.options
        if solved.termination == "infeasible":
            if self.solution is None:
                names = ", ".join(self.instance.resources)
                raise InfeasibleError(f"resource_capacity ({names}): no set of machines holds all tasks together")
            if self._rejects_the_known(model, lowest, settings):
                return "error", "HiGHS reports the model infeasible even at levels that hold the known placement"
            self.offer(bound=highest)
            return None
        if solved.values is not None:
            solution = level.read(model, self.instance)
            if not self.instance.check(solution):
                self.offer(solution)
        if solved.bound is not None and lowest < highest:
            # the model only covers levels up to `highest`, so its bound proves nothing above
            self.offer(bound=min(solved.bound, highest))
        if solved.termination == "optimal":
            return None
        return solved.termination, solved.message

    def _rejects_the_known(self, model: Pyomo, lowest: float, settings: SolveSettings) -> bool:
        """Return whether HiGHS also reports the model infeasible when it contains the known placement.

        At levels too low for the known placement, nothing else can contradict a claim of infeasibility.
        """
        from gangopt.formulations.network_placement import level, set_levels
        from gangopt.solvers.highs import solve_model

        workers, hosts = self.solution.workers, set(self.solution.ps_hosts)
        if any((i, w) not in model.choose for i, w in enumerate(workers) if w or i in hosts):
            return False
        set_levels(model, self.instance, lowest, self.objective * (1 + _NARROW))
        level.hint(model, self.instance, self.solution)
        chosen = [variable for name in ("choose", "place") for variable in getattr(model, name).values()]
        for variable in chosen:
            variable.fix()
        solved = solve_model(model, settings)
        for variable in chosen:
            variable.unfix()
        return solved.termination == "infeasible"

    def outcome(self, termination: Termination, reason: str | None) -> Outcome:
        """Return the Outcome of the call."""
        self.metrics = {"level_models": self.models, "machines_modelled": len(self.reduced.machines)}
        return self.concluded(termination, reason, "level" if self.models else "combinatorial")
