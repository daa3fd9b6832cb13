"""Certify Pareto efficiency, envy-freeness and sharing incentive of an allocation, each with a witness."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gangopt.base.errors import InfeasibleError, InputError, NoSolutionError, SolverError, shown
from gangopt.base.interrupts import unless_interrupted
from gangopt.base.jsonfile import read_json
from gangopt.catalogue import load
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.market import Market, better, certifiable
from gangopt.instances.finish_time import above_one
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.core.resultfile import read_solution

__all__ = ["Certificates", "Envy", "SavedAllocation", "certify", "read_allocation_file"]

Given = tuple[tuple[int, ...], ...]
"""GPUs of each app on each machine."""


@dataclass(frozen=True)
class Envy:
    """One app that prefers another's bundle.

    Attributes
    ----------
    app, other : int
        Indices of the apps.
    rho, rho_there : float
        Rho of the app with its own bundle, and with the other's.
    """

    app: int
    other: int
    rho: float
    rho_there: float


@dataclass(frozen=True)
class Certificates:
    """Properties of an allocation.

    Attributes
    ----------
    rho : tuple of float
        Rho of each app.
    pareto_efficient : bool or None
        Whether no allocation is better for some app and worse for none; None if the time ran out.
    dominating : Given or None
        Such an allocation, GPUs of each app on each machine, or None.
    dominating_rho : tuple of float or None
        Rho of each app in it.
    envy_free : bool
        Whether no app prefers another's bundle.
    envy : tuple of Envy
        Pairs with envy, by app and other.
    sharing_incentive : bool
        Whether rho is at most 1 for every app.
    above_one : tuple of int
        Indices of the apps with rho above 1.
    sharing : Given or None
        An allocation with rho <= 1 for every app, searched for if the property fails; None if there is none.
    sharing_exists : bool or None
        Whether there is one; None if the time ran out or the property holds anyway.
    seconds : float
        Wall time.
    """

    rho: tuple[float, ...]
    pareto_efficient: bool | None
    dominating: Given | None
    dominating_rho: tuple[float, ...] | None
    envy_free: bool
    envy: tuple[Envy, ...]
    sharing_incentive: bool
    above_one: tuple[int, ...]
    sharing: Given | None
    sharing_exists: bool | None
    seconds: float


@dataclass(frozen=True)
class SavedAllocation:
    """An allocation from a file.

    Attributes
    ----------
    instance : str
        Name of the instance.
    problem : str
        Noun of its problem.
    method : str or None
        Method that the file names, or None.
    machines : tuple of str
        Label of every machine.
    market : Market
        Apps and GPUs of the certificates.
    rows : Given
        GPUs of each app on each machine.
    """

    instance: str
    problem: str
    method: str | None
    machines: tuple[str, ...]
    market: Market
    rows: Given


def read_allocation_file(path: str | os.PathLike[str], instance: str | None = None) -> SavedAllocation:
    """Read a saved result or a plain solution of `fair_share` or `auction`.

    Parameters
    ----------
    path : str or path-like
        The file.
    instance : str or None, optional
        Name or file of the instance; None for the one named by the result.

    Raises
    ------
    InputError
        If the file is invalid, names no instance that can be loaded, belongs to another problem, or its solution is
        not feasible.
    NoSolutionError
        If the result holds no solution.
    """
    value, file = read_json(path), os.fspath(path)
    record = value if isinstance(value, dict) and "termination" in value else {}
    name = record.get("instance") if instance is None else instance
    if not isinstance(name, str):
        raise InputError(f"{file}: names no instance; pass --instance")
    if record and record.get("solution") is None:
        raise NoSolutionError(f"{file}: the result holds no solution")
    try:
        loaded = load(name)
    except InputError as error:
        hint = "; pass --instance" if instance is None else ""
        raise InputError(f"{file}: instance {shown(name)} cannot be loaded ({error}){hint}") from None
    if not isinstance(loaded, FairShareInstance | AuctionInstance):
        raise InputError(f"{file}: a problem of kind {loaded.noun}; certificates apply to fair_share and auction")
    solution = read_solution(path, loaded)
    violations = loaded.check(solution)
    if violations:
        raise InputError(f"{file}: not feasible for {loaded.name}: {violations[0]}")
    pair = loaded.certifiable(solution) if isinstance(loaded, FairShareInstance) else certifiable(loaded, solution)
    method = record.get("method")
    return SavedAllocation(
        loaded.name, loaded.noun, method if isinstance(method, str) else None, loaded.machines, *pair
    )


def certify(market: Market, given: Sequence[Sequence[int]], controls: Controls | None = None) -> Certificates:
    """Check the three properties of an allocation.

    Values within a relative 1e-9 count as equal. Allocations found by a model are checked again on the market itself;
    Pareto efficiency is claimed only if the model that requires a gain is infeasible.

    Parameters
    ----------
    market : Market
        Apps and GPUs.
    given : sequence of sequence of int
        A feasible allocation, GPUs of each app on each machine, shape (apps, machines).
    controls : Controls or None, optional
        Time limit, threads and seed of the solver.

    Raises
    ------
    SolverError
        If a model's answer and the market contradict each other.
    """
    controls = Controls() if controls is None else controls
    begin = time.perf_counter()
    rows = tuple(tuple(row) for row in given)
    rho = _rho(market, rows)
    efficient, dominating = _dominated(market, rows, controls)
    envy = _envy(market, rows, controls)
    above = tuple(i for i, value in enumerate(rho) if above_one(value))
    exists, sharing = _shared(market, controls) if above else (None, None)
    return Certificates(
        rho=rho,
        pareto_efficient=efficient,
        dominating=dominating,
        dominating_rho=None if dominating is None else _rho(market, dominating),
        envy_free=not envy,
        envy=envy,
        sharing_incentive=not above,
        above_one=above,
        sharing=sharing,
        sharing_exists=exists,
        seconds=time.perf_counter() - begin,
    )


def _rho(market: Market, given: Given) -> tuple[float, ...]:
    values = [market.value(i, row) for i, row in enumerate(given)]
    return tuple(1 / value if value else math.inf for value in values)


def _dominated(market: Market, given: Given, controls: Controls) -> tuple[bool | None, Given | None]:
    """Maximise the sum of gains such that no app loses and some app gains; infeasible if and only if efficient."""
    from gangopt.formulations.deadline import OutOfTime, building_within
    from gangopt.formulations.fair_share.certificates import fill_dominating, read_allocation

    model = _model("dominating")
    try:
        with building_within(controls.remaining):
            fill_dominating(model, market, given, strict=True)
    except InfeasibleError:
        return True, None
    except OutOfTime:
        return None, None
    solved = _solve(model, controls, maximise=True)
    if solved.values is None:
        return (True if solved.termination == "infeasible" else None), None
    found = read_allocation(model, market)
    if not _dominates(market, found, given):
        raise SolverError("the model of dominating allocations returned one that does not dominate")
    return False, found


def _dominates(market: Market, found: Given, given: Given) -> bool:
    now = [market.value(i, row) for i, row in enumerate(given)]
    then = [market.value(i, row) for i, row in enumerate(found)]
    worse = any(better(old, new) for old, new in zip(now, then, strict=True))
    return not worse and any(better(new, old) for old, new in zip(now, then, strict=True))


def _envy(market: Market, given: Given, controls: Controls) -> tuple[Envy, ...]:
    """Return the pairs with positive envy; the optimum of the model must be the sum of their differences."""
    from gangopt.formulations.fair_share.certificates import fill_envy

    if len(market.apps) == 1:
        return ()
    model = _model("envy")
    fill_envy(model, market, given)
    solved = _solve(model, replace(controls, time_limit=None), maximise=False)
    expected = math.fsum(max(0.0, model.preference[pair]) for pair in model.pairs)
    if solved.objective is None or abs(solved.objective - expected) > 1e-6 * max(1.0, expected):
        raise SolverError(f"the model of envy has optimum {solved.objective}, the market says {expected}")
    now = [market.value(i, row) for i, row in enumerate(given)]
    pairs = []
    for i, j in model.pairs:
        there = market.value(i, given[j])
        if better(there, now[i]):
            pairs.append(Envy(i, j, 1 / now[i] if now[i] else math.inf, 1 / there))
    return tuple(pairs)


def _shared(market: Market, controls: Controls) -> tuple[bool | None, Given | None]:
    """Search for an allocation with rho <= 1 for every app."""
    from gangopt.formulations.deadline import OutOfTime, building_within
    from gangopt.formulations.fair_share.certificates import fill_sharing, read_allocation

    model = _model("sharing")
    try:
        with building_within(controls.remaining):
            fill_sharing(model, market)
    except InfeasibleError:
        return False, None
    except OutOfTime:
        return None, None
    solved = _solve(model, controls, maximise=False)
    if solved.values is not None:
        return True, read_allocation(model, market)
    return (False, None) if solved.termination == "infeasible" else (None, None)


def _model(name: str) -> Any:
    from pyomo.environ import ConcreteModel

    return ConcreteModel(name=name)


def _solve(model: Any, controls: Controls, *, maximise: bool) -> Any:
    from pyomo.environ import Objective, maximize, minimize

    from gangopt.solvers.core.by_form import settings_of
    from gangopt.solvers.highs import solve_model

    model.objective = Objective(expr=model.objective_value, sense=maximize if maximise else minimize)
    return unless_interrupted(solve_model(model, replace(settings_of(controls), explain=False, on_progress=None)))
