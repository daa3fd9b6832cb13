"""The formulations of `placement` as objects, over the functions of their modules."""

from __future__ import annotations

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.placement.focus import sharpened
from gangopt.formulations.placement.levels import fill_levels, hint_levels, read_levels
from gangopt.formulations.placement.pieces import fill_pieces, hint_pieces, read_pieces
from gangopt.formulations.placement.tasks import fill_tasks, hint_tasks, read_tasks
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["levels", "pieces", "tasks"]


class _Placement(Formulation[PlacementInstance, PlacementSolution]):
    """What the formulations of a placement have in common."""

    sense = "minimise"

    def report(self, instance: PlacementInstance, value: float) -> float:
        """Return the objective for a value of the model's, which rounding may take below 0."""
        del instance
        return max(0.0, value)

    def sharpen(self, model: Pyomo, instance: PlacementInstance, objective: float, *, agreed: bool) -> float | None:
        """Bring the model in focus where its solution shows that numbers were too far apart."""
        return sharpened(model, instance, objective, agreed=agreed)


class _Tasks(_Placement):
    """Numbers of tasks for every server and job, with big-M transfer rows."""

    name = "tasks"

    def _fill(self, block: Pyomo, instance: PlacementInstance) -> None:
        fill_tasks(block, instance)

    def _read(self, block: Pyomo, instance: PlacementInstance) -> PlacementSolution:
        return read_tasks(block, instance)

    def _hint(self, block: Pyomo, instance: PlacementInstance, solution: PlacementSolution) -> None:
        hint_tasks(block, instance, solution)


class _Pieces(_Placement):
    """What every server holds of every job, and one level a job."""

    name = "pieces"

    def _fill(self, block: Pyomo, instance: PlacementInstance) -> None:
        fill_pieces(block, instance)

    def _read(self, block: Pyomo, instance: PlacementInstance) -> PlacementSolution:
        return read_pieces(block, instance)

    def _hint(self, block: Pyomo, instance: PlacementInstance, solution: PlacementSolution) -> None:
        hint_pieces(block, instance, solution)


class _Levels(_Placement):
    """Pieces on classes of equal servers; forgets which server."""

    name = "levels"
    relaxes = True

    def _fill(self, block: Pyomo, instance: PlacementInstance) -> None:
        fill_levels(block, instance)

    def _read(self, block: Pyomo, instance: PlacementInstance) -> PlacementSolution:
        return read_levels(block, instance)

    def _hint(self, block: Pyomo, instance: PlacementInstance, solution: PlacementSolution) -> None:
        hint_levels(block, instance, solution)


tasks = _Tasks()
pieces = _Pieces()
levels = _Levels()
