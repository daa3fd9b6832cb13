"""Formulation `tasks` of `placement`: numbers of tasks for each machine and job, with big-M transfer rows."""

from __future__ import annotations

import math
from typing import NamedTuple

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import (
    Binary,
    Constraint,
    NonNegativeIntegers,
    NonNegativeReals,
    RangeSet,
    Set,
    Var,
    value,
)

from gangopt.base.types import Pyomo
from gangopt.formulations.deadline import require_time
from gangopt.formulations.placement._base import PlacementFormulation
from gangopt.formulations.placement.data import JobData, PlacementData, levels_of
from gangopt.formulations.placement.domains import Term, add_inside, add_use_of_tasks, capacities_of, hint_inside
from gangopt.formulations.placement.goal import add_goal
from gangopt.formulations.size import require_size
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.reasons import paused_reasons
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["BigM", "Tasks", "tasks", "transfer_big_m"]

LARGEST_TERM = 2.0**16
"""Longest transfer time in the scaled rows; solvers allow violations of about 1e-6, whatever the unit."""


class BigM(NamedTuple):
    """A constant that deactivates a row, with its derivation."""

    value: float
    origin: str


def transfer_big_m(job: JobData, least: float, kind: str) -> BigM:
    """Return the constant that deactivates a transfer row.

    With no task of the kind on a machine, the row reads t >= full - M, where full is the transfer time with all tasks
    of the other kind elsewhere. As t >= least holds anyway, M = full - least is enough.

    Parameters
    ----------
    job : JobData
        The job.
    least : float
        Least transfer time in seconds of the job on empty machines.
    kind : str
        `parameter_server` or `worker`.

    Returns
    -------
    BigM
        In seconds, at least 0.
    """
    full = job.sends(0) if kind == "parameter_server" else job.receives(0)
    origin = f"job {job.index}: {full:g} s for a {kind} with none of the others, less the least time {least:g} s"
    return BigM(max(0.0, full - least), origin)


