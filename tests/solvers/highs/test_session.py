"""What one session guarantees."""

import itertools
import math
import threading

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.solvers.highs import (
    LinearArrays,
    Session,
    SolveSettings,
    compile_model,
    load_values,
    solve_arrays,
    solve_model,
)
from gangopt.solvers.highs import engine as engine_module
from gangopt.solvers.highs.handle import Handle
from gangopt.solvers.highs.verification import rounded, violation


def knapsack(n=40, m=6, seed=1):
    """Return a maximisation that takes HiGHS a few hundredths of a second and several nodes."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(5, 60, (m, n)).astype(float)
    return LinearArrays.from_matrix(
        rng.integers(10, 99, n), weights, -np.inf, np.full(m, weights.sum() / m * 0.4), 0, 1, True, sense="maximise"
    )


def hard(n=60, seed=2):
    """Return a market-split problem, far from solved within seconds."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 100, (5, n)).astype(float)
    slack = np.hstack([np.eye(5), -np.eye(5)])
    side = weights.sum(axis=1) // 2
    costs = np.concatenate([np.zeros(n), np.ones(10)])
    upper = np.concatenate([np.ones(n), np.full(10, 1e6)])
    integer = np.concatenate([np.ones(n, dtype=bool), np.zeros(10, dtype=bool)])
    return LinearArrays.from_matrix(costs, np.hstack([weights, slack]), side, side, 0, upper, integer)


def tiny(costs, matrix, row_lower, row_upper, lower=0, upper=10, integer=True, sense="minimise", offset=0.0):
    matrix = np.array(matrix, dtype=float)
    return LinearArrays.from_matrix(costs, matrix, row_lower, row_upper, lower, upper, integer, sense, offset)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_small_integer_programs_equal_enumeration(data):
    number = st.integers(-4, 4)
    n, m = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    matrix = np.array(
        data.draw(st.lists(st.lists(number, min_size=n, max_size=n), min_size=m, max_size=m)), dtype=float
    )
    low = np.array(data.draw(st.lists(number, min_size=m, max_size=m)), dtype=float)
    high = low + np.array(data.draw(st.lists(st.integers(0, 4), min_size=m, max_size=m)))
    factor = data.draw(st.sampled_from([1.0, 1e-9, 1e6]))
    costs = factor * np.array(data.draw(st.lists(number, min_size=n, max_size=n)), dtype=float)
    sense = data.draw(st.sampled_from(["minimise", "maximise"]))
    arrays = tiny(costs, matrix, low, high, -1, 2, True, sense, offset=3 * factor)
    points = np.array(list(itertools.product(range(-1, 3), repeat=n)), dtype=float)
    activity = points @ matrix.T
    inside = points[((activity >= low) & (activity <= high)).all(axis=1)]
    outcome = solve_arrays(arrays)
    if not len(inside):
        assert outcome.termination == "infeasible"
        assert outcome.values is None
        return
    worth = inside @ costs + 3 * factor
    best = worth.max() if sense == "maximise" else worth.min()
    assert (outcome.termination, outcome.solution_status) == ("optimal", "optimal")
    assert outcome.objective == pytest.approx(best, rel=1e-12, abs=0)
    assert outcome.bound == outcome.objective
    assert outcome.values.tolist() in inside.tolist()


def test_tiny_costs_are_optimised_all_the_same():
    # unscaled, HiGHS 1.16 calls x = (10, 0) optimal here: 2e-8 against the true 3e-9
    outcome = solve_arrays(tiny([2e-9, 1e-9], [[1, 1]], [3], [np.inf]))
    assert outcome.values.tolist() == [0, 3]
    assert outcome.objective == pytest.approx(3e-9, rel=1e-12)


def test_lp_gives_bound_duals_and_reduced_costs_in_the_models_unit():
    for sense, sign in (("minimise", 1), ("maximise", -1)):
        arrays = tiny(np.array([0.02, 0.03]) * sign, [[1, 1]], 3, np.inf, integer=False, sense=sense, offset=5)
        outcome = solve_arrays(arrays)
        assert outcome.objective == outcome.bound == pytest.approx(5 + sign * 0.06)
        assert outcome.row_duals == pytest.approx([sign * 0.02])
        assert outcome.reduced_costs == pytest.approx([0, sign * 0.01])
        assert outcome.nodes is None


