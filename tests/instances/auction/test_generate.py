"""Auctions by name."""

from fractions import Fraction

import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.auction.generate import auction_on, lying, random, running_bid, uniform
from gangopt.topology import named_cluster


def test_a_name_rebuilds_its_instance():
    name = "auction/random?cluster=themis-testbed&apps=10&seed=3"
    instance = gangopt.load(name)
    assert instance.name == name
    assert gangopt.load(name) == instance
    assert (instance.total, len(instance.machines), len(instance.apps)) == (64, 20, 10)


def test_values_are_short_rationals_of_equation_1():
    bid = running_bid("a", Fraction(1, 2), Fraction(3), 2, (Fraction(1), Fraction(11, 10), Fraction(13, 10)))
    assert bid.values[:3] == (1 / Fraction(7, 2), 1 / Fraction(19, 5), 1 / Fraction(22, 5))
    assert max(value.denominator for app in random(seed=5).apps for value in app.values) < 10**9


def test_demands_racks_and_busy_gpus():
    instance = random(apps=30, largest=16, demands="powers", racks=4, busy=0.5, bystanders=3, seed=1)
    assert {app.demand for app in instance.apps} == {4, 8, 16}
    assert len(instance.racks) == 4
    assert [(instance.machine_rack == rack).sum() for rack in range(4)] == [5] * 4
    assert 15 < instance.total < 50
    assert len(instance.bystanders) == 3
    assert {app.demand for app in random(apps=60, largest=4, seed=2).apps} == {1, 2, 3, 4}
    assert random(busy=1.0).total == 0


def test_uniform_clusters():
    instance = uniform(racks=2, machines=3, gpus=4, apps=2, seed=1)
    assert instance.rack_offered.tolist() == [12, 12]
    assert gangopt.load("auction/uniform?racks=16&machines=8&gpus=8&apps=2").total == 1024


def test_the_lying_case_is_the_papers():
    instance = lying()
    assert (instance.total, instance.offered.max(), len(instance.machines)) == (64, 8, 29)
    assert len({app.values for app in instance.apps}) == 1
    spread, dense = lying(percent=50), lying(percent=50, kind="dense")
    truth = instance.apps[1]
    assert spread.apps[1].values == dense.apps[1].values == truth.values
    assert spread.apps[0].at(0, 8) == truth.at(0, 8)
    assert spread.apps[0].at(1, 8) == truth.at(1, 8) / Fraction(3, 2)
    assert dense.apps[0].at(0, 8) == 2 * truth.at(0, 8)


def test_an_auction_on_a_cluster():
    cluster = named_cluster("themis-simulator")
    instance = auction_on(cluster, random().apps, name="auction/mine")
    assert instance.total == 168


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("random?apps=0", r"auction/random: apps must be an integer from 1 to 10,000 \(got 0\)"),
        ("random?racks=21", r"auction/random: racks must be an integer from 1 to 20 \(got 21\)"),
        ("random?largest=5000", r"auction/random: largest must be an integer from 1 to 4096 \(got 5000\)"),
        (
            "random?apps=10000&largest=4000",
            r"auction/random: apps x largest must be an integer from 1 to 1,000,000 \(got 40000000\)",
        ),
        ("random?busy=1.5", r"auction/random: busy must be a number from 0 to 1 \(got 1\.5\)"),
        ("random?bystanders=-1", r"auction/random: bystanders must be an integer from 0 to 10,000 \(got -1\)"),
        ("random?seed=-1", r"auction/random: seed must be an integer >= 0 \(got -1\)"),
        ("random?cluster=nowhere", "unknown cluster"),
        ("random?demands=many", r"auction/random\?demands=many: demands must be any or powers \(got many\)"),
        ("uniform?racks=0", r"auction/uniform: racks must be an integer from 1 to 10,000 \(got 0\)"),
        ("uniform?machines=20000", r"auction/uniform: machines must be an integer from 1 to 10,000 \(got 20000\)"),
        (
            "uniform?racks=10000&machines=100",
            r"auction/uniform: racks x machines must be an integer from 1 to 100,000 \(got 1000000\)",
        ),
        ("uniform?gpus=1000", r"auction/uniform: gpus must be an integer from 1 to 128 \(got 1000\)"),
        ("lying?percent=101", r"auction/lying: percent must be an integer from 0 to 100 \(got 101\)"),
        ("lying?percent=100&kind=dense", r"auction/lying: percent must be an integer from 0 to 99 \(got 100\)"),
        ("lying?work=0", r"auction/lying: work must be an integer from 1 to 1,000,000 \(got 0\)"),
        ("lying?elapsed=-1", r"auction/lying: elapsed must be a number from 0 to 1,000,000 \(got -1\.0\)"),
        ("lying?demand=0", r"auction/lying: demand must be an integer from 1 to 4096 \(got 0\)"),
        ("lying?across=0.5", r"auction/lying: across must be a number from 1 to 100 \(got 0\.5\)"),
        ("lying?apps=0", r"auction/lying: apps must be an integer from 1 to 10,000 \(got 0\)"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        gangopt.load(f"auction/{arguments}")
