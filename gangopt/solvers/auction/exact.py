"""Exact auction: proportional fairness and all payments from one relaxation and cores of few columns."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Literal

from gangopt.formulations.auction.columns import app_columns
from gangopt.formulations.auction.goal import mean_from_goal
from gangopt.instances.auction.bids import Bundle
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.instances.auction.solution import AuctionSolution
from gangopt.solvers.auction.by_places import prefers_places, solve_places
from gangopt.solvers.auction.greedy import greedy
from gangopt.solvers.auction.master import Master, Optimum
from gangopt.solvers.auction.payments import Payments, payments_of, unsettled
from gangopt.solvers.core.contract import Controls, Outcome, Termination, Trajectory

__all__ = ["exact"]


def exact(
    instance: AuctionInstance,
    controls: Controls,
    *,
    payments: bool = True,
    form: Literal["auto", "nested_flow", "places", "bids"] = "auto",
) -> Outcome:
    r"""Maximise the product of the values over the most apps that can be served, and find every payment.

    The relaxation of formulation `nested_flow` gives a bound b and reduced costs. A selection better than b - delta
    uses no column with a reduced cost below -delta; the model on the other columns, the core, is small. If its optimum
    is at least b - delta, it is the overall optimum; otherwise delta grows. For the payment of an app, one row's right
    side is changed and the same relaxation is solved again. Selections within 1e-8 of the optimum in the logarithm are
    found by excluding one after the other, and compared as exact rationals.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    controls : Controls
        Settings of the call.
    payments : bool, optional
        Whether to find the payments as well; formulation `bids` finds none.
    form : {'auto', 'nested_flow', 'places', 'bids'}, optional
        `auto` chooses `places` if it is the smaller one (see `prefers_places`), else `nested_flow`. Only the latter
        uses a relaxation and cores; the others are built and solved as one model.

    Returns
    -------
    Outcome
        The bundles are those before payment, to which the objective refers; `payments` has bounds on c, equal if the
        payment is proven. At a time limit, or if more than `MOST_NEAR` products are within `NEAR` of the largest,
        some payments are intervals.
    """
    if form == "bids":
        return _whole(instance, controls, form)
    columns = app_columns(instance)
    if form == "places" or (form == "auto" and prefers_places(instance, columns)):
        return solve_places(instance, controls, columns, payments=payments)
    begin = time.perf_counter()
    solution = greedy(instance) if controls.start is None else controls.start
    bundles: tuple[Bundle, ...] = solution.before_payment
    termination: Termination = "optimal"
    bound, reason = math.inf, None
    shares = Payments((), 0, exact=True)
    trajectory: Trajectory = []

    def report() -> None:
        objective = instance.evaluate(AuctionSolution(bundles)).objective
        controls.note(trajectory, objective, bound if math.isfinite(bound) else None)

    report()
    master = Master(instance, controls, columns)
    optimum: Optimum | None = None
    try:
        optimum = master.best(start=_start(master, bundles))
        bundles, bound = _best_known(master, optimum, bundles)
        if not optimum.proven:
            termination = "time_limit"
        report()
        if payments and optimum.proven:
            shares = payments_of(instance, master, optimum, bundles, controls)
            if any(low < high for low, high in shares.shares):
                termination, reason = unsettled(controls)
    except KeyboardInterrupt:
        termination, reason = "interrupted", "interrupted by the user"
        if optimum is None and master.partial is not None:
            bundles, bound = _best_known(master, master.partial, bundles)
    last = master.last
    return Outcome(
        termination=termination,
        solution=AuctionSolution(bundles, shares.shares),
        bound=bound if math.isfinite(bound) else None,
        form="nested_flow",
        build_seconds=master.build_seconds,
        solve_seconds=time.perf_counter() - begin - master.build_seconds,
        trajectory=tuple(trajectory),
        solver="" if last is None else last.solver,
        version="" if last is None else last.version,
        options={} if last is None else last.options,
        metrics={
            "programs": master.solves + shares.solves,
            "compared_exactly": 0 if optimum is None else optimum.compared,
            "exact": float(optimum is not None and optimum.exact and shares.exact),
        },
        reason=reason,
    )


def _best_known(master: Master, optimum: Optimum, bundles: tuple[Bundle, ...]) -> tuple[tuple[Bundle, ...], float]:
    """Return the bundles of a selection (the given ones if the model did not find it) and the bound on the mean."""
    bound = mean_from_goal(master.instance, optimum.bound + master.offset, master.goal)
    return (master.in_order(bundles) if optimum.values is None else master.read(optimum).bundles), bound


def _whole(instance: AuctionInstance, controls: Controls, name: str) -> Outcome:
    """Build a formulation and solve it as one model; its objective is the logarithm of the product."""
    from gangopt.registry.records import problems
    from gangopt.solvers.core.by_form import settings_of
    from gangopt.solvers.highs import solve_model

    begin = time.perf_counter()
    form = problems[instance.noun].form(name).prepared(instance)
    model = form.model(instance)
    if controls.start is not None:
        form.hint(model, instance, controls.start)
    built = time.perf_counter()
    settings = replace(settings_of(controls), on_progress=None)
    solved = solve_model(model, settings, warm_start=controls.start is not None)
    return Outcome(
        termination=solved.termination,
        solution=None if solved.values is None else form.read(model, instance),
        bound=None if solved.bound is None else form.report(instance, solved.bound),
        form=name,
        build_seconds=built - begin,
        solve_seconds=time.perf_counter() - built,
        solver=solved.solver,
        version=solved.version,
        options=solved.options,
        reason=solved.message,
    )


def _start(master: Master, bundles: tuple[Bundle, ...]) -> dict[tuple[int, int], int] | None:
    """Return the selection of bundles, or None if it serves fewer apps than the model requires."""
    counts = dict(master.counts_of(bundles))
    served = sum(number for (g, _), number in counts.items() if master.plan.groups[g].needs)
    if master.goal.all_served:
        return counts if sum(counts.values()) == len(bundles) else None
    return counts if master.goal.needed is None or served == master.goal.needed else None