def test_gap_asked_for_is_kept_and_the_bound_stays_the_proven_one():
    arrays = hard(n=30)
    outcome = solve_arrays(arrays, SolveSettings(rel_gap=5.0, abs_gap=400.0))
    assert outcome.termination == "optimal"
    assert outcome.solution_status == "feasible"
    assert outcome.bound < outcome.objective
    assert outcome.objective - outcome.bound <= 400.0
    assert violation(arrays, outcome.values) is None


def test_gap_is_measured_against_the_bound():
    for gap in (0.01, 0.05, 0.2):
        outcome = solve_arrays(knapsack(), SolveSettings(rel_gap=gap))
        assert outcome.termination == "optimal"
        assert outcome.bound - outcome.objective <= gap * outcome.bound
    assert SolveSettings(rel_gap=0.25).rel_gap == 0.25
    assert solve_arrays(knapsack(), SolveSettings(rel_gap=0.25)).options["mip_rel_gap"] == pytest.approx(0.2)


def test_optimum_without_a_matching_bound_is_an_error(monkeypatch):
    monkeypatch.setattr(Handle, "mip_bound", lambda _self, _scale: 1e6)
    outcome = solve_arrays(knapsack())
    assert (outcome.termination, outcome.solution_status, outcome.bound) == ("error", "feasible", 1e6)
    assert "optimal, but its bound is 1000000.0" in outcome.message
    monkeypatch.setattr(Handle, "mip_bound", lambda _self, _scale: 1.0)
    outcome = solve_arrays(knapsack())
    assert (outcome.termination, outcome.bound) == ("error", None)
    assert "beyond the objective" in outcome.message
    monkeypatch.setattr(Handle, "mip_bound", lambda _self, _scale: None)
    assert "gives no bound" in solve_arrays(knapsack()).message


@pytest.mark.parametrize(("whole", "proven"), [(True, False), (False, True)])
def test_whole_objectives_are_compared_exactly_however_large(monkeypatch, whole, proven):
    costs = np.array([3e9, 1.0 if whole else 1.5])
    arrays = tiny(costs, [[1, 1]], 1, np.inf)
    assert arrays.has_whole_objective == whole
    exact = solve_arrays(arrays)
    assert (exact.solution_status, exact.objective) == ("optimal", costs[1])
    larger = tiny(costs, [[1, 0]], 1, np.inf)
    monkeypatch.setattr(Handle, "mip_bound", lambda _self, _scale: 3e9 - 1)
    assert solve_arrays(larger).solution_status == ("optimal" if proven else "feasible")


def test_time_limit_keeps_incumbent_and_bound():
    outcome = solve_arrays(hard(), SolveSettings(time_limit=0.5))
    assert (outcome.termination, outcome.solution_status) == ("time_limit", "feasible")
    assert outcome.bound <= outcome.objective
    assert outcome.trajectory[-1][1:] == (outcome.objective, outcome.bound)
    assert 0.4 < outcome.seconds < 5


def test_time_limit_zero_gives_no_solution_and_no_error():
    outcome = solve_arrays(hard(), SolveSettings(time_limit=0))
    assert (outcome.termination, outcome.solution_status) == ("time_limit", "none")
    assert outcome.objective is outcome.values is None


def test_each_solve_of_a_session_has_the_whole_time_limit():
    session = Session(hard(), SolveSettings(time_limit=0.4))
    for _ in range(3):
        assert session.solve().seconds > 0.3


def test_the_time_limit_of_a_session_can_be_renewed_and_lifted():
    session = Session(hard(), SolveSettings(time_limit=60))
    session.limit_time(0.0)
    outcome = session.solve()
    assert (outcome.termination, outcome.options["time_limit"]) == ("time_limit", 0.0)
    easy = Session(tiny([1.0, 1.0], [[1, 1]], 1, np.inf), SolveSettings(time_limit=0.0))
    easy.limit_time(None)
    outcome = easy.solve()
    assert outcome.termination == "optimal"
    assert "time_limit" not in outcome.options
    with pytest.raises(InputError, match="time_limit must be >= 0 seconds or None"):
        easy.limit_time(-1)


