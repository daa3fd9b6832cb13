import heapq
import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.environ import Block, ConcreteModel, Constraint, Objective, value
from scipy.optimize import linprog

import gangopt
from gangopt.base.errors import InputError, ModelTooLargeError
from gangopt.formulations.schedule import event, slotted, slotted_columns
from gangopt.formulations.schedule._event import time_unit
from gangopt.formulations.schedule._slotted import horizon
from gangopt.formulations.schedule.sets import maximal_sets, packing
from gangopt.instances.schedule.instance import ScheduleInstance
from gangopt.replays.as_heuristics import fifo, las, srsf
from gangopt.solvers.bounds import jct_bound
from gangopt.solvers.highs import solve_model
from gangopt.solvers.solve import solve

FORMS = {
    "event": (event.fill, event.model, event.read, event.hint),
    "slotted": (slotted.fill, slotted.model, slotted.read, slotted.hint),
}


def jobs(rows, n_gpus, *, machines=(), slot=1.0, weight=None):
    arrival, gpus, duration = zip(*rows, strict=True)
    return ScheduleInstance(
        name="t",
        jobs=tuple(f"j{j}" for j in range(len(rows))),
        arrival=arrival,
        gpus=gpus,
        duration=duration,
        weight=weight,
        n_gpus=n_gpus,
        machines=machines,
        slot=slot,
    )


@st.composite
def small(draw, *, most=4, arrivals=True, machines=False, weights=False, slot=1.0):
    sizes = draw(st.sampled_from([(2, 2), (3, 3), (2, 3), (1, 3)])) if machines else ()
    n_gpus = sum(sizes) or draw(st.integers(1, 5))
    count = draw(st.integers(1, most))
    rows = [
        (draw(st.integers(0, 4)) if arrivals else 0, draw(st.integers(1, n_gpus)), draw(st.integers(1, 4)))
        for _ in range(count)
    ]
    weight = [draw(st.integers(1, 3)) for _ in range(count)] if weights else None
    return jobs(rows, n_gpus, machines=sizes, slot=slot, weight=weight)


def fits(instance, chosen):
    """Return whether gangs can run at once, trying every split of each gang over the machines."""
    if not instance.machines:
        return sum(instance.gpus[j] for j in chosen) <= instance.n_gpus
    largest = sorted(instance.machines, reverse=True)
    states = {instance.machines}
    for j in chosen:
        gang = int(instance.gpus[j])
        fewest = next(k for k in range(1, len(largest) + 1) if sum(largest[:k]) >= gang)
        splits = [
            split
            for split in itertools.product(*(range(min(gang, g) + 1) for g in instance.machines))
            if sum(split) == gang and sum(map(bool, split)) <= fewest
        ]
        states = {
            tuple(f - s for f, s in zip(free, split, strict=True))
            for free in states
            for split in splits
            if all(f >= s for f, s in zip(free, split, strict=True))
        }
    return bool(states)


def best_in_slots(instance):
    """Least weighted mean completion time in whole slots of 1 s: shortest path over the work that is left."""
    n, weights = len(instance.jobs), instance.weights.tolist()
    sets = [s for size in range(n + 1) for s in itertools.combinations(range(n), size) if fits(instance, s)]
    start = (0, tuple(int(d) for d in instance.duration))
    queue, seen = [(0.0, start)], set()
    while queue:
        cost, (now, left) = heapq.heappop(queue)
        if (now, left) in seen:
            continue
        seen.add((now, left))
        if not any(left):
            return cost / sum(weights)
        arrived = [j for j in range(n) if instance.arrival[j] <= now]
        waiting = sum(weights[j] for j in arrived if left[j])
        for chosen in sets:
            if all(j in arrived and left[j] for j in chosen):
                after = tuple(w - (j in chosen) for j, w in enumerate(left))
                heapq.heappush(queue, (cost + waiting, (now + 1, after)))
    raise AssertionError("unreachable")


def best_at_any_time(instance):
    """Least mean completion time of jobs that all arrive at 0: a linear program for every order of completion."""
    n = len(instance.jobs)
    sets = [s for size in range(1, n + 1) for s in itertools.combinations(range(n), size) if fits(instance, s)]
    cells = [(k, s) for k in range(n) for s in sets]
    best = np.inf
    for order in itertools.permutations(range(n)):
        position = {j: k for k, j in enumerate(order)}
        costs = [n - k for k, _ in cells]
        rows = [[float(j in s and k <= position[j]) for k, s in cells] for j in range(n)]
        best = min(best, linprog(costs, A_eq=rows, b_eq=instance.duration).fun)
    return best / n


