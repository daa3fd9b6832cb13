"""The solver `gangopt_highs` as Pyomo's users meet it."""

import math

import pyomo.environ as pyo
import pytest
from pyomo.opt import SolverStatus, TerminationCondition, check_optimal_termination

from gangopt.base.errors import InputError
from gangopt.solvers import highs as highs_package


def model(sense=pyo.minimize, domain=pyo.NonNegativeIntegers):
    mod = pyo.ConcreteModel()
    mod.x = pyo.Var([1, 2], domain=domain, bounds=(0, 9))
    mod.row = pyo.Constraint(expr=mod.x[1] + mod.x[2] >= 3)
    mod.top = pyo.Constraint(expr=mod.x[1] + mod.x[2] <= 6)
    mod.goal = pyo.Objective(expr=mod.x[1] + 2 * mod.x[2] + 1, sense=sense)
    return mod


@pytest.fixture
def solver():
    assert highs_package.plugin.PyomoHighs.name == "gangopt_highs"
    return pyo.SolverFactory("gangopt_highs")


def test_it_is_registered_and_available(solver):
    assert solver.available()
    assert solver.license_is_valid()
    assert solver.warm_start_capable()
    assert len(solver.version()) == 3
    with solver as inner:
        assert inner is solver


@pytest.mark.parametrize(("sense", "value"), [(pyo.minimize, 4.0), (pyo.maximize, 13.0)])
def test_optimal_results_and_loaded_values(solver, sense, value):
    mod = model(sense)
    results = solver.solve(mod)
    assert check_optimal_termination(results)
    assert pyo.value(mod.goal) == value
    assert results.problem.lower_bound == results.problem.upper_bound == value
    assert results.problem.number_of_integer_variables == 2
    assert results.problem.number_of_constraints == 2


def test_solution_kept_in_the_results_and_loaded_later(solver):
    mod = model(domain=pyo.NonNegativeReals)
    mod.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    results = solver.solve(mod, load_solutions=False)
    assert mod.x[1].value is None
    mod.solutions.load_from(results)
    assert (mod.x[1].value, mod.x[2].value) == (3.0, 0.0)
    assert mod.dual[mod.row] == 1.0


def test_duals_and_reduced_costs_of_an_lp(solver):
    mod = model(domain=pyo.NonNegativeReals)
    mod.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    mod.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    solver.solve(mod, suffixes=["dual", "rc"])
    ours = [mod.dual[mod.row], mod.dual[mod.top], mod.rc[mod.x[1]], mod.rc[mod.x[2]]]
    pyo.SolverFactory("appsi_highs").solve(mod)
    theirs = [mod.dual[mod.row], mod.dual[mod.top], mod.rc[mod.x[1]], mod.rc[mod.x[2]]]
    assert ours == pytest.approx(theirs)
    mod.x.domain = pyo.NonNegativeIntegers
    solver.solve(mod)
    assert len(mod.dual) == 0


@pytest.mark.parametrize(
    ("change", "status", "condition"),
    [
        (lambda m: m.x[1].setlb(8), SolverStatus.warning, TerminationCondition.infeasible),
        (
            lambda m: (m.top.deactivate(), m.goal.set_value(-m.x[1]), m.x[1].setub(None)),
            SolverStatus.warning,
            TerminationCondition.unbounded,
        ),
    ],
)
def test_no_solution_is_a_result_and_a_warning(solver, change, status, condition, caplog):
    mod = model()
    change(mod)
    results = solver.solve(mod)
    assert (results.solver.status, results.solver.termination_condition) == (status, condition)
    assert mod.x[1].value is None
    assert "gangopt_highs" in caplog.text


def test_time_limit_without_a_solution(solver):
    mod = pyo.ConcreteModel()
    mod.x = pyo.Var(range(30), domain=pyo.Binary)
    mod.c = pyo.Constraint(range(3), rule=lambda m, i: sum(((i + 3) * k % 17 + 1) * m.x[k] for k in m.x) == 97)
    results = solver.solve(mod, timelimit=0)
    assert results.solver.termination_condition == TerminationCondition.maxTimeLimit
    assert results.problem.upper_bound == math.inf


def test_options_of_object_and_call(solver, capsys):
    solver.options["threads"] = 2
    mod = model()
    solver.solve(mod, options={"mip_rel_gap": 0.5, "random_seed": 3, "presolve": "off"}, tee=True)
    assert "Solving report" in capsys.readouterr().out
    with pytest.raises(InputError, match="does not accept the option nope=1"):
        solver.solve(mod, options={"nope": 1})
    with pytest.raises(InputError, match="has no argument wrong=2"):
        solver.solve(mod, wrong=2)
    with pytest.raises(InputError, match="has no argument executable='highs'"):
        highs_package.plugin.PyomoHighs(executable="highs")
    with pytest.raises(InputError, match="cannot import the suffix 'slack'"):
        solver.solve(mod, suffixes=["slack"])


