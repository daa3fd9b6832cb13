"""Milliseconds of the topology on 10,000 machines with 80,000 GPUs."""

import time
from itertools import pairwise

import pytest

from gangopt.topology import Cluster, State, locality, machine_classes


@pytest.mark.benchmark
def test_ten_thousand_machines():
    clock = time.process_time
    marks = [("start", clock())]
    cluster = Cluster.uniform(
        racks=250, machines_per_rack=40, slots_per_machine=4, gpus_per_slot=2, capacities={"cpu": 96}
    )
    marks.append(("build", clock()))
    twin = Cluster.from_graph(cluster.graph)
    marks.append(("graph and back", clock()))
    state = State(cluster)
    for job in range(1000):
        state.allocate(f"j{job}", range(8 * job, 8 * job + 8), {job: {"cpu": 8}})
    marks.append(("1,000 allocations", clock()))
    state.copy()
    marks.append(("copy of the free state", clock()))
    classes = machine_classes(cluster, state, across_racks="always")
    marks.append(("machine classes", clock()))
    width = locality(cluster, range(64))
    marks.append(("locality of 64 GPUs", clock()))
    for (_, before), (name, after) in pairwise(marks):
        print(f"{name:<24}{1000 * (after - before):>10.2f} ms")
    assert twin == cluster
    assert len(classes) == 2
    assert width == "rack"
