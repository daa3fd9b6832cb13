"""The judge decides: what a method claims is checked before it becomes a Result."""

import pytest

import gangopt
from gangopt.errors import InfeasibleError, InputError, SolverError
from gangopt.solvers.contract import Outcome
from gangopt.solvers.heuristics.parameters import lpt

TINY = gangopt.load("parameters/random?blocks=6&servers=2&seed=1")
EXACT = "gangopt.solvers.exact.parameters.exact"


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
    with pytest.raises(SolverError, match="the judge rejects what exact returned"):
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


def test_infeasible_is_a_result_with_its_reason(monkeypatch):
    def exact(instance, controls):
        raise InfeasibleError("gpu: 3 are needed, 2 exist")

    monkeypatch.setattr(EXACT, exact)
    result = gangopt.solve(TINY)
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
    for name, form in gangopt.problems[noun].forms.items():
        if not form.linear:
            with pytest.raises(InputError, match="is not linear, so it is built and exported"):
                gangopt.solve(instance, form=name)
            continue
        result = gangopt.solve(instance, form=name, start=exact.solution)
        assert result.form == name
        assert result.proven
        assert result.objective == pytest.approx(exact.objective, rel=1e-9)


def test_options_of_the_exact_method_do_not_go_with_a_form():
    with pytest.raises(InputError, match="are for exact without --form"):
        gangopt.solve(TINY, "exact?order=size_difference", form="assign")
