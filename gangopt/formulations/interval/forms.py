"""The forms of decision `interval`, each in a module of its own."""

from __future__ import annotations

from gangopt.formulations.interval.classes import classes_model, fill_classes, hint_classes, read_classes
from gangopt.formulations.interval.joint import fill_joint, hint_joint, joint_model, read_joint

__all__ = [
    "classes_model",
    "fill_classes",
    "fill_joint",
    "hint_classes",
    "hint_joint",
    "joint_model",
    "read_classes",
    "read_joint",
]
