"""The exact method of `placement`: proofs, honest bounds when stopped, starts, and its parts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gangopt
from gangopt.formulations.placement_data import PlacementData, levels_of
from gangopt.solvers.contract import Controls
from gangopt.solvers.exact import placement as method
from gangopt.solvers.exact.placement_bound import LevelsBound, levels_within
from gangopt.solvers.exact.placement_neighbourhoods import neighbourhood_of
from gangopt.solvers.heuristics.placement import optimus, pack
from gangopt.solvers.highs import SolveSettings

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
    instance = dataclasses.replace(
        gangopt.load("placement/optimus-figure10"), capacity=np.zeros((3, 1)), name="placement/nothing"
    )
    result = gangopt.solve(instance)
    assert (result.objective, result.bound, result.metrics["jobs_paused"]) == (0.0, 0.0, 1)
    assert result.solution.reasons == ("no server is large enough for one of its parameter servers",)
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
    monkeypatch.setattr(method, "PART_SECONDS", 0.3)
    instance = gangopt.load("placement/random?servers=13&jobs=9&load=0.97&seed=0")
    result = gangopt.solve(instance)
    assert result.objective < gangopt.solve(instance, "pack").objective
    assert result.bound < result.objective
    assert (result.termination, result.solution_status) == ("completed", "feasible")
    assert result.reason == "no part improves the placement, and form pieces is too large to prove it"


def test_controls_without_time_stop_before_the_first_solve():
    instance = gangopt.load(OPEN)
    outcome = method.exact(instance, Controls(time_limit=1e-9))
    assert outcome.termination == "time_limit"
    assert outcome.bound is None
    assert instance.check(outcome.solution) == []
