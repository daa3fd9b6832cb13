"""Formulation `pieces` of `placement`: the piece of each job on each machine, and one level per job."""

from __future__ import annotations

from collections.abc import Sequence

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, RangeSet, Set, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.placement._base import LevelsFormulation
from gangopt.formulations.placement.data import JobData, PlacementData
from gangopt.formulations.placement.domains import add_inside, add_use_of_tasks, capacities_of, hint_inside
from gangopt.formulations.placement.goal import add_goal_of_levels
from gangopt.formulations.rows import linear
from gangopt.formulations.size import require_size
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.reasons import paused_reasons
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["Pieces", "add_pieces", "all_pieces", "pieces", "read_pieces"]

Index = tuple[int, str, int, int]
"""Job, machine, parameter servers, workers."""


class Pieces(LevelsFormulation):
    r"""The piece of each job on each machine, and one level (transfer time) per job.

    Binary y_jkxy is 1 if machine k holds x parameter servers and y workers of job j; z_jl if job j has the transfer
    time t_l; u_j if it is paused.

    .. math::
        \sum_l z_{jl} + u_j = 1,\quad \sum_{kxy} x\,y_{jkxy} = p_j (1 - u_j),\quad
        \sum_{kxy} y\,y_{jkxy} = w_j (1 - u_j) \\
        \sum_{xy} y_{jkxy} \le 1 - u_j,\quad
        \sum_{xy:\ \tau_j(x,y) > t_l} y_{jkxy} \le \sum_{m > l} z_{jm},\quad
        \sum_{jxy} d_j^r(x,y)\,y_{jkxy} \le C_k^r

    with tau_j(x, y) the time of the slowest task of the piece and d_j its demand. A job with a required level has a
    binary v_jd for each node d of that level, with

    .. math::
        \sum_d v_{jd} = 1 - u_j,\quad \sum_{k \in d,\,xy} x\,y_{jkxy} = p_j v_{jd},\quad
        \sum_{k \in d,\,xy} y\,y_{jkxy} = w_j v_{jd}

    Minimise. Public components: Var `piece` [job, machine, p, w], Var `level` [job, number], Var `paused` [job], Var
    `inside` [job, node], Expression `use` [machine, resource], Expression `objective_value`; machines, nodes and
    resources by label.

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
        pieces = all_pieces(instance, data, [times[-1] if times else None for times in all_times])
        with PauseGC():
            block.jobs, block.machines = RangeSet(0, len(data.jobs) - 1), Set(initialize=instance.machines)
            block.level = Var([(j, n) for j, times in enumerate(all_times) for n in range(len(times))], domain=Binary)
            add_pieces(block, instance, data, pieces)
            _add_levels(block, data, all_times)
            add_goal_of_levels(block, instance, data, all_times)
            add_use_of_tasks(block, instance, ((j, (k, item, x, y)) for (j, k, x, y), item in block.piece.items()))

    def _read(self, block: Pyomo, instance: PlacementInstance) -> PlacementSolution:
        return read_pieces(block, instance)

    def _hint(self, block: Pyomo, instance: PlacementInstance, solution: PlacementSolution) -> None:
        data = PlacementData.of(instance)
        levels = self._levels_for(data)
        for name in ("piece", "level"):
            getattr(block, name).set_values(dict.fromkeys(getattr(block, name), 0))
        hint_inside(block, instance, solution)
        for job, pieces in zip(data.jobs, solution.pieces, strict=True):
            block.paused[job.index].set_value(int(not pieces))
            for k, x, y in pieces:
                block.piece[job.index, instance.machines[k], x, y].set_value(1)
            if pieces:
                slowest = max(job.cost(piece[1:]) for piece in pieces)
                times = [level.time for level in levels[job.index]]
                block.level[job.index, times.index(slowest)].set_value(1)


pieces = Pieces()


def all_pieces(instance: PlacementInstance, data: PlacementData, limits: Sequence[float | None]) -> list[Index]:
    """Return the pieces of all jobs and machines with cost within the limit of the job, none without a limit."""
    by_class = [
        [
            [piece for piece in job.pieces(item.capacity) if job.cost(piece) <= limit] if limit is not None else []
            for item in data.classes
        ]
        for job, limit in zip(data.jobs, limits, strict=True)
    ]
    count = sum(len(row[c]) * len(item.servers) for row in by_class for c, item in enumerate(data.classes))
    require_size("placement pieces", count)
    names = list(zip(instance.machines, data.class_of, strict=True))
    return [(j, machine, x, y) for j, row in enumerate(by_class) for machine, c in names for x, y in row[c]]


def add_pieces(block: Pyomo, instance: PlacementInstance, data: PlacementData, pieces: Sequence[Index]) -> None:
    """Add the pieces, the paused jobs and the rows that do not depend on levels."""
    block.piece = Var(pieces, domain=Binary)
    block.paused = Var(block.jobs, domain=Binary)
    of_job: dict[int, list[Index]] = {job.index: [] for job in data.jobs}
    of_machine: dict[str, list[Index]] = {machine: [] for machine in instance.machines}
    of_pair: dict[tuple[int, str], list[Index]] = {}
    for index in pieces:
        of_job[index[0]].append(index)
        of_machine[index[1]].append(index)
        of_pair.setdefault(index[:2], []).append(index)
    piece, paused = block.piece, block.paused

    def all_tasks(job: JobData, kind: int, count: int) -> Pyomo:
        mine = [index for index in of_job[job.index] if index[2 + kind]]
        body = linear(
            [*(index[2 + kind] for index in mine), count], [*(piece[index] for index in mine), paused[job.index]]
        )
        return (body, count)

    rooms = capacities_of(instance, data)

    def machine_capacity(_: Pyomo, machine: str, resource: str) -> Pyomo:
        at, rows = rooms[resource]
        needs = [data.jobs[index[0]].need(index[2:])[at] for index in of_machine[machine]]
        if not any(needs):
            return Constraint.Skip
        variables = [piece[index] for index in of_machine[machine]]
        return (None, linear(needs, variables), rows[machine])

    block.place_all_parameter_servers = Constraint(
        block.jobs, rule=lambda _, j: all_tasks(data.jobs[j], 0, data.jobs[j].ps)
    )
    block.place_all_workers = Constraint(block.jobs, rule=lambda _, j: all_tasks(data.jobs[j], 1, data.jobs[j].workers))
    block.one_piece_per_machine = Constraint(
        list(of_pair),
        rule=lambda _, j, k: (
            None,
            linear([1] * (len(of_pair[j, k]) + 1), [*(piece[index] for index in of_pair[j, k]), paused[j]]),
            1,
        ),
    )
    block.machine_capacity = Constraint(block.machines, list(rooms), rule=machine_capacity)
    add_inside(
        block,
        instance,
        lambda j: [(index[1], piece[index], index[2], index[3]) for index in of_job[j]],
    )


def _add_levels(block: Pyomo, data: PlacementData, levels: Sequence[Sequence[float]]) -> None:
    of_pair: dict[tuple[int, str], list[tuple[float, Pyomo]]] = {}
    for (j, k, x, y), variable in block.piece.items():
        of_pair.setdefault((j, k), []).append((data.jobs[j].cost((x, y)), variable))

    def within(_: Pyomo, j: int, k: str, n: int) -> Pyomo:
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
    index = instance.cluster.machine_index
    for (j, k, x, y), variable in block.piece.items():
        if round(value(variable)) == 1:
            pieces[j].append((index[k], x, y))
    held = [tuple(items) for items in pieces]
    return PlacementSolution(tuple(held), paused_reasons(instance, held))
