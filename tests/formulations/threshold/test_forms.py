import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.environ import Block, ConcreteModel, Constraint, Objective, TransformationFactory, value

from gangopt.base.errors import InputError, ModelTooLargeError
from gangopt.formulations.threshold import cut, linear
from gangopt.formulations.threshold._linear import largest_shortfall
from gangopt.instances.threshold.generate import random
from gangopt.instances.threshold.instance import MARGIN, ThresholdInstance, ThresholdSolution
from gangopt.solvers.highs import solve_model
from gangopt.solvers.solve import solve

FORMS = {
    "cut": (cut.fill, cut.model, cut.read, cut.hint),
    "linear": (linear.fill, linear.model, linear.read, linear.hint),
}


def history(points, sensitive, weights=None):
    points = np.array(points, dtype=float)
    n = len(points)
    return ThresholdInstance(
        name="t",
        jobs=tuple(f"j{j}" for j in range(n)),
        features=tuple("xyz"[: points.shape[1]]),
        values=points,
        ratio=np.where(sensitive, 0.5, 1.0),
        weights=None if weights is None else np.array(weights, dtype=float),
    )


def best_of_all_splits(instance, order):
    """Return the least errors if the first k jobs of an order are called one thing and the rest the other.

    Jobs that are equal under the keys of the order cannot be parted.
    """
    keys, weights, sensitive = order, instance.job_weights, instance.sensitive
    best = None
    for key in [None, *keys]:
        low = np.array([key is not None and item <= key for item in keys])
        for low_is_sensitive in (False, True):
            errors = weights[(low == low_is_sensitive) != sensitive].sum()
            best = errors if best is None else min(best, errors)
    return best


def brute_force(instance):
    """Return the least errors: in one dimension over all cuts, in two over all lines through pairs of jobs.

    A line of least errors can be moved until it passes through two jobs; those on it are parted by a slight turn or
    shift, so that they are ordered along the line. Whole coordinates keep all of this exact.
    """
    points = [tuple(int(x) for x in row) for row in instance.values]
    if len(points[0]) == 1:
        return best_of_all_splits(instance, points)
    directions = {(q[0] - p[0], q[1] - p[1]) for p in points for q in points if p != q} | {(1, 0), (0, 1)}
    return min(
        best_of_all_splits(instance, [(-dy * x + dx * y, turn * (dx * x + dy * y)) for x, y in points])
        for dx, dy in directions
        for turn in (1, -1)
    )


@st.composite
def histories(draw, dimensions, most):
    n = draw(st.integers(1, most))
    # few coordinates: equal jobs, jobs on one line and ties are common
    coordinate = st.integers(-3, 3)
    points = draw(st.lists(st.tuples(*[coordinate] * dimensions), min_size=n, max_size=n))
    sensitive = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    weights = draw(st.lists(st.sampled_from([1.0, 1.0, 2.5, 0.3]), min_size=n, max_size=n))
    return history(points, sensitive, weights)


@given(histories(1, 9))
@settings(max_examples=150)
def test_one_feature_all_ways_agree_with_all_cuts(instance):
    best = brute_force(instance)
    exact = solve(instance)
    assert exact.termination == "optimal"
    assert exact.objective == pytest.approx(best)
    assert exact.rel_gap == 0
    for form in FORMS:
        result = solve(instance, form=form)
        assert result.objective == pytest.approx(best)
        assert result.bound == pytest.approx(best, abs=1e-6)


@given(histories(2, 8))
@settings(max_examples=150)
def test_two_features_agree_with_all_lines_through_pairs(instance):
    best = brute_force(instance)
    exact = solve(instance)
    assert exact.termination == "optimal"
    assert exact.objective == pytest.approx(best)
    assert exact.rel_gap <= 1e-9
    assert solve(instance, form="linear").objective == pytest.approx(best)


@pytest.mark.slow
@given(histories(2, 12))
@settings(max_examples=1500)
def test_two_features_agree_with_all_lines_on_many_histories(instance):
    assert solve(instance).objective == pytest.approx(brute_force(instance))


def test_linear_and_cut_agree_where_one_feature_suffices():
    for seed in range(5):
        one = random(jobs=25, noise=0.2, seed=seed)
        constant = np.column_stack((one.values[:, 0], np.full(25, 3.0)))
        two = ThresholdInstance(name="t", jobs=one.jobs, features=("skew", "size"), values=constant, ratio=one.ratio)
        results = [solve(one), solve(one, form="cut"), solve(one, form="linear"), solve(two), solve(two, form="linear")]
        assert len({result.objective for result in results}) == 1


def test_a_feature_of_large_equal_numbers_gets_no_weight():
    instance = history([(1e12, 1), (1e12, 1), (1e12, 1), (1e12, 3), (1e12, 3), (1e12, 3)], [1, 1, 0, 0, 0, 0])
    result = solve(instance, form="linear")
    assert (result.termination, result.objective, result.bound) == ("optimal", 1, 1)
    assert result.solution.weights[0] == 0
    model = linear.model(instance)
    linear.hint(model, instance, ThresholdSolution((1.0, -1.0), 1e12 - 2))
    assert model.weight["x"].value == 0
    assert [item.value for item in model.error.values()] == [0, 0, 1, 0, 0, 0]
    linear.hint(model, instance, ThresholdSolution((1.0, 0.0), 1e12 - 2))
    assert [item.value for item in model.error.values()] == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("form", FORMS)