class Tasks(PlacementFormulation):
    r"""Numbers of tasks of every job on every machine, with big-M rows for the transfer times.

    .. math::
        \sum_k p_{jk} = p_j z_j,\quad \sum_k w_{jk} = w_j z_j,\quad
        \sum_j (p_{jk} N_j^r + w_{jk} O_j^r) \le C_k^r \\
        t_j \ge \frac{S_j}{p_j B_j} (w_j z_j - w_{jk}) - M_j (1 - h^p_{jk}),\quad
        t_j \ge \frac{S_j}{p_j b_j} (p_j z_j - p_{jk}) - M'_j (1 - h^w_{jk}),\quad t_j \ge t^{min}_j z_j

    with h = 1 where the machine has a parameter server, or a worker, of the job. Jobs with a required level have rows
    as in `Pieces`. Minimise. Public components: Vars `parameter_servers_on` and `workers_on` [job, machine], Vars
    `placed`, `paused` and `transfer_time` [job], Var `inside` [job, node], Expression `use` [machine, resource],
    Expression `objective_value`; machines, nodes and resources by label.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.

    References
    ----------
    Optimus (EuroSys'18), section 4.2.
    """

    name = "tasks"

    def _fill(self, block: Pyomo, instance: PlacementInstance) -> None:
        J, K = len(instance.jobs), len(instance.machines)
        require_size("placement tasks", 4 * J * K + 3 * J)
        data = PlacementData.of(instance)
        least = []
        block.jobs, block.machines = RangeSet(0, J - 1), Set(initialize=instance.machines)
        pairs = (block.jobs, block.machines)
        with PauseGC():
            block.parameter_servers_on = Var(
                *pairs, domain=NonNegativeIntegers, bounds=lambda _b, j, _k: (0, data.jobs[j].ps)
            )
            block.workers_on = Var(
                *pairs, domain=NonNegativeIntegers, bounds=lambda _b, j, _k: (0, data.jobs[j].workers)
            )
            block.has_parameter_server = Var(*pairs, domain=Binary)
            block.has_worker = Var(*pairs, domain=Binary)
            block.placed = Var(block.jobs, domain=Binary)
            # a column of its own keeps large charges out of the objective where no job is paused
            block.paused = Var(block.jobs, domain=Binary)
            block.placed_or_paused = Constraint(block.jobs, rule=lambda b, j: b.placed[j] + b.paused[j] == 1)
            block.transfer_time = Var(block.jobs, domain=NonNegativeReals)
            for job in data.jobs:
                require_time()
                levels = levels_of(job, data.classes)
                least.append(levels[0].time if levels else 0.0)
                if not levels:
                    block.placed[job.index].setub(0)
            _add_counting(block, instance, data)
            _add_transfer(block, instance, data, least)
            _add_goal(block, instance, data)

    def _read(self, block: Pyomo, instance: PlacementInstance) -> PlacementSolution:
        pieces = []
        for j in range(len(instance.jobs)):
            counts = (
                (k, round(value(block.parameter_servers_on[j, label])), round(value(block.workers_on[j, label])))
                for k, label in enumerate(instance.machines)
            )
            placed = round(value(block.placed[j])) == 1
            pieces.append(tuple(item for item in counts if item[1] + item[2]) if placed else ())
        return PlacementSolution(tuple(pieces), paused_reasons(instance, pieces))

    def _hint(self, block: Pyomo, instance: PlacementInstance, solution: PlacementSolution) -> None:
        for name in ("parameter_servers_on", "workers_on", "has_parameter_server", "has_worker"):
            getattr(block, name).set_values(dict.fromkeys(getattr(block, name), 0))
        hint_inside(block, instance, solution)
        for job in PlacementData.of(instance).jobs:
            j, pieces = job.index, solution.pieces[job.index]
            for at, ps, workers in pieces:
                k = instance.machines[at]
                block.parameter_servers_on[j, k].set_value(ps)
                block.workers_on[j, k].set_value(workers)
                block.has_parameter_server[j, k].set_value(int(ps > 0 or job.hosts))
                block.has_worker[j, k].set_value(int(workers > 0 or job.hosts))
            block.placed[j].set_value(int(bool(pieces)))
            block.paused[j].set_value(int(not pieces))
            block.transfer_time[j].set_value(max((job.cost(piece[1:]) for piece in pieces), default=0.0))


tasks = Tasks()


def _add_counting(block: Pyomo, instance: PlacementInstance, data: PlacementData) -> None:
    jobs = data.jobs

    def place_all_parameter_servers(b: Pyomo, j: int) -> Pyomo:
        return sum(b.parameter_servers_on[j, k] for k in b.machines) == jobs[j].ps * b.placed[j]

    block.place_all_parameter_servers = Constraint(block.jobs, rule=place_all_parameter_servers)

    def place_all_workers(b: Pyomo, j: int) -> Pyomo:
        return sum(b.workers_on[j, k] for k in b.machines) == jobs[j].workers * b.placed[j]

    block.place_all_workers = Constraint(block.jobs, rule=place_all_workers)

    rooms = capacities_of(instance, data)

    def machine_capacity(b: Pyomo, k: str, resource: str) -> Pyomo:
        require_time()
        at, rows = rooms[resource]
        used = sum(
            job.ps_need[at] * b.parameter_servers_on[job.index, k] + job.worker_need[at] * b.workers_on[job.index, k]
            for job in jobs
        )
        return used <= rows[k]

    block.machine_capacity = Constraint(block.machines, list(rooms), rule=machine_capacity)
    add_inside(block, instance, lambda j: _terms(block, j))
    add_use_of_tasks(block, instance, ((j, term) for j in block.jobs for term in _terms(block, j)))


