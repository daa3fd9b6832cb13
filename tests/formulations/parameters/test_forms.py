"""Forms `assign` and `groups` of `parameters`: equal optima, readable rows, blocks inside other models."""

from __future__ import annotations

import io
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.environ import Block, ConcreteModel, Constraint, Objective, TransformationFactory, Var, minimize, value

from gangopt.base.errors import InputError, ModelTooLargeError
from gangopt.formulations.parameters import Assign, Groups, assign, groups
from gangopt.instances.parameters.generate import network
from gangopt.instances.parameters.grouping import cut
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution
from gangopt.solvers.core.clock import Clock
from gangopt.solvers.highs import solve_model
from gangopt.solvers.parameters.heuristics import lpt, mxnet
from gangopt.solvers.parameters.levels import search_of


def make(sizes, servers):
    return ParametersInstance(name="test", shapes=tuple((size,) for size in sizes), servers=servers)


def rows(model, name):
    """Return the rows of a constraint family as text, (lower, body, upper)."""
    return [str(item.expr) for item in model.component(name).values()]


KNOWN = [
    ((7, 5, 4), 3, (3, 1, 1)),
    ((9, 2, 2, 2), 3, (7, 2, 0)),
    ((6, 5, 5), 2, (4, 0)),
    ((5, 5, 5), 2, (5, 1)),
    ((5, 5, 5, 5), 3, (5, 3, 1)),
    ((8, 7, 6, 5, 4), 2, (0, 0)),
]


@pytest.mark.parametrize(
    ("sizes", "servers", "cuts", "best"), [(s, p, c, d) for s, p, ds in KNOWN for c, d in enumerate(ds)]
)
def test_both_forms_have_the_enumerated_optimum(sizes, servers, cuts, best):
    instance = make(sizes, servers)
    for model, read in (
        (Groups(cuts=cuts).model(instance), groups.read),
        (Assign(requests=len(sizes) + cuts).model(instance), assign.read),
    ):
        outcome = solve_model(model)
        assert outcome.termination == "optimal"
        assert value(model.objective_value) == pytest.approx(best)
        solution = read(model, instance)
        assert instance.check(solution) == []
        metrics = instance.evaluate(solution).metrics
        assert metrics["size_difference"] == best
        assert metrics["requests"] <= len(sizes) + cuts


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.integers(1, 3), st.data())
def test_forms_agree_with_each_other_and_with_the_levels(sizes, servers, data):
    instance = make(sizes, servers)
    cuts = data.draw(st.integers(0, servers - 1))
    level = search_of(instance).level(cuts, Clock())
    start = cut(instance, level.assignment)
    merged = Groups(cuts=cuts).model(instance)
    groups.hint(merged, instance, start)
    one = solve_model(merged, warm_start=True).objective
    parts = Assign(requests=len(sizes) + cuts).model(instance)
    assign.hint(parts, instance, start)
    other = solve_model(parts, warm_start=True).objective
    assert one == pytest.approx(other, abs=1e-6)
    assert level.bound <= round(one) <= level.assignment.difference


@pytest.mark.parametrize("objective", ["size_difference", "requests", "request_difference"])
def test_each_objective_can_be_minimised_and_capped(objective):
    instance = make((9, 2, 2, 2), 3)
    model = Assign(objective=objective, requests=6, size_difference=2, request_difference=1).model(instance)
    outcome = solve_model(model)
    metrics = instance.evaluate(assign.read(model, instance)).metrics
    assert outcome.objective == pytest.approx(metrics[objective])
    # nine in two parts and three twos: five requests at best, which three servers cannot share evenly
    assert metrics[objective] == {"size_difference": 0, "requests": 5, "request_difference": 0}[objective]


