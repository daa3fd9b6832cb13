"""One conformance suite for every solver, and how other solvers are asked and read."""

import math
import time

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.opt import SolverResults, TerminationCondition

from gangopt.base.errors import InputError, SolverError, SolverUnavailableError
from gangopt.solvers.external import external
from gangopt.solvers.external.external import EXTERNAL_SOLVERS, solve_external
from gangopt.solvers.highs import Session, SolveSettings, compile_model, solve_model

INSTALLED = [name for name in ("highs", "cbc", "glpk") if pyo.SolverFactory(name).available(exception_flag=False)]
ALWAYS = ["gangopt_highs", "appsi_highs"]
SOLVERS = [*ALWAYS, *INSTALLED]
NOT_RUN_HERE = {"gurobi", "gurobi_direct", "appsi_gurobi", "scip", "cplex"} | (
    {"highs", "cbc", "glpk"} - set(INSTALLED)
)
"""Solvers that need a licence or an installation; their options are tested by the translation alone."""


def solve(name, model, settings=None, **arguments):
    if name == "gangopt_highs":
        return solve_model(model, settings, **arguments)
    return solve_external(model, name, settings, **arguments)


def program(integer=True, sense=pyo.minimize, offset=0.0):
    """Return min 3 x0 + 4 x1 + 2 x2 + 1.1 y: 10.33 in whole x, 10.02 in the relaxation."""
    sign = 1 if sense == pyo.minimize else -1
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), domain=pyo.NonNegativeIntegers if integer else pyo.NonNegativeReals, bounds=(0, 4))
    model.y = pyo.Var(bounds=(0, 2.5))
    model.cover = pyo.Constraint(expr=2 * model.x[0] + 3 * model.x[1] + model.x[2] + model.y >= 7.3)
    model.range = pyo.Constraint(expr=(0, model.x[0] + model.x[1] + model.y, 3.1))
    cost = 3 * model.x[0] + 4 * model.x[1] + 2 * model.x[2] + 1.1 * model.y
    model.goal = pyo.Objective(expr=sign * cost + offset, sense=sense)
    return model


def market_split():
    """Return a feasible program on which no solver here finds a point at once: equalities over 40 binaries."""
    rng = np.random.default_rng(4)
    weights = rng.integers(1, 100, (4, 40)).tolist()
    chosen = rng.integers(0, 2, 40).tolist()
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(40), domain=pyo.Binary)
    model.rows = pyo.Constraint(
        range(4),
        rule=lambda m, i: (
            sum(weights[i][k] * m.x[k] for k in m.x) == sum(w * c for w, c in zip(weights[i], chosen, strict=True))
        ),
    )
    model.goal = pyo.Objective(expr=sum(rng.integers(1, 9, 40).tolist()[k] * model.x[k] for k in model.x))
    return model


every_solver = pytest.mark.parametrize("name", SOLVERS)


def test_every_known_solver_is_in_the_suite_or_excused():
    assert set(SOLVERS) | NOT_RUN_HERE == {"gangopt_highs", *EXTERNAL_SOLVERS}
    assert not set(ALWAYS) & NOT_RUN_HERE


@every_solver
@pytest.mark.parametrize(("integer", "value"), [(True, 10.33), (False, None)])
def test_optimal(name, integer, value):
    model = program(integer)
    outcome = solve(name, model)
    expected = solve_model(program(integer), load=False).objective if value is None else value
    assert (outcome.termination, outcome.solution_status) == ("optimal", "optimal")
    assert outcome.objective == outcome.bound == pytest.approx(expected, abs=1e-6)
    assert pyo.value(model.goal) == pytest.approx(outcome.objective, abs=1e-9)
    if integer:
        assert all(float(v.value).is_integer() for v in model.x.values())
    assert outcome.version != "unknown"
    assert outcome.seconds > 0


@every_solver
def test_maximise_with_offset(name):
    outcome = solve(name, program(sense=pyo.maximize, offset=10))
    assert outcome.objective == outcome.bound == pytest.approx(-0.33)


@every_solver
@pytest.mark.parametrize("integer", [True, False])
def test_infeasible(name, integer):
    model = program(integer)
    model.no = pyo.Constraint(expr=model.x[0] + model.x[1] >= 9)
    outcome = solve(name, model)
    assert (outcome.termination, outcome.solution_status) == ("infeasible", "none")
    assert outcome.objective is outcome.values is outcome.bound is None
    assert model.x[0].value is None


