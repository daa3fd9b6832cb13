"""The named clusters against the counts of their sources, and what an unknown name gets."""

import pytest

from gangopt.base.errors import InputError
from gangopt.topology import cluster_names, load_cluster, named_cluster, totals

COUNTS = {
    # machines by (GPUs, slots), as the sources list them
    "dgx-h100-superpod": {(8, 1): 32},
    "nvl72-row": {(4, 1): 144},
    "optimus-testbed": {(0, 0): 7, (2, 1): 6},
    "philly-2017": {(4, 1): 100, (8, 1): 250},
    "themis-simulator": {(8, 4): 16, (4, 4): 6, (1, 1): 16},
    "themis-testbed": {(2, 1): 8, (4, 1): 12},
    "tiresias-testbed": {(4, 1): 15},
}
GPUS = {
    "dgx-h100-superpod": {"H100": 256},
    "nvl72-row": {"GB200": 576},
    "optimus-testbed": {"GTX 1080 Ti": 12},
    "philly-2017": {"unknown type": 2400},
    "themis-simulator": {"unknown type": 168},
    "themis-testbed": {"K80": 64},
    "tiresias-testbed": {"P100": 60},
}
RACKS = {"dgx-h100-superpod": 8, "nvl72-row": 8}


def test_every_named_cluster_is_counted_here():
    assert cluster_names() == sorted(COUNTS) == sorted(GPUS)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    cluster = named_cluster(name)
    found = {}
    for machine in range(len(cluster.machines)):
        kind = (len(cluster.machine_gpus(machine)), len(cluster.machine_slots(machine)))
        found[kind] = found.get(kind, 0) + 1
    assert found == COUNTS[name]
    assert totals(cluster).gpus_by_type == GPUS[name]
    assert len(cluster.racks) == RACKS.get(name, 1)


@pytest.mark.parametrize("name", COUNTS)
def test_each_has_its_name_source_and_open_points(name):
    cluster = named_cluster(name)
    assert cluster.name == name
    assert cluster.source
    assert ("one rack" in cluster.description) == (name not in RACKS)


def test_optimus_servers():
    cluster = named_cluster("optimus-testbed")
    assert cluster.resources == ("cpu", "gpu", "memory")
    assert cluster.capacities.tolist() == [[16, 0, 80]] * 7 + [[8, 2, 48]] * 6
    assert set(cluster.machine_bandwidth) == {1}


def test_tiresias_servers():
    cluster = named_cluster("tiresias-testbed")
    assert cluster.capacities.tolist() == [[20, 4, 256]] * 15
    assert set(cluster.machine_bandwidth) == {100}


def test_the_mismatch_of_the_themis_simulator_is_recorded():
    description = named_cluster("themis-simulator").description
    assert "168" in description
    assert "256" in description


def test_names_by_pattern():
    assert cluster_names("themis-*") == ["themis-simulator", "themis-testbed"]
    assert cluster_names("x*") == []


@pytest.mark.parametrize("load", [named_cluster, load_cluster])
def test_unknown_name_gives_near_matches(load):
    with pytest.raises(InputError, match="unknown cluster 'optimus'; did you mean 'optimus-testbed'"):
        load("optimus")
    with pytest.raises(InputError, match="unknown cluster 'zzz'; known: dgx-h100-superpod, nvl72-row, "):
        load("zzz")


@pytest.mark.parametrize("load", [named_cluster, load_cluster])
@pytest.mark.parametrize("name", ["", "a" * 5000, "philly-2017\0"])
def test_odd_names(load, name):
    with pytest.raises(InputError) as caught:
        load(name)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("name", [5, None, b"philly-2017", ["philly-2017"]])
def test_what_is_neither_name_nor_path(name):
    with pytest.raises(InputError, match=r"a cluster must be given by name or path \(got "):
        load_cluster(name)
    with pytest.raises(InputError, match="unknown cluster"):
        named_cluster(name)


def test_a_name_comes_before_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "themis-testbed").write_text("not a cluster", encoding="utf-8")
    assert load_cluster("themis-testbed") == named_cluster("themis-testbed")
