"""Formulation `classes` of `interval`: pieces on classes of equal servers; the optimum is a bound."""

from __future__ import annotations

from collections import Counter

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Constraint, NonNegativeIntegers, RangeSet, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.interval._base import IntervalFormulation
from gangopt.formulations.interval.choices import Pieces, add_choices, chosen, key_of, solution_of
from gangopt.formulations.interval.data import Choice, IntervalData
from gangopt.formulations.placement.capacities import add_class_capacities
from gangopt.formulations.placement.data import PlacementData
from gangopt.formulations.placement.packing import pack_pieces
from gangopt.formulations.rows import linear
from gangopt.formulations.size import require_size
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution

__all__ = ["Classes", "classes", "count_pieces"]

MAX_COLUMNS = 1_000_000


class Classes(IntervalFormulation):
    r"""Configurations, levels and pieces on classes of equal servers; the optimum is a bound.

    Binary z_jpwl is 1 if job j has p parameter servers, w workers and the transfer time t_l of that configuration,
    u_j if it is paused; integer y_jpwlcxy counts the servers of class c that then hold x and y of them.

    .. math::
        \sum_{pwl} z_{jpwl} + u_j = 1,\quad
        \sum_{cxy} x\,y_{jpwlcxy} = p\,z_{jpwl},\quad \sum_{cxy} y\,y_{jpwlcxy} = w\,z_{jpwl} \\
        y_{jpwlcxy} \le \min(p/x, w/y, n_c)\,z_{jpwl} \\
        \sum d_j^r(x,y)\,y_{jpwlcxy} \le n_c C_c^r,\quad
        \sum f_k(d_j^r(x,y))\,y_{jpwlcxy} \le n_c,\quad k = 1, \dots, 4

    with the dual feasible functions f_k of `levels` of `placement`. Minimise.

    Public components: Var `level` [job, p, w, level], Var `paused` [job], Expressions `objective_value`,
    `completion_time`, `workers` and `parameter_servers` [job].

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "classes"

    def _fill(self, block: Pyomo, instance: IntervalInstance) -> None:
        data = self._data_of(instance)
        of_class = range(len(data.placement.classes))
        require_size("interval classes", count_pieces(data) + sum(map(len, data.choices)), MAX_COLUMNS)
        with PauseGC():
            add_choices(block, instance, data)
            block.classes = RangeSet(0, len(of_class) - 1)
            block.pieces = Var(
                [
                    (*key_of(item), c, x, y)
                    for mine in data.choices
                    for item in mine
                    for c in of_class
                    for x, y in item.pieces[c]
                ],
                domain=NonNegativeIntegers,
                bounds=lambda _, _j, p, w, _l, c, x, y: (0, _most(data, p, w, c, x, y)),
            )
            _add_tasks(block, data)
            _add_capacities(block, data)

    def _read(self, block: Pyomo, instance: IntervalInstance) -> IntervalSolution:
        """Return the allocation, with its pieces packed into servers.

        Pieces are packed by best fit, largest first. A job of which a piece fits no server is paused, so the solution
        may be worse than the objective of the model.
        """
        allocation = chosen(block, instance)
        placement = instance.placement_of(allocation)
        pieces: dict[int, list[tuple[int, int, int]]] = {}
        for (j, _p, _w, _n, c, x, y), variable in block.pieces.items():
            number = round(value(variable))
            if number:
                pieces.setdefault(j, []).extend([(c, x, y)] * number)
        held = pack_pieces(PlacementData.of(placement), pieces)
        return solution_of(instance, allocation, [list(held.get(j, ())) for j in range(len(allocation.workers))])

    def _piece_variables(self, block: Pyomo) -> Pyomo:
        return block.pieces

    def _piece_counts(
        self, block: Pyomo, data: IntervalData, choice: Choice, pieces: Pieces
    ) -> dict[tuple[int | str, ...], int]:
        del block
        counts = Counter((data.placement.class_of[k], x, y) for k, x, y in pieces)
        return {(*key_of(choice), *piece): number for piece, number in counts.items()}


classes = Classes()


def count_pieces(data: IntervalData) -> int:
    """Return the number of variables of `classes` for pieces.

    Parameters
    ----------
    data : IntervalData
        Choices of the jobs.
    """
    return sum(len(pieces) for mine in data.choices for item in mine for pieces in item.pieces)


def _most(data: IntervalData, p: int, w: int, c: int, x: int, y: int) -> int:
    servers = len(data.placement.classes[c].servers)
    return min([servers, *([p // x] if x else []), *([w // y] if y else [])])


def _add_tasks(block: Pyomo, data: IntervalData) -> None:
    of_level: dict[tuple[int, ...], list[tuple[int, int, Pyomo]]] = {key: [] for key in block.level}
    for index, variable in block.pieces.items():
        of_level[index[:4]].append((index[5], index[6], variable))

    def all_tasks(key: tuple[int, ...], kind: int) -> Pyomo:
        mine = of_level[key]
        coefficients = [item[kind] for item in mine] + [-key[1 + kind]]
        return (0, linear(coefficients, [item[2] for item in mine] + [block.level[key]]), 0)

    def of_chosen(b: Pyomo, j: int, p: int, w: int, n: int, c: int, x: int, y: int) -> Pyomo:
        most = _most(data, p, w, c, x, y)
        return (None, linear([1, -most], [b.pieces[j, p, w, n, c, x, y], b.level[j, p, w, n]]), 0)

    block.place_all_parameter_servers = Constraint(list(block.level), rule=lambda _, *key: all_tasks(key, 0))
    block.place_all_workers = Constraint(list(block.level), rule=lambda _, *key: all_tasks(key, 1))
    block.pieces_of_chosen_level = Constraint(list(block.pieces), rule=of_chosen)


def _add_capacities(block: Pyomo, data: IntervalData) -> None:
    placement = data.placement
    of_class: list[list[tuple[tuple[int, ...], Pyomo]]] = [[] for _ in placement.classes]
    for (j, _p, _w, _n, c, x, y), variable in block.pieces.items():
        of_class[c].append((placement.jobs[j].need((x, y)), variable))
    add_class_capacities(block, placement, of_class)
