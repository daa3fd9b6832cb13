import dataclasses
import itertools

import numpy as np
import pytest

from gangopt.catalogue import load
from gangopt.instances.threshold.generate import random
from gangopt.instances.threshold.instance import MARGIN, ThresholdInstance, ThresholdSolution
from gangopt.solvers.core.clock import OutOfTime
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.network_placement.heuristics import LIMIT
from gangopt.solvers.solve import solve
from gangopt.solvers.threshold import exact as module
from gangopt.solvers.threshold.exact import duplicates_bound, exact, widest_margin


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


def test_published_models_are_told_apart_without_an_error_midway_between_alexnet_and_googlenet():
    instance = load("threshold/tiresias-figure3")
    result = solve(instance)
    assert (result.objective, result.bound, result.form) == (0, 0, "scan")
    skew = dict(zip(instance.jobs, instance.values[:, 0].tolist(), strict=True))
    assert result.solution.weights == (1.0,)
    assert result.solution.threshold == pytest.approx((skew["alexnet"] + skew["googlenet"]) / 2)
    named = {job for job in instance.jobs if skew[job] > result.solution.threshold}
    assert named == {"vgg19", "vgg16", "vgg11", "alexnet"}
    assert solve(instance, form="cut").objective == solve(instance, form="linear").objective == 0


@pytest.mark.parametrize(
    ("values", "sensitive", "weights", "threshold"),
    [
        # the wider of two gaps that cost one error each
        ([1, 2, 5], [True, False, True], (1.0,), 3.5),
        ([1, 4, 5], [True, False, True], (-1.0,), -2.5),
        # equal gaps: above is sensitive first, then the lowest cut
        ([1, 2, 3], [True, False, True], (1.0,), 2.5),
        ([1, 2, 3], [False, True, False], (1.0,), 1.5),
        ([1, 2, 3, 4], [False, True, False, True], (1.0,), 1.5),
        # all alike: a cut outside, half a range away
        ([1, 3], [True, True], (1.0,), 0.0),
        ([1, 3], [False, False], (1.0,), 4.0),
        ([2], [True], (1.0,), 1.5),
    ],
)
def test_ties_of_the_scan(values, sensitive, weights, threshold):
    solution = solve(history([[item] for item in values], sensitive)).solution
    assert solution == ThresholdSolution(weights, threshold)


def test_values_nearer_than_two_margins_cannot_be_told_apart():
    apart = history([[0], [1e-5], [1]], [False, True, True])
    assert solve(apart).objective == 0
    near = history([[0], [1.5 * MARGIN], [1]], [False, True, True], [5, 2, 3])
    for form in (None, "cut", "linear"):
        assert solve(near, form=form).objective == 2
    # a cut must keep its distance from several at once: best a margin beside the heaviest
    crowd = history([[0], [0.5], [0.5 + 1.5 * MARGIN], [0.5 + 3 * MARGIN], [1]], [False, True, False, True, True])
    assert solve(crowd).objective == solve(crowd, form="linear").objective == 1


@pytest.mark.parametrize("seed", range(3))
def test_three_features_agree_with_the_best_subset_that_a_linear_program_can_part(seed):
    instance = random(jobs=9, features=3, noise=0.4, seed=seed)
    best = solve(instance)
    for errors in range(int(best.objective) + 1):
        parted = [lost for lost in itertools.combinations(range(9), errors) if separable(instance, lost)]
        assert bool(parted) == (errors >= best.objective)


def separable(instance, lost):
    """Return whether the perceptron's alternative theorem leaves a rule for all jobs but the lost ones."""
    from scipy.optimize import linprog

    kept = [j for j in range(len(instance.jobs)) if j not in lost]
    sign = np.where(instance.sensitive[kept], 1.0, -1.0)
    rows = -sign[:, None] * np.column_stack((instance.values[kept], -np.ones(len(kept))))
    return linprog(np.zeros(4), A_ub=rows, b_ub=-np.ones(len(kept)), bounds=(None, None)).status == 0