def test_stop_by_an_option_says_so():
    outcome = solve_arrays(hard(), SolveSettings(options={"mip_max_nodes": 1}))
    assert outcome.termination == "interrupted"
    assert "HiGHS stopped with the status" in outcome.message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nope": 1}, "does not accept the option nope=1; it has no such option"),
        ({"presolve": "perhaps"}, "presolve='perhaps'; it takes a word"),
        ({"presolve": None}, "presolve=None"),
        ({"mip_max_nodes": -1}, "mip_max_nodes=-1; it takes an integer"),
        ({"mip_feasibility_tolerance": "small"}, "mip_feasibility_tolerance='small'; it takes a number"),
        ({"mip_detect_symmetry": 3}, "mip_detect_symmetry=3; it takes true or false"),
        ({"time_limit": 3}, "give time_limit of SolveSettings instead of the HiGHS option time_limit"),
        ({"mip_rel_gap": 0.1}, "give rel_gap of SolveSettings"),
        ({"output_flag": True}, "give log of SolveSettings"),
    ],
)
def test_options_that_highs_does_not_take_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Session(knapsack(), SolveSettings(options=options))


def test_numpy_numbers_are_options_too():
    outcome = solve_arrays(
        knapsack(), SolveSettings(options={"mip_feasibility_tolerance": np.float64(1e-7)}, threads=np.int64(1))
    )
    assert outcome.options["mip_feasibility_tolerance"] == 1e-7


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("time_limit", -1.0, r"time_limit must be >= 0 seconds or None \(got -1.0\)"),
        ("time_limit", math.nan, r"time_limit must be .* \(got nan\)"),
        ("rel_gap", -0.1, r"rel_gap must be finite and >= 0 \(got -0.1\)"),
        ("rel_gap", math.inf, r"rel_gap must be finite and >= 0 \(got inf\)"),
        ("abs_gap", math.nan, r"abs_gap must be finite and >= 0 \(got nan\)"),
        ("threads", 0, r"threads must be an integer from .* \(got 0\)"),
        ("threads", 1.5, r"threads must be an integer from .* \(got 1.5\)"),
        ("threads", True, r"threads must be an integer from .* \(got True\)"),
        ("seed", -1, r"seed must be an integer from .* \(got -1\)"),
        ("threads", 1025, r"threads must be an integer from 1 to 1024 \(got 1025\)"),
        ("seed", 2**31, r"seed must be an integer from .* \(got 2147483648\)"),
        ("time_limit", "5", r"time_limit must be .* \(got '5'\)"),
        ("rel_gap", "0.1", r"rel_gap must be finite and >= 0 \(got '0.1'\)"),
        ("abs_gap", None, r"abs_gap must be finite and >= 0 \(got None\)"),
        ("options", None, r"options must be a mapping .* \(got None\)"),
        ("options", {1: 2}, r"options must be a mapping .* \(got {1: 2}\)"),
        ("on_progress", 3, r"on_progress must be a function or None \(got 3\)"),
        ("log", "file", r"log must be a function or None \(got 'file'\)"),
    ],
)
def test_settings_are_checked(field, value, message):
    with pytest.raises(InputError, match=message):
        SolveSettings(**{field: value})


def test_a_session_takes_arrays_and_settings_of_its_own_kind():
    with pytest.raises(InputError, match="str is not LinearArrays"):
        Session("model")
    with pytest.raises(InputError, match=r"settings must be SolveSettings \(got dict\)"):
        Session(knapsack(), {"threads": 2})


def test_same_seed_same_answer_and_thread_count_may_change():
    arrays = knapsack()
    first = solve_arrays(arrays, SolveSettings(seed=5))
    again = solve_arrays(arrays, SolveSettings(seed=5))
    assert (first.values == again.values).all()
    assert first.nodes == again.nodes
    for threads in (2, 1, 3):
        assert solve_arrays(arrays, SolveSettings(threads=threads)).objective == first.objective


