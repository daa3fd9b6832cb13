"""The three forms of `allocation`: equal optima, stated relaxations, rows as printed, and use as Blocks."""

import dataclasses
import io
import itertools

import numpy as np
import pytest
from pyomo.environ import (
    Block,
    ConcreteModel,
    Constraint,
    Expression,
    NonNegativeReals,
    Objective,
    RangeSet,
    Var,
    minimize,
    value,
)
from pyomo.repn.plugins.lp_writer import LPWriter

import gangopt
from gangopt.base.errors import InfeasibleError, InputError, ModelTooLargeError
from gangopt.formulations.allocation import choice, counts, literal
from gangopt.formulations.allocation import configurations as allocation_configurations
from gangopt.formulations.allocation.configurations import capacity_rows, class_configurations, job_configurations
from gangopt.instances.allocation.generate import random
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.solvers.allocation.dual import PricedGrids, maximise_bound
from gangopt.solvers.highs import solve_model

FORMS = {name: gangopt.problems["allocation"].form(name) for name in gangopt.problems["allocation"].forms}
LINEAR = ("choice", "counts")


def two_jobs(**changed) -> AllocationInstance:
    """Return two jobs, async and sync, of at most 2 + 2 tasks on 7 cores and 3 GPUs."""
    fields = {
        "name": "two",
        "resources": ("cpu", "gpu"),
        "units": ("core", "GPU"),
        "capacity": [7.0, 3.0],
        "jobs": ("a", "b"),
        "steps": [10.0, 20.0],
        "mode": ("async", "sync"),
        "theta": [[2.0, 1.0, 0.0, 0.5, 0.0], [1.0, 1.0, 1.0, 0.25, 0.0]],
        "batch": [0.0, 4.0],
        "worker_demand": [[1.0, 1.0]] * 2,
        "ps_demand": [[2.0, 0.0]] * 2,
        "max_workers": [2, 2],
        "max_ps": [2, 2],
    }
    return AllocationInstance(**(fields | changed))


def every_solution(instance):
    ranges = [
        itertools.product(range(1, p + 1), range(1, w + 1))
        for p, w in zip(instance.max_ps.tolist(), instance.max_workers.tolist(), strict=True)
    ]
    for pairs in itertools.product(*ranges):
        yield AllocationSolution(tuple(w for _, w in pairs), tuple(p for p, _ in pairs))


def enumerated(instance) -> float:
    return min(instance.evaluate(item).objective for item in every_solution(instance) if not instance.check(item))


@pytest.mark.parametrize("seed", range(6))
def test_forms_and_enumeration_agree(seed):
    instance = random(jobs=3, nodes=3, max_tasks=3, seed=seed)
    best = enumerated(instance)
    for name in LINEAR:
        model = FORMS[name].model(instance)
        outcome = solve_model(model)
        assert outcome.objective == pytest.approx(best, rel=1e-9)
        solution = FORMS[name].read(model, instance)
        assert instance.check(solution) == []
        assert instance.evaluate(solution).objective == pytest.approx(best, rel=1e-9)
    assert gangopt.solve(instance).objective == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("mode", ["async", "sync", "mixed"])
def test_literal_says_at_every_point_what_the_judge_says(mode):
    instance = random(jobs=2, nodes=2, max_tasks=3, mode=mode, seed=5)
    model = literal.model(instance)
    seen = set()
    for solution in every_solution(instance):
        literal.hint(model, instance, solution)
        assert literal.read(model, instance) == solution
        for job in instance.jobs:
            rule = model.time_is_steps_over_speed[job]
            assert value(rule.body) - value(rule.upper) == pytest.approx(
                0, abs=1e-9 * value(model.completion_time[job])
            )
        assert value(model.objective) == pytest.approx(instance.evaluate(solution).objective, rel=1e-12)
        feasible = all(value(row.body) <= row.upper for row in model.resource_capacity.values())
        assert feasible == (not instance.check(solution))
        seen.add(feasible)
    assert seen == {True, False}


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_literal_writes_capacities_in_the_row_units_of_the_other_forms(unit):
    # a solver's absolute tolerance of 1e-6 would hide a capacity of 7e-9, and take 7e9 for exceeded by rounding
    instance = two_jobs(capacity=[7.0 * unit, 3.0], worker_demand=[[unit, 1.0]] * 2, ps_demand=[[2 * unit, 0.0]] * 2)
    model, rows = literal.model(instance), capacity_rows(instance)
    row = model.resource_capacity["cpu"]
    assert row.upper == rows.limit[0] >= 1
    assert row.body.linear_coefs == pytest.approx([rows.factor[0] * unit] * 2 + [2 * rows.factor[0] * unit] * 2)
    model.workers["a"], model.workers["b"] = 1, 2
    model.parameter_servers["a"], model.parameter_servers["b"] = 2, 1
    assert value(model.resource_use["cpu"]) == pytest.approx(9 * unit)
    assert value(row.body) > row.upper


