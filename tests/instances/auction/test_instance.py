"""The auction's instance and its judge, by hand and in exact rationals."""

from fractions import Fraction

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.auction.bids import AppBid, Bystander, exact_value
from gangopt.instances.auction.instance import AuctionInstance, mean_value
from gangopt.instances.auction.solution import AuctionSolution

F = Fraction
SLOWDOWN = (F(1), F(11, 10), F(13, 10))


def bid(label, work=8, demand=4, **kwargs):
    """V = k / (work x S) up to the demand, as of an app that has just begun."""
    rows = [
        (k, level, F(k) / (work * s))
        for k in range(1, demand + 1)
        for level, s in zip(("machine", "rack", "cluster"), SLOWDOWN, strict=True)
    ]
    return AppBid.from_rows(label, rows, **kwargs)


def auction(apps, racks=((2, 2), (2,)), bystanders=()):
    sizes = [size for rack in racks for size in rack]
    return AuctionInstance(
        name="auction/test",
        racks=tuple(f"r{r}" for r in range(len(racks))),
        machines=tuple(f"m{m}" for m in range(len(sizes))),
        machine_rack=np.repeat(np.arange(len(racks)), [len(rack) for rack in racks]),
        offered=np.array(sizes),
        apps=tuple(apps),
        bystanders=tuple(bystanders),
    )


def test_a_set_is_worth_the_best_row_that_some_part_of_it_meets():
    instance = auction([bid("a")])
    assert instance.value(0, ()) == 0
    assert instance.value(0, ((0, 2),)) == F(2, 8)
    assert instance.value(0, ((0, 2), (1, 2))) == F(4) / (8 * F(11, 10))
    assert instance.value(0, ((0, 2), (2, 2))) == F(4) / (8 * F(13, 10))
    assert instance.value(0, ((0, 1), (2, 1))) == F(2) / (8 * F(13, 10))
    narrow = AppBid.from_rows("n", [(2, "machine", 1), (3, "cluster", F(1, 2))])
    assert auction([narrow]).value(0, ((0, 2), (2, 1))) == 1


def test_more_gpus_than_demanded_add_nothing():
    instance = auction([bid("a", demand=2)], racks=((8,),))
    assert instance.value(0, ((0, 8),)) == instance.value(0, ((0, 2),)) == F(2, 8)
    assert instance.apps[0].demand == 2


def test_held_gpus_fix_the_places_that_count():
    rows = [(2, "machine", F(4)), (2, "rack", F(3)), (2, "cluster", F(2))]
    at_home = AppBid.from_rows("h", rows, value_at_zero=1, held=((1, 2),))
    instance = auction([at_home])
    assert instance.home(0) == (1, 0)
    assert instance.value(0, ()) == 1
    assert instance.value(0, ((1, 2),)) == 4
    assert instance.value(0, ((0, 2),)) == 3
    assert instance.value(0, ((2, 2),)) == 2
    assert instance.value(0, ((1, 1), (0, 1))) == 3
    spread = AppBid.from_rows("s", rows, value_at_zero=1, held=((0, 1), (1, 1)))
    assert auction([spread]).value(0, ((0, 2),)) == 3
    wide = AppBid.from_rows("w", rows, value_at_zero=1, held=((0, 1), (2, 1)))
    assert auction([wide]).value(0, ((0, 2),)) == 2
    assert auction([wide]).places(0, 1) == []


def test_the_objective_is_the_geometric_mean_over_those_that_can_have_a_value():
    instance = auction([bid("a"), bid("b")])
    both = AuctionSolution((((0, 2),), ((1, 2),)))
    assert instance.check(both) == []
    score = instance.evaluate(both)
    assert score.objective == pytest.approx(0.25)
    assert score.metrics["max_rho"] == 4.0
    assert score.metrics["jain"] == 1.0
    assert score.metrics["gpus_left_over"] == 2
    assert score.metrics["placement"] == 1.0
    one = instance.evaluate(AuctionSolution((((0, 2),), ())))
    assert (one.metrics["max_rho"], one.metrics["mean_of_served"]) == (None, 0.25)
    assert instance.evaluate(AuctionSolution(((), ()))).objective == -2.0 < one.objective < 0.0


