"""Formulation `joint` of `interval`: configurations, levels and the pieces of each job on each machine."""

from __future__ import annotations

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, Set, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.interval._base import IntervalFormulation
from gangopt.formulations.interval.choices import Pieces, add_choices, chosen, solution_of
from gangopt.formulations.interval.data import Choice, IntervalData
from gangopt.formulations.placement.domains import add_use_of_tasks, capacities_of
from gangopt.formulations.rows import at_most, linear
from gangopt.formulations.size import require_size
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution

__all__ = ["Joint", "count_columns", "joint"]

MAX_COLUMNS = 200_000
"""Largest number of columns of this formulation, which is for small instances."""

Configuration = tuple[int, int, int]
"""Job, parameter servers, workers."""

Key = tuple[int | str, ...]
"""Index of a piece: job, parameter servers and workers of the job, machine, those of the piece."""


class Joint(IntervalFormulation):
    r"""Configurations, levels and the pieces of each job on each machine.

    Binary z_jpwl is 1 if job j has p parameter servers, w workers and the transfer time t_l of that configuration,
    u_j if it is paused, y_jpwkxy if machine k holds x and y of them.

    .. math::
        \sum_{pwl} z_{jpwl} + u_j = 1,\quad
        \sum_{kxy} x\,y_{jpwkxy} = p \sum_l z_{jpwl},\quad \sum_{kxy} y\,y_{jpwkxy} = w \sum_l z_{jpwl} \\
        \sum_{pwxy} y_{jpwkxy} + u_j \le 1,\quad
        \sum_{xy:\ \tau_{jpw}(x,y) > t_l} y_{jpwkxy} \le \sum_{m > l} z_{jpwm},\quad
        \sum_{jpwxy} d_j^r(x,y)\,y_{jpwkxy} \le C_k^r

    The row of the levels, with all levels on the right, also forbids pieces of configurations that the job does not
    have. Minimise.

    Public components: Var `level` [job, p, w, level], Var `piece` [job, p, w, machine, x, y], Var `paused` [job],
    Expressions `objective_value`, `completion_time`, `workers` and `parameter_servers` [job], Expression `use`
    [machine, resource]; machines and resources by label.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "joint"

    def _fill(self, block: Pyomo, instance: IntervalInstance) -> None:
        data = self._data_of(instance)
        require_size("interval joint", count_columns(data), MAX_COLUMNS)
        with PauseGC():
            add_choices(block, instance, data)
            block.machines = Set(initialize=instance.machines)
            configurations = _configurations(data)
            block.piece = Var(
                [
                    (*key, k, x, y)
                    for key, levels in configurations.items()
                    for k, c in zip(instance.machines, data.placement.class_of, strict=True)
                    for x, y in levels[-1].pieces[c]
                ],
                domain=Binary,
            )
            _add_tasks(block, configurations)
            _add_machines(block, instance, data)
            _add_levels(block, instance, data, configurations)
            add_use_of_tasks(
                block,
                instance.template,
                ((j, (k, item, x, y)) for (j, _p, _w, k, x, y), item in block.piece.items()),
            )

    def _read(self, block: Pyomo, instance: IntervalInstance) -> IntervalSolution:
        allocation = chosen(block, instance)
        pieces: list[list[tuple[int, int, int]]] = [[] for _ in allocation.workers]
        index = instance.cluster.machine_index
        for (j, _p, _w, k, x, y), variable in block.piece.items():
            if round(value(variable)) == 1:
                pieces[j].append((index[k], x, y))
        return solution_of(instance, allocation, pieces)

    def _piece_variables(self, block: Pyomo) -> Pyomo:
        return block.piece

    def _piece_counts(self, block: Pyomo, data: IntervalData, choice: Choice, pieces: Pieces) -> dict[Key, int]:
        del data
        names = list(block.machines)
        return {(choice.job, choice.ps, choice.workers, names[k], x, y): 1 for k, x, y in pieces}


joint = Joint()


def count_columns(data: IntervalData) -> int:
    """Return the number of columns of `joint`.

    Parameters
    ----------
    data : IntervalData
        Choices of the jobs.
    """
    sizes = [len(item.servers) for item in data.placement.classes]
    pieces = sum(
        len(of_class) * size
        for levels in _configurations(data).values()
        for of_class, size in zip(levels[-1].pieces, sizes, strict=True)
    )
    return pieces + sum(map(len, data.choices)) + len(data.choices)


def _configurations(data: IntervalData) -> dict[Configuration, list[Choice]]:
    """Return the levels of each configuration, ascending."""
    found: dict[Configuration, list[Choice]] = {}
    for mine in data.choices:
        for item in mine:
            found.setdefault((item.job, item.ps, item.workers), []).append(item)
    return found


def _add_tasks(block: Pyomo, configurations: dict[Configuration, list[Choice]]) -> None:
    held: dict[Configuration, list[tuple[int, int, Pyomo]]] = {key: [] for key in configurations}
    for (j, p, w, _k, x, y), variable in block.piece.items():
        held[j, p, w].append((x, y, variable))

    def all_tasks(key: Configuration, kind: int) -> Pyomo:
        levels = [block.level[(*key, item.level)] for item in configurations[key]]
        coefficients = [item[kind] for item in held[key]] + [-key[1 + kind]] * len(levels)
        return (0, linear(coefficients, [item[2] for item in held[key]] + levels), 0)

    keys = list(configurations)
    block.place_all_parameter_servers = Constraint(keys, rule=lambda _, *key: all_tasks(key, 0))
    block.place_all_workers = Constraint(keys, rule=lambda _, *key: all_tasks(key, 1))


def _add_machines(block: Pyomo, instance: IntervalInstance, data: IntervalData) -> None:
    placement = data.placement
    of_pair: dict[tuple[int, str], list[Pyomo]] = {}
    of_machine: dict[str, list[tuple[tuple[int, ...], Pyomo]]] = {machine: [] for machine in block.machines}
    for (j, _p, _w, k, x, y), variable in block.piece.items():
        of_pair.setdefault((j, k), []).append(variable)
        of_machine[k].append((placement.jobs[j].need((x, y)), variable))

    def one_piece(b: Pyomo, j: int, k: str) -> Pyomo:
        mine = of_pair[j, k]
        return (None, linear([1] * (len(mine) + 1), [*mine, b.paused[j]]), 1)

    rooms = capacities_of(instance.template, placement)

    def machine_capacity(_: Pyomo, k: str, resource: str) -> Pyomo:
        at, rows = rooms[resource]
        terms = [(need[at], variable) for need, variable in of_machine[k] if need[at]]
        return at_most(terms, rows[k])

    block.one_piece_per_machine = Constraint(list(of_pair), rule=one_piece)
    block.machine_capacity = Constraint(block.machines, list(rooms), rule=machine_capacity)


def _add_levels(
    block: Pyomo, instance: IntervalInstance, data: IntervalData, configurations: dict[Configuration, list[Choice]]
) -> None:
    class_of = dict(zip(instance.machines, data.placement.class_of, strict=True))
    held: dict[tuple[int, int, int, str], list[tuple[tuple[int, int], Pyomo]]] = {}
    for (j, p, w, k, x, y), variable in block.piece.items():
        held.setdefault((j, p, w, k), []).append(((x, y), variable))

    def within(_: Pyomo, j: int, p: int, w: int, k: str, n: int) -> Pyomo:
        """Require a level of at least n for pieces that level n - 1 does not allow; n = 0 is for all pieces."""
        levels = configurations[j, p, w]
        c = class_of[k]
        allowed = set(levels[n - 1].pieces[c]) if n else set()
        costly = [variable for piece, variable in held[j, p, w, k] if piece not in allowed]
        if not costly:
            return Constraint.Skip
        longer = [block.level[j, p, w, item.level] for item in levels[n:]]
        return (None, linear([1] * len(costly) + [-1] * len(longer), costly + longer), 0)

    block.piece_within_level = Constraint(
        [(*key, n) for key in held for n in range(len(configurations[key[:3]]))],
        rule=within,
    )
