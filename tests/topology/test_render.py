"""A cluster as text, and its totals."""

from gangopt.topology import Cluster, MachineGroup, named_cluster, render, totals


def test_equal_machines_are_one_line():
    text = render(named_cluster("optimus-testbed")).splitlines()
    assert text[:5] == [
        "cluster optimus-testbed: 1 rack, 13 machines, 12 GPUs (12 GTX 1080 Ti)",
        "  rack r0:",
        "    7 x machine cpu0 .. cpu6 (no GPU; cpu 16, memory 80 GB; network 1 Gb/s)",
        "    6 x machine gpu0 .. gpu5 (2 GPUs, GTX 1080 Ti; cpu 8, memory 48 GB; network 1 Gb/s)",
        "  total cpu 160, memory 848 GB",
    ]
    assert text[5].startswith("  description: Seven CPU servers")
    assert text[6].startswith("  source: Optimus (EuroSys 2018)")


def test_equal_racks_are_one_line():
    cluster = Cluster.uniform(
        racks=3, machines_per_rack=4, slots_per_machine=4, gpus_per_slot=2, gpu_type="P100", rack_bandwidth=400
    )
    assert render(cluster) == (
        "cluster cluster: 3 racks, 12 machines, 96 GPUs (96 P100)\n"
        "  3 x rack r0 .. r2 (uplink 400 Gb/s): 4 x machine (8 GPUs: 4 slots x 2, P100)"
    )


def test_scattered_machines_uneven_slots_and_mixed_links():
    a = MachineGroup(1, 3, slots=(1, 2), name="a", gpu_bandwidth=64)
    b = MachineGroup(1, 1, capacities={"cpu": 0.5}, name="b")
    graph = Cluster.from_groups([a, b, a, b, a, b, a, b], machines_per_rack=8).graph.copy()
    rename = {label: f"n{i}" for i, label in enumerate(["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"])}
    for label, new in rename.items():
        graph.nodes[label]["new"] = new
    import networkx as nx

    graph = nx.relabel_nodes(graph, rename)
    for machine in ("n0", "n2", "n4", "n6"):
        first, second = (slot for slot in graph.successors(machine))
        graph.edges[first, next(iter(graph.successors(first)))]["bandwidth"] = 32
        graph.edges[machine, second]["bandwidth"] = 12.5
    lines = render(Cluster.from_graph(graph)).splitlines()
    assert lines[2:4] == [
        "    4 x machine n0, n2, n4, ... (3 GPUs: slots of 1 + 2; slot 12.5 Gb/s, some unknown, GPU 32 to 64 Gb/s)",
        "    4 x machine n1, n3, n5, ... (1 GPU; cpu 0.5)",
    ]


def test_the_text_is_short_for_a_large_uniform_cluster():
    cluster = Cluster.uniform(racks=50, machines_per_rack=20, gpus_per_slot=4)
    assert len(render(cluster).splitlines()) == 2


def test_annotations_are_put_on_one_line():
    assert render(Cluster.from_groups([MachineGroup(1)], description="a\n  b")).endswith("\n  description: a b")


def test_totals():
    cluster = Cluster.from_groups(
        [
            MachineGroup(2, 2, gpu_type="V100", capacities={"cpu": 0.1}),
            MachineGroup(1, 4, capacities={"cpu": 0.1}),
            MachineGroup(1, 1, gpu_type="K80"),
        ],
        machines_per_rack=2,
    )
    whole = totals(cluster)
    assert (whole.racks, whole.machines, whole.slots, whole.gpus) == (2, 4, 4, 9)
    assert list(whole.gpus_by_type.items()) == [("K80", 1), ("V100", 4), ("unknown type", 4)]
    assert whole.capacities == {"cpu": 0.30000000000000004, "gpu": 9}
