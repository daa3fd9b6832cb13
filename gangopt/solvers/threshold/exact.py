"""Exact rule of minimum weighted errors: a scan of cuts for one feature, formulation `linear` for several."""

from __future__ import annotations

import math
import time

import numpy as np

from gangopt.base.interrupts import unless_interrupted
from gangopt.formulations.deadline import OutOfTime, building_within, paced
from gangopt.instances.threshold.cuts import best_cut
from gangopt.instances.threshold.instance import MARGIN, ThresholdInstance, ThresholdSolution
from gangopt.solvers.core.by_form import settings_of
from gangopt.solvers.core.contract import Controls, Outcome
from gangopt.solvers.threshold.heuristics import perceptron

__all__ = ["duplicates_bound", "exact", "widest_margin"]


def exact(instance: ThresholdInstance, controls: Controls) -> Outcome:
    """Minimise the weighted errors and prove it.

    With one feature, jobs are sorted and every candidate cut is scored from cumulative sums; ties as in `best_cut`.
    With several, jobs with equal features but different classes bound the errors from below. If the best cut of one
    feature or a perceptron meets that bound, it is returned. Otherwise HiGHS solves formulation `linear`, and threshold
    and weights are then moved to the widest margin to the jobs that the model separates.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    controls : Controls
        Settings of the call.
    """
    begin = time.perf_counter()
    if len(instance.features) == 1:
        solution = best_cut(instance)
        bound = instance.evaluate(solution).objective
        return Outcome("optimal", solution, bound, form="scan", solve_seconds=time.perf_counter() - begin)
    bound = duplicates_bound(instance)
    start = _least(
        instance,
        [*_given(controls), best_cut(instance), perceptron(instance, epochs=_epochs(instance), seed=controls.seed)],
    )
    if instance.evaluate(start).objective <= bound:
        return Outcome("optimal", start, bound, form="equal jobs", solve_seconds=time.perf_counter() - begin)
    return _by_linear(instance, controls, start, bound)


def _epochs(instance: ThresholdInstance) -> int:
    """Return the passes of the perceptron: up to 50, fewer on histories of more than 20,000 jobs."""
    return max(1, min(50, 1_000_000 // len(instance.jobs)))


def _given(controls: Controls) -> list[ThresholdSolution]:
    return [] if controls.start is None else [controls.start]


def _least(instance: ThresholdInstance, solutions: list[ThresholdSolution]) -> ThresholdSolution:
    """Return the first solution with the fewest errors."""
    return min(solutions, key=lambda item: instance.evaluate(item).objective)


def duplicates_bound(instance: ThresholdInstance) -> float:
    """Return the weighted errors that no rule avoids: among jobs with equal features, the lighter class.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.

    Returns
    -------
    float
        Weighted errors.
    """
    _, group = np.unique(instance.values, axis=0, return_inverse=True)
    group = group.reshape(-1)
    sensitive = np.bincount(group, np.where(instance.sensitive, instance.job_weights, 0.0))
    others = np.bincount(group, np.where(instance.sensitive, 0.0, instance.job_weights))
    return math.fsum(np.minimum(sensitive, others).tolist())


def _by_linear(instance: ThresholdInstance, controls: Controls, start: ThresholdSolution, bound: float) -> Outcome:
    from gangopt.formulations.threshold import linear
    from gangopt.solvers.highs import solve_model

    begin = time.perf_counter()
    try:
        with building_within(controls.remaining):
            model = linear.model(instance)
            linear.hint(model, instance, start)
    except OutOfTime as stop:
        seconds = time.perf_counter() - begin
        return Outcome("time_limit", start, bound, form="linear", build_seconds=seconds, reason=str(stop))
    built = time.perf_counter()
    solved = solve_model(model, settings_of(controls), warm_start=True)
    candidates = [start]
    if solved.values is not None:
        kept = np.array([item.value < 0.5 for item in model.error.values()])
        candidates = [*_polished(instance, kept, controls), linear.read(model, instance), start]
    best = _least(instance, candidates)
    return Outcome(
        termination=solved.termination,
        solution=best,
        bound=_safe_bound(instance, solved.bound, bound, instance.evaluate(best).objective),
        form="linear",
        build_seconds=built - begin,
        solve_seconds=time.perf_counter() - built,
        trajectory=solved.trajectory,
        solver=solved.solver,
        version=solved.version,
        options=solved.options,
        reason=solved.message,
    )


def _polished(instance: ThresholdInstance, kept: np.ndarray, controls: Controls) -> list[ThresholdSolution]:
    """Return the rule of widest margin; none if no job is kept or time is too short."""
    if not kept.any():
        return []
    try:
        with building_within(controls.remaining):
            return [widest_margin(instance, kept, controls.remaining())]
    except OutOfTime:
        return []


def _safe_bound(instance: ThresholdInstance, solver: float | None, combinatorial: float, objective: float) -> float:
    """Return the better bound, corrected for integrality tolerances.

    A bound within 1e-7 of the total weight below the objective equals the objective, since binaries are accurate to
    1e-9 each. Integer weights sum to integers.
    """
    slack = 1e-7 * float(instance.job_weights.sum())
    bound = max(combinatorial, -math.inf if solver is None else solver)
    if slack < 0.5 and not np.any(instance.job_weights % 1):
        bound = float(math.ceil(bound - slack))
    return objective if bound >= objective - slack else bound


def widest_margin(instance: ThresholdInstance, kept: np.ndarray, time_limit: float | None = None) -> ThresholdSolution:
    """Return the rule of widest margin to the jobs to separate, by a linear program.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    kept : ndarray
        Jobs to separate, shape (n,); some rule must separate them by `MARGIN`.
    time_limit : float or None, optional
        Seconds for the solver, None for no limit.

    Returns
    -------
    ThresholdSolution
        At least the margin away from each of them, with weights times ranges at most 1.

    Raises
    ------
    OutOfTime
        If the solver found nothing in time.
    """
    from pyomo.environ import Constraint, Objective, Var, maximize

    from gangopt.formulations.threshold import linear
    from gangopt.solvers.highs import SolveSettings, solve_model

    model = linear.model(instance)
    model.objective.deactivate()
    for job, keep in zip(instance.jobs, kept.tolist(), strict=True):
        model.error[job].fix(0)
        if not keep:
            model.told_apart[job].deactivate()
    model.margin = Var(bounds=(0, None))
    kept_jobs = [job for job, keep in zip(instance.jobs, kept.tolist(), strict=True) if keep]
    model.beyond = Constraint(
        paced(kept_jobs), rule=lambda block, job: block.told_apart[job].body >= MARGIN + block.margin
    )
    model.widest = Objective(expr=model.margin, sense=maximize)
    if unless_interrupted(solve_model(model, SolveSettings(time_limit=time_limit))).values is None:
        raise OutOfTime("time limit reached before a margin was found")
    return linear.read(model, instance)
