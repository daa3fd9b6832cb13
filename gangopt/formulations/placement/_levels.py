"""Formulation `levels` of `placement`: pieces on classes of equal machines; the optimum is a bound."""

from __future__ import annotations

from collections.abc import Sequence

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import (
    Binary,
    Constraint,
    NonNegativeIntegers,
    RangeSet,
    Var,
    value,
)

from gangopt.base.types import Pyomo
from gangopt.formulations.placement._base import LevelsFormulation
from gangopt.formulations.placement.capacities import add_class_capacities
from gangopt.formulations.placement.data import Level, PlacementData
from gangopt.formulations.placement.goal import add_goal_of_levels
from gangopt.formulations.placement.packing import ClassPieces, pack_pieces
from gangopt.formulations.rows import linear
from gangopt.formulations.size import require_size
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.reasons import paused_reasons
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["Levels", "chosen_pieces", "levels"]

Index = tuple[int, int, int, int, int]
"""Job, level, class, parameter servers, workers."""


class Levels(LevelsFormulation):
    r"""Pieces on classes of equal machines; the optimum is a bound.

    Binary z_jl is 1 if job j has the transfer time t_l, u_j if it is paused; integer y_jlcxy counts the machines of
    class c that hold x parameter servers and y workers of job j when its transfer time is t_l.

    .. math::
        \sum_l z_{jl} + u_j = 1,\quad
        \sum_{cxy} x\,y_{jlcxy} = p_j z_{jl},\quad \sum_{cxy} y\,y_{jlcxy} = w_j z_{jl} \\
        y_{jlcxy} \le \min(p_j / x, w_j / y, n_c)\, z_{jl} \\
        \sum_{jlxy} d_j^r(x,y)\,y_{jlcxy} \le n_c C_c^r,\quad
        \sum_{jlxy} f_k(d_j^r(x,y))\,y_{jlcxy} \le n_c,\quad k = 1, \dots, 4

    with f_k(d) = d/C if (k+1) d/C is an integer, else floor((k+1) d/C)/k, a dual feasible function: its sum over
    the pieces of a server is at most 1. Only pieces that fit the class, cost at most t_l and can be completed by such
    pieces have a variable. Minimise. The model does not know which machine of a class holds a piece, so its optimum is
    a bound, which a packing of the pieces may reach. It leaves out required levels, and has no `use` of single
    machines: it cannot be coupled with other decisions.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.

    References
    ----------
    Fekete and Schepers: New classes of fast lower bounds for bin packing problems (Math. Program. 91, 2001).
    """

    name = "levels"
    relaxes = True

    def _fill(self, block: Pyomo, instance: PlacementInstance) -> None:
        data = PlacementData.of(instance)
        levels = self._levels_for(data)
        indices = [
            (j, n, c, x, y)
            for j, of_job in enumerate(levels)
            for n, level in enumerate(of_job)
            for c, pieces in enumerate(level.pieces)
            for x, y in pieces
        ]
        require_size("placement levels", len(indices) + sum(map(len, levels)) + len(levels))
        with PauseGC():
            block.jobs, block.classes = RangeSet(0, len(data.jobs) - 1), RangeSet(0, len(data.classes) - 1)
            block.level = Var([(j, n) for j, of_job in enumerate(levels) for n in range(len(of_job))], domain=Binary)
            block.paused = Var(block.jobs, domain=Binary)
            block.pieces = Var(
                indices,
                domain=NonNegativeIntegers,
                bounds=lambda _, j, _l, c, x, y: (0, _most(data, j, c, x, y)),
            )
            _add_tasks(block, data, levels)
            _add_capacities(block, data)
            add_goal_of_levels(block, instance, data, [[level.time for level in of_job] for of_job in levels])

    def _read(self, block: Pyomo, instance: PlacementInstance) -> PlacementSolution:
        """Return a placement of the chosen pieces.

        Pieces are packed by best fit, largest first. A job of which a piece fits no machine, or whose pieces lie in
        several nodes of its required level, is paused, so the placement may be worse than the objective of the model.
        """
        held = pack_pieces(PlacementData.of(instance), chosen_pieces(block))
        pieces = [tuple(held.get(j, ())) for j in range(len(instance.jobs))]
        for j, domain in enumerate(instance.domains):
            if domain is not None and len({int(domain[k]) for k, _, _ in pieces[j]}) > 1:
                pieces[j] = ()
        return PlacementSolution(tuple(pieces), paused_reasons(instance, pieces))

    def _hint(self, block: Pyomo, instance: PlacementInstance, solution: PlacementSolution) -> None:
        data = PlacementData.of(instance)
        levels = self._levels_for(data)
        for name in ("pieces", "level"):
            getattr(block, name).set_values(dict.fromkeys(getattr(block, name), 0))
        for job, pieces in zip(data.jobs, solution.pieces, strict=True):
            block.paused[job.index].set_value(int(not pieces))
            if not pieces:
                continue
            slowest = max(job.cost(piece[1:]) for piece in pieces)
            n = [level.time for level in levels[job.index]].index(slowest)
            block.level[job.index, n].set_value(1)
            for k, x, y in pieces:
                variable = block.pieces[job.index, n, data.class_of[k], x, y]
                variable.set_value(variable.value + 1)


