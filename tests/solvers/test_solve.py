"""The judge decides: what a method claims is checked before it becomes a Result."""

import dataclasses

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InfeasibleError, InputError, NoSolutionError, SolverError
from gangopt.base.jsonfile import write_json
from gangopt.catalogue import to_document
from gangopt.solvers.core.contract import Outcome
from gangopt.solvers.parameters.heuristics import lpt

TINY = gangopt.load("parameters/random?blocks=6&servers=2&seed=1")
EXACT = "gangopt.solvers.parameters.exact.exact"


def claim(monkeypatch, **outcome):
    """Let the exact method return a given outcome."""

    def exact(instance, controls):
        return Outcome(**{"termination": "optimal", "solution": lpt(instance), "bound": None, **outcome})

    monkeypatch.setattr(EXACT, exact)
    return gangopt.solve(TINY)


def test_an_honest_claim_becomes_a_result(monkeypatch):
    worth = TINY.evaluate(lpt(TINY)).objective
    result = claim(monkeypatch, bound=worth)
    assert (result.termination, result.solution_status, result.rel_gap, result.proven) == (
        "optimal",
        "optimal",
        0.0,
        True,
    )
    assert result.solution == lpt(TINY)


def test_optimal_with_a_gap_left_is_an_error_that_says_so(monkeypatch):
    worth = TINY.evaluate(lpt(TINY)).objective
    result = claim(monkeypatch, bound=worth - 1)
    assert (result.termination, result.solution_status) == ("error", "feasible")
    assert f"ended as optimal with a relative gap of {1 / (worth - 1):.3g}" in result.reason
    assert "no bound" in claim(monkeypatch).reason


def test_a_bound_better_than_the_solution_is_a_fault(monkeypatch):
    worth = TINY.evaluate(lpt(TINY)).objective
    with pytest.raises(SolverError, match="claims the bound"):
        claim(monkeypatch, bound=worth + 1)
    assert claim(monkeypatch, bound=worth * (1 + 1e-12)).rel_gap == 0.0


def test_a_bound_on_whole_objectives_is_rounded_up_but_never_over_its_own_error(monkeypatch):
    worth = TINY.evaluate(lpt(TINY)).objective
    assert claim(monkeypatch, bound=worth - 0.5).bound == worth
    assert claim(monkeypatch, bound=worth - 1 + 1e-7).bound == worth - 1


def test_a_solution_that_the_judge_rejects_is_a_fault(monkeypatch):
    other = gangopt.load("parameters/random?blocks=5&servers=2&seed=1")
    with pytest.raises(SolverError, match="the checker rejects the solution of exact"):
        claim(monkeypatch, solution=lpt(other))


def test_a_bound_without_a_solution_is_kept(monkeypatch):
    result = claim(monkeypatch, termination="time_limit", solution=None, bound=3.0)
    assert (result.termination, result.solution_status, result.bound, result.objective) == (
        "time_limit",
        "none",
        3.0,
        None,
    )
    with pytest.raises(gangopt.NoSolutionError, match="ended time_limit without a solution"):
        result.solution  # noqa: B018


def test_what_is_proven_is_no_time_limit(monkeypatch):
    worth = TINY.evaluate(lpt(TINY)).objective
    proven = claim(monkeypatch, termination="time_limit", bound=worth)
    assert (proven.termination, proven.solution_status, proven.proven) == ("optimal", "optimal", True)
    still_open = claim(monkeypatch, termination="time_limit", bound=worth - 1)
    assert (still_open.termination, still_open.solution_status, still_open.proven) == ("time_limit", "feasible", False)


def test_infeasible_is_a_result_with_its_reason(monkeypatch):
    def exact(instance, controls):
        raise InfeasibleError("gpu: 3 are needed, 2 exist")

    instance = gangopt.load("allocation/optimus-figure4")
    monkeypatch.setattr("gangopt.solvers.allocation.exact.exact", exact)
    result = gangopt.solve(dataclasses.replace(instance, capacity=np.full(len(instance.resources), 1e-3)))
    assert (result.termination, result.solution_status, result.reason) == (
        "infeasible",
        "none",
        "gpu: 3 are needed, 2 exist",
    )


def test_a_heuristic_claims_nothing():
    result = gangopt.solve(TINY, "lpt")
    assert (result.termination, result.solution_status, result.bound, result.solver) == (
        "completed",
        "feasible",
        None,
        "gangopt",
    )


def test_the_same_call_gives_the_same_answer():
    for method in ("exact", "mxnet", "lpt"):
        assert gangopt.solve(TINY, method, seed=4).solution == gangopt.solve(TINY, method, seed=4).solution


