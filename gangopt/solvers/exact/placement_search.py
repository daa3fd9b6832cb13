"""What the exact method of `placement` knows while it runs: the best placement, the bound, and their history."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from gangopt.formulations.placement_data import Level, PlacementData
from gangopt.instances.placement import PlacementInstance
from gangopt.instances.placement_reasons import paused_reasons
from gangopt.instances.placement_solution import PlacementSolution
from gangopt.solvers.contract import Controls, Outcome, ProgressEvent, Termination
from gangopt.solvers.exact.by_form import settings_of
from gangopt.solvers.exact.clock import OutOfTime
from gangopt.solvers.exact.placement_neighbourhoods import Held
from gangopt.solvers.highs import SolverOutcome, SolveSettings

__all__ = ["Search"]

GAP = 1e-10
"""Relative gap at which an optimum counts as proven inside this method; what is reported is proven to 1e-9."""


@dataclass
class Search:
    """State of one call.

    Attributes
    ----------
    instance, controls : what is solved, and how
    data, levels : the instance in whole numbers, and the levels of every job, once they are known
    rng : of all random choices
    solution, objective, bound : best placement by the judge, its objective, and the best proven bound
    """

    instance: PlacementInstance
    controls: Controls
    data: PlacementData
    rng: np.random.Generator
    levels: list[list[Level]] = field(default_factory=list)
    solution: PlacementSolution | None = None
    objective: float = math.inf
    bound: float = -math.inf
    trajectory: list[tuple[float, float | None, float | None]] = field(default_factory=list)
    build_seconds: float = 0.0
    metrics: dict[str, float] = field(default_factory=dict)
    version: str = ""

    def offer(self, solution: PlacementSolution | None = None, bound: float = -math.inf) -> None:
        """Take a placement if it is better, and a bound if it is better.

        Parameters
        ----------
        solution : a feasible placement, or None
        bound : a proven bound in seconds
        """
        before = (self.objective, self.bound)
        if solution is not None:
            objective = self.instance.evaluate(solution).objective
            if objective < self.objective:
                self.objective, self.solution = objective, solution
        self.bound = max(self.bound, min(bound, self.objective))
        if before != (self.objective, self.bound):
            known = None if math.isinf(self.bound) else self.bound
            self.trajectory.append((self.controls.elapsed(), self.objective, known))
            if self.controls.on_progress is not None:
                self.controls.on_progress(ProgressEvent(*self.trajectory[-1]))

    def offer_held(self, held: Held) -> None:
        """Take the placement of these pieces if it is better; the other jobs are paused."""
        pieces = [held.get(j, ()) for j in range(len(self.instance.jobs))]
        self.offer(PlacementSolution(tuple(pieces), paused_reasons(self.instance, pieces)))

    @property
    def done(self) -> bool:
        """Whether the bound meets the best placement to the gap that was asked for."""
        if math.isinf(self.bound) or math.isinf(self.objective):
            return False
        return self.objective - self.bound <= max(self.controls.rel_gap, GAP) * abs(self.bound)

    def settings(self, cap: float | None = None) -> SolveSettings:
        """Return the settings of a solve inside the method.

        Parameters
        ----------
        cap : most wall seconds for it, None for all that are left

        Returns
        -------
        SolveSettings

        Raises
        ------
        OutOfTime
            If no time is left.
        """
        settings = settings_of(self.controls)
        left = [item for item in (settings.time_limit, cap) if item is not None]
        if settings.time_limit is not None and settings.time_limit <= 0:
            raise OutOfTime("the time is over")
        return replace(settings, time_limit=min(left, default=None), on_progress=None)

    def seen(self, outcome: SolverOutcome) -> None:
        """Note what a solve inside the method says about the solver; Ctrl-C during it ends the method."""
        self.version = outcome.version
        if outcome.termination == "interrupted":
            raise KeyboardInterrupt

    def outcome(self, termination: Termination, started: float, reason: str | None = None) -> Outcome:
        """Return what was found and proved.

        Parameters
        ----------
        termination : why the method stopped
        started : seconds since the start of the call when it began
        reason : why there is no proof, where the termination does not say

        Returns
        -------
        Outcome
        """
        return Outcome(
            termination=termination,
            solution=self.solution,
            bound=None if math.isinf(self.bound) else self.bound,
            form="levels" if self.version else "combinatorial",
            build_seconds=self.build_seconds,
            solve_seconds=self.controls.elapsed() - started - self.build_seconds,
            trajectory=tuple(self.trajectory),
            solver="highs" if self.version else "",
            version=self.version,
            metrics=dict(self.metrics),
            reason=reason,
        )
