"""Form `classes` of `interval`: pieces on classes of equal servers; forgets which server, so it is a bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import ConcreteModel, Constraint, NonNegativeIntegers, Objective, RangeSet, Var, minimize, value

from gangopt.formulations.interval_choices import add_choices, chosen, hint_choices, key_of, linear
from gangopt.formulations.interval_data import IntervalData, choices_of
from gangopt.formulations.placement_data import PlacementData, ServerClass
from gangopt.formulations.placement_packing import pack_pieces
from gangopt.formulations.size import require_size
from gangopt.instances.interval import IntervalInstance, IntervalSolution
from gangopt.instances.placement_reasons import paused_reasons
from gangopt.instances.placement_solution import PlacementSolution

__all__ = ["classes_model", "count_pieces", "fill_classes", "hint_classes", "read_classes"]

MAX_COLUMNS = 1_000_000
DUAL_FEASIBLE = range(1, 5)
"""k of the dual feasible functions f_k."""


def fill_classes(block: Any, instance: IntervalInstance, data: IntervalData | None = None) -> None:  # noqa: ANN401 - Pyomo is untyped
    r"""Put configurations, levels and pieces on classes of equal servers on a block.

    Binary z_jpwl says that job j has p parameter servers, w workers and the transfer time t_l of that configuration,
    u_j that it is paused; integer y_jpwlcxy counts the servers of class c that then hold x and y of them.

    .. math::
        \sum_{pwl} z_{jpwl} + u_j = 1,\quad
        \sum_{cxy} x\,y_{jpwlcxy} = p\,z_{jpwl},\quad \sum_{cxy} y\,y_{jpwlcxy} = w\,z_{jpwl} \\
        y_{jpwlcxy} \le \min(p/x, w/y, n_c)\,z_{jpwl} \\
        \sum d_j^r(x,y)\,y_{jpwlcxy} \le n_c C_c^r,\quad
        \sum f_k(d_j^r(x,y))\,y_{jpwlcxy} \le n_c,\quad k = 1, \dots, 4

    with the dual feasible functions f_k of `placement`'s form `levels`. Minimise: the optimum is a bound.

    Public components: Var `level` [job, p, w, level], Var `paused` [job], Expressions `objective_value`,
    `completion_time`, `workers` and `parameter_servers` [job].

    Parameters
    ----------
    block : ConcreteModel, Block or member of an indexed Block
    instance : the interval
    data : what can be chosen; None for everything that `choices_of` returns

    Raises
    ------
    ModelTooLargeError
        If the block would have too many columns.
    """
    data = choices_of(instance) if data is None else data
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


def count_pieces(data: IntervalData) -> int:
    """Return how many pieces on classes of servers the form has.

    Parameters
    ----------
    data : what can be chosen

    Returns
    -------
    int
    """
    return sum(len(pieces) for mine in data.choices for item in mine for pieces in item.pieces)


def _most(data: IntervalData, p: int, w: int, c: int, x: int, y: int) -> int:
    servers = len(data.placement.classes[c].servers)
    return min([servers, *([p // x] if x else []), *([w // y] if y else [])])


def _add_tasks(block: Any, data: IntervalData) -> None:  # noqa: ANN401
    of_level: dict[tuple[int, ...], list[tuple[int, int, Any]]] = {key: [] for key in block.level}
    for index, variable in block.pieces.items():
        of_level[index[:4]].append((index[5], index[6], variable))

    def all_tasks(key: tuple[int, ...], kind: int) -> Any:  # noqa: ANN401
        mine = of_level[key]
        coefficients = [item[kind] for item in mine] + [-key[1 + kind]]
        return (0, linear(coefficients, [item[2] for item in mine] + [block.level[key]]), 0)

    def of_chosen(b: Any, j: int, p: int, w: int, n: int, c: int, x: int, y: int) -> Any:  # noqa: ANN401
        most = _most(data, p, w, c, x, y)
        return (None, linear([1, -most], [b.pieces[j, p, w, n, c, x, y], b.level[j, p, w, n]]), 0)

    block.place_all_parameter_servers = Constraint(list(block.level), rule=lambda _, *key: all_tasks(key, 0))
    block.place_all_workers = Constraint(list(block.level), rule=lambda _, *key: all_tasks(key, 1))
    block.pieces_of_chosen_level = Constraint(list(block.pieces), rule=of_chosen)


def _add_capacities(block: Any, data: IntervalData) -> None:  # noqa: ANN401
    placement = data.placement
    of_class: list[list[tuple[tuple[int, ...], Any]]] = [[] for _ in placement.classes]
    for (j, _p, _w, _n, c, x, y), variable in block.pieces.items():
        of_class[c].append((placement.jobs[j].need((x, y)), variable))
    resources = range(len(placement.resources))

    def capacity(_: Any, c: int, r: int) -> Any:  # noqa: ANN401
        terms = [(need[r], variable) for need, variable in of_class[c] if need[r]]
        item = placement.classes[c]
        return _at_most(terms, len(item.servers) * item.capacity[r])

    def dual_feasible(_: Any, c: int, r: int, k: int) -> Any:  # noqa: ANN401
        item = placement.classes[c]
        terms = [(need[r], variable) for need, variable in of_class[c] if need[r]]
        return _at_most(list(_dual_feasible(item, terms, r, k)), len(item.servers) * k * item.capacity[r])

    block.class_capacity = Constraint(block.classes, resources, rule=capacity)
    block.dual_feasible_capacity = Constraint(block.classes, resources, DUAL_FEASIBLE, rule=dual_feasible)


def _at_most(terms: list[tuple[int, Any]], limit: int) -> Any:  # noqa: ANN401
    if not terms:
        return Constraint.Skip
    return (None, linear([value for value, _ in terms], [variable for _, variable in terms]), limit)


def _dual_feasible(item: ServerClass, terms: list[tuple[int, Any]], r: int, k: int) -> Iterator[tuple[int, Any]]:
    """Yield k C f_k(d), whole numbers, for the pieces of a capacity row; nothing if that row says the same."""
    whole = item.capacity[r]
    scaled = [
        (k * need if (k + 1) * need % whole == 0 else whole * ((k + 1) * need // whole), variable)
        for need, variable in terms
    ]
    if any(value > k * need for (value, _), (need, _) in zip(scaled, terms, strict=True)):
        yield from ((value, variable) for value, variable in scaled if value)


def classes_model(instance: IntervalInstance, data: IntervalData | None = None) -> Any:  # noqa: ANN401 - Pyomo is untyped
    """Return form `classes` of an instance as a ConcreteModel with its Objective."""
    model = ConcreteModel(name="interval_classes")
    fill_classes(model, instance, data)
    model.objective = Objective(expr=model.objective_value, sense=minimize)
    return model


def read_classes(block: Any, instance: IntervalInstance) -> IntervalSolution:  # noqa: ANN401 - Pyomo is untyped
    """Return the allocation that the values of a block say, with its pieces packed into servers.

    Best fit, largest first; a job of which a piece finds no server is paused, so the solution may be worse than the
    values of the block.

    Parameters
    ----------
    block : a block filled by `fill_classes`
    instance : the interval

    Returns
    -------
    IntervalSolution
    """
    allocation = chosen(block, instance)
    placement = instance.placement_of(allocation)
    pieces: dict[int, list[tuple[int, int, int]]] = {}
    for (j, _p, _w, _n, c, x, y), variable in block.pieces.items():
        number = round(value(variable))
        if number:
            pieces.setdefault(j, []).extend([(c, x, y)] * number)
    held = pack_pieces(PlacementData.of(placement), pieces)
    rows = [tuple(held.get(j, ())) for j in range(len(allocation.workers))]
    return IntervalSolution(allocation, PlacementSolution(tuple(rows), paused_reasons(placement, rows)))


def hint_classes(
    block: Any,  # noqa: ANN401 - Pyomo is untyped
    instance: IntervalInstance,
    solution: IntervalSolution,
    data: IntervalData | None = None,
) -> bool:
    """Set the variables of a block to a Solution, for a warm start.

    Parameters
    ----------
    block : a block filled by `fill_classes`
    instance : the interval
    solution : a feasible Solution
    data : the choices that the block was filled with; None for all

    Returns
    -------
    bool
        False, and nothing set, if the choices do not contain the solution.
    """
    data = choices_of(instance) if data is None else data
    chosen_pieces = hint_choices(block, data, solution)
    if chosen_pieces is None:
        return False
    block.pieces.set_values(dict.fromkeys(block.pieces, 0))
    for choice, held in chosen_pieces:
        counts = Counter((data.placement.class_of[k], x, y) for k, x, y in held)
        for piece, number in counts.items():
            block.pieces[(*key_of(choice), *piece)].set_value(number)
    return True
