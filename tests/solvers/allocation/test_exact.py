"""The exact method against enumeration, and its behaviour at the edges."""

import dataclasses
import itertools
import math
import time

import numpy as np
import pytest

import gangopt
from gangopt.instances.allocation.generate import random
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.solvers.allocation import exact as module
from gangopt.solvers.allocation.core import CoreAnswer, solve_core
from gangopt.solvers.allocation.dual import PricedGrids, maximise_bound
from gangopt.solvers.allocation.exact import exact
from gangopt.solvers.core.clock import Clock, OutOfTime
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.highs import SolveSettings

BATCHES = 10


def small_instance(seed: int) -> AllocationInstance:
    """Return up to 4 jobs with up to 3 x 3 configurations: every mode, holes, zero demands, fractions, equal jobs."""
    rng = np.random.default_rng(seed)
    J, R, T = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(0, 3))
    tables = []
    for _ in range(T):
        speeds = rng.uniform(0.1, 2.0, (3, 3))
        speeds[rng.random((3, 3)) < rng.choice([0.0, 0.5])] = np.nan
        speeds[rng.integers(0, 3), rng.integers(0, 3)] = rng.uniform(0.1, 2.0)
        tables.append(speeds)
    mode = rng.choice(["async", "sync", "table"] if T else ["async", "sync"], J)
    theta = rng.uniform(0, 3, (J, 5)) * (rng.random((J, 5)) < 0.7)
    theta[:, 0] += 0.01
    theta[mode == "async", 4] = 0
    theta[mode == "table"] = 0
    limits = np.where((mode == "table")[:, None], 3, rng.integers(1, 4, (J, 2)))
    unit = rng.choice([1.0, 0.1, 0.37, np.pi])
    demand = rng.integers(0, 4, (2, J, R)) * unit
    if rng.random() < 0.3:
        mode[:], theta[:], limits[:], demand[:] = mode[0], theta[0], limits[0], demand[:, :1]
    least = demand.sum(axis=(0, 1))
    return AllocationInstance(
        name=f"small-{seed}",
        resources=("cpu", "memory", "gpu")[:R],
        units=("core", "GB", "GPU")[:R],
        capacity=np.maximum(unit, np.round(least / unit * rng.uniform(0.9, 2.5, R)) * unit),
        jobs=tuple(f"j{j}" for j in range(J)),
        steps=rng.choice([0.0, 10.0, 100.0], J, p=[0.05, 0.475, 0.475]) * rng.integers(1, 5, J),
        mode=tuple(map(str, mode)),
        theta=theta,
        batch=np.where(mode == "sync", 8.0, 0.0),
        tables=tuple(tables),
        table_labels=tuple(f"t{i}" for i in range(T)),
        table=np.where(mode == "table", rng.integers(0, max(T, 1), J), -1),
        worker_demand=demand[0],
        ps_demand=demand[1],
        max_workers=limits[:, 0],
        max_ps=limits[:, 1],
    )


def brute_force(instance: AllocationInstance) -> float | None:
    """Return the least objective over every combination of configurations, None if none is feasible."""
    total, use = np.zeros(1), np.zeros((1, len(instance.resources)))
    for j in range(len(instance.jobs)):
        grid = itertools.product(range(1, instance.max_ps[j] + 1), range(1, instance.max_workers[j] + 1))
        options = [(instance.completion_time(j, p, w), p, w) for p, w in grid]
        allowed = [(t, p * instance.ps_demand[j] + w * instance.worker_demand[j]) for t, p, w in options if t < np.inf]
        total = np.add.outer(total, [t for t, _ in allowed]).ravel()
        use = (use[:, None, :] + np.array([u for _, u in allowed])[None, :, :]).reshape(len(total), -1)
    feasible = (use <= instance.capacity * (1 + 1e-11)).all(axis=1)
    return float(total[feasible].min()) if feasible.any() else None


@pytest.mark.parametrize("batch", range(BATCHES))
def test_equal_to_brute_force_and_bound_never_above_it(batch: int) -> None:
    seen = {"optimal": 0, "infeasible": 0}
    for seed in range(batch * 50, batch * 50 + 50):
        instance = small_instance(seed)
        best = brute_force(instance)
        result = gangopt.solve(instance)
        seen[result.termination] += 1
        if best is None:
            assert result.termination == "infeasible", seed
            continue
        assert result.termination == "optimal", (seed, result.reason)
        assert result.objective == pytest.approx(best, rel=1e-9, abs=1e-12), seed
        assert result.bound <= best * (1 + 1e-12) + 1e-12, seed
        dual = maximise_bound(PricedGrids(instance))
        assert dual.best.bound <= best * (1 + 1e-12) + 1e-12, seed
    assert seen["optimal"] > 20


