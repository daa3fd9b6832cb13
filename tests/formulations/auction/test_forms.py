"""Every form of the auction against enumeration in exact rationals, and row by row on small cases."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from pyomo.environ import Block, ConcreteModel, Constraint, Objective, maximize, value

from gangopt.base.errors import ModelTooLargeError
from gangopt.formulations.auction import bids, nested_flow, places
from gangopt.formulations.auction.columns import Column, app_columns, app_groups
from gangopt.formulations.auction.goal import goal_of, mean_from_goal
from gangopt.formulations.auction.racks import plan_of
from gangopt.instances.auction.bids import CLUSTER, MACHINE, RACK, AppBid
from gangopt.solvers.highs import compile_model, solve_model
from gangopt.solvers.highs.session import current_values
from helpers import auction_cases as cases

FORMS = {
    "bids": (bids.model, bids.read, bids.hint, bids.fill),
    "places": (places.model, places.read, places.hint, places.fill),
    "nested_flow": (nested_flow.model, nested_flow.read, nested_flow.hint, nested_flow.fill),
}


def outcome_of(instance, solution):
    """Apps served and the exact product of their values."""
    values = [instance.value(i, bundle) for i, bundle in enumerate(solution.bundles)]
    return sum(map(bool, values)), math.prod((v for v in values if v), start=Fraction(1))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(instance=cases.auctions())
def test_a_form_has_the_optimum_of_enumeration_and_its_hint_is_feasible(form, instance):
    model_of, read, hint, _ = FORMS[form]
    served, product, _ = cases.enumerate_best(instance)
    model = model_of(instance)
    solved = solve_model(model)
    assert solved.termination == "optimal"
    solution = read(model, instance)
    assert instance.check(solution) == []
    assert outcome_of(instance, solution) == (served, product)
    judged = instance.evaluate(solution).objective
    assert mean_from_goal(instance, solved.objective) == pytest.approx(judged, rel=1e-9, abs=1e-12)
    hint(model, instance, solution)
    assert value(model.objective) == pytest.approx(solved.objective, abs=1e-8)
    arrays = compile_model(model)
    activity = arrays.activity(current_values(arrays))
    assert np.all(activity >= arrays.row_lower - 1e-9)
    assert np.all(activity <= arrays.row_upper + 1e-9)


def two_racks():
    """Example: two apps that want 16 GPUs, four machines of four in two racks."""
    return cases.auction([cases.linear_bid(name, 16, 16) for name in "ab"], [(4, 4), (4, 4)])


def relaxation(model):
    arrays = compile_model(model)
    from dataclasses import replace

    from gangopt.solvers.highs import solve_arrays

    return solve_arrays(replace(arrays, integer=np.zeros_like(arrays.integer))).objective


def test_the_relaxation_of_the_flow_is_no_weaker_than_that_of_places():
    instance = cases.auction(
        [cases.linear_bid(f"a{i}", 8, 4, elapsed=Fraction(i, 4)) for i in range(3)], [(3, 2), (3, 2)]
    )
    optimum = solve_model(nested_flow.model(instance)).objective
    flow, placed = relaxation(nested_flow.model(instance)), relaxation(places.model(instance))
    assert optimum - 1e-9 <= flow <= placed + 1e-9
    assert flow - optimum < placed - optimum - 1e-3


@pytest.mark.parametrize("form", FORMS)
def test_a_form_can_be_embedded_twice_with_a_linking_row(form):
    fill = FORMS[form][3]
    parent = ConcreteModel()
    instance = cases.auction([cases.linear_bid(name, 4, 3) for name in "ab"], [(2, 1), (2,)])
    parent.first, parent.second = Block(), Block()
    fill(parent.first, instance)
    fill(parent.second, instance)
    parent.total = Objective(expr=parent.first.objective_value + parent.second.objective_value, sense=maximize)
    alone = solve_model(FORMS[form][0](instance)).objective
    assert solve_model(parent).objective == pytest.approx(2 * alone)
    parent.link = Constraint(expr=parent.first.objective_value <= alone - 0.5)
    assert solve_model(parent).objective <= 2 * alone - 0.5 + 1e-7


def test_dominated_rows_are_dropped():
    columns = app_columns(two_racks())[0]
    assert columns[0] == Column(MACHINE, 2, Fraction(1, 8))
    assert Column(CLUSTER, 1, Fraction(1, 16)) in columns  # a single GPU is in one machine wherever it is
    assert not any(c.level == MACHINE and c.gpus > 4 for c in columns)
    assert not any(c.level == RACK and c.gpus > 8 for c in columns)
    # 9 GPUs over two racks: 5 of them are bound to be in one rack, 5 / 1.1 < 9 / 1.3, so the column stays
    assert Column(CLUSTER, 9, Fraction(9) / (16 * Fraction(13, 10))) in columns
    # 5 GPUs over two racks: 3 are bound to be in one, 2 of a machine: 5 / 1.3 is more than 3 / 1.1
    flat = cases.auction([cases.linear_bid("a", 1, 4, (1, 1, 1))], [(4, 4), (4, 4)])
    assert [(c.level, c.gpus) for c in app_columns(flat)[0]] == [(CLUSTER, k) for k in range(1, 5)]


def test_gpus_that_are_bound_to_be_together_make_a_wide_row_useless():
    bid = AppBid.from_rows("a", [(1, "machine", 3), (2, "cluster", 2), (3, "machine", 5), (5, "rack", 5)])
    instance = cases.auction([bid], [(4, 4)])
    # one GPU is always in one machine; of five in one rack three are in one machine
    assert [(c.level, c.gpus) for c in app_columns(instance)[0]] == [(MACHINE, 3), (CLUSTER, 1)]


def test_proportional_tables_are_one_group_only_where_all_are_served():
    apps = [cases.linear_bid("a", 2, 3), cases.linear_bid("b", 4, 3), cases.linear_bid("c", 4, 2)]
    instance = cases.auction(apps, [(4, 4)])
    assert [group.apps for group in app_groups(instance, all_served=True)] == [(0, 1), (2,)]
    assert [group.apps for group in app_groups(instance, all_served=False)] == [(0,), (1,), (2,)]


def test_racks_of_equal_machines_are_one_class():
    plan = nested_flow.plan_for(two_racks())
    assert [(kind.racks, kind.gpus) for kind in plan.rack_classes] == [((0, 1), 8)]
    assert [kind.machines for kind in plan.machine_classes] == [(0, 1, 2, 3)]
    assert all(sum(pattern) <= 4 for pattern in plan.machine_classes[0].patterns)
    assert (2, 2) in plan.machine_classes[0].patterns


def test_one_rack_needs_no_flow():
    instance = cases.auction([cases.linear_bid("a", 1, 4)], [(4, 4)])
    plan = nested_flow.plan_for(instance)
    assert plan.rack_classes == ()
    model = nested_flow.model(instance)
    assert model.component("rack_path") is None
    assert model.component("machines_of_class") is not None


def test_goals_by_count_and_by_weight():
    gang = AppBid.from_rows("gang", [(2, "machine", 1), (3, "cluster", 1)])
    more = [cases.linear_bid(name, 1, 1) for name in "abc"]
    assert goal_of(cases.auction(more, [(4,)])).all_served
    counted = goal_of(cases.auction(more, [(2,)]))
    assert (counted.needed, counted.weight) == (2, 0.0)
    assert goal_of(cases.auction([gang], [(2, 1)])).weight > 0
    missed = cases.auction([gang], [(1, 1), (0,)])
    assert mean_from_goal(missed, solve_model(places.model(missed)).objective) == 1.0  # nobody can be served
    two = cases.auction([gang, AppBid.from_rows("b", [(2, "machine", 1), (2, "cluster", 1)])], [(2, 1), (1,)])
    assert mean_from_goal(two, solve_model(nested_flow.model(two)).objective) == 1.0


def test_a_goal_that_counting_promises_and_places_refuse_has_a_score_below_zero():
    gang = AppBid.from_rows("gang", [(2, "machine", 1), (4, "cluster", 1)])
    other = AppBid.from_rows("other", [(2, "machine", 1), (4, "cluster", 1)])
    instance = cases.auction([gang, other], [(2, 1, 1)])
    assert instance.servable == 2
    for model_of, *_ in FORMS.values():
        assert mean_from_goal(instance, solve_model(model_of(instance)).objective) == -1.0


def test_models_that_would_be_too_large_are_refused():
    many = cases.auction([cases.linear_bid("a", 1, 2)], [(4,) * 12])
    with pytest.raises(ModelTooLargeError, match="auction bids"):
        bids.model(many)


def test_machines_of_many_patterns_are_cut_piece_by_piece():
    apps = [cases.linear_bid(f"a{d}", d, 34, elapsed=1) for d in range(1, 3)]
    instance = cases.auction(apps, [(36, 34), (4,)])
    plan = plan_of(instance, app_groups(instance, all_served=True))
    assert [(kind.alone, kind.machines) for kind in plan.machine_classes][:2] == [(True, (0,)), (True, (1,))]
    assert plan.machine_classes[0].patterns[-1] == (2,)
    assert plan.machine_classes[0].most(len(plan.machine_classes[0].patterns) - 1) == 18
    model, other = nested_flow.model(instance), places.model(instance)
    best = solve_model(other).objective
    assert solve_model(model).objective == pytest.approx(best, abs=1e-7)
    solution = nested_flow.read(model, instance)
    assert instance.check(solution) == []
    nested_flow.hint(model, instance, solution)
    assert value(model.objective) == pytest.approx(best, abs=1e-7)


@settings(max_examples=40)
@given(instance=cases.auctions())
def test_cutting_piece_by_piece_has_the_same_optimum(instance):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gangopt.formulations.auction.racks.MAX_PATTERNS", 1)
        model = nested_flow.model(instance)
        assert solve_model(model).termination == "optimal"
        solution = nested_flow.read(model, instance)
    assert instance.check(solution) == []
    served, product, _ = cases.enumerate_best(instance)
    assert outcome_of(instance, solution) == (served, product)


def rows_of(model):
    """Text of each row: coefficients by variable name, sorted, and its sides."""
    arrays = compile_model(model)
    found = {}
    for r in range(arrays.n_rows):
        part = slice(arrays.starts[r], arrays.starts[r + 1])
        terms = sorted(
            f"{coef:+g} {arrays.column_name(j)}"
            for j, coef in zip(arrays.indices[part].tolist(), arrays.values[part].tolist(), strict=True)
        )
        found[arrays.row_name(r)] = (" ".join(terms), arrays.row_lower[r], arrays.row_upper[r])
    return found


def small():
    """One app, two machines of 2 and 1 GPU in two racks of a cluster, 2 GPUs at most."""
    rows = [(1, "machine", 1), (2, "machine", 4), (2, "rack", 3), (2, "cluster", 2)]
    return cases.auction([AppBid.from_rows("a", rows)], [(2, 1), (2,)])


def test_the_rows_of_bids():
    rows = rows_of(bids.model(cases.auction([AppBid.from_rows("a", [(1, "machine", 1), (2, "machine", 4)])], [(2,)])))
    assert rows["one_bundle_per_app[0]"] == ("+1 assign[0,0] +1 assign[0,1]", 1, 1)
    assert rows["machine_capacity[0]"] == ("+1 assign[0,0] +2 assign[0,1]", -np.inf, 2)
    assert len(rows) == 2


def test_the_rows_of_places():
    rows = rows_of(places.model(small()))
    twos = ("0,0,0,2", "0,0,2,2", "0,1,0,2", "0,1,1,2", "0,2,0,2")
    terms = " ".join(["+1 assign[0,2,0,1]", *(f"+2 assign[{key}]" for key in twos)])
    assert rows["offered_gpus"] == (terms, -np.inf, 5)
    assert rows["machine_capacity[0]"] == ("+2 assign[0,0,0,2]", -np.inf, 2)
    assert rows["rack_capacity[0]"] == ("+2 assign[0,0,0,2] +2 assign[0,1,0,2]", -np.inf, 3)
    assert rows["one_bundle_per_app[0]"][1:] == (1, 1)
    assert set(rows) == {
        "one_bundle_per_app[0]",
        "offered_gpus",
        *(f"machine_capacity[{m}]" for m in (0, 2)),
        *(f"rack_capacity[{r}]" for r in (0, 1)),
    }


def test_the_rows_of_nested_flow():
    instance = small()
    rows = rows_of(nested_flow.model(instance))
    assert rows["one_bundle_per_app[0]"][1:] == (1, 1)
    assert rows["machine_holes[2]"] == ("+1 assign[0,0,2] -1 cut[0,0]", -np.inf, 0)
    assert rows["machine_fill[0,2]"] == ("+1 cut[0,0] -1 fill[0,0,0,0,2] -1 fill[1,0,0,0,2]", -np.inf, 0)
    assert rows["rack_pieces[2]"][0].startswith("+1 assign[0,1,2] -1 take[")
    assert rows["rack_path[0,0,0,0]"][2] == 1
    assert rows["offered_gpus"][2] == 5


def test_homes_get_rows_of_their_own():
    rows = [(2, "machine", 4), (2, "rack", 3), (2, "cluster", 2)]
    holder = AppBid.from_rows("h", rows, value_at_zero=1, held=((0, 1),))
    instance = cases.auction([holder, cases.linear_bid("b", 1, 2)], [(2, 2), (2, 2)])
    found = rows_of(nested_flow.model(instance))
    assert "+2 assign[0,0,2]" in found["machine_alone[0]"][0] or "+2 assign[0,0,2]" in found["machine_alone[1]"][0]
    assert any(name.startswith("rack_alone[") and "+2 assign[0,1,2]" in row[0] for name, row in found.items())


def test_the_row_of_the_most_apps_served():
    instance = cases.auction([cases.linear_bid(name, 1, 1) for name in "abc"], [(2,)])
    for model_of in (places.model, bids.model):
        assert rows_of(model_of(instance))["most_apps_served"][1:] == (2, 2)
    assert rows_of(nested_flow.model(instance))["most_apps_served"] == ("+1 assign[0,2,1]", 2, 2)