def test_literal_optimum_by_enumeration_of_the_pyomo_model():
    instance = two_jobs()
    model = literal.model(instance)
    best = np.inf
    for solution in every_solution(instance):
        literal.hint(model, instance, solution)
        if all(value(row.body) <= row.upper for row in model.resource_capacity.values()):
            best = min(best, value(model.objective))
    assert best == pytest.approx(gangopt.solve(instance).objective, rel=1e-9)


def test_literal_refuses_tables():
    instance = two_jobs(
        mode=("async", "table"),
        theta=[[2.0, 1.0, 0.0, 0.5, 0.0], [0.0] * 5],
        batch=[0.0, 0.0],
        tables=([[1.0, 2.0], [1.0, 2.0]],),
        table_labels=("t",),
        table=[-1, 0],
    )
    with pytest.raises(
        InputError,
        match=r"formulation literal requires speed functions \(job 1 \(b\) has a measured table\)",
    ):
        literal.model(instance)


@pytest.mark.parametrize("seed", range(8))
def test_relaxation_is_the_lagrangian_dual(seed):
    instance = random(jobs=4, nodes=4, max_tasks=4, load=0.2, seed=seed)
    dual = maximise_bound(PricedGrids(instance)).best.bound
    for name in LINEAR:
        model = FORMS[name].model(instance)
        variables = model.choose if name == "choice" else model.number
        for variable in variables.values():
            variable.domain = NonNegativeReals
        relaxed = solve_model(model).objective
        assert relaxed == pytest.approx(dual, rel=1e-8)
    assert dual <= gangopt.solve(instance).objective * (1 + 1e-9)


def lp_text(model) -> str:
    out = io.StringIO()
    LPWriter().write(model, out, symbolic_solver_labels=True)
    return out.getvalue()


def rows_of(text: str) -> dict[str, str]:
    body = text.partition("s.t.")[2].partition("bounds")[0]
    rows = {}
    for part in body.strip().split("\n\n"):
        head, *terms = part.strip().splitlines()
        name = head.strip().rstrip(":")
        rows[name.split("_", 2)[-1] if name.startswith("c_") else name] = " ".join(terms)
    return rows


def test_choice_rows_as_printed():
    instance = two_jobs()
    rows = rows_of(lp_text(choice.model(instance)))
    assert rows["one_configuration_per_job(a)_"].startswith("+1 choose(a_1_1) +1 choose(a_1_2)")
    assert rows["one_configuration_per_job(a)_"].endswith("= 1.0")
    assert "+3.0 choose(a_1_1) +4.0 choose(a_1_2)" in rows["resource_capacity(cpu)_"]
    assert rows["resource_capacity(cpu)_"].endswith("<= 7.0")
    assert "+1.0 choose(b_1_1) +2.0 choose(b_1_2)" in rows["resource_capacity(gpu)_"]
    assert rows["resource_capacity(gpu)_"].endswith("<= 3.0")
    families = {name.split("(")[0] for name in rows}
    assert families == {"one_configuration_per_job", "resource_capacity"}


def test_counts_rows_as_printed():
    instance = two_jobs(
        steps=[10.0, 10.0],
        mode=("async",) * 2,
        batch=[0.0, 0.0],
        theta=[[2.0, 1.0, 0.0, 0.5, 0.0]] * 2,
    )
    rows = rows_of(lp_text(counts.model(instance)))
    assert rows["one_configuration_per_job(a)_"].startswith("+1 number(a_1_1) +1 number(a_1_2)")
    assert rows["one_configuration_per_job(a)_"].endswith("= 2.0")
    assert "+3.0 number(a_1_1) +4.0 number(a_1_2)" in rows["resource_capacity(cpu)_"]
    assert set(rows) == {"one_configuration_per_job(a)_", "resource_capacity(cpu)_", "resource_capacity(gpu)_"}


def test_literal_families():
    names = {item.local_name for item in literal.model(two_jobs()).component_objects(Constraint)}
    assert names == {"time_is_steps_over_speed", "resource_capacity"}


def test_dominated_configurations_are_dropped():
    instance = two_jobs(ps_demand=[[1.0, 1.0]] * 2, capacity=[9.0, 9.0])
    kept = job_configurations(instance)
    for j in range(2):
        mine = kept.owner == j
        offered = set(zip(kept.ps[mine].tolist(), kept.workers[mine].tolist(), strict=True))
        for p, w in itertools.product((1, 2), (1, 2)):
            time = instance.completion_time(j, p, w)
            no_worse = [
                (a, b)
                for a, b in itertools.product((1, 2), (1, 2))
                if (a, b) != (p, w) and a + b <= p + w and instance.completion_time(j, a, b) <= time
            ]
            assert ((p, w) in offered) == (not no_worse)
    every = job_configurations(instance, drop_dominated=False)
    assert len(every.owner) == 8 > len(kept.owner)


