"""The builders of a cluster, its array views, equality and immutability."""

import copy
import json
import operator
import pickle
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.topology import Cluster, MachineGroup


def small():
    return Cluster.from_groups(
        [
            MachineGroup(2, capacities={"cpu": 16, "memory": 80}, name="c"),
            MachineGroup(2, 3, slots=(1, 2), capacities={"cpu": 8, "disk": 1.5}, gpu_type="P100", bandwidth=10),
        ],
        machines_per_rack=[3, 1],
        rack_bandwidth=40,
        name="small",
    )


def test_uniform_has_the_counts_and_values_asked_for():
    cluster = Cluster.uniform(
        racks=2,
        machines_per_rack=3,
        slots_per_machine=4,
        gpus_per_slot=2,
        capacities={"cpu": 96, "memory": 768},
        gpu_type="A100",
        bandwidth=100,
        rack_bandwidth=400,
    )
    assert (len(cluster.racks), len(cluster.machines), len(cluster.slots), len(cluster.gpus)) == (2, 6, 24, 48)
    assert cluster.resources == ("cpu", "gpu", "memory")
    assert cluster.capacities.tolist() == [[96, 8, 768]] * 6
    assert cluster.gpu_types == ("A100",) * 6
    assert cluster.machine_bandwidth.tolist() == [100] * 6
    assert cluster.rack_bandwidth.tolist() == [400] * 2
    assert np.isnan(cluster.slot_bandwidth).all()
    assert np.isnan(cluster.gpu_bandwidth).all()


def test_uniform_without_gpus_has_no_slots():
    cluster = Cluster.uniform(machines_per_rack=2, slots_per_machine=4, gpus_per_slot=0, capacities={"cpu": 1})
    assert cluster.slots == cluster.gpus == ()
    assert cluster.gpus_per_machine.tolist() == [0, 0]


def test_groups_give_labels_racks_slots_and_capacities():
    cluster = small()
    assert cluster.racks == ("r0", "r1")
    assert cluster.machines == ("c0", "c1", "m0", "m1")
    assert cluster.machine_rack.tolist() == [0, 0, 0, 1]
    assert cluster.slots == ("m0.s0", "m0.s1", "m1.s0", "m1.s1")
    assert cluster.gpus == ("m0.g0", "m0.g1", "m0.g2", "m1.g0", "m1.g1", "m1.g2")
    assert cluster.gpu_slot.tolist() == [0, 1, 1, 2, 3, 3]
    assert cluster.resources == ("cpu", "disk", "gpu", "memory")
    assert cluster.capacities.tolist() == [[16, 0, 0, 80], [16, 0, 0, 80], [8, 1.5, 3, 0], [8, 1.5, 3, 0]]
    assert cluster.gpu_types == (None, None, "P100", "P100")


def test_array_views_agree_with_the_graph():
    cluster = small()
    graph = cluster.graph
    for gpu, label in enumerate(cluster.gpus):
        (slot,) = graph.predecessors(label)
        (machine,) = graph.predecessors(slot)
        (rack,) = graph.predecessors(machine)
        assert cluster.slots[cluster.gpu_slot[gpu]] == slot
        assert cluster.machines[cluster.gpu_machine[gpu]] == machine
        assert cluster.racks[cluster.gpu_rack[gpu]] == rack
    for machine, label in enumerate(cluster.machines):
        data = graph.nodes[label]
        assert data["level"] == "machine"
        assert [data["capacities"][name] for name in cluster.resources] == cluster.capacities[machine].tolist()
        assert list(graph.successors(label)) == [cluster.slots[s] for s in cluster.machine_slots(machine)]
    assert graph.edges["cluster", "r0"]["bandwidth"] == 40
    assert graph.edges["m0", "m0.s0"]["bandwidth"] is None


def test_ranges_of_children():
    cluster = small()
    assert list(cluster.rack_machines(0)) == [0, 1, 2]
    assert list(cluster.machine_slots(0)) == []
    assert list(cluster.machine_gpus(3)) == [3, 4, 5]
    assert list(cluster.slot_gpus(1)) == [1, 2]
    assert cluster.gpus_per_slot.tolist() == [1, 2, 1, 2]
    assert cluster.gpus_per_machine.tolist() == [0, 0, 3, 3]


