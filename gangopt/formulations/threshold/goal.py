"""Objective of the formulations of `threshold`."""

from __future__ import annotations

from pyomo.environ import Expression

from gangopt.base.types import Pyomo
from gangopt.formulations import rows
from gangopt.instances.threshold.instance import ThresholdInstance

__all__ = ["add_objective"]


def add_objective(block: Pyomo, instance: ThresholdInstance) -> None:
    """Add `objective_value`, the weighted number of errors.

    Parameters
    ----------
    block : Block
        Block with the Var `error` [job].
    instance : ThresholdInstance
        The history.
    """
    errors = [block.error[job] for job in instance.jobs]
    block.objective_value = Expression(expr=rows.linear(instance.job_weights.tolist(), errors))
