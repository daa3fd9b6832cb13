"""Base class of the formulations of `placement`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.placement.data import Level, PlacementData, levels_of
from gangopt.formulations.placement.focus import sharpened
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["LevelsFormulation", "PlacementFormulation"]


class PlacementFormulation(Formulation[PlacementInstance, PlacementSolution]):
    """A model whose objective is a time, which is never negative, plus charges for paused jobs."""

    sense = "minimise"

    def report(self, instance: PlacementInstance, value: float) -> float:
        """Return the objective of the problem, at least 0 (rounding may take the model's value below)."""
        del instance
        return max(0.0, value)

    def sharpen(self, model: Pyomo, instance: PlacementInstance, objective: float, *, agreed: bool) -> float | None:
        """Rescale the objective of a model whose solution shows that its coefficients differ too much."""
        return sharpened(model, instance, objective, agreed=agreed)


@dataclass(frozen=True, eq=False)
class LevelsFormulation(PlacementFormulation):
    """A model that chooses one level (transfer time) for each job.

    Attributes
    ----------
    levels : sequence of sequence of Level or None
        Levels of each job, shortest first; None for all that `levels_of` returns.
    """

    # measured on 2,000 servers: presolve, and without it one round of cuts, take this long between two checks
    unwatched = 3e-5
    levels: Sequence[Sequence[Level]] | None = None

    def prepared(self, instance: PlacementInstance) -> Self:
        """Return the formulation with the levels of an instance."""
        return replace(self, levels=self._levels_for(PlacementData.of(instance)))

    def _levels_for(self, data: PlacementData) -> Sequence[Sequence[Level]]:
        return [levels_of(job, data.classes) for job in data.jobs] if self.levels is None else self.levels