def repeated(instance: AllocationInstance, times: int, scale: float) -> AllocationInstance:
    """Return every job `times` over, on `scale` times the capacity."""
    at = np.tile(np.arange(len(instance.jobs)), times)
    by_job = ("steps", "theta", "batch", "table", "worker_demand", "ps_demand", "max_workers", "max_ps", "progress")
    return dataclasses.replace(
        instance,
        **{name: getattr(instance, name)[at] for name in by_job},
        jobs=tuple(f"{instance.jobs[j]}-{n}" for n, j in enumerate(at)),
        mode=tuple(instance.mode[j] for j in at),
        job_sources=None,
        capacity=np.floor(instance.capacity * scale),
    )


@pytest.mark.parametrize("scale", [500.37, 889.0])
def test_thousands_of_equal_jobs_are_merged_and_proven(scale: float) -> None:
    instance = repeated(random(jobs=9, seed=1), 889, scale)
    result = gangopt.solve(instance, time_limit=120)
    assert result.termination == "optimal"
    assert result.rel_gap <= 1e-9
    assert len(PricedGrids(instance).classes) == 9


@pytest.mark.parametrize("seed", range(5))
def test_equal_jobs_by_either_form(seed: int) -> None:
    instance = repeated(random(jobs=3, max_tasks=4, load=0.5, seed=seed), 4, 3.3)
    objective = gangopt.solve(instance).objective
    assert gangopt.solve(instance, form="choice").objective == pytest.approx(objective, rel=1e-9)
    assert gangopt.solve(instance, form="counts").objective == pytest.approx(objective, rel=1e-9)


def one_kind(jobs: int = 2, **changed: object) -> AllocationInstance:
    """Return equal asynchronous jobs of at most 3 + 3 tasks."""
    resources = changed.pop("resources", ("cpu",))
    fields = {
        "name": "one-kind",
        "resources": resources,
        "units": ("core",) * len(resources),
        "capacity": [10.0] * len(resources),
        "jobs": tuple(f"j{j}" for j in range(jobs)),
        "steps": [100.0] * jobs,
        "mode": ("async",) * jobs,
        "theta": [[1.0, 1.0, 0.0, 0.0, 0.0]] * jobs,
        "batch": [0.0] * jobs,
        "worker_demand": [[1.0] * len(resources)] * jobs,
        "ps_demand": [[1.0] * len(resources)] * jobs,
        "max_workers": [3] * jobs,
        "max_ps": [3] * jobs,
    }
    return AllocationInstance(**(fields | changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"steps": [0.0, 0.0]},
        {"worker_demand": [[0.0]] * 2, "ps_demand": [[0.0]] * 2},
        {"ps_demand": [[0.0]] * 2},
        {"max_workers": [1, 1], "max_ps": [1, 1]},
        {"steps": [1e15] * 2, "theta": [[1e15, 1e15, 0.0, 1e15, 0.0]] * 2, "capacity": [7.0]},
        {"steps": [1e15, 1.0], "theta": [[1e-15, 1e15, 0.0, 0.0, 0.0]] * 2, "capacity": [7.0]},
        {"steps": [1e-15] * 2, "theta": [[1e-300, 1e-300, 0.0, 0.0, 0.0]] * 2, "capacity": [7.0]},
        {"capacity": [1e15]},
        {"capacity": [1e15], "worker_demand": [[2e14]] * 2, "ps_demand": [[1e14]] * 2},
        {"capacity": [1e-9], "worker_demand": [[2e-10]] * 2, "ps_demand": [[1e-10]] * 2},
        {
            "capacity": [0.3, 7.0],
            "resources": ("a", "b"),
            "worker_demand": [[0.05, 1.0]] * 2,
            "ps_demand": [[0.1, 0.0]] * 2,
        },
    ],
)
def test_extreme_numbers_are_proven_like_any_other(changed: dict[str, object]) -> None:
    instance = one_kind(**changed)
    result = gangopt.solve(instance)
    assert result.termination == "optimal"
    assert result.objective == pytest.approx(brute_force(instance), rel=1e-9, abs=0)


def test_a_single_job_gets_what_it_can_use() -> None:
    result = gangopt.solve(one_kind(jobs=1, capacity=[100.0]))
    assert (result.solution.workers, result.solution.parameter_servers) == ((3,), (3,))