def test_rows_of_assign():
    model = Assign(requests=3, size_difference=2, request_difference=1).model(make((6, 4), 2))
    assert rows(model, "whole_block")[0] == "amount[block0,0] + amount[block0,1]  ==  6"
    assert rows(model, "held_block")[0] == "1  <=  present[block0,0] + present[block0,1]"
    assert rows(model, "part_within_block")[0] == "amount[block0,0] - 6*present[block0,0]  <=  0"
    assert rows(model, "positive_part")[0] == "0  <=  amount[block0,0] - present[block0,0]"
    assert rows(model, "load_at_most")[1] == "amount[block0,1] + amount[block1,1] - most_loaded  <=  0"
    assert rows(model, "load_at_least")[1] == "0  <=  amount[block0,1] + amount[block1,1] - least_loaded"
    assert rows(model, "requests_at_most")[1] == "present[block0,1] + present[block1,1] - most_requests  <=  0"
    assert rows(model, "requests_at_least")[1] == "0  <=  present[block0,1] + present[block1,1] - least_requests"
    everything = "present[block0,0] + present[block0,1] + present[block1,0] + present[block1,1]"
    assert rows(model, "request_limit") == [f"{everything}  <=  3"]
    assert rows(model, "size_difference_limit") == ["most_loaded - least_loaded  <=  2"]
    assert rows(model, "request_difference_limit") == ["most_requests - least_requests  <=  1"]
    assert len(list(model.component_objects(Constraint))) == 11


def test_rows_of_groups_without_cuts():
    model = Groups(size_difference=2, request_difference=1).model(make((6, 4, 4), 2))
    assert rows(model, "every_block") == [
        "blocks_in_group[6,0] + blocks_in_group[6,1]  ==  1",
        "blocks_in_group[4,0] + blocks_in_group[4,1]  ==  2",
    ]
    assert rows(model, "load_at_most")[0] == "3*blocks_in_group[6,0] + 2*blocks_in_group[4,0] - most_loaded  <=  0"
    assert rows(model, "load_at_least")[0] == "0  <=  3*blocks_in_group[6,0] + 2*blocks_in_group[4,0] - least_loaded"
    assert rows(model, "requests_at_most")[0] == "blocks_in_group[6,0] + blocks_in_group[4,0] - most_requests  <=  0"
    assert rows(model, "requests_at_least")[0] == "0  <=  blocks_in_group[6,0] + blocks_in_group[4,0] - least_requests"
    assert rows(model, "size_difference_limit") == ["most_loaded - least_loaded  <=  1"]
    assert rows(model, "request_difference_limit") == ["most_requests - least_requests  <=  1"]
    assert len(list(model.component_objects(Constraint))) == 7


def test_rows_of_groups_with_cuts():
    model = Groups(cuts=1).model(make((6, 4), 3))
    # total 10 on 3 servers: a server has at least 4 at most, and at most 3 at least
    assert rows(model, "one_group_size")[0] == "has_servers[0,1] + has_servers[0,2]  ==  1"
    assert rows(model, "all_servers") == [
        "has_servers[0,1] + 2*has_servers[0,2] + has_servers[1,1] + 2*has_servers[1,2]  ==  3"
    ]
    body = "6*blocks_in_group[6,0] + 4*blocks_in_group[4,0]"
    assert rows(model, "load_at_most")[:2] == [
        f"{body} - most_loaded + 6*has_servers[0,1]  <=  6",
        f"{body} - 2*most_loaded + 2*has_servers[0,2]  <=  2",
    ]
    assert rows(model, "load_at_least")[:2] == [
        f"-3  <=  {body} - least_loaded - 3*has_servers[0,1]",
        f"-6  <=  {body} - 2*least_loaded - 6*has_servers[0,2]",
    ]
    assert len(list(model.component_objects(Constraint))) == 5


@pytest.mark.parametrize(("model", "bound"), [(assign.model, 0.0), (groups.model, 0.0)])
def test_relaxations_know_only_the_trivial_bound(model, bound):
    built = model(make((7, 5, 4), 3))
    TransformationFactory("core.relax_integer_vars").apply_to(built)
    # 16 on 3 servers: the bounds of the extremes, 6 and 5, are integers
    assert solve_model(built).objective == pytest.approx(bound + 1)


@pytest.mark.parametrize("fill", [assign.fill, groups.fill])
def test_two_networks_share_the_servers_of_one_model(fill):
    parent = ConcreteModel()
    instances = {"a": make((6, 5, 5), 2), "b": make((9, 2), 2)}
    parent.networks = Block(list(instances), rule=lambda block, key: fill(block, instances[key]))
    load = {
        key: parent.networks[key].component("total" if fill == groups.fill else "parameters_on") for key in instances
    }
    parent.limit = Constraint([0, 1], rule=lambda _, k: load["a"][k] + load["b"][k] <= 16)
    parent.objective = Objective(expr=sum(parent.networks[key].objective_value for key in instances), sense=minimize)
    assert not list(parent.networks["a"].component_objects(Objective))
    outcome = solve_model(parent)
    # each alone: 4 and 7; 27 in all leave a server at least 11, so one network's light side meets the other's heavy one
    assert outcome.objective == pytest.approx(11)
    assert max(value(load["a"][k] + load["b"][k]) for k in (0, 1)) <= 16


