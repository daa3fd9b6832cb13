"""Generated instances of `fair_share`."""

from __future__ import annotations

import pytest

import gangopt
from gangopt.base.errors import InputError


def test_a_name_rebuilds_the_same_instance():
    name = "fair_share/random?apps=5&machines=6&racks=3&resources=2&seed=7"
    assert gangopt.load(name) == gangopt.load(name)
    assert gangopt.load(name) != gangopt.load(name.replace("seed=7", "seed=8"))
    instance = gangopt.load(name)
    assert (len(instance.apps), len(instance.machines), len(instance.racks)) == (5, 6, 3)
    assert instance.resources == ("resource0", "resource1")
    assert all(1 <= gpus <= 4 for gpus in instance.offered)


def test_machines_of_a_named_cluster():
    instance = gangopt.load("fair_share/cluster?apps=3&racks=4")
    assert instance.market.total_gpus == 64
    assert sorted(instance.offered.tolist()) == [2] * 8 + [4] * 12
    assert len(set(instance.machine_rack.tolist())) == 4
    assert len(gangopt.load("fair_share/cluster?apps=3").racks) == 1
    assert gangopt.load("fair_share/cluster?cluster=themis-simulator&apps=3").market.total_gpus == 168


@pytest.mark.parametrize(("sensitivity", "equal"), [("none", True), ("priors", False)])
def test_sensitivity(sensitivity, equal):
    instance = gangopt.load(f"fair_share/random?apps=20&machines=12&sensitivity={sensitivity}")
    wide = [app for app in instance.apps if app.demand > 1]
    assert wide
    assert all((app.at(0, app.demand) == app.at(2, app.demand)) == equal for app in wide)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("random?apps=0", r"fair_share/random: apps must be an integer from 1 to 1000 \(got 0\)"),
        ("random?machines=2&racks=3", r"fair_share/random: racks must be an integer from 1 to 2 \(got 3\)"),
        (
            "random?gpus_per_machine=100000",
            r"fair_share/random: gpus_per_machine must be an integer from 1 to 25,000 \(got 100000\)",
        ),
        (
            "random?machines=1000000",
            r"fair_share/random: machines must be an integer from 1 to 100,000 \(got 1000000\)",
        ),
        ("random?resources=21", r"fair_share/random: resources must be an integer from 0 to 20 \(got 21\)"),
        ("random?seed=-1", r"seed must be an integer >= 0 \(got -1\)"),
        ("cluster?cluster=themis-testbet", "unknown cluster 'themis-testbet'; did you mean 'themis-testbed',"),
        ("cluster?racks=21", r"fair_share/cluster: racks must be an integer from 1 to 20 \(got 21\)"),
        ("cluster?apps=1001", r"fair_share/cluster: apps must be an integer from 1 to 1000 \(got 1001\)"),
        ("cluster?seed=-1", r"seed must be an integer >= 0 \(got -1\)"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        gangopt.load(f"fair_share/{arguments}")
