"""Heuristics of problem `interval`: one method allocates, another places, as schedulers do."""

from __future__ import annotations

import dataclasses
import inspect
import math
import typing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gangopt.base.errors import InfeasibleError, InputError, NoSolutionError
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.registry.problem import Method
from gangopt.registry.records import problems

__all__ = ["admitted", "attempts", "in_turn", "pair", "retry", "signed", "split_options"]

Allocate = Callable[[AllocationInstance], AllocationSolution]
Place = Callable[[Any], PlacementSolution]


def in_turn(instance: IntervalInstance, allocate: Allocate, place: Place) -> IntervalSolution:
    """Allocate within the cluster's capacities, then place, pausing jobs that do not fit.

    If not even the smallest configurations of all jobs fit together, the allocator gets only the jobs that do, smallest
    first (`admitted`); the others keep their smallest configuration and are paused if it cannot be placed.

    Parameters
    ----------
    instance : IntervalInstance
        The interval.
    allocate : Allocate
        From an allocation instance to its solution.
    place : Place
        From a placement instance to its solution.
    """
    jobs = admitted(instance)
    if len(jobs) == len(instance.allocation.jobs):
        allocation = allocate(instance.allocation)
    else:
        allocation = _of_some(instance, jobs, allocate)
    return IntervalSolution(allocation, place(instance.placement_of(allocation)))


def retry(
    instance: IntervalInstance, *, allocation: str = "optimus", placement: str = "optimus", step: float = 0.05
) -> IntervalSolution:
    """Allocate within ever smaller capacities and place, until only jobs that cannot fit by count are paused.

    The capacities given to the allocator shrink by `step` each time, as long as the smallest configurations fit. The
    first solution with the lowest objective is returned.

    Parameters
    ----------
    instance : IntervalInstance
        The interval.
    allocation : str, optional
        Heuristic of problem `allocation`.
    placement : str, optional
        Heuristic of problem `placement`.
    step : float, optional
        Share of the capacities, from 0.01 to 1.

    Raises
    ------
    InputError
        If a method is unknown, exact, random, or limited to one job, or the step is out of range.
    """
    if not 0.01 <= step <= 1:
        raise InputError(f"retry: step must be from 0.01 to 1 (got {step:g})")
    # min returns the first of equal objectives
    return min(attempts(instance, allocation, placement, step), key=lambda found: instance.evaluate(found).objective)


def attempts(
    instance: IntervalInstance, allocation: str, placement: str, step: float = 0.05
) -> Iterator[IntervalSolution]:
    """Yield the solutions that `retry` chooses from, in order.

    Parameters
    ----------
    instance, allocation, placement, step : IntervalInstance or str or float
        As `retry`.
    """
    both = problems[instance.noun].method(f"{allocation}+{placement}")[0]
    if both.exact or both.takes_seed():
        raise InputError(f"retry: must combine two heuristics without random choices (got {both.name})")
    allocate = problems["allocation"].methods[allocation].function()
    place = problems["placement"].methods[placement].function()
    fewest = math.inf
    for number in range(math.ceil(1 / step)):
        try:
            found = in_turn(instance, _within(allocate, 1 - number * step) if number else allocate, place)
        except (InfeasibleError, NoSolutionError):
            if not number:
                raise
            return
        yield found
        fewest = min(fewest, instance.evaluate(found).metrics["paused_beyond_count"])
        if fewest <= 0:
            return


def _within(allocate: Allocate, part: float) -> Allocate:
    """Return an allocation method that uses a fraction of the capacities."""
    return lambda shared: allocate(dataclasses.replace(shared, capacity=part * shared.capacity))


def _of_some(instance: IntervalInstance, jobs: list[int], allocate: Allocate) -> AllocationSolution:
    workers, ps = instance.smallest.workers.tolist(), instance.smallest.ps.tolist()
    if jobs:
        found = allocate(instance.allocation_of(jobs))
        for at, j in enumerate(jobs):
            workers[j], ps[j] = found.workers[at], found.parameter_servers[at]
    return AllocationSolution(tuple(workers), tuple(ps))


def admitted(instance: IntervalInstance) -> list[int]:
    """Return jobs whose smallest configurations fit into the cluster together.

    These are all jobs if possible. Otherwise jobs are added while they fit, in ascending order of the dominant share
    of their smallest configuration, ties to the lowest index.

    Parameters
    ----------
    instance : IntervalInstance
        The interval.

    Returns
    -------
    list of int
        Indices, ascending.
    """
    shared, smallest = instance.allocation, instance.smallest
    needs = smallest.ps[:, None] * shared.ps_demand + smallest.workers[:, None] * shared.worker_demand
    free = shared.capacity_limit - needs.sum(axis=0)
    if (free >= 0).all():
        return list(range(len(shared.jobs)))
    free = shared.capacity_limit.copy()
    chosen = []
    for j in np.argsort((needs / shared.capacity).max(axis=1), kind="stable").tolist():
        if (needs[j] <= free).all():
            free = free - needs[j]
            chosen.append(j)
    return sorted(chosen)


def pair(allocation: str, placement: str) -> Callable[..., IntervalSolution]:
    """Return the method that allocates with one heuristic and places with another.

    Parameters
    ----------
    allocation : str
        Heuristic of problem `allocation`.
    placement : str
        Heuristic of problem `placement`.

    Returns
    -------
    callable
        `(instance, **options) -> IntervalSolution`; the options are those of both, by name.
    """
    first, second = problems["allocation"].methods[allocation], problems["placement"].methods[placement]

    def run(instance: IntervalInstance, **options: Any) -> IntervalSolution:
        mine, theirs = split_options(first, second, options)
        allocate, place = first.function(), second.function()
        return in_turn(instance, lambda shared: allocate(shared, **mine), lambda given: place(given, **theirs))

    return signed(run, (first, second))


def split_options(first: Method, second: Method, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into those of the first and those of the second method.

    Parameters
    ----------
    first, second : Method
        The methods; their option names are disjoint except for `seed`.
    options : dict of str to object
        Options of both.
    """
    return tuple(  # type: ignore[return-value]
        {name: value for name, value in options.items() if name in _parameters(method)} for method in (first, second)
    )


def _parameters(method: Method) -> dict[str, inspect.Parameter]:
    given = list(inspect.signature(method.function()).parameters.values())[2 if method.exact else 1 :]
    return {item.name: item for item in given}


def signed(run: Callable[..., Any], methods: tuple[Method, Method]) -> Callable[..., Any]:
    """Give a function that takes `**options` the signature of two methods, so that names can contain their options.

    Parameters
    ----------
    run : callable
        Function of leading parameters and `**options`.
    methods : tuple of Method
        The methods whose options it takes.

    Returns
    -------
    callable
        The same function.
    """
    own = [item for item in inspect.signature(run).parameters.values() if item.kind is not item.VAR_KEYWORD]
    hints: dict[str, Any] = {item.name: Any for item in own}
    options: dict[str, inspect.Parameter] = {}
    for method in methods:
        known = typing.get_type_hints(method.function())
        for name, item in _parameters(method).items():
            options[name] = item.replace(kind=item.KEYWORD_ONLY)
            hints[name] = known[name]
    run.__signature__ = inspect.Signature([*own, *options.values()])  # type: ignore[attr-defined]
    run.__annotations__ = hints
    return run