def test_infeasible_names_resource_and_excess() -> None:
    result = gangopt.solve(one_kind(capacity=[3.5]))
    assert (result.termination, result.solution_status, result.bound) == ("infeasible", "none", None)
    assert result.reason == (
        "resource_capacity: the jobs take at least 4 core of cpu together, 0.5 more than the capacity 3.5"
    )
    both = one_kind(resources=("cpu", "memory"), capacity=[3.5, 1.0])
    assert "at least 2 core of memory, 1 more than the capacity 1" in gangopt.solve(both).reason


CROSSED = {
    "resources": ("cpu", "memory"),
    "mode": ("table", "table"),
    "theta": [[0.0] * 5] * 2,
    "tables": ([[np.nan, np.nan, 5.0], [np.nan] * 3, [5.0, np.nan, np.nan]],),
    "table_labels": ("crossed",),
    "table": [0, 0],
    "worker_demand": [[2.0, 0.0]] * 2,
    "ps_demand": [[0.0, 2.0]] * 2,
}


def test_infeasible_together_names_the_resources_that_conflict() -> None:
    result = gangopt.solve(one_kind(**CROSSED, capacity=[7.0, 7.0]))
    assert result.termination == "infeasible"
    assert result.reason == (
        "resource_capacity: no choice of configurations keeps cpu and memory within capacity together"
    )
    assert gangopt.solve(one_kind(**CROSSED, capacity=[8.0, 8.0])).objective == pytest.approx(40)


def test_infeasible_alone_names_the_job() -> None:
    result = gangopt.solve(one_kind(**CROSSED, capacity=[5.0, 5.0]))
    assert result.termination == "infeasible"
    assert "no allowed configuration of job 0 (j0) fits" in result.reason


def test_out_of_time_keeps_incumbent_and_an_honest_bound() -> None:
    instance = random(jobs=300, max_tasks=10, seed=3)
    best = gangopt.solve(instance)
    early = exact(instance, Controls(time_limit=1e-9))
    assert early.termination == "time_limit"
    assert early.bound <= best.objective <= instance.evaluate(early.solution).objective
    result = gangopt.solve(instance, time_limit=1e-9)
    assert (result.termination, result.solution_status) == ("time_limit", "feasible")


def test_relative_gap_is_enough_to_stop() -> None:
    instance = random(jobs=300, max_tasks=10, seed=3)
    result = gangopt.solve(instance, rel_gap=0.2)
    assert result.termination == "optimal"
    assert 0 < result.rel_gap <= 0.2
    assert result.metrics["core_models"] == 0


def test_start_is_used_and_progress_is_reported() -> None:
    instance = random(jobs=30, load=0.3, seed=5)
    best = gangopt.solve(instance)
    events = []
    again = gangopt.solve(instance, start=best.solution, on_progress=events.append)
    assert again.objective == pytest.approx(best.objective, rel=1e-9)
    assert events[0].objective == pytest.approx(best.objective)
    objectives = [event.objective for event in events if event.objective is not None]
    bounds = [event.bound for event in events if event.bound is not None]
    assert objectives == sorted(objectives, reverse=True)
    assert bounds == sorted(bounds)
    assert again.trajectory[-1][1] == again.objective


def test_interrupted_returns_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gangopt.solvers.allocation.exact.maximise_bound", interrupted)
    outcome = exact(random(jobs=5), Controls())
    assert outcome.termination == "interrupted"
    assert outcome.solution is not None


def test_a_core_too_small_is_made_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random(jobs=20, load=0.6, mode="async", seed=20)
    best = gangopt.solve(instance)
    offer = module._State.offer

    def only_from_cores(state: module._State, solution: object = None, bound: float | None = None) -> None:
        offer(state, solution if state.cores else None, bound)

    monkeypatch.setattr(module, "FIRST_COLUMNS", 1)
    monkeypatch.setattr(module._State, "offer", only_from_cores)
    again = gangopt.solve(instance)
    assert again.termination == "optimal"
    assert again.metrics["core_models"] > 1
    assert again.objective == pytest.approx(best.objective, rel=1e-9)


def test_a_gap_that_stays_open_is_an_error_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    solve_core = module.solve_core

    def with_a_weak_bound(*arguments: object) -> CoreAnswer:
        *model, settings = arguments
        answer = solve_core(*model, dataclasses.replace(settings, on_progress=None))
        return dataclasses.replace(answer, bound=0.5 * answer.bound)

    monkeypatch.setattr(module, "solve_core", with_a_weak_bound)
    instance = random(jobs=20, mode="sync", seed=20)
    outcome = exact(instance, Controls())
    assert (outcome.termination, outcome.reason) == ("error", "the core model ended with a gap above the requested one")
    assert outcome.bound <= instance.evaluate(outcome.solution).objective


