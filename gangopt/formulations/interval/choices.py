"""Choices of the formulations of `interval`: one configuration and level per job, or a pause; and the objective."""

from __future__ import annotations

from collections.abc import Sequence

from pyomo.environ import Binary, Constraint, Expression, RangeSet, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.interval.data import Choice, IntervalData
from gangopt.formulations.rows import linear
from gangopt.instances.allocation.instance import AllocationSolution
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution
from gangopt.instances.placement.reasons import paused_reasons
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["Pieces", "add_choices", "chosen", "hint_choices", "key_of", "solution_of"]

Key = tuple[int, int, int, int]
"""Job, parameter servers, workers, level."""

Pieces = list[tuple[int, int, int]]
"""Server, parameter servers and workers of one job on it."""


def key_of(choice: Choice) -> Key:
    """Return the index of a choice in `level`."""
    return choice.job, choice.ps, choice.workers, choice.level


def add_choices(block: Pyomo, instance: IntervalInstance, data: IntervalData) -> None:
    """Add Vars `level` and `paused`, the rows that choose one of them for each job, and the Expressions.

    Parameters
    ----------
    block : Block
        Block to extend.
    instance : IntervalInstance
        Servers and jobs.
    data : IntervalData
        Choices of the jobs.
    """
    J = len(data.choices)
    block.jobs = RangeSet(0, J - 1)
    block.level = Var([key_of(item) for mine in data.choices for item in mine], domain=Binary)
    block.paused = Var(block.jobs, domain=Binary)
    levels = [[block.level[key_of(item)] for item in mine] for mine in data.choices]

    def by_job(values: list[list[float]]) -> dict[int, Pyomo]:
        return {j: linear(row, variables) for j, (row, variables) in enumerate(zip(values, levels, strict=True))}

    block.one_configuration_per_job = Constraint(
        block.jobs, rule=lambda b, j: (1, linear([1] * (len(levels[j]) + 1), [*levels[j], b.paused[j]]), 1)
    )
    block.workers = Expression(block.jobs, initialize=by_job([[item.workers for item in m] for m in data.choices]))
    block.parameter_servers = Expression(block.jobs, initialize=by_job([[item.ps for item in m] for m in data.choices]))
    charges = instance.pause_charge.tolist()
    block.completion_time = Expression(
        block.jobs,
        initialize={
            j: linear([item.seconds for item in mine] + [charges[j]], [*levels[j], block.paused[j]])
            for j, mine in enumerate(data.choices)
        },
    )
    coefficients = [item.seconds for mine in data.choices for item in mine]
    coefficients += [instance.pause_cost + charge for charge in charges]
    block.objective_value = Expression(
        expr=linear(
            coefficients,
            [variable for row in levels for variable in row] + list(block.paused.values()),
            -instance.pause_cost * instance.fewest_paused,
        )
    )


def chosen(block: Pyomo, instance: IntervalInstance) -> AllocationSolution:
    """Return the tasks given by a block; a paused job has its smallest configuration.

    Parameters
    ----------
    block : Block
        Block with `level`, whose variables have values.
    instance : IntervalInstance
        Servers and jobs.
    """
    ps, workers = instance.smallest.ps.tolist(), instance.smallest.workers.tolist()
    for (j, p, w, _), variable in block.level.items():
        if round(value(variable)) == 1:
            ps[j], workers[j] = p, w
    return AllocationSolution(tuple(workers), tuple(ps))


def solution_of(instance: IntervalInstance, allocation: AllocationSolution, held: Sequence[Pieces]) -> IntervalSolution:
    """Return the solution with an allocation and the pieces of each job; a job without pieces is paused.

    Parameters
    ----------
    instance : IntervalInstance
        Servers and jobs.
    allocation : AllocationSolution
        Tasks of each job.
    held : sequence of Pieces
        Pieces of each job.
    """
    pieces = tuple(map(tuple, held))
    reasons = paused_reasons(instance.placement_of(allocation), pieces)
    return IntervalSolution(allocation, PlacementSolution(pieces, reasons))


def hint_choices(block: Pyomo, data: IntervalData, solution: IntervalSolution) -> list[tuple[Choice, Pieces]] | None:
    """Set `level` and `paused`, and return choice and pieces of each placed job; None if a job has no such choice.

    Parameters
    ----------
    block : Block
        Block with `level` and `paused`.
    data : IntervalData
        Choices that the block was filled with.
    solution : IntervalSolution
        A feasible solution.
    """
    found = []
    for j, pieces in enumerate(solution.placement.pieces):
        best = _replacement(data, j, list(pieces)) if pieces else None
        if pieces and best is None:
            return None
        if best is not None:
            found.append(best)
    block.level.set_values(dict.fromkeys(block.level, 0))
    for j, pieces in enumerate(solution.placement.pieces):
        block.paused[j].set_value(int(not pieces))
    for choice, _ in found:
        block.level[key_of(choice)].set_value(1)
    return found


def _replacement(data: IntervalData, j: int, pieces: Pieces) -> tuple[Choice, Pieces] | None:
    """Return the cheapest choice reached by removing tasks from the last servers, with its pieces."""
    total_ps, total_workers = sum(x for _, x, _ in pieces), sum(y for _, _, y in pieces)
    best: tuple[Choice, Pieces] | None = None
    for choice in data.choices[j]:
        if choice.ps > total_ps or choice.workers > total_workers or (best and choice.seconds >= best[0].seconds):
            continue
        held = _without(pieces, total_ps - choice.ps, total_workers - choice.workers)
        of_class = data.placement.class_of
        if all((x, y) in choice.pieces[of_class[k]] for k, x, y in held):
            best = choice, held
    return best


def _without(pieces: Pieces, ps: int, workers: int) -> Pieces:
    held = []
    for k, x, y in reversed(pieces):
        a, b = min(x, ps), min(y, workers)
        ps, workers = ps - a, workers - b
        if x + y > a + b:
            held.append((k, x - a, y - b))
    return held[::-1]
