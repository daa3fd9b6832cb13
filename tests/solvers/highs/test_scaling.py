"""Rows of small coefficients: HiGHS sees them, and where it cannot, nothing is claimed."""

import itertools
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.solvers.highs import LinearArrays, Session, SolveSettings, compile_model, solve_arrays, solve_model
from gangopt.solvers.highs.scaling import lost_coefficient, with_scaled_rows
from gangopt.solvers.highs.trivial import decide, tightened
from gangopt.solvers.highs.verification import violation


def program(costs, matrix, low, high, lower=0, upper=10, integer=True, sense="minimise"):
    matrix = np.array(matrix, dtype=float)
    return LinearArrays.from_matrix(costs, matrix, low, high, lower, upper, integer, sense)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_rows_in_any_unit_give_the_optimum_of_enumeration(data):
    n, m = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    number = st.integers(-4, 4)
    row = st.lists(number, min_size=n, max_size=n)
    matrix = np.array(data.draw(st.lists(row, min_size=m, max_size=m)), dtype=float)
    low = np.array(data.draw(st.lists(number, min_size=m, max_size=m)), dtype=float)
    high = low + np.array(data.draw(st.lists(st.integers(0, 4), min_size=m, max_size=m)))
    unit = 10.0 ** -np.array(data.draw(st.lists(st.integers(0, 14), min_size=m, max_size=m)))
    costs = np.array(data.draw(row), dtype=float)
    sense = data.draw(st.sampled_from(["minimise", "maximise"]))
    # sides a hair apart, as 3 * 1e-7 is no longer 3e-7 exactly
    low_side, high_side = low * unit - abs(low * unit) * 1e-12, high * unit + abs(high * unit) * 1e-12
    outcome = solve_arrays(program(costs, matrix * unit[:, None], low_side, high_side, -1, 2, sense=sense))
    points = np.array(list(itertools.product(range(-1, 3), repeat=n)), dtype=float)
    activity = points @ matrix.T
    inside = points[((activity >= low) & (activity <= high)).all(axis=1)]
    if not len(inside):
        assert outcome.termination == "infeasible"
        return
    worth = inside @ costs
    best = worth.max() if sense == "maximise" else worth.min()
    assert (outcome.termination, outcome.objective, outcome.bound) == ("optimal", best, best)
    assert outcome.values.tolist() in inside.tolist()


def test_coefficients_below_what_highs_keeps():
    outcome = solve_arrays(program([1], [[1e-10]], 1, np.inf, 0, 1e12, False))
    assert (outcome.termination, outcome.objective) == ("optimal", pytest.approx(1e10))
    outcome = solve_arrays(program([1], [[1e-14]], 1, np.inf, 0, 1e16, False))
    assert (outcome.termination, outcome.objective) == ("optimal", pytest.approx(1e14))


@pytest.mark.parametrize(
    ("row", "upper"),
    [([1e-7, 1e-7, 0], 1e-7), ([1e-7, 1e-7, 1.0], 1e-7), ([3e-12, 3e-12, 1e-9], 4e-12), ([1e-6, 1e-6, -100.0], 1e-6)],
)
def test_small_rows_hold_in_their_own_unit(row, upper):
    arrays = program([1, 1, 0], [row], -np.inf, upper, 0, [1, 1, 0 if row[2] < 0 else 1], True, "maximise")
    outcome = solve_arrays(arrays)
    assert (outcome.termination, outcome.objective) == ("optimal", 1.0)
    assert violation(tightened(arrays), np.array([1.0, 1.0, 0.0])).startswith(f"row 0 is {2 * row[0]}")


def test_small_rows_conflict_by_name_and_in_their_own_unit():
    arrays = program([1, 1], [[1e-9, 1e-9], [1e-9, 0]], [-np.inf, 2e-9], [1e-9, np.inf], 0, 5)
    outcome = solve_arrays(arrays)
    assert (outcome.termination, outcome.conflict[:2]) == ("infeasible", ("row 0", "row 1"))
    crossed = decide(tightened(program([1], [[2e-10]], 3e-10, 1e-10)))
    assert crossed.message == "row 0 has the lower bound 3e-10 above its upper bound 1e-10"


def test_duals_are_those_of_the_rows_as_stated():
    for sense, sign in (("minimise", 1), ("maximise", -1)):
        arrays = program(np.array([2.0, 3.0]) * sign, [[1e-6, 1e-6], [1, 0]], [3e-6, 0], np.inf, 0, 10, False, sense)
        outcome = solve_arrays(arrays)
        assert outcome.objective == pytest.approx(sign * 6)
        assert outcome.row_duals == pytest.approx([sign * 2e6, 0])
        assert outcome.reduced_costs == pytest.approx([0, sign * 1.0])


