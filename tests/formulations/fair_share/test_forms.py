"""Forms of `fair_share` against enumeration and each other, embedded, hinted, and row by row."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.environ import Block, ConcreteModel, Constraint, Objective, TransformationFactory, maximize, value

import gangopt
from gangopt.base.errors import InfeasibleError, InputError, ModelTooLargeError
from gangopt.formulations import size
from gangopt.formulations.fair_share import patterns, places
from gangopt.formulations.fair_share.drf import fill_dominant_share
from gangopt.formulations.fair_share.options import best_inside, cheapest, given_counts, options_of
from gangopt.instances.auction.bids import LEVELS, AppBid
from gangopt.instances.fair_share.generate import bid_of, random
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.market import bundles_of, rows_of
from gangopt.instances.fair_share.solution import FairShareSolution
from gangopt.solvers.fair_share import heuristics
from gangopt.solvers.fair_share.drf import dominant_share_gpus
from gangopt.solvers.highs import solve_model

FORMS = {
    "places": (places.fill, places.model, places.read, places.hint),
    "patterns": (patterns.fill, patterns.model, patterns.read, patterns.hint),
}


def small(seed, resources=0, held=False):
    instance = random(apps=2 + seed % 2, machines=3, gpus_per_machine=3, resources=resources, seed=seed)
    if held:
        first = replace(instance.apps[0], held=((seed % 3, 1),), value_at_zero=Fraction(1, 10))
        instance = replace(instance, apps=(first, *instance.apps[1:]))
    return instance


def brute_force(instance):
    """Return the least largest rho over all ways to split the GPUs of every machine; infinite if none serves all."""
    n = len(instance.apps)
    columns = [
        [split for split in itertools.product(range(gpus + 1), repeat=n) if sum(split) <= gpus]
        for gpus in instance.offered.tolist()
    ]
    best = np.inf
    for choice in itertools.product(*columns):
        solution = FairShareSolution(bundles_of(list(zip(*choice, strict=True))))
        if not instance.check(solution):
            best = min(best, instance.evaluate(solution).objective)
    return best


def optimum(instance, form):
    _, model_of, read, _ = FORMS[form]
    try:
        model = model_of(instance)
    except InfeasibleError:
        return np.inf
    solved = solve_model(model)
    if solved.termination == "infeasible":
        return np.inf
    assert solved.termination == "optimal"
    solution = read(model, instance)
    assert instance.check(solution) == []
    judged = instance.evaluate(solution).objective
    assert judged == pytest.approx(solved.objective, rel=1e-7)
    return judged


@settings(max_examples=40)
@given(st.integers(0, 1000), st.integers(0, 1), st.booleans())
def test_forms_agree_with_enumeration(seed, resources, held):
    instance = small(seed, resources, held)
    best = brute_force(instance)
    assert optimum(instance, "places") == pytest.approx(best, rel=1e-9)
    if not held:
        assert optimum(instance, "patterns") == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_forms_agree_where_machines_and_racks_are_equal(seed):
    base = random(apps=5, machines=6, racks=2, sensitivity="priors", seed=seed)
    instance = replace(base, offered=np.full(6, 3))
    assert optimum(instance, "places") == pytest.approx(optimum(instance, "patterns"), rel=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_hint_is_feasible_and_has_the_judged_objective(form, seed):
    _, model_of, read, hint = FORMS[form]
    instance = random(apps=4, machines=4, seed=seed)
    solution = heuristics.max_min_rho(instance)
    model = model_of(instance)
    hint(model, instance, solution)
    assert value(model.objective) == pytest.approx(instance.evaluate(solution).objective)
    for constraint in model.component_data_objects(Constraint):
        assert constraint.slack() >= -1e-9, constraint.name
    # GPUs anywhere are given machine by machine, which may be better than where they were
    assert instance.evaluate(read(model, instance)).objective <= instance.evaluate(solution).objective
    assert solve_model(model, warm_start=True).termination == "optimal"


@pytest.mark.parametrize("form", FORMS)
def test_embedded_twice_with_a_linking_constraint(form):
    fill, _, read, _ = FORMS[form]
    instance = gangopt.load("fair_share/two-resources")
    parent = ConcreteModel()
    parent.day = Block([1, 2], rule=lambda block, _: fill(block, instance))
    # over both days the apps share 6 GPUs
    parent.budget = Constraint(expr=sum(parent.day[t].gpus_given[i] for t in (1, 2) for i in (0, 1)) <= 6)
    parent.objective = Objective(expr=parent.day[1].objective_value + parent.day[2].objective_value)
    assert solve_model(parent).termination == "optimal"
    days = [read(parent.day[t], instance) for t in (1, 2)]
    assert sum(count for day in days for bundle in day.bundles for _, count in bundle) <= 6
    best = sum(instance.evaluate(day).objective for day in days)
    # with a and b GPUs rho is 2 / a and 1.5 / b; a day of 2 + 1 costs 1.5, of 1 + 1 and 2 + 2 it costs 2 and 1
    assert best == pytest.approx(3.0)


ONE_MACHINE = FairShareInstance(
    name="rows",
    racks=("r0", "r1"),
    machines=("m0", "m1"),
    machine_rack=[0, 1],
    offered=[2, 2],
    apps=(
        AppBid.from_rows("a", [(2, "machine", 4), (2, "cluster", 2)]),
        AppBid.from_rows("b", [(1, "cluster", 1), (2, "rack", 2)]),
    ),
    resources=("cpu",),
    capacities=[8],
    demands=[[2], [1]],
)


def rows_of_model(model):
    """Return each constraint as text, variables in order of their names."""
    found = {}
    for item in model.component_data_objects(Constraint):
        if not item.name.startswith("largest_rho_covers_app"):
            pairs = zip(item.body.linear_vars, item.body.linear_coefs, strict=True)
            terms = sorted((var.name, coef) for var, coef in pairs)
            found[item.name] = (terms, value(item.lower), value(item.upper))
    return found


def test_rows_of_places_on_two_elements():
    model = places.model(ONE_MACHINE)
    rows = rows_of_model(model)
    a0, a1, a = "give[0,0,0,2]", "give[0,0,1,2]", "give[0,2,0,2]"
    b0, b1, b = "give[1,1,0,2]", "give[1,1,1,2]", "give[1,2,0,1]"
    assert rows["one_bundle_per_app[0]"] == ([(a0, 1), (a1, 1), (a, 1)], 1, 1)
    assert rows["machine_capacity[0]"] == ([(a0, 2)], None, 2)
    assert rows["rack_capacity[1]"] == ([(a1, 2), (b1, 2)], None, 2)
    assert rows["cluster_capacity"] == ([(a0, 2), (a1, 2), (a, 2), (b0, 2), (b1, 2), (b, 1)], None, 4)
    assert rows["resource_capacity[cpu]"] == (
        [(a0, 0.5), (a1, 0.5), (a, 0.5), (b0, 0.25), (b1, 0.25), (b, 0.125)],
        None,
        1,
    )
    stream = io.StringIO()
    model.largest_rho_covers_app[0].pprint(ostream=stream)
    # no largest rho is below the best of app b, 1/2: in units of it nothing of app a is above 1, one GPU for b is 2
    assert "give[0,0,0,2] + give[0,0,1,2] - level" in stream.getvalue()
    stream = io.StringIO()
    model.largest_rho_covers_app[1].pprint(ostream=stream)
    assert "2.0*give[1,2,0,1]" in stream.getvalue()
    assert {name.partition("[")[0] for name in rows} == {
        "one_bundle_per_app",
        "machine_capacity",
        "rack_capacity",
        "cluster_capacity",
        "resource_capacity",
    }


def test_rows_of_patterns_on_two_elements():
    rows = rows_of_model(patterns.model(ONE_MACHINE))
    a0, a, b0, b = "give[0,0,2]", "give[0,2,2]", "give[1,1,2]", "give[1,2,1]"
    assert rows["one_bundle_per_app[1]"] == ([(b0, 1), (b, 1)], 1, 1)
    assert rows["every_machine_cut[0]"] == ([("cut[0,0]", 1), ("cut[0,1]", 1)], 1, 1)
    assert rows["machine_bundles_fit[2]"] == ([("cut[0,1]", -1), ("cut[1,1]", -1), (a0, 1)], None, 0)
    assert rows["rack_bundles_fit[2]"] == ([(b0, 1), ("piece[0,2]", -1), ("piece[1,2]", -1)], None, 0)
    assert rows["rack_capacity[1]"] == ([("cut[1,1]", 2), ("piece[1,2]", 2)], None, 2)
    assert rows["cluster_capacity"] == ([(a0, 2), (a, 2), (b0, 2), (b, 1)], None, 4)
    assert rows["resource_capacity[cpu]"] == ([(a0, 0.5), (a, 0.5), (b0, 0.25), (b, 0.125)], None, 1)
    assert {name.partition("[")[0] for name in rows} == {
        "one_bundle_per_app",
        "every_machine_cut",
        "machine_bundles_fit",
        "rack_bundles_fit",
        "rack_capacity",
        "cluster_capacity",
        "resource_capacity",
    }


def test_relaxations_are_pinned_and_patterns_is_no_weaker():
    # five apps want two GPUs of one machine; machines of three have room for one such pair each
    spread = (Fraction(1), Fraction(2), Fraction(2))
    instance = FairShareInstance(
        name="pairs",
        racks=("r",),
        machines=("a", "b", "c", "d"),
        machine_rack=[0] * 4,
        offered=[3] * 4,
        apps=tuple(bid_of(f"a{i}", 2, spread, Fraction(1)) for i in range(5)),
    )
    bounds = {}
    for form, (_, model_of, _, _) in FORMS.items():
        model = model_of(instance)
        TransformationFactory("core.relax_integer_vars").apply_to(model)
        bounds[form] = solve_model(model).objective
    # all five pairs fit in parts; four of five pairs and one app at rho 1, shared evenly
    assert bounds == pytest.approx({"places": 0.5, "patterns": 0.8 * 0.5 + 0.2}, rel=1e-6)
    assert optimum(instance, "places") == optimum(instance, "patterns") == 1.0


def test_useless_bundles_are_left_out():
    instance = gangopt.load("fair_share/themis-figure5b")
    options = options_of(instance.market)
    # without a preference for places only counts matter; four spread GPUs of VGG16 are worth less than four together
    assert [item.key for item in options[0]] == [(0, 2, 0, k) for k in range(5)]
    assert [item.key for item in options[1]] == [
        *((1, 2, 0, k) for k in range(5)),
        *((1, 0, 0, k) for k in (2, 3, 4)),
        (1, 0, 1, 2),
        (1, 0, 2, 2),
    ]
    kept = cheapest(options, [0.5])
    assert [[item.key for item in mine] for mine in kept] == [
        [(0, 2, 0, 2)],
        [(1, 2, 0, 3), (1, 0, 0, 2), (1, 0, 1, 2), (1, 0, 2, 2)],
    ]


@settings(max_examples=40)
@given(st.integers(0, 1000), st.booleans(), st.integers(0, 9))
def test_some_bundle_inside_is_worth_the_whole_and_fits_its_place(seed, held, chance):
    instance = small(seed, held=held)
    market = instance.market
    rows = rows_of(heuristics.random(instance, seed=chance).bundles, len(instance.machines))
    chosen = best_inside(market, options_of(market), rows)
    assert [item.app for item in chosen] == list(range(len(rows)))
    assert [item.value for item in chosen] == [market.value(i, row) for i, row in enumerate(rows)]
    placed = given_counts(market, chosen)
    assert instance.check(FairShareSolution(bundles_of(placed))) == []
    assert all(market.value(i, row) >= item.value for i, (row, item) in enumerate(zip(placed, chosen, strict=True)))


def test_apps_without_a_value_and_held_gpus_are_refused(monkeypatch):
    instance = gangopt.load("fair_share/themis-figure5a")
    none = replace(instance, apps=(instance.apps[0], AppBid.from_rows("big", [(9, "cluster", 1)])))
    for model_of in (places.model, patterns.model):
        with pytest.raises(InfeasibleError, match="everyone_served: no bundle on offer gives app big a value above 0"):
            model_of(none)
    holding = replace(instance, apps=(replace(instance.apps[0], held=((0, 1),)), instance.apps[1]))
    with pytest.raises(
        InputError,
        match=r"formulation patterns requires apps without held GPUs \(A1-vgg16 holds some\); use formulation places",
    ):
        patterns.model(holding)
    monkeypatch.setattr(size, "MAX_COLUMNS", 3)
    monkeypatch.setattr("gangopt.formulations.fair_share._patterns.MAX_PATTERNS", 3)
    with pytest.raises(ModelTooLargeError, match="formulation fair_share patterns would have 4 columns"):
        patterns.model(instance)


def test_the_example_of_dominant_resource_fairness():
    instance = gangopt.load("fair_share/two-resources")
    model = ConcreteModel()
    fill_dominant_share(model, instance.market)
    model.objective = Objective(expr=model.objective_value, sense=maximize)
    assert solve_model(model).objective == pytest.approx(2 / 3)
    assert [value(model.gpus[i]) for i in (0, 1)] == pytest.approx([3, 2])
    assert dominant_share_gpus(instance.market) == pytest.approx((3, 2), abs=1e-6)
    assert heuristics.progressive_filling(instance.market).tolist() == [3, 2]


def water_level(market):
    """Return GPUs of continuous progressive filling, in exact rationals: all grow alike until something is used up."""
    n, total = len(market.apps), market.total_gpus
    unit = [max([Fraction(1, total)] + [Fraction(d) / Fraction(c) for d, c in zip(row, market.capacities, strict=True)])
            for row in market.demands.tolist()]  # fmt: skip
    gpus, growing = [Fraction(0)] * n, set(range(n))
    limits = [([Fraction(1)] * n, Fraction(total))]
    limits += [
        ([Fraction(d) for d in column], Fraction(c))
        for column, c in zip(market.demands.T.tolist(), market.capacities.tolist(), strict=True)
    ]
    while growing:
        steps = [(market.wanted[i] - gpus[i]) * unit[i] for i in growing]
        for weights, capacity in limits:
            rate = sum(weights[i] / unit[i] for i in growing)
            if rate:
                steps.append((capacity - sum(w * x for w, x in zip(weights, gpus, strict=True))) / rate)
        step = min(steps)
        for i in growing:
            gpus[i] += step / unit[i]
        full = [w for w, capacity in limits if sum(a * x for a, x in zip(w, gpus, strict=True)) == capacity]
        growing -= {i for i in growing if gpus[i] == market.wanted[i] or any(w[i] for w in full)}
    return gpus


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(0, 3))
def test_linear_programs_are_progressive_filling(seed, apps, resources):
    market = random(apps=apps, machines=3, resources=resources, seed=seed).market
    assert dominant_share_gpus(market) == pytest.approx([float(x) for x in water_level(market)], rel=1e-5, abs=1e-5)


def wide(rows, zero=0, offered=(2,)):
    machines = tuple(f"m{m}" for m in range(len(offered)))
    return FairShareInstance(
        name="wide",
        racks=("r",),
        machines=machines,
        machine_rack=np.zeros(len(offered), dtype=np.int64),
        offered=np.array(offered),
        apps=tuple(AppBid.from_rows(f"a{i}", own, zero) for i, own in enumerate(rows)),
    )


@pytest.mark.parametrize("form", FORMS)
def test_values_far_apart_are_solved_in_units_of_the_least_rho(form):
    rows = [
        (5, "rack", 10**15),
        (6, "rack", "0.00001"),
        (1, "rack", 1),
        (2, "cluster", 10**12),
        (4, "cluster", 100),
        (6, "machine", "0.000000001"),
    ]
    result = gangopt.solve(wide([rows]), form=form)
    assert (result.termination, result.objective, result.bound) == ("optimal", 1e-12, 1e-12)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), width=st.integers(0, 15), form=st.sampled_from(sorted(FORMS)))
def test_values_of_any_range_never_end_as_an_error(seed, width, form):
    draw = np.random.default_rng(seed)
    tables = [
        {
            (int(draw.integers(1, 6)), str(draw.choice(LEVELS))): Fraction(10) ** int(draw.integers(-width, width + 1))
            for _ in range(4)
        }
        for _ in range(2)
    ]
    rows = [[(gpus, level, value) for (gpus, level), value in table.items()] for table in tables]
    instance = wide(rows, Fraction(1, 10**width), (2, 3))
    best = gangopt.solve(instance).objective
    result = gangopt.solve(instance, form=form)
    assert result.termination in {"optimal", "completed"}
    assert result.bound <= best * (1 + 1e-9)
    if result.termination == "optimal":
        assert result.objective == pytest.approx(best, rel=1e-9)
    else:
        assert result.reason == f"the solution read from formulation {form} is worse than its optimum"


@pytest.mark.parametrize("form", FORMS)
def test_an_optimum_beyond_the_widest_range_is_completed_with_its_bound(form):
    # one GPU for two apps: the one that gets none waits 1e12 times as long
    rows = [[(1, "machine", 1)], [(1, "machine", 1)]]
    result = gangopt.solve(wide(rows, "0.000000000001", (1,)), form=form)
    assert (result.termination, result.objective, result.bound) == ("completed", 1e12, 1e6)
    assert "is worse than its optimum" in result.reason
