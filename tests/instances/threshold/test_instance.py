import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.threshold.instance import MARGIN, ThresholdInstance, ThresholdSolution


def history(**changes):
    fields = {
        "name": "t",
        "jobs": ("a", "b", "c", "d"),
        "features": ("skew",),
        "values": np.array([[0.1], [0.2], [0.6], [0.9]]),
        "ratio": np.array([1.0, 0.95, 0.7, 0.94]),
        "weights": np.array([1.0, 2.0, 4.0, 8.0]),
    }
    return ThresholdInstance(**(fields | changes))


def test_a_job_is_sensitive_below_the_limit_and_not_at_it():
    assert history().sensitive.tolist() == [False, False, True, True]
    assert history(limit=0.951).sensitive.tolist() == [False, True, True, True]


@pytest.mark.parametrize(
    ("solution", "objective", "missed", "alarms"),
    [
        (ThresholdSolution((1.0,), 0.4), 0.0, 0, 0),
        (ThresholdSolution((5.0,), 2.0), 0.0, 0, 0),
        (ThresholdSolution((1.0,), 0.7), 4.0, 1, 0),
        (ThresholdSolution((1.0,), 0.15), 2.0, 0, 1),
        (ThresholdSolution((-1.0,), -0.4), 15.0, 2, 2),
        (ThresholdSolution((1.0,), 0.0), 3.0, 0, 2),
        (ThresholdSolution((1.0,), 2.0), 12.0, 2, 0),
        # on the threshold is not told apart
        (ThresholdSolution((1.0,), 0.2), 2.0, 0, 1),
        (ThresholdSolution((1.0,), 0.6), 4.0, 1, 0),
    ],
)
def test_the_judge_weighs_errors(solution, objective, missed, alarms):
    score = history().evaluate(solution)
    assert score.objective == objective
    assert (score.metrics["missed"], score.metrics["false_alarms"]) == (missed, alarms)
    assert score.metrics["misclassified"] == missed + alarms


def test_margin_is_the_least_distance_of_a_job_told_apart_in_parts_of_the_range():
    assert history().evaluate(ThresholdSolution((1.0,), 0.3)).metrics["margin"] == pytest.approx(0.1 / 0.8)
    assert history().evaluate(ThresholdSolution((-1.0,), -0.4)).metrics["margin"] == 0


def test_a_job_nearer_than_the_margin_is_an_error():
    instance = history()
    assert instance.evaluate(ThresholdSolution((1.0,), 0.6 - 0.5 * MARGIN * 0.8)).objective == 4
    assert instance.evaluate(ThresholdSolution((1.0,), 0.6 - 1.1 * MARGIN * 0.8)).objective == 0


def test_the_judge_names_broken_rules():
    assert history().check(ThresholdSolution((1.0,), 0.4)) == []
    assert str(history().check(ThresholdSolution((1.0, 2.0), 0.4))[0]) == (
        "one_weight_per_feature at number of weights: 2, allowed 1"
    )
    assert history().check(ThresholdSolution((0.0,), 0.4))[0].rule == "nonzero_weights"


def test_equal_features_do_not_stop_the_judge():
    instance = history(values=np.full((4, 1), 3.0))
    assert instance.evaluate(ThresholdSolution((1.0,), 2.5)).objective == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jobs": ()}, r"number of jobs must be an integer from 1 to 100,000 \(got 0\)"),
        ({"features": ()}, r"number of features must be an integer from 1 to 32 \(got 0\)"),
        ({"jobs": ("a", "b", "a", "d")}, r"jobs\[2\]: duplicate label 'a' \(first at jobs\[0\]\)"),
        ({"jobs": ("a", "", "c", "d")}, r"jobs\[1\] must be text of 1 to 200 characters \(got ''\)"),
        ({"features": ("s", "s"), "values": np.zeros((4, 2))}, r"features\[1\]: duplicate label 's' \(first at"),
        ({"limit": 0.0}, r"limit must be a number > 0 and <= 1e12 \(got 0\.0\)"),
        ({"limit": float("nan")}, r"limit must be a number > 0 and <= 1e12 \(got nan\)"),
        ({"values": np.zeros((3, 1))}, r"values must have shape \(4, 1\) \(got \(3, 1\)\)"),
        ({"values": np.array([[0], [1], [np.nan], [2]])}, r"values\[2, 0\] must be a number from -1e12 to 1e12"),
        ({"ratio": np.array([1, 0, 1, 1])}, r"ratio\[1\] must be a number > 0 and <= 1e12 \(got 0\.0\)"),
        ({"weights": np.array([1, 1, 1, -1])}, r"weights\[3\] must be a number > 0 and <= 1e12 \(got -1\.0\)"),
        (
            {"values": np.array([[1e6], [1e6 + 0.1], [1e6], [1e6]])},
            r"feature skew must have a range of at least 1e-6 of its largest value 1e\+06 \(got 0\.1\);",
        ),
    ],
)
def test_a_defect_is_one_line(changes, message):
    with pytest.raises(InputError, match=message) as caught:
        history(**changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("weights", "threshold", "message"),
    [
        ((float("inf"),), 0.0, r"weights\[0\] must be a finite number \(got inf\)"),
        ((1.0,), float("nan"), r"threshold must be a finite number \(got nan\)"),
        ((True,), 0.0, r"weights\[0\] must be a finite number \(got True\)"),
    ],
)
def test_a_rule_has_finite_numbers(weights, threshold, message):
    with pytest.raises(InputError, match=message):
        ThresholdSolution(weights, threshold)


def test_instances_are_equal_by_content_and_arrays_are_read_only():
    assert history() == history()
    assert history() != history(limit=0.9)
    with pytest.raises(ValueError, match="read-only"):
        history().values[0, 0] = 1