levels = Levels()


def _most(data: PlacementData, j: int, c: int, x: int, y: int) -> int:
    job, servers = data.jobs[j], len(data.classes[c].servers)
    return min([servers, *([job.ps // x] if x else []), *([job.workers // y] if y else [])])


def _add_tasks(block: Pyomo, data: PlacementData, levels: Sequence[Sequence[Level]]) -> None:
    of_level: dict[tuple[int, int], list[tuple[int, int, Pyomo]]] = {key: [] for key in block.level}
    for (j, n, _, x, y), variable in block.pieces.items():
        of_level[j, n].append((x, y, variable))

    def all_tasks(j: int, n: int, kind: int, count: int) -> Pyomo:
        mine = [item for item in of_level[j, n] if item[kind]]
        coefficients = [item[kind] for item in mine] + [-count]
        return (linear(coefficients, [item[2] for item in mine] + [block.level[j, n]]), 0)

    block.one_level_per_job = Constraint(
        block.jobs,
        rule=lambda b, j: (
            linear([1] * (len(levels[j]) + 1), [b.level[j, n] for n in range(len(levels[j]))] + [b.paused[j]]),
            1,
        ),
    )
    block.place_all_parameter_servers = Constraint(
        list(block.level), rule=lambda _, j, n: all_tasks(j, n, 0, data.jobs[j].ps)
    )
    block.place_all_workers = Constraint(
        list(block.level), rule=lambda _, j, n: all_tasks(j, n, 1, data.jobs[j].workers)
    )
    block.pieces_of_chosen_level = Constraint(
        list(block.pieces),
        rule=lambda b, j, n, c, x, y: (
            None,
            linear([1, -_most(data, j, c, x, y)], [b.pieces[j, n, c, x, y], b.level[j, n]]),
            0,
        ),
    )


def _add_capacities(block: Pyomo, data: PlacementData) -> None:
    of_class: list[list[tuple[tuple[int, ...], Pyomo]]] = [[] for _ in data.classes]
    for (j, _, c, x, y), variable in block.pieces.items():
        of_class[c].append((data.jobs[j].need((x, y)), variable))
    add_class_capacities(block, data, of_class)


def chosen_pieces(block: Pyomo) -> ClassPieces:
    """Return the pieces given by a block: by job, (class, parameter servers, workers), with repetitions."""
    found: ClassPieces = {}
    for (j, _, c, x, y), variable in block.pieces.items():
        count = round(value(variable))
        if count:
            found.setdefault(j, []).extend([(c, x, y)] * count)
    return found
