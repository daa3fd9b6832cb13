"""The two forms of `interval`: equal to brute force, embeddable, hinted, and their rows as written."""

import dataclasses
import io
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.environ import Block, ConcreteModel, Constraint, Objective, TransformationFactory, Var, value

import gangopt
from gangopt.base.errors import ModelTooLargeError
from gangopt.catalogue import load
from gangopt.formulations.interval import Classes, Joint, classes, joint
from gangopt.formulations.interval.data import choices_of
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.solvers.highs import SolveSettings, solve_model

FORMS = {form.name: form for form in (joint, classes)}


@st.composite
def tiny(draw, jobs=2, most=2):
    """Two jobs of up to two tasks a kind on two servers."""
    J = draw(st.integers(1, jobs))
    modes = draw(st.lists(st.sampled_from(["async", "sync", "table"]), min_size=J, max_size=J))
    theta = np.zeros((J, 5))
    for j, mode in enumerate(modes):
        count = {"async": 4, "sync": 5, "table": 0}[mode]
        theta[j, :count] = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=count, max_size=count))
    capacity = np.array(draw(st.lists(st.sampled_from([2.0, 3.0, 5.0]), min_size=2, max_size=2)))[:, None]
    demand = st.lists(st.sampled_from([1.0, 2.0]), min_size=J, max_size=J)
    bandwidth = st.lists(st.sampled_from([50.0, 100.0]), min_size=J, max_size=J)
    allocation = AllocationInstance(
        name="x",
        resources=("cpu",),
        units=("core",),
        capacity=capacity.sum(axis=0),
        jobs=tuple(f"j{j}" for j in range(J)),
        steps=np.array(draw(st.lists(st.sampled_from([100.0, 1000.0]), min_size=J, max_size=J))),
        mode=tuple(modes),
        theta=theta,
        batch=np.where(np.array(modes) == "sync", 4.0, 0.0),
        tables=(np.array([[np.nan, 0.5], [0.4, 1.5]]),),
        table_labels=("t",),
        table=np.where(np.array(modes) == "table", 0, -1),
        worker_demand=np.array(draw(demand))[:, None],
        ps_demand=np.array(draw(demand))[:, None],
        max_workers=np.full(J, most),
        max_ps=np.full(J, most),
    )
    return IntervalInstance.from_machines(
        allocation,
        ("a", "b"),
        capacity,
        name="interval/tiny",
        size=np.full(J, 100.0),
        ps_bandwidth=np.array(draw(bandwidth)),
        worker_bandwidth=np.array(draw(bandwidth)),
        charge=draw(st.sampled_from(["tasks", "hosts"])),
    )


def brute_force(instance):
    """The least objective over all allocations and placements."""
    options = []
    for j in range(len(instance.allocation.jobs)):
        P, W = int(instance.allocation.max_ps[j]), int(instance.allocation.max_workers[j])
        mine = [None]
        for x0, y0, x1, y1 in itertools.product(range(P + 1), range(W + 1), range(P + 1), range(W + 1)):
            if 1 <= x0 + x1 <= P and 1 <= y0 + y1 <= W:
                pieces = tuple((k, x, y) for k, x, y in ((0, x0, y0), (1, x1, y1)) if x + y)
                mine.append((x0 + x1, y0 + y1, pieces))
        options.append(mine)
    smallest = list(zip(instance.smallest.ps.tolist(), instance.smallest.workers.tolist(), strict=True))
    best = np.inf
    for chosen in itertools.product(*options):
        tasks = [item[:2] if item else smallest[j] for j, item in enumerate(chosen)]
        solution = IntervalSolution(
            AllocationSolution(tuple(w for _, w in tasks), tuple(p for p, _ in tasks)),
            PlacementSolution(
                tuple(item[2] if item else () for item in chosen), tuple("" if item else "-" for item in chosen)
            ),
        )
        if not instance.check(solution):
            best = min(best, instance.evaluate(solution).objective)
    return best


@given(tiny())
@settings(max_examples=15, deadline=None)
def test_forms_against_brute_force(instance):
    best = brute_force(instance)
    model = joint.model(instance)
    outcome = solve_model(model)
    solution = joint.read(model, instance)
    assert not instance.check(solution)
    assert instance.evaluate(solution).objective == pytest.approx(best, rel=1e-9)
    assert outcome.objective == pytest.approx(best, rel=1e-7)
    model = classes.model(instance)
    assert solve_model(model).objective <= best * (1 + 1e-9)
    packed = classes.read(model, instance)
    assert not instance.check(packed)
    assert instance.evaluate(packed).objective >= best * (1 - 1e-9)


@pytest.fixture(scope="module")
def small():
    return load("interval/random?jobs=2&servers=3&max_tasks=2&seed=4")