def test_of_two_equal_configurations_one_stays():
    instance = two_jobs(
        mode=("table", "table"),
        theta=[[0.0] * 5] * 2,
        batch=[0.0, 0.0],
        tables=([[1.0, 1.0], [1.0, 1.0]],),
        table_labels=("flat",),
        table=[0, 0],
        worker_demand=[[0.0, 0.0]] * 2,
        ps_demand=[[0.0, 0.0]] * 2,
    )
    kept = job_configurations(instance)
    assert list(zip(kept.ps.tolist(), kept.workers.tolist(), strict=True)) == [(1, 1), (1, 1)]


def test_pairs_in_blocks_are_the_same(monkeypatch):
    instance = random(jobs=5, max_tasks=6, seed=1)
    whole = job_configurations(instance)
    monkeypatch.setattr(allocation_configurations, "PAIRS_AT_ONCE", 7)
    parts = job_configurations(instance)
    assert np.array_equal(whole.owner, parts.owner)
    assert np.array_equal(whole.ps, parts.ps)


def test_capacity_rows_are_whole_where_demands_are():
    rows = capacity_rows(two_jobs(capacity=[7.5, 3.0], ps_demand=[[2.5, 0.0]] * 2))
    assert rows.whole.all()
    assert rows.factor.tolist() == [2.0, 1.0]
    assert rows.limit.tolist() == [15.0, 3.0]
    assert rows.coefficients(np.array([[3.5, 1.0]])).tolist() == [[7.0, 1.0]]
    coarse = capacity_rows(two_jobs(capacity=[7.0, 3.0], worker_demand=[[2.0, 2.0]] * 2))
    assert coarse.limit.tolist() == [3.0, 1.0]
    assert coarse.capacity.tolist() == [6.0, 2.0]
    tenths = capacity_rows(two_jobs(capacity=[0.3, 3.0], worker_demand=[[0.1, 1.0]] * 2, ps_demand=[[0.2, 0]] * 2))
    assert tenths.limit.tolist() == [3.0, 3.0]
    odd = capacity_rows(two_jobs(worker_demand=[[np.pi, 1.0]] * 2))
    assert odd.whole.tolist() == [False, True]
    assert odd.limit[0] == 1e6
    huge = capacity_rows(two_jobs(worker_demand=[[1e14, 1.0]] * 2, ps_demand=[[0.001, 0.0]] * 2, capacity=[1e15, 3.0]))
    assert huge.whole.tolist() == [False, True]


def test_a_job_that_fits_nowhere_is_named():
    with pytest.raises(InfeasibleError, match=r"job 1 \(b\) fits: it takes at least 9 core of cpu, 2 more than"):
        job_configurations(two_jobs(worker_demand=[[1.0, 1.0], [7.0, 1.0]]))
    crossed = two_jobs(
        mode=("table", "table"),
        theta=[[0.0] * 5] * 2,
        batch=[0.0, 0.0],
        tables=([[np.nan, 1.0], [1.0, np.nan]],),
        table_labels=("crossed",),
        table=[0, 0],
        worker_demand=[[4.0, 0.0]] * 2,
        ps_demand=[[0.0, 2.0]] * 2,
    )
    with pytest.raises(InfeasibleError, match=r"job 0 \(a\) fits: each exceeds the capacity of some resource"):
        job_configurations(crossed)


@pytest.mark.parametrize("name", LINEAR)
def test_two_blocks_share_a_budget_in_one_parent(name):
    instance = random(jobs=3, nodes=6, max_tasks=4, seed=2)
    alone = gangopt.solve(instance)
    tasks = 2 * sum(alone.solution.workers) - 3

    def parent(fill):
        model = ConcreteModel()
        fill(model)
        blocks = list(model.component_data_objects(Block, descend_into=True))
        blocks = [block for block in blocks if block.find_component("objective_value") is not None]
        model.budget = Constraint(expr=sum(block.resource_use["gpu"] for block in blocks) <= tasks)
        model.cost = Objective(expr=sum(block.objective_value for block in blocks), sense=minimize)
        outcome = solve_model(model)
        assert outcome.termination == "optimal"
        solutions = [FORMS[name].read(block, instance) for block in blocks]
        assert all(instance.check(solution) == [] for solution in solutions)
        assert sum(sum(solution.workers) for solution in solutions) <= tasks
        return outcome.objective

    def by_names(model):
        model.east, model.west = Block(), Block()
        FORMS[name].fill(model.east, instance)
        FORMS[name].fill(model.west, instance)

    def by_index(model):
        model.site = Block(RangeSet(2), rule=lambda block, _: FORMS[name].fill(block, instance))

    first, second = parent(by_names), parent(by_index)
    assert first == pytest.approx(second, rel=1e-9)
    assert first > 2 * alone.objective * (1 + 1e-9)


