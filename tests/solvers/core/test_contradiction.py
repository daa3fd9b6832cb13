"""A solver that calls everything infeasible: no wrong optimum, and no infeasibility beside a known solution."""

from __future__ import annotations

import numpy as np
import pytest
from highspy import HighsModelStatus

import gangopt
from gangopt.base.errors import InfeasibleError, SolverError
from gangopt.instances.allocation.instance import AllocationInstance
from gangopt.solvers.core.contract import Controls, Outcome
from gangopt.solvers.core.contradiction import uncontradicted
from gangopt.solvers.highs import LinearArrays, SolveSettings, solve_arrays
from gangopt.solvers.highs.handle import Handle
from gangopt.solvers.highs.session import Session

CASES = [(noun, form) for noun, problem in gangopt.problems.items() for form in [None, *problem.forms]]

OPEN = (
    "allocation/random?jobs=4&max_tasks=4&seed=1",
    "interval/one-server",
    "network_placement/random?machines=6&workers=6&seed=1",
    "schedule/halves",
    "placement/random?servers=3&jobs=3&seed=2",
    "parameters/random?blocks=8&servers=3",
    "bid/random?jobs=14&gpus=5",
    "threshold/random?jobs=12",
)
"""Instances of which some are left open by all that is done without HiGHS."""


@pytest.fixture
def infeasible(monkeypatch):
    """Let HiGHS call every model infeasible that it is given."""

    def claim():
        monkeypatch.setattr(Handle, "run", lambda *_, **__: HighsModelStatus.kInfeasible)
        monkeypatch.setattr(Handle, "conflict", lambda *_: ())

    return claim


@pytest.mark.parametrize(("noun", "form"), CASES)
def test_a_false_claim_is_held_against_a_solution_of_every_problem(small_names, infeasible, noun, form):
    if form is not None and not gangopt.problems[noun].form(form).linear:
        pytest.skip("the form is built, not solved")
    instance = gangopt.load(small_names[noun])
    best = gangopt.solve(instance).objective
    infeasible()
    try:
        result = gangopt.solve(instance, form=form)
    except SolverError:
        return
    assert result.termination != "infeasible"
    assert result.termination != "optimal" or result.objective == pytest.approx(best, rel=1e-9, abs=1e-9)
    if form is not None and result.termination == "error":
        assert result.reason.startswith(
            f"formulation {form} was reported infeasible, but the checker accepts the solution of "
        )
        assert result.solution_status == "feasible"


@pytest.mark.parametrize("name", OPEN)
def test_no_exact_method_ends_at_a_wrong_optimum(infeasible, name):
    instance = gangopt.load(name)
    right = gangopt.solve(instance)
    assert right.termination == "optimal"
    infeasible()
    result = gangopt.solve(instance)
    assert result.termination != "infeasible"
    assert result.solution_status != "none"
    if result.bound is not None:
        known = right.objective * (1 + 1e-9) if right.sense == "minimise" else -right.objective * (1 - 1e-9)
        assert (result.bound if right.sense == "minimise" else -result.bound) <= known
    if result.termination == "optimal":
        assert result.objective == pytest.approx(right.objective, rel=1e-9)


@pytest.mark.parametrize("form", ["tasks", "pieces"])
def test_a_start_contradicts_the_claim(infeasible, form):
    instance = gangopt.load("placement/optimus-figure10")
    start = gangopt.solve(instance)
    infeasible()
    result = gangopt.solve(instance, form=form, start=start)
    assert result.termination == "error"
    assert result.reason == "HiGHS reports the model infeasible, but the start satisfies it"
    assert result.objective == start.objective


def test_a_model_with_a_start_that_holds_is_not_infeasible(infeasible):
    arrays = LinearArrays.from_matrix(np.ones(2), np.array([[2.0, 3.0]]), [1.0], [4.0], 0.0, 1.0, True)
    infeasible()
    assert solve_arrays(arrays, SolveSettings()).termination == "infeasible"
    with Session(arrays) as session:
        session.warm_start([1, 0])
        outcome = session.solve()
    assert outcome.termination == "error"
    assert outcome.values.tolist() == [1.0, 0.0]
    assert outcome.message == "HiGHS reports the model infeasible, but the start satisfies it"


def too_large():
    return AllocationInstance(
        name="allocation/too-large",
        resources=("cpu",),
        units=("core",),
        capacity=[3.0],
        jobs=("a", "b"),
        steps=[10.0, 10.0],
        mode=("async", "async"),
        theta=[[1.0, 0, 0, 0, 0]] * 2,
        batch=[0.0, 0.0],
        worker_demand=[[1.0]] * 2,
        ps_demand=[[1.0]] * 2,
        max_workers=[2, 2],
        max_ps=[2, 2],
    )


@pytest.mark.parametrize("form", [None, "choice", "counts"])
def test_what_is_infeasible_stays_so(form):
    result = gangopt.solve(too_large(), form=form)
    assert (result.termination, result.solution_status) == ("infeasible", "none")


def test_heuristics_are_asked_as_long_as_there_is_time():
    problem, instance = gangopt.problems["allocation"], gangopt.load("allocation/optimus-figure4")
    claim = Outcome("infeasible", None, None, form="choice")
    found = uncontradicted(problem, instance, claim, Controls())
    assert found.termination == "error"
    assert not instance.check(found.solution)
    assert found.reason == "formulation choice was reported infeasible, but the checker accepts the solution of optimus"
    late = Controls(time_limit=1e-9)
    assert uncontradicted(problem, instance, claim, late) is claim
    own = uncontradicted(problem, instance, Outcome("infeasible", found.solution, None), late)
    assert (
        own.reason == "the instance was reported infeasible, but the checker accepts the solution of the method itself"
    )


def test_a_method_that_gives_up_is_held_against_the_heuristics(monkeypatch):
    from gangopt.solvers.allocation import exact as allocation

    def give_up(*_):
        raise InfeasibleError("resource_capacity: nothing fits")

    monkeypatch.setattr(allocation, "_exact", give_up)
    result = gangopt.solve("allocation/optimus-figure4")
    assert (result.termination, result.solution_status) == ("error", "feasible")
