"""Clusters from networkx graphs: what is accepted, and the error of each defect."""

import json

import networkx as nx
import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.topology import Cluster


def graph(kind=nx.DiGraph):
    made = kind()
    made.add_node("c", level="cluster")
    made.add_node("r", level="rack")
    made.add_node("m", level="machine", capacities={"cpu": 4, "gpu": 2}, gpu_type="P100")
    made.add_node("s", level="slot")
    made.add_node("g0", level="gpu")
    made.add_node("g1", level="gpu")
    made.add_edge("c", "r", bandwidth=40)
    made.add_edges_from([("r", "m"), ("m", "s"), ("s", "g0"), ("s", "g1")])
    return made


def test_a_good_graph():
    cluster = Cluster.from_graph(graph(), name="x", source="y")
    assert (cluster.root, cluster.racks, cluster.machines, cluster.slots) == ("c", ("r",), ("m",), ("s",))
    assert cluster.gpus == ("g0", "g1")
    assert cluster.gpu_types == ("P100",)
    assert cluster.rack_bandwidth.tolist() == [40]
    assert (cluster.name, cluster.description, cluster.source) == ("x", "", "y")


def test_undirected_edges_in_any_direction_are_the_same_cluster():
    turned = nx.Graph()
    turned.add_nodes_from(reversed(list(graph().nodes(data=True))))
    turned.add_edges_from((v, u, data) for u, v, data in graph().edges(data=True))
    assert Cluster.from_graph(turned) == Cluster.from_graph(graph())


@pytest.mark.parametrize("view", [nx.freeze, nx.subgraph_view, lambda g: g.copy(as_view=True)])
def test_frozen_graphs_and_views(view):
    assert Cluster.from_graph(view(graph())) == Cluster.from_graph(graph())


def test_the_given_graph_is_not_changed():
    given = graph()
    before = nx.node_link_data(given)
    Cluster.from_graph(given)
    assert nx.node_link_data(given) == before


def test_gpus_directly_under_a_machine_get_one_slot():
    made = graph()
    made.remove_node("s")
    made.add_edges_from([("m", "g0", {"bandwidth": 32}), ("m", "g1")])
    cluster = Cluster.from_graph(made)
    assert cluster.slots == ("m.s0",)
    assert cluster.gpu_slot.tolist() == [0, 0]
    assert cluster.gpu_bandwidth[0] == 32
    assert np.isnan(cluster.gpu_bandwidth[1])
    assert np.isnan(cluster.slot_bandwidth[0])


def test_other_attribute_names():
    made = nx.Graph(name="other")
    made.add_node("c", kind="cluster")
    made.add_node("r", kind="rack")
    made.add_node("m", kind="machine", cores=16, mem_gb=64, card="T4")
    made.add_node("g", kind="gpu")
    made.add_edge("c", "r", gbps=40)
    made.add_edges_from([("r", "m", {"gbps": 10}), ("m", "g")])
    cluster = Cluster.from_graph(
        made, level="kind", capacities={"cpu": "cores", "memory": "mem_gb"}, gpu_type="card", bandwidth="gbps"
    )
    assert cluster.resources == ("cpu", "gpu", "memory")
    assert cluster.capacities.tolist() == [[16, 1, 64]]
    assert cluster.gpu_types == ("T4",)
    assert (cluster.name, cluster.machine_bandwidth.tolist()) == ("other", [10])


def with_node(label, **data):
    return lambda g: g.add_node(label, **data)


def with_edge(u, v, **data):
    return lambda g: g.add_edge(u, v, **data)


def with_value(node, **data):
    return lambda g: g.nodes[node].update(data)


def with_capacity(amount):
    return lambda g: g.nodes["m"].update(capacities={"cpu": amount})


def without_edge(u, v):
    return lambda g: g.remove_edge(u, v)


def both(first, second):
    return lambda g: (first(g), second(g))


