"""The judge of `fair_share`, what instances are refused, and the market that forms are built from."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.auction.bids import AppBid
from gangopt.instances.fair_share.generate import bid_of, random
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.market import better, bundles_of, rows_of
from gangopt.instances.fair_share.solution import FairShareSolution
from gangopt.instances.fair_share.text import describe, describe_solution


def plain(**changes):
    fields = {
        "name": "t",
        "racks": ("r0", "r1"),
        "machines": ("m0", "m1", "m2"),
        "machine_rack": [0, 0, 1],
        "offered": [2, 1, 3],
        "apps": (
            AppBid.from_rows("a", [(1, "cluster", Fraction(1, 2)), (2, "machine", 1), (2, "rack", Fraction(9, 10))]),
            AppBid.from_rows("b", [(3, "cluster", 2)]),
        ),
        "resources": ("cpu",),
        "capacities": [10],
        "demands": [[4], [1]],
    }
    return FairShareInstance(**(fields | changes))


def test_objective_and_metrics_by_hand():
    instance = plain()
    score = instance.evaluate(FairShareSolution((((0, 1), (1, 1)), ((2, 3),))))
    assert score.objective == pytest.approx(10 / 9)
    assert score.metrics["min_rho"] == 0.5
    assert score.metrics["rho"] == pytest.approx([10 / 9, 0.5])
    assert score.metrics["geometric_mean"] == pytest.approx(math.sqrt(0.9 * 2))
    assert score.metrics["jain"] == pytest.approx((10 / 9 + 0.5) ** 2 / (2 * ((10 / 9) ** 2 + 0.25)))
    assert (score.metrics["above_one"], score.metrics["unserved"]) == (1, 0)
    # two GPUs take 8 of 10 cores, three GPUs are half of six
    assert score.metrics["least_dominant_share"] == 0.5
    assert (score.metrics["gpus_used"], score.metrics["gpus_left_over"]) == (5, 1)
    assert score.metrics["placement"] == pytest.approx((0.9 + 1) / 2)


def test_an_app_without_a_value_has_no_bound_on_rho():
    instance = plain()
    score = instance.evaluate(FairShareSolution((((0, 2),), ((2, 2),))))
    assert score.objective == math.inf
    assert (score.metrics["unserved"], score.metrics["above_one"], score.metrics["geometric_mean"]) == (1, 1, 0.0)


@pytest.mark.parametrize(
    ("bundles", "text"),
    [
        ((((0, 1),),), "one_bundle_per_app at number of bundles: 1, allowed 2"),
        ((((3, 1),), ()), "known_machine at 1 GPUs on machine 3: 3, allowed 2"),
        ((((0, 2),), ((0, 1),)), "machine_capacity at machine m0: 3 GPUs, allowed 2 GPUs"),
        ((((2, 3),), ()), "resource_capacity at cpu: 12, allowed 10"),
    ],
)
def test_broken_rules(bundles, text):
    assert [str(item) for item in plain().check(FairShareSolution(bundles))] == [text]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"capacities": None}, "capacities must be given for the resources cpu"),
        ({"demands": None}, "demands must be given for the resources cpu"),
        ({"capacities": [0]}, r"capacities: cpu must be a finite number > 0 \(got 0\.0\)"),
        ({"demands": [[1]]}, r"demands must have shape \(2, 1\) \(got \(1, 1\)\)"),
        ({"offered": [1, 1]}, r"offered must have shape \(3,\) \(got \(2,\)\)"),
        ({"machine_rack": [0, 0, 2]}, "machine_rack"),
        ({"resources": ("cpu", "cpu"), "capacities": [1, 1], "demands": np.ones((2, 2))}, "resources"),
        ({"apps": ()}, r"number of apps must be an integer from 1 to 10,000 \(got 0\)"),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        plain(**changes)


def test_a_solution_needs_whole_numbers():
    with pytest.raises(InputError, match=r"bundles\[0\]"):
        FairShareSolution((((0, 1.5),),))


@given(st.integers(0, 10_000), st.booleans(), st.data())
def test_the_market_values_bundles_as_the_judge_does(seed, held, data):
    instance = random(apps=2, machines=3, seed=seed)
    if held:
        where = tuple((m, 1) for m in sorted(data.draw(st.sets(st.integers(0, 2), min_size=1))))
        first = replace(instance.apps[0], held=where, value_at_zero=Fraction(1, 7))
        instance = replace(instance, apps=(first, *instance.apps[1:]))
    row = [data.draw(st.integers(0, gpus)) for gpus in instance.offered.tolist()]
    exact = [instance.auction.value(i, bundles_of([row])[0]) for i in range(2)]
    assert [instance.market.value(i, row) for i in range(2)] == pytest.approx([float(v) for v in exact], rel=1e-15)


def test_rows_and_bundles_are_each_others_inverse():
    rows = ((0, 2, 1), (0, 0, 0))
    assert bundles_of(rows) == (((1, 2), (2, 1)), ())
    assert rows_of(bundles_of(rows), 3) == rows


def test_differences_by_rounding_are_none():
    assert better(1.0, 0.999)
    assert not better(1.0, 1.0 - 1e-12)
    assert not better(0.0, 0.0)
    assert better(1e-9, 0.0)


def test_texts_name_apps_gpus_and_machines():
    instance = gangopt.load("fair_share/themis-figure5b")
    text = describe(instance)
    assert "8 GPUs on 3 machines (1 x 4 GPUs, 2 x 2 GPUs)" in text
    assert "A2-vgg16" in text
    assert "1.289" in text
    lines = list(describe_solution(instance, FairShareSolution((((0, 4),), ((1, 2), (2, 2))))))
    assert lines[2].split() == ["A2-vgg16", "4", "1.289", "2", "on", "m1,", "2", "on", "m2"]
    assert list(describe_solution(instance, FairShareSolution(((), ()))))[1].split() == [
        "A1-inception-v3",
        "0",
        "inf",
        "-",
    ]
    many = random(apps=25)
    assert describe(many).endswith("... and 5 more")
    assert "10 of cpu in the cluster" in describe(plain())


def test_bids_follow_equation_1():
    # elapsed time a tenth of the serial time, three GPUs at most, an own share of two GPUs
    app = bid_of("a", 3, (Fraction(1), Fraction(11, 10), Fraction(13, 10)), Fraction(2), elapsed=Fraction(1, 10))
    assert 1 / app.at(2, 3) == (Fraction(1, 10) + Fraction(13, 30)) * 2
    assert 1 / app.at(0, 2) == (Fraction(1, 10) + Fraction(1, 2)) * 2
    assert app.at(2, 1) == app.at(0, 1)
    assert app.at(1, 9) == app.at(1, 3)
