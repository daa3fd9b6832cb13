import math

import pytest

from gangopt.base.contract import Score
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.core.incumbent import Incumbent


class Worth:
    """An instance whose solutions are their objectives."""

    def evaluate(self, solution):
        return Score(solution)


def started(**settings):
    return Incumbent(Worth(), Controls(**settings))


def test_only_what_is_better_is_taken_and_reported():
    seen = []
    state = started(on_progress=seen.append)
    state.offer()
    state.offer(bound=None)
    assert not seen
    state.offer(bound=1.0)
    state.offer(5.0)
    state.offer(6.0, 0.5)
    state.offer(4.0, 2.0)
    assert [(event.objective, event.bound) for event in seen] == [(None, 1.0), (5.0, 1.0), (4.0, 2.0)]
    assert [event[1:] for event in state.trajectory] == [(None, 1.0), (5.0, 1.0), (4.0, 2.0)]
    assert (state.solution, state.objective, state.bound) == (4.0, 4.0, 2.0)


def test_a_bound_never_exceeds_the_best_solution():
    state = started()
    state.offer(5.0, 5.1)
    assert state.bound == 5.0
    # a solution that is better by rounding still has a bound that is none above it
    state.offer(5.0 - 1e-13)
    assert state.concluded("optimal", None, "own").bound == 5.0 - 1e-13


@pytest.mark.parametrize(
    ("objective", "bound", "rel_gap", "proven"),
    [
        (5.0, 5.0, 0.0, True),
        (5.0, 4.9, 0.0, False),
        (5.0, 4.9, 0.05, True),
        (None, 4.9, 0.05, False),
        (5.0, None, 0.05, False),
        (0.0, 0.0, 0.0, True),
        (-4.9, -5.0, 0.05, True),
    ],
)
def test_proven_to_the_gap_asked_for(objective, bound, rel_gap, proven):
    state = started(rel_gap=rel_gap)
    state.offer(objective, bound)
    assert state.proven() is proven


def test_conclusion_names_a_solver_only_if_one_was_used():
    state = started()
    nothing = state.concluded("time_limit", "why", "own")
    assert (nothing.solution, nothing.bound, nothing.solver, nothing.reason) == (None, None, "", "why")
    assert math.isfinite(nothing.solve_seconds)
    state.version = "1.16"
    assert state.concluded("optimal", None, "form").solver == "highs"
