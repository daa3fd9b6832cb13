import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.environ import Block, ConcreteModel, Constraint, Objective, TransformationFactory, value

from gangopt.base.errors import ModelTooLargeError
from gangopt.catalogue import load
from gangopt.formulations.network_placement import Level, level, literal, set_levels
from gangopt.instances.network_placement.instance import NetworkPlacementInstance, NetworkPlacementSolution
from gangopt.solvers.highs import solve_model
from gangopt.solvers.solve import solve

FORMS = {
    "literal": (literal.fill, literal.model, literal.read, literal.hint),
    "level": (level.fill, level.model, level.read, level.hint),
}


def brute_force(instance):
    """Return the least largest load over all placements, None if there is none."""
    counts = [range(min(int(g), instance.workers) + 1) for g in instance.free_gpus]
    best = None
    for workers in itertools.product(*counts):
        if sum(workers) != instance.workers:
            continue
        for hosts in itertools.product(range(len(counts)), repeat=len(instance.ps_sizes)):
            solution = NetworkPlacementSolution(workers, hosts)
            if not instance.check(solution):
                objective = instance.evaluate(solution).objective
                best = objective if best is None else min(best, objective)
    return best


def random_instance(generator):
    m, p, w = (int(generator.integers(1, high)) for high in (4, 5, 6))
    r = int(generator.random() < 0.3)
    # few distinct values make equal machines, equal servers, zero sizes and ties common
    sizes = generator.choice([0.0, 1.0, 1.0, 2.5, 7.0], p) if generator.random() < 0.5 else generator.random(p)
    sizes[0] += 1.0
    return NetworkPlacementInstance(
        name="t",
        machines=tuple(f"m{i}" for i in range(m)),
        free_gpus=generator.integers(0, w + 1, m),
        traffic=generator.choice([0.0, 0.0, 3.0, 10.0], m) * generator.integers(0, 3),
        workers=w,
        ps_sizes=sizes,
        resources=("cpu",) * r,
        free_capacity=generator.integers(0, 7, (m, r)).astype(float),
        worker_demand=generator.integers(0, 3, r).astype(float),
        ps_demand=generator.integers(0, 3, r).astype(float),
    )


def agrees(instance):
    """Check every form and both searches against brute force; return whether the instance is feasible."""
    best = brute_force(instance)
    for form in FORMS:
        result = solve(instance, form=form)
        if best is None:
            assert result.termination == "infeasible"
        else:
            assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6)
    for method in ("exact", "exact?search=bisection"):
        result = solve(instance, method)
        if best is None:
            assert result.termination == "infeasible"
            assert result.reason.startswith(("all_workers_placed", "resource_capacity"))
        else:
            assert result.termination == "optimal"
            assert result.objective == pytest.approx(best, rel=1e-9, abs=1e-12)
            assert result.rel_gap <= 1e-9
    return best is not None


def test_forms_and_searches_agree_with_brute_force_on_random_instances():
    feasible = sum(agrees(random_instance(np.random.default_rng(seed))) for seed in range(200))
    assert 100 < feasible < 200


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_forms_and_searches_agree_with_brute_force_on_any_seed(seed):
    agrees(random_instance(np.random.default_rng(seed)))


@pytest.mark.slow
def test_forms_and_searches_agree_with_brute_force_on_many_random_instances():
    for seed in range(1000, 3000):
        agrees(random_instance(np.random.default_rng(seed)))


def plain(**changes):
    fields = {
        "name": "t",
        "machines": ("a", "b"),
        "free_gpus": np.array([3, 2]),
        "traffic": np.array([1.0, 2.0]),
        "workers": 4,
        "ps_sizes": np.array([6.0, 4.0]),
    }
    return NetworkPlacementInstance(**(fields | changes))


@pytest.mark.parametrize(
    "instance",
    [
        plain(workers=1),
        plain(workers=5),
        plain(free_gpus=np.array([4, 0])),
        plain(ps_sizes=np.array([5.0, 5.0])),
        plain(ps_sizes=np.array([10.0])),
        plain(machines=("a",), free_gpus=np.array([4]), traffic=np.array([0.0])),
        plain(machines=("a",), free_gpus=np.array([9]), traffic=np.array([3.0])),
    ],
    ids=["one worker", "all gpus", "one host", "equal servers", "one server", "load zero", "one machine"],
)
def test_corner_cases_agree(instance):
    assert agrees(instance)


@pytest.mark.parametrize("form", FORMS)
def test_hint_then_read_is_the_identity_and_has_the_judged_load(form):
    _, model_of, read, hint = FORMS[form]
    instance = load("network_placement/four-machines")
    # servers 2 and 3 are of one size: the form gives them their machines in ascending order
    solution = NetworkPlacementSolution((3, 2, 0, 1), (0, 1, 0, 3))
    model = model_of(instance)
    hint(model, instance, solution)
    assert read(model, instance) == solution
    assert value(model.objective) == pytest.approx(instance.evaluate(solution).objective)
    for constraint in model.component_data_objects(Constraint):
        assert constraint.slack() >= -1e-9, constraint.name


