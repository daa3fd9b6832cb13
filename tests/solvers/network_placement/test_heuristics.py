import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InfeasibleError, InputError, NoSolutionError
from gangopt.catalogue import load
from gangopt.instances.network_placement.instance import NetworkPlacementInstance
from gangopt.solvers.network_placement.heuristics import consolidate, greedy_load, packlimit, random
from gangopt.solvers.network_placement.room import Room
from gangopt.solvers.solve import solve

RULES = (packlimit, consolidate, random, greedy_load)


def make(free_gpus, workers, sizes=(4.0, 3.0, 2.0, 1.0), **changes):
    m = len(free_gpus)
    fields = {
        "name": "t",
        "machines": tuple(f"m{i}" for i in range(m)),
        "free_gpus": np.array(free_gpus),
        "traffic": np.zeros(m),
        "workers": workers,
        "ps_sizes": np.array(sizes),
    }
    return NetworkPlacementInstance(**(fields | changes))


def test_consolidate_takes_the_fullest_machines_and_the_last_by_best_fit():
    assert consolidate(make([2, 4, 3, 1, 4], 10)).workers == (2, 4, 0, 0, 4)
    assert consolidate(make([2, 4, 3, 1, 4], 9)).workers == (0, 4, 0, 1, 4)
    assert consolidate(make([5, 4, 3], 3)).workers == (0, 0, 3)
    assert consolidate(make([3, 3], 3)).workers == (3, 0)


def test_consolidate_uses_the_fewest_machines():
    generator = np.random.default_rng(0)
    for _ in range(50):
        free = generator.integers(0, 9, 12)
        workers = int(generator.integers(1, free.sum() + 1))
        instance = make(free.tolist(), workers)
        largest_first = np.cumsum(np.sort(free)[::-1])
        fewest = int(np.searchsorted(largest_first, workers)) + 1
        assert instance.evaluate(consolidate(instance)).metrics["machines_used"] == fewest


def test_packlimit_spreads_over_leftovers_unless_the_skew_exceeds_the_limit():
    instance = make([2, 4, 0, 1, 4], 5, skew=0.3)
    assert packlimit(instance).workers == (2, 2, 0, 1, 0)
    assert packlimit(instance, limit=0.3).workers == (2, 2, 0, 1, 0)
    assert packlimit(instance, limit=0.29) == consolidate(instance)


@pytest.mark.parametrize(
    ("model", "packed"), [("vgg11", True), ("alexnet", True), ("resnet50", False), ("googlenet", False)]
)
def test_packlimit_parts_the_published_networks_by_default(model, packed):
    instance = load(f"network_placement/{model}-w8-tiresias-testbed")
    assert (packlimit(instance) == consolidate(instance)) is packed


def test_servers_go_round_robin_with_the_workers():
    # filling order m1 (4 workers), then m0 (1 worker): workers 0 to 3 on m1, worker 4 on m0
    instance = make([1, 4], 5, sizes=(1.0,) * 7)
    assert consolidate(instance).ps_hosts == (1, 1, 1, 1, 0, 1, 1)


def test_servers_move_on_where_a_resource_is_used_up():
    demand = {"resources": ("cpu",), "worker_demand": np.array([1.0]), "ps_demand": np.array([2.0])}
    instance = make([2, 1, 0], 3, (1.0, 1.0, 1.0), free_capacity=np.array([[4.0], [1.0], [9.0]]), **demand)
    solution = consolidate(instance)
    assert solution.workers == (2, 1, 0)
    assert solution.ps_hosts == (0, 2, 2)
    assert instance.check(solution) == []


def test_random_follows_its_seed_and_only_free_gpus():
    instance = load("network_placement/random?machines=50&workers=20")
    assert random(instance, seed=3) == random(instance, seed=3)
    assert len({random(instance, seed=seed) for seed in range(5)}) == 5
    full = make([1, 2, 0], 3)
    assert random(full, seed=9).workers == (1, 2, 0)


def test_greedy_load_by_hand():
    # 4 to m0 (4 W = 8), 3 to m1 (6), 2 to m1 (10 against 12), 1 to m0 (10); M = 10 and both S = 5: workers add nothing
    assert greedy_load(make([2, 2], 2)).ps_hosts == (0, 1, 1, 0)
    assert greedy_load(make([2, 2], 2)).workers == (2, 0)
    loaded = make([2, 2], 2, traffic=np.array([100.0, 0.0]))
    assert greedy_load(loaded).ps_hosts == (1, 1, 1, 1)


@pytest.mark.parametrize("rule", RULES)
def test_too_few_gpus_is_infeasible_with_both_numbers(rule):
    with pytest.raises(InfeasibleError, match="all_workers_placed: 7 workers, but only 6 GPUs are free"):
        rule(make([2, 4], 7))
    result = solve(make([2, 4], 7), rule.__name__)
    assert result.termination == "infeasible"


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_without_room_says_so_and_claims_nothing(rule):
    demand = {"resources": ("cpu",), "worker_demand": np.array([1.0]), "ps_demand": np.array([0.0])}
    with pytest.raises(NoSolutionError, match=r"resource_capacity \(cpu\): this rule finds room for 3 of 4 workers"):
        rule(make([4, 4], 4, free_capacity=np.array([[1.0], [2.0]]), **demand))
    servers = {"resources": ("cpu",), "worker_demand": np.array([0.0]), "ps_demand": np.array([1.0])}
    with pytest.raises(NoSolutionError, match="this rule finds room for 3 of 4 parameter servers"):
        rule(make([4, 4], 4, free_capacity=np.array([[1.0], [2.0]]), **servers))


def test_limit_out_of_range_is_refused():
    with pytest.raises(InputError, match=r"packlimit: limit must be from 0 to 1 \(got 1.5\)"):
        packlimit(make([4], 2), limit=1.5)


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 20), st.integers(1, 30))
@settings(max_examples=100, deadline=None)
def test_every_rule_is_feasible_for_the_judge(seed, machines, workers, servers):
    generator = np.random.default_rng(seed)
    instance = make(generator.integers(0, 9, machines).tolist(), workers, generator.random(servers) + 0.01)
    for rule in RULES:
        if instance.free_gpus.sum() < workers:
            with pytest.raises(InfeasibleError):
                rule(instance)
        else:
            assert instance.check(rule(instance)) == []


def test_a_task_that_takes_next_to_nothing_overflows_no_count():
    instance = load("network_placement/four-machines")
    tiny = dataclasses.replace(instance, worker_demand=np.full(1, 1e-15), free_capacity=np.full((4, 1), 1e15))
    assert Room(tiny).worker_room().tolist() == instance.free_gpus.tolist()