def test_sessions_with_different_thread_counts_run_at_once():
    arrays = knapsack()
    expected = solve_arrays(arrays).objective
    found = {}

    def solve(key):
        found[key] = solve_arrays(arrays, SolveSettings(threads=1 + key % 3, seed=key))

    threads = [threading.Thread(target=solve, args=(key,)) for key in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [found[key].objective for key in range(6)] == [expected] * 6


def test_progress_is_monotone_called_by_the_calling_thread_and_ends_with_the_result():
    seen, names = [], set()

    def watch(progress):
        seen.append(progress)
        names.add(threading.current_thread())

    outcome = solve_arrays(hard(), SolveSettings(time_limit=1.0, on_progress=watch))
    assert names == {threading.current_thread()}
    incumbents = [p.incumbent for p in seen if p.incumbent is not None]
    bounds = [p.bound for p in seen if p.bound is not None]
    assert len(incumbents) > 1
    assert incumbents == sorted(incumbents, reverse=True)
    assert bounds == sorted(bounds)
    assert all(p.bound <= p.incumbent for p in seen if None not in {p.bound, p.incumbent})
    assert (seen[-1].incumbent, seen[-1].bound) == (outcome.objective, outcome.bound)
    assert outcome.trajectory == tuple((p.seconds, p.incumbent, p.bound) for p in seen)


def test_progress_of_a_maximisation_with_tiny_costs_is_in_its_own_unit():
    arrays = knapsack()
    seen = []
    small = LinearArrays(**{**arrays.__dict__, "costs": arrays.costs * 2.0**-40})
    outcome = solve_arrays(small, SolveSettings(on_progress=seen.append))
    assert outcome.objective == pytest.approx(solve_arrays(arrays).objective * 2.0**-40, rel=1e-12)
    assert all(p.incumbent <= outcome.objective * (1 + 1e-9) for p in seen if p.incumbent is not None)
    assert all(p.bound >= outcome.objective * (1 - 1e-9) for p in seen if p.bound is not None)


def test_a_full_start_gives_no_false_early_bound():
    arrays = hard(n=40)
    start = solve_arrays(arrays, SolveSettings(time_limit=0.3)).values
    seen = []
    outcome = solve_arrays(arrays, SolveSettings(time_limit=0.6, on_progress=seen.append), start)
    assert seen[0].incumbent == pytest.approx(arrays.objective(start))
    assert all(p.bound is None or p.bound <= outcome.objective for p in seen)


@pytest.mark.parametrize("error", [KeyError("mine"), KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("hook", ["on_progress", "log"])
def test_what_a_users_function_raises_stops_the_solve_and_is_raised(error, hook):
    calls = []

    def fail(_item):
        calls.append(1)
        raise error

    session = Session(hard(), SolveSettings(time_limit=20, **{hook: fail}))
    with pytest.raises(type(error)):
        session.solve()
    assert len(calls) == 1


def test_failure_in_the_last_report_is_raised_too():
    def fail(progress):
        if progress.bound == progress.incumbent:
            raise ValueError("at the end")

    with pytest.raises(ValueError, match="at the end"):
        solve_arrays(knapsack(), SolveSettings(on_progress=fail))


def test_log_is_captured_and_nothing_is_printed(capfd):
    lines = []
    solve_arrays(knapsack(), SolveSettings(log=lines.append))
    assert any("Solving report" in line for line in lines)
    assert capfd.readouterr() == ("", "")


def test_log_file_is_written(tmp_path):
    path = tmp_path / "highs.log"
    solve_arrays(knapsack(), SolveSettings(options={"log_file": str(path)}))
    assert "Solving report" in path.read_text()


def test_start_is_used_refused_or_reported():
    arrays = hard(n=40)
    good = solve_arrays(arrays, SolveSettings(time_limit=0.4)).values
    session = Session(arrays, SolveSettings(options={"mip_max_nodes": 0}))
    session.warm_start(good)
    outcome = session.solve()
    assert outcome.objective <= arrays.objective(good)
    assert "start" not in outcome.message
    broken = good.copy()
    broken[0] = 1 - broken[0]
    session.warm_start(broken)
    assert "the start was ignored: row" in session.solve().message
    broken[0] = 0.5
    session.warm_start(broken)
    assert "the start was ignored: column 0 is 0.5, not an integer" in session.solve().message
    assert "start" not in session.solve().message
    with pytest.raises(InputError, match=r"the start must have 50 values \(got shape \(3,\)\)"):
        session.warm_start([0, 0, 0])
    with pytest.raises(InputError, match="the start of column 2 must be finite"):
        session.warm_start([0, 0, math.nan] + [0] * 47)


def test_start_of_an_lp_is_reported_as_unused():
    outcome = solve_arrays(tiny([1, 1], [[1, 1]], 3, np.inf, integer=False), start=[3, 0])
    assert "a linear program has no use for it" in outcome.message


def test_resolve_after_changes():
    session = Session(tiny([1, 2], [[1, 1]], 3, np.inf))
    assert session.solve().values.tolist() == [3, 0]
    session.change_costs([0], [5])
    assert session.solve().values.tolist() == [0, 3]
    session.change_bounds(1, 0, 1)
    assert session.solve().values.tolist() == [2, 1]
    session.change_row_bounds([0], [5], [np.inf])
    assert session.solve().values.tolist() == [4, 1]
    session.add_rows([[1, 0]], -np.inf, 3, names=["cap"])
    outcome = session.solve()
    assert outcome.termination == "infeasible"
    assert set(outcome.conflict) == {"row 0", "cap", "column 1"}
    session.change_bounds([0, 1], [0, 0], [10, 10])
    assert session.solve().objective == 10
    assert session.arrays.n_rows == 2


def test_resolve_of_an_lp_keeps_its_basis():
    rng = np.random.default_rng(3)
    matrix = rng.random((60, 80))
    session = Session(tiny(rng.random(80) + 0.1, matrix, np.ones(60), np.inf, integer=False))
    first = session.solve()
    session.add_rows(np.ones((1, 80)), first.values.sum() + 0.01, np.inf)
    lines = []
    object.__setattr__(session.settings, "log", lines.append)
    second = session.solve()
    fresh = solve_arrays(session.arrays)
    assert second.objective == pytest.approx(fresh.objective)
    assert second.objective > first.objective


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.change_costs([2], [1]), "positions must be integers from 0 to 1"),
        (lambda s: s.change_costs([-1], [1]), "positions must be integers from 0 to 1"),
        (lambda s: s.change_costs([0.5], [1]), "positions must be integers"),
        (lambda s: s.change_costs([0, 1], [1, 2, 3]), "3 values for 2 positions"),
        (lambda s: s.change_costs([0], [math.nan]), "column 0 has the objective coefficient nan"),
        (lambda s: s.change_bounds([0], math.nan, 1), "column 0 has the lower bound nan"),
        (lambda s: s.change_row_bounds([0], math.inf, math.inf), "row 0 has the lower bound inf"),
        (lambda s: s.add_rows([[math.inf, 1]], 0, 1), "row 0 has the coefficient inf"),
        (lambda s: s.change_costs([0], ["a"]), "not numbers: could not convert"),
        (lambda s: s.add_rows([[1, 1, 1]], 0, 1), r"costs must have one entry per column \(got 2 for 3 columns\)"),
        (lambda s: s.add_rows([[1]], 0, 1), r"costs must have one entry per column \(got 2 for 1 columns\)"),
        (lambda s: s.add_rows([1, 1], 0, 1), r"the matrix must have rows and columns \(got shape \(2,\)\)"),
        (lambda s: s.add_rows([["a", 1]], 0, 1), "the matrix must hold numbers: could not convert"),
        (lambda s: s.add_rows([[1, 1]], [0, 1], 1), "row_(lower|upper) must have . entries"),
        (lambda s: s.add_rows([[1, 1]], "a", 1), "row_lower is not a vector of numbers"),
        (lambda s: s.add_rows([[1, 1]], [[0]], 1), r"row_lower must be a vector \(got shape \(1, 1\)\)"),
        (lambda s: s.warm_start({}), "the start is not a vector of numbers"),
    ],
)
def test_bad_changes_are_refused_and_change_nothing(change, message):
    session = Session(tiny([1, 2], [[1, 1]], 3, np.inf))
    with pytest.raises(InputError, match=message):
        change(session)
    assert session.solve().values.tolist() == [3, 0]


