"""Two decisions in turn: every pair of methods, their options, admission and retries."""

import dataclasses

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.catalogue import load
from gangopt.instances.interval.instance import IntervalInstance
from gangopt.registry.records import problems
from gangopt.solvers.allocation import heuristics as allocation
from gangopt.solvers.interval.heuristics import admitted, retry
from gangopt.solvers.placement import heuristics as placement

PROBLEM = problems["interval"]


@pytest.fixture(scope="module")
def testbed():
    return load("interval/testbed?seed=3")


def test_there_is_a_method_for_every_pair():
    pairs = {name for name in PROBLEM.methods if "+" in name}
    expected = {
        f"{first}+{second}"
        for first in problems["allocation"].methods
        for second in problems["placement"].methods
        if second != "theorem1"
    }
    assert pairs == expected
    assert PROBLEM.methods["exact+spread"].exact
    assert PROBLEM.methods["drf+exact"].exact
    assert not PROBLEM.methods["drf+spread"].exact


def test_no_option_of_one_decision_is_named_like_one_of_the_other():
    for first in problems["allocation"].methods.values():
        for second in problems["placement"].methods.values():
            assert not set(first.options()) & set(second.options())


@pytest.mark.parametrize("pair", [name for name, item in PROBLEM.methods.items() if "+" in name and not item.exact])
def test_a_pair_is_its_methods_in_turn(testbed, pair):
    first, second = pair.split("+")
    result = gangopt.solve(testbed, pair, seed=5)
    assert not testbed.check(result.solution)
    assert result.termination == "completed"
    shared = getattr(allocation, first)(testbed.allocation)
    assert result.solution.allocation == shared
    options = {"seed": 5} if second == "random" else {}
    assert result.solution.placement == getattr(placement, second)(testbed.placement_of(shared), **options)


def test_options_of_both_stand_in_the_name():
    method, options, name = PROBLEM.method("optimus+random?priority=0.9&skip=true")
    assert options == {"skip": True, "priority": 0.9}
    assert name == "optimus+random?skip=true&priority=0.9"
    assert method.takes_seed()
    assert set(PROBLEM.method("optimus+exact")[0].options()) == {"skip", "priority", "young", "per", "orders"}
    with pytest.raises(InputError, match="unknown argument 'skip'"):
        PROBLEM.method("drf+spread?skip=true")
    instance = load("interval/random?jobs=12&servers=10&seed=1")
    plain, skipping = gangopt.solve(instance, "optimus+pack"), gangopt.solve(instance, "optimus+pack?skip=true")
    counts = [sum(item.solution.allocation.parameter_servers) for item in (plain, skipping)]
    assert counts[0] < counts[1]


def crowded():
    """Three jobs of which two fit; the second is the largest."""
    base = load("interval/testbed?jobs=3&cpu_servers=1&gpu_servers=1")
    demand = np.array([[3.0, 1.0, 0.0], [9.0, 1.0, 0.0], [3.0, 1.0, 0.0]])
    one = np.ones(3, dtype=np.int64)
    shared = dataclasses.replace(base.allocation, worker_demand=demand, ps_demand=demand, max_workers=one, max_ps=one)
    return IntervalInstance.from_machines(
        shared,
        ("a", "b"),
        np.array([[8.0, 80.0, 1.0], [8.0, 80.0, 1.0]]),
        name="interval/crowded",
        size=base.size,
        ps_bandwidth=base.ps_bandwidth,
        worker_bandwidth=base.worker_bandwidth,
    )


def test_jobs_that_do_not_fit_together_are_not_given_to_the_allocator():
    instance = crowded()
    assert admitted(instance) == [0, 2]
    result = gangopt.solve(instance, "optimus+optimus")
    assert result.metrics["jobs_placed"] == 2
    assert result.solution.placement.paused == (1,)
    assert result.solution.allocation.workers[1] == result.solution.allocation.parameter_servers[1] == 1
    assert result.metrics["paused_beyond_count"] == 0


def test_no_job_fits_at_all():
    instance = crowded()
    demand = np.full((3, 3), 90.0)
    none = dataclasses.replace(
        instance, allocation=dataclasses.replace(instance.allocation, worker_demand=demand, ps_demand=demand)
    )
    assert admitted(none) == []
    result = gangopt.solve(none, "optimus+optimus")
    assert result.metrics["jobs_placed"] == 0
    assert "no machine is large enough" in result.solution.placement.reasons[0]
    assert result.objective == pytest.approx(none.pause_charge.sum())


def test_retry_places_what_the_pair_pauses(testbed):
    pair, again = gangopt.solve(testbed, "optimus+optimus"), gangopt.solve(testbed, "retry")
    assert pair.metrics["jobs_paused"] == 1
    assert again.metrics["jobs_paused"] == 0
    assert again.objective < pair.objective


def test_retry_without_need_is_the_pair():
    instance = load("interval/one-server")
    assert retry(instance) == gangopt.solve(instance, "optimus+optimus").solution


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("step=0", r"step must be from 0.01 to 1 \(got 0\)"),
        ("allocation=exact", r"two heuristics without random choices \(got exact\+optimus\)"),
        ("placement=random", r"two heuristics .* \(got optimus\+random\)"),
        ("placement=theorem1", r"unknown method of interval 'optimus\+theorem1'"),
        ("allocation=greedy", "unknown method of interval"),
    ],
)
def test_retry_refuses(options, message):
    with pytest.raises(InputError, match=message):
        gangopt.solve(load("interval/one-server"), f"retry?{options}")
