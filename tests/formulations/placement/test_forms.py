"""Forms `tasks`, `pieces` and `levels` of `placement`: brute force, readable rows, blocks inside other models."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyomo.environ import Block, ConcreteModel, Constraint, Objective, TransformationFactory, minimize, value

import gangopt
from gangopt.base.errors import ModelTooLargeError
from gangopt.formulations.placement import levels
from gangopt.formulations.placement._tasks import transfer_big_m
from gangopt.formulations.placement.data import PlacementData, ServerClass, levels_of
from gangopt.formulations.placement.fixed_levels import fixed_levels_model, read_fixed_levels
from gangopt.formulations.placement.packing import pack_pieces
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.solvers.highs import solve_model
from gangopt.solvers.placement.heuristics import pack

FORMS = {name: gangopt.problems["placement"].form(name) for name in gangopt.problems["placement"].forms}


def make(slots, jobs, charge="tasks", **changes):
    """Return jobs (p, w) of unit tasks and unit transfers on servers of a number of tasks."""
    J = len(jobs)
    fields = {
        "name": "test",
        "resources": ("slots",),
        "units": ("task",),
        "machines": tuple(f"s{k}" for k in range(len(slots))),
        "capacity": np.array(slots, dtype=float)[:, None],
        "jobs": tuple(f"j{j}" for j in range(J)),
        "parameter_servers": np.array([p for p, _ in jobs]),
        "workers": np.array([w for _, w in jobs]),
        "ps_demand": np.ones((J, 1)),
        "worker_demand": np.ones((J, 1)),
        "size": np.array([float(p) for p, _ in jobs]),
        "ps_bandwidth": np.ones(J),
        "worker_bandwidth": np.ones(J),
        "charge": charge,
    }
    return PlacementInstance.from_machines(**{**fields, **changes})


@st.composite
def small_instances(draw):
    J, K, R = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 2))

    def table(rows, low, high):
        return np.array([[float(draw(st.integers(low, high))) for _ in range(R)] for _ in range(rows)])

    def column(low, high):
        return np.array([float(draw(st.integers(low, high))) for _ in range(J)])

    return make(
        [1] * K,
        [(draw(st.integers(1, 2)), draw(st.integers(1, 3))) for _ in range(J)],
        draw(st.sampled_from(["tasks", "hosts"])),
        resources=("cpu", "disk")[:R],
        units=("core", "GPU")[:R],
        capacity=table(K, 1, 6),
        ps_demand=table(J, 0, 2),
        worker_demand=table(J, 0, 2),
        size=column(1, 4),
        ps_bandwidth=column(1, 2),
        worker_bandwidth=column(1, 2),
        steps=column(1, 3),
        compute=column(0, 2),
        pause_charge=column(0, 9),
        objective=draw(st.sampled_from(["transfer", "completion"])),
    )


def splits(total, servers):
    if servers == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in splits(total - first, servers - 1):
            yield (first, *rest)


def layouts(instance, j):
    """Return every placement of a job alone, with what it takes."""
    K = len(instance.machines)
    for ps in splits(int(instance.parameter_servers[j]), K):
        for workers in splits(int(instance.workers[j]), K):
            need = np.outer(ps, instance.ps_millionths[j]) + np.outer(workers, instance.worker_millionths[j])
            if (need <= instance.capacity_millionths).all():
                yield tuple((k, ps[k], workers[k]) for k in range(K) if ps[k] + workers[k]), need


def brute_force(instance):
    """Return the least objective over all placements."""
    best = float("inf")
    nothing = ((), np.zeros_like(instance.capacity_millionths))
    for chosen in itertools.product(*([nothing, *layouts(instance, j)] for j in range(len(instance.jobs)))):
        if (sum(need for _, need in chosen) <= instance.capacity_millionths).all():
            pieces = tuple(item[0] for item in chosen)
            solution = PlacementSolution(pieces, tuple("" if item else "paused" for item in pieces))
            best = min(best, instance.evaluate(solution).objective)
    return best


@settings(max_examples=25)
@given(small_instances())
def test_forms_and_the_exact_method_have_the_optimum_of_brute_force(instance):
    best = brute_force(instance)
    for form in ("tasks", "pieces"):
        result = gangopt.solve(instance, form=form)
        assert result.solution_status == "optimal"
        assert result.objective == pytest.approx(best, abs=1e-9)
    assert gangopt.solve(instance, form="levels").bound <= best + 1e-7
    result = gangopt.solve(instance)
    assert result.solution_status == "optimal"
    assert result.objective == pytest.approx(best, abs=1e-9)


@st.composite
def of_many_magnitudes(draw):
    instance = draw(small_instances())

    def column():
        return np.array([10.0 ** draw(st.integers(-4, 5)) for _ in instance.jobs])

    names = ("size", "ps_bandwidth", "worker_bandwidth", "steps", "compute", "pause_charge")
    return dataclasses.replace(instance, **{name: column() for name in names})


@settings(max_examples=30)
@given(of_many_magnitudes())
def test_the_exact_method_is_exact_over_many_orders_of_magnitude(instance):
    result = gangopt.solve(instance)
    assert result.solution_status == "optimal"
    assert result.objective == pytest.approx(brute_force(instance), rel=1e-9, abs=1e-12)


@settings(max_examples=12, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(of_many_magnitudes())
def test_forms_alone_are_exact_over_many_orders_of_magnitude(instance):
    best = brute_force(instance)
    for form in ("tasks", "pieces"):
        result = gangopt.solve(instance, form=form)
        assert result.solution_status == "optimal"
        assert result.objective == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert gangopt.solve(instance, form="levels").bound <= best * (1 + 1e-9) + 1e-12


def of_unit_tasks(capacity, jobs, **fields):
    """Return jobs (p, w) of tasks that take one of both resources."""
    ones = np.ones((len(jobs), 2))
    names = {"resources": ("cpu", "memory"), "units": ("core", "GB")}
    return make([1] * len(capacity), jobs, capacity=capacity, ps_demand=ones, worker_demand=ones, **names, **fields)


@pytest.mark.parametrize("form", [None, *FORMS])
def test_half_a_second_is_proven_by_every_form(form):
    # the solver left a transfer time a nanosecond short, and the solution worse than the bound by 2.4e-9
    instance = of_unit_tasks(
        [[4.0, 4], [0, 1], [3, 2], [2, 3]],
        [(3, 1), (2, 1)],
        size=[7.809742517038888, 85.52064542397557],
        ps_bandwidth=[10.0, 1],
        worker_bandwidth=[10, 0.5],
    )
    result = gangopt.solve(instance, form=form)
    assert result.termination == "optimal"
    assert result.objective == pytest.approx(0.5206495011, abs=1e-10)


@st.composite
def unit_tasks(draw):
    K, J = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return of_unit_tasks(
        rng.integers(0, 6, (K, 2)).astype(float),
        list(zip(rng.integers(1, 4, J).tolist(), rng.integers(1, 4, J).tolist(), strict=True)),
        size=10.0 ** rng.uniform(-2, 5) * rng.uniform(0.5, 1, J),
        ps_bandwidth=rng.choice([1.0, 10], J),
        worker_bandwidth=rng.choice([0.5, 1, 10], J),
        steps=10.0 ** rng.uniform(0, 4, J),
        compute=10.0 ** rng.uniform(-3, 1, J),
        pause_charge=rng.choice([0.0, 1], J) * 10.0 ** rng.uniform(0, 6, J),
        objective=draw(st.sampled_from(["transfer", "completion"])),
        charge=draw(st.sampled_from(["tasks", "hosts"])),
    )


@settings(max_examples=20)
@given(unit_tasks())
def test_no_form_solved_alone_ends_as_an_error(instance):
    best = gangopt.solve(instance).objective
    for form in FORMS:
        result = gangopt.solve(instance, form=form)
        assert result.termination in (("optimal", "completed") if form == "levels" else ("optimal",))
        assert form == "levels" or result.objective == pytest.approx(best, rel=1e-9, abs=1e-12)


@settings(max_examples=40)
@given(small_instances(), st.data())
def test_the_first_level_is_the_least_transfer_time_alone(instance, data):
    j = data.draw(st.integers(0, len(instance.jobs) - 1))
    alone = []
    for pieces, _ in layouts(instance, j):
        held = [()] * len(instance.jobs)
        held[j] = pieces
        solution = PlacementSolution(tuple(held), tuple("" if item else "paused" for item in held))
        alone.append(instance.transfer_times(solution)[j])
    whole = PlacementData.of(instance)
    mine = levels_of(whole.jobs[j], whole.classes)
    assert min(alone, default=None) == (mine[0].time if mine else None)
    assert {level.time for level in mine} >= set(alone)


@settings(max_examples=25)
@given(small_instances())
def test_a_hinted_placement_satisfies_every_form_with_its_own_objective(instance):
    solution = pack(instance)
    for form in FORMS.values():
        model = form.model(instance)
        form.hint(model, instance, solution)
        for row in model.component_data_objects(Constraint, active=True):
            assert row.slack() >= -1e-9, row.name
        assert value(model.objective_value) == pytest.approx(instance.evaluate(solution).objective)
        if form.name != "levels":
            assert form.read(model, instance).pieces == solution.pieces


@pytest.mark.parametrize("form", ["tasks", "pieces"])
def test_a_start_is_accepted(form):
    instance = gangopt.load("placement/optimus-figure10")
    start = gangopt.solve(instance, "spread").solution
    assert gangopt.solve(instance, form=form, start=start).objective == 2.0


def test_relaxations_are_ordered():
    instance = gangopt.load("placement/random?servers=4&jobs=3&load=0.9&tasks=paper&seed=1")
    bounds = {}
    for name, form in FORMS.items():
        model = form.model(instance)
        TransformationFactory("core.relax_integer_vars").apply_to(model)
        bounds[name] = solve_model(model).objective
    best = gangopt.solve(instance).objective
    assert bounds["tasks"] <= bounds["pieces"] + 1e-9
    assert bounds["pieces"] <= bounds["levels"] + 1e-9
    assert bounds["levels"] <= best + 1e-9


def test_dual_feasible_rows_know_that_two_large_tasks_do_not_share_a_server():
    # four tasks of 3 cores and two small ones need 15 cores in sum, and three servers of 5 have 15
    demands = {"ps_demand": np.array([[3.0], [3.0], [1.0]]), "worker_demand": np.array([[3.0], [3.0], [2.0]])}
    model = levels.model(make([5, 5, 5], [(1, 1)] * 3, **demands))
    solve_model(model)
    assert value(sum(model.paused.values())) == 1
    model.dual_feasible_capacity.deactivate()
    solve_model(model)
    assert value(sum(model.paused.values())) == 0


def test_rows_of_tasks():
    model = FORMS["tasks"].model(make([3, 3], [(1, 3)], charge="hosts"))
    text = {item.name: str(item.expr) for item in model.component_data_objects(Constraint)}
    assert text["place_all_parameter_servers[0]"] == (
        "parameter_servers_on[0,s0] + parameter_servers_on[0,s1]  ==  placed[0]"
    )
    assert text["place_all_workers[0]"] == "workers_on[0,s0] + workers_on[0,s1]  ==  3*placed[0]"
    assert text["machine_capacity[s1,slots]"] == "parameter_servers_on[0,s1] + workers_on[0,s1]  <=  3"
    assert text["parameter_server_present[0,s1]"] == "parameter_servers_on[0,s1]  <=  has_parameter_server[0,s1]"
    assert text["worker_present[0,s1]"] == "workers_on[0,s1]  <=  3*has_worker[0,s1]"
    # 3 s to all workers, 2 s is the least: the constant is 1; all times 2^14, which brings 3 s to about 2^16
    assert text["parameter_server_transfer[0,s1]"] == (
        "16384.0*(3*placed[0] - workers_on[0,s1] - (1 - has_parameter_server[0,s1]))  <=  16384.0*transfer_time[0]"
    )
    assert text["worker_transfer[0,s1]"] == (
        "16384.0*(placed[0] - parameter_servers_on[0,s1] - 0.0*(1 - has_worker[0,s1]))  <=  16384.0*transfer_time[0]"
    )
    assert text["least_transfer_time[0]"] == "32768.0*placed[0]  <=  16384.0*transfer_time[0]"
    assert text["hosts_charged_alike[0,s1]"] == "has_parameter_server[0,s1]  ==  has_worker[0,s1]"
    assert {name.partition("[")[0] for name in text} == {
        item.local_name for item in model.component_objects(Constraint)
    }


def test_constant_of_a_transfer_row_and_its_origin():
    (job,) = PlacementData.of(make([3, 3], [(1, 3)])).jobs
    assert transfer_big_m(job, 1.0, "parameter_server") == (
        2.0,
        "job 0: 3 s for a parameter_server with none of the others, less the least time 1 s",
    )
    assert transfer_big_m(job, 1.0, "worker").value == 0.0


def test_rows_of_pieces():
    model = FORMS["pieces"].model(make([2, 2], [(1, 2)]))
    text = {item.name: str(item.expr) for item in model.component_data_objects(Constraint)}
    assert text["one_level_per_job[0]"] == "level[0,0] + level[0,1] + paused[0]  ==  1"
    assert text["place_all_parameter_servers[0]"] == (
        "piece[0,s0,1,0] + piece[0,s0,1,1] + piece[0,s1,1,0] + piece[0,s1,1,1] + paused[0]  ==  1"
    )
    assert text["place_all_workers[0]"] == (
        "piece[0,s0,0,1] + 2*piece[0,s0,0,2] + piece[0,s0,1,1] + "
        "piece[0,s1,0,1] + 2*piece[0,s1,0,2] + piece[0,s1,1,1] + 2*paused[0]  ==  2"
    )
    assert text["one_piece_per_machine[0,s1]"] == (
        "piece[0,s1,0,1] + piece[0,s1,0,2] + piece[0,s1,1,0] + piece[0,s1,1,1] + paused[0]  <=  1"
    )
    assert text["piece_within_level[0,s1,0]"] == "piece[0,s1,1,0] - level[0,1]  <=  0"
    assert text["machine_capacity[s1,slots]"] == (
        "piece[0,s1,0,1] + 2*piece[0,s1,0,2] + piece[0,s1,1,0] + 2*piece[0,s1,1,1]  <=  2"
    )
    assert {name.partition("[")[0] for name in text} == {
        item.local_name for item in model.component_objects(Constraint)
    }


def test_rows_of_levels():
    model = levels.model(make([2, 2], [(1, 2)]))
    text = {item.name: str(item.expr) for item in model.component_data_objects(Constraint)}
    assert text["one_level_per_job[0]"] == "level[0,0] + level[0,1] + paused[0]  ==  1"
    # level 0 is 1 s: (1, 1) and (0, 1); level 1 is 2 s: also (1, 0) and (0, 2)
    assert text["place_all_workers[0,0]"] == "pieces[0,0,0,0,1] + pieces[0,0,0,1,1] - 2*level[0,0]  ==  0"
    assert text["pieces_of_chosen_level[0,0,0,0,1]"] == "pieces[0,0,0,0,1] - 2*level[0,0]  <=  0"
    assert text["pieces_of_chosen_level[0,0,0,1,1]"] == "pieces[0,0,0,1,1] - level[0,0]  <=  0"
    assert text["place_all_parameter_servers[0,0]"] == "pieces[0,0,0,1,1] - level[0,0]  ==  0"
    assert text["class_capacity[0,0]"] == (
        "pieces[0,0,0,0,1] + 2*pieces[0,0,0,1,1] + pieces[0,1,0,0,1] + 2*pieces[0,1,0,0,2] + "
        "pieces[0,1,0,1,0] + 2*pieces[0,1,0,1,1]  <=  4"
    )


def test_rows_of_dual_feasible_functions():
    model = levels.model(make([3, 3], [(2, 2)]))
    rows = {item.index()[2]: str(item.expr) for item in model.dual_feasible_capacity.values()}
    # C = 3, times k C: f_1 is 0, 1, 1 of one to three tasks, f_4 is 1/4, 3/4, 1; f_2 and f_3 say no more than d / C
    assert set(rows) == {1, 4}
    assert rows[1] == (
        "3*pieces[0,0,0,1,1] + 3*pieces[0,1,0,0,2] + 3*pieces[0,1,0,1,1] + 3*pieces[0,1,0,1,2] + "
        "3*pieces[0,1,0,2,0] + 3*pieces[0,1,0,2,1]  <=  6"
    )
    assert rows[4].startswith("9*pieces[0,0,0,1,1] + 3*pieces[0,1,0,0,1] + 9*pieces[0,1,0,0,2]")
    assert rows[4].endswith("12*pieces[0,1,0,2,1]  <=  24")


@pytest.mark.parametrize("form", list(FORMS))
def test_block_twice_in_a_parent_with_a_linking_row(form):
    # both want the server that holds the whole job: each alone needs no transfer, together one must split
    instance = make([3, 2], [(1, 2)])
    parent = ConcreteModel()
    parent.one, parent.other = Block(), Block()
    parent.many = Block([0, 1], rule=lambda block, _: FORMS[form].fill(block, instance))
    for block in (parent.one, parent.other):
        FORMS[form].fill(block, instance)
    assert not list(parent.component_data_objects(Objective))
    parent.objective = Objective(
        expr=parent.one.objective_value + parent.other.objective_value + parent.many[1].objective_value,
        sense=minimize,
    )
    assert solve_model(parent).objective == pytest.approx(0.0, abs=1e-7)

    def on_first(block):
        if form == "tasks":
            return block.workers_on[0, "s0"]
        if form == "pieces":
            return sum(y * item for (_, k, _, y), item in block.piece.items() if k == "s0")
        return sum(y * item for (_, _, c, _, y), item in block.pieces.items() if c == 0)

    parent.link = Constraint(expr=on_first(parent.one) + on_first(parent.other) <= 3)
    assert solve_model(parent).objective == pytest.approx(1.0)


def test_fixed_levels_place_what_fits_within_them():
    instance = make([3, 2], [(1, 2), (1, 1)])
    for limits, placed in (({0: 0.0, 1: 0.0}, 2), ({0: 0.0}, 1), ({}, 0)):
        model = fixed_levels_model(instance, limits)
        solve_model(model)
        solution = read_fixed_levels(model, instance)
        assert instance.check(solution) == []
        assert len(instance.jobs) - len(solution.paused) == placed
        assert instance.transfer_times(solution).max() == 0.0


def test_large_models_are_refused_before_they_are_built():
    instance = make([3] * 2000, [(1, 2)] * 1000)
    for form in ("tasks", "pieces"):
        with pytest.raises(ModelTooLargeError, match=f"formulation placement {form} would have"):
            FORMS[form].model(instance)


def test_amounts_count_in_the_common_divisor_of_the_demands():
    instance = make(
        [1, 1],
        [(1, 1)],
        resources=("cpu", "disk"),
        units=("core", "GB"),
        capacity=np.array([[7.5, 3.0], [8.9, 9.0]]),
        ps_demand=np.array([[1.5, 0.0]]),
        worker_demand=np.array([[3.0, 0.0]]),
    )
    data = PlacementData.of(instance)
    assert data.resources == (0,)
    assert data.classes == (ServerClass((0, 1), (5,)),)
    assert (data.jobs[0].ps_need, data.jobs[0].worker_need) == ((1,), (2,))


def test_packing_joins_pieces_of_a_job_and_leaves_out_what_finds_no_server():
    data = PlacementData.of(make([3, 3], [(1, 2), (1, 3), (1, 1)]))
    found = pack_pieces(data, {0: [(0, 0, 1), (0, 1, 1)], 1: [(0, 1, 3)], 2: [(0, 1, 1)]})
    # job 1 takes four slots; the two pieces of job 0 take the first server together
    assert found == {0: ((0, 1, 2),), 2: ((1, 1, 1),)}
    again = pack_pieces(data, {0: [(0, 1, 2)]}, np.random.default_rng(1))
    assert again == {0: ((0, 1, 2),)}


def test_levels_that_cannot_be_packed_pause_a_job_and_keep_the_bound():
    instance = gangopt.load("placement/random?servers=6&jobs=5&load=0.97&seed=10")
    result = gangopt.solve(instance, form="levels")
    best = gangopt.solve(instance)
    assert best.solution_status == "optimal"
    assert result.bound < best.objective - 1e-6
    assert result.solution_status == "feasible"
    assert result.objective > best.objective
    assert best.metrics["levels_bound"] == pytest.approx(result.bound)