@pytest.mark.parametrize("bad", [2, -1, "r0", None])
def test_range_of_an_unknown_node_is_an_error(bad):
    with pytest.raises(InputError, match=r"rack index must be from 0 to 1 \(got "):
        small().rack_machines(bad)


def test_index_by_label_and_number():
    cluster = small()
    assert cluster.machine_id("m1") == cluster.machine_id(3) == cluster.machine_id(np.int64(3)) == 3
    assert cluster.gpu_ids(["m1.g0", 0, np.int32(2)]).tolist() == [3, 0, 2]
    assert cluster.machine_index["m1"] == 3


@pytest.mark.parametrize("bad", ["m9", 4, -1, True, 1.0, None, []])
def test_unknown_machine_is_an_error(bad):
    with pytest.raises(InputError, match=r"unknown machine .*index from 0 to 3 or a label"):
        small().machine_id(bad)


def test_gpu_of_a_cluster_without_gpus_is_an_error():
    with pytest.raises(InputError, match="unknown GPU 0; the cluster has none"):
        Cluster.from_groups([MachineGroup(1)]).gpu_ids([0])


def test_order_is_by_label_with_digits_by_value():
    cluster = Cluster.uniform(machines_per_rack=12, gpus_per_slot=11)
    assert cluster.machines == tuple(f"m{i}" for i in range(12))
    assert cluster.gpus[:11] == tuple(f"m0.g{i}" for i in range(11))


def test_groups_of_one_name_are_numbered_on():
    cluster = Cluster.from_groups([MachineGroup(2, 1), MachineGroup(1, 4)])
    assert cluster.machines == ("m0", "m1", "m2")
    assert cluster.gpus_per_machine.tolist() == [1, 1, 4]


def test_racks_are_filled_in_order_and_the_last_may_be_short():
    cluster = Cluster.from_groups([MachineGroup(5)], machines_per_rack=2)
    assert cluster.machine_rack.tolist() == [0, 0, 1, 1, 2]


