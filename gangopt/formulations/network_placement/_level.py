r"""Formulation `level` of `network_placement`: a packing whose capacities follow from the largest load T.

With w_i workers on machine i, T_i <= T limits the part S_i of the model that the machine may hold:

.. math::

    S_i \le \frac{T - t_i - M w_i}{W - 2 w_i} \;(2 w_i < W), \qquad
    S_i \ge \frac{t_i + M w_i - T}{2 w_i - W} \;(2 w_i > W), \qquad T \ge t_i + M w_i \;(2 w_i = W)

so for a fixed T the problem is a packing with a choice of capacities. Between two bounds on T, T = L + rise, and
products of the rise with the binaries that choose w_i are linearised by their convex hull. The closer the bounds, the
tighter the relaxation; with equal bounds it is the pure packing. Parameter servers of equal size are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.environ import (
    Binary,
    Constraint,
    Expression,
    NonNegativeIntegers,
    NonNegativeReals,
    Param,
    Reals,
    Set,
    Var,
    value,
)

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.network_placement._literal import add_resource_capacity
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.size import require_size
from gangopt.instances.network_placement.instance import (
    NetworkPlacementInstance,
    NetworkPlacementSolution,
    machine_loads,
)

__all__ = ["Level", "level", "server_classes", "set_levels"]

_SMALLEST = 2e-9
"""Shares of the model below this one count as 0."""


def server_classes(instance: NetworkPlacementInstance) -> list[tuple[float, list[int]]]:
    """Return (size in MiB, parameter servers of this size), largest size first."""
    members: dict[float, list[int]] = {}
    for j, size in enumerate(instance.ps_sizes.tolist()):
        members.setdefault(size, []).append(j)
    return sorted(members.items(), reverse=True)


@dataclass(frozen=True, eq=False)
class Level(Formulation[NetworkPlacementInstance, NetworkPlacementSolution]):
    """Packing for a load between two bounds.

    Public components, for a parent that couples blocks: Vars `choose` [machine, w] (1 if the machine gets w workers),
    `place` [machine, class] (parameter servers of a size class), `rise` [machine, w] (model sizes by which T is above
    the lowest level, where w is chosen), `level` (T above the lowest level, model sizes); Expressions `workers`
    [machine], `objective_value` (MiB per iteration, to be minimised). Machines count from 0, classes by falling
    size from 0.

    Attributes
    ----------
    lowest, highest : float or None
        Bounds on the optimum in MiB per iteration; None for max t_i and max t_i + M W. No load exceeds the latter,
        as w (M - S) + S (W - w) is bilinear and at most M W at the corners.
    machines : sequence of int or None
        Machines that may host a task; None for all.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "level"
    sense = "minimise"
    lowest: float | None = None
    highest: float | None = None
    machines: Sequence[int] | None = None

    def _fill(self, block: Pyomo, instance: NetworkPlacementInstance) -> None:
        total = instance.workers
        hosts = list(range(len(instance.machines))) if self.machines is None else sorted(self.machines)
        classes = server_classes(instance)
        options = [(i, w) for i in hosts for w in range(min(int(instance.free_gpus[i]), total) + 1)]
        require_size("network_placement level", 2 * len(options) + len(hosts) * len(classes) + 1)
        by_machine: dict[int, list[int]] = {i: [] for i in hosts}
        for i, w in options:
            by_machine[i].append(w)
        with PauseGC():
            block.machines = Set(initialize=hosts)
            block.classes = Set(initialize=list(range(len(classes))))
            block.options = Set(initialize=options, dimen=2)
            block.lowest = Param(domain=Reals, mutable=True, initialize=0.0)
            block.width = Param(domain=NonNegativeReals, mutable=True, initialize=0.0)
            block.share = Param(block.options, domain=Reals, mutable=True, initialize=0.0)
            block.choose = Var(block.options, domain=Binary)
            block.rise = Var(block.options, domain=NonNegativeReals)
            block.place = Var(
                block.machines,
                block.classes,
                domain=NonNegativeIntegers,
                bounds=lambda _, i, k: (0, len(classes[k][1])),
            )
            block.level = Var(domain=NonNegativeReals)
            _add_counts(block, instance, classes, by_machine)
            _add_packing(block, instance, classes, by_machine)
            resource_terms = {i: [(float(w), block.choose[i, w]) for w in by_machine[i] if w] for i in hosts}
            add_resource_capacity(
                block, instance, resource_terms, {i: [block.place[i, k] for k in range(len(classes))] for i in hosts}
            )
            block.objective_value = Expression(expr=block.lowest + instance.model_size * block.level)
        background = float(instance.traffic.max())
        low = background if self.lowest is None else self.lowest
        set_levels(
            block, instance, low, background + instance.model_size * total if self.highest is None else self.highest
        )

    def _read(self, block: Pyomo, instance: NetworkPlacementInstance) -> NetworkPlacementSolution:
        """Return the solution given by `choose` and `place`.

        A machine takes the worker count of its largest binary; servers of a class take their machines in
        ascending order.
        """
        workers = [0] * len(instance.machines)
        best = dict.fromkeys(block.machines, -1.0)
        for (i, w), variable in block.choose.items():
            if value(variable) > best[i]:
                best[i], workers[i] = value(variable), w
        hosts = [0] * len(instance.ps_sizes)
        for k, (_, members) in enumerate(server_classes(instance)):
            places = [i for i in block.machines for _ in range(round(value(block.place[i, k])))]
            for j, i in zip(members, places, strict=True):
                hosts[j] = i
        return NetworkPlacementSolution(tuple(workers), tuple(hosts))

    def _hint(self, block: Pyomo, instance: NetworkPlacementInstance, solution: NetworkPlacementSolution) -> None:
        """Set every variable to a solution, for a warm start."""
        lowest = value(block.lowest)
        rise = max(0.0, float(machine_loads(instance, solution).max()) - lowest) / instance.model_size
        for (i, w), variable in block.choose.items():
            chosen = int(solution.workers[i] == w)
            variable.set_value(chosen, skip_validation=True)
            block.rise[i, w].set_value(rise * chosen, skip_validation=True)
        for k, (_, members) in enumerate(server_classes(instance)):
            for i in block.machines:
                count = sum(solution.ps_hosts[j] == i for j in members)
                block.place[i, k].set_value(count, skip_validation=True)
        block.level.set_value(rise, skip_validation=True)


