"""Exact auction by form `places`: one model for the allocation, and one without each app for its payment."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gangopt.base.errors import SolverError
from gangopt.formulations.auction import Places
from gangopt.formulations.auction.columns import Column, app_groups
from gangopt.formulations.auction.goal import goal_of, mean_from_goal
from gangopt.formulations.auction.racks import MAX_PATTERNS, plan_of
from gangopt.instances.auction.bids import CLUSTER, MACHINE, Bundle
from gangopt.instances.auction.instance import AuctionInstance, log_of
from gangopt.instances.auction.solution import AuctionSolution, Payment
from gangopt.solvers.auction.greedy import greedy
from gangopt.solvers.auction.master import NEAR
from gangopt.solvers.auction.payments import FREE, below, unsettled
from gangopt.solvers.auction.ties import near_ties
from gangopt.solvers.core.contract import Controls, Outcome, ProgressEvent, Termination

if TYPE_CHECKING:
    from gangopt.solvers.highs import SolverOutcome

__all__ = ["prefers_places", "solve_places"]

Columns = Sequence[tuple[Column, ...]]

FEW_WAYS = 1_000
"""Patterns and arcs up to which form `nested_flow` is taken in any case: it tells ties apart."""


def prefers_places(instance: AuctionInstance, columns: Columns) -> bool:
    """Return whether form `places` has fewer columns than `nested_flow` has patterns and arcs, if these are many.

    So it is with few and large machines: there are few places, and very many ways to cut and fill them. Machines that
    can be cut in too many ways to list count with as many as are listed at most.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    columns : sequence of tuple of Column
        Columns of every app.
    """
    goal = goal_of(instance, columns=columns)
    plan = plan_of(instance, app_groups(instance, all_served=goal.all_served, columns=columns))
    ways = sum(MAX_PATTERNS if kind.too_many else len(kind.patterns) for kind in plan.machine_classes)
    ways += sum(len(kind.fills) + len(kind.leaves) + len(kind.takes) for kind in plan.rack_classes)
    if ways <= FEW_WAYS:
        return False
    sizes = (np.sort(instance.offered), np.sort(instance.rack_offered))
    number = 0
    for i, own in enumerate(columns):
        for column in own:
            if column.level == CLUSTER:
                number += 1
            elif instance.apps[i].held:
                number += sum(column.gpus <= size for _, size in instance.places(i, column.level))
            else:
                rooms = sizes[0 if column.level == MACHINE else 1]
                number += len(rooms) - int(np.searchsorted(rooms, column.gpus))
            if number >= ways:
                return False
    return True


@dataclass(frozen=True)
class _Found:
    """The best bundles of one model, None without any; the bound is on the model's objective.

    Where `exact`, no allocation has a larger product as a rational. `margin` is what the bound may be too low by.
    """

    bundles: tuple[Bundle, ...] | None
    bound: float
    solved: SolverOutcome
    build_seconds: float
    termination: Termination
    exact: bool = False
    compared: int = 0
    solves: int = 1
    margin: float = NEAR


def solve_places(instance: AuctionInstance, controls: Controls, columns: Columns, *, payments: bool) -> Outcome:
    """Build and solve form `places`, and once more without each app that won GPUs.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    controls : Controls
        Settings of the call.
    columns : sequence of tuple of Column
        Columns of every app.
    payments : bool
        Whether to find the payments as well.

    Returns
    -------
    Outcome
        As of `exact`.
    """
    begin = time.perf_counter()
    given: tuple[Bundle, ...] = (greedy(instance) if controls.start is None else controls.start).before_payment
    trajectory: list[tuple[float, float | None, float | None]] = []

    def report(bundles: tuple[Bundle, ...], bound: float | None) -> None:
        trajectory.append((controls.elapsed(), instance.evaluate(AuctionSolution(bundles)).objective, bound))
        if controls.on_progress is not None:
            controls.on_progress(ProgressEvent(*trajectory[-1]))

    report(given, None)
    found = _solve(instance, controls, columns)
    bundles = given if found.bundles is None else found.bundles
    if _score(instance, given) > _score(instance, bundles):
        bundles = given
    bound = (
        mean_from_goal(instance, found.bound, goal_of(instance, columns=columns))
        if math.isfinite(found.bound)
        else None
    )
    report(bundles, bound)
    termination, reason = found.termination, found.solved.message
    shares: tuple[Payment, ...] = ()
    models = [found]
    if payments and termination == "optimal":
        shares, others = _payments(instance, controls, columns, bundles)
        models += others
        if any(low < high for low, high in shares):
            ends = [item.termination for item in others]
            stopped: tuple[Termination, ...] = ("interrupted", "error", "time_limit")
            ended = next((end for end in stopped if end in ends), None)
            termination, reason = unsettled(controls, ended)
    building = sum(item.build_seconds for item in models)
    return Outcome(
        termination=termination,
        solution=AuctionSolution(bundles, shares),
        bound=bound,
        form="places",
        build_seconds=building,
        solve_seconds=time.perf_counter() - begin - building,
        trajectory=tuple(trajectory),
        solver=found.solved.solver,
        version=found.solved.version,
        options=found.solved.options,
        metrics={
            "programs": sum(item.solves for item in models),
            "compared_exactly": found.compared,
            "exact": float(all(item.exact for item in models)),
        },
        reason=reason,
    )


def _score(instance: AuctionInstance, bundles: Sequence[Bundle]) -> tuple[int, Fraction]:
    served = [value for i, bundle in enumerate(bundles) if (value := instance.value(i, bundle))]
    return len(served), math.prod(served, start=Fraction(1))


def _solve(instance: AuctionInstance, controls: Controls, columns: Columns, *, all_served: bool = False) -> _Found:
    from gangopt.solvers.core.by_form import settings_of
    from gangopt.solvers.highs import solve_model

    begin = time.perf_counter()
    form = Places(all_served=all_served, columns=columns)
    model = form.model(instance)
    built = time.perf_counter() - begin
    settings = replace(settings_of(controls), on_progress=None, explain=False)
    # without a warm start: HiGHS 1.16 calls starts of these models optimal that are not
    solved = solve_model(model, settings)
    if solved.termination in {"infeasible", "unbounded"}:
        # an auction always has an outcome
        raise SolverError(f"{instance.name}: formulation places ended as {solved.termination}: {solved.message}")
    bound = math.inf if solved.bound is None else solved.bound
    if solved.values is None or solved.objective is None:
        return _Found(None, bound, solved, built, solved.termination)
    bundles = form.read(model, instance).bundles
    largest = max((abs(cost) for cost in model.objective_value.expr.linear_coefs), default=0.0)
    margin = NEAR * max(1.0, abs(solved.objective), largest)
    found = _Found(bundles, bound, solved, built, solved.termination, margin=margin)
    if solved.termination != "optimal" or bound > solved.objective + margin:
        return found
    ties = near_ties(form, model, instance, controls, solved.objective - margin)
    return replace(
        found,
        bundles=max([bundles, *ties.bundles], key=lambda item: _score(instance, item)),
        termination="interrupted" if ties.interrupted else found.termination,
        exact=ties.complete,
        compared=len(ties.bundles),
        solves=1 + ties.solves,
    )


def _payments(
    instance: AuctionInstance, controls: Controls, columns: Columns, bundles: tuple[Bundle, ...]
) -> tuple[tuple[Payment, ...], list[_Found]]:
    """Return bounds on c of every app, as `payments_of` does, and the models that were solved for them."""
    values = [instance.value(i, bundle) for i, bundle in enumerate(bundles)]
    shares = [FREE] * len(bundles)
    models: list[_Found] = []
    for i, bundle in enumerate(bundles):
        others = [j for j, value in enumerate(values) if value and j != i]
        if not bundle or not values[i] or not others:
            continue
        interrupted = bool(models) and models[-1].termination == "interrupted"
        if interrupted or controls.remaining() == 0:
            shares[i] = (Fraction(0), Fraction(1))
            continue
        part = dataclasses.replace(instance, apps=tuple(instance.apps[j] for j in others))
        own = tuple(bundles[j] for j in others)
        found = _solve(part, replace(controls, rel_gap=0.0), [columns[j] for j in others], all_served=True)
        models.append(found)
        product = _score(part, own)[1]
        best = product if found.bundles is None else max(product, _score(part, found.bundles)[1])
        high = product / best
        low = high if found.exact else min(high, below(log_of(product) - found.bound, found.margin))
        shares[i] = (low, high)
    return tuple(shares), models