def test_session_is_a_context_manager():
    with Session(tiny([1, 2], [[1, 1]], 3, np.inf)) as session:
        assert session.solve().objective == 3
    assert session.solve().objective == 3


NO_ROWS = np.zeros((0, 2))


@pytest.mark.parametrize(
    ("arrays", "termination", "objective", "conflict"),
    [
        (tiny([], np.zeros((0, 0)), [], [], offset=4.0), "optimal", 4.0, ()),
        (tiny([], np.zeros((1, 0)), [1], [2]), "infeasible", None, ("row 0",)),
        (tiny([], np.zeros((1, 0)), [-1], [2]), "optimal", 0.0, ()),
        (tiny([1, -2], NO_ROWS, [], [], -3, 4), "optimal", -11.0, ()),
        (tiny([1, -2], NO_ROWS, [], [], -3, 4, sense="maximise"), "optimal", 10.0, ()),
        (tiny([1, -2], NO_ROWS, [], [], -3, np.inf), "unbounded", None, ()),
        (tiny([1, 0], NO_ROWS, [], [], [0.2, 2], [0.8, 9]), "infeasible", None, ("column 0",)),
        (tiny([1, 1], NO_ROWS, [], [], [0.2, 0.5], [2.8, 2.5]), "optimal", 2.0, ()),
        (tiny([1, 1], [[1, 1]], [3], [2]), "infeasible", None, ("row 0",)),
        (tiny([1, 1], [[1, 1]], [3], [3 - 1e-12]), "optimal", 3.0, ()),
        (tiny([1, 1], [[1, 1]], [0], [9], [3, 0], [2, 1]), "infeasible", None, ("column 0",)),
        (tiny([1, 1], [[1, 1]], [3], [1e30], 0, 1e30), "optimal", 3.0, ()),
        (tiny([0, 0], [[1, 1]], [3], [9]), "optimal", 0.0, ()),
        (tiny([1, 1], [[0, 0], [1, 1]], [1, 0], [2, 9]), "infeasible", None, ("row 0",)),
    ],
)
def test_edges_that_need_no_or_little_solving(arrays, termination, objective, conflict):
    outcome = solve_arrays(arrays)
    assert (outcome.termination, outcome.objective, outcome.conflict) == (termination, objective, conflict)
    assert outcome.bound == objective


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("sense", ["minimise", "maximise"])
def test_infeasible_and_unbounded_are_never_confused(integer, sense):
    costs = np.array([1.0, 0.0]) * (1 if sense == "maximise" else -1)
    unbounded = tiny(costs, [[1, -1]], [-np.inf], [1], 0, np.inf, integer, sense)
    assert solve_arrays(unbounded).termination == "unbounded"
    neither = tiny(costs, [[1, -1], [1, -1]], [-np.inf, 2], [1, np.inf], 0, np.inf, integer, sense)
    outcome = solve_arrays(neither)
    assert outcome.termination == "infeasible"
    assert set(outcome.conflict) == {"row 0", "row 1"}


