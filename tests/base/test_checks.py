from __future__ import annotations

import numpy as np
import pytest

from gangopt.base.checks import integer, number, text
from gangopt.base.errors import InputError
from gangopt.instances.allocation.instance import AllocationSolution
from gangopt.instances.interval.instance import IntervalSolution
from gangopt.instances.network_placement.instance import NetworkPlacementSolution
from gangopt.instances.parameters.instance import ParametersSolution
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.instances.threshold.instance import ThresholdSolution

NO_WHOLE_NUMBERS = [7.9, 7.0, True, np.True_, "7", None, float("nan"), np.float64(7), 10**16, -(10**16)]


@pytest.mark.parametrize("value", NO_WHOLE_NUMBERS)
@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda x: AllocationSolution((1, x), (1, 1)), r"workers\[1\]"),
        (lambda x: AllocationSolution((1, 1), (x, 1)), r"parameter_servers\[0\]"),
        (lambda x: NetworkPlacementSolution((x,), (0,)), r"workers\[0\]"),
        (lambda x: NetworkPlacementSolution((1,), (0, x)), r"ps_hosts\[1\]"),
        (lambda x: ParametersSolution((((0, x),),)), r"parts\[0\]"),
        (lambda x: ParametersSolution((((0, 5),), ((x, 5),))), r"parts\[1\]"),
        (lambda x: PlacementSolution((((0, 1, x),),), ("",)), r"pieces\[0\]"),
    ],
)
def test_solutions_of_anything_but_whole_numbers_are_refused(make, field, value):
    with pytest.raises(InputError, match=rf"^{field} must be (an integer|integers .*) .*\(got "):
        make(value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AllocationSolution(7, (1,)), r"workers must be a list of integers \(got 7\)"),
        (lambda: AllocationSolution("12", (1,)), r"workers must be a list of integers \(got '12'\)"),
        (
            lambda: AllocationSolution((1,), [[1]]),
            r"parameter_servers\[0\] must be an integer \(got \[1\]\)",
        ),
        (lambda: NetworkPlacementSolution((1,), None), r"ps_hosts must be a list of integers \(got None\)"),
        (lambda: ParametersSolution(5), r"parts must be lists of pieces \(got 5\)"),
        (lambda: ParametersSolution(((0, 5),)), r"parts\[0\] must be integers \(server, parameters\) \(got 0\)"),
        (lambda: ParametersSolution((5,)), r"parts\[0\] must be a list of pieces \(got 5\)"),
        (
            lambda: ParametersSolution((((0, 5, 1),),)),
            r"parts\[0\] must be integers \(server, parameters\) \(got \(0, 5, 1\)\)",
        ),
        (lambda: PlacementSolution((((0, 1, 1),),), (None,)), r"reasons\[0\] must be text \(got None\)"),
        (lambda: PlacementSolution((((0, 1, 1),),), "x"), r"reasons must be a list of text \(got 'x'\)"),
        (lambda: PlacementSolution((((0, 1, 1),),), 3), r"reasons must be a list of text \(got 3\)"),
        (
            lambda: IntervalSolution((1,), PlacementSolution((), ())),
            "allocation must be an object of type AllocationSolution",
        ),
        (lambda: IntervalSolution(AllocationSolution((), ()), None), "placement must be an object of type"),
        (lambda: ThresholdSolution((True,), 0.5), r"weights\[0\] must be a finite number \(got True\)"),
        (lambda: ThresholdSolution((1.0,), "0.5"), r"threshold must be a finite number \(got '0.5'\)"),
        (lambda: ThresholdSolution((1.0,), float("inf")), r"threshold must be a finite number \(got inf\)"),
        (lambda: ThresholdSolution((10**400,), 0.5), r"weights\[0\] must be a finite number \(got 1000.*\)"),
        (lambda: ThresholdSolution(1.0, 0.5), r"weights must be a list of finite numbers \(got 1.0\)"),
    ],
)
def test_solutions_of_another_shape_are_refused_in_one_line(make, message):
    with pytest.raises(InputError, match=f"^{message}"):
        make()