AMOUNT = r"machine 'm': capacity 'cpu' must be a number from 0 to 1e15 \(got "
BANDWIDTH = r"rack 'r': bandwidth of the edge above \(Gb/s\) must be a number > 0 and <= 1e15 \(got "
DEFECTS = {
    "missing level": (lambda g: g.nodes["m"].pop("level"), "node 'm' has no 'level'; it must be one of cluster, rack"),
    "unknown level": (
        with_value("m", level="node"),
        r"node 'm': 'level' must be one of cluster, rack, machine, slot, gpu \(got 'node'\)",
    ),
    "level of a wrong type": (
        with_value("m", level=np.array([1, 2])),
        r"node 'm': 'level' must be one of cluster, rack, machine, slot, gpu \(got array\(\[1, 2\]\)\)",
    ),
    "no root": (with_value("c", level="rack"), r"0 nodes of level cluster \(none\); it must have exactly one root"),
    "two roots": (with_node("d", level="cluster"), r"2 nodes of level cluster \('c', 'd'\); it must have exactly one"),
    "label that is no text": (
        with_node(("r", 5), level="rack"),
        r"the label of node 6 must be non-empty printable text \(got \('r', 5\)\)",
    ),
    "label that is true": (
        with_node(True, level="rack"),
        r"the label of node 6 must be non-empty printable text \(got True\)",
    ),
    "number and its text": (
        lambda g: g.add_nodes_from([5, "5"], level="rack"),
        "labels 5 and '5' must not both be used, they are equal as text",
    ),
    "empty label": (with_node("", level="rack"), r"the label of node 6 must be non-empty printable text \(got ''\)"),
    "label of two lines": (
        with_node("a\nb", level="rack"),
        r"the label of node 6 must be non-empty printable text \(got 'a\\nb'\)",
    ),
    "two parents": (
        both(with_node("s2", level="slot"), both(with_edge("m", "s2"), with_edge("s2", "g0"))),
        "not a tree: node 'g0' has two parents, 's' and 's2'",
    ),
    "directed cycle": (with_edge("g0", "m"), r"edge from 'g0' \(gpu\) to 'm' \(machine\) goes up"),
    "edge to itself": (with_edge("m", "m"), "not a tree: node 'm' has an edge to itself"),
    "edge on one level": (with_edge("g0", "g1"), r"'g0' \(gpu\) to 'g1' \(gpu\) joins two nodes of one level"),
    "rack skipped": (
        both(without_edge("r", "m"), with_edge("c", "m")),
        r"edge from 'c' \(cluster\) to 'm' \(machine\) skips a level; the parent of a machine must be a rack",
    ),
    "gpu under a rack": (
        both(without_edge("s", "g0"), with_edge("r", "g0")),
        r"edge from 'r' \(rack\) to 'g0' \(gpu\) skips a level; the parent of a gpu must be a slot",
    ),
    "no parent": (without_edge("r", "m"), r"node 'm' \(machine\) has no parent; it must have a rack as parent"),
    "gpu beside slots": (
        both(without_edge("s", "g0"), with_edge("m", "g0")),
        "machine 'm' has slots, but GPU 'g0' is outside of them; put it into a slot",
    ),
    "empty rack": (
        both(with_node("r2", level="rack"), with_edge("c", "r2")),
        "rack 'r2' is empty; it must hold at least one machine",
    ),
    "empty slot": (
        both(with_node("s2", level="slot"), with_edge("m", "s2")),
        "slot 's2' is empty; it must hold at least one GPU",
    ),
    "no capacities": (lambda g: g.nodes["m"].pop("capacities"), "machine 'm' has no 'capacities'; it must have a map"),
    "capacities that are no mapping": (
        with_value("m", capacities=[4]),
        r"machine 'm': capacities must be a mapping from resource name to amount \(got \[4\]\)",
    ),
    "resource that is no text": (
        with_value("m", capacities={5: 1}),
        r"machine 'm': a resource name must be non-empty printable text \(got 5\)",
    ),
    "negative capacity": (with_capacity(-1), AMOUNT),
    "nan capacity": (with_capacity(float("nan")), AMOUNT),
    "infinite capacity": (with_capacity(float("inf")), AMOUNT),
    "boolean capacity": (with_capacity(True), AMOUNT),
    "numpy boolean capacity": (with_capacity(np.True_), AMOUNT),
    "text as capacity": (with_capacity("4"), AMOUNT),
    "None as capacity": (with_capacity(None), AMOUNT),
    "absurd capacity": (with_capacity(1e16), AMOUNT),
    "capacity beyond floats": (with_capacity(10**400), AMOUNT),
    "wrong gpu count": (
        with_value("m", capacities={"gpu": 3}),
        "machine 'm': capacity 'gpu' is 3, but the machine has 2 GPU nodes",
    ),
    "gpu type that is no text": (
        with_value("m", gpu_type=5),
        r"machine 'm': gpu_type must be non-empty printable text \(got 5\)",
    ),
    "gpu type without gpu": (
        both(lambda g: g.remove_nodes_from(["s", "g0", "g1"]), with_value("m", capacities={})),
        "machine 'm': gpu_type is 'P100', but the machine has no GPU",
    ),
    "negative bandwidth": (with_edge("c", "r", bandwidth=-1), BANDWIDTH),
    "zero bandwidth": (with_edge("c", "r", bandwidth=0), BANDWIDTH),
    "nan bandwidth": (with_edge("c", "r", bandwidth=float("nan")), BANDWIDTH),
    "boolean bandwidth": (with_edge("c", "r", bandwidth=True), BANDWIDTH),
    "text as bandwidth": (with_edge("c", "r", bandwidth="10G"), BANDWIDTH),
    "name that is no text": (lambda g: g.graph.update(name=5), r"the cluster's name must be text \(got 5\)"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_defect(defect):
    spoil, message = DEFECTS[defect]
    spoilt = graph()
    spoil(spoilt)
    with pytest.raises(InputError, match=message) as caught:
        Cluster.from_graph(spoilt)
    assert "\n" not in str(caught.value)


def test_undirected_cycle():
    spoilt = graph(nx.Graph)
    spoilt.add_node("s2", level="slot")
    spoilt.add_edges_from([("s2", "m"), ("s2", "g1")])
    with pytest.raises(InputError, match="not a tree: node 'g1' has two parents, 's' and 's2'"):
        Cluster.from_graph(spoilt)


def test_edges_in_both_directions():
    with pytest.raises(InputError, match=r"goes up; directed edges go from parent to child"):
        Cluster.from_graph(graph().to_undirected().to_directed())


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_multigraph(kind):
    with pytest.raises(
        InputError,
        match=r"graph must be a Graph or DiGraph with at most one edge between two nodes \(got a multigraph\)",
    ):
        Cluster.from_graph(kind(graph()))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_empty_graph(kind):
    with pytest.raises(InputError, match="the graph is empty"):
        Cluster.from_graph(kind())


def test_cluster_node_alone():
    alone = nx.Graph()
    alone.add_node("c", level="cluster")
    with pytest.raises(InputError, match="the cluster has no machine"):
        Cluster.from_graph(alone)


@pytest.mark.parametrize("other", [None, [("c", "r")], {"c": ["r"]}, "graph"])
def test_what_is_no_graph(other):
    with pytest.raises(InputError, match=r"graph must be a networkx Graph or DiGraph \(got "):
        Cluster.from_graph(other)


def test_implicit_slot_label_in_use():
    made = graph()
    made.remove_node("s")
    made.add_node("m.s0", level="machine", capacities={})
    made.add_edges_from([("m", "g0"), ("m", "g1"), ("r", "m.s0")])
    with pytest.raises(InputError, match=r"duplicate label 'm\.s0', of a machine and a slot"):
        Cluster.from_graph(made)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": None}, r"an attribute name must be non-empty printable text \(got None\)"),
        ({"bandwidth": ["x"]}, r"an attribute name must be non-empty printable text \(got \['x'\]\)"),
        ({"gpu_type": ""}, r"an attribute name must be non-empty printable text \(got ''\)"),
        ({"capacities": None}, r"capacities must be an attribute name, or a mapping to such names \(got None\)"),
        (
            {"capacities": {"cpu": 5}},
            r"the attribute name of capacity 'cpu' must be non-empty printable text \(got 5\)",
        ),
        ({"capacities": {"cpu": "cores"}}, "machine 'm' has no 'cores', which holds the capacity 'cpu'"),
        ({"level": "kind"}, "node 'c' has no 'kind'"),
    ],
)
def test_bad_attribute_names(arguments, message):
    with pytest.raises(InputError, match=message):
        Cluster.from_graph(graph(), **arguments)


@pytest.mark.parametrize("number", [int, np.int64])
def test_whole_numbers_as_labels_become_text(number):
    graph = nx.balanced_tree(2, 2)
    nx.set_node_attributes(graph, {0: "cluster", 1: "rack", 2: "rack"} | dict.fromkeys(range(3, 7), "machine"), "level")
    nx.set_node_attributes(graph, {machine: {"cpu": 4} for machine in range(3, 7)}, "capacities")
    cluster = Cluster.from_graph(nx.relabel_nodes(graph, number))
    assert (cluster.root, cluster.racks, cluster.machines) == ("0", ("1", "2"), ("3", "4", "5", "6"))
    assert cluster.machine_rack.tolist() == [0, 0, 1, 1]
    assert Cluster.from_node_link(json.loads(json.dumps(nx.node_link_data(graph, edges="edges")))) == cluster
    assert set(graph) == set(range(7))