def _terms(block: Pyomo, j: int) -> list[Term]:
    """Return the variables of a job by machine, with the parameter servers and workers of one unit."""
    kinds = ((block.parameter_servers_on, 1, 0), (block.workers_on, 0, 1))
    return [(k, on[j, k], ps, workers) for k in block.machines for on, ps, workers in kinds]


def _add_goal(block: Pyomo, instance: PlacementInstance, data: PlacementData) -> None:
    coefficients, variables = [], []
    for job in data.jobs:
        fixed, a_second = job.charge()
        coefficients += [fixed, a_second, job.pause_charge]
        variables += [block.placed[job.index], block.transfer_time[job.index], block.paused[job.index]]
    add_goal(block, instance, coefficients, variables)


def _most_on(data: PlacementData) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the largest numbers of parameter servers and workers of a job on a machine of a class."""
    most = {}
    for job in data.jobs:
        for c, item in enumerate(data.classes):
            pieces = [*job.pieces(item.capacity), (0, 0)]
            most[job.index, c] = (max(x for x, _ in pieces), max(y for _, y in pieces))
    return most


def _row_scale(job: JobData) -> float:
    """Return the power of two that scales the longest transfer time to about `LARGEST_TERM`, without rounding."""
    longest = max(job.sends(0), job.receives(0))
    return float(2.0 ** round(math.log2(LARGEST_TERM / longest)))


def _add_transfer(block: Pyomo, instance: PlacementInstance, data: PlacementData, least: list[float]) -> None:
    class_of = dict(zip(instance.machines, data.class_of, strict=True))
    jobs, most = data.jobs, _most_on(data)
    scale = [_row_scale(job) for job in jobs]

    def parameter_server_present(b: Pyomo, j: int, k: str) -> Pyomo:
        require_time()
        return b.parameter_servers_on[j, k] <= most[j, class_of[k]][0] * b.has_parameter_server[j, k]

    block.parameter_server_present = Constraint(block.jobs, block.machines, rule=parameter_server_present)

    def worker_present(b: Pyomo, j: int, k: str) -> Pyomo:
        require_time()
        return b.workers_on[j, k] <= most[j, class_of[k]][1] * b.has_worker[j, k]

    block.worker_present = Constraint(block.jobs, block.machines, rule=worker_present)

    def parameter_server_transfer(b: Pyomo, j: int, k: str) -> Pyomo:
        require_time()
        job = jobs[j]
        away = job.workers * b.placed[j] - b.workers_on[j, k]
        off = transfer_big_m(job, least[j], "parameter_server").value * (1 - b.has_parameter_server[j, k])
        return scale[j] * b.transfer_time[j] >= scale[j] * (job.size / (job.ps * job.ps_bandwidth) * away - off)

    block.parameter_server_transfer = Constraint(block.jobs, block.machines, rule=parameter_server_transfer)

    def worker_transfer(b: Pyomo, j: int, k: str) -> Pyomo:
        require_time()
        job = jobs[j]
        away = job.ps * b.placed[j] - b.parameter_servers_on[j, k]
        off = transfer_big_m(job, least[j], "worker").value * (1 - b.has_worker[j, k])
        return scale[j] * b.transfer_time[j] >= scale[j] * (job.size / (job.ps * job.worker_bandwidth) * away - off)

    block.worker_transfer = Constraint(block.jobs, block.machines, rule=worker_transfer)

    def least_transfer_time(b: Pyomo, j: int) -> Pyomo:
        return scale[j] * b.transfer_time[j] >= scale[j] * least[j] * b.placed[j]

    block.least_transfer_time = Constraint(block.jobs, rule=least_transfer_time)

    if jobs[0].hosts:

        def hosts_charged_alike(b: Pyomo, j: int, k: str) -> Pyomo:
            return b.has_parameter_server[j, k] == b.has_worker[j, k]

        block.hosts_charged_alike = Constraint(block.jobs, block.machines, rule=hosts_charged_alike)