def test_a_start_that_breaks_a_small_row_is_refused():
    session = Session(program([1, 1], [[1e-8, 1e-8]], -np.inf, 1e-8, 0, 1, True, "maximise"))
    session.warm_start([1, 1])
    outcome = session.solve()
    assert outcome.objective == 1.0
    assert outcome.message == "the start was ignored: row 0 is 2e-08, violated by 1e-08"


def test_a_session_scales_added_and_changed_rows():
    session = Session(program([1, 1], [[1, 1]], -np.inf, 2, 0, 1, True, "maximise"))
    assert session.solve().objective == 2.0
    session.add_rows(np.array([[1e-8, 1e-8]]), -np.inf, 1e-8)
    assert session.solve().objective == 1.0
    session.change_row_bounds([1], -np.inf, 2e-8)
    assert session.solve().objective == 2.0
    assert session.arrays.values.tolist() == [1, 1, 1e-8, 1e-8]


def test_rows_of_ordinary_size_are_left_alone():
    arrays = program([1, 1], [[0.001, 1e9], [5, 0]], 0, 1e9, 0, 5)
    assert with_scaled_rows(arrays) is arrays


@pytest.mark.parametrize("side", [1e-12, 1.0, 1e6, 1e18])
@pytest.mark.parametrize("coefficients", [(1e-12, 1e-12), (1e-8, 1.0), (1e-5, 1e9), (1e-14, 1e-4)])
def test_scaling_is_exact_never_shrinks_and_keeps_sides_finite(side, coefficients):
    arrays = program([1, 1], [coefficients], -side, side, 0, [np.inf, 100])
    scaled = with_scaled_rows(arrays)
    factor = scaled.row_factor(0)
    assert factor >= 1
    assert np.log2(factor) == int(np.log2(factor))
    assert (scaled.values / factor).tolist() == list(coefficients)
    assert scaled.row_upper[0] / factor == side
    assert scaled.row_upper[0] < 1e20


LOST = "HiGHS takes the coefficient 1e-14 on column 0 in row 0 as 0, too small beside the rest of the row"


def beyond_scaling(costs, side, sense="minimise"):
    """Return a model whose first column counts in its row, though no row factor makes its coefficient visible."""
    return program(costs, [[1e-14, 1.0]], side, np.inf, 0, [1e16, 0.5], False, sense)


@pytest.mark.parametrize(
    ("arrays", "calls"),
    [(beyond_scaling([1, 1], 1), "infeasible"), (beyond_scaling([1, 1], 0.25), "optimal")],
)
def test_nothing_is_claimed_where_a_coefficient_that_counts_is_lost(arrays, calls):
    seen = []
    outcome = solve_arrays(arrays, SolveSettings(on_progress=seen.append))
    assert (outcome.termination, outcome.bound, outcome.conflict, outcome.row_duals) == ("error", None, (), None)
    assert outcome.message.endswith(
        f"{LOST}; give column 0 in a larger unit (HiGHS reports the rest of the model {calls})"
    )
    assert outcome.solution_status == ("feasible" if calls == "optimal" else "none")
    assert all(item.bound is None for item in seen)
    assert all(bound is None for _, _, bound in outcome.trajectory)


def test_a_lower_threshold_of_highs_is_taken_into_account():
    arrays = program([1, 1], [[1e-13, 1.0]], 1, np.inf, 0, [1e15, 0.5], False)
    assert solve_arrays(arrays).termination == "error"
    outcome = solve_arrays(arrays, SolveSettings(options={"small_matrix_value": 1e-12}))
    assert (outcome.termination, outcome.message) == ("optimal", None)
    assert outcome.values[0] == pytest.approx(5e12)


def test_coefficients_of_no_account_are_dropped_with_a_note():
    arrays = program([1, 1], [[1, 1e-12]], 3, np.inf)
    outcome = solve_arrays(arrays)
    assert (outcome.termination, outcome.objective) == ("optimal", 3)
    assert outcome.message == "HiGHS takes 1 coefficients of size 1e-09 or less as 0"
    # what 0.1 + 0.2 - 0.3 leaves over on a column without an upper bound
    noise = program([1, 1], [[1, 0.1 + 0.2 - 0.3]], 3, np.inf, 0, np.inf)
    assert lost_coefficient(tightened(noise)) is None
    assert solve_arrays(noise).termination == "optimal"