level = Level()


def _add_counts(
    block: Pyomo,
    instance: NetworkPlacementInstance,
    classes: list[tuple[float, list[int]]],
    by_machine: dict[int, list[int]],
) -> None:
    choose, place = block.choose, block.place
    block.one_worker_count_per_machine = Constraint(
        block.machines, rule=lambda _, i: (1.0, sum_of([choose[i, w] for w in by_machine[i]]), 1.0)
    )
    block.workers = Expression(
        block.machines,
        rule=lambda _, i: linear([float(w) for w in by_machine[i]], [choose[i, w] for w in by_machine[i]]),
    )
    terms = [(float(w), variable) for (_, w), variable in choose.items() if w]
    block.all_workers_placed = Constraint(
        expr=(
            float(instance.workers),
            linear([w for w, _ in terms], [variable for _, variable in terms]),
            float(instance.workers),
        )
    )
    block.one_host_per_parameter_server = Constraint(
        block.classes,
        rule=lambda _, k: (
            float(len(classes[k][1])),
            sum_of([place[i, k] for i in by_machine]),
            float(len(classes[k][1])),
        ),
    )


def _add_packing(
    block: Pyomo,
    instance: NetworkPlacementInstance,
    classes: list[tuple[float, list[int]]],
    by_machine: dict[int, list[int]],
) -> None:
    """Add the rows that contain T, in units of the model size M.

    The share of option (i, w) is (L - t_i - M w) / (M |W - 2 w|), with 1 for |W - 2 w| = 0.
    """
    total = instance.workers
    shares = [size / instance.model_size for size, _ in classes]
    choose, rise, place, share = block.choose, block.rise, block.place, block.share

    def held(i: int, sign: float) -> tuple[list[float], list[Pyomo]]:
        return [sign * part for part in shares], [place[i, k] for k in range(len(shares))]

    def capacity(_: Pyomo, i: int) -> Pyomo:
        coefs: list[Pyomo]
        coefs, variables = held(i, 1.0)
        for w in by_machine[i]:
            if 2 * w < total:
                coefs += [-share[i, w], -1.0 / (total - 2 * w)]
                variables += [choose[i, w], rise[i, w]]
            else:
                coefs.append(-1.0)
                variables.append(choose[i, w])
        return (None, linear(coefs, variables), 0.0)

    def floor(_: Pyomo, i: int) -> Pyomo:
        heavy = [w for w in by_machine[i] if 2 * w > total]
        if not heavy:
            return Constraint.Skip
        coefs: list[Pyomo]
        coefs, variables = held(i, -1.0)
        for w in heavy:
            coefs += [-share[i, w], -1.0 / (2 * w - total)]
            variables += [choose[i, w], rise[i, w]]
        return (None, linear(coefs, variables), 0.0)

    def half(_: Pyomo, i: int) -> Pyomo:
        if total % 2 or total // 2 not in by_machine[i]:
            return Constraint.Skip
        w = total // 2
        body = linear([-share[i, w], -1.0], [choose[i, w], rise[i, w]])
        return (None, body, 0.0)

    block.capacity = Constraint(block.machines, rule=capacity)
    block.least_share = Constraint(block.machines, rule=floor)
    block.half_of_the_workers = Constraint(block.machines, rule=half)
    block.rise_where_chosen = Constraint(
        block.options,
        rule=lambda b, i, w: (
            None,
            linear([1.0, -1.0 * b.width], [rise[i, w], choose[i, w]]),
            0.0,
        ),
    )
    block.rise_of_level = Constraint(
        block.machines,
        rule=lambda b, i: (
            0.0,
            linear(
                [1.0] * len(by_machine[i]) + [-1.0],
                [rise[i, w] for w in by_machine[i]] + [b.level],
            ),
            0.0,
        ),
    )
    block.level_at_most_width = Constraint(expr=block.level <= block.width)


def set_levels(block: Pyomo, instance: NetworkPlacementInstance, lowest: float, highest: float) -> None:
    """Change the bounds of a filled block through its Params `lowest`, `width` and `share`, without rebuilding it.

    Parameters
    ----------
    block : Block
        A filled Block.
    instance : NetworkPlacementInstance
        Machines and job.
    lowest, highest : float
        Bounds in MiB per iteration; equal bounds give the pure packing.
    """
    size, total = instance.model_size, instance.workers
    keys = list(block.share)
    machines, counts = np.array(keys).T
    # subtract before dividing by M: bounds and traffic may be far larger than the model
    room = (lowest - instance.traffic[machines]) / size - counts
    share = room / np.maximum(1, np.abs(total - 2 * counts))
    # HiGHS drops entries this small, so drop them from the model, too
    share[np.abs(share) < _SMALLEST] = 0.0
    block.share.store_values(dict(zip(keys, share.tolist(), strict=True)))
    block.lowest.set_value(lowest)
    block.width.set_value(max(0.0, highest - lowest) / size)