def test_unbounded_relaxation_of_an_infeasible_integer_program_is_infeasible():
    arrays = tiny([-1, 0, 0], [[0, 2, 2]], [1], [1], 0, [np.inf, 1, 1])
    assert solve_arrays(arrays).termination == "infeasible"


def test_conflict_is_irreducible_and_can_be_left_out():
    arrays = tiny(
        [1, 1], [[1, 1], [1, 0], [0, 1], [1, -1]], [9, -np.inf, -np.inf, -5], [np.inf, 4, 4, 5], integer=False
    )
    assert set(solve_arrays(arrays).conflict) == {"row 0", "row 1", "row 2"}
    assert solve_arrays(arrays, SolveSettings(explain=False)).conflict == ()


def test_coefficients_that_highs_drops_are_told():
    outcome = solve_arrays(tiny([1, 1], [[1, 1e-12]], [3], [np.inf]))
    assert "HiGHS takes 1 coefficients of size 1e-09 or less as 0" in outcome.message


def test_rounding_is_checked_and_repaired(monkeypatch):
    # 1e6 x - y = 0: x = 1e-6, y = 1 is whole enough for a solver, but rounds to a point that breaks the row
    monkeypatch.setattr(Handle, "point", lambda self: _first_then_real(self, np.array([1e-6, 1.0])))
    outcome = solve_arrays(tiny([1, 1], [[1e6, -1]], 0, 0, 0, [10, 10], [True, False]))
    assert (outcome.termination, outcome.values.tolist()) == ("optimal", [0, 0])
    arrays = tiny([1, 1], [[1e6, -1]], 0, 0, [0, 1], [10, 1e7], [True, False])
    outcome = solve_arrays(arrays, SolveSettings(options={"presolve": "off"}))
    assert (outcome.termination, outcome.solution_status) == ("error", "none")
    assert "the solution returned by HiGHS was rejected: row 0 is" in outcome.message


