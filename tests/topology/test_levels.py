"""Switch levels between cluster and rack, and labels of machines."""

import copy
import pickle

import networkx as nx
import pytest

from gangopt.base.errors import InputError
from gangopt.topology import Cluster, MachineGroup, machine_classes, rack_classes, render


def fat_tree(directed: bool = True) -> nx.Graph:
    """Return two spines, each with one leaf of two racks, each with one machine of two GPUs."""
    graph = nx.DiGraph(switch_levels=["spine", "leaf"]) if directed else nx.Graph(switch_levels=["spine", "leaf"])
    graph.add_node("dc", level="cluster")
    for i in range(4):
        leaf, spine = f"leaf{i // 2}", f"spine{i // 2}"
        graph.add_node(spine, level="spine")
        graph.add_node(leaf, level="leaf")
        graph.add_node(f"rack{i}", level="rack")
        labels = {"pool": "a" if i < 3 else "b"}
        graph.add_node(f"m{i}", level="machine", capacities={"cpu": 4}, labels=labels)
        edges = [("dc", spine), (spine, leaf), (leaf, f"rack{i}"), (f"rack{i}", f"m{i}")]
        for parent, child in edges:
            graph.add_edge(parent, child)
        graph.edges["dc", spine]["bandwidth"] = 400
        for g in range(2):
            graph.add_node(f"m{i}.g{g}", level="gpu")
            graph.add_edge(f"m{i}", f"m{i}.g{g}")
    return graph


@pytest.mark.parametrize("directed", [True, False])
def test_levels_and_domains(directed):
    cluster = Cluster.from_graph(fat_tree(directed))
    assert cluster.levels == ("cluster", "spine", "leaf", "rack", "machine", "slot", "gpu")
    assert cluster.nodes("spine") == ("spine0", "spine1")
    assert cluster.nodes("cluster") == ("dc",)
    assert cluster.nodes("machine") == ("m0", "m1", "m2", "m3")
    assert cluster.machine_domain("cluster").tolist() == [0, 0, 0, 0]
    assert cluster.machine_domain("spine").tolist() == [0, 0, 1, 1]
    assert cluster.machine_domain("leaf").tolist() == [0, 0, 1, 1]
    assert cluster.machine_domain("rack").tolist() == [0, 1, 2, 3]
    assert cluster.machine_domain("machine").tolist() == [0, 1, 2, 3]
    assert cluster.switch_bandwidth[0].tolist() == [400, 400]


def test_copies_are_equal():
    cluster = Cluster.from_graph(fat_tree())
    assert Cluster.from_node_link(cluster.to_node_link()) == cluster
    assert Cluster.from_graph(cluster.graph) == cluster
    twin = pickle.loads(pickle.dumps(cluster))
    assert twin == cluster
    assert twin.machine_labels == cluster.machine_labels
    assert copy.deepcopy(cluster) == cluster


def test_labels_and_switches_count_in_equality_and_classes():
    graph = fat_tree()
    graph.nodes["m3"]["labels"] = {"pool": "a"}
    cluster, other = Cluster.from_graph(fat_tree()), Cluster.from_graph(graph)
    assert cluster != other
    assert machine_classes(cluster, across_racks="always") == ((0, 1, 2), (3,))
    assert machine_classes(other, across_racks="always") == ((0, 1, 2, 3),)
    assert rack_classes(other) == ((0, 1), (2, 3))


def test_groups_take_labels():
    cluster = Cluster.from_groups([MachineGroup(2, 1, labels={"pool": "a"}), MachineGroup(1, 1)])
    assert [dict(row) for row in cluster.machine_labels] == [{"pool": "a"}, {"pool": "a"}, {}]
    assert "pool=a" in render(cluster)
    with pytest.raises(TypeError):
        cluster.machine_labels[0]["pool"] = "b"


def test_render_names_the_switches():
    text = render(Cluster.from_graph(fat_tree()))
    assert "  spine: 2 (spine0 .. spine1)" in text
    assert "leaf leaf0" in text


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda g: g.graph.update(switch_levels="spine"),
            r"switch_levels must be a list of level names \(got 'spine'\)",
        ),
        (lambda g: g.graph.update(switch_levels=["spine", 3]), r"switch_levels\[1\] must be non-empty printable text"),
        (lambda g: g.graph.update(switch_levels=["rack"]), r"switch_levels\[0\] must differ from cluster, rack, "),
        (
            lambda g: g.graph.update(switch_levels=["a", "a"]),
            r"switch_levels\[1\] must differ from .*gpu, a \(got 'a'\)",
        ),
        (
            lambda g: g.graph.update(switch_levels=["spine"]),
            r"node 'leaf0': 'level' must be one of cluster, spine, rack",
        ),
        (
            lambda g: g.graph.update(switch_levels=["leaf", "spine"]),
            r"edge from 'dc' \(cluster\) to 'spine0' \(spine\) skips a level",
        ),
        (lambda g: g.add_node("spine9", level="spine"), r"node 'spine9' \(spine\) has no parent"),
        (
            lambda g: g.add_edge("spine0", "x") or g.add_node("x", level="leaf"),
            r"leaf 'x' is empty; .* at least one rack",
        ),
        (lambda g: g.nodes["m0"].update(labels=["a"]), r"machine 'm0': labels must be a mapping from text to text"),
        (lambda g: g.nodes["m0"].update(labels={"": "a"}), r"machine 'm0': the key of a label must be non-empty"),
        (lambda g: g.nodes["m0"].update(labels={"pool": 3}), r"machine 'm0': label 'pool' must be text \(got 3\)"),
    ],
)
def test_defects(spoil, message):
    graph = fat_tree()
    spoil(graph)
    with pytest.raises(InputError, match=message):
        Cluster.from_graph(graph)


@pytest.mark.parametrize(("level", "message"), [("row", "level must be one of cluster, rack, "), (3, "got 3")])
def test_unknown_level(level, message):
    cluster = Cluster.uniform(machines_per_rack=1, gpus_per_slot=1)
    with pytest.raises(InputError, match=message):
        cluster.nodes(level)
    with pytest.raises(InputError, match=message):
        cluster.machine_domain(level)