@pytest.mark.parametrize("form", FORMS)
def test_form_embeds_twice_in_a_parent_with_a_linking_constraint(form):
    fill, _, read, _ = FORMS[form]
    instance = plain()
    parent = ConcreteModel()
    parent.job = Block([0, 1])
    for k in (0, 1):
        fill(parent.job[k], instance)
        assert not list(parent.job[k].component_data_objects(Objective, active=True))
    parent.gpus_shared = Constraint(expr=parent.job[0].workers[0] + parent.job[1].workers[0] <= 4)
    parent.total = Objective(expr=parent.job[0].objective_value + parent.job[1].objective_value)
    outcome = solve_model(parent)
    solutions = [read(parent.job[k], instance) for k in (0, 1)]
    assert all(instance.check(item) == [] for item in solutions)
    assert sum(item.workers[0] for item in solutions) == 4
    assert outcome.objective == pytest.approx(sum(instance.evaluate(item).objective for item in solutions))


def lp_text(model, tmp_path):
    """Return the LP file, numbers in their shortest form."""
    path = tmp_path / "model.lp"
    model.write(str(path), io_options={"symbolic_solver_labels": True})
    return re.sub(r"[+-][0-9.e-]+(?= )", lambda item: f"{float(item[0]):+.6g}", path.read_text())


@pytest.mark.parametrize(
    ("form", "families"),
    [
        (
            "literal",
            {
                "largest_load_covers_machine": "+10 workers(0)",
                "free_gpus": "+1 workers(0)",
                "all_workers_placed": "+1 workers(0)\n+1 workers(1)",
                "one_host_per_parameter_server": "+1 place(0_0)\n+1 place(1_0)",
                "product_at_most_bound": "-3 place(0_0)\n+1 product(0_0)",
                "product_at_most_workers": "-1 workers(0)\n+1 product(0_0)",
                "product_at_least": "-1 workers(0)\n-3 place(0_0)\n+1 product(0_0)",
                "resource_capacity": "+0.25 workers(0)\n+0.125 place(0_0)\n+0.125 place(0_1)",
            },
        ),
        (
            "level",
            {
                "one_worker_count_per_machine": "+1 choose(0_0)\n+1 choose(0_1)\n+1 choose(0_2)\n+1 choose(0_3)",
                "all_workers_placed": "+1 choose(0_1)\n+2 choose(0_2)\n+3 choose(0_3)",
                "one_host_per_parameter_server": "+1 place(0_0)\n+1 place(1_0)",
                "capacity": "+0.6 place(0_0)\n+0.4 place(0_1)",
                "least_share": "choose(0_3)",
                "half_of_the_workers": "choose(0_2)",
                "rise_where_chosen": "+1 rise(0_0)",
                "rise_of_level": "-1 level\n+1 rise(0_0)\n+1 rise(0_1)\n+1 rise(0_2)\n+1 rise(0_3)",
                "level_at_most_width": "+1 level",
                "resource_capacity": "+0.25 choose(0_1)\n+0.5 choose(0_2)\n+0.75 choose(0_3)",
            },
        ),
    ],
)
def test_rows_of_every_constraint_family(form, families, tmp_path):
    instance = plain(
        resources=("cpu",),
        free_capacity=np.array([[8.0], [8.0]]),
        worker_demand=np.array([2.0]),
        ps_demand=np.array([1.0]),
    )
    model = FORMS[form][1](instance)
    assert {item.local_name for item in model.component_objects(Constraint)} == set(families)
    text = lp_text(model, tmp_path)
    rows = {}
    for part in text.split("\n\n"):
        name, _, body = part.strip().partition(":\n")
        rows[name.split("_", 2)[-1]] = body
    for family, wanted in families.items():
        first = next(body for name, body in rows.items() if name.startswith(family))
        assert wanted in first, (family, first)


def relaxed(model):
    TransformationFactory("core.relax_integer_vars").apply_to(model)
    return solve_model(model).objective


def test_relaxation_of_level_is_tighter_the_nearer_the_levels():
    instance = load("network_placement/random?machines=4&gpus=3&workers=6&traffic=1&seed=0")
    best = solve(instance).objective
    assert best > 1.2 * instance.traffic.max()
    bounds = [relaxed(level.model(instance))]
    for width in (2.0, 1.5, 1.0):
        model = ConcreteModel()
        Level(lowest=0.9 * best, highest=width * best).fill(model, instance)
        model.objective = Objective(expr=model.objective_value)
        bounds.append(relaxed(model))
    assert bounds == sorted(bounds)
    # between trivial levels the relaxation is weaker than the literal one, between near ones it is stronger
    assert bounds[0] < relaxed(literal.model(instance)) < bounds[-1] <= best * (1 + 1e-9)


def test_levels_move_without_a_rebuild():
    instance = load("network_placement/random?machines=4&gpus=3&workers=6&traffic=1&seed=0")
    best = solve(instance).objective
    model = level.model(instance)
    for factor, feasible in ((1 - 1e-4, False), (1 + 1e-4, True), (0.5, False), (1.3, True)):
        set_levels(model, instance, factor * best, factor * best)
        assert (solve_model(model).termination == "optimal") is feasible


def test_machines_left_out_host_nothing():
    instance = plain(machines=("a", "b", "c"), free_gpus=np.array([3, 3, 3]), traffic=np.array([1.0, 2.0, 3.0]))
    model = ConcreteModel()
    Level(machines=[0, 2]).fill(model, instance)
    model.objective = Objective(expr=model.objective_value)
    solve_model(model)
    solution = level.read(model, instance)
    assert instance.check(solution) == []
    assert solution.workers[1] == 0
    assert 1 not in solution.ps_hosts


@pytest.mark.parametrize("form", FORMS)
def test_model_that_would_not_fit_is_refused_before_it_is_built(form):
    instance = load("network_placement/random?machines=30000&workers=300")
    with pytest.raises(ModelTooLargeError, match=f"formulation network_placement {form} would have"):
        FORMS[form][1](instance)
