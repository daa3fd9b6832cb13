import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.apps.app import CurveTuner, HalvingTuner, JobInfo
from gangopt.instances.apps.tuners import (
    CurveJob,
    CurveStopping,
    HalvingPhase,
    SuccessiveHalving,
    forecast,
    halvings,
)

PLAN = (HalvingPhase(4, 8, 8), HalvingPhase(2, 16, 8), HalvingPhase(1, 36, 8))


def jobs(*seconds):
    return [JobInfo(f"job{k}", 1, item, 1) for k, item in enumerate(seconds)]


def example(ranking=None):
    return SuccessiveHalving(jobs(80, 100, 100, 120), PLAN, ranking)


def times(phase):
    return [(job.label, job.iterations_remaining, job.seconds_per_iteration) for job in phase]


def test_halving_tells_the_jobs_of_now_and_the_median_of_later():
    tuner = example()
    assert isinstance(tuner, HalvingTuner)
    assert tuner.num_phases() == 3
    assert times(tuner.jobs_in_phase(0, 4))[3] == ("job3", 8, 120)
    assert times(tuner.jobs_in_phase(1, 4)) == [("median0", 16, 100), ("median1", 16, 100)]
    assert times(tuner.jobs_in_phase(2, 4)) == [("median0", 36, 100)]
    assert {job.max_gpus for job in tuner.jobs_in_phase(0, 4)} == {8}
    assert (tuner.budget, tuner.most_gpus) == (10_000, 32)


def test_halving_keeps_the_best_and_estimates_anew():
    tuner = example(ranking=[3, 1, 0, 2])
    tuner.advance(0.25)
    assert times(tuner.jobs_in_phase(0, 4))[0] == ("job0", 6, 80)
    assert [times(phase) for phase in tuner.truth()][1:] == [
        [("job1", 16, 100), ("job3", 16, 120)],
        [("job3", 36, 120)],
    ]
    tuner.advance(1)
    assert tuner.num_phases() == 2
    assert times(tuner.jobs_in_phase(0, 4)) == [("job1", 16, 100), ("job3", 16, 120)]
    assert times(tuner.jobs_in_phase(1, 4)) == [("median0", 36, 120)]
    assert tuner.budget == 10_000
    tuner.advance(1)
    tuner.advance(1)
    assert tuner.num_phases() == 0
    assert tuner.truth() == []


def test_plain_halving_doubles_the_gpus():
    assert halvings(9, 5) == (
        HalvingPhase(9, 5, 1),
        HalvingPhase(4, 5, 2),
        HalvingPhase(2, 5, 4),
        HalvingPhase(1, 5, 8),
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: halvings(0, 5), r"jobs must be an integer >= 1 \(got 0\)"),
        (lambda: SuccessiveHalving(jobs(1, 2), PLAN), r"phases\[0\] must have all 2 jobs \(got 4\)"),
        (lambda: SuccessiveHalving(jobs(1), ()), r"phases\[0\] must have all 1 jobs \(got 0\)"),
        (
            lambda: SuccessiveHalving(jobs(1), (HalvingPhase(1, 1, 1), HalvingPhase(2, 1, 1))),
            r"phases\[1\]\.jobs must be an integer from 1 to 1 \(got 2\)",
        ),
        (lambda: example(ranking=[0, 1, 2, 2]), r"ranking must be a permutation of 0 to 3 \(got \[0, 1, 2, 2\]\)"),
        (lambda: example().jobs_in_phase(3, 1), r"phase must be from 0 to 2, gpus >= 0 \(got 3, 1\)"),
        (lambda: example().advance(1.5), r"part must be a number from 0 to 1 \(got 1\.5\)"),
        (lambda: CurveStopping([]), "jobs must not be empty"),
        (lambda: CurveJob(JobInfo("a", 10, 1), 11), r"job a: stops_at must be a number > 0 and <= 10 \(got 11\)"),
        (lambda: curves().jobs_remaining(-1), r"gpus must be an integer >= 0 \(got -1\)"),
        (lambda: forecast([], 0.1, 10), "curves must not be empty"),
        (lambda: forecast([(1, 1, 0)], 0.1, 0), r"limit must be a number from 1 to 1e9 iterations \(got 0\)"),
        (
            lambda: forecast([(1, -1, 0)], 0.1, 10),
            r"curves\[0\] must be three finite numbers >= 0 \(got \(1, -1, 0\)\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def curves():
    return CurveStopping([CurveJob(JobInfo("a", 100, 10, 2), 60), CurveJob(JobInfo("b", 50, 20, 4), 50)])


def test_curve_stopping_tells_the_latest_forecasts():
    tuner = curves()
    assert isinstance(tuner, CurveTuner)
    assert (tuner.budget, tuner.most_gpus) == (2000, 6)
    assert times(tuner.jobs_remaining(2)) == [("a", 100, 10), ("b", 50, 20)]
    assert times(tuner.truth()[0]) == [("a", 60, 10), ("b", 50, 20)]
    tuner.advance(0.5)
    assert times(tuner.jobs_remaining(2)) == [("a", 70, 10), ("b", 25, 20)]
    tuner.advance(0.5)
    assert times(tuner.truth()[0]) == [("a", 15, 10), ("b", 12.5, 20)]
    tuner.advance(1)
    assert tuner.truth() == list(tuner.jobs_remaining(2)) == []


def test_a_forecast_is_where_the_curve_comes_down_to_the_target():
    assert forecast([(0.1, 1.0, 0.0)], 0.1, 1000) == pytest.approx(90)
    assert forecast([(0.1, 1.0, 0.0), (0.05, 1.0, 0.0)], 0.1, 1000) == pytest.approx(180)
    # never, beyond the limit, and already there
    assert forecast([(0.1, 1.0, 0.2)], 0.1, 1000) == 1000
    assert forecast([(0.0, 1.0, 0.0)], 0.1, 1000) == 1000
    assert forecast([(0.0, 20.0, 0.0)], 0.1, 1000) == 1
    assert forecast([(0.1, 1.0, 0.0)], 0.1, 50) == 50
    assert forecast([(0.1, 30.0, 0.0)], 0.1, 50) == 1


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 5), st.floats(0, 0.05)), min_size=1, max_size=3),
    st.floats(0.06, 1),
)
def test_all_curves_are_at_the_target_at_the_forecast_and_not_long_before(fits, target):
    end = forecast(fits, target, 1e6)

    def highest(k):
        return max(1 / (b0 * k + b1) + b2 for b0, b1, b2 in fits)

    assert highest(end) <= target * (1 + 1e-9)
    assert end == 1 or highest(end * 0.99) > target * (1 - 1e-12)
    assert math.isfinite(end)