def test_forms_agree_and_the_relaxation_of_classes_is_stronger(small):
    relaxed = {}
    for name, form in FORMS.items():
        model = form.model(small)
        TransformationFactory("core.relax_integer_vars").apply_to(model)
        relaxed[name] = solve_model(model).objective
    best = solve_model(joint.model(small)).objective
    assert solve_model(classes.model(small)).objective == pytest.approx(best, rel=1e-9)
    assert relaxed["joint"] <= relaxed["classes"] * (1 + 1e-9) <= best * (1 + 1e-8)


@pytest.mark.parametrize("name", FORMS)
def test_two_blocks_in_one_model(small, name):
    alone = FORMS[name].model(small)
    best = solve_model(alone).objective
    parent = ConcreteModel()
    parent.part = Block([0, 1], rule=lambda block, _: FORMS[name].fill(block, small))
    parent.same = Constraint(expr=parent.part[0].workers[0] == parent.part[1].workers[0])
    parent.objective = Objective(expr=parent.part[0].objective_value + parent.part[1].objective_value)
    outcome = solve_model(parent)
    assert outcome.objective == pytest.approx(2 * best, rel=1e-9)
    assert FORMS[name].read(parent.part[1], small).allocation.workers[0] == value(parent.part[0].workers[0])


@pytest.mark.parametrize("name", FORMS)
def test_a_parent_can_couple_what_is_public(small, name):
    parent = ConcreteModel()
    parent.part = Block()
    FORMS[name].fill(parent.part, small)
    parent.limit = Constraint(expr=sum(parent.part.workers.values()) + sum(parent.part.parameter_servers.values()) <= 4)
    parent.none_paused = Constraint(expr=sum(parent.part.paused.values()) == 0)
    parent.objective = Objective(expr=sum(parent.part.completion_time.values()))
    solve_model(parent)
    solution = FORMS[name].read(parent.part, small)
    assert (solution.allocation.workers, solution.allocation.parameter_servers) == ((1, 1), (1, 1))


@pytest.mark.parametrize("name", FORMS)
def test_a_hint_has_the_value_of_its_solution(small, name):
    for pieces, workers in ((((0, 1, 2),), (2, 1)), (((0, 1, 0), (1, 0, 2)), (2, 1))):
        solution = IntervalSolution(
            AllocationSolution(workers, (1, 1)), PlacementSolution((pieces, ((2, 1, 1),)), ("", ""))
        )
        assert not small.check(solution)
        model = FORMS[name].model(small)
        assert FORMS[name].try_hint(model, small, solution)
        objective = small.evaluate(solution).objective
        # a dominated configuration is replaced by a smaller one, which is no slower
        assert value(model.objective) <= objective * (1 + 1e-12)
        for row in model.component_data_objects(Constraint):
            assert row.lslack() >= -1e-9
            assert row.uslack() >= -1e-9
        again = small.evaluate(FORMS[name].read(model, small)).objective
        # packing the pieces of form classes may bring two of a job to one server, which is faster
        assert again <= value(model.objective) * (1 + 1e-12)
        assert name == "classes" or again == pytest.approx(value(model.objective), rel=1e-12)


def test_a_paused_job_is_hinted_and_a_missing_choice_is_not(small):
    solution = IntervalSolution(
        AllocationSolution((1, 1), (1, 1)), PlacementSolution((((0, 1, 1),), ()), ("", "no room"))
    )
    every = choices_of(small)
    model = joint.model(small)
    assert joint.try_hint(model, small, solution)
    assert model.paused[1].value == 1
    assert value(model.objective) == pytest.approx(small.evaluate(solution).objective, rel=1e-12)
    fewer = type(every)(every.placement, ((), every.choices[1]))
    for form in (Joint(fewer), Classes(fewer)):
        assert not form.try_hint(form.model(small), small, solution)


def test_choices_within_an_objective(small):
    every = choices_of(small)
    best = solve_model(joint.model(small)).objective
    kept = every.within(small, best)
    assert sum(map(len, kept.choices)) < sum(map(len, every.choices))
    assert solve_model(Joint(kept).model(small)).objective == pytest.approx(best, rel=1e-9)
    assert every.within(small, small.pause_cost) is every


def rows(name):
    """The rows of a form of one job on one server, by constraint."""
    instance = load("interval/one-server")
    model = FORMS[name].model(instance)
    stream = io.StringIO()
    for item in model.component_objects(Constraint):
        stream.write(f"{item.name} {len(item)}\n")
    return model, stream.getvalue()


