"""Single forms on models that HiGHS's own defaults, or tolerances of 1e-9, call optimal at a wrong value."""

from dataclasses import replace

import pytest

import gangopt
from gangopt.solvers.core import by_form
from gangopt.solvers.highs import SolveSettings, compile_model, solve_arrays

LOST = [
    *(("placement/random?servers=3&jobs=3&load=0.9", "pieces", seed) for seed in (15, 28, 333, 1164, 1182, 1214, 1476)),
    *(("placement/random?servers=3&jobs=3&load=0.9", "tasks", seed) for seed in (203, 297, 441)),
    ("parameters/random?blocks=6&servers=3", "assign", 142),
    *(("parameters/random?blocks=6&servers=3", "groups", seed) for seed in (23, 27, 65, 119, 205)),
    *(("threshold/random?jobs=12&features=2", "linear", seed) for seed in (27, 72, 99, 115, 1017, 1082, 1245)),
]


@pytest.mark.parametrize(("family", "form", "seed"), LOST)
def test_a_form_alone_finds_the_optimum(family, form, seed):
    instance = gangopt.load(f"{family}&seed={seed}")
    alone = gangopt.solve(instance, form=form)
    assert alone.proven
    assert alone.objective == pytest.approx(gangopt.solve(instance).objective, rel=1e-9)


def test_the_options_that_guard_a_mip_are_reported_and_can_be_set():
    form = gangopt.problems["parameters"].form("groups")
    arrays = compile_model(form.model(gangopt.load("parameters/random?blocks=6&servers=3&seed=27")))
    guarded = solve_arrays(arrays)
    assert guarded.options["mip_allow_restart"] is False
    assert guarded.options["mip_feasibility_tolerance"] == guarded.options["primal_feasibility_tolerance"] == 1e-8
    chosen = solve_arrays(arrays, SolveSettings(options={"mip_feasibility_tolerance": 1e-7}))
    assert chosen.options["mip_feasibility_tolerance"] == 1e-7
    assert chosen.options["mip_allow_restart"] is False


def test_a_form_that_is_a_bound_ends_as_completed_where_its_solution_is_worse():
    open_one = "placement/random?servers=4&jobs=4&load=0.9&seed={}"
    results = [gangopt.solve(open_one.format(seed), form="levels") for seed in range(12)]
    ended = {(result.termination, result.proven) for result in results}
    assert ended == {("optimal", True), ("completed", False)}
    worse = next(result for result in results if not result.proven)
    assert worse.bound < worse.objective
    assert worse.reason == "the solution read from formulation levels is worse than its optimum"


def test_a_form_that_cannot_be_built_in_time_ends_at_the_limit():
    result = gangopt.solve("allocation/random?jobs=2000&max_tasks=14&seed=1", form="choice", time_limit=0.01)
    assert (result.termination, result.solution_status) == ("time_limit", "none")
    assert "longer to build" in result.reason or "was reached" in result.reason


def test_a_better_solution_than_the_bound_ends_as_an_error_without_a_bound(monkeypatch):
    def too_high(*arguments):
        return replace(original(*arguments), bound=1e9)

    original = by_form._solve
    monkeypatch.setattr(by_form, "_solve", too_high)
    result = gangopt.solve("parameters/random?blocks=6&servers=3&seed=27", form="groups")
    assert (result.termination, result.solution_status, result.bound) == ("error", "feasible", None)
    assert (
        result.reason
        == "the solution is better than the bound 1000000000 of formulation groups, within the solver's tolerances"
    )


@pytest.mark.parametrize("form", ["levels", "pieces"])
def test_a_model_in_which_highs_would_overrun_the_limit_is_not_started(monkeypatch, form):
    monkeypatch.setattr("gangopt.solvers.core.clock.ALLOWED_SECONDS", 0.0)
    result = gangopt.solve("placement/random?servers=30&jobs=30&load=0.9", form=form, time_limit=2)
    assert (result.termination, result.solution_status, result.bound) == ("time_limit", "none", None)
    assert result.reason.startswith("HiGHS may not check the time limit for ")
    start = gangopt.solve("placement/random?servers=30&jobs=30&load=0.9", "pack").solution
    kept = gangopt.solve("placement/random?servers=30&jobs=30&load=0.9", form=form, time_limit=2, start=start)
    assert (kept.termination, kept.solution) == ("time_limit", start)
    small = gangopt.solve("placement/optimus-figure10", form=form, time_limit=60)
    assert small.solution_status != "none"