def test_model_that_presolve_loses_is_solved_without_it():
    # HiGHS 1.16 with presolve ends this one with a solve error: its point 0 breaks the lower bound 1
    arrays = tiny([1, 1], [[1e6, -1]], 0, 0, [0, 1], [10, 1e7], [True, False])
    outcome = solve_arrays(arrays)
    assert (outcome.termination, outcome.values.tolist()) == ("optimal", [1, 1e6])


_REAL_POINT = Handle.point


def _first_then_real(handle, fake):
    if getattr(handle, "faked", False) or handle._highs.getInfo().mip_node_count < 0:
        return _REAL_POINT(handle)
    handle.faked = True
    return fake


def test_point_that_breaks_a_row_is_refused(monkeypatch):
    arrays = tiny([1, 1], [[1, 1]], 3, np.inf)
    for fake, reason in (
        ([1.0, 1.0], "row 0 is 2.0, violated by 1"),
        ([2.6, 1.0], "column 0 is 2.6, not an integer"),
        ([11.0, 1.0], "column 0 is 11.0, outside 0.0..10.0"),
        ([math.nan, 1.0], "column 0 has no finite value"),
    ):
        monkeypatch.setattr(Handle, "point", lambda _self, point=fake: np.array(point))
        outcome = solve_arrays(arrays)
        assert (outcome.termination, outcome.solution_status, outcome.values) == ("error", "none", None)
        assert f"the solution returned by HiGHS was rejected: {reason}" in outcome.message


def test_unknown_status_is_an_error_with_its_name(monkeypatch):
    monkeypatch.setattr(engine_module, "_TERMINATIONS", {})
    outcome = solve_arrays(knapsack())
    assert outcome.termination == "error"
    assert "HiGHS ended with 'Optimal' and was rerun without presolve" in outcome.message
    assert "HiGHS stopped with the status 'Optimal'" in outcome.message


def test_rounding_moves_into_bounds_and_has_no_negative_zero():
    arrays = tiny([1, 1], [[1, 1]], 0, 9, 0, 10, [True, False])
    point = rounded(arrays, np.array([-1e-9, -1e-9]))
    assert np.signbit(point).tolist() == [False, False]


def pyomo_model():
    model = pyo.ConcreteModel()
    model.x = pyo.Var([1, 2], domain=pyo.NonNegativeIntegers, bounds=(0, 9))
    model.row = pyo.Constraint(expr=model.x[1] + model.x[2] >= 3)
    model.goal = pyo.Objective(expr=model.x[1] + 2 * model.x[2])
    return model


def test_solution_is_loaded_only_when_there_is_one_and_it_is_asked_for():
    model = pyomo_model()
    solve_model(model, load=False)
    assert model.x[1].value is None
    assert solve_model(model).termination == "optimal"
    assert (model.x[1].value, model.x[2].value) == (3, 0)
    model.no = pyo.Constraint(expr=model.x[1] >= 20)
    outcome = solve_model(model)
    assert set(outcome.conflict) == {"no"} or set(outcome.conflict) == {"no", "x[1]"}
    assert model.x[1].value == 3


def test_warm_start_from_the_model():
    model = pyomo_model()
    with pytest.raises(InputError, match=r"x\[1\] has no value; a start must"):
        solve_model(model, warm_start=True)
    model.x[1].value, model.x[2].value = 0, 3
    assert solve_model(model, warm_start=True).message is None
    model.x[1].value, model.x[2].value = 0, 0
    assert "the start was ignored: row is 0.0" in solve_model(model, warm_start=True).message


def test_loading_the_wrong_number_of_values_is_refused():
    arrays = compile_model(pyomo_model())
    with pytest.raises(InputError, match="3 values for 2 variables"):
        load_values(arrays, [1, 2, 3])
    with pytest.raises(InputError, match="50 values for 0 variables"):
        load_values(hard(n=40), np.zeros(50))


@pytest.mark.parametrize(
    ("upper", "side", "told"), [(1e20, np.inf, True), (np.inf, 1e21, True), (np.inf, np.inf, False)]
)
def test_bounds_that_count_as_none_are_told_when_the_model_is_unbounded(upper, side, told):
    outcome = solve_arrays(tiny([1, 0], [[1, -1]], -np.inf, side, 0, [upper, np.inf], False, "maximise"))
    assert outcome.termination == "unbounded"
    assert ("bounds of magnitude >= 1e+20 count as infinite" in (outcome.message or "")) == told
