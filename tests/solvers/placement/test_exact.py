"""The exact method of `placement`: proofs, honest bounds when stopped, starts, and its parts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gangopt
from gangopt.formulations.placement import Pieces
from gangopt.formulations.placement.data import PlacementData, levels_of
from gangopt.formulations.placement.focus import BLIND, UNITS, focus, in_seconds
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.highs import SolverOutcome, SolveSettings, solve_model
from gangopt.solvers.placement import exact as method
from gangopt.solvers.placement import search as placement_search
from gangopt.solvers.placement.bound import LevelsBound, levels_within, sum_alone
from gangopt.solvers.placement.heuristics import optimus, pack
from gangopt.solvers.placement.neighbourhoods import neighbourhood_of
from gangopt.topology import State

OPEN = "placement/random?servers=60&jobs=30&load=0.99&seed=3"
"""Not proven in a second."""


@pytest.mark.parametrize(
    "name",
    [
        "placement/random?servers=13&jobs=9&load=0.75&bandwidth=mixed&seed=1",
        "placement/random?servers=13&jobs=9&load=0.75&charge=hosts&seed=2",
        "placement/random?servers=13&jobs=9&load=0.9&tasks=paper&seed=3",
        "placement/random?servers=5&jobs=4&load=1.0&seed=4",
    ],
)
def test_the_method_agrees_with_the_per_server_form(name):
    instance = gangopt.load(name)
    result = gangopt.solve(instance)
    assert result.termination == result.solution_status == "optimal"
    whole = gangopt.solve(instance, form="pieces")
    assert whole.termination == "optimal"
    assert result.objective == pytest.approx(whole.objective, rel=1e-9)


@pytest.mark.parametrize("tasks", ["small", "paper"])
def test_fifty_servers_are_proven_and_no_rule_is_better(tasks):
    instance = gangopt.load(f"placement/random?servers=50&jobs=30&load=0.75&tasks={tasks}&seed=5")
    result = gangopt.solve(instance)
    assert result.termination == "optimal"
    for rule in ("optimus", "spread", "pack", "random"):
        assert gangopt.solve(instance, rule).objective >= result.bound


def test_the_same_seed_gives_the_same_placement():
    instance = gangopt.load("placement/random?servers=30&jobs=18&load=0.9&seed=2")
    assert gangopt.solve(instance, seed=4).solution == gangopt.solve(instance, seed=4).solution


def test_a_time_limit_leaves_a_placement_and_a_bound():
    instance = gangopt.load(OPEN)
    seen = []
    result = gangopt.solve(instance, time_limit=2, on_progress=seen.append)
    assert result.termination == "time_limit"
    assert result.bound <= result.objective
    assert result.objective <= gangopt.solve(instance, "optimus").objective
    assert seen
    assert [event.objective for event in seen] == sorted((event.objective for event in seen), reverse=True)
    assert result.seconds.total < 10


def test_a_start_is_never_lost():
    instance = gangopt.load(OPEN)
    start = gangopt.solve(instance, time_limit=3).solution
    again = gangopt.solve(instance, time_limit=0.001, start=start)
    assert again.objective <= instance.evaluate(start).objective


def test_a_gap_is_enough_if_it_was_asked_for():
    instance = gangopt.load("placement/random?servers=13&jobs=9&load=0.97&seed=0")
    result = gangopt.solve(instance, rel_gap=10.0)
    assert result.solution_status == "optimal"
    assert result.rel_gap <= 10.0


def test_ctrl_c_returns_what_is_known(monkeypatch):
    instance = gangopt.load("placement/random?servers=13&jobs=9&load=0.97&seed=0")

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(method, "_repair", stopped)
    result = gangopt.solve(instance)
    assert result.termination == "interrupted"
    assert instance.check(result.solution) == []
    assert result.bound is not None


def test_everything_may_be_paused():
    instance = gangopt.load("placement/optimus-figure10")
    state = State(instance.cluster)
    for machine in instance.machines:
        state.close(machine)
    instance = dataclasses.replace(instance, state=state, name="placement/nothing")
    result = gangopt.solve(instance)
    assert (result.objective, result.bound, result.metrics["jobs_paused"]) == (0.0, 0.0, 1)
    assert result.solution.reasons == ("no machine is large enough for one of its parameter servers",)
    for form in ("tasks", "pieces", "levels"):
        assert gangopt.solve(instance, form=form).objective == 0.0


def test_levels_beyond_a_known_placement_are_left_out_but_not_the_optimum():
    instance = gangopt.load("placement/random?servers=13&jobs=9&load=0.9&tasks=paper&seed=0")
    data = PlacementData.of(instance)
    levels = [levels_of(job, data.classes) for job in data.jobs]
    objective = instance.evaluate(optimus(instance)).objective
    kept = levels_within(instance, data, levels, objective)
    assert sum(map(len, kept)) < sum(map(len, levels))
    best = gangopt.solve(instance)
    times = instance.transfer_times(best.solution)
    for j, pieces in enumerate(best.solution.pieces):
        assert not pieces or times[j] in [level.time for level in kept[j]]
    assert levels_within(instance, data, levels, instance.pause_cost) == levels


def test_variations_keep_the_levels_and_the_tasks():
    instance = gangopt.load("placement/random?servers=13&jobs=9&load=0.9&seed=1")
    data = PlacementData.of(instance)
    bound = LevelsBound(instance, data, [levels_of(job, data.classes) for job in data.jobs])
    outcome, choice = bound.solve(SolveSettings())
    assert outcome.termination == "optimal"
    varied = bound.vary(choice, np.random.default_rng(1), SolveSettings())
    assert varied.limits == choice.limits
    assert varied.pieces != choice.pieces
    for job in data.jobs:
        assert sum(piece[1] for piece in varied.pieces[job.index]) == job.ps
        assert sum(piece[2] for piece in varied.pieces[job.index]) == job.workers


def test_a_part_sees_only_what_the_others_leave_free():
    instance = gangopt.load("placement/random?servers=13&jobs=9&load=0.9&seed=1")
    solution = pack(instance)
    held = {j: pieces for j, pieces in enumerate(solution.pieces) if pieces}
    part = neighbourhood_of(instance, held, [0, 3], beside=2)
    used = {piece[0] for j in (0, 3) for piece in held[j]}
    assert used <= set(part.servers)
    assert len(part.servers) == min(13, len(used) + 2)
    outcome, found = part.better(SolveSettings(time_limit=20), held)
    assert outcome.termination == "optimal"
    changed = {**held, **found}
    pieces = tuple(changed.get(j, ()) for j in range(9))
    again = type(solution)(pieces, tuple("" if item else "paused" for item in pieces))
    assert instance.check(again) == []
    assert instance.evaluate(again).objective <= instance.evaluate(solution).objective


def test_missing_jobs_are_placed_at_their_levels(monkeypatch):
    # packing finds only part of the jobs when the pieces of the others are withheld; repair has to place these
    instance = gangopt.load("placement/random?servers=13&jobs=9&load=0.75&seed=0")
    best = gangopt.solve(instance)
    real = method.pack_pieces

    def some(data, pieces, rng):
        return {j: items for j, items in real(data, pieces, rng).items() if j > 1}

    monkeypatch.setattr(method, "pack_pieces", some)
    monkeypatch.setattr(method, "VARIATIONS", 0)
    repaired = gangopt.solve(instance)
    assert repaired.termination == "optimal"
    assert repaired.objective == pytest.approx(best.objective, rel=1e-9)


def test_parts_improve_a_placement_of_a_large_cluster(monkeypatch):
    # as if the cluster were large: no proof as a whole
    monkeypatch.setattr(method, "SMALL", 0)
    monkeypatch.setattr(method, "prove", lambda search: None)
    monkeypatch.setattr(method, "FREE_ROUNDS", 4)
    monkeypatch.setattr(placement_search, "PART_NODES", 5)
    instance = gangopt.load("placement/random?servers=13&jobs=9&load=0.97&seed=0")
    result = gangopt.solve(instance)
    assert result.objective < gangopt.solve(instance, "pack").objective
    assert result.bound < result.objective
    assert (result.termination, result.solution_status) == ("completed", "feasible")
    assert (
        result.reason
        == "no neighbourhood improves the placement, and formulation pieces is too large to prove it optimal"
    )


def test_controls_without_time_stop_before_the_first_solve():
    instance = gangopt.load(OPEN)
    outcome = method.exact(instance, Controls(time_limit=1e-9))
    assert outcome.termination == "time_limit"
    data = PlacementData.of(instance)
    assert outcome.bound == sum_alone(instance, data, [levels_of(job, data.classes) for job in data.jobs])
    assert "levels_bound" not in outcome.metrics
    assert instance.check(outcome.solution) == []


def of_many_magnitudes(capacity, jobs, ps_demand, worker_demand, **fields):
    """Return jobs (p, w) whose times are many orders of magnitude apart."""
    return PlacementInstance.from_machines(
        name="test",
        resources=("slots",),
        units=("task",),
        machines=tuple(f"s{k}" for k in range(len(capacity))),
        capacity=np.array(capacity, dtype=float)[:, None],
        jobs=tuple(f"j{j}" for j in range(len(jobs))),
        parameter_servers=np.array([p for p, _ in jobs]),
        workers=np.array([w for _, w in jobs]),
        ps_demand=np.array(ps_demand, dtype=float)[:, None],
        worker_demand=np.array(worker_demand, dtype=float)[:, None],
        **{name: np.array(value) if isinstance(value, list) else value for name, value in fields.items()},
    )


def large_charge():
    """Return three jobs of which two fit one server: 0.168 s if they are the first and the last, else 4 million s."""
    return of_many_magnitudes(
        [31],
        [(1, 3), (1, 3), (3, 4)],
        [1, 2, 3],
        [3, 3, 3],
        size=[1.2, 1.5e-4, 0.09],
        ps_bandwidth=[0.127, 1.75, 7.67],
        worker_bandwidth=[5.3e-4, 0.137, 104.9],
        steps=[0.00174, 184.4, 0.00164],
        compute=[96.3, 24318.0, 0.00132],
        objective="completion",
    )


def test_a_charge_for_pausing_far_above_the_times_leaves_the_bound_sharp():
    result = gangopt.solve(large_charge())
    assert result.solution.paused == (1,)
    assert result.objective == pytest.approx(0.00174 * 96.3 + 0.00164 * 0.00132, rel=1e-12)
    assert (result.solution_status, result.bound) == ("optimal", pytest.approx(result.objective, rel=1e-9))


def test_a_second_beside_tenths_of_milliseconds_has_a_bound_that_is_not_above_it():
    # all fit; the first job, split as (2, 4) and (1, 0) or the like, sends a third of 32 MB to its workers at 8.5 MB/s
    instance = of_many_magnitudes(
        [17, 17],
        [(3, 4), (1, 3), (1, 1), (2, 1)],
        [2, 1, 0, 0],
        [3, 3, 2, 3],
        size=[32.0, 0.00048, 0.0051, 0.0035],
        ps_bandwidth=[150.0, 13000.0, 0.33, 69.0],
        worker_bandwidth=[8.5, 9300.0, 29.0, 0.05],
    )
    result = gangopt.solve(instance)
    assert result.objective == pytest.approx(32 * 1 / (3 * 8.5), rel=1e-9)
    assert result.bound == pytest.approx(result.objective, rel=1e-9)


def test_nanoseconds_beside_hours_are_not_passed_over():
    # the second job can be whole on one server, and 1e-9 s is less than the solver sees beside the others
    instance = of_many_magnitudes(
        [6, 8, 7],
        [(2, 4), (3, 4), (2, 1)],
        [3, 0, 1],
        [0, 2, 0],
        size=[38152.4, 1.02e-4, 4.33],
        ps_bandwidth=[2229.6, 57178.6, 1409.2],
        worker_bandwidth=[278.3, 15563.0, 1.22e-4],
    )
    result = gangopt.solve(instance)
    assert (result.objective, result.bound, result.solution_status) == (0.0, 0.0, "optimal")


def test_a_model_in_focus_has_the_same_optimum_without_the_charge():
    instance = large_charge()
    best = gangopt.solve(instance).objective
    model = Pieces().model(instance)
    unit = focus(model, instance, 2 * best, 0.0)
    assert unit == 2 * best / UNITS
    assert solve_model(model).objective * unit == pytest.approx(best, rel=1e-9)
    assert sum(round(item.value) for item in model.paused.values()) == instance.fewest_paused
    # a placement that pauses more leaves the number of paused jobs open, and the charge in place
    other = Pieces().model(instance)
    unit = focus(other, instance, instance.pause_cost + best, best)
    assert other.component("fewest_paused") is None
    assert solve_model(other).objective * unit == pytest.approx(best, abs=1e-9 * instance.pause_cost)


def test_a_model_of_ordinary_numbers_is_left_alone():
    instance = gangopt.load("placement/optimus-testbed")
    model = Pieces().model(instance)
    before = str(model.objective.expr)
    assert focus(model, instance, 1.0, 0.9) is None
    assert str(model.objective.expr) == before
    assert in_seconds(1e-3, None) == 1e-3


def test_a_bound_far_below_the_known_objective_loses_what_the_solver_may_not_see():
    assert in_seconds(UNITS, 0.5) == UNITS / 2
    assert in_seconds(1.0, 0.5) == (1 - BLIND) / 2


def test_jobs_alone_bound_the_placement_with_the_charge_for_those_that_fit_nowhere():
    instance = large_charge()
    data = PlacementData.of(instance)
    levels = [levels_of(job, data.classes) for job in data.jobs]
    # by counting two can be placed: the two that cost least
    assert sum_alone(instance, data, levels) == pytest.approx(0.00174 * 96.3 + 0.00164 * 0.00132)
    assert sum_alone(instance, data, [levels[0], [], []]) == pytest.approx(0.00174 * 96.3 + instance.pause_cost)


def test_a_far_better_placement_is_bounded_again_in_its_own_units(monkeypatch):
    # the rules of the start pause as many, for 4 million s
    known = []
    real = method.LevelsBound

    def noted(instance, data, levels, of_known):
        known.append(of_known[0])
        return real(instance, data, levels, of_known)

    monkeypatch.setattr(method, "LevelsBound", noted)
    monkeypatch.setattr(method, "sum_alone", lambda *_: 0.0)
    assert gangopt.solve(large_charge()).solution_status == "optimal"
    assert len(known) == 2
    assert known[1] < 1e-6 * known[0]


def test_levels_of_many_jobs_stop_at_the_clock(monkeypatch):
    monkeypatch.setattr(method, "JOBS_AT_ONCE", 5)
    monkeypatch.setattr(method, "pack", None)
    instance = gangopt.load(OPEN)
    outcome = method.exact(instance, Controls(time_limit=1e-9))
    assert (outcome.termination, outcome.bound) == ("time_limit", None)
    assert instance.check(outcome.solution) == []


def search_for(name, **controls):
    instance = gangopt.load(name)
    data = PlacementData.of(instance)
    return placement_search.Search(
        instance=instance, controls=Controls(**controls), data=data, rng=np.random.default_rng(0)
    )


def test_without_a_time_limit_no_solve_has_one():
    search = search_for("placement/optimus-testbed")
    assert search.settings().time_limit is None
    assert search.part_settings().time_limit is None
    assert search.part_settings().options == {"mip_max_nodes": placement_search.PART_NODES}
    assert search_for("placement/optimus-testbed", time_limit=9.0).part_settings().time_limit <= 2.0


def test_without_a_time_limit_the_answer_does_not_depend_on_the_clock(monkeypatch):
    monkeypatch.setattr(method, "SMALL", 0)
    monkeypatch.setattr(method, "FREE_ROUNDS", 1)
    monkeypatch.setattr(method, "ROUNDS", 3)
    monkeypatch.setattr(method, "VARIATIONS", 2)
    monkeypatch.setattr(method, "prove", lambda search: None)
    monkeypatch.setattr(placement_search, "PART_NODES", 5)
    instance = gangopt.load("placement/random?servers=10&jobs=7&load=0.97&seed=0")
    plainly = gangopt.solve(instance)
    slow = iter(range(0, 10**9, 1000))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(slow)))
    slowly = gangopt.solve(instance)
    assert (slowly.solution, slowly.bound) == (plainly.solution, plainly.bound)


@pytest.mark.parametrize(
    ("termination", "nodes", "columns", "quick"),
    [
        ("optimal", 50, 4000, True),
        ("optimal", 51, 4000, False),
        ("optimal", 50, 4001, False),
        ("infeasible", None, None, True),
        ("time_limit", 1, 10, False),
        ("interrupted", 1, 10, False),
    ],
)
def test_parts_grow_while_they_are_solved_within_few_nodes(termination, nodes, columns, quick):
    values = None if columns is None else np.zeros(columns)
    outcome = SolverOutcome(termination, "none", None, None, values, 0.0, (), "highs", "", {}, nodes=nodes)
    assert placement_search.was_quick(outcome) is quick


def test_a_part_that_runs_out_of_nodes_is_no_interrupt():
    search = search_for("placement/optimus-testbed")
    cut = SolverOutcome("interrupted", "none", None, None, None, 0.0, (), "highs", "", {}, nodes=500)
    search.seen(cut)
    with pytest.raises(KeyboardInterrupt):
        search.seen(dataclasses.replace(cut, nodes=499))


def test_a_model_in_which_highs_would_overrun_the_limit_is_not_begun(monkeypatch):
    monkeypatch.setattr("gangopt.solvers.core.clock.ALLOWED_SECONDS", 0.0)
    assert search_for("placement/optimus-testbed").is_watched(10**9)
    search = search_for("placement/optimus-testbed", time_limit=30.0)
    assert search.is_watched(100_000)
    assert not search.is_watched(100_001)
    monkeypatch.setattr("gangopt.solvers.core.clock.ALLOWED_SHARE", 0.0)
    monkeypatch.setattr(method, "FREE_ROUNDS", 1)
    monkeypatch.setattr(placement_search, "PART_NODES", 5)
    monkeypatch.setattr(LevelsBound, "solve", lambda *_: pytest.fail("form levels was begun"))
    instance = gangopt.load("placement/random?servers=10&jobs=7&load=0.97&seed=0")
    result = gangopt.solve(instance, time_limit=600)
    assert result.termination == "completed"
    assert result.bound <= result.objective <= gangopt.solve(instance, "pack").objective


@pytest.mark.parametrize("ending", ["infeasible", "error", "time_limit", "optimal", "unbounded"])
def test_only_an_interrupt_ends_the_method(ending):
    search = search_for("placement/optimus-testbed")
    try:
        search.seen(SolverOutcome(ending, "none", None, None, None, 0.0, (), "highs", "9", {}))
    except KeyboardInterrupt:
        pytest.fail(f"{ending} was taken for Ctrl-C")
    assert search.version == "9"


def test_a_job_takes_longer_than_alone_if_its_slowest_piece_does():
    search = search_for("placement/optimus-figure10")
    search.levels = [levels_of(job, search.data.classes) for job in search.data.jobs]
    least = search.levels[0][0].time
    # 2 parameter servers and 4 workers: one piece at the least time beside one that is slower
    slow, fast = ((0, 1, 1), (1, 1, 3)), ((0, 1, 2), (1, 1, 2))
    costs = [search.data.jobs[0].cost(piece[1:]) for piece in slow]
    assert min(costs) <= least < max(costs)
    assert method._longer_than_alone(search, {0: slow}) == [0]
    assert method._longer_than_alone(search, {0: fast}) == []
    assert method._longer_than_alone(search, {}) == [0]