def test_hint_then_read_is_the_same_rule_and_has_the_judged_errors(form):
    instance = random(jobs=12, noise=0.3, seed=2)
    solution = solve(instance).solution
    _, model_of, read, hint = FORMS[form]
    for sign in (1.0, -1.0):
        turned = ThresholdSolution((sign * solution.weights[0],), sign * solution.threshold)
        model = model_of(instance)
        hint(model, instance, turned)
        again = read(model, instance)
        assert again.threshold / again.weights[0] == pytest.approx(turned.threshold / turned.weights[0])
        assert again.weights[0] * sign > 0
        assert value(model.objective) == pytest.approx(instance.evaluate(turned).objective)
        for constraint in model.component_data_objects(Constraint):
            assert constraint.slack() >= -1e-9, constraint.name


@pytest.mark.parametrize("all_sensitive", [True, False])
def test_rules_that_call_all_alike_are_read_and_hinted(all_sensitive):
    instance = history([[0, 0], [1, 2], [2, 1]], [all_sensitive] * 3)
    model = linear.model(instance)
    solve_model(model)
    assert instance.evaluate(linear.read(model, instance)).objective == 0
    for item in model.weight.values():
        item.set_value(0)
    model.limit.set_value(-MARGIN if all_sensitive else MARGIN)
    assert instance.evaluate(linear.read(model, instance)).objective == 0
    linear.hint(model, instance, ThresholdSolution((1.0, 0.0), -1e6 if all_sensitive else 1e6))
    assert value(model.objective) == 0
    assert all(item.slack() >= 0 for item in model.component_data_objects(Constraint))


@pytest.mark.parametrize("form", FORMS)
def test_form_embeds_twice_in_a_parent_with_a_linking_constraint(form):
    fill, _, read, _ = FORMS[form]
    instance = history([[0], [1], [2], [3]], [False, True, False, True])
    parent = ConcreteModel()
    parent.rule = Block([0, 1])
    for k in (0, 1):
        fill(parent.rule[k], instance)
        assert not list(parent.rule[k].component_data_objects(Objective, active=True))
    parent.another_job_lost = Constraint(expr=parent.rule[0].error["j1"] + parent.rule[1].error["j1"] == 1)
    parent.total = Objective(expr=parent.rule[0].objective_value + parent.rule[1].objective_value)
    assert solve_model(parent).objective == pytest.approx(2)
    rules = [read(parent.rule[k], instance) for k in (0, 1)]
    assert [instance.evaluate(item).objective for item in rules] == [1, 1]


def lp_rows(model, tmp_path):
    """Return the body of each row of the LP file by its name, numbers in their shortest form."""
    path = tmp_path / "model.lp"
    model.write(str(path), io_options={"symbolic_solver_labels": True})
    text = re.sub(r"[+-][0-9.e-]+(?= )", lambda item: f"{float(item[0]):+.6g}", path.read_text())
    parts = (part.strip().partition(":\n") for part in text.split("\n\n"))
    return {name.split("_", 2)[-1]: body for name, _, body in parts}


@pytest.mark.parametrize(
    ("form", "families"),
    [
        (
            "cut",
            {
                # cuts 0 (below all), 1 (the middle), 2 (above all), in both directions
                "one_cut": "+1 choose(0_0)\n+1 choose(0_1)\n+1 choose(0_2)\n+1 choose(1_0)\n+1 choose(1_1)\n+1 choose",
                "error_where_misclassified": "-1 choose(0_0)\n-1 choose(1_1)\n-1 choose(1_2)\n+1 error(j0)",
            },
        ),
        # the insensitive job at -1/2: limit + weight / 2 >= margin, or error; M = 1/2 + 1/2 + 2 margins
        ("linear", {"told_apart": "+0.5 weight(x)\n+1 limit\n+1 error(j0)\n>= 1e-06"}),
    ],
)
def test_rows_of_every_constraint_family(form, families, tmp_path):
    model = FORMS[form][1](history([[2], [6]], [False, True]))
    assert {item.local_name for item in model.component_objects(Constraint)} == set(families)
    rows = lp_rows(model, tmp_path)
    for family, wanted in families.items():
        first = next(body for name, body in rows.items() if name.startswith(family))
        assert all(part in first for part in wanted.split("\n")), (family, first)


def relaxed(model):
    TransformationFactory("core.relax_integer_vars").apply_to(model)
    return solve_model(model).objective


def test_relaxation_of_cut_is_exact_and_of_linear_next_to_nothing():
    instance = random(jobs=20, noise=0.3, seed=1)
    best = solve(instance).objective
    assert best > 2
    assert relaxed(cut.model(instance)) == pytest.approx(best)
    assert relaxed(linear.model(instance)) < 0.01


def test_big_m_has_an_owner_and_no_rule_needs_more():
    instance = history([[0, 5], [4, 0], [2, 1]], [False, True, True])
    big = largest_shortfall(instance)
    assert big.threshold == 1 + MARGIN
    assert big.values == pytest.approx([2 + 2 * MARGIN, 2 + 2 * MARGIN, 1.3 + 2 * MARGIN])
    assert "sum_f |u_jf| + |t| + margin" in big.origin
    model = linear.model(instance)
    for corner in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        for side in (1, -1):
            for item, weight in zip(model.weight.values(), corner, strict=True):
                item.set_value(weight)
            model.limit.set_value(side * big.threshold)
            for job in instance.jobs:
                model.error[job].set_value(1)
                assert model.told_apart[job].slack() >= -1e-12


def test_form_cut_refuses_several_features():
    with pytest.raises(InputError, match=r"formulation cut requires one feature \(got 2\); use formulation linear"):
        cut.model(history([[0, 1], [1, 0]], [False, True]))
    with pytest.raises(InputError, match="formulation cut requires one feature"):
        solve(random(features=2), form="cut")


def test_model_that_would_not_fit_is_refused_before_it_is_built():
    with pytest.raises(ModelTooLargeError, match="formulation threshold cut would have"):
        cut.model(random(jobs=3000))
