import itertools

import numpy as np
import pytest

from gangopt.catalogue import load
from gangopt.instances.network_placement.instance import NetworkPlacementInstance
from gangopt.solvers.core.clock import Clock, OutOfTime
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.network_placement.bounds import _undominated, lower_bound, reduce_machines
from gangopt.solvers.network_placement.exact import _Run, exact
from gangopt.solvers.network_placement.heuristics import consolidate
from gangopt.solvers.network_placement.improve import improve
from gangopt.solvers.network_placement.packing import RULES, Packer
from gangopt.solvers.solve import solve

HARD = "network_placement/random?machines=20&gpus=8&workers=24&seed=0"


def make(**changes):
    fields = {
        "name": "t",
        "machines": ("a", "b"),
        "free_gpus": np.array([2, 2]),
        "traffic": np.array([1.0, 2.0]),
        "workers": 3,
        "ps_sizes": np.array([6.0, 4.0]),
    }
    return NetworkPlacementInstance(**(fields | changes))


def test_large_cluster_is_closed_without_a_model():
    result = solve(load("network_placement/vgg16-w32-philly-2017"))
    assert result.termination == "optimal"
    assert result.form == "combinatorial"
    assert result.metrics["level_models"] == 0
    assert result.metrics["machines_modelled"] < 350


@pytest.mark.parametrize("search", ["window", "bisection"])
def test_models_close_what_bounds_leave_open(search):
    result = solve(load("network_placement/figure3-resnet50"), f"exact?search={search}")
    assert result.termination == "optimal"
    assert result.rel_gap <= 1e-9
    assert result.form == "level"
    assert result.metrics["level_models"] > 0
    assert result.solver == "highs"


def test_dropping_dominated_machines_keeps_the_optimum():
    for seed in range(10):
        few = load(f"network_placement/random?machines=12&gpus=2&workers=2&traffic=3&seed={seed}")
        reduced = reduce_machines(few)
        assert len(reduced.machines) < 12
        assert solve(few).objective == pytest.approx(solve(few, form="level").objective, rel=1e-6)


def test_equal_machines_dominate_in_the_order_of_their_indices():
    instance = make(machines=tuple(f"m{i}" for i in range(9)), free_gpus=np.full(9, 1), traffic=np.zeros(9), workers=2)
    assert reduce_machines(instance).machines.tolist() == [0, 1, 2, 3]


def test_machines_are_dropped_where_enough_others_are_no_worse_in_everything():
    generator = np.random.default_rng(0)
    for limit in (1, 2, 5):
        for columns in (1, 2, 3):
            keys = generator.integers(0, 5, size=(80, columns)).astype(float)
            kept = _undominated(keys, limit, Clock())
            expected = [(keys[:i] >= keys[i]).all(axis=1).sum() < limit for i in range(80)]
            assert kept.tolist() == expected


def test_machines_are_kept_once_the_time_is_over():
    keys = np.zeros((1000, 1))
    assert _undominated(keys, 3, Clock()).sum() == 3
    # the clock is looked at every 64 machines
    assert _undominated(keys, 3, ticking(3)).sum() == 3 + 1000 - 2 * 64


def ticking(looks):
    """Return a clock that expires at the given look at it."""
    count = itertools.count()
    return Clock(looks, lambda: next(count))


@pytest.mark.parametrize("looks", [1, 5, 30, 200])
def test_bounds_and_exchanges_hold_when_cut_short(looks):
    instance = load(HARD)
    reduced = reduce_machines(instance)
    first = Packer(instance, reduced).pack(reduced.background + 24, "fit")
    low, full = lower_bound(reduced, first.level, ticking(looks)), lower_bound(reduced, first.level)
    assert reduced.background <= low <= full
    better = improve(Packer(instance, reduced, ticking(looks)), reduced, first, 0.0)
    assert better.level <= first.level
    assert instance.check(better.solution(instance, reduced)) == []


def test_packing_stops_at_the_clock():
    instance = load(HARD)
    reduced = reduce_machines(instance)
    with pytest.raises(OutOfTime, match="time limit reached"):
        Packer(instance, reduced, ticking(4)).pack(reduced.background + 24, "fit")


def test_no_time_at_all_still_gives_a_placement_and_a_bound():
    instance = load(HARD)
    outcome = exact(instance, Controls(time_limit=1e-9))
    assert outcome.termination == "time_limit"
    assert instance.check(outcome.solution) == []
    assert 0 < outcome.bound <= instance.evaluate(outcome.solution).objective
    assert outcome.metrics["level_models"] == 0
    assert outcome.metrics["machines_modelled"] == 20


