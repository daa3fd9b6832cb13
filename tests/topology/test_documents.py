"""Clusters and states inside other JSON files, and the message for each defect."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.topology import (
    Cluster,
    MachineGroup,
    State,
    cluster_content,
    cluster_names,
    cluster_of_content,
    named_cluster,
    save_cluster,
    state_content,
    state_of_content,
)

CLUSTER = Cluster.from_groups(
    [MachineGroup(3, 4, slots=2, capacities={"cpu": 8}, labels={"pool": "a"}), MachineGroup(1, name="c")],
    machines_per_rack=2,
)

groups = st.lists(
    st.builds(
        MachineGroup,
        count=st.integers(1, 3),
        gpus=st.sampled_from([0, 2, 4]),
        slots=st.sampled_from([1, 2]),
        capacities=st.dictionaries(st.sampled_from(["cpu", "memory"]), st.sampled_from([1, 2.5]), max_size=2),
        name=st.sampled_from(["m", "gpu-", "9x"]),
        labels=st.dictionaries(st.sampled_from(["pool", "zone"]), st.sampled_from(["", "a"]), max_size=1),
        bandwidth=st.sampled_from([None, None, None, 10]),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(groups, st.sampled_from([None, 1, 2]))
def test_every_cluster_reads_back_equal(given_groups, per_rack):
    cluster = Cluster.from_groups(given_groups, machines_per_rack=per_rack, name="x", source="y")
    content = json.loads(json.dumps(cluster_content(cluster)))
    twin = cluster_of_content(content)
    assert twin == cluster
    assert (twin.name, twin.source) == ("x", "y")


@pytest.mark.parametrize("name", cluster_names())
def test_named_clusters_are_their_name(name):
    assert cluster_content(named_cluster(name)) == name
    assert cluster_of_content(name) == named_cluster(name)


def test_labels_with_leading_zeros_and_other_names_of_slots():
    graph = Cluster.from_groups([MachineGroup(2, 2, name="n0")]).graph.copy()
    cluster = Cluster.from_graph(graph)
    assert [row["name"] for row in cluster_content(cluster)["machines"]] == ["n00", "n01"]
    import networkx as nx

    renamed = Cluster.from_graph(nx.relabel_nodes(graph, {"n00.s0": "socket"}))
    assert "nodes" in cluster_content(renamed)
    assert cluster_of_content(cluster_content(renamed)) == renamed


def test_a_path_is_read(tmp_path):
    save_cluster(CLUSTER, tmp_path / "lab.json")
    assert cluster_of_content(str(tmp_path / "lab.json")) == CLUSTER


def row(**fields):
    return {"machines": [{"name": "m", "slots": [2], **fields}]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (3, r"a cluster must be a name, a path or an object \(got 3\)"),
        ("nowhere", "unknown cluster 'nowhere'"),
        ({"machines": []}, r"machines must be a non-empty list \(got \[\]\)"),
        ({"machines": [3]}, r"machines\[0\] must be an object \(got 3\)"),
        ({"machines": [{}]}, r"machines\[0\]\.name must be non-empty printable text"),
        ({"machines": [{"name": "m"}], "gpus": 3}, "cluster: unknown field 'gpus'; known: description, machines"),
        (row(gpus=3), r"machines\[0\]: unknown field 'gpus'; known: capacities, count"),
        (row(rack=3), r"machines\[0\]\.rack must be non-empty printable text"),
        (row(slots=3), r"machines\[0\]\.slots must be a list with the GPUs of each slot \(got 3\)"),
        (row(slots=[0]), r"machines\[0\]\.slots\[0\] must be an integer from 1"),
        (row(count=0), r"machines\[0\]\.count must be an integer from 1"),
        (row(count=2, **{"from": -1}), r"machines\[0\]\.from must be an integer from 0"),
        (row(**{"from": 1}), r"machines\[0\]\.from must come with count"),
        (row(count=2_000_000), r"the cluster must have at most 2,000,000 GPUs \(machines\[0\] exceeds it\)"),
        (row(capacities={"cpu": -1}), "machine 'm': capacity 'cpu' must be"),
        (row(labels=["x"]), "machine 'm': labels must be a mapping"),
        ({"machines": [{"name": "m"}, {"name": "m"}]}, "duplicate label 'm'"),
    ],
)
def test_defect_of_a_cluster(content, message):
    with pytest.raises(InputError, match=message):
        cluster_of_content(content)


def held_state():
    state = State(CLUSTER)
    state.allocate("b", ["m0.g1"], {"m1": {"cpu": 2.5}})
    state.allocate("a", ["m1.g0"], shares={"m2.g0": 0.25})
    state.allocate("b", shares={"m2.g0": 0.75})
    state.close("m1", "down")
    return state


def test_a_state_reads_back_equal():
    state = held_state()
    content = json.loads(json.dumps(state_content(state)))
    assert content["held"][0] == {"owner": "a", "gpus": ["m1.g0"], "shares": {"m2.g0": 0.25}}
    twin = state_of_content(CLUSTER, content)
    assert twin == state
    assert hash(twin.frozen()) == hash(state.frozen())
    assert state_content(State(CLUSTER)) == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], r"a state must be an object with held, unavailable \(got \[\]\)"),
        ({"owners": {}}, "state: unknown field 'owners'; known: held, unavailable"),
        ({"held": {}}, r"state\.held must be a list \(got \{\}\)"),
        ({"held": [3]}, r"state\.held\[0\] must be an object \(got 3\)"),
        ({"held": [{"owner": "a", "gpu": 1}]}, r"state\.held\[0\]: unknown field 'gpu'; known: amounts, gpus"),
        ({"held": [{"gpus": ["m0.g0"]}]}, r"state\.held\[0\]: the owner must be non-empty"),
        ({"held": [{"owner": "a", "gpus": ["m9.g0"]}]}, r"state\.held\[0\]: unknown GPU 'm9\.g0'"),
        (
            {"held": [{"owner": "a", "gpus": ["m0.g0"]}, {"owner": "b", "gpus": ["m0.g0"]}]},
            r"state\.held\[1\]: GPU 'm0\.g0' is held by 'a' and cannot be allocated to 'b'",
        ),
        (
            {"held": [{"owner": "a", "amounts": {"m0": {"cpu": 9}}}]},
            r"state\.held\[0\]: machine 'm0' has 8 cpu free, but 'a' requests 9",
        ),
        ({"unavailable": ["m0"]}, r"state\.unavailable must be a mapping from machine to reason"),
        ({"unavailable": {"m9": "down"}}, r"state\.unavailable: unknown machine 'm9'"),
        ({"unavailable": {"m0": ""}}, r"state\.unavailable: the reason must be non-empty"),
    ],
)
def test_defect_of_a_state(content, message):
    with pytest.raises(InputError, match=message):
        state_of_content(CLUSTER, content)
