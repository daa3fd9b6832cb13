"""Form `pieces` of decision `placement`: what every server holds of every job, and one level a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, ConcreteModel, Constraint, Objective, RangeSet, Var, minimize, value

from gangopt.formulations.placement.data import JobData, Level, PlacementData, levels_of
from gangopt.formulations.placement.goal import add_goal_of_levels
from gangopt.formulations.rows import linear
from gangopt.formulations.size import require_size
from gangopt.formulations.whole_model import minimising
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.reasons import paused_reasons
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["fill_pieces", "fixed_levels_model", "hint_pieces", "pieces_model", "read_pieces"]

Index = tuple[int, int, int, int]
"""Job, server, parameter servers, workers."""


def fill_pieces(
    block: Any,  # noqa: ANN401 - Pyomo is untyped
    instance: PlacementInstance,
    levels: Sequence[Sequence[Level]] | None = None,
) -> None:
    r"""Put the pieces of every server and job, the levels, their rules and `objective_value` on a block.

    Binary y_jkxy says that server k holds x parameter servers and y workers of job j; z_jl that job j has the transfer
    time t_l; u_j that it is paused.

    .. math::
        \sum_l z_{jl} + u_j = 1,\quad \sum_{kxy} x\,y_{jkxy} = p_j (1 - u_j),\quad
        \sum_{kxy} y\,y_{jkxy} = w_j (1 - u_j) \\
        \sum_{xy} y_{jkxy} \le 1 - u_j,\quad
        \sum_{xy:\ \tau_j(x,y) > t_l} y_{jkxy} \le \sum_{m > l} z_{jm},\quad
        \sum_{jxy} d_j^r(x,y)\,y_{jkxy} \le C_k^r

    with tau_j(x, y) the time of the slowest task of the piece and d_j its demand. Minimise.

    Parameters
    ----------
    block : object
        ConcreteModel, Block or member of an indexed Block.
    instance : PlacementInstance
        The placement.
    levels : sequence of sequence of Level or None, optional
        For every job the first levels, which it may have; None for all that `levels_of` returns.

    Raises
    ------
    ModelTooLargeError
        If the block would have too many columns.
    """
    data = PlacementData.of(instance)
    if levels is None:
        levels = [levels_of(job, data.classes) for job in data.jobs]
    all_times = [[level.time for level in of_job] for of_job in levels]
    pieces = _all_pieces(data, [times[-1] if times else None for times in all_times])
    with PauseGC():
        block.jobs, block.servers = RangeSet(0, len(data.jobs) - 1), RangeSet(0, len(instance.servers) - 1)
        block.level = Var([(j, n) for j, times in enumerate(all_times) for n in range(len(times))], domain=Binary)
        _add_pieces(block, data, pieces)
        _add_levels(block, data, all_times)
        add_goal_of_levels(block, instance, data, all_times)


def _all_pieces(data: PlacementData, limits: Sequence[float | None]) -> list[Index]:
    """Return every piece of cost within its job's limit on every server; a job without a limit has none."""
    by_class = [
        [
            [piece for piece in job.pieces(item.capacity) if job.cost(piece) <= limit] if limit is not None else []
            for item in data.classes
        ]
        for job, limit in zip(data.jobs, limits, strict=True)
    ]
    count = sum(len(row[c]) * len(item.servers) for row in by_class for c, item in enumerate(data.classes))
    require_size("placement pieces", count)
    return [(j, k, x, y) for j, row in enumerate(by_class) for k, c in enumerate(data.class_of) for x, y in row[c]]


def _add_pieces(block: Any, data: PlacementData, pieces: Sequence[Index]) -> None:  # noqa: ANN401
    """Add the pieces, the paused jobs, and the rules that hold whatever the levels are."""
    block.piece = Var(pieces, domain=Binary)
    block.paused = Var(block.jobs, domain=Binary)
    of_job: dict[int, list[Index]] = {job.index: [] for job in data.jobs}
    of_server: list[list[Index]] = [[] for _ in data.class_of]
    of_pair: dict[tuple[int, int], list[Index]] = {}
    for index in pieces:
        of_job[index[0]].append(index)
        of_server[index[1]].append(index)
        of_pair.setdefault(index[:2], []).append(index)
    piece, paused = block.piece, block.paused

    def all_tasks(job: JobData, kind: int, count: int) -> Any:  # noqa: ANN401
        mine = [index for index in of_job[job.index] if index[2 + kind]]
        body = linear(
            [*(index[2 + kind] for index in mine), count], [*(piece[index] for index in mine), paused[job.index]]
        )
        return (body, count)

    def capacity(_: Any, k: int, r: int) -> Any:  # noqa: ANN401
        needs = [data.jobs[index[0]].need(index[2:])[r] for index in of_server[k]]
        if not any(needs):
            return Constraint.Skip
        variables = [piece[index] for index in of_server[k]]
        return (None, linear(needs, variables), data.classes[data.class_of[k]].capacity[r])

    block.place_all_parameter_servers = Constraint(
        block.jobs, rule=lambda _, j: all_tasks(data.jobs[j], 0, data.jobs[j].ps)
    )
    block.place_all_workers = Constraint(block.jobs, rule=lambda _, j: all_tasks(data.jobs[j], 1, data.jobs[j].workers))
    block.one_piece_per_server = Constraint(
        list(of_pair),
        rule=lambda _, j, k: (
            None,
            linear([1] * (len(of_pair[j, k]) + 1), [*(piece[index] for index in of_pair[j, k]), paused[j]]),
            1,
        ),
    )
    block.server_capacity = Constraint(block.servers, range(len(data.resources)), rule=capacity)


