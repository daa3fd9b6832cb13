"""Multiples of an interval, also where numbers round."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.replays.policies.ticks import Ticks, next_tick


@given(st.integers(0, 10**6), st.floats(1e-3, 1e6))
def test_multiples_follow_each_other(count, interval):
    now = count * interval
    assert next_tick(now, interval, 0.0) == (count + 1) * interval


def test_the_next_multiple_is_later_even_below_the_resolution():
    assert next_tick(1e18, 1.0, 0.0) == math.nextafter(1e18, math.inf)


@pytest.mark.parametrize(("now", "due", "following"), [(0, True, 10), (3, False, 10), (20, True, 30), (-5, False, 0)])
def test_multiples_are_found_after_nobody_asked(now, due, following):
    ticks = Ticks(10)
    assert (ticks.due(now, 0.0), ticks.next) == (due, following)
    ticks = Ticks(10)
    ticks.due(-20, 0.0)
    assert (ticks.due(now, 0.0), ticks.next) == (due, following)


@pytest.mark.parametrize("now", [30 - 1e-7, 30 + 1e-7])
@pytest.mark.parametrize("asked_before", [0, 20])
def test_a_time_within_the_resolution_is_the_multiple(now, asked_before):
    ticks = Ticks(10)
    ticks.due(asked_before, 1e-6)
    assert ticks.due(now, 1e-6)
    assert ticks.next == 40
