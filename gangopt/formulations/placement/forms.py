"""The forms of decision `placement`, each in a module of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.formulations.placement.levels import fill_levels, hint_levels, levels_model, read_levels
from gangopt.formulations.placement.pieces import fill_pieces, hint_pieces, pieces_model, read_pieces
from gangopt.formulations.placement.tasks import fill_tasks, hint_tasks, read_tasks, tasks_model

if TYPE_CHECKING:
    from gangopt.instances.placement.instance import PlacementInstance

__all__ = [
    "fill_levels",
    "fill_pieces",
    "fill_tasks",
    "hint_levels",
    "hint_pieces",
    "hint_tasks",
    "levels_model",
    "pieces_model",
    "read_levels",
    "read_pieces",
    "read_tasks",
    "reported_seconds",
    "tasks_model",
]


def reported_seconds(_instance: PlacementInstance, value: float) -> float:
    """Return the objective for a value of a form's, which rounding may take below 0."""
    return max(0.0, value)
