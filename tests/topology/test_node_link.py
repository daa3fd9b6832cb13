"""Clusters as node-link data and files: the round trip, and the error of each defect."""

import contextlib
import copy
import json

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.topology import Cluster, MachineGroup, load_cluster, named_cluster, save_cluster

NOTES = ("name", "description", "source")
amounts = st.one_of(st.integers(0, 10**6), st.floats(0, 1e6))
bandwidths = st.one_of(st.none(), st.integers(1, 400), st.floats(0.001, 400))
PRINTABLE = st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])
labels = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=4)


@st.composite
def graphs(draw):
    """Random cluster graphs: directed or not, nodes in any order, some GPUs without slots."""
    directed = draw(st.booleans())
    made = nx.DiGraph() if directed else nx.Graph()
    names = iter(draw(st.lists(labels, min_size=80, max_size=80, unique=True)))
    nodes, edges = [], []

    def add(level, parent=None, **data):
        label = next(names)
        nodes.append((label, {"level": level, **data}))
        if parent is not None:
            bandwidth = draw(bandwidths)
            edges.append((parent, label, {} if bandwidth is None else {"bandwidth": bandwidth}))
        return label

    root = add("cluster")
    for _ in range(draw(st.integers(1, 3))):
        rack = add("rack", root)
        for _ in range(draw(st.integers(1, 3))):
            slots = draw(st.lists(st.integers(1, 2), max_size=3))
            capacities = draw(st.dictionaries(st.sampled_from(["cpu", "memory", "ssd"]), amounts))
            gpu_type = draw(st.sampled_from([None, "V100"])) if slots else None
            machine = add("machine", rack, capacities=capacities, gpu_type=gpu_type)
            bare = draw(st.booleans())
            for size in slots:
                holder = machine if bare else add("slot", machine)
                for _ in range(size):
                    add("gpu", holder)
    made.add_nodes_from(draw(st.permutations(nodes)))
    for parent, child, data in draw(st.permutations(edges)):
        ends = (parent, child) if directed or draw(st.booleans()) else (child, parent)
        made.add_edges_from([(*ends, data)])
    made.graph.update(name=draw(labels), description=draw(st.text(PRINTABLE, max_size=9)))
    return made


@settings(max_examples=60, deadline=None)
@given(made=graphs(), edges=st.sampled_from(["edges", "links"]))
def test_graph_to_cluster_to_json_to_cluster_is_the_identity(made, edges):
    cluster = Cluster.from_graph(made)
    text = json.dumps(cluster.to_node_link(edges=edges), allow_nan=False)
    twin = Cluster.from_node_link(json.loads(text))
    assert twin == cluster
    assert hash(twin) == hash(cluster)
    assert [getattr(twin, key) for key in NOTES] == [getattr(cluster, key) for key in NOTES]
    assert twin.to_node_link(edges=edges) == cluster.to_node_link(edges=edges)
    assert Cluster.from_graph(cluster.graph) == cluster


@pytest.mark.parametrize("edges", ["edges", "links"])
def test_networkx_reads_what_is_written_and_the_reverse(edges):
    cluster = named_cluster("optimus-testbed")
    made = nx.node_link_graph(cluster.to_node_link(edges=edges), edges=edges)
    assert nx.is_arborescence(made)
    assert Cluster.from_graph(made) == cluster
    assert Cluster.from_node_link(nx.node_link_data(cluster.graph, edges=edges)) == cluster


@pytest.mark.parametrize("edges", ["edges", "links"])
def test_file_round_trip(tmp_path, edges):
    cluster = named_cluster("themis-simulator")
    path = tmp_path / "cluster.json"
    save_cluster(cluster, path, edges=edges)
    for spelling in (path, str(path)):
        twin = load_cluster(spelling)
        assert twin == cluster
        assert [getattr(twin, key) for key in NOTES] == [getattr(cluster, key) for key in NOTES]


def test_other_attributes_of_a_foreign_file_are_not_read():
    data = nx.node_link_data(Cluster.from_groups([MachineGroup(1, 1)]).graph, edges="edges")
    data["made_by"] = "someone"
    data["nodes"][0]["pos"] = [0, 1]
    data["edges"][0]["colour"] = "red"
    assert Cluster.from_node_link(data) == Cluster.from_groups([MachineGroup(1, 1)])


def test_edges_by_another_word_are_refused():
    with pytest.raises(InputError, match=r"edges must be 'edges' or 'links' \(got 'arcs'\)"):
        named_cluster("themis-testbed").to_node_link(edges="arcs")


def put(*path_and_value):
    *path, last, value = path_and_value

    def spoil(data):
        for step in path:
            data = data[step]
        data[last] = value

    return spoil


def drop(*path):
    *steps, last = path

    def spoil(data):
        for step in steps:
            data = data[step]
        del data[last]

    return spoil