def _add_levels(block: Any, data: PlacementData, levels: Sequence[Sequence[float]]) -> None:  # noqa: ANN401
    of_pair: dict[tuple[int, int], list[tuple[float, Any]]] = {}
    for (j, k, x, y), variable in block.piece.items():
        of_pair.setdefault((j, k), []).append((data.jobs[j].cost((x, y)), variable))

    def within(_: Any, j: int, k: int, n: int) -> Any:  # noqa: ANN401
        costly = [variable for cost, variable in of_pair[j, k] if cost > levels[j][n]]
        if not costly:
            return Constraint.Skip
        longer = [block.level[j, m] for m in range(n + 1, len(levels[j]))]
        return (None, linear([1] * len(costly) + [-1] * len(longer), costly + longer), 0)

    block.one_level_per_job = Constraint(
        block.jobs,
        rule=lambda b, j: (
            linear([1] * (len(levels[j]) + 1), [*(b.level[j, n] for n in range(len(levels[j]))), b.paused[j]]),
            1,
        ),
    )
    block.piece_within_level = Constraint(
        [(j, k, n) for j, k in of_pair for n in range(len(levels[j]) - 1)], rule=within
    )


def pieces_model(instance: PlacementInstance, levels: Sequence[Sequence[Level]] | None = None) -> Any:  # noqa: ANN401
    """Return form `pieces` of an instance as a ConcreteModel with its Objective."""
    return minimising(fill_pieces, instance, levels)


def fixed_levels_model(instance: PlacementInstance, limits: Mapping[int, float]) -> Any:  # noqa: ANN401
    """Return the model that places the most jobs, each with a transfer time within its own limit.

    Form `pieces` without the levels: a piece that costs more than its job's limit is left out.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    limits : mapping of int to float
        By index of the job, longest transfer time in seconds; a job without one is paused.

    Returns
    -------
    ConcreteModel
        To minimise the number of paused jobs; `read_pieces` reads it.
    """
    model = ConcreteModel(name="placement_fixed_levels")
    data = PlacementData.of(instance)
    pieces = _all_pieces(data, [limits.get(job.index) for job in data.jobs])
    with PauseGC():
        model.jobs, model.servers = RangeSet(0, len(data.jobs) - 1), RangeSet(0, len(instance.servers) - 1)
        _add_pieces(model, data, pieces)
        paused = list(model.paused.values())
        model.objective = Objective(expr=linear([1.0] * len(paused), paused), sense=minimize)
    return model


def read_pieces(block: Any, instance: PlacementInstance) -> PlacementSolution:  # noqa: ANN401 - Pyomo is untyped
    """Return the placement that the values of a block say.

    Parameters
    ----------
    block : object
        A block filled by `fill_pieces`.
    instance : PlacementInstance
        The placement.
    """
    pieces: list[list[tuple[int, int, int]]] = [[] for _ in instance.jobs]
    for (j, k, x, y), variable in block.piece.items():
        if round(value(variable)) == 1:
            pieces[j].append((k, x, y))
    held = [tuple(items) for items in pieces]
    return PlacementSolution(tuple(held), paused_reasons(instance, held))


def hint_pieces(block: Any, instance: PlacementInstance, solution: PlacementSolution) -> None:  # noqa: ANN401
    """Set the variables of a block to a placement.

    Parameters
    ----------
    block : object
        A block filled by `fill_pieces`.
    instance : PlacementInstance
        The placement.
    solution : PlacementSolution
        A feasible placement, within the levels of the block.
    """
    data = PlacementData.of(instance)
    for name in ("piece", "level"):
        getattr(block, name).set_values(dict.fromkeys(getattr(block, name), 0))
    for job, pieces in zip(data.jobs, solution.pieces, strict=True):
        block.paused[job.index].set_value(int(not pieces))
        for piece in pieces:
            block.piece[job.index, *piece].set_value(1)
        if pieces:
            slowest = max(job.cost(piece[1:]) for piece in pieces)
            times = [level.time for level in levels_of(job, data.classes)]
            block.level[job.index, times.index(slowest)].set_value(1)
