r"""Base of the formulations of `bid`: the split of each phase of each offer.

.. math::

    \min\; & \frac1m \sum_o \Bigl(\text{elapsed} + \sum_i T_{oi}\Bigr) / T_{id}

    \text{whole, a GPU for every job:}\quad & \sum_k y_{ojk} = 1,\quad \sum_{jk} k\, y_{ojk} \le g_o,\quad
    T_{oi} \ge \sum_k t_{ojk}\, y_{ojk}

    \text{whole, more jobs than GPUs:}\quad & \sum_q z_{ojq} = 1,\quad T_{oi} \ge \sum_j t_{oj1}\, z_{ojq}

    \text{shared:}\quad & x_{oj} \ge w_j S_{oj},\quad \sum_j x_{oj} \le g_o T_{oi},\quad x_{oj} \le d_j T_{oi}
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Constraint, Expression, NonNegativeIntegers, NonNegativeReals, Set, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.deadline import paced, require_time
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.size import require_size
from gangopt.instances.bid.instance import BidInstance, BidSolution
from gangopt.instances.bid.rows import Split, queued, shared_row, whole_row

__all__ = ["SplitFormulation"]


class SplitFormulation(Formulation[BidInstance, BidSolution]):
    """A model of the splits of all offers, by job or by class of equal jobs.

    Attributes
    ----------
    merge : bool
        Whether equal jobs of a phase are merged into a class.
    """

    sense = "minimise"
    merge: ClassVar[bool]

    def _fill(self, block: Pyomo, instance: BidInstance) -> None:
        _fill(block, instance, self.name, _Classes(instance, merge=self.merge))

    def _read(self, block: Pyomo, instance: BidInstance) -> BidSolution:
        """Return the bid table given by `count`, `queue` or `length`; jobs of a class by index."""
        return _read(block, instance, _Classes(instance, merge=self.merge))

    def _hint(self, block: Pyomo, instance: BidInstance, solution: BidSolution) -> None:
        """Set every variable to a bid table; each job of a class gets the fewest GPUs that one of them has."""
        _hint(block, instance, solution, _Classes(instance, merge=self.merge))


class _Classes:
    """Classes of runs that differ only in their label, and the variables that each offer needs for them."""

    def __init__(self, instance: BidInstance, *, merge: bool) -> None:
        self.merge = merge
        self.members: dict[int, list[int]] = {}
        columns = (instance.phase, instance.work, instance.max_gpus, *instance.slowdown.T)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        first: dict[tuple[float, ...], int] = {}
        for j, row in enumerate(rows):
            self.members.setdefault(first.setdefault(row, j) if merge else j, []).append(j)
        self.of_phase = [[c for c in self.members if c in runs] for runs in instance.phases]

    def size(self, c: int) -> int:
        """Return the number of runs of a class."""
        return len(self.members[c])


@dataclass(frozen=True)
class _Keys:
    """Indices of the three kinds of variables."""

    counts: list[tuple[int, int, int]]
    queues: list[tuple[int, int, int]]
    shared: list[tuple[int, int]]


def _keys(instance: BidInstance, classes: _Classes) -> _Keys:
    keys = _Keys([], [], [])
    for o, gpus in enumerate(instance.offer_gpus.tolist()):
        for i, runs in enumerate(instance.phases):
            for c in classes.of_phase[i]:
                if instance.split == "shared":
                    keys.shared.append((o, c))
                elif len(runs) > gpus:
                    keys.queues.extend((o, c, q) for q in range(gpus))
                else:
                    most = min(int(instance.max_gpus[c]), 1 + (gpus - len(runs)) // classes.size(c))
                    keys.counts.extend((o, c, k) for k in range(1, most + 1))
    return keys


def _columns(instance: BidInstance, classes: _Classes) -> int:
    """Return the number of columns without listing them."""
    total = 0
    for gpus in instance.offer_gpus.tolist():
        for i, runs in enumerate(instance.phases):
            number = len(classes.of_phase[i])
            total += number if instance.split == "shared" else number * min(gpus, max(gpus - len(runs), 0) + 1)
            total += 1 + (number * gpus if len(runs) > gpus else 0)
    return total


def _fill(block: Pyomo, instance: BidInstance, form: str, classes: _Classes) -> None:
    columns = _columns(instance, classes)
    require_size(f"bid {form}", columns)
    require_time(columns)
    keys = _keys(instance, classes)
    with PauseGC():
        block.offers = Set(initialize=range(len(instance.offer_levels)))
        block.phases = Set(initialize=range(len(instance.phases)))
        block.length = Var(block.offers, block.phases, domain=NonNegativeReals)
        _add_counts(block, instance, classes, keys)
        _add_queues(block, instance, classes, keys)
        _add_shared(block, instance, classes, keys)
        _add_gpus_offered(block, instance, classes, keys)
        ideal, number = instance.ideal_seconds, len(instance.offer_levels)
        block.rho = Expression(
            block.offers,
            rule=lambda _, o: linear(
                [1 / ideal] * len(block.phases),
                [block.length[o, i] for i in block.phases],
                constant=instance.elapsed / ideal,
            ),
        )
        block.objective_value = Expression(
            expr=linear(
                [1 / ideal / number] * len(block.length),
                list(block.length.values()),
                constant=instance.elapsed / ideal,
            )
        )


def _add_counts(block: Pyomo, instance: BidInstance, classes: _Classes, keys: _Keys) -> None:
    """Add the choice of a number of GPUs for each job that does not share GPUs."""
    block.counts = Set(initialize=keys.counts, dimen=3)
    block.count = Var(block.counts, domain=NonNegativeIntegers, bounds=(0, 1))
    choices: dict[tuple[int, int], list[int]] = defaultdict(list)
    for o, c, k in paced(keys.counts):
        choices[o, c].append(k)
    block.counted = Set(initialize=list(choices), dimen=2)
    block.one_count_per_job = Constraint(
        block.counted,
        rule=lambda _, o, c: (1, sum_of([block.count[o, c, k] for k in choices[o, c]]), 1),
    )

    def lasts(_: Pyomo, o: int, c: int) -> Pyomo:
        times = [-_seconds(instance, o, c, k) for k in choices[o, c]]
        terms = [block.count[o, c, k] for k in choices[o, c]]
        body = linear([1, *times], [block.length[o, int(instance.phase[c])], *terms])
        return (0, body, None)

    block.length_of_counts = Constraint(block.counted, rule=lasts)


def _seconds(instance: BidInstance, offer: int, run: int, gpus: int) -> float:
    level = 1 if gpus == 1 else int(instance.offer_gpus[offer])
    return float(instance.work[run] * instance.factor(offer, level)[run] / gpus)


def _add_queues(block: Pyomo, instance: BidInstance, classes: _Classes, keys: _Keys) -> None:
    """Add the choice of a queue for each job that waits for a GPU."""
    block.places = Set(initialize=keys.queues, dimen=3)
    block.queue = Var(block.places, domain=NonNegativeIntegers, bounds=lambda _, o, c, q: (0, classes.size(c)))
    places: dict[tuple[int, int], list[Pyomo]] = defaultdict(list)
    waiting: dict[tuple[int, int, int], tuple[list[float], list[Pyomo]]] = defaultdict(lambda: ([], []))
    for o, c, q in paced(keys.queues):
        places[o, c].append(block.queue[o, c, q])
        times, terms = waiting[o, int(instance.phase[c]), q]
        times.append(_seconds(instance, o, c, 1))
        terms.append(block.queue[o, c, q])
    block.queued = Set(initialize=list(places), dimen=2)
    block.one_queue_per_job = Constraint(
        block.queued,
        rule=lambda _, o, c: (classes.size(c), sum_of(places[o, c]), classes.size(c)),
    )
    block.queues = Set(initialize=list(waiting), dimen=3)

    def lasts(_: Pyomo, o: int, i: int, q: int) -> Pyomo:
        times, terms = waiting[o, i, q]
        body = linear([1, *(-item for item in times)], [block.length[o, i], *terms])
        return (0, body, None)

    block.length_of_queues = Constraint(block.queues, rule=lasts)
    if classes.merge:

        def ordered(_: Pyomo, o: int, i: int, q: int) -> Pyomo:
            if (o, i, q + 1) not in waiting:
                return Constraint.Skip
            times, terms = waiting[o, i, q]
            shorter, others = waiting[o, i, q + 1]
            coefficients = [*times, *(-item for item in shorter)]
            return (0, linear(coefficients, [*terms, *others]), None)

        block.longest_queue_first = Constraint(block.queues, rule=ordered)


def _add_shared(block: Pyomo, instance: BidInstance, classes: _Classes, keys: _Keys) -> None:
    """Add the GPU time of each job where jobs share GPUs."""
    demands = {o: instance.demands(o).tolist() for o in {key[0] for key in keys.shared}}
    block.shared = Set(initialize=keys.shared, dimen=2)
    block.gpu_seconds = Var(block.shared, domain=NonNegativeReals)
    block.all_work = Constraint(block.shared, rule=lambda _, o, c: (demands[o][c], block.gpu_seconds[o, c], None))

    def demand(_: Pyomo, o: int, c: int) -> Pyomo:
        terms = [block.gpu_seconds[o, c], block.length[o, int(instance.phase[c])]]
        return (None, linear([1, -int(instance.max_gpus[c])], terms), 0)

    block.demand = Constraint(block.shared, rule=demand)


def _add_gpus_offered(block: Pyomo, instance: BidInstance, classes: _Classes, keys: _Keys) -> None:
    """Add a capacity row for each phase of each offer whose GPUs are counted."""
    used: dict[tuple[int, int], tuple[list[float], list[Pyomo]]] = defaultdict(lambda: ([], []))
    for o, c, k in paced(keys.counts):
        coefficients, terms = used[o, int(instance.phase[c])]
        coefficients.append(k * classes.size(c))
        terms.append(block.count[o, c, k])
    for o, c in paced(keys.shared):
        coefficients, terms = used[o, int(instance.phase[c])]
        coefficients.append(classes.size(c))
        terms.append(block.gpu_seconds[o, c])
    block.split_phases = Set(initialize=list(used), dimen=2)

    def offered(_: Pyomo, o: int, i: int) -> Pyomo:
        coefficients, terms = used[o, i]
        gpus = int(instance.offer_gpus[o])
        if instance.split == "whole":
            return (None, linear(coefficients, terms), gpus)
        body = linear([*coefficients, -gpus], [*terms, block.length[o, i]])
        return (None, body, 0)

    block.gpus_offered = Constraint(block.split_phases, rule=offered)


def _read(block: Pyomo, instance: BidInstance, classes: _Classes) -> BidSolution:
    offers = range(len(instance.offer_levels))
    if instance.split == "shared":
        lengths = [[value(block.length[o, i]) for i in block.phases] for o in offers]
        return BidSolution(tuple(shared_row(instance, o, lengths[o]) for o in offers))
    held = {(o, j): k for (o, c, k), item in block.count.items() if value(item) > 0.5 for j in classes.members[c]}
    waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
    for (o, c, q), item in block.queue.items():
        waiting[o, c] += [q] * round(value(item))
    queue = {(o, j): q for (o, c), queues in waiting.items() for j, q in zip(classes.members[c], queues, strict=True)}

    def split(o: int, runs: range) -> Split:
        if (o, runs.start) in queue:
            return queued([queue[o, j] for j in runs])
        return tuple(held[o, j] for j in runs), (None,) * len(runs)

    return BidSolution(tuple(whole_row(instance, o, [split(o, runs) for runs in instance.phases]) for o in offers))


def _hint(block: Pyomo, instance: BidInstance, solution: BidSolution, classes: _Classes) -> None:
    for (o, i), item in block.length.items():
        item.set_value(solution.rows[o].seconds[i])
    for (o, c, k), item in block.count.items():
        item.set_value(int(k == min(solution.rows[o].shares[j] for j in classes.members[c])))
    places = {(o, i): _ranks(instance, solution, o, i) for o, i, q in block.queues if q == 0}
    for (o, c, q), item in block.queue.items():
        rank = places[o, int(instance.phase[c])] if classes.merge else None
        queues = [solution.rows[o].queues[j] or 0 for j in classes.members[c]]
        item.set_value(sum(q == (k if rank is None else rank[k]) for k in queues))
    for (o, c), item in block.gpu_seconds.items():
        row = solution.rows[o]
        item.set_value(row.shares[c] * row.seconds[int(instance.phase[c])])


def _ranks(instance: BidInstance, solution: BidSolution, offer: int, phase: int) -> dict[int, int]:
    """Return the position of each queue of a phase by length, longest first."""
    loads = dict.fromkeys(range(int(instance.offer_gpus[offer])), 0.0)
    for j in instance.phases[phase]:
        loads[solution.rows[offer].queues[j] or 0] += _seconds(instance, offer, j, 1)
    return {queue: rank for rank, queue in enumerate(sorted(loads, key=lambda q: (-loads[q], q)))}