DEFECTS = {
    "nodes missing": (drop("nodes"), "'nodes' is missing"),
    "nodes no list": (put("nodes", {}), r"spoilt\.json: nodes must be a list \(got \{\}\)"),
    "edges missing": (
        drop("edges"),
        r"spoilt\.json: exactly one of 'edges' and 'links' must be present \(got neither\)",
    ),
    "edges and links": (
        put("links", []),
        r"spoilt\.json: exactly one of 'edges' and 'links' must be present \(got both\)",
    ),
    "edges no list": (put("edges", 5), r"spoilt\.json: edges must be a list \(got 5\)"),
    "multigraph": (put("multigraph", True), r"spoilt\.json: multigraph must be false \(got true\)"),
    "multigraph no flag": (put("multigraph", 0), r"spoilt\.json: multigraph must be true or false \(got 0\)"),
    "directed no flag": (put("directed", "yes"), r"spoilt\.json: directed must be true or false \(got 'yes'\)"),
    "graph no object": (
        put("graph", [["name", "x"]]),
        r"spoilt\.json: graph must be a JSON object \(got \[\['name', 'x'\]\]\)",
    ),
    "other format": (
        put("graph", "format", "gangopt-instance"),
        r"spoilt\.json: graph\.format must be 'gangopt-cluster' \(got 'gangopt-instance'\)",
    ),
    "other version": (put("graph", "version", 2), r"spoilt\.json: graph\.version must be 1 \(got 2\)"),
    "version true": (put("graph", "version", True), r"spoilt\.json: graph\.version must be 1 \(got True\)"),
    "no version": (drop("graph", "version"), r"spoilt\.json: graph\.version must be 1 \(got None\)"),
    "unknown field": (
        put("racks", []),
        r"spoilt\.json: the file: unknown field 'racks'; known: directed, edges, graph, links,",
    ),
    "unknown graph field": (
        put("graph", "author", "x"),
        r"spoilt\.json: graph: unknown field 'author'; known: description, format, name, source, switch_levels, ",
    ),
    "unknown machine field": (
        put("nodes", 2, "cpus", 4),
        r"spoilt\.json: nodes\[2\]: unknown field 'cpus'; known: capacities, gpu_type, id, labels, level",
    ),
    "capacities of a rack": (
        put("nodes", 1, "capacities", {}),
        r"spoilt\.json: nodes\[1\]: unknown field 'capacities'; known: id, level",
    ),
    "unknown edge field": (
        put("edges", 0, "latency", 1),
        r"spoilt\.json: edges\[0\]: unknown field 'latency'; known: bandwidth, source, target",
    ),
    "node no object": (put("nodes", 1, "r0"), r"spoilt\.json: nodes\[1\] must be a JSON object \(got 'r0'\)"),
    "node without id": (drop("nodes", 1, "id"), r"nodes\[1\] has no 'id'"),
    "id no text": (put("nodes", 1, "id", 7.5), r"spoilt\.json: nodes\[1\]\.id must be text or an integer \(got 7\.5\)"),
    "id twice": (put("nodes", 3, "id", "m0"), r"spoilt\.json: nodes\[3\]: duplicate id 'm0'"),
    "edge no object": (
        put("edges", 1, ["r0", "m0"]),
        r"spoilt\.json: edges\[1\] must be a JSON object \(got \['r0', 'm0'\]\)",
    ),
    "edge without end": (drop("edges", 1, "target"), r"edges\[1\] has no 'target'"),
    "edge end no text": (
        put("edges", 1, "source", None),
        r"spoilt\.json: edges\[1\]\.source must be text or an integer \(got None\)",
    ),
    "edge to nowhere": (put("edges", 1, "target", "m9"), r"spoilt\.json: edges\[1\]\.target: unknown node 'm9'"),
    "edge twice": (
        put("edges", 1, {"source": "cluster", "target": "r0"}),
        r"spoilt\.json: edges\[1\]: duplicate edge between 'cluster' and 'r0'",
    ),
    "tree defect": (put("nodes", 3, "level", "gpu"), "joins two nodes of one level"),
    "value defect": (
        put("nodes", 2, "capacities", {"cpu": -1}),
        r"spoilt\.json: machine 'm0': capacity 'cpu' must be a number from 0 to 1e15 \(got -1\)",
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_defect(tmp_path, defect):
    spoil, message = DEFECTS[defect]
    data = copy.deepcopy(Cluster.from_groups([MachineGroup(1, 1)], name="x").to_node_link())
    spoil(data)
    path = tmp_path / "spoilt.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        load_cluster(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_top_level_that_is_no_object():
    with pytest.raises(InputError, match=r"the file must be a JSON object \(got \[\]\)"):
        Cluster.from_node_link([])


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe\x00", b'{"nodes": [NaN]}', b'{"nodes": [], "nodes": []}', b"[" * 100_000],
    ids=["empty", "truncated", "binary", "nan", "key twice", "too deep"],
)
def test_file_that_is_no_json_is_named(tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_cluster(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_and_directory(tmp_path):
    with pytest.raises(InputError, match=r"absent\.json: no such file"):
        load_cluster(tmp_path / "absent.json")
    with pytest.raises(InputError, match="is a directory"):
        load_cluster(tmp_path)


def test_output_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        save_cluster(named_cluster("themis-testbed"), tmp_path / "absent" / "x.json")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_spoilt_value_is_an_input_error_or_a_cluster(data):
    spoilt = Cluster.from_groups([MachineGroup(2, 2, slots=2, capacities={"cpu": 4})]).to_node_link()
    place = spoilt
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
        else:
            break
    place[key] = data.draw(json_values)
    with contextlib.suppress(InputError):
        cluster = Cluster.from_node_link(spoilt)
        assert Cluster.from_node_link(cluster.to_node_link()) == cluster
