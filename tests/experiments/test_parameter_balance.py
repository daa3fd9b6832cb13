"""Step times by eqn 2: by hand, against the bound, and between the rules."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.catalogue import load
from gangopt.experiments.parameter_balance import StepModel, balanced, parameter_balance, picture
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution


def blocks(sizes, servers):
    return ParametersInstance(name="parameters/made", shapes=tuple((size,) for size in sizes), servers=servers)


def test_slowest_server_by_hand():
    instance = blocks([1_000_000, 500_000, 250_000], 2)
    model = StepModel(10, 100.0, 0.001)
    solution = ParametersSolution((((0, 600_000), (1, 400_000)), ((1, 500_000),), ((0, 250_000),)))
    # server 0: 2 * 0.85 M * 4 bytes * 10 / 100 MB/s + 2 requests * 10 * 1 ms; server 1 holds 0.9 M
    seconds, load_, requests = model.slowest(instance, solution)
    assert seconds == pytest.approx(2 * 3.6 * 10 / 100 + 2 * 10 * 0.001)
    assert (load_, requests) == (900_000, 4)
    assert model.bound(instance) == pytest.approx((2 * 7.0 * 10 / 100 + 3 * 10 * 0.001) / 2)


@given(st.lists(st.integers(1, 3_000_000), min_size=1, max_size=30), st.integers(1, 8), st.sampled_from([0.0, 1e-4, 1]))
@settings(max_examples=80, deadline=None)
def test_balanced_is_feasible_and_near_the_bound(sizes, servers, request_seconds):
    instance = blocks(sizes, servers)
    model = StepModel(10, 125.0, request_seconds)
    solution = balanced(instance, model)
    assert not instance.check(solution)
    seconds, _, _ = model.slowest(instance, solution)
    low = model.bound(instance)
    assert seconds >= low * (1 - 1e-9)
    if request_seconds < 1:
        # p - 1 requests more over p servers, one for a server whose room ends inside a parameter
        assert seconds <= low + 2 * model.request + servers * model.parameter + 1e-12


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_no_whole_assignment_is_better_without_transfers(sizes, servers):
    instance = blocks(sizes, servers)
    model = StepModel(1, 8.0, 1.0)
    best = min(
        model.slowest(instance, ParametersSolution(tuple(((k, b),) for k, b in zip(chosen, sizes, strict=True))))[0]
        for chosen in itertools.product(range(servers), repeat=len(sizes))
    )
    # requests cost a million times what a parameter costs, so nothing is cut and counts decide
    assert model.slowest(instance, balanced(instance, model))[0] <= best + 9 * model.parameter * len(sizes)


@pytest.fixture(scope="module")
def table():
    return parameter_balance(["resnet50", "alexnet"], servers=[4, 10], draws=4)


def test_rows(table):
    assert [(row["network"], row["servers"]) for row in table.rows] == [
        ("resnet50", 4),
        ("resnet50", 10),
        ("alexnet", 4),
        ("alexnet", 10),
    ]
    for row in table.rows:
        assert row["bound"] <= row["optimum"] <= row["paa"] < row["mxnet"]
        assert row["optimum"] <= row["bound"] * 1.01
    ten = table.rows[1]
    # figures of table 3: 157 requests with PAA, 247 with MXNet's rule
    assert (ten["paa requests"], ten["mxnet requests"]) == (157, 247)
    instance = load("parameters/resnet50-p10")
    assert ten["bound"] == pytest.approx(0.449 + (8e-6 * 10 / 125 * int(instance.sizes.sum()) + 157 * 1e-3) / 10)
    assert ten["speed of paa to mxnet"] == pytest.approx(ten["mxnet"] / ten["paa"])


def test_picture(table):
    panels = picture(table).axes
    assert [axes.get_title() for axes in panels] == ["resnet50", "alexnet"]
    mxnet = panels[0].get_lines()[0]
    assert mxnet.get_xdata().tolist() == [4, 10]
    assert mxnet.get_ydata().tolist() == pytest.approx([1 / row["mxnet"] for row in table.rows[:2]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"networks": ["resnet5"]}, r"unknown network 'resnet5'; did you mean 'resnet50', 'resnet152' or"),
        ({"workers": 0}, r"workers must be an integer from 1 to 10,000 \(got 0\)"),
        ({"bandwidth": 0.0}, r"bandwidth must be a number > 0 and <= 1e0?9 MB/s \(got 0"),
        ({"request_seconds": -1.0}, r"request_seconds must be a number from 0 to 1000 s \(got -1"),
        ({"draws": 0}, r"draws must be an integer from 1 to 1000 \(got 0\)"),
        ({"servers": [0]}, r"servers must be an integer from 1 to 10,000 \(got 0\)"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        parameter_balance(**arguments)
