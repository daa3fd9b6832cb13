r"""Decide whether jobs fit into queues of a given length, as a flow of GPUs through the sums of their times.

Nodes are the possible lengths of a queue with its jobs in descending order; an arc from u to u + p is a job of time p.
Every GPU is a path from 0. An integer flow of g units that uses each job once is a split; its linear relaxation is
very tight.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array

from gangopt.base.interrupts import unless_interrupted
from gangopt.solvers.highs import LinearArrays, SolverOutcome, SolveSettings, solve_arrays

__all__ = ["MAX_ARCS", "FlowAnswer", "queues_by_flow"]

MAX_ARCS = 30_000
"""Maximum number of arcs of the graph."""


@dataclass(frozen=True)
class FlowAnswer:
    """Answer of a flow model for a length.

    Attributes
    ----------
    fits : bool or None
        Whether the jobs fit; None if the graph was too large or the solver was cut off.
    queues : list of int or None
        Queue of every job if they fit.
    outcome : SolverOutcome or None
        Outcome of HiGHS, None if it was not called.
    """

    fits: bool | None
    queues: list[int] | None = None
    outcome: SolverOutcome | None = None


def queues_by_flow(
    times: Sequence[int], gpus: int, length: int, settings: SolveSettings, *, relaxed: bool = False
) -> FlowAnswer:
    """Return whether jobs fit into queues of at most a length, and a split if they do.

    Parameters
    ----------
    times : sequence of int
        Integer times, > 0.
    gpus : int
        Number of queues.
    length : int
        Maximum length of a queue.
    settings : SolveSettings
        Settings of HiGHS.
    relaxed : bool, optional
        Solve the linear relaxation only; `fits` then means that it does not exclude a split.

    References
    ----------
    Valerio de Carvalho: Exact solution of bin-packing problems using column generation and branch-and-bound, 1999.
    """
    numbers = Counter(times)
    arcs = _arcs(numbers, length)
    if arcs is None:
        return FlowAnswer(None)
    arrays = _model(numbers, arcs, gpus, relaxed=relaxed)
    outcome = unless_interrupted(solve_arrays(arrays, replace(settings, rel_gap=0.0, explain=False)))
    if outcome.termination == "infeasible":
        return FlowAnswer(False, None, outcome)
    if outcome.values is None:
        return FlowAnswer(None, None, outcome)
    queues = None if relaxed else _paths(times, arcs, outcome.values, gpus)
    return FlowAnswer(True, queues, outcome)


def _arcs(numbers: Counter[int], length: int) -> list[tuple[int, int]] | None:
    """Return arcs (from, time) in ascending order, None if there are too many or a job is too long."""
    reached = {0}
    arcs: set[tuple[int, int]] = set()
    for item in sorted(numbers, reverse=True):
        for begin in sorted(reached):
            most = min(numbers[item], (length - begin) // item)
            for k in range(most):
                arcs.add((begin + k * item, item))
                reached.add(begin + (k + 1) * item)
        if len(arcs) > MAX_ARCS:
            return None
    return sorted(arcs)


def _model(numbers: Counter[int], arcs: list[tuple[int, int]], gpus: int, *, relaxed: bool) -> LinearArrays:
    """Return the model: one row per time, then one row per node for the conservation of flow."""
    items = {item: row for row, item in enumerate(sorted(numbers, reverse=True))}
    nodes = {node: len(items) + k for k, node in enumerate(sorted({0, *(begin + item for begin, item in arcs)}))}
    rows, columns, values = [], [], []
    for column, (begin, item) in enumerate(arcs):
        rows += [items[item], nodes[begin], nodes[begin + item]]
        columns += [column] * 3
        values += [1.0, 1.0, -1.0]
    shape = (len(items) + len(nodes), len(arcs))
    matrix = coo_array((values, (rows, columns)), shape=shape).tocsr()
    lower = np.full(shape[0], -np.inf)
    upper = np.zeros(shape[0])
    for item, row in items.items():
        lower[row] = upper[row] = numbers[item]
    upper[nodes[0]] = gpus
    most = np.array([float(min(numbers[item], gpus)) for _, item in arcs])
    integer = np.full(len(arcs), not relaxed)
    return LinearArrays.from_matrix(np.zeros(len(arcs)), matrix, lower, upper, np.zeros(len(arcs)), most, integer)


def _paths(times: Sequence[int], arcs: list[tuple[int, int]], flow: np.ndarray, gpus: int) -> list[int]:
    """Return the queue of every job by decomposing a flow into paths."""
    leaving: dict[int, list[int]] = defaultdict(list)
    for (begin, item), amount in zip(arcs, flow.tolist(), strict=True):
        leaving[begin] += [item] * round(amount)
    waiting: dict[int, list[int]] = defaultdict(list)
    for queue in range(gpus):
        node = 0
        while leaving[node]:
            item = leaving[node].pop()
            waiting[item].append(queue)
            node += item
    following = {item: iter(queues) for item, queues in waiting.items()}
    return [next(following[item]) for item in times]
