"""Joint optima against brute force and form `joint`, bounds of prices, and exact decisions in turn."""

import dataclasses

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.catalogue import load
from gangopt.formulations.interval.data import choices_of
from gangopt.instances.allocation.instance import AllocationInstance
from gangopt.instances.interval.instance import IntervalInstance
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.interval import exact as method
from gangopt.solvers.interval.prices import all_local_bound, priced

SMALL = [
    "interval/random?jobs=2&servers=2&max_tasks=3&seed=0",
    "interval/random?jobs=3&servers=3&max_tasks=3&seed=1",
    "interval/random?jobs=3&servers=3&max_tasks=2&tasks=cpu&seed=2",
    "interval/random?jobs=4&servers=2&max_tasks=2&seed=3",
    "interval/testbed?jobs=3&cpu_servers=2&gpu_servers=2&seed=4",
    "interval/testbed?jobs=4&cpu_servers=1&gpu_servers=3&seed=5",
]


@pytest.mark.parametrize("name", SMALL)
def test_exact_is_form_joint(name):
    instance = load(name)
    result = gangopt.solve(instance, "exact")
    joint = gangopt.solve(instance, "exact", form="joint")
    assert result.termination == joint.termination == "optimal"
    assert result.objective == pytest.approx(joint.objective, rel=1e-9)
    assert result.bound == pytest.approx(result.objective, rel=1e-9)
    for pair in ("exact+exact", "optimus+optimus", "retry"):
        assert gangopt.solve(instance, pair).objective >= result.objective * (1 - 1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_bounds_are_below_the_optimum(name):
    instance = load(name)
    best = gangopt.solve(instance, "exact").objective
    every = choices_of(instance)
    bound, kept = priced(instance, every, best)
    local = all_local_bound(instance, Controls())
    if instance.fewest_paused:
        assert bound is local is None
        assert kept is every
        return
    assert bound <= best
    assert local is None or local <= best * (1 + 1e-9)
    # a choice that was dropped is in no solution as good as the best
    again = gangopt.solve(instance, "exact", form="joint")
    assert again.objective == pytest.approx(best, rel=1e-9)
    assert sum(map(len, kept.choices)) <= sum(map(len, every.choices))


def test_jobs_that_must_be_paused():
    instance = load("interval/random?jobs=4&servers=1&max_tasks=2&seed=3")
    assert instance.fewest_paused > 0
    result = gangopt.solve(instance, "exact")
    assert result.termination == "optimal"
    assert result.metrics["paused_beyond_count"] >= 0
    assert result.objective == pytest.approx(gangopt.solve(instance, "exact", form="joint").objective, rel=1e-9)


def test_exact_in_turn_has_no_bound_of_its_own():
    instance = load("interval/testbed?seed=3")
    result = gangopt.solve(instance, "exact+exact")
    assert (result.termination, result.solution_status, result.bound) == ("completed", "feasible", None)
    alone = gangopt.solve(instance.allocation, "exact")
    assert result.solution.allocation == alone.solution
    assert result.metrics["allocation_bound"] == pytest.approx(alone.bound)
    placed = gangopt.solve(instance.placement_of(alone.solution), "exact")
    assert instance.placement_of(alone.solution).evaluate(result.solution.placement).objective == pytest.approx(
        placed.objective, rel=1e-9
    )


def test_mixed_pairs_and_their_options():
    instance = load("interval/random?jobs=3&servers=3&max_tasks=3&seed=1")
    result = gangopt.solve(instance, "optimus+exact?skip=true&orders=5")
    assert result.method == "optimus+exact?skip=true&orders=5"
    assert result.options == {"skip": True, "orders": 5}
    assert "allocation_bound" not in result.metrics
    assert gangopt.solve(instance, "exact+random", seed=3).solution == (
        gangopt.solve(instance, "exact+random", seed=3).solution
    )


def test_a_pair_takes_no_start():
    instance = load(SMALL[0])
    start = gangopt.solve(instance, "retry").solution
    with pytest.raises(InputError, match=r"start is for the method exact, exact\+spread takes two decisions"):
        gangopt.solve(instance, "exact+spread", start=start)


def test_time_limit_is_that_of_the_pair():
    instance = load("interval/random?jobs=200&servers=150&seed=2")
    result = gangopt.solve(instance, "exact+optimus", time_limit=1e-6)
    assert result.termination == "time_limit"


def test_time_limit_keeps_solution_and_bound():
    instance = load("interval/optimus-testbed")
    result = gangopt.solve(instance, "exact", time_limit=1.0)
    assert result.termination == "time_limit"
    assert result.bound <= 1842492.3
    assert result.objective >= 1842492.2
    assert result.metrics["jobs_placed"] == 9


def test_what_is_too_large_for_joint_models_has_a_bound():
    instance = load("interval/random?jobs=200&servers=400&seed=1")
    result = gangopt.solve(instance, "exact")
    assert result.termination == "completed"
    assert "80,000 configurations; joint models are built up to 60,000" in result.reason
    assert 0 < result.bound < result.objective
    pieces = gangopt.solve(load("interval/random?jobs=50&servers=100"), "exact", time_limit=60)
    assert pieces.termination == "completed"
    assert "pieces on classes of servers" in pieces.reason


def test_starts_and_progress():
    instance = load(SMALL[0])
    best = gangopt.solve(instance, "exact").solution
    seen = []
    result = gangopt.solve(instance, "exact", start=best, on_progress=seen.append)
    assert result.solution == best
    assert seen[0].objective == result.objective
    assert seen[-1].bound == pytest.approx(result.bound)


def test_interrupted(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(method, "_classes", stop)
    result = gangopt.solve(load(SMALL[1]), "exact")
    assert result.termination == "interrupted"
    assert result.solution_status == "feasible"


def test_joint_settles_what_classes_leave_open(monkeypatch):
    # one placement of the allocation is kept from the method, so that only form joint can prove the optimum
    instance = load(SMALL[1])
    best = gangopt.solve(instance, "exact").objective
    monkeypatch.setattr(method, "_classes", lambda state, data: None)
    result = gangopt.solve(instance, "exact")
    assert result.form == "joint"
    assert result.termination == "optimal"
    assert result.objective == pytest.approx(best, rel=1e-9)


def test_models_are_solved_without_presolve():
    """Presolve takes ten seconds of interval/testbed whatever the limit is, and solving takes less without."""
    result = gangopt.solve(load(SMALL[0]), "exact")
    assert result.options["presolve"] == "off"


def test_a_speed_of_transfers_only():
    instance = load("interval/one-server")
    shared = dataclasses.replace(instance.allocation, theta=np.array([[0.0, 0.0, 2.0, 0.0, 0.0]]))
    only = dataclasses.replace(instance, allocation=shared)
    result = gangopt.solve(only, "exact")
    assert result.objective == 0.0
    assert result.termination == "optimal"
    assert all_local_bound(only, Controls()) == pytest.approx(0.0, abs=1e-6)


def test_two_exact_decisions_pause_the_job_that_is_cheap_to_pause():
    # five tasks fit in sum, but each server holds two; to pause the longer job costs twice as much
    allocation = AllocationInstance(
        name="x",
        resources=("cpu",),
        units=("core",),
        capacity=np.array([10.0]),
        jobs=("long", "short"),
        steps=np.array([1e6, 10.0]),
        mode=("table", "table"),
        theta=np.zeros((2, 5)),
        batch=np.zeros(2),
        tables=(np.array([[1.0, 2.0]]), np.array([[1.0]])),
        table_labels=("two", "one"),
        table=np.array([0, 1]),
        worker_demand=np.full((2, 1), 2.0),
        ps_demand=np.full((2, 1), 2.0),
        max_workers=np.array([2, 1]),
        max_ps=np.array([1, 1]),
    )
    instance = IntervalInstance.from_machines(
        allocation,
        ("a", "b"),
        np.array([[5.0], [5.0]]),
        name="interval/long-and-short",
        size=np.ones(2),
        ps_bandwidth=np.ones(2),
        worker_bandwidth=np.ones(2),
    )
    result = gangopt.solve(instance, "exact+exact")
    assert result.solution.placement.paused == (1,)
    assert result.metrics["sum_completion_time"] == 500_610
