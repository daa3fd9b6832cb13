"""Loss logs: what is refused, and the cleaning before a fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.fitting.loss_log import LossLog, decimate, find_outliers, replace_outliers

FALLING = [8.0, 6.0, 5.0, 4.0, 3.5, 3.0, 2.8]


@pytest.mark.parametrize(
    ("steps", "losses", "rate", "message"),
    [
        (range(5), [5, 4, 3, 2, 1], None, r"a loss curve must have at least 6 points \(got 5\)"),
        (range(6), [5, 4, 3, 2, 1], None, r"losses must have length 6 like steps \(got 5\)"),
        (range(7), [5, 4, float("nan"), 2, 1, 1, 1], None, r"losses\[2\] must be a number from 0 to 1e15 \(got nan\)"),
        (range(7), [5, 4, 3, -2, 1, 1, 1], None, r"losses\[3\] must be a number from 0 to 1e15 \(got -2\.0\)"),
        (range(7), [5, 4, 3, float("inf"), 1, 1, 1], None, r"losses\[3\] must be a number from 0 to 1e15 \(got inf\)"),
        ([0, 1, 2, 2, 3, 4, 5], FALLING, None, r"steps\[3\] must be > 2 \(got 2\)"),
        ([0, 1, 3, 2, 4, 5, 6], FALLING, None, r"steps\[3\] must be > 3 \(got 2\)"),
        ([-1, 1, 2, 3, 4, 5, 6], FALLING, None, r"steps\[0\] must be a number from 0 to 1e15 \(got -1\.0\)"),
        (range(7), [0] * 7, None, "losses must not all be 0"),
        (range(7), FALLING, 0.0, r"steps_per_epoch must be a number from 1e-15 to 1e15 \(got 0\.0\)"),
        (range(7), FALLING, float("nan"), r"steps_per_epoch must be a number from 1e-15 to 1e15 \(got nan\)"),
        (range(7), ["a"] * 7, None, r"losses must hold numbers \(got \['a', 'a', 'a', 'a', 'a', 'a', 'a'\]\)"),
        ([range(7)], FALLING, None, r"steps must have one dimension \(got 2\)"),
        (np.arange(7) * 1e-20, FALLING, None, r"steps\[6\] must be >= 1e-15 \(got 6e-20\)"),
    ],
)
def test_a_defective_log_is_refused(steps, losses, rate, message):
    with pytest.raises(InputError, match=message):
        LossLog(list(steps), losses, rate)


def test_an_epoch_is_by_default_the_mean_distance_of_two_points():
    assert LossLog(np.arange(7) * 10.0, FALLING).epoch_steps == 10
    assert LossLog(np.arange(7) * 10.0, FALLING, 25).epoch_steps == 25


def test_a_log_cannot_be_changed():
    losses = np.array(FALLING)
    log = LossLog(np.arange(7.0), losses)
    losses[0] = 1
    assert log.losses[0] == 8
    with pytest.raises(ValueError, match="read-only"):
        log.losses[0] = 1


def outliers_by_definition(log):
    reach = 5 * log.epoch_steps
    rejected = []
    for k, loss in zip(log.steps, log.losses, strict=True):
        before = [x for i, x in zip(log.steps, log.losses, strict=True) if k - reach - 1e-6 <= i < k]
        after = [x for i, x in zip(log.steps, log.losses, strict=True) if k < i <= k + reach + 1e-6]
        rejected.append(bool((before and loss > max(before)) or (after and loss < min(after))))
    return rejected


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 6)), min_size=6, max_size=40),
    st.sampled_from([None, 1, 2, 3, 7]),
)
def test_outliers_are_those_of_the_definition(points, rate):
    losses = [loss for _, loss in points[:-1]] + [1]
    log = LossLog(np.cumsum([step for step, _ in points]), losses, rate)
    assert find_outliers(log).tolist() == outliers_by_definition(log)


def test_a_spike_and_a_dip_are_rejected_and_their_neighbours_are_not():
    losses = np.linspace(5, 1, 20)
    losses[7], losses[12] = 30, 0.1
    assert np.flatnonzero(find_outliers(LossLog(range(20), losses))).tolist() == [7, 12]


def test_at_the_ends_a_window_without_points_sets_no_bound():
    losses = np.linspace(5, 1, 20)
    losses[0], losses[-1] = 50, 0.0
    assert not find_outliers(LossLog(range(20), losses)).any()
    losses[0], losses[-1] = 0.5, 9  # a bad end point also makes its only neighbour on that side look bad
    rejected = np.flatnonzero(find_outliers(LossLog(range(20), losses))).tolist()
    assert rejected == [0, 1, 18, 19]


def test_five_epochs_are_counted_in_steps():
    losses = np.linspace(5, 1, 30)
    losses[10] = losses[3] - 0.01  # above the points 4 to 9, below point 3
    assert not find_outliers(LossLog(range(30), losses, 2))[10]
    assert find_outliers(LossLog(range(30), losses, 1))[10]


def test_an_outlier_becomes_the_average_of_its_nearest_good_neighbours():
    losses = np.array([1.0, 9.0, 8.0, 4.0, 3.0, 7.0])
    outliers = np.array([True, False, True, True, False, True])
    assert replace_outliers(losses, outliers).tolist() == [9, 9, 6, 6, 3, 3]
    with pytest.raises(InputError, match="the losses do not decrease: the window rule rejects all points"):
        replace_outliers(losses, np.ones(6, dtype=bool))


def test_short_logs_are_left_alone_and_long_ones_averaged_over_epochs():
    steps, losses = np.arange(12.0), np.arange(12.0)[::-1]
    assert decimate(steps, losses, 3, 12)[0] is steps
    few, means = decimate(steps, losses, 3, 11)
    assert few.tolist() == [1, 4, 7, 10]
    assert means.tolist() == [10, 7, 4, 1]
    assert decimate(steps, losses, 3, 3)[0].tolist() == [2.5, 8.5]
    assert decimate(steps, losses, 3, 1)[0].tolist() == [5.5]


@given(st.integers(6, 300), st.integers(1, 50), st.floats(0.3, 40))
def test_decimation_keeps_within_the_limit_and_the_order(count, limit, rate):
    steps = np.arange(float(count))
    losses = np.random.default_rng(count).random(count)
    few, _ = decimate(steps, losses, rate, limit)
    assert few.size <= limit
    assert np.all(np.diff(few) > 0)
    assert steps[0] <= few[0]
    assert few[-1] <= steps[-1]