def test_of_equal_jobs_the_lighter_class_is_lost_without_a_model():
    instance = history([[0, 0], [0, 0], [0, 0], [1, 1], [2, 0]], [True, False, True, False, True], [1, 5, 2, 1, 7])
    assert duplicates_bound(instance) == 3
    parted = history([[0, 0], [0, 0], [1, 1], [2, 0]], [True, False, True, True], [1, 5, 1, 7])
    result = solve(parted)
    assert (result.objective, result.bound, result.form, result.solver) == (1, 1, "equal jobs", "gangopt")


def test_weights_move_the_rule():
    points = [[0], [1], [2], [3]]
    sensitive = [False, True, False, True]
    assert solve(history(points, sensitive, [1, 1, 5, 1])).solution.threshold == 2.5
    assert solve(history(points, sensitive, [1, 5, 1, 1])).solution.threshold == 0.5


def test_widest_margin_lies_midway():
    instance = history([[0, 0], [0, 2], [4, 0], [4, 2]], [False, False, True, True])
    solution = widest_margin(instance, np.ones(4, dtype=bool))
    assert solution.threshold / solution.weights[0] == pytest.approx(2)
    assert solution.weights[1] == pytest.approx(0, abs=1e-9)
    assert instance.evaluate(solution).metrics["margin"] == pytest.approx(0.5)


def test_a_start_is_used_and_out_of_time_leaves_an_incumbent_and_a_bound():
    instance = random(jobs=120, features=4, noise=0.3, seed=1)
    result = solve(instance, time_limit=0.3)
    assert result.termination == "time_limit"
    assert 0 <= result.bound < result.objective
    again = solve(instance, time_limit=0.3, start=result.solution)
    assert again.objective <= result.objective


def test_the_same_call_gives_the_same_rule():
    instance = random(jobs=25, features=2, noise=0.2, seed=3)
    assert solve(instance).solution == solve(instance).solution


def test_learned_limit_is_the_default_of_the_packlimit_rule():
    learned = solve(load("threshold/tiresias-figure3")).solution.threshold
    assert pytest.approx(learned, abs=1e-3) == LIMIT


@pytest.mark.parametrize("error", [-0.01, 0.01])
def test_reading_the_published_figure_a_hundredth_wrong_changes_nothing(error):
    history = load("threshold/tiresias-figure3")
    shifted = dataclasses.replace(history, ratio=history.ratio + error)
    assert solve(shifted).solution == solve(history).solution


def test_out_of_time_for_the_widest_margin_the_model_s_own_rule_stays(monkeypatch):
    instance = load("threshold/random?jobs=40&features=2&seed=1")
    best = exact(instance, Controls())

    def late(*_):
        raise OutOfTime

    monkeypatch.setattr(module, "widest_margin", late)
    outcome = exact(instance, Controls())
    assert (outcome.termination, outcome.bound) == ("optimal", best.bound)
    assert instance.evaluate(outcome.solution).objective == instance.evaluate(best.solution).objective


def test_a_margin_needs_time():
    instance = load("threshold/random?jobs=40&features=2&seed=1")
    with pytest.raises(OutOfTime, match="time limit reached before a margin was found"):
        widest_margin(instance, np.ones(40, dtype=bool), 0.0)


def test_model_is_not_built_without_time():
    instance = load("threshold/random?jobs=40&features=2&seed=1")
    outcome = exact(instance, Controls(time_limit=1e-9))
    assert (outcome.termination, outcome.form, outcome.solver) == ("time_limit", "linear", "")
    assert outcome.reason == "the time limit was reached before the model was built"
    assert outcome.bound <= instance.evaluate(outcome.solution).objective


def test_a_bound_at_the_very_edge_of_what_tolerances_hide_is_the_objective():
    instance = history([[1, 1], [2, 2]], [True, False], weights=[4e6, 6e6])
    slack = 1e-7 * instance.job_weights.sum()
    assert slack == 1.0
    objective = 5.0
    assert module._safe_bound(instance, objective - slack, 0.0, objective) == objective
    below = float(np.nextafter(objective - slack, 0.0))
    assert module._safe_bound(instance, below, 0.0, objective) == below