@given(small())
@settings(max_examples=20)
def test_forms_agree_with_the_shortest_path_over_slots(instance):
    best = best_in_slots(instance)
    for form in FORMS:
        assert solve(instance, form=form).objective == pytest.approx(best, abs=1e-9)


@given(small(most=3, machines=True))
@settings(max_examples=15)
def test_forms_agree_with_the_shortest_path_on_machines(instance):
    best = best_in_slots(instance)
    for form in FORMS:
        assert solve(instance, form=form).objective == pytest.approx(best, abs=1e-9)


@given(small(most=3, weights=True))
@settings(max_examples=15)
def test_forms_agree_with_the_shortest_path_under_weights(instance):
    best = best_in_slots(instance)
    for form in FORMS:
        assert solve(instance, form=form).objective == pytest.approx(best, abs=1e-9)


@given(small(arrivals=False, slot=None))
@settings(max_examples=20)
def test_event_agrees_with_a_linear_program_for_every_order(instance):
    assert solve(instance, form="event").objective == pytest.approx(best_at_any_time(instance), abs=1e-7)


def never_above(instance, best):
    bound = jct_bound(instance.arrival, instance.gpus, instance.duration, instance.n_gpus, weight=instance.weights)
    for name, item in bound.bounds.items():
        assert item <= best * (1 + 1e-6), name
    assert bound.mean >= 0.9 * best


@given(small(slot=None))
@settings(max_examples=6)
def test_no_bound_exceeds_the_optimum_at_any_time(instance):
    never_above(instance, solve(instance, form="event").objective)


@given(small(most=3, weights=True))
@settings(max_examples=4)
def test_no_bound_exceeds_the_optimum_under_weights(instance):
    assert solve(instance, form="event").bound <= best_in_slots(instance) * (1 + 1e-9)
    bound = jct_bound(instance.arrival, instance.gpus, instance.duration, instance.n_gpus, weight=instance.weights)
    assert max(bound.bounds.values()) <= best_in_slots(instance) * (1 + 1e-9)


@pytest.mark.slow
@given(small(most=5, slot=None))
@settings(max_examples=150)
def test_no_bound_exceeds_the_optimum_at_any_time_in_many_cases(instance):
    never_above(instance, solve(instance, form="event").objective)


def test_stopping_within_slots_can_be_better():
    rows = [(0, 1, 1)] * 3 + [(0, 2, 2)] * 2
    assert solve(jobs(rows, 2, slot=None), form="event").objective == pytest.approx(13 / 5)
    assert solve(jobs(rows, 2), form="event").objective == pytest.approx(14 / 5)


def test_slotted_refuses_instances_without_a_slot():
    with pytest.raises(InputError, match=r"formulation slotted requires a slot \(t has none\); use formulation event"):
        slotted.model(jobs([(0, 1, 1)], 1, slot=None))


def test_unit_of_time_is_the_slot_or_a_power_of_two():
    assert time_unit(jobs([(0, 1, 1.5)], 1, slot=0.5)) == 0.5
    assert time_unit(jobs([(0, 1, 100.0)], 1, slot=None)) == 128


def test_too_many_sets_are_refused(monkeypatch):
    monkeypatch.setattr("gangopt.formulations.schedule._event.MAX_SETS", 3)
    with pytest.raises(ModelTooLargeError, match="more than 3 sets of jobs can run at once in t"):
        event.model(jobs([(0, 1, 1)] * 4, 2))


def test_too_many_slots_are_refused():
    with pytest.raises(ModelTooLargeError, match="formulation schedule slotted would have"):
        slotted.model(jobs([(0, 1, 10**7)], 1))


def test_maximal_sets_leave_room_for_nobody():
    instance = jobs([(0, 2, 1), (0, 1, 1), (0, 1, 1), (0, 3, 1)], 3)
    assert maximal_sets(instance, (0, 1, 2, 3), 100) == [(0, 1), (0, 2), (1, 2), (3,)]
    assert maximal_sets(instance, (0, 1, 2, 3), 3) is None