def test_fewer_apps_served_are_worse_than_any_values_of_more():
    # three gangs of 2 on one machine each; counting promises 3, machines of 2, 3 and 1 hold 2
    gangs = [AppBid.from_rows(str(value), [(2, "machine", value)]) for value in (1, 10**6, 3)]
    instance = auction(gangs, racks=((2, 3, 1),))
    assert instance.servable == 3
    at = (((0, 2),), ((1, 2),))
    scores = [
        instance.evaluate(AuctionSolution(bundles)).objective
        for bundles in (
            ((), (), ()),
            (at[0], (), ()),
            ((), (), at[0]),
            ((), at[0], ()),
            (at[0], (), at[1]),
            (at[0], at[1], ()),
            ((), at[0], at[1]),
        )
    ]
    assert scores == sorted(set(scores))
    assert scores[-1] < 0


def test_the_objective_of_one_app_is_its_value():
    seven = AppBid.from_rows("a", [(1, "machine", 7)])
    assert auction([seven]).evaluate(AuctionSolution((((0, 1),),))).objective == 7.0


def test_more_apps_than_gpus_are_scored_over_as_many_as_there_are_gpus():
    instance = auction([bid("a", demand=1), bid("b", demand=1), bid("c", demand=1)], racks=((2,),))
    assert instance.servable == 2
    assert instance.evaluate(AuctionSolution((((0, 1),), (), ((0, 1),)))).objective == pytest.approx(1 / 8)


def test_an_app_that_needs_several_gpus_counts_with_its_fewest():
    gang = AppBid.from_rows("gang", [(4, "rack", 1)])
    assert auction([gang, bid("a"), bid("b")], racks=((2, 2), (1,))).servable == 2
    assert auction([gang], racks=((2,), (2,))).servable == 0
    waiting = AppBid.from_rows("waiting", [(1, "machine", 2)], value_at_zero=1)
    assert auction([waiting], racks=((0,),)).servable == 1


def test_placement_is_the_share_of_the_best_that_as_many_gpus_could_have():
    instance = auction([bid("a")])
    spread = instance.evaluate(AuctionSolution((((0, 1), (2, 1)),)))
    assert spread.metrics["placement"] == pytest.approx(1 / 1.3)
    assert instance.evaluate(AuctionSolution(((),))).metrics["placement"] is None


@pytest.mark.parametrize(
    ("solution", "rule"),
    [
        (AuctionSolution(((),)), "one_bundle_per_app"),
        (AuctionSolution((((0, 2),), ((0, 1),))), "machine_capacity"),
        (AuctionSolution((((0, 1),), ()), gifts=(((0, 2),),)), "machine_capacity"),
        (AuctionSolution((((7, 1),), ())), "known_machine"),
        (AuctionSolution((((0, 0),), ())), "known_machine"),
        (AuctionSolution((((0, 1), (0, 1)), ())), "known_machine"),
        (AuctionSolution((((0, 2),), ()), won=(((0, 1),), ())), "kept_of_won"),
        (AuctionSolution(((), ()), won=(((0, 2),), ((0, 1),))), "machine_capacity"),
        (AuctionSolution(((), ()), payments=((F(1, 2), F(1, 3)), (F(1), F(1)))), "share_of_payment"),
        (AuctionSolution(((), ()), payments=((F(1), F(3, 2)), (F(1), F(1)))), "share_of_payment"),
        (AuctionSolution(((), ()), gifts=(((0, 2), (1, 2)),)), "demand_of_bystander"),
        (AuctionSolution(((), ()), gifts=((), ())), "one_bundle_per_app"),
    ],
)
def test_the_judge_names_each_broken_rule(solution, rule):
    instance = auction([bid("a"), bid("b")], bystanders=[Bystander(label="c", demand=3)])
    assert rule in {item.rule for item in instance.check(solution)}


def test_payments_are_reported_with_their_interval():
    instance = auction([bid("a"), bid("b")])
    solution = AuctionSolution(
        (((0, 1),), ((1, 2),)), payments=((F(1, 2), F(1, 2)), (F(1, 2), F(1))), won=(((0, 2),), ((1, 2),))
    )
    metrics = instance.evaluate(solution).metrics
    assert metrics["payments_proven"] == 1
    assert metrics["payments"][0] == {"app": "a", "share_low": 0.5, "share_high": 0.5, "won": 2, "kept": 1}


def test_values_are_exact():
    assert exact_value("v", 0.1) == F(0.1) != F(1, 10)
    assert exact_value("v", "1/10") == exact_value("v", "0.1") == F(1, 10)
    assert exact_value("v", np.float64(0.5)) == F(1, 2)
    assert mean_value([F(1, 10) ** 400, F(10) ** 400], 2) == pytest.approx(1.0)
    assert mean_value([], 0) == 1.0


