"""One gap formula, and a result that never hands out what it does not have."""

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import NoSolutionError
from gangopt.solvers.core.result import Result, Seconds, absolute_gap, is_proven, relative_gap

numbers = st.floats(-1e9, 1e9, allow_nan=False)


def make(**changes):
    values = {
        "instance": "a/b",
        "problem": "a",
        "method": "m",
        "form": None,
        "termination": "time_limit",
        "solution_status": "none",
        "sense": "minimise",
        "objective": None,
        "bound": 3.0,
        "abs_gap": None,
        "rel_gap": None,
        "requested_rel_gap": 0.0,
        "seconds": Seconds(0.0, 0.0, 0.0),
        "metrics": {},
        "solver": "highs",
        "version": "1",
        "options": {},
        "trajectory": (),
    }
    return Result(**{**values, **changes})


@pytest.mark.parametrize(
    ("objective", "bound", "sense", "gap"),
    [
        (110.0, 100.0, "minimise", 0.1),
        (90.0, 100.0, "maximise", 0.1),
        (-90.0, -100.0, "minimise", 0.1),
        (0.0, 0.0, "minimise", 0.0),
        (0.0, 0.0, "maximise", 0.0),
        (5.0, 0.0, "minimise", math.inf),
        (-5.0, 0.0, "maximise", math.inf),
        (0.0, -4.0, "minimise", 1.0),
        (None, 1.0, "minimise", None),
        (1.0, None, "minimise", None),
    ],
)
def test_the_gap_is_relative_to_the_bound(objective, bound, sense, gap):
    assert relative_gap(objective, bound, sense) == gap


@given(numbers, numbers)
def test_maximising_is_minimising_the_negative(objective, bound):
    assert relative_gap(objective, bound, "minimise") == relative_gap(-objective, -bound, "maximise")
    assert absolute_gap(objective, bound, "minimise") == absolute_gap(-objective, -bound, "maximise")


def test_proven_means_equal_up_to_rounding():
    assert is_proven(1.0 + 1e-10, 1.0, "minimise")
    assert not is_proven(1.0 + 1e-8, 1.0, "minimise")
    assert not is_proven(1.0, None, "minimise")
    assert not is_proven(1.0, 0.0, "minimise")


def test_no_solution_is_an_error_that_says_why():
    with pytest.raises(NoSolutionError, match="a/b: m ended time_limit without a solution: too slow"):
        make(reason="too slow").solution  # noqa: B018
    assert make().bound == 3.0


def test_a_result_is_frozen_and_travels_between_processes():
    result = make(metrics={"requests": 3}, solution_status="feasible", _solution=(1, 2))
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again.solution == (1, 2)
    with pytest.raises(TypeError):
        result.metrics["requests"] = 4
    with pytest.raises(AttributeError):
        result.bound = 1