def test_a_block_built_alone_gets_its_parents_name():
    parent = ConcreteModel()
    parent.net = Block(concrete=True)
    groups.fill(parent.net, make((6, 5), 2))
    stream = io.StringIO()
    parent.net.every_block.pprint(ostream=stream)
    assert "net.blocks_in_group[6,0]" in stream.getvalue()


def test_amounts_are_made_whole_and_even():
    instance = make((10, 3), 3)
    model = Assign(requests=4).model(instance)
    assign.hint(model, instance, ParametersSolution((((0, 8), (1, 2)), ((1, 2), (2, 1)))))
    model.amount["block0", 0].set_value(7.6)
    # 8, 4 and 1: one goes from the first over the second to the third, then one from the first to the second
    assert assign.read(model, instance).parts == (((0, 6), (1, 4)), ((1, 1), (2, 2)))


def test_hints_set_every_variable_and_are_feasible():
    instance = network("resnet50", 4)
    for model, hint, solution in (
        (assign.model(instance), assign.hint, lpt(instance)),
        (Assign(requests=None).model(instance), assign.hint, mxnet(instance)),
        (groups.model(instance), groups.hint, lpt(instance)),
        (Groups(cuts=3).model(instance), groups.hint, lpt(instance)),
    ):
        hint(model, instance, solution)
        for constraint in itertools.chain.from_iterable(item.values() for item in model.component_objects(Constraint)):
            assert constraint.slack() >= -1e-6, constraint.name


def test_a_hint_with_too_many_cuts_is_refused():
    instance = network("resnet50", 4)
    model = Groups(cuts=1).model(instance)
    with pytest.raises(InputError, match="solution must leave at least 3 separate groups"):
        groups.hint(model, instance, mxnet(instance))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"objective": "size"},
            r"objective must be one of size_difference, requests, request_difference \(got 'size'\)",
        ),
        ({"requests": -1}, r"requests must be >= 0 \(got -1\)"),
        ({"size_difference": -2}, r"size_difference must be >= 0 \(got -2\)"),
        ({"request_difference": -3}, r"request_difference must be >= 0 \(got -3\)"),
    ],
)
def test_assign_refuses_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        Assign(**arguments).model(make((5, 4), 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cuts": -1}, r"cuts must be 0 to 1 for 2 servers \(got -1\)"),
        ({"cuts": 2}, r"cuts must be 0 to 1 for 2 servers \(got 2\)"),
        (
            {"cuts": 1, "objective": "request_difference"},
            r"request_difference requires cuts = 0 \(got 1\); use formulation assign",
        ),
        (
            {"cuts": 1, "request_difference": 1},
            r"request_difference requires cuts = 0 \(got 1\); use formulation assign",
        ),
    ],
)
def test_groups_refuses_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        Groups(**arguments).model(make((5, 4), 2))


def test_models_too_large_are_refused_before_they_are_built():
    with pytest.raises(ModelTooLargeError, match="parameters assign would have 6,000,004 columns"):
        assign.model(make([1] * 1000, 3000))
    with pytest.raises(ModelTooLargeError, match="parameters groups would have"):
        groups.model(make(range(1, 1001), 6000))


@pytest.mark.parametrize(
    ("model", "columns", "rows_in_all"),
    [
        (assign.model(make((5, 4, 4, 3), 3)), 2 * 12 + 4, 2 * 12 + 8 + 12 + 1),
        (groups.model(make((5, 4, 4, 3), 3)), 3 * 3 + 4, 3 + 12),
        (Groups(cuts=1).model(make((5, 4, 4, 3), 3)), 2 * (3 + 2) + 2, 3 + 1 + 2 * 5),
    ],
)
def test_models_have_the_stated_size(model, columns, rows_in_all):
    assert sum(len(item) for item in model.component_objects(Var)) == columns
    assert sum(len(item) for item in model.component_objects(Constraint)) == rows_in_all