def test_whole_and_fractional_amounts_of_any_number_type():
    cluster = Cluster.from_groups([MachineGroup(1, capacities={"a": np.float32(0.5), "b": np.int64(3), "c": -0.0})])
    assert cluster.capacities.tolist() == [[0.5, 3, 0, 0]]
    assert not np.signbit(cluster.capacities).any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MachineGroup(0), r"MachineGroup: count must be an integer from 1 to 2,000,000 \(got 0\)"),
        (lambda: MachineGroup(1.0), r"MachineGroup: count must be an integer from 1 to 2,000,000 \(got 1\.0\)"),
        (lambda: MachineGroup(True), r"MachineGroup: count must be an integer from 1 to 2,000,000 \(got True\)"),
        (
            lambda: MachineGroup(10**30),
            r"MachineGroup: count must be an integer from 1 to 2,000,000 \(got 1000000000000000000000000000000\)",
        ),
        (lambda: MachineGroup(1, -1), r"MachineGroup: gpus must be an integer from 0 to 2,000,000 \(got -1\)"),
        (lambda: MachineGroup(1, 8, slots=3), r"MachineGroup: slots must hold exactly 8 GPUs \(got 3\)"),
        (lambda: MachineGroup(1, 2, slots=4), r"MachineGroup: slots must hold exactly 2 GPUs \(got 4\)"),
        (lambda: MachineGroup(1, 8, slots=(4, 3)), r"MachineGroup: slots must hold exactly 8 GPUs \(got \(4, 3\)\)"),
        (
            lambda: MachineGroup(1, 4, slots=(4, 0)),
            r"MachineGroup: slots\[1\] must be an integer from 1 to 2,000,000 \(got 0\)",
        ),
        (
            lambda: MachineGroup(1, 4, slots="4"),
            r"MachineGroup: slots must be an integer from 1 to 2,000,000 \(got '4'\)",
        ),
        (lambda: MachineGroup(1, name=""), r"MachineGroup: name must be non-empty printable text \(got ''\)"),
        (lambda: Cluster.from_groups([]), "groups must not be empty"),
        (
            lambda: Cluster.from_groups(MachineGroup(1)),
            r"groups must be a list of MachineGroup \(got MachineGroup\(count=1, gpus=0, slots=1,",
        ),
        (lambda: Cluster.from_groups([{"count": 1}]), r"groups\[0\] must be a MachineGroup \(got \{'count': 1\}\)"),
        (
            lambda: Cluster.from_groups([MachineGroup(3)], machines_per_rack=0),
            r"machines_per_rack must be an integer from 1 to 2,000,000 \(got 0\)",
        ),
        (
            lambda: Cluster.from_groups([MachineGroup(3)], machines_per_rack="3"),
            r"machines_per_rack must be an integer from 1 to 2,000,000 \(got '3'\)",
        ),
        (
            lambda: Cluster.from_groups([MachineGroup(3)], machines_per_rack=[3, 0]),
            r"machines_per_rack\[1\] must be an integer from 1 to 2,000,000 \(got 0\)",
        ),
        (
            lambda: Cluster.from_groups([MachineGroup(3)], machines_per_rack=[2, 2]),
            r"machines_per_rack must sum to the 3 machines of the groups \(got 4\)",
        ),
        (lambda: Cluster.from_groups([MachineGroup(1, name="r")]), "duplicate label 'r0', of a rack and a machine"),
        (
            lambda: Cluster.from_groups([MachineGroup(11, name="a"), MachineGroup(1, name="a1")]),
            "duplicate label 'a10', of a machine and a machine",
        ),
        (
            lambda: Cluster.from_groups([MachineGroup(1, capacities={"cpu": -1})]),
            r"machine 'm0': capacity 'cpu' must be a number from 0 to 1e15 \(got -1\)",
        ),
        (
            lambda: Cluster.from_groups([MachineGroup(1, bandwidth=0)]),
            r"machine 'm0': bandwidth of the edge above \(Gb/s\) must be a number > 0 and <= 1e15 \(got 0\)",
        ),
        (
            lambda: Cluster.uniform(racks=0, machines_per_rack=1, gpus_per_slot=1),
            r"racks must be an integer from 1 to 2,000,000 \(got 0\)",
        ),
        (
            lambda: Cluster.uniform(machines_per_rack=0, gpus_per_slot=1),
            r"machines_per_rack must be an integer from 1 to 2,000,000 \(got 0\)",
        ),
        (
            lambda: Cluster.uniform(machines_per_rack=1, gpus_per_slot=-1),
            r"gpus_per_slot must be an integer from 0 to 2,000,000 \(got -1\)",
        ),
        (
            lambda: Cluster.uniform(machines_per_rack=1, slots_per_machine=0, gpus_per_slot=1),
            r"slots_per_machine must be an integer from 1 to 2,000,000 \(got 0\)",
        ),
        (
            lambda: Cluster.uniform(racks=1000, machines_per_rack=1000, gpus_per_slot=8),
            r"the cluster must have at most 2,000,000 nodes \(got 10000000\)",
        ),
        (lambda: Cluster.from_groups([MachineGroup(1)], name=5), r"the cluster's name must be text \(got 5\)"),
        (
            lambda: Cluster.from_groups([MachineGroup(1)], description="\ud800"),
            r"the cluster's description must be printable text \(got '\\ud800'\): character 0 \('\\ud800'\)",
        ),
    ],
)
def test_bad_arguments_of_builders(make, message):
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_equality_and_hash_are_by_content():
    assert small() == small()
    assert hash(small()) == hash(small())
    assert len({small(), small()}) == 1
    other = Cluster.from_groups([MachineGroup(2)])
    assert other != Cluster.from_groups([MachineGroup(2, capacities={"cpu": 1})])
    assert other != Cluster.from_groups([MachineGroup(2, bandwidth=1)])
    assert other != Cluster.from_groups([MachineGroup(2, name="x")])
    assert other != Cluster.from_groups([MachineGroup(2)], machines_per_rack=1)
    assert other != "cluster"
    assert Cluster.from_groups([MachineGroup(2)], name="a", source="b") == other


def test_different_gpu_types_are_different_clusters():
    assert Cluster.from_groups([MachineGroup(1, 1, gpu_type="a")]) != Cluster.from_groups(
        [MachineGroup(1, 1, gpu_type="b")]
    )


