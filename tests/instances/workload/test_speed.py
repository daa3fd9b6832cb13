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
        ("", "speed '': mode '', async or sync is needed"),
        ("async 1 2 3", r"speed 'async 1 2 3': async needs 4 finite coefficients from 0, not all 0; given: \(1.0, 2.0"),
        ("async 1 2 3 -4", "async needs 4 finite coefficients from 0"),
        ("async 0 0 0 0", "not all 0"),
        ("async 1 2 3 x", "async needs 4 finite coefficients"),
        ("sync", "sync needs 5 finite coefficients"),
        ("sync 0 1 2 3 4 5", "batch 0.0, sync needs a finite number above 0"),
        ("sync 1 1 2 3 4 inf", "sync needs 5 finite coefficients"),
    ],
)
def test_defects(text, message):
    with pytest.raises(InputError, match=message):
        FittedSpeed.parse(text)