@every_solver
@pytest.mark.parametrize("integer", [True, False])
def test_unbounded(name, integer):
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.NonNegativeIntegers if integer else pyo.NonNegativeReals)
    model.y = pyo.Var(bounds=(0, None))
    model.row = pyo.Constraint(expr=model.x - model.y <= 1)
    model.goal = pyo.Objective(expr=model.x + model.y, sense=pyo.maximize)
    outcome = solve(name, model)
    assert (outcome.termination, outcome.solution_status) == ("unbounded", "none")


@every_solver
def test_infeasible_with_an_unbounded_objective(name):
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(), pyo.Var(bounds=(0, None))
    model.low = pyo.Constraint(expr=model.x - model.y <= 1)
    model.high = pyo.Constraint(expr=model.x - model.y >= 2)
    model.goal = pyo.Objective(expr=model.x + model.y, sense=pyo.maximize)
    assert solve(name, model).termination == "infeasible"


@every_solver
def test_time_limit_without_incumbent(name):
    limit = 1.0 if name in {"cbc", "glpk"} else 0.05
    outcome = solve(name, market_split(), SolveSettings(time_limit=limit))
    assert (outcome.termination, outcome.solution_status) == ("time_limit", "none")
    assert outcome.objective is outcome.values is None


@every_solver
def test_zero_optimum(name):
    model = program()
    model.cover.deactivate()
    outcome = solve(name, model)
    assert (outcome.termination, outcome.objective, outcome.bound) == ("optimal", 0.0, 0.0)


@every_solver
def test_empty_model_and_no_objective(name):
    outcome = solve(name, pyo.ConcreteModel())
    assert (outcome.termination, outcome.objective, outcome.bound) == ("optimal", 0.0, 0.0)
    model = program()
    model.goal.deactivate()
    assert solve(name, model).objective == 0.0
    assert model.y.value is not None


@every_solver
def test_fixed_unused_and_foreign_variables(name):
    model = program()
    model.idle = pyo.Var(bounds=(2, 5))
    model.x[2].fix(4)
    model.block = pyo.Block()
    model.block.z = pyo.Var(bounds=(0, 1))
    model.block.row = pyo.Constraint(expr=model.block.z + model.y >= 2)
    outcome = solve(name, model)
    assert outcome.termination == "optimal"
    assert 2 <= model.idle.value <= 5
    alone = solve(name, model.block)
    assert alone.objective == 0.0
    assert model.block.z.value + model.y.value >= 2 - 1e-6


@every_solver
def test_bad_option(name):
    kind = SolverError if name == "glpk" else InputError
    with pytest.raises(kind, match="nope"):
        solve(name, program(), SolveSettings(options={"nope": 1}))


@every_solver
def test_warm_start_resolve_after_change_and_thread_count(name):
    model = program()
    first = solve(name, model)
    arguments = {"warm_start": True} if name == "gangopt_highs" else {}
    again = solve(name, model, **arguments)
    assert again.objective == pytest.approx(first.objective)
    model.x[0].setub(0)
    changed = solve(name, model)
    assert changed.objective > first.objective - 1e-9
    for threads in (2, 1):
        assert solve(name, model, SolveSettings(threads=threads)).objective == pytest.approx(changed.objective)


@every_solver
def test_gap_is_passed_on(name):
    outcome = solve(name, program(), SolveSettings(rel_gap=0.5))
    assert outcome.termination == "optimal"
    assert outcome.bound is None or outcome.objective - outcome.bound <= 0.5 * abs(outcome.bound) + 1e-9


def test_session_agrees_with_the_suite():
    assert Session(compile_model(program())).solve().objective == pytest.approx(10.33)


def test_own_path_is_one_of_the_known_names():
    model = program()
    outcome = solve_external(model, "gangopt_highs", SolveSettings(seed=3))
    assert (outcome.solver, outcome.options["random_seed"]) == ("highs", 3)
    assert pyo.value(model.goal) == outcome.objective == pytest.approx(10.33)


@every_solver
def test_rows_of_small_coefficients_hold_in_their_own_unit(name):
    model = pyo.ConcreteModel()
    model.x = pyo.Var([1, 2], domain=pyo.Binary)
    model.small = pyo.Constraint(expr=1e-7 * model.x[1] + 1e-7 * model.x[2] <= 1e-7)
    model.goal = pyo.Objective(expr=model.x[1] + model.x[2], sense=pyo.maximize)
    assert solve_external(model, name).objective == 1.0


@pytest.mark.parametrize("side", [1.0, 0.25])
def test_nothing_is_claimed_where_highs_drops_a_coefficient_that_counts(side):
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(bounds=(0, 1e16)), pyo.Var(bounds=(0, 0.5))
    model.row = pyo.Constraint(expr=1e-14 * model.x + model.y >= side)
    model.goal = pyo.Objective(expr=model.x + model.y)
    outcome = solve_external(model, "appsi_highs")
    assert (outcome.termination, outcome.bound) == ("error", None)
    assert "HiGHS takes the coefficient 1e-14 on x in row as 0" in outcome.message


