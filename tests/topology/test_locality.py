"""Locality of GPU sets against the graph, and slowdowns."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.topology import LOCALITIES, PRIORS, Cluster, MachineGroup, Slowdown, SlowdownTable, locality

CLUSTER = Cluster.from_groups(
    [MachineGroup(2, 4, slots=2), MachineGroup(1, 2, slots=2), MachineGroup(1, 1)], machines_per_rack=[3, 1]
)


@pytest.mark.parametrize(
    ("gpus", "level"),
    [
        (["m0.g0"], "slot"),
        (["m0.g0", "m0.g1"], "slot"),
        (["m0.g1", "m0.g2"], "machine"),
        (["m2.g0", "m2.g1"], "machine"),
        (["m0.g0", "m1.g0"], "rack"),
        (["m0.g0", "m3.g0"], "cluster"),
        (["m0.g0", 0, "m0.g1"], "slot"),
    ],
)
def test_locality_by_hand(gpus, level):
    assert locality(CLUSTER, gpus) == level
    assert locality(CLUSTER, iter(reversed(gpus))) == level


@given(st.sets(st.integers(0, len(CLUSTER.gpus) - 1), min_size=1))
def test_locality_is_the_lowest_common_ancestor(gpus):
    labels = [CLUSTER.gpus[gpu] for gpu in gpus]
    above = [nx.ancestors(CLUSTER.graph, label) for label in labels]
    levels = {CLUSTER.graph.nodes[node]["level"] for node in set.intersection(*above)}
    assert locality(CLUSTER, gpus) == next(level for level in LOCALITIES if level in levels)


@pytest.mark.parametrize("empty", [[], (), set(), iter(())])
def test_empty_set(empty):
    with pytest.raises(InputError, match="the set of GPUs must not be empty"):
        locality(CLUSTER, empty)


@pytest.mark.parametrize("gpu", ["m0", "m0.g9", 11, -1, True, 1.0, None, []])
def test_unknown_gpu(gpu):
    with pytest.raises(InputError, match=r"unknown GPU .*; must be an index from 0 to 10 or a label"):
        locality(CLUSTER, [0, gpu])


@pytest.mark.parametrize("gpus", ["m0.g0", 5, None])
def test_what_is_no_set_of_gpus(gpus):
    with pytest.raises(InputError, match=r"gpus must be a collection of GPU indices or labels \(got "):
        locality(CLUSTER, gpus)


def test_priors():
    assert [PRIORS.at(level) for level in LOCALITIES] == [1, 1, 1.1, 1.3]
    assert PRIORS.is_monotone
    assert PRIORS.of(CLUSTER, ["m0.g0", "m3.g0"]) == 1.3
    assert PRIORS.of(CLUSTER, ["m0.g0", "m1.g0"]) == 1.1


def test_measured_values_replace_priors():
    measured = PRIORS.measured({"rack": 1.289})
    assert measured == Slowdown(rack=1.289)
    assert measured.is_monotone
    assert PRIORS.rack == 1.1


def test_slowdowns_may_fall():
    assert not Slowdown(rack=0.93).is_monotone
    assert not Slowdown(rack=1.4, cluster=1.3).is_monotone


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, "1.1", None])
def test_slowdown_out_of_range(bad):
    with pytest.raises(InputError, match=r"slowdown at locality rack must be a number > 0 and <= 1e15 \(got "):
        Slowdown(rack=bad)
    with pytest.raises(InputError, match="slowdown at locality rack must be"):
        PRIORS.measured({"rack": bad})


def test_unknown_locality():
    with pytest.raises(InputError, match="unknown locality 'racks'; did you mean 'rack'"):
        PRIORS.at("racks")
    with pytest.raises(InputError, match="unknown locality 'cross-rack'"):
        PRIORS.measured({"cross-rack": 1.3})
    with pytest.raises(InputError, match=r"measured slowdowns must be a mapping from locality \(got 5\)"):
        PRIORS.measured(5)


def test_table_by_model():
    table = SlowdownTable({"VGG16": {"rack": 1.289}, "Inception-v3": Slowdown(1, 1, 1, 1)})
    assert table.of("VGG16") == Slowdown(rack=1.289)
    assert table.of("Inception-v3").at("cluster") == 1
    assert table.of("other") == PRIORS


def test_table_with_its_own_default():
    table = SlowdownTable({"a": {"slot": 1}}, default=Slowdown(1, 1, 2, 3))
    assert table.of("a") == table.of("b") == Slowdown(1, 1, 2, 3)


def test_table_without_default():
    table = SlowdownTable({"VGG16": {}}, default=None)
    assert table.of("VGG16") == PRIORS
    with pytest.raises(InputError, match="unknown model 'VGG19'; did you mean 'VGG16'"):
        table.of("VGG19")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": 5}, r"models must be a mapping from model to slowdown \(got 5\)"),
        ({"models": {5: {}}}, r"a model's name must be non-empty printable text \(got 5\)"),
        ({"models": {"a": 5}}, r"model 'a': measured slowdowns must be a mapping from locality \(got 5\)"),
        (
            {"models": {"a": {"rack": -1}}},
            r"model 'a': slowdown at locality rack must be a number > 0 and <= 1e15 \(got -1\)",
        ),
        ({"models": {"a": {"rak": 1}}}, r"model 'a': unknown locality 'rak'; did you mean 'rack'\?"),
        ({"models": {}, "default": 1.3}, r"default must be a Slowdown or None \(got 1\.3\)"),
    ],
)
def test_bad_table(arguments, message):
    with pytest.raises(InputError, match=message):
        SlowdownTable(**arguments)
