r"""Formulation `event` of `schedule`: running times of sets of gangs between arrivals and completions.

.. math::

    \min\ & \tfrac{1}{n} \sum_k (T_k - r_k), \qquad
        \sum_{k' \le k} \sum_{a, S \ni j} x_{k'aS} \ge d_j \sum_{k' \le k} z_{jk'}

Position k is the k-th completion, at time T_k; a cell (k, a) is the time of epoch a between completions k - 1 and k.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, Expression, NonNegativeIntegers, NonNegativeReals, Set, Var, value

from gangopt.base.errors import ModelTooLargeError
from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.schedule.sets import Epoch, epochs, maximal_sets, packing
from gangopt.formulations.size import require_size
from gangopt.instances.schedule.instance import Run, ScheduleInstance, ScheduleSolution

__all__ = ["MAX_SETS", "Event", "event", "time_unit"]

MAX_SETS = 20_000
"""Largest number of sets of jobs that can run at once, over all epochs."""


@dataclass(frozen=True)
class _Cells:
    """Epochs with the sets of jobs that can run in each."""

    epochs: list[Epoch]
    sets: list[list[tuple[int, ...]]]

    def length(self, a: int) -> float:
        """Return the length of an epoch in s."""
        return self.epochs[a].end - self.epochs[a].start


def _cells(instance: ScheduleInstance) -> _Cells:
    found: list[list[tuple[int, ...]]] = []
    cells = epochs(instance)
    for epoch in cells:
        room = MAX_SETS - sum(map(len, found))
        sets = maximal_sets(instance, epoch.jobs, room)
        if sets is None:
            raise ModelTooLargeError(
                f"formulation schedule event: more than {MAX_SETS:,} sets of jobs can run at once in {instance.name}"
            )
        found.append(sets)
    return _Cells(cells, found)


def time_unit(instance: ScheduleInstance) -> float:
    """Return the unit of time of the model in s: the slot, or a power of two near the mean running time.

    Parameters
    ----------
    instance : ScheduleInstance
        The jobs.
    """
    if instance.slot is not None:
        return instance.slot
    return float(2.0 ** np.round(np.log2(instance.duration.mean())))


class Event(Formulation[ScheduleInstance, ScheduleSolution]):
    """The order of completions and the running times of sets between them.

    Public components: Var `completes` [job, position], 1 if the job is the position-th to complete; Var `length`
    [position, epoch, number of the set], in `time_unit`, integer with a slot; Var `passed` [position, epoch], 1 if the
    completion of the position lies at or after the end of the epoch; Expression `completion` [position], in units from
    the first arrival; Expression `objective_value`, in s.

    Raises
    ------
    ModelTooLargeError
        If too many sets of jobs can run at once.
    """

    name = "event"
    sense = "minimise"

    def _fill(self, block: Pyomo, instance: ScheduleInstance) -> None:
        n = len(instance.jobs)
        cells = _cells(instance)
        require_size("schedule event", n * (n + sum(len(sets) + 2 for sets in cells.sets)))
        with PauseGC():
            _add_variables(block, instance, cells)
            _add_order(block, instance, cells)
            _add_path(block, instance, cells)
            _add_objective(block, instance, cells)

    def _read(self, block: Pyomo, instance: ScheduleInstance) -> ScheduleSolution:
        """Return the schedule given by `length`, with exact running times.

        Stretches are run in order of epoch and position. A job leaves its sets once it has run for d_j; time that is
        missing because of solver tolerances is added to its last stretch.
        """
        cells, unit = _cells(instance), time_unit(instance)
        chosen = []
        for k, a, s in sorted(block.length, key=lambda key: (key[1], key[0], key[2])):
            amount = float(value(block.length[k, a, s]))
            amount = round(amount) if instance.slot is not None else amount
            if s >= 0 and amount > 1e-9:
                chosen.append((a, cells.sets[a][s], amount * unit))
        final = {j: index for index, (_, members, _) in enumerate(chosen) for j in members}
        left = instance.duration.tolist()
        runs: list[list[Run]] = [[] for _ in left]
        now = cells.epochs[0].start
        for index, (a, members, amount) in enumerate(chosen):
            now = max(now, cells.epochs[a].start)
            working = [j for j in members if left[j] > 0]
            lacking = max((left[j] for j in working if final[j] == index), default=0.0)
            places = packing(instance, tuple(working)) or {}
            seconds = max(amount, lacking)
            for j in working:
                ends = left[j] <= seconds * (1 + 1e-12)
                _append(runs[j], Run(now, now + (left[j] if ends else seconds), places[j]))
                left[j] = 0.0 if ends else left[j] - seconds
            now += seconds
        return ScheduleSolution(tuple(map(tuple, runs)))

    def _hint(self, block: Pyomo, instance: ScheduleInstance, solution: ScheduleSolution) -> None:
        """Set every variable to a solution, for a warm start; jobs are added to sets with room for them."""
        cells, unit = _cells(instance), time_unit(instance)
        ends = np.array([runs[-1].end for runs in solution.runs])
        order = np.argsort(ends, kind="stable")
        completion = ends[order]
        for variable in (block.completes, block.length, block.passed):
            for item in variable.values():
                item.set_value(0)
        for position, j in enumerate(order.tolist(), start=1):
            block.completes[instance.jobs[j], position].set_value(1)
            for a, epoch in enumerate(cells.epochs[:-1]):
                block.passed[position, a].set_value(int(completion[position - 1] >= epoch.end))
        if block.component("job_completion") is not None:
            for job, end in zip(instance.jobs, ends.tolist(), strict=True):
                block.job_completion[job].set_value((end - cells.epochs[0].start) / unit)
        lengths: dict[tuple[int, int, int], float] = {}
        times = sorted(
            {t for runs in solution.runs for run in runs for t in (run.start, run.end)}
            | {e.start for e in cells.epochs}
        )
        for start, end in pairwise(times):
            a = max(number for number, epoch in enumerate(cells.epochs) if epoch.start <= start)
            k = int(np.searchsorted(completion, start, side="right")) + 1
            running = {
                j for j, runs in enumerate(solution.runs) if any(r.start <= start and r.end >= end for r in runs)
            }
            if k > len(order):
                break
            s = -1 if not running else next(s for s, members in enumerate(cells.sets[a]) if running <= set(members))
            lengths[k, a, s] = lengths.get((k, a, s), 0.0) + (end - start) / unit
        for key, amount in lengths.items():
            block.length[key].set_value(round(amount) if instance.slot is not None else amount)


event = Event()


def _add_variables(block: Pyomo, instance: ScheduleInstance, cells: _Cells) -> None:
    positions = range(1, len(instance.jobs) + 1)
    numbers = range(len(cells.epochs))
    block.jobs = Set(initialize=list(instance.jobs))
    block.positions = Set(initialize=list(positions))
    block.epochs = Set(initialize=list(numbers))
    # set -1 is time in which nothing runs
    stretches = [(k, a, s) for k in positions for a in numbers for s in range(-1, len(cells.sets[a]))]
    block.stretches = Set(initialize=stretches, dimen=3)
    block.completes = Var(block.jobs, block.positions, domain=Binary)
    domain = NonNegativeReals if instance.slot is None else NonNegativeIntegers
    unit = time_unit(instance)
    block.length = Var(block.stretches, domain=domain, bounds=lambda _, k, a, s: (0, cells.length(a) / unit))
    block.passed = Var(block.positions, [a for a in numbers if a < len(numbers) - 1], domain=Binary)


def _in_cell(block: Pyomo, cells: _Cells, k: int, a: int) -> list[Pyomo]:
    return [block.length[k, a, s] for s in range(-1, len(cells.sets[a]))]


def _add_order(block: Pyomo, instance: ScheduleInstance, cells: _Cells) -> None:
    positions = list(block.positions)
    unit = time_unit(instance)
    block.one_position_per_job = Constraint(
        block.jobs, rule=lambda _, job: (1, sum_of([block.completes[job, k] for k in positions]), 1)
    )
    block.one_job_per_position = Constraint(
        block.positions, rule=lambda _, k: (1, sum_of([block.completes[job, k] for job in block.jobs]), 1)
    )
    rows = {}
    for j, job in enumerate(instance.jobs):
        having = [(a, s) for a, sets in enumerate(cells.sets) for s, members in enumerate(sets) if j in members]
        need = float(instance.duration[j]) / unit
        done: list[Pyomo] = []
        for k in positions:
            done += [block.length[k, a, s] for a, s in having]
            by_then = [block.completes[job, before] for before in positions[:k]]
            rows[job, k] = (0, linear([1.0] * len(done) + [-need] * k, [*done, *by_then]), None)
    block.work_done = Constraint(block.jobs, block.positions, rule=lambda _, job, k: rows[job, k])


def _add_path(block: Pyomo, instance: ScheduleInstance, cells: _Cells) -> None:
    """Add the rows that make the cells in use a path: each epoch is filled before the next one."""
    unit, last = time_unit(instance), len(cells.epochs) - 1
    positions = list(block.positions)
    pairs = [(k, a) for k in positions for a in block.epochs]
    closed = [(k, a) for k, a in pairs if a < last]

    def within(_: Pyomo, k: int, a: int) -> Pyomo:
        length = cells.length(a) / unit
        cell = _in_cell(block, cells, k, a)
        if k == 1 or a == last:
            return (None, sum_of(cell), length)
        return (None, linear([1.0] * len(cell) + [length], [*cell, block.passed[k - 1, a]]), length)

    def after(_: Pyomo, k: int, a: int) -> Pyomo:
        cell = _in_cell(block, cells, k, a)
        return (None, linear([1.0] * len(cell) + [-cells.length(a) / unit], [*cell, block.passed[k, a - 1]]), 0)

    def filled(_: Pyomo, k: int, a: int) -> Pyomo:
        cell = [item for before in positions[:k] for item in _in_cell(block, cells, before, a)]
        return (0, linear([1.0] * len(cell) + [-cells.length(a) / unit], [*cell, block.passed[k, a]]), None)

    def capacity(_: Pyomo, a: int) -> Pyomo:
        cell = [item for k in positions for item in _in_cell(block, cells, k, a)]
        return (None, sum_of(cell), cells.length(a) / unit)

    block.before_epoch_is_passed = Constraint(pairs, rule=within)
    block.after_epoch_is_passed = Constraint([(k, a) for k, a in pairs if a], rule=after)
    block.epoch_filled_when_passed = Constraint(closed, rule=filled)
    block.epoch_length = Constraint(block.epochs, rule=capacity)
    block.passed_in_order = Constraint(
        [(k, a) for k, a in closed if k > 1],
        rule=lambda _, k, a: (None, linear([1, -1], [block.passed[k - 1, a], block.passed[k, a]]), 0),
    )
    block.completes_after_arrival = Constraint(
        [(j, k) for j in range(len(instance.jobs)) for k in positions if instance.arrival[j] > cells.epochs[0].start],
        rule=lambda _, j, k: _arrival_row(block, instance, cells, j, k),
    )


def _arrival_row(block: Pyomo, instance: ScheduleInstance, cells: _Cells, j: int, k: int) -> Pyomo:
    before = max(a for a, epoch in enumerate(cells.epochs) if epoch.end <= instance.arrival[j])
    return (None, linear([1, -1], [block.completes[instance.jobs[j], k], block.passed[k, before]]), 0)


def _add_objective(block: Pyomo, instance: ScheduleInstance, cells: _Cells) -> None:
    unit, positions = time_unit(instance), list(block.positions)
    start = cells.epochs[0].start
    lengths = {k: [item for a in block.epochs for item in _in_cell(block, cells, k, a)] for k in positions}
    block.completion = Expression(
        block.positions, rule=lambda _, k: sum_of([item for before in positions[:k] for item in lengths[before]])
    )
    weights = instance.weights
    total = float(weights.sum())
    late = float((weights * (instance.arrival - start)).sum()) / total
    if (weights == weights[0]).all():
        n = len(positions)
        shares = [(n - k + 1) * unit / n for k in positions for _ in lengths[k]]
        items = [item for k in positions for item in lengths[k]]
        block.objective_value = Expression(expr=linear(shares, items, constant=-late))
        return
    horizon = (cells.epochs[-1].end - start) / unit
    block.job_completion = Var(block.jobs, domain=NonNegativeReals, bounds=(0, horizon))
    rows = {}
    for job in instance.jobs:
        for k in positions:
            time = [item for before in positions[:k] for item in lengths[before]]
            earlier = [block.completes[job, before] for before in positions[: k - 1]]
            # a job at an earlier position is released from the row by the horizon, which no completion exceeds
            coefficients = [1.0, *[-1.0] * len(time), *[horizon] * len(earlier)]
            rows[job, k] = (0, linear(coefficients, [block.job_completion[job], *time, *earlier]), None)
    block.completion_at_position = Constraint(block.jobs, block.positions, rule=lambda _, job, k: rows[job, k])
    soonest = (instance.arrival - start + instance.duration) / unit
    block.completion_after_running_time = Constraint(
        block.jobs,
        rule=lambda _, job: (float(soonest[instance.jobs.index(job)]), linear([1], [block.job_completion[job]]), None),
    )
    shares = (weights * unit / total).tolist()
    block.objective_value = Expression(expr=linear(shares, list(block.job_completion.values()), constant=-late))


def _append(runs: list[Run], run: Run) -> None:
    """Add a run; extend the previous one if it is the same."""
    if runs and runs[-1].end == run.start and runs[-1].places == run.places:
        run = Run(runs.pop().start, run.end, run.places)
    runs.append(run)