def test_whole_numbers_of_numpy_become_plain_ints():
    allocation = AllocationSolution(np.array([7, 2]), [np.int64(1), np.uint8(3)])
    assert allocation == AllocationSolution((7, 2), (1, 3))
    parts = ParametersSolution([np.array([[1, 2], [0, 5]])])
    assert parts.parts == (((0, 5), (1, 2)),)
    placement = PlacementSolution((((np.int32(0), 1, 1),),), [""])
    host = NetworkPlacementSolution((np.int64(1),), np.array([0]))
    numbers = [*allocation.workers, *allocation.parameter_servers, *parts.parts[0][0], *placement.pieces[0][0]]
    assert {type(number) for number in [*numbers, *host.workers, *host.ps_hosts]} == {int}


def test_numbers_of_numpy_become_plain_floats():
    rule = ThresholdSolution(np.array([1.0, 2.0]), np.float32(0.5))
    assert rule == ThresholdSolution((1, 2), 0.5)
    assert {type(number) for number in [*rule.weights, rule.threshold]} == {float}


@pytest.mark.parametrize(
    ("limits", "value", "message"),
    [
        ({}, "1", "x must be a finite number (got '1')"),
        ({}, True, "x must be a finite number (got True)"),
        ({}, 10**400, "x must be a finite number (got 1000000"),
        ({"low": 0}, -1.0, "x must be a finite number >= 0 (got -1.0)"),
        ({"low": 0}, float("inf"), "x must be a finite number >= 0 (got inf)"),
        ({"high": 1}, np.float64(2), "x must be a number <= 1 (got 2.0)"),
        ({"low": 0, "high": 1}, float("nan"), "x must be a number from 0 to 1 (got nan)"),
        ({"low": 0, "high": 5_000_000, "unit": "s"}, -1, "x must be a number from 0 to 5,000,000 s (got -1)"),
        ({"above": 0}, 0, "x must be a finite number > 0 (got 0)"),
        ({"above": 0, "high": 1e12, "unit": "s"}, 0, "x must be a number > 0 and <= 1e12 s (got 0)"),
        ({"low": 0.25, "high": 1e15}, 0.2, "x must be a number from 0.25 to 1e15 (got 0.2)"),
    ],
)
def test_number_reports_the_limits_and_the_value(limits, value, message):
    with pytest.raises(InputError) as caught:
        number("x", value, **limits)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("limits", "value", "message"),
    [
        ({}, 7.0, "jobs[3].gpus must be an integer (got 7.0)"),
        ({}, np.True_, "jobs[3].gpus must be an integer (got True)"),
        ({"low": 0}, -1, "jobs[3].gpus must be an integer >= 0 (got -1)"),
        ({"low": 1, "high": 4096}, 0, "jobs[3].gpus must be an integer from 1 to 4096 (got 0)"),
        (
            {"low": 1, "high": 8, "unit": "GPUs"},
            np.int64(9),
            "jobs[3].gpus must be an integer from 1 to 8 GPUs (got 9)",
        ),
    ],
)
def test_integer_reports_the_limits_and_the_value(limits, value, message):
    with pytest.raises(InputError) as caught:
        integer("jobs[3].gpus", value, **limits)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("limits", "value", "message"),
    [
        ({}, 3, "name must be text (got 3)"),
        ({"least": 1}, "", "name must be text of at least 1 character (got '')"),
        ({"least": 1, "most": 3}, "abcd", "name must be text of 1 to 3 characters (got 'abcd')"),
    ],
)
def test_text_reports_the_length_and_the_value(limits, value, message):
    with pytest.raises(InputError) as caught:
        text("name", value, **limits)
    assert str(caught.value) == message


def test_text_refuses_characters_that_cannot_be_printed():
    with pytest.raises(InputError, match="cannot be printed"):
        text("name", "a\x1b")


def test_values_within_the_limits_become_plain():
    assert type(number("x", np.float32(0.5), 0, 1)) is float
    assert type(integer("x", np.uint8(3), 1, 4)) is int
    assert text("x", "abc", 1, 3) == "abc"