def test_nothing_can_be_changed():
    cluster = small()
    with pytest.raises(AttributeError):
        cluster.machines = ()
    with pytest.raises(ValueError, match="read-only"):
        cluster.capacities[0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        cluster.gpu_machine[0] = 1
    with pytest.raises(TypeError):
        cluster.machine_index["c0"] = 5
    with pytest.raises(nx.NetworkXError, match="Frozen"):
        cluster.graph.add_node("x")


@pytest.mark.parametrize(
    "change",
    [
        lambda g: g.nodes["m0"]["capacities"].update(cpu=99),
        lambda g: g.nodes["m0"]["capacities"].__setitem__("cpu", 99),
        lambda g: g.nodes["m0"].pop("level"),
        lambda g: g.nodes["m0"].setdefault("colour", "red"),
        lambda g: operator.ior(g.nodes["m0"], {"level": "rack"}),
        lambda g: g.edges["r0", "m0"].__delitem__("bandwidth"),
        lambda g: g.edges["r0", "m0"].popitem(),
        lambda g: g["r0"]["m0"].update(bandwidth=1),
        lambda g: g.pred["m0"]["r0"].clear(),
        lambda g: g.graph.update(name="other"),
    ],
)
def test_attributes_of_the_graph_view_cannot_be_changed(change):
    cluster = small()
    with pytest.raises(TypeError, match=r"the graph of a cluster is read-only; use graph\.copy\(\) to change it"):
        change(cluster.graph)
    assert cluster == small() == Cluster.from_graph(cluster.graph)


@pytest.mark.parametrize(
    "copied", [lambda g: g.copy(), copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), lambda g: g.to_undirected()]
)
def test_copies_of_the_graph_view_can_be_changed(copied):
    cluster = small()
    graph = copied(cluster.graph)
    graph.nodes["m0"]["capacities"]["cpu"] = 99
    graph.edges["r0", "m0"]["bandwidth"] = 7
    changed = Cluster.from_graph(graph)
    machine = changed.machine_index["m0"]
    assert changed.capacities[machine, changed.resources.index("cpu")] == 99
    assert changed.machine_bandwidth[machine] == 7
    assert cluster == small()
    assert copy.copy(cluster.graph.nodes["m0"]) == cluster.graph.nodes["m0"]


def test_node_link_data_are_plain_and_can_be_changed():
    data = small().to_node_link()
    machine = next(node for node in data["nodes"] if node["level"] == "machine")
    machine["capacities"]["cpu"] = 99
    assert json.loads(json.dumps(nx.node_link_data(small().graph, edges="edges")))["nodes"]


def test_a_change_of_the_given_capacities_does_not_reach_the_cluster():
    capacities = {"cpu": 4}
    cluster = Cluster.from_groups([MachineGroup(1, capacities=capacities)])
    capacities["cpu"] = 5
    assert cluster.capacities[0, 0] == 4


@pytest.mark.parametrize("twin_of", [copy.copy, copy.deepcopy, lambda cluster: pickle.loads(pickle.dumps(cluster))])
def test_copies_are_equal_and_locked(twin_of):
    cluster = small()
    assert cluster.graph.number_of_nodes() == 1 + 2 + 4 + 4 + 6
    twin = twin_of(cluster)
    assert twin == cluster
    assert (twin.name, twin.gpu_machine.tolist()) == ("small", cluster.gpu_machine.tolist())
    assert not twin.capacities.flags.writeable


def test_repr_names_the_sizes():
    assert repr(small()) == "Cluster(name='small', racks=2, machines=4, gpus=6)"


def test_ten_thousand_machines_are_built_and_read_back():
    cluster = Cluster.uniform(racks=250, machines_per_rack=40, slots_per_machine=4, gpus_per_slot=2)
    twin = Cluster.from_graph(cluster.graph)
    assert len(twin.gpus) == 80_000
    assert twin == cluster


def test_import_loads_no_heavy_library():
    heavy = ["networkx", "matplotlib", "pyomo", "polars", "scipy", "pydantic", "highspy"]
    code = f"import sys, gangopt.topology; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