def test_unknown_and_absent_solvers_are_told_in_one_line():
    with pytest.raises(InputError, match="unknown solver 'cplox'; known: gangopt_highs, appsi_highs"):
        solve_external(program(), "cplox")
    for name in NOT_RUN_HERE:
        if pyo.SolverFactory(name).available(exception_flag=False):
            continue
        with pytest.raises(SolverUnavailableError) as caught:
            solve_external(program(), name)
        text = str(caught.value)
        assert text.startswith(f"solver {name!r} is not installed; to install it: ")
        assert "\n" not in text


WISHES = SolveSettings(time_limit=2.5, rel_gap=1.0, threads=2, seed=7)
TRANSLATED = {
    "highs": {"time_limit": 2.5, "mip_rel_gap": 0.5, "mip_abs_gap": 0.0, "threads": 2, "random_seed": 7},
    "gurobi": {"TimeLimit": 2.5, "MIPGap": 0.5, "MIPGapAbs": 0.0, "Threads": 2, "Seed": 7},
    "cbc": {
        "timeMode": "elapsed",
        "sec": 2.5,
        "ratioGap": 0.5,
        "allowableGap": 0.0,
        "threads": 2,
        "randomCbcSeed": 7,
    },
    "glpk": {"tmlim": 3, "mipgap": 0.5},
    "scip": {"limits/time": 2.5, "limits/gap": 0.5, "limits/absgap": 0.0, "randomization/randomseedshift": 7},
    "cplex": {
        "timelimit": 2.5,
        "mip_tolerances_mipgap": 0.5,
        "mip_tolerances_absmipgap": 0.0,
        "threads": 2,
        "randomseed": 7,
    },
}
LEFT_OUT = {"glpk": ["whole seconds", "threads: 2 was ignored", "seed: 7 was ignored"], "scip": ["threads: 2"]}


class FakeInterface:
    """Stands for an interface that returns what a test prescribes."""

    def __init__(self, condition=TerminationCondition.optimal, failure=None):
        self.condition, self.failure, self.options = condition, failure, None

    def available(self, exception_flag=True):
        return True

    def version(self):
        raise RuntimeError

    def solve(self, _model, load_solutions, options, logfile=None):
        assert load_solutions is False
        self.options = options
        if self.failure is not None:
            raise self.failure
        results = SolverResults()
        results.solver.termination_condition = self.condition
        return results


@pytest.mark.parametrize("name", TRANSLATED)
def test_settings_reach_each_solver_by_its_own_names(name, monkeypatch):
    fake = FakeInterface()
    monkeypatch.setattr(external, "_interface", lambda _name, _solver: fake)
    outcome = solve_external(program(), name, WISHES)
    clock = EXTERNAL_SOLVERS[name].time_limit
    assert outcome.options == TRANSLATED[name]
    # what was used before the call is taken off the limit
    assert {**fake.options, clock: 0} == {**TRANSLATED[name], clock: 0}
    assert TRANSLATED[name][clock] - 1 < fake.options[clock] <= TRANSLATED[name][clock]
    for part in LEFT_OUT.get(name, []):
        assert part in outcome.message


def test_own_options_override_and_gap_without_an_option_is_refused(monkeypatch):
    fake = FakeInterface()
    monkeypatch.setattr(external, "_interface", lambda _name, _solver: fake)
    solve_external(program(), "gurobi", SolveSettings(options={"MIPGap": 0.25, "Cuts": 0}))
    assert (fake.options["MIPGap"], fake.options["Cuts"]) == (0.25, 0)
    with pytest.raises(InputError, match="glpk has no option for abs_gap=1"):
        solve_external(program(), "glpk", SolveSettings(abs_gap=1.0))
    outcome = solve_external(program(), "gurobi", SolveSettings(on_progress=print, log=print))
    assert "gurobi does not support on_progress; gurobi does not support log" in outcome.message


def test_claims_without_a_point_failures_and_odd_conditions(monkeypatch):
    fake = FakeInterface()
    monkeypatch.setattr(external, "_interface", lambda _name, _solver: fake)
    outcome = solve_external(program(), "cbc")
    assert (outcome.termination, outcome.solution_status, outcome.version) == ("error", "none", "unknown")
    assert "cbc reports the model solved but returns no solution" in outcome.message
    fake.condition = TerminationCondition.internalSolverError
    assert "cbc ended with the condition internalSolverError" in solve_external(program(), "cbc").message
    fake.failure = RuntimeError("crashed\nwith details")
    with pytest.raises(SolverError, match=r"cbc failed with the options \{.*\}: crashed$"):
        solve_external(program(), "cbc")


