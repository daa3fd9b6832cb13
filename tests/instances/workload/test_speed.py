"""Fitted speeds as text."""

import pytest

from gangopt.base.errors import InputError
from gangopt.instances.workload.speed import FittedSpeed


@pytest.mark.parametrize("text", ["async 2.83 3.92 0.0 0.11", "sync 40.0 1.02 2.78 4.92 0.0 0.02"])
def test_text_is_read_back_and_speeds_are_those_of_the_equations(text):
    fitted = FittedSpeed.parse(text)
    assert FittedSpeed.parse(fitted.text()) == fitted
    assert fitted.text() == text
    by_hand = {"async": 4 / (2.83 + 3.92 * 2 + 0.11 * 2), "sync": 1 / (1.02 * 10 + 2.78 + 4.92 * 2 + 0.04)}
    assert fitted.steps_a_second(2, 4) == pytest.approx(by_hand[fitted.mode])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"speed '': mode must be async or sync \(got ''\)"),
        (
            "async 1 2 3",
            r"speed 'async 1 2 3': theta must have 4 finite coefficients >= 0, not all 0, in mode async \(got",
        ),
        (
            "async 1 2 3 -4",
            r"speed 'async 1 2 3 -4': theta must have 4 finite coefficients >= 0, not all 0, in mode async \(got",
        ),
        ("async 0 0 0 0", "not all 0"),
        (
            "async 1 2 3 x",
            r"speed 'async 1 2 3 x': theta must have 4 finite coefficients >= 0, not all 0, in mode async \(got \(\)\)",
        ),
        ("sync", r"speed 'sync': theta must have 5 finite coefficients >= 0, not all 0, in mode sync \(got \(\)\)"),
        ("sync 0 1 2 3 4 5", r"batch must be a finite number > 0 in mode sync \(got 0\.0\)"),
        (
            "sync 1 1 2 3 4 inf",
            r"speed 'sync 1 1 2 3 4 inf': theta must have 5 finite coefficients >= 0, not all 0, in mode sync",
        ),
    ],
)
def test_defects(text, message):
    with pytest.raises(InputError, match=message):
        FittedSpeed.parse(text)