def test_bounds_without_claims_stay_silent_during_a_search():
    rng = np.random.default_rng(1)
    weights = rng.integers(5, 60, (3, 30)).astype(float)
    weights[0, 0] = 1e-12
    upper = np.ones(30)
    upper[0] = 1e15
    arrays = program(rng.integers(10, 99, 30), weights, -np.inf, weights.sum(axis=1) * 0.4, 0, upper, True, "maximise")
    outcome = solve_arrays(arrays)
    assert (outcome.termination, outcome.bound) == ("error", None)
    assert all(bound is None for _, _, bound in outcome.trajectory)


def fixed_row(coefficient, side):
    model = pyo.ConcreteModel()
    model.x = pyo.Var([1, 2], domain=pyo.Binary)
    model.x.fix(1)
    model.row = pyo.Constraint(expr=coefficient * model.x[1] + coefficient * model.x[2] <= side)
    return model


def test_rows_of_fixed_variables_hold_in_their_own_unit():
    assert solve_model(fixed_row(1e-10, 2e-10)).termination == "optimal"
    outcome = solve_model(fixed_row(1e-10, 1e-10))
    assert (outcome.termination, outcome.conflict) == ("infeasible", ("row",))
    assert compile_model(fixed_row(0.1, 0.2 - 1e-12)).n_rows == 0


def test_whole_rows_with_large_numbers_are_checked_to_the_unit():
    arrays = program([1, 1, 1], [[1e6, 1, 1]], -np.inf, 1e6 + 1, 0, 1, True, "maximise")
    assert violation(arrays, np.ones(3)) == "row 0 is 1000002.0, violated by 1"
    assert violation(arrays, np.array([1.0, 1.0, 0.0])) is None
    mixed = program([1, 1], [[1, -1e6]], -np.inf, 0, 0, [1e7, 1], [False, True])
    assert violation(mixed, np.array([1e6 + 0.5, 1.0])) is None


def test_rows_of_large_numbers_are_made_smaller_in_a_mip():
    arrays = LinearArrays.from_matrix([1, 1], np.array([[3e12, 5e9]]), 4e12, np.inf, 0, 1, True)
    scaled = with_scaled_rows(arrays)
    assert scaled.row_factors is not None
    assert scaled.values.max() == 3e12 * scaled.row_factors[0] <= 2.0**31
    assert np.log2(scaled.row_factors[0]) % 1 == 0
    assert with_scaled_rows(replace(arrays, integer=np.zeros(2, dtype=bool))).row_factors is None


@pytest.mark.parametrize(
    ("matrix", "lower", "upper", "costs", "best"),
    [
        ([[-1e9, 1.5e9, -3], [1, 3e8, 1.5e9]], [0, 0], [0, np.inf], [1, 1, 1], 0.0),
        ([[-3, -2, 3e9, 1e9], [7, 3, 3e10, -7e9]], [-np.inf, -np.inf], [5e9, 5e10], [-1, -1, -1, -1], -4.0),
    ],
)
def test_no_true_solution_of_large_numbers_is_called_infeasible(matrix, lower, upper, costs, best):
    outcome = solve_arrays(LinearArrays.from_matrix(costs, np.array(matrix), lower, upper, 0, 1, True))
    assert (outcome.termination, outcome.objective) == ("optimal", best)


def test_where_numbers_are_too_far_apart_nothing_is_claimed_and_no_conflict_is_sought():
    """HiGHS's search for a conflict of these rows ends the process."""
    matrix = np.array([[0, 0.0015, -1.5e12], [7e12, 2, 3e9]])
    outcome = solve_arrays(LinearArrays.from_matrix([1, 0, 0], matrix, [0.0015, 2.001], [np.inf, 2.001], 0, 3, True))
    assert (outcome.termination, outcome.bound, outcome.conflict) == ("error", None, ())
    assert "to much smaller ones, more than HiGHS can resolve" in outcome.message


def test_whole_numbers_beyond_what_highs_tells_apart_prove_nothing():
    outcome = solve_arrays(LinearArrays.from_matrix([1.0], np.array([[1.0]]), 3e10 - 0.5, np.inf, 0, 1e11, True))
    assert (outcome.termination, outcome.bound) == ("error", None)
    assert "column 0 takes integers up to 1e+11" in outcome.message


@pytest.mark.parametrize("form", ["assign", "groups"])
def test_forms_of_parameters_of_many_sizes_prove_the_optimum(form, tmp_path):
    file = tmp_path / "sizes.txt"
    file.write_text("7\n100000\n1\n10000003\n")
    result = gangopt.solve(f"parameters/blocks?file={file}&servers=2", form=form)
    assert (result.objective, result.bound, result.proven) == (9_899_995, 9_899_995, True)