def run_with(monkeypatch, point, bound, settings=None, name="appsi_highs"):
    """Return the outcome when a solver claims a point and a bound."""
    monkeypatch.setattr(external._Run, "_call", lambda _self, _tight: ("optimal", np.array(point), bound))
    return solve_external(program(), name, settings)


def test_points_and_bounds_are_checked(monkeypatch):
    good = [0.0, 2.0, 1.0, 0.3]
    assert run_with(monkeypatch, good, 10.33).solution_status == "optimal"
    outcome = run_with(monkeypatch, good, 9.0, SolveSettings(rel_gap=0.5))
    assert (outcome.solution_status, outcome.bound) == ("feasible", 9.0)
    outcome = run_with(monkeypatch, good, None, SolveSettings(rel_gap=0.5))
    assert (outcome.solution_status, outcome.bound) == ("feasible", None)
    assert run_with(monkeypatch, good, None).bound == pytest.approx(10.33)
    outcome = run_with(monkeypatch, good, 11.0)
    assert outcome.bound is None
    assert "appsi_highs reports the bound 11.0, beyond the objective" in outcome.message
    outcome = run_with(monkeypatch, [0.0, 0.0, 0.0, 0.0], 0.0)
    assert (outcome.termination, outcome.values) == ("error", None)
    assert "the solution returned by appsi_highs was rejected: cover is" in outcome.message


def test_model_keeps_its_values_when_nothing_is_loaded():
    model = program()
    solve_external(model, "appsi_highs", load=False)
    assert model.y.value is None
    assert math.isfinite(solve_external(model, "appsi_highs").objective)


def far_too_slow(seconds):
    """Stand for the making of a model that takes longer than the time limit."""

    def make(arrays):
        time.sleep(seconds)
        return None, []

    return make


def test_a_model_that_takes_all_the_time_is_a_time_limit(monkeypatch):
    fake = FakeInterface()
    monkeypatch.setattr(external, "_interface", lambda _name, _solver: fake)
    monkeypatch.setattr(external, "_plain_model", far_too_slow(0.02))
    outcome = solve_external(program(), "cbc", SolveSettings(time_limit=0.01))
    assert (outcome.termination, outcome.solution_status) == ("time_limit", "none")
    assert outcome.message == "time limit reached before the solver was called"
    assert fake.options is None


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (TerminationCondition.maxTimeLimit, "time_limit"),
        (TerminationCondition.userInterrupt, "interrupted"),
        (TerminationCondition.optimal, "error"),
    ],
)
def test_a_refused_point_does_not_hide_why_the_solver_stopped(monkeypatch, condition, expected):
    fake = FakeInterface(condition)
    monkeypatch.setattr(external, "_interface", lambda _name, _solver: fake)
    monkeypatch.setattr(external, "_point_of", lambda *_: np.full(2, 0.5))
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), within=pyo.Binary)
    model.objective = pyo.Objective(expr=model.x[0] + model.x[1])
    model.row = pyo.Constraint(expr=model.x[0] + model.x[1] == 1)
    outcome = solve_external(model, "cbc", SolveSettings(time_limit=60))
    assert (outcome.termination, outcome.solution_status) == (expected, "none")
    assert "the solution returned by cbc was rejected" in outcome.message


@pytest.mark.parametrize("share", [0.96, 1.01])
def test_a_stop_about_the_time_limit_is_one(monkeypatch, share):
    fake = FakeInterface(TerminationCondition.feasible)
    monkeypatch.setattr(external, "_interface", lambda _name, _solver: fake)
    run = external._Run("cbc", EXTERNAL_SOLVERS["cbc"], SolveSettings(time_limit=100.0))
    run._started -= 100.0 * share
    assert run._why_stopped(TerminationCondition.feasible) == "time_limit"


@pytest.mark.parametrize("name", SOLVERS)
def test_a_point_of_few_digits_is_computed_anew(name):
    model = pyo.ConcreteModel()
    model.x = pyo.Var(within=pyo.Binary)
    model.level = pyo.Var(bounds=(0, 1e6))
    model.objective = pyo.Objective(expr=model.level)
    model.row = pyo.Constraint(expr=model.level + 1000 * model.x >= 8000.123456789012)
    outcome = solve(name, model)
    assert outcome.solution_status == "optimal"
    assert outcome.objective == pytest.approx(7000.123456789012, rel=1e-14)
    assert outcome.bound == outcome.objective
