import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.catalogue import load
from gangopt.instances.threshold.generate import random
from gangopt.instances.threshold.instance import ThresholdInstance, ThresholdSolution
from gangopt.solvers.solve import solve

METHODS = ("class_means", "single_cut", "perceptron")


def history(points, sensitive, weights=None):
    points = np.array(points, dtype=float)
    return ThresholdInstance(
        name="t",
        jobs=tuple(f"j{j}" for j in range(len(points))),
        features=tuple("xyz"[: points.shape[1]]),
        values=points,
        ratio=np.where(sensitive, 0.5, 1.0),
        weights=None if weights is None else np.array(weights, dtype=float),
    )


@given(st.integers(1, 12), st.integers(1, 3), st.integers(0, 1000))
def test_no_rule_beats_the_optimum(jobs, features, seed):
    instance = random(jobs=jobs, features=features, noise=0.3, seed=seed)
    best = solve(instance).objective
    for method in METHODS:
        assert solve(instance, method).objective >= best


@pytest.mark.parametrize("method", METHODS)
def test_every_rule_parts_the_published_models(method):
    assert solve(load("threshold/tiresias-figure3"), method).objective == 0


def test_class_means_cuts_midway_between_weighted_means():
    instance = history([[0], [2], [6], [10]], [False, False, True, True], [1, 3, 1, 1])
    solution = solve(instance, "class_means").solution
    assert (solution.weights, solution.threshold) == ((1.0,), pytest.approx((1.5 + 8) / 2))
    low = history([[0], [2], [6], [10]], [True, True, False, False])
    turned = solve(low, "class_means").solution
    assert (turned.weights, turned.threshold) == ((-1.0,), pytest.approx(-4.5))


def test_class_means_of_two_features_points_from_mean_to_mean():
    instance = history([[0, 0], [4, 10]], [False, True])
    solution = solve(instance, "class_means").solution
    assert solution.weights == pytest.approx((0.25, 0.1))
    assert solution.threshold == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("sensitive", "weights", "errors"),
    [([True, True], [1, 1], 0), ([False, False], [1, 1], 0), ([True, False], [2, 1], 1), ([True, False], [1, 1], 1)],
)
def test_class_means_without_a_direction_calls_all_alike(sensitive, weights, errors):
    points = [[1], [1]] if sensitive[0] != sensitive[1] else [[1], [2]]
    result = solve(history(points, sensitive, weights), "class_means")
    assert result.objective == errors
    if weights == [1, 1] and errors:
        assert result.metrics["missed"] == 1


def test_single_cut_takes_the_feature_that_tells_more():
    instance = history([[0, 1], [1, 2], [0, 6], [1, 7]], [False, False, True, True])
    assert solve(instance, "single_cut").solution == ThresholdSolution((0.0, 1.0), 4.0)


def test_perceptron_finds_a_rule_that_no_single_cut_gives():
    instance = history([[0, 0], [0, 3], [3, 0], [2, 2], [3, 3], [4, 1.5]], [False, False, False, True, True, True])
    assert solve(instance, "single_cut").objective == 1
    assert solve(instance, "perceptron").objective == 0


def test_perceptron_depends_on_its_seed_alone():
    instance = random(jobs=60, features=3, noise=0.2, seed=4)
    first = solve(instance, "perceptron", seed=1).solution
    assert first == solve(instance, "perceptron", seed=1).solution
    assert len({solve(instance, "perceptron", seed=seed).solution for seed in range(5)}) > 1


@pytest.mark.parametrize("epochs", [0, -1, 100_001])
def test_perceptron_refuses_epochs_out_of_range(epochs):
    with pytest.raises(InputError, match=rf"perceptron: epochs must be from 1 to 100000 \(got {epochs}\)"):
        solve(random(), f"perceptron?epochs={epochs}")


@pytest.mark.parametrize("method", METHODS)
def test_a_feature_of_large_equal_numbers_gets_no_weight(method):
    # the mean of three times this number differs from it by rounding
    large = 1e11 + 0.1
    instance = history([(large, 1), (large, 2), (large, 3), (large, 9), (large, 8)], [1, 1, 1, 0, 0])
    solution = solve(instance, method).solution
    assert solution.weights[0] == 0
    assert instance.evaluate(solution).objective == 0