def test_warm_start(solver):
    mod = model()
    with pytest.raises(InputError, match=r"x\[1\] has no value; a start must"):
        solver.solve(mod, warmstart=True)
    mod.x[1].value, mod.x[2].value = 0, 0
    results = solver.solve(mod, warmstart=True)
    assert "the start was ignored" in results.solver.message


def test_log_goes_to_a_file_from_its_beginning_and_to_stdout(solver, tmp_path, capsys):
    file = tmp_path / "log.txt"
    file.write_text("old\n")
    solver.solve(model(), logfile=file)
    assert capsys.readouterr().out == ""
    assert "HiGHS run time" in file.read_text() or "Solving report" in file.read_text()
    assert "old" not in file.read_text()
    solver.solve(model(), logfile=str(file), tee=True)
    assert capsys.readouterr().out == file.read_text()
    with pytest.raises(InputError, match=r"cannot write logfile '.*nowhere/log': No such file"):
        solver.solve(model(), logfile=tmp_path / "nowhere" / "log")
    with pytest.raises(InputError, match=r"cannot write log_file '.*nowhere/log': no folder '.*nowhere'"):
        solver.solve(model(), options={"log_file": str(tmp_path / "nowhere" / "log")})


def test_the_message_names_what_conflicts(solver, caplog):
    mod = model()
    mod.bad = pyo.Constraint(expr=mod.x[1] >= 8)
    results = solver.solve(mod)
    assert results.solver.message.startswith("conflicting constraints: ")
    assert {"top", "bad"} <= set(results.solver.message.partition(": ")[2].split(", "))
    assert results.solver.termination_message == results.solver.message
    assert results.solver.message in caplog.text


def test_options_are_attributes_too_and_numbers_may_be_strings(solver):
    solver.options.threads = 2
    solver.options["mip_rel_gap"] = "0.5"
    assert dict(solver.options) == {"threads": 2, "mip_rel_gap": "0.5"}
    assert check_optimal_termination(solver.solve(model(), timelimit="10", options={"random_seed": "3"}))
    for name, given, kind in (("time_limit", "soon", "a number"), ("threads", "1.5", "an integer")):
        with pytest.raises(InputError, match=rf"the option {name} must be {kind} \(got '{given}'\)"):
            solver.solve(model(), options={name: given})
    with pytest.raises(InputError, match="threads must be an integer from 1 to 1024"):
        solver.solve(model(), options={"threads": 4000})


def test_pyomos_other_keywords(solver, capsys):
    assert isinstance(pyo.SolverFactory("gangopt_highs", solver_io="direct", executable=None), type(solver))
    with pytest.raises(InputError, match=r"solver_io must be 'direct' or 'python': .*\(got 'nl'\)"):
        highs_package.plugin.PyomoHighs(solver_io="nl")
    with pytest.raises(InputError, match=r"solver_io must be .*\(got 'mps'\)"):
        solver.solve(model(), solver_io="mps")
    solver.solve(model(), report_timing=True, keepfiles=True, symbolic_solver_labels=True, solnfile=None)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" to ")[1] for line in lines] == ["read the model", "solve", "load"]


@pytest.mark.parametrize("suffixes", [".*", [".*"], ["du.*", "rc"], "rc"])
def test_suffixes_may_be_patterns(solver, suffixes):
    mod = model(domain=pyo.NonNegativeReals)
    mod.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    solver.solve(mod, suffixes=suffixes)
    assert mod.dual[mod.row] == 1.0


@pytest.mark.parametrize(("suffix", "message"), [("slack", "cannot import the suffix 'slack'"), ("*", "not a regular")])
def test_suffixes_that_mean_nothing_here(solver, suffix, message):
    with pytest.raises(InputError, match=message):
        solver.solve(model(), suffixes=[suffix])


def test_solution_of_a_sub_block_is_kept_in_the_results(solver):
    parent = pyo.ConcreteModel()
    parent.inner = pyo.Block()
    parent.inner.x = pyo.Var(bounds=(0, 3))
    parent.inner.row = pyo.Constraint(expr=parent.inner.x <= 2)
    parent.inner.goal = pyo.Objective(expr=-parent.inner.x)
    parent.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    parent.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    results = solver.solve(parent.inner, load_solutions=False)
    assert parent.inner.x.value is None
    parent.solutions.load_from(results)
    assert parent.inner.x.value == 2.0
    assert (parent.dual[parent.inner.row], parent.rc[parent.inner.x]) == (-1.0, 0.0)
    alone = pyo.Block(concrete=True)
    alone.x = pyo.Var(bounds=(0, 3))
    with pytest.raises(InputError, match="load_solutions=False requires a ConcreteModel"):
        solver.solve(alone, load_solutions=False)
