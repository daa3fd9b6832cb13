"""Base class of the formulations of `placement`."""

from __future__ import annotations

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.placement.focus import sharpened
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["PlacementFormulation"]


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
