"""State of the exact method of `placement`: the best placement, the bound, and their history."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gangopt.formulations.placement import Levels
from gangopt.formulations.placement.data import Level, PlacementData
from gangopt.instances.placement.reasons import paused_reasons
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.solvers.core.by_form import settings_of
from gangopt.solvers.core.clock import OutOfTime, keeps_limit
from gangopt.solvers.core.contract import Outcome, Termination
from gangopt.solvers.core.incumbent import Incumbent
from gangopt.solvers.highs import SolverOutcome, SolveSettings
from gangopt.solvers.placement.neighbourhoods import Held

__all__ = ["Search", "was_quick"]

PART_NODES = 500
"""Maximum branch-and-bound nodes for one part of a placement."""

PART_SECONDS = 2.0
"""Maximum wall seconds for one part of a placement under a time limit."""

QUICK_NODES, QUICK_COLUMNS = 50, 4_000
"""Maximum nodes and columns of a part that counts as quickly solved."""


@dataclass(kw_only=True)
class Search(Incumbent):
    """State of one call.

    Attributes
    ----------
    data, levels : PlacementData or list of list of Level
        The instance in integers, and the levels of every job once they are known.
    rng : numpy.random.Generator
        Generator of all random choices.
    """

    data: PlacementData
    rng: np.random.Generator
    levels: list[list[Level]] = field(default_factory=list)

    def offer_held(self, held: Held) -> None:
        """Keep the placement of these pieces, with all other jobs paused, if it is better."""
        pieces = [held.get(j, ()) for j in range(len(self.instance.jobs))]
        self.offer(PlacementSolution(tuple(pieces), paused_reasons(self.instance, pieces)))

    def settings(self) -> SolveSettings:
        """Return the settings of a solve inside the method.

        Raises
        ------
        OutOfTime
            If no time is left.
        """
        settings = settings_of(self.controls)
        if settings.time_limit is not None and settings.time_limit <= 0:
            raise OutOfTime("time limit reached")
        return replace(settings, on_progress=None)

    def part_settings(self) -> SolveSettings:
        """Return the settings of a solve of one part, which ends early.

        It ends after a number of nodes, so that results without a time limit are reproducible; with a time limit also
        after `PART_SECONDS`.
        """
        settings = self.settings()
        left = None if settings.time_limit is None else min(settings.time_limit, PART_SECONDS)
        return replace(settings, time_limit=left, options={"mip_max_nodes": PART_NODES})

    def is_watched(self, nonzeros: int) -> bool:
        """Return whether HiGHS checks the clock often enough in a MIP of this size to keep the time limit."""
        return keeps_limit(nonzeros * Levels.unwatched, self.controls.time_limit)

    def seen(self, outcome: SolverOutcome) -> None:
        """Record version and options of the solver from an inner solve; Ctrl-C during it ends the method."""
        self.version = outcome.version
        if outcome.termination == "interrupted" and not _ran_out_of_nodes(outcome):
            raise KeyboardInterrupt

    def outcome(self, termination: Termination, reason: str | None = None) -> Outcome:
        """Return the Outcome of the call; `reason` explains a missing proof."""
        return self.concluded(termination, reason, "levels" if self.version else "combinatorial")


def was_quick(outcome: SolverOutcome) -> bool:
    """Return whether a part was solved so quickly that a larger one is worth trying."""
    columns = 0 if outcome.values is None else len(outcome.values)
    ended = outcome.termination in {"optimal", "infeasible"}
    return ended and (outcome.nodes or 0) <= QUICK_NODES and columns <= QUICK_COLUMNS


def _ran_out_of_nodes(outcome: SolverOutcome) -> bool:
    return outcome.nodes is not None and outcome.nodes >= PART_NODES
