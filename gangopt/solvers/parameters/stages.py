"""Lexicographic optimisation of `parameters`: one objective after another, each kept at its value."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from gangopt.base.errors import InputError, ModelTooLargeError
from gangopt.formulations.deadline import building_within
from gangopt.instances.parameters.grouping import cut, grouped
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution
from gangopt.solvers.core.clock import Clock, OutOfTime
from gangopt.solvers.core.contract import Controls, Termination
from gangopt.solvers.parameters.counts import even_split, level_counts
from gangopt.solvers.parameters.cover import is_least_difference
from gangopt.solvers.parameters.heuristics import karmarkar_karp, lpt, paa, round_robin
from gangopt.solvers.parameters.levels import Level, LevelSearch, search_of
from gangopt.solvers.parameters.milp import Caps, Improved, improve

__all__ = ["OBJECTIVES", "Stage", "Staged", "parse_order", "staged"]

OBJECTIVES = ("size_difference", "requests", "request_difference")
"""The three objectives, by the names of the metrics."""


@dataclass(frozen=True)
class Stage:
    """Value and bound of one objective, given the values of the earlier stages.

    Attributes
    ----------
    objective : str
        One of OBJECTIVES.
    value : int
        Value of the solution.
    bound : int
        Lower bound over all solutions that keep the values of the earlier stages.
    """

    objective: str
    value: int
    bound: int


@dataclass
class Staged:
    """State of a lexicographic search; `solution` always keeps `caps`."""

    solution: ParametersSolution
    caps: Caps
    stages: list[Stage]
    termination: Termination = "optimal"
    form: str = "levels"
    reason: str | None = None


def parse_order(order: str) -> tuple[str, ...]:
    """Return the objectives of `a+b+c`.

    Parameters
    ----------
    order : str
        Names of objectives joined by +, each at most once.

    Raises
    ------
    InputError
        If a name is unknown or duplicated.
    """
    names = tuple(order.split("+"))
    for position, name in enumerate(names):
        if name not in OBJECTIVES:
            raise InputError(f"order: {name!r}, allowed: {', '.join(OBJECTIVES)}, joined by +")
        if name in names[:position]:
            raise InputError(f"order: duplicate {name!r}")
    return names


def staged(
    instance: ParametersInstance,
    order: tuple[str, ...],
    requests: int | None,
    controls: Controls,
    notify: Callable[[Staged], None],
) -> Staged:
    """Minimise the objectives in turn, each subject to the values attained before.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    order : tuple of str
        Objectives.
    requests : int or None
        Maximum requests, at least the number of blocks, None for no limit.
    controls : Controls
        Settings of the call.
    notify : callable
        Called with the state after every stage.

    Returns
    -------
    Staged
        With termination `optimal` if every stage's value is its bound.
    """
    clock = Clock(controls.remaining())
    search = search_of(instance)
    state = Staged(lpt(instance), Caps(requests=requests), [])
    if controls.start is not None and _keeps(instance, controls.start, state.caps):
        state.solution = controls.start
    try:
        for objective in order:
            _take_stage(instance, search, state, objective, controls, clock)
            notify(state)
    except KeyboardInterrupt:
        state.termination = "interrupted"
    return state


def _take_stage(
    instance: ParametersInstance,
    search: LevelSearch,
    state: Staged,
    objective: str,
    controls: Controls,
    clock: Clock,
) -> None:
    bound = _bound(instance, search, state.caps, objective, clock)
    with contextlib.suppress(OutOfTime):
        for solution in _candidates(instance, search, state.caps, objective, clock):
            if _keeps(instance, solution, state.caps):
                _take_better(instance, state, objective, solution)
            if _closed(_value(instance, state.solution, objective), bound, controls.rel_gap):
                break
    value = _value(instance, state.solution, objective)
    if objective == "size_difference" and not _closed(value, bound, controls.rel_gap):
        bound = _by_covering(instance, search, state, value, bound, controls)
    if not _closed(value, bound, controls.rel_gap) and not clock.expired():
        found = _improved(instance, objective, state, controls)
        state.form = f"levels, {found.form}" if found.form else state.form
        bound = max(bound, found.bound or 0)
        if found.solution is not None and _keeps(instance, found.solution, state.caps):
            _take_better(instance, state, objective, found.solution)
        value = _value(instance, state.solution, objective)
        bound = min(bound, value)
        if objective == "size_difference" and state.caps.request_difference is None:
            cuts = _cuts(instance, state.caps)
            search.learn(Level(cuts, grouped(instance, state.solution, instance.servers - cuts), bound))
        if found.termination == "interrupted":
            raise KeyboardInterrupt
        if not _closed(value, bound, controls.rel_gap):
            state.termination = "time_limit" if found.termination == "time_limit" else "completed"
    elif not _closed(value, bound, controls.rel_gap):
        state.termination = "time_limit"
    if not _closed(value, bound, controls.rel_gap):
        state.reason = f"{objective} is {value}, proven at least {bound}"
    state.stages.append(Stage(objective, value, bound))
    state.caps = replace(state.caps, **{objective: value})


def _by_covering(
    instance: ParametersInstance, search: LevelSearch, state: Staged, value: int, bound: int, controls: Controls
) -> int:
    """Return the value as the bound if covering proves it for whole blocks, else the given bound."""
    sizes = [int(size) for size in instance.sizes]
    left = controls.remaining()
    if _cuts(instance, state.caps) or (left is not None and left <= 0):
        return bound
    if not is_least_difference(sizes, instance.servers, value, left):
        return bound
    search.learn(Level(0, grouped(instance, state.solution, instance.servers), value))
    return value


def _improved(instance: ParametersInstance, objective: str, state: Staged, controls: Controls) -> Improved:
    """Return the improvement by a formulation; none if it is too large for memory or for the remaining time."""
    try:
        with building_within(controls.remaining):
            return improve(instance, objective, state.caps, state.solution, controls)
    except OutOfTime:
        return Improved(None, None, "time_limit", "")
    except ModelTooLargeError:
        return Improved(None, None, "completed", "")


def _closed(value: int, bound: int, rel_gap: float) -> bool:
    return value - bound <= rel_gap * bound


def _value(instance: ParametersInstance, solution: ParametersSolution, objective: str) -> int:
    return int(instance.evaluate(solution).metrics[objective])


def _keeps(instance: ParametersInstance, solution: ParametersSolution, caps: Caps) -> bool:
    metrics = instance.evaluate(solution).metrics
    limits = ((name, getattr(caps, name)) for name in OBJECTIVES)
    return all(limit is None or metrics[name] <= limit for name, limit in limits)


def _take_better(instance: ParametersInstance, state: Staged, objective: str, solution: ParametersSolution) -> None:
    if _value(instance, solution, objective) < _value(instance, state.solution, objective):
        state.solution = solution


def _candidates(
    instance: ParametersInstance, search: LevelSearch, caps: Caps, objective: str, clock: Clock
) -> Iterator[ParametersSolution]:
    """Yield promising solutions for an objective, the most expensive last; not all keep the caps."""
    if objective == "request_difference":
        yield karmarkar_karp(instance)
    elif objective == "size_difference":
        yield cut(instance, search.level(_cuts(instance, caps), clock).assignment)
    else:
        for level in _fewest(search, caps, clock):
            yield cut(instance, level.assignment)
    if objective != "request_difference" and caps.request_difference is None:
        return
    for rule in (round_robin, paa):
        clock.require()
        yield rule(instance)
    clock.require()
    yield from level_counts(instance, caps.requests)
    yield even_split(instance, clock)


def _cuts(instance: ParametersInstance, caps: Caps) -> int:
    most = instance.servers - 1
    return most if caps.requests is None else min(most, caps.requests - len(instance.sizes))


def _fewest(search: LevelSearch, caps: Caps, clock: Clock) -> list[Level]:
    """Return the level with the fewest cuts whose assignment keeps the size difference, if found in time."""
    for cuts in range(search.servers):
        level = search.level(cuts, clock)
        if caps.size_difference is None or level.assignment.difference <= caps.size_difference:
            return [level]
        if clock.expired():
            break
    return []


def _bound(instance: ParametersInstance, search: LevelSearch, caps: Caps, objective: str, clock: Clock) -> int:
    """Return a lower bound on an objective under the caps."""
    if objective == "size_difference":
        return search.level(_cuts(instance, caps), clock).bound
    fewest = len(instance.sizes)
    if caps.size_difference is not None:
        levels = (search.level(cuts, clock) for cuts in range(search.servers))
        fewest += next((level.cuts for level in levels if level.bound <= caps.size_difference or clock.expired()), 0)
    servers = instance.servers
    even = -(-fewest // servers) * servers
    if objective == "requests":
        return even if caps.request_difference == 0 else fewest
    most = sum(min(size, servers) for size in search.sizes)
    return int(even > (most if caps.requests is None else min(most, caps.requests)))