@pytest.mark.parametrize("name", ["literal", *LINEAR])
def test_a_block_has_no_objective_of_its_own(name):
    model = ConcreteModel()
    model.part = Block()
    FORMS[name].fill(model.part, two_jobs())
    assert not list(model.component_objects(Objective))
    assert isinstance(model.part.objective_value, Expression)


@pytest.mark.parametrize("name", LINEAR)
def test_hint_is_read_back_or_replaced_by_what_dominates_it(name):
    instance = random(jobs=6, nodes=12, max_tasks=5, seed=4)
    slow = AllocationSolution((1,) * 6, (2,) * 6)
    assert instance.check(slow) == []
    best = gangopt.solve(instance).solution
    model = FORMS[name].model(instance)
    for hinted in (best, slow):
        FORMS[name].hint(model, instance, hinted)
        again = FORMS[name].read(model, instance)
        assert instance.check(again) == []
        assert instance.evaluate(again).objective <= instance.evaluate(hinted).objective * (1 + 1e-12)
        assert all(value(row.body) <= row.upper for row in model.resource_capacity.values())
        warm = solve_model(model, warm_start=True)
        assert warm.termination == "optimal"


def test_hint_of_dropped_configurations():
    instance = two_jobs(steps=[10.0, 20.0], theta=[[2.0, 0.0, 0.0, 5.0, 0.0], [1.0, 1.0, 0.0, 0.0, 5.0]])
    slow = AllocationSolution((1, 1), (2, 1))
    for name in LINEAR:
        model = FORMS[name].model(instance)
        FORMS[name].hint(model, instance, slow)
        assert FORMS[name].read(model, instance) == AllocationSolution((1, 1), (1, 1))


def test_public_expressions_of_choice():
    instance = random(jobs=4, nodes=8, max_tasks=4, seed=6)
    model = choice.model(instance)
    solve_model(model)
    solution = choice.read(model, instance)
    for j, job in enumerate(instance.jobs):
        p, w = solution.parameter_servers[j], solution.workers[j]
        assert value(model.workers[job]) == pytest.approx(w)
        assert value(model.parameter_servers[job]) == pytest.approx(p)
        assert value(model.completion_time[job]) == pytest.approx(instance.completion_time(j, p, w))
    used = [value(model.resource_use[name]) for name in instance.resources]
    assert used == pytest.approx(instance.usage(solution))


def test_counts_merges_equal_jobs():
    one = random(jobs=2, nodes=4, max_tasks=4, seed=7)
    twice = [0, 1, 0, 1, 0]
    fields = {
        item.name: getattr(one, item.name)
        for item in dataclasses.fields(one)
        if item.name not in {"jobs", "mode", "job_sources"}
    }
    by_job = ("steps", "theta", "batch", "table", "worker_demand", "ps_demand", "max_workers", "max_ps", "progress")
    fields |= {name: fields[name][twice] for name in by_job}
    fields |= {"jobs": tuple("abcde"), "mode": tuple(one.mode[j] for j in twice)}
    instance = AllocationInstance(**fields)
    counts, choice = FORMS["counts"].model(instance), FORMS["choice"].model(instance)
    assert len(counts.number) * 2 < len(choice.choose)
    assert len(class_configurations(instance).classes) == 2
    assert dict(counts.jobs_in_class.items()) == {"a": 3, "b": 2}
    assert solve_model(counts).objective == pytest.approx(solve_model(choice).objective, rel=1e-9)
    assert instance.check(FORMS["counts"].read(counts, instance)) == []


def test_models_that_would_not_fit_are_refused(monkeypatch):
    instance = two_jobs()
    for name, form in FORMS.items():
        monkeypatch.setattr(f"gangopt.formulations.allocation._{name}.require_size", _refuse)
        with pytest.raises(ModelTooLargeError, match=f"allocation {name}"):
            form.model(instance)


def _refuse(form, columns):
    assert columns > 3
    raise ModelTooLargeError(form)


def test_variables_have_bounds_that_a_solver_can_use():
    instance = two_jobs(steps=[10.0, 10.0], mode=("async",) * 2, batch=[0, 0], theta=[[2.0, 1.0, 0.0, 0.5, 0.0]] * 2)
    counts = FORMS["counts"].model(instance)
    assert {variable.bounds for variable in counts.component_data_objects(Var)} == {(0, 2)}
