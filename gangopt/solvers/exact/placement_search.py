"""What the exact method of `placement` knows while it runs: the best placement, the bound, and their history."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gangopt.formulations.placement_data import Level, PlacementData
from gangopt.instances.placement_reasons import paused_reasons
from gangopt.instances.placement_solution import PlacementSolution
from gangopt.solvers.contract import Outcome, Termination
from gangopt.solvers.exact.by_form import settings_of
from gangopt.solvers.exact.clock import OutOfTime
from gangopt.solvers.exact.incumbent import Incumbent
from gangopt.solvers.exact.placement_neighbourhoods import Held
from gangopt.solvers.highs import SolverOutcome, SolveSettings

__all__ = ["Search"]


@dataclass(kw_only=True)
class Search(Incumbent):
    """State of one call.

    Attributes
    ----------
    data, levels : the instance in whole numbers, and the levels of every job, once they are known
    rng : of all random choices
    """

    data: PlacementData
    rng: np.random.Generator
    levels: list[list[Level]] = field(default_factory=list)

    def offer_held(self, held: Held) -> None:
        """Take the placement of these pieces if it is better; the other jobs are paused."""
        pieces = [held.get(j, ()) for j in range(len(self.instance.jobs))]
        self.offer(PlacementSolution(tuple(pieces), paused_reasons(self.instance, pieces)))

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

    def outcome(self, termination: Termination, reason: str | None = None) -> Outcome:
        """Return what was found and proved; reason says why there is no proof, where the termination does not."""
        return self.concluded(termination, reason, "levels" if self.version else "combinatorial")