@pytest.mark.parametrize(("search", "models"), [("window", 1), ("bisection", 2)])
def test_gap_that_models_do_not_resolve_ends_as_completed(monkeypatch, search, models):
    asked = []
    monkeypatch.setattr(_Run, "_solve_between", lambda _self, _model, low, high: asked.append((low, high)))
    outcome = exact(load("network_placement/figure3-resnet50"), Controls(), search=search)
    assert outcome.termination == "completed"
    assert outcome.reason == "the solver's tolerances do not resolve the rest of the gap"
    assert len(asked) == models
    # bisection asks the window before it gives up
    assert asked[-1][0] == outcome.bound < asked[-1][1]


def test_bound_is_below_every_placement_and_packing_above():
    packed = 0
    for seed in range(20):
        instance = load(f"network_placement/random?machines=4&gpus=4&workers=4&servers=4&traffic=1&seed={seed}")
        reduced = reduce_machines(instance)
        packer = Packer(instance, reduced)
        packings = [item for rule in RULES if (item := packer.pack(reduced.background + 4, rule)) is not None]
        for packing in packings:
            solution = packing.solution(instance, reduced)
            assert instance.check(solution) == []
            assert instance.evaluate(solution).objective == pytest.approx(packing.level * reduced.scale, rel=1e-12)
        if not packings:
            continue
        packed += 1
        best = solve(instance, form="level").objective
        low = lower_bound(reduced, min(item.level for item in packings)) * reduced.scale
        assert low <= best * (1 + 1e-6)
    assert packed > 10


def test_packing_keeps_to_its_level():
    instance = load(HARD)
    reduced = reduce_machines(instance)
    packer = Packer(instance, reduced)
    for level in np.linspace(4.5, 12, 20):
        for rule in RULES:
            found = packer.pack(float(level), rule)
            assert found is None or found.level <= max(level, reduced.background) * (1 + 1e-12)


def test_exchanges_never_make_it_worse():
    instance = load(HARD)
    reduced = reduce_machines(instance)
    packer = Packer(instance, reduced)
    first = packer.pack(reduced.background + 24, "fit")
    better = improve(packer, reduced, first, 0.0, seed=0)
    assert better.level < first.level
    assert instance.check(better.solution(instance, reduced)) == []


def test_time_limit_keeps_solution_and_bound():
    result = solve(load(HARD), time_limit=1.5)
    assert result.termination == "time_limit"
    assert result.solution_status == "feasible"
    assert 0 < result.rel_gap < 0.2
    assert result.seconds.total < 5
    assert [bound for _, _, bound in result.trajectory] == sorted(bound for _, _, bound in result.trajectory)


def test_relative_gap_asked_for_ends_the_search():
    result = solve(load(HARD), rel_gap=0.2)
    assert result.termination == "optimal"
    assert result.rel_gap <= 0.2


def test_same_call_gives_the_same_answer():
    instance = load("network_placement/random?machines=10&workers=10&seed=5")
    one, two = solve(instance, seed=4), solve(instance, seed=4)
    assert one.solution == two.solution
    assert one.bound == two.bound


def test_start_is_never_lost():
    instance = load("network_placement/figure3-vgg16")
    optimum = solve(instance).solution
    assert solve(instance, start=optimum).objective == instance.evaluate(optimum).objective
    start = consolidate(load(HARD))
    result = solve(load(HARD), start=start, time_limit=1.0)
    assert result.objective <= load(HARD).evaluate(start).objective


def test_progress_is_reported():
    events = []
    solve(load("network_placement/random?machines=12&workers=12"), on_progress=events.append)
    assert events
    assert events[-1].objective == pytest.approx(events[-1].bound, rel=1e-8)


CPU = {"resources": ("cpu",), "worker_demand": np.array([1.0]), "ps_demand": np.array([2.0])}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"workers": 5}, "all_workers_placed: 5 workers, but only 4 GPUs are free"),
        ({"free_capacity": np.array([[1.0], [1.0]]), **CPU}, r"resource_capacity \(cpu\): room for 2 of 3 workers"),
        (
            {"free_capacity": np.array([[2.0], [2.0]]), **CPU},
            r"resource_capacity \(cpu\): no set of machines holds all",
        ),
    ],
)
def test_infeasible_names_the_rule(changes, reason):
    import re

    result = solve(make(**changes))
    assert result.termination == "infeasible"
    assert re.match(reason, result.reason)


def test_resources_that_only_just_suffice():
    # 3 workers and 2 servers need 7 of 7 cores: a holds both servers, or one and two workers
    result = solve(make(free_capacity=np.array([[4.0], [3.0]]), **CPU))
    assert result.termination == "optimal"
    assert result.solution.workers == (2, 1)


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e9])
def test_scale_of_the_numbers_does_not_matter(factor):
    base = load("network_placement/random?machines=6&workers=6&traffic=1&seed=2")
    scaled = make(
        machines=base.machines,
        free_gpus=base.free_gpus,
        workers=base.workers,
        traffic=base.traffic * factor,
        ps_sizes=base.ps_sizes * factor,
    )
    assert solve(scaled).objective == pytest.approx(solve(base).objective * factor, rel=1e-9)
