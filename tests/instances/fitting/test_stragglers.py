"""Stragglers by speed and by arrival times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.fitting.stragglers import async_stragglers, sync_step_times, sync_stragglers


def arrivals(durations, start=100.0):
    """Arrival times of a synchronous job whose workers need these seconds, one row a step."""
    rows, ready = [np.full(len(durations[0]), start)], start
    for row in durations:
        rows.append(ready + np.array(row))
        ready = rows[-1].max()
    return np.array(rows)


def test_async_below_half_the_median():
    assert async_stragglers([10, 10, 10, 4.9]) == (3,)
    assert async_stragglers([10, 10, 10, 5.0]) == ()  # half is not below half
    assert async_stragglers([0.0, 8, 10, 12, 1]) == (0, 4)
    assert async_stragglers([10, 10, 10, 7], factor=0.8) == (3,)
    assert async_stragglers([3.0]) == ()
    assert async_stragglers([]) == ()


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
def test_async_stragglers_are_a_minority(speeds):
    found = async_stragglers(speeds)
    assert 2 * len(found) <= len(speeds)
    assert all(speeds[i] < 0.5 * np.median(speeds) for i in found)


def test_step_times_begin_when_the_step_before_is_complete():
    durations = [[1.0, 2.0], [3.0, 0.5], [1.0, 1.0]]
    assert sync_step_times(arrivals(durations)) == pytest.approx(np.array(durations))


def test_sync_straggler_is_slow_in_most_steps():
    steady = [[1.0, 1.1, 0.9, 2.5]] * 8
    assert sync_stragglers(arrivals(steady)) == (3,)
    once = [[1.0, 1.1, 0.9, 1.0]] * 7 + [[1.0, 1.1, 0.9, 30.0]]
    assert sync_stragglers(arrivals(once)) == ()
    assert sync_stragglers(arrivals(once), window=1) == (3,)


def test_sync_looks_at_the_latest_steps_only():
    recovered = [[1.0, 9.0, 1.0]] * 20 + [[1.0, 1.0, 1.0]] * 10
    assert sync_stragglers(arrivals(recovered)) == ()
    assert sync_stragglers(arrivals(recovered), window=30) == (1,)


def test_sync_without_workers_has_no_straggler():
    assert sync_stragglers(np.empty((4, 0))) == ()


@given(st.lists(st.lists(st.floats(0.1, 10), min_size=5, max_size=5), min_size=1, max_size=12), st.floats(0.1, 1))
def test_sync_agrees_with_the_definition(durations, factor):
    durations = np.array(durations)
    ratios = np.median(durations, axis=1)[:, None] / durations
    typical = np.median(ratios[-10:], axis=0)
    found = sync_stragglers(arrivals(durations, 0.0), factor=factor)
    assert {i for i in range(5) if typical[i] < factor - 1e-6} <= set(found)
    assert set(found) <= {i for i in range(5) if typical[i] < factor + 1e-6}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: async_stragglers([1, float("nan")]), r"speeds\[1\] must be a finite number >= 0 \(got nan\)"),
        (lambda: async_stragglers([1, -1]), r"speeds\[1\] must be a finite number >= 0 \(got -1\)"),
        (lambda: async_stragglers([[1]]), r"speeds must have 1 dimensions \(got 2\)"),
        (lambda: async_stragglers(["a"]), "speeds must hold numbers in rows of equal length"),
        (lambda: async_stragglers([1], factor=0), r"factor must be a number > 0 and <= 1 \(got 0\)"),
        (lambda: sync_stragglers([[1, 1], [2, 2]], factor=2), r"factor must be a number > 0 and <= 1 \(got 2\)"),
        (lambda: sync_stragglers([[1, 1], [2, 2]], window=0), r"window must be an integer >= 1 steps \(got 0\)"),
        (lambda: sync_stragglers([[1, 1]]), r"arrivals must have at least 2 steps \(got 1\)"),
        (lambda: sync_stragglers([[1, 1], [2]]), "arrivals must hold numbers in rows of equal length"),
        (
            lambda: sync_stragglers([[1, 2], [3, 1.5]]),
            r"arrivals\[1\]\[1\] must be > 2 s, the last arrival of the previous step \(got 1\.5 s\); the workers",
        ),
        (
            lambda: sync_step_times([[1, 2], [3, float("inf")]]),
            r"arrivals\[1\]\[1\] must be a finite number >= 0 \(got inf\)",
        ),
    ],
)
def test_bad_measurements_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
