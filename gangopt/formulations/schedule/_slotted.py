r"""Formulation `slotted` of `schedule`: a binary for each job and slot.

.. math::

    \min\ & \frac{\sum_j v_j\, s \sum_{t \ge r_j} u_{jt}}{\sum_j v_j}, \qquad x_{jt} \le u_{jt}, \quad
        u_{jt} \ge u_{j,t+1}, \quad \sum_j W_j x_{jt} \le G, \quad \sum_t x_{jt} = d_j
"""

from __future__ import annotations

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, Expression, NonNegativeIntegers, Set, Var, value

from gangopt.base.errors import InputError
from gangopt.base.types import Ints, Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.size import require_size
from gangopt.instances.schedule.instance import Run, ScheduleInstance, ScheduleSolution, fewest_machines

__all__ = ["Slotted", "horizon", "slotted", "slotted_columns"]


def _slots(instance: ScheduleInstance) -> tuple[Ints, Ints]:
    """Return arrival and duration of each job in slots."""
    if instance.slot is None:
        raise InputError(f"formulation slotted requires a slot ({instance.name} has none); use formulation event")
    return (
        np.round(instance.arrival / instance.slot).astype(np.int64),
        np.round(instance.duration / instance.slot).astype(np.int64),
    )


def horizon(instance: ScheduleInstance) -> int:
    """Return a slot by whose start some optimal schedule has ended.

    In some optimal schedule, no job that fits waits. So some job runs in each slot after the last arrival. With GPUs
    that are only counted, more than G - max W of them are busy while a job waits, and at most max d slots follow.

    Parameters
    ----------
    instance : ScheduleInstance
        The jobs, with a slot.

    Returns
    -------
    int
        In slots from time 0.
    """
    arrival, duration = _slots(instance)
    one_by_one = int(duration.sum())
    if instance.machines:
        return int(arrival.max()) + one_by_one
    least_used = instance.n_gpus - int(instance.gpus.max()) + 1
    crowded = -(-int((instance.gpus * duration).sum()) // least_used) + int(duration.max())
    return int(arrival.max()) + min(one_by_one, crowded)


def slotted_columns(instance: ScheduleInstance) -> int:
    """Return the number of columns of the model.

    Parameters
    ----------
    instance : ScheduleInstance
        The jobs, with a slot.
    """
    arrival, _ = _slots(instance)
    return int((horizon(instance) - arrival).sum()) * (2 + 2 * len(instance.machines))


class Slotted(Formulation[ScheduleInstance, ScheduleSolution]):
    """One binary for each job and slot.

    Public components: Var `run` [job, slot], 1 if the job runs in the slot, slots counted from time 0; Var `open`
    [job, slot], 1 if it has not completed by the slot's start; with machines Var `held` [job, machine, slot], GPUs, and
    Var `uses` [job, machine, slot], 1 if there are any; Expression `objective_value`, in s.

    Raises
    ------
    InputError
        If the instance has no slot: its optimum may be better than with slots.
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "slotted"
    sense = "minimise"

    def _fill(self, block: Pyomo, instance: ScheduleInstance) -> None:
        arrival, duration = _slots(instance)
        end = horizon(instance)
        require_size("schedule slotted", slotted_columns(instance))
        label = dict(enumerate(instance.jobs))
        slots = {j: range(int(arrival[j]), end) for j in label}
        with PauseGC():
            block.jobs = Set(initialize=list(instance.jobs))
            block.slots = Set(initialize=list(range(int(arrival.min()), end)))
            block.job_slots = Set(initialize=[(label[j], t) for j in label for t in slots[j]], dimen=2)
            block.run = Var(block.job_slots, domain=Binary)
            block.open = Var(block.job_slots, domain=Binary)
            number = {job: j for j, job in label.items()}
            block.work_done = Constraint(
                block.jobs,
                rule=lambda _, job: (
                    int(duration[number[job]]),
                    sum_of([block.run[job, t] for t in slots[number[job]]]),
                    int(duration[number[job]]),
                ),
            )
            block.runs_while_open = Constraint(
                block.job_slots,
                rule=lambda _, job, t: (None, linear([1, -1], [block.run[job, t], block.open[job, t]]), 0),
            )
            block.stays_completed = Constraint(
                [(label[j], t) for j in label for t in slots[j][1:]],
                rule=lambda _, job, t: (None, linear([1, -1], [block.open[job, t], block.open[job, t - 1]]), 0),
            )
            block.completion_after_mean_busy = Constraint(
                block.jobs,
                rule=lambda _, job: _mean_busy_row(block, job, slots[number[job]], int(duration[number[job]])),
            )
            block.gpu_capacity = Constraint(block.slots, rule=lambda _, t: _capacity_row(block, instance, slots, t))
            if instance.machines:
                _add_machines(block, instance)
            share = float(instance.slot or 0) / float(instance.weights.sum())
            shares = [float(instance.weights[j]) * share for j in label for _ in slots[j]]
            block.objective_value = Expression(expr=linear(shares, list(block.open.values())))

    def _read(self, block: Pyomo, instance: ScheduleInstance) -> ScheduleSolution:
        """Return the schedule given by `run` and `held`."""
        assert instance.slot is not None
        runs: dict[str, list[tuple[int, int, tuple[tuple[int, int], ...]]]] = {job: [] for job in instance.jobs}
        for job, t in block.job_slots:
            if value(block.run[job, t]) < 0.5:
                continue
            counts = [(m, round(value(block.held[job, m, t]))) for m in range(len(instance.machines))]
            places = tuple((m, count) for m, count in counts if count)
            before = runs[job][-1] if runs[job] else None
            if before is not None and before[1] == t and before[2] == places:
                runs[job][-1] = (before[0], t + 1, places)
            else:
                runs[job].append((t, t + 1, places))
        slot = instance.slot
        return ScheduleSolution(
            tuple(
                tuple(Run(start * slot, end * slot, places) for start, end, places in runs[job])
                for job in instance.jobs
            )
        )

    def _hint(self, block: Pyomo, instance: ScheduleInstance, solution: ScheduleSolution) -> None:
        """Set every variable to a solution, for a warm start; runs after the horizon are left out."""
        assert instance.slot is not None
        for job, runs in zip(instance.jobs, solution.runs, strict=True):
            end = round(runs[-1].end / instance.slot)
            place = {t: run.places for run in runs for t in _covered(run, instance.slot)}
            for t in (t for held_by, t in block.job_slots if held_by == job):
                block.run[job, t].set_value(int(t in place))
                block.open[job, t].set_value(int(t < end))
                counts = dict(place.get(t, ()))
                for m in range(len(instance.machines)):
                    block.held[job, m, t].set_value(counts.get(m, 0))
                    block.uses[job, m, t].set_value(int(m in counts))


slotted = Slotted()


def _mean_busy_row(block: Pyomo, job: str, slots: range, duration: int) -> Pyomo:
    """Return d (C - r) >= sum_t (t - r + 1/2) x_t + d^2/2, with C - r the number of open slots."""
    late = [float(t - slots.start) + 0.5 for t in slots]
    terms = [block.open[job, t] for t in slots] + [block.run[job, t] for t in slots]
    return (duration**2 / 2, linear([float(duration)] * len(late) + [-value for value in late], terms), None)


def _capacity_row(block: Pyomo, instance: ScheduleInstance, slots: dict[int, range], t: int) -> Pyomo:
    present = [j for j in slots if t in slots[j]]
    gangs = [int(instance.gpus[j]) for j in present]
    return (None, linear(gangs, [block.run[instance.jobs[j], t] for j in present]), instance.n_gpus)


def _add_machines(block: Pyomo, instance: ScheduleInstance) -> None:
    fewest = dict(zip(instance.jobs, fewest_machines(instance.machines, instance.gpus).tolist(), strict=True))
    gang = dict(zip(instance.jobs, instance.gpus.tolist(), strict=True))
    machines = list(range(len(instance.machines)))
    block.machines = Set(initialize=machines)
    keys = [(job, m, t) for job, t in block.job_slots for m in machines]
    block.held = Var(
        keys, domain=NonNegativeIntegers, bounds=lambda _, job, m, t: (0, min(gang[job], instance.machines[m]))
    )
    block.uses = Var(keys, domain=Binary)
    block.whole_gang = Constraint(
        block.job_slots,
        rule=lambda _, job, t: (
            0,
            linear([1] * len(machines) + [-gang[job]], [*(block.held[job, m, t] for m in machines), block.run[job, t]]),
            0,
        ),
    )
    block.fewest_machines = Constraint(
        block.job_slots,
        rule=lambda _, job, t: (
            None,
            linear(
                [1] * len(machines) + [-fewest[job]], [*(block.uses[job, m, t] for m in machines), block.run[job, t]]
            ),
            0,
        ),
    )
    block.held_where_used = Constraint(
        keys,
        rule=lambda _, job, m, t: (
            None,
            linear([1, -min(gang[job], instance.machines[m])], [block.held[job, m, t], block.uses[job, m, t]]),
            0,
        ),
    )
    present: dict[int, list[str]] = {}
    for job, t in block.job_slots:
        present.setdefault(t, []).append(job)
    block.machine_capacity = Constraint(
        block.machines,
        block.slots,
        rule=lambda _, m, t: (None, sum_of([block.held[job, m, t] for job in present[t]]), instance.machines[m]),
    )


def _covered(run: Run, slot: float) -> range:
    return range(round(run.start / slot), round(run.end / slot))
