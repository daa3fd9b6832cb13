"""The forms of decision `placement`, each in a module of its own."""

from __future__ import annotations

from gangopt.formulations.placement_levels import fill_levels, hint_levels, levels_model, read_levels
from gangopt.formulations.placement_pieces import fill_pieces, hint_pieces, pieces_model, read_pieces
from gangopt.formulations.placement_tasks import fill_tasks, hint_tasks, read_tasks, tasks_model

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
    "tasks_model",
]
