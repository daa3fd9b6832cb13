"""The formulations of `interval` as objects, over the functions of their modules."""

from __future__ import annotations

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.interval.classes import classes_model, fill_classes, hint_classes, read_classes
from gangopt.formulations.interval.joint import fill_joint, hint_joint, joint_model, read_joint
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution

__all__ = [
    "classes",
    "classes_model",
    "fill_classes",
    "fill_joint",
    "hint_classes",
    "hint_joint",
    "joint",
    "joint_model",
    "read_classes",
    "read_joint",
]


class _Joint(Formulation[IntervalInstance, IntervalSolution]):
    """Configurations, levels and what every server holds of every job."""

    name = "joint"
    sense = "minimise"

    def _fill(self, block: Pyomo, instance: IntervalInstance) -> None:
        fill_joint(block, instance)

    def _read(self, block: Pyomo, instance: IntervalInstance) -> IntervalSolution:
        return read_joint(block, instance)

    def _hint(self, block: Pyomo, instance: IntervalInstance, solution: IntervalSolution) -> None:
        hint_joint(block, instance, solution)


class _Classes(Formulation[IntervalInstance, IntervalSolution]):
    """The same on classes of equal servers; forgets which server, so its optimum is a bound."""

    name = "classes"
    sense = "minimise"

    def _fill(self, block: Pyomo, instance: IntervalInstance) -> None:
        fill_classes(block, instance)

    def _read(self, block: Pyomo, instance: IntervalInstance) -> IntervalSolution:
        return read_classes(block, instance)

    def _hint(self, block: Pyomo, instance: IntervalInstance, solution: IntervalSolution) -> None:
        hint_classes(block, instance, solution)


joint = _Joint()
classes = _Classes()
