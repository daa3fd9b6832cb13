"""Objective of the formulations of `placement`: times and charges, and the cost of avoidable pauses."""

from __future__ import annotations

from collections.abc import Sequence

from pyomo.environ import Expression

from gangopt.base.types import Pyomo
from gangopt.formulations.placement.data import PlacementData
from gangopt.formulations.rows import linear
from gangopt.instances.placement.instance import PlacementInstance

__all__ = ["add_goal", "add_goal_of_levels"]


def add_goal(
    block: Pyomo,
    instance: PlacementInstance,
    coefficients: Sequence[float],
    variables: Sequence[Pyomo],
) -> None:
    """Add the objective and its two parts, which may differ by many orders of magnitude.

    Public components: Expressions `objective_value` and `time_value` (seconds), and `jobs_paused`.

    Parameters
    ----------
    block : Block
        Block with the variables, including `paused` [job].
    instance : PlacementInstance
        Servers and jobs.
    coefficients, variables : sequence of float or sequence of object
        Terms of the times of placed jobs and the charges of paused ones, in seconds.
    """
    paused = list(block.paused.values())
    block.time_value = Expression(expr=linear(coefficients, variables))
    block.jobs_paused = Expression(expr=linear([1] * len(paused), paused))
    known = {id(variable) for variable in paused}
    whole = [
        coefficient + instance.pause_cost if id(variable) in known else coefficient
        for coefficient, variable in zip(coefficients, variables, strict=True)
    ]
    block.objective_value = Expression(expr=linear(whole, variables, -instance.pause_cost * instance.fewest_paused))


def add_goal_of_levels(
    block: Pyomo,
    instance: PlacementInstance,
    data: PlacementData,
    times: Sequence[Sequence[float]],
) -> None:
    """Add the objective to a block with Vars `paused` [job] and `level` [job, number]; see `add_goal`.

    Parameters
    ----------
    block : Block
        Block to extend.
    instance : PlacementInstance
        Servers and jobs.
    data : PlacementData
        The instance in integers.
    times : sequence of sequence of float
        Transfer time in seconds of each level of each job.
    """
    coefficients, variables = [job.pause_charge for job in data.jobs], list(block.paused.values())
    for job, of_job in zip(data.jobs, times, strict=True):
        fixed, a_second = job.charge()
        coefficients += [fixed + a_second * time for time in of_job]
        variables += [block.level[job.index, n] for n in range(len(of_job))]
    add_goal(block, instance, coefficients, variables)
