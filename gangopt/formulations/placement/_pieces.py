"""Formulation `pieces` of `placement`: the piece of each job on each server, and one level per job."""

from __future__ import annotations

from collections.abc import Sequence

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, RangeSet, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.placement._base import LevelsFormulation
from gangopt.formulations.placement.data import JobData, PlacementData
from gangopt.formulations.placement.goal import add_goal_of_levels
from gangopt.formulations.rows import linear
from gangopt.formulations.size import require_size
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.reasons import paused_reasons
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["Pieces", "add_pieces", "all_pieces", "pieces", "read_pieces"]

Index = tuple[int, int, int, int]
"""Job, server, parameter servers, workers."""


class Pieces(LevelsFormulation):
    r"""The piece of each job on each server, and one level (transfer time) per job.

    Binary y_jkxy is 1 if server k holds x parameter servers and y workers of job j; z_jl if job j has the transfer
    time t_l; u_j if it is paused.

    .. math::
        \sum_l z_{jl} + u_j = 1,\quad \sum_{kxy} x\,y_{jkxy} = p_j (1 - u_j),\quad
        \sum_{kxy} y\,y_{jkxy} = w_j (1 - u_j) \\
        \sum_{xy} y_{jkxy} \le 1 - u_j,\quad
        \sum_{xy:\ \tau_j(x,y) > t_l} y_{jkxy} \le \sum_{m > l} z_{jm},\quad
        \sum_{jxy} d_j^r(x,y)\,y_{jkxy} \le C_k^r

    with tau_j(x, y) the time of the slowest task of the piece and d_j its demand. Minimise.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "pieces"

    def _fill(self, block: Pyomo, instance: PlacementInstance) -> None:
        data = PlacementData.of(instance)
        levels = self._levels_for(data)
        all_times = [[level.time for level in of_job] for of_job in levels]
        pieces = all_pieces(data, [times[-1] if times else None for times in all_times])
        with PauseGC():
            block.jobs, block.servers = RangeSet(0, len(data.jobs) - 1), RangeSet(0, len(instance.servers) - 1)
            block.level = Var([(j, n) for j, times in enumerate(all_times) for n in range(len(times))], domain=Binary)
            add_pieces(block, data, pieces)
            _add_levels(block, data, all_times)
            add_goal_of_levels(block, instance, data, all_times)

    def _read(self, block: Pyomo, instance: PlacementInstance) -> PlacementSolution:
        return read_pieces(block, instance)

    def _hint(self, block: Pyomo, instance: PlacementInstance, solution: PlacementSolution) -> None:
        data = PlacementData.of(instance)
        levels = self._levels_for(data)
        for name in ("piece", "level"):
            getattr(block, name).set_values(dict.fromkeys(getattr(block, name), 0))
        for job, pieces in zip(data.jobs, solution.pieces, strict=True):
            block.paused[job.index].set_value(int(not pieces))
            for piece in pieces:
                block.piece[job.index, *piece].set_value(1)
            if pieces:
                slowest = max(job.cost(piece[1:]) for piece in pieces)
                times = [level.time for level in levels[job.index]]
                block.level[job.index, times.index(slowest)].set_value(1)


pieces = Pieces()


def all_pieces(data: PlacementData, limits: Sequence[float | None]) -> list[Index]:
    """Return the pieces of all jobs and servers with cost within the limit of the job, none without a limit."""
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


def add_pieces(block: Pyomo, data: PlacementData, pieces: Sequence[Index]) -> None:
    """Add the pieces, the paused jobs and the rows that do not depend on levels."""
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

    def all_tasks(job: JobData, kind: int, count: int) -> Pyomo:
        mine = [index for index in of_job[job.index] if index[2 + kind]]
        body = linear(
            [*(index[2 + kind] for index in mine), count], [*(piece[index] for index in mine), paused[job.index]]
        )
        return (body, count)

    def capacity(_: Pyomo, k: int, r: int) -> Pyomo:
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


def _add_levels(block: Pyomo, data: PlacementData, levels: Sequence[Sequence[float]]) -> None:
    of_pair: dict[tuple[int, int], list[tuple[float, Pyomo]]] = {}
    for (j, k, x, y), variable in block.piece.items():
        of_pair.setdefault((j, k), []).append((data.jobs[j].cost((x, y)), variable))

    def within(_: Pyomo, j: int, k: int, n: int) -> Pyomo:
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


def read_pieces(block: Pyomo, instance: PlacementInstance) -> PlacementSolution:
    """Return the placement given by the values of `piece` on a block."""
    pieces: list[list[tuple[int, int, int]]] = [[] for _ in instance.jobs]
    for (j, k, x, y), variable in block.piece.items():
        if round(value(variable)) == 1:
            pieces[j].append((k, x, y))
    held = [tuple(items) for items in pieces]
    return PlacementSolution(tuple(held), paused_reasons(instance, held))