@pytest.mark.parametrize("value", [-1, "x", "1/0", float("nan"), float("inf"), True, None, 10**16, "1e3", "1_0"])
def test_a_value_out_of_range_is_refused(value):
    with pytest.raises(InputError, match=r"v must be 0 or from 1e-15 to 1e15, a number or text such as '10/11' \(got "):
        exact_value("v", value)


def test_zero_is_refused_where_it_is_no_value():
    with pytest.raises(InputError, match=r"v must be from 1e-15 to 1e15, a number or text such as '10/11' \(got 0\)"):
        exact_value("v", 0, zero=False)


def test_equal_rows_count_as_one():
    rows = [(2, "rack", Fraction(1, 2)), (1, "rack", 1), (2, "rack", 0.5)]
    merged = AppBid.from_rows("a", rows)
    assert merged == AppBid.from_rows("a", rows[:2])
    assert merged.gpus == (2, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": [(0, "machine", 1)]}, r"app 'a': gpus\[0\] must be an integer from 1 to 1,000,000 \(got 0\)"),
        ({"rows": [(True, "machine", 1)]}, r"app 'a': gpus\[0\] must be an integer from 1 to 1,000,000 \(got True\)"),
        ({"rows": [(1, "galaxy", 1)]}, r"app 'a': levels\[0\] must be one of machine, rack, cluster \(got 'galaxy'\)"),
        ({"rows": []}, r"app 'a': gpus, levels and values must have one length from 1 to 1,000,000 \(got 0, 0 and 0\)"),
        (
            {"rows": [(1, "rack", 1)], "held": ((0, 0),)},
            r"app 'a': held: number of GPUs on machine 0 must be an integer from 1 to 1,000,000 \(got 0\)",
        ),
        (
            {"rows": [(1, "rack", 1)], "held": ((0, 1), (0, 2))},
            r"app 'a': held must list each machine at most once \(got \(\(0, 1\), \(0, 2\)\)\)",
        ),
        (
            {"rows": [(1, "rack", 1)], "value_at_zero": -1},
            r"app 'a': value_at_zero must be 0 or from 1e-15 to 1e15, a number or text such as '10/11' \(got -1\)",
        ),
        (
            {"rows": [(4, "cluster", 1), (2, "cluster", 1), (4, "cluster", Fraction(2, 3))]},
            r"app 'a': rows 0 and 2 \(4 GPUs, cluster\) must have the same value \(got 1\.0 and 2/3\)",
        ),
        (
            {"rows": [(4, "slot", 1), (4, "machine", 2)]},
            r"app 'a': rows 0 and 1 \(4 GPUs, machine\) must have the same value \(got 1\.0 and 2\.0\)",
        ),
    ],
)
def test_a_defective_bid_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        AppBid.from_rows("a", **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"apps": ()}, r"number of apps must be an integer from 1 to 10,000 \(got 0\)"),
        ({"apps": (bid("a"), bid("a"))}, r"apps\[1\]: duplicate label 'a' \(first at apps\[0\]\)"),
        ({"offered": np.array([1, -1, 1])}, r"offered\[1\] must be an integer from 0 to 1,000,000 \(got -1\)"),
        ({"offered": np.array([1.5, 1, 1])}, r"offered must hold integers \(got float64\)"),
        ({"machine_rack": np.array([0, 0, 2])}, r"machine_rack\[2\] must be an integer from 0 to 1 \(got 2\)"),
        ({"apps": (bid("a", held=((3, 1),)),)}, r"apps\[0\]\.held must lie on machines 0 to 2 \(got \(\(3, 1\),\)\)"),
        (
            {"bystanders": (Bystander(label="b", demand=-1),)},
            r"bystanders\[0\]\.demand must be an integer >= 0 \(got -1\)",
        ),
        ({"bystanders": (Bystander(label="a", demand=1),)}, r"apps\[1\]: duplicate label 'a' \(first at apps\[0\]\)"),
    ],
)
def test_a_defective_instance_is_refused(change, message):
    import dataclasses

    with pytest.raises(InputError, match=message):
        dataclasses.replace(auction([bid("a")]), **change)


@pytest.mark.parametrize("payments", [((1,),), (("1", "1"),), ((True, True),), (5,)])
def test_a_payment_that_is_no_pair_of_rationals_is_refused(payments):
    with pytest.raises(InputError, match=r"payments\[0\]"):
        AuctionSolution(((),), payments=payments)