@pytest.mark.parametrize("seed", range(4))
def test_every_column_left_out_costs_at_least_the_threshold(seed: int) -> None:
    instance = small_instance(seed + 7000)
    best = brute_force(instance)
    assert best is not None
    grids = PricedGrids(instance)
    selection = maximise_bound(grids).best
    threshold = grids.smallest_reduced_costs(selection, 2)
    columns, reduced = grids.columns_within(selection, threshold)
    assert (reduced <= threshold * (1 + 1e-9)).all()
    kept = set(zip(columns.owner.tolist(), columns.ps.tolist(), columns.workers.tolist(), strict=True))
    for k, members in enumerate(grids.classes):
        j = members[0]
        for p, w in itertools.product(range(1, instance.max_ps[j] + 1), range(1, instance.max_workers[j] + 1)):
            if (k, p, w) not in kept and np.isfinite(instance.completion_time(j, p, w)):
                cost = forced(instance, j, p, w)
                assert cost is None or cost >= min(best, selection.bound + threshold) * (1 - 1e-12)


def forced(instance: AllocationInstance, j: int, p: int, w: int) -> float | None:
    """Return the least objective with job j at (p, w), None if nothing is feasible."""
    best = None
    ranges = [
        itertools.product(range(1, a + 1), range(1, b + 1)) if i != j else [(p, w)]
        for i, (a, b) in enumerate(zip(instance.max_ps.tolist(), instance.max_workers.tolist(), strict=True))
    ]
    for pairs in itertools.product(*map(list, ranges)):
        solution = AllocationSolution(tuple(b for _, b in pairs), tuple(a for a, _ in pairs))
        if not instance.check(solution):
            objective = instance.evaluate(solution).objective
            best = objective if best is None else min(best, objective)
    return best


def _ticking(looks: int) -> Clock:
    """Return a clock that expires at the given look at it."""
    count = itertools.count()
    return Clock(looks, lambda: next(count))


def test_grids_in_parts_price_as_one_and_stop_between_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random(jobs=60, max_tasks=5, seed=1)
    whole = maximise_bound(PricedGrids(instance))
    monkeypatch.setattr("gangopt.solvers.allocation.dual.CELLS_AT_ONCE", 100)
    parts = maximise_bound(PricedGrids(instance))
    assert parts.best.bound == pytest.approx(whole.best.bound, rel=1e-12)
    assert parts.best.ps.tolist() == whole.best.ps.tolist()
    with pytest.raises(OutOfTime):
        PricedGrids(instance, _ticking(5))
    # sixty classes in fifteen parts: the first prices take fifteen looks, the search ends in the midst of the second
    grids = PricedGrids(instance, _ticking(len(whole.best.ps) // 4 - 1 + 40))
    cut_short = maximise_bound(grids)
    assert 1 <= len(cut_short.selections) < len(whole.selections)
    assert cut_short.best.bound <= whole.best.bound
    with pytest.raises(OutOfTime):
        grids.columns_within(cut_short.best, 1.0)
    with pytest.raises(OutOfTime):
        grids.smallest_reduced_costs(cut_short.best, 5)


def test_stopped_in_the_midst_keeps_the_first_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangopt.solvers.allocation.dual.CELLS_AT_ONCE", 100)
    instance = random(jobs=60, max_tasks=5, seed=1)
    outcome = exact(instance, Controls(time_limit=1e-9))
    assert (outcome.termination, outcome.bound, outcome.reason) == ("time_limit", None, "time limit reached")
    assert instance.check(outcome.solution) == []


def test_core_model_is_not_built_without_time(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random(jobs=300, max_tasks=10, seed=3)
    controls = Controls(time_limit=1e9)
    monkeypatch.setattr(Controls, "remaining", lambda _: 1e-9)
    monkeypatch.setattr("gangopt.solvers.allocation.exact.Clock", lambda _: Clock())
    outcome = exact(instance, controls)
    assert outcome.termination == "time_limit"
    assert "columns take longer to build" in str(outcome.reason)
    assert outcome.bound is not None
    assert instance.check(outcome.solution) == []


def test_the_time_to_build_a_core_is_the_difference_of_two_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random(jobs=5, seed=1)
    grids = PricedGrids(instance)
    selection = maximise_bound(grids).best
    columns, reduced = grids.columns_within(selection, math.inf)
    looks: list[float] = []

    def clock() -> float:
        looks.append(time.monotonic())
        return looks[-1]

    monkeypatch.setattr(time, "perf_counter", clock)
    answer = solve_core(instance, columns, reduced, selection, SolveSettings())
    assert answer.build_seconds in {later - looks[0] for later in looks[1:]}