@given(small(machines=True))
def test_packing_is_found_just_where_splits_exist(instance):
    everyone = tuple(range(len(instance.jobs)))
    for size in range(1, len(everyone) + 1):
        for chosen in itertools.combinations(everyone, size):
            assert (packing(instance, chosen) is not None) == fits(instance, chosen)


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize(
    "name",
    [
        "schedule/tiresias-figure7",
        "schedule/random?jobs=4&seed=2",
        "schedule/random?jobs=4&gpus=6&machines=2&seed=1",
        "schedule/random?jobs=4&weights=3&seed=5&slot=0.5",
    ],
)
def test_hint_is_feasible_and_worth_what_the_judge_says(form, name):
    instance = gangopt.load(name)
    _, build, read, hint = FORMS[form]
    for policy in (srsf, fifo, las):
        solution = policy(instance)
        model = build(instance)
        hint(model, instance, solution)
        broken = [
            row.name for row in model.component_data_objects(Constraint) if min(row.lslack(), row.uslack()) < -1e-9
        ]
        assert broken == []
        worth = instance.evaluate(solution).objective
        assert value(model.objective_value) == pytest.approx(worth)
        again = read(model, instance)
        assert instance.check(again) == []
        assert instance.evaluate(again).objective <= worth + 1e-9


@pytest.mark.parametrize("form", list(FORMS))
def test_two_blocks_in_one_model_with_a_common_row(form):
    instance = jobs([(0, 1, 2), (0, 1, 1)], 1)
    parent = ConcreteModel()
    fill = FORMS[form][0]
    parent.twin = Block([0, 1], rule=lambda block, _: fill(block, instance))
    # the first job of the one must not complete before 3, that of the other is free
    if form == "event":
        parent.link = Constraint(expr=parent.twin[0].completes["j0", 1] == 0)
    else:
        parent.link = Constraint(expr=parent.twin[0].open["j0", 2] == 1)
    parent.objective = Objective(expr=parent.twin[0].objective_value + parent.twin[1].objective_value)
    solve_model(parent)
    assert value(parent.objective) == pytest.approx(2 + 2)
    parent.link.deactivate()
    parent.fixed = Constraint(expr=parent.twin[1].objective_value >= 2.5)
    solve_model(parent)
    assert value(parent.objective) == pytest.approx(2 + 2.5)


def rows_of(model, tmp_path):
    file = tmp_path / "model.lp"
    model.write(str(file), io_options={"symbolic_solver_labels": True})
    return re.sub(r"\s+", " ", file.read_text())


def test_every_family_of_rows_stands_in_the_lp_file(tmp_path):
    instance = jobs([(0, 2, 1), (1, 1, 2)], 3, machines=(2, 1), weight=[1, 2])
    for build in (event.model, slotted.model):
        model = build(instance)
        text = rows_of(model, tmp_path)
        for family in model.component_objects(Constraint):
            assert f"_{family.local_name}(" in text


def test_rows_of_two_jobs(tmp_path):
    text = rows_of(slotted.model(jobs([(0, 1, 1), (0, 2, 1)], 2)), tmp_path)
    assert "gpu_capacity(0)_: +1 run(j0_0) +2 run(j1_0) <= 2" in text
    assert "work_done(j0)_: +1 run(j0_0) +1 run(j0_1) = 1" in text
    assert "runs_while_open(j0_0)_: -1 open(j0_0) +1 run(j0_0) <= 0" in text
    event_rows = rows_of(event.model(jobs([(0, 1, 1), (0, 2, 1)], 2)), tmp_path)
    assert "one_job_per_position(1)_: +1 completes(j0_1) +1 completes(j1_1) = 1" in event_rows
    assert "work_done(j0_1)_: +1.0 length(1_0_0) -1.0 completes(j0_1) >= 0" in event_rows


def test_horizon_holds_an_optimal_schedule_and_is_no_longer_than_needed():
    one_by_one = jobs([(0, 2, 3), (0, 2, 4)], 2)
    assert horizon(one_by_one) == 7
    many = jobs([(2, 1, 3)] * 10, 10)
    assert horizon(many) == 2 + 3 + 3
    assert slotted_columns(many) == 10 * 6 * 2
    assert horizon(jobs([(2, 1, 3)] * 10, 10, machines=(5, 5))) == 2 + 30