def test_progress_is_reported_and_never_contradicts_the_result():
    events = []
    result = gangopt.solve(gangopt.load("allocation/random?jobs=30&nodes=20&seed=2"), on_progress=events.append)
    assert result.proven
    for event in events:
        assert event.seconds >= 0
        assert event.bound is None or event.bound <= result.objective * (1 + 1e-9)
        assert event.objective is None or event.objective >= result.bound * (1 - 1e-9)


@pytest.mark.parametrize("noun", list(gangopt.problems))
def test_every_linear_form_solves_alone_and_agrees_with_exact(noun, small_names):
    instance = gangopt.load(small_names[noun])
    exact = gangopt.solve(instance)
    for name in gangopt.problems[noun].forms:
        if not gangopt.problems[noun].form(name).linear:
            with pytest.raises(InputError, match="is not linear; it can be exported"):
                gangopt.solve(instance, form=name)
            continue
        result = gangopt.solve(instance, form=name, start=exact.solution)
        assert result.form == name
        assert result.proven
        assert result.objective == pytest.approx(exact.objective, rel=1e-9)


def test_options_of_the_exact_method_do_not_go_with_a_form():
    with pytest.raises(InputError, match="apply to exact only without --formulation"):
        gangopt.solve(TINY, "exact?order=size_difference", form="assign")


def test_an_instance_can_be_given_by_name_or_path(tmp_path):
    file = tmp_path / "tiny.json"
    write_json(file, to_document(TINY))
    for given in (TINY.name, str(file), file):
        assert gangopt.solve(given, "lpt").solution == lpt(TINY)


def test_numbers_of_numpy_are_accepted():
    result = gangopt.solve(
        TINY, "mxnet", time_limit=np.float32(5), rel_gap=np.float64(0), threads=np.int64(1), seed=np.int64(3)
    )
    assert result.solution == gangopt.solve(TINY, "mxnet", seed=3).solution
    assert type(result.options["seed"]) is int


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"instance": None}, r"instance must be an instance, or the name or path of one \(got None\)"),
        ({"instance": 3}, r"instance must be .* \(got 3\)"),
        ({"instance": "parameters/none"}, "unknown instance 'parameters/none'"),
        ({"method": None}, r"method must be a name or a function .* \(got None\)"),
        ({"form": 3}, r"form must be the name of a formulation \(got 3\)"),
        ({"solver": None}, r"solver must be the name of a solver \(got None\)"),
        ({"on_progress": 3}, r"on_progress must be a function of one event \(got 3\)"),
        ({"time_limit": "5"}, r"time_limit must be > 0 and <= 1e9 seconds \(got '5'\)"),
        ({"time_limit": True}, r"time_limit must be .* \(got True\)"),
        ({"rel_gap": "0"}, r"rel_gap must be >= 0 \(got '0'\)"),
        ({"threads": 1.0}, r"threads must be an integer from 1 to 1024 \(got 1.0\)"),
        ({"threads": True}, r"threads must be .* \(got True\)"),
        ({"threads": 40000}, r"threads must be an integer from 1 to 1024 \(got 40000\)"),
        ({"seed": "1"}, r"seed must be an integer from 0 to 2147483647 \(got '1'\)"),
        ({"start": 3}, r"start must be a ParametersSolution or a Result \(got int\)"),
    ],
)
def test_arguments_of_a_wrong_type_have_their_message(call, message):
    with pytest.raises(InputError, match=message):
        gangopt.solve(**{"instance": TINY, **call})


def test_a_result_can_be_started_from():
    rule = gangopt.solve(TINY, "lpt")
    assert gangopt.solve(TINY, start=rule).objective <= rule.objective
    with pytest.raises(InputError, match=r"start must be a result of parameters \(got one of allocation\)"):
        gangopt.solve(TINY, start=gangopt.solve("allocation/optimus-figure4", "drf"))
    with pytest.raises(InputError, match=r"start must be a ParametersSolution or a Result \(got AllocationSolution\)"):
        gangopt.solve(TINY, start=gangopt.solve("allocation/optimus-figure4", "drf").solution)
    with pytest.raises(InputError, match="start is not feasible for parameters/random"):
        gangopt.solve(TINY, start=gangopt.solve("parameters/random?blocks=5&servers=2", "lpt"))


def test_a_result_without_a_solution_is_no_start(monkeypatch):
    empty = claim(monkeypatch, termination="time_limit", solution=None)
    with pytest.raises(InputError, match=r"start: the result of exact on parameters/random.* holds no solution"):
        gangopt.solve(TINY, start=empty)


def test_an_exact_method_that_finds_nothing_is_a_result(monkeypatch):
    def exact(instance, controls):
        raise NoSolutionError("nothing was found")

    monkeypatch.setattr(EXACT, exact)
    result = gangopt.solve(TINY)
    assert (result.termination, result.solution_status, result.reason) == ("error", "none", "nothing was found")
    result = gangopt.solve(TINY, time_limit=1e-9)
    assert (result.termination, result.solution_status) == ("time_limit", "none")