def test_rows_of_joint():
    model, text = rows("joint")
    assert text.split()[::2] == [
        "one_configuration_per_job",
        "place_all_parameter_servers",
        "place_all_workers",
        "one_piece_per_machine",
        "machine_capacity",
        "piece_within_level",
    ]
    configurations = {key[:3] for key in model.level}
    assert len(model.place_all_workers) == len(configurations)
    # p = 1, w = 3 fits one server, so level 0 allows that piece only: every other one needs a later level
    body = str(model.piece_within_level[0, 1, 3, "server-0", 1].body)
    assert "piece[0,1,3,server-0,1,3]" not in body
    assert "piece[0,1,3,server-0,0,2]" in body
    assert "level[0,1,3,0]" not in body
    assert model.machine_capacity["server-0", "cpu"].upper == 4
    assert "piece[0,1,3,server-1,1,3]" not in str(model.machine_capacity["server-0", "cpu"].body)


def test_rows_of_classes():
    model, text = rows("classes")
    assert text.split()[::2] == [
        "one_configuration_per_job",
        "place_all_parameter_servers",
        "place_all_workers",
        "pieces_of_chosen_level",
        "class_capacity",
        "dual_feasible_capacity",
    ]
    assert str(model.place_all_workers[0, 1, 3, 0].body) == "3*pieces[0,1,3,0,0,1,3] - 3*level[0,1,3,0]"
    assert str(model.pieces_of_chosen_level[0, 1, 3, 0, 0, 1, 3].body) == ("pieces[0,1,3,0,0,1,3] - level[0,1,3,0]")
    assert model.class_capacity[0, 0].upper == 8


def test_dual_feasible_rows():
    base = load("interval/fragments")
    shared = dataclasses.replace(base.allocation, ps_demand=np.array([[2.0]]))
    instance = IntervalInstance.from_machines(
        shared,
        base.machines,
        np.array([[4.0], [4.0]]),
        name="interval/made",
        size=base.size,
        ps_bandwidth=base.ps_bandwidth,
        worker_bandwidth=base.worker_bandwidth,
    )
    model = classes.model(instance)
    row = model.dual_feasible_capacity[0, 0, 1]
    # a worker takes 3 of 4 cores, so 4 f_1 = 4 floor(2 * 3 / 4) = 4; a parameter server takes half, f_1 = 1/2
    assert row.upper == 2 * 4
    terms = dict(part.rsplit("*", 1)[::-1] for part in str(row.body).split(" + "))
    assert terms["pieces[0,1,1,0,0,0,1]"] == "4"
    assert terms["pieces[0,1,1,0,0,1,0]"] == "2"


def test_too_large_is_refused_before_building():
    instance = load("interval/random?jobs=40&servers=80")
    with pytest.raises(
        ModelTooLargeError, match=r"formulation interval joint would have .* columns, more than the limit of 200,000"
    ):
        joint.model(instance)


def test_variables_are_binary_and_counts_whole(small):
    model = joint.model(small)
    assert all(item.is_binary() for item in model.component_data_objects(Var))
    assert all(item.is_integer() for item in classes.model(small).pieces.values())
    assert solve_model(model, SolveSettings(time_limit=60)).termination == "optimal"


def placements_of(instance, allocation):
    """Yield every feasible placement of an allocation, jobs paused included."""
    options = []
    for p, w in zip(allocation.parameter_servers, allocation.workers, strict=True):
        splits = itertools.product(range(p + 1), range(w + 1))
        options.append([(), *(tuple(q for q in ((0, x, y), (1, p - x, w - y)) if q[1] + q[2]) for x, y in splits)])
    for pieces in itertools.product(*options):
        solution = PlacementSolution(pieces, tuple("" if held else "-" for held in pieces))
        if not instance.check(IntervalSolution(allocation, solution)):
            yield solution


@given(tiny(jobs=3), st.data())
@settings(max_examples=20, deadline=None)
def test_the_placement_of_an_allocation_counts_the_charges_of_paused_jobs(instance, data):
    tasks = []
    for j, mode in enumerate(instance.allocation.mode):
        # the table has a hole at (1, 1)
        allowed = [(p, w) for p in (1, 2) for w in (1, 2) if mode != "table" or (p, w) != (1, 1)]
        tasks.append(data.draw(st.sampled_from(allowed), label=f"tasks {j}"))
    allocation = AllocationSolution(tuple(w for _, w in tasks), tuple(p for p, _ in tasks))
    best = min(
        instance.evaluate(IntervalSolution(allocation, solution)).objective
        for solution in placements_of(instance, allocation)
    )
    placed = gangopt.solve(instance.placement_of(allocation))
    assert placed.termination == "optimal"
    found = instance.evaluate(IntervalSolution(allocation, placed.solution)).objective
    assert found == pytest.approx(best, rel=1e-8)
