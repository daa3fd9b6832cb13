"""Exact methods of `parameters`: lexicographic in any order of the three objectives, and the whole Pareto frontier."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gangopt.base.contract import Score
from gangopt.instances.parameters.grouping import cut
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution
from gangopt.solvers.core.clock import Clock, CountedClock
from gangopt.solvers.core.contract import Controls, Outcome, Termination, Trajectory
from gangopt.solvers.parameters.levels import Level, search_of
from gangopt.solvers.parameters.stages import Staged, parse_order, staged

__all__ = ["FrontierPoint", "exact", "frontier", "frontier_method", "row_bound"]

_ROW_LOOKS = 20_000
"""Clock checks for the bound of one row: ten times those of the published networks, a few seconds."""


@dataclass(frozen=True)
class FrontierPoint:
    """One point of the frontier of size difference against requests.

    Attributes
    ----------
    requests : int
        Maximum requests.
    size_difference : int
        Size difference of the solution, in parameters.
    bound : int
        Lower bound on the size difference with at most that many requests, in parameters.
    proven : bool
        Whether both are equal.
    solution : ParametersSolution
        An assignment that attains the point.
    """

    requests: int
    size_difference: int
    bound: int
    proven: bool
    solution: ParametersSolution

    def figures(self) -> dict[str, Any]:
        """Return the point as a mapping without its solution."""
        names = ("requests", "size_difference", "bound", "proven")
        return {name: getattr(self, name) for name in names}


def exact(
    instance: ParametersInstance, controls: Controls, *, order: str | None = None, requests: int | None = None
) -> Outcome:
    """Minimise the three objectives lexicographically.

    Size difference and requests are solved by levels (`LevelSearch`): c cuts are p servers merged into p - c groups,
    and integer relaxations bound the size difference of whole blocks in groups. Remaining gaps, and the request
    difference together with a size difference, are solved by HiGHS in formulation `groups` or `assign`.

    The outcome's bound holds for the size difference of any assignment with at most the solution's requests; metric
    `stages` has value and bound of every stage. Termination is `optimal` only if every stage is proven.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    controls : Controls
        Settings of the call.
    order : str or None, optional
        Objectives joined by +, of `size_difference`, `requests`, `request_difference`; None for
        `requests+size_difference`, or `size_difference+requests` if `requests` is given.
    requests : int or None, optional
        Maximum requests, None for no limit.

    Raises
    ------
    InputError
        If the order names an unknown objective or one twice.

    References
    ----------
    Peng et al.: Optimus, EuroSys 2018, section 5.3.
    """
    begin = time.perf_counter()
    names = parse_order(order or ("requests+size_difference" if requests is None else "size_difference+requests"))
    fewest = len(instance.sizes)
    if requests is not None and requests < fewest:
        too_few = f"requests must be >= {fewest}, one for every block (got {requests})"
        return Outcome("infeasible", None, None, reason=too_few)
    trajectory: Trajectory = []

    def notify(state: Staged) -> None:
        score = instance.evaluate(state.solution)
        bound = float(_bound_at(instance, score, Clock(0.0)))
        controls.note(trajectory, score.objective, bound)

    state = staged(instance, names, requests, controls, notify)
    score = instance.evaluate(state.solution)
    bound = _bound_at(instance, score, Clock(0.0 if state.termination == "interrupted" else controls.remaining()))
    if "size_difference" in names and "request_difference" not in names[: names.index("size_difference")]:
        # only the number of requests limited that stage, so its bound holds for all such assignments
        bound = max([bound, *(item.bound for item in state.stages if item.objective == "size_difference")])
    termination, reason = _standing(state, bound, int(score.objective), controls.rel_gap)
    return Outcome(
        termination=termination,
        solution=state.solution,
        bound=float(bound),
        form=state.form,
        solve_seconds=time.perf_counter() - begin,
        trajectory=tuple(trajectory),
        options={"order": "+".join(names), "requests": requests},
        metrics={
            "stages": [{"objective": item.objective, "value": item.value, "bound": item.bound} for item in state.stages]
        },
        reason=reason,
    )


def _standing(state: Staged, bound: int, value: int, rel_gap: float) -> tuple[Termination, str | None]:
    if state.termination != "optimal" or value - bound <= rel_gap * bound:
        return state.termination, state.reason
    return "completed", "every stage is proven; the size difference was not minimised before the request difference"


def frontier(instance: ParametersInstance, *, time_limit: float | None = None) -> tuple[FrontierPoint, ...]:
    """Return the Pareto frontier of size difference against requests.

    Point c allows c cuts, from none up to the number that attains the minimum size difference (0, or 1 if the number of
    servers does not divide the total); at most p - 1. Points certainly dominated by earlier ones are left out.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    time_limit : float or None, optional
        Wall seconds, None for no limit; points not proven by then are reported with both bounds.

    Returns
    -------
    tuple of FrontierPoint
        In ascending order of requests.
    """
    points, interrupted = _frontier(instance, Clock(time_limit))
    if interrupted:
        raise KeyboardInterrupt
    return points


def _frontier(instance: ParametersInstance, clock: Clock) -> tuple[tuple[FrontierPoint, ...], bool]:
    """Return the points reached, and whether Ctrl-C came before the last one."""
    interrupted = False
    search = search_of(instance)
    levels: list[Level] = []
    try:
        for cuts in range(instance.servers):
            level = search.level(cuts, clock)
            if levels and levels[-1].assignment.difference < level.assignment.difference:
                level = Level(cuts, levels[-1].assignment, level.bound)
            levels.append(level)
            if level.assignment.difference == search.trivial_bound or (clock.expired() and cuts):
                break
    except KeyboardInterrupt:
        if not levels:
            raise
        interrupted = True
    points = []
    bound = 0
    for level in reversed(levels):
        # fewer requests cannot give a smaller difference than more requests
        bound = max(bound, level.bound)
        difference = level.assignment.difference
        requests = len(instance.sizes) + level.cuts
        points.append(FrontierPoint(requests, difference, bound, difference == bound, cut(instance, level.assignment)))
    points.reverse()
    kept = tuple(
        point for index, point in enumerate(points) if not index or point.bound < points[index - 1].size_difference
    )
    return kept, interrupted


def frontier_method(instance: ParametersInstance, controls: Controls) -> Outcome:
    """Trace the frontier; the solution is its point with the fewest requests, and metric `frontier` lists all points.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    controls : Controls
        Settings of the call.

    Returns
    -------
    Outcome
        `optimal` if every point is proven.
    """
    begin = time.perf_counter()
    clock = Clock(controls.remaining())
    points, interrupted = _frontier(instance, clock)
    open_points = sum(not point.proven for point in points)
    termination: Termination = "interrupted" if interrupted else "optimal"
    if open_points and not interrupted:
        termination = "time_limit" if clock.expired() else "completed"
    return Outcome(
        termination=termination,
        solution=points[0].solution,
        bound=float(points[0].bound),
        form="levels",
        solve_seconds=time.perf_counter() - begin,
        metrics={"frontier": [point.figures() for point in points]},
        reason=f"{open_points} of {len(points)} points are not proven" if open_points else None,
    )


def row_bound(
    instance: ParametersInstance, score: Score, controls: Controls, proven: Sequence[tuple[Score, float]] = ()
) -> float:
    """Return a lower bound on the size difference of every assignment with at most a row's requests.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    score : Score
        Score of the row's solution.
    controls : Controls
        Settings of the call; the work is limited even without a time limit, and cached within a process.
    proven : sequence of tuple of Score and float, optional
        Scores of other rows with their proven bounds; those with at least as many requests hold here too.

    Returns
    -------
    float
        Bound, in parameters.
    """
    own = _bound_at(instance, score, CountedClock(_ROW_LOOKS, controls.remaining()))
    requests = int(score.metrics["requests"])
    return max([float(own), *(bound for other, bound in proven if int(other.metrics["requests"]) >= requests)])


def _bound_at(instance: ParametersInstance, score: Score, clock: Clock) -> int:
    cuts = int(score.metrics["requests"]) - len(instance.sizes)
    return search_of(instance).level(cuts, clock).bound
