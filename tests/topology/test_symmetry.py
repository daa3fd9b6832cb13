"""Symmetry classes against brute-force isomorphism of trees, and under permutation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.topology import Cluster, MachineGroup, State, locality, machine_classes, rack_classes


def canonical(cluster, free, load, *, node=None, marked=None, keep_racks=False):
    """Return the tree as nested sorted tuples, labels forgotten; two marked trees are equal iff isomorphic."""
    graph = cluster.graph
    node = cluster.root if node is None else node
    data = graph.nodes[node]
    own = [data["level"], node == marked]
    if data["level"] == "rack" and keep_racks:
        own.append(node)
    if data["level"] == "machine":
        m = cluster.machine_index[node]
        state = (tuple(free.free_capacities[m]), load[m]) if free else (load[m],)
        own += [tuple(sorted(data["capacities"].items())), data["gpu_type"], state]
    if data["level"] == "gpu" and free:
        own.append(free.gpu_owners[cluster.gpu_index[node]] is None)
    children = [
        (
            repr(graph.edges[node, child]["bandwidth"]),
            canonical(cluster, free, load, node=child, marked=marked, keep_racks=keep_racks),
        )
        for child in graph.successors(node)
    ]
    return repr((own, sorted(children)))


def by_key(keys):
    groups = {}
    for i, key in enumerate(keys):
        groups.setdefault(key, []).append(i)
    return tuple(map(tuple, groups.values()))


groups = st.builds(
    lambda count, slots, cpu, gpu_type, bandwidth, slot_bandwidth: MachineGroup(
        count,
        sum(slots),
        slots=slots or 1,
        capacities={"cpu": cpu},
        gpu_type=gpu_type if slots else None,
        bandwidth=bandwidth,
        slot_bandwidth=slot_bandwidth,
    ),
    st.integers(1, 2),
    st.lists(st.integers(1, 2), max_size=2).map(tuple),
    st.sampled_from([4, 8]),
    st.sampled_from([None, "A", "B"]),
    st.sampled_from([None, 10]),
    st.sampled_from([None, 64]),
)


@st.composite
def situations(draw):
    """A small random cluster, sometimes of repeated racks, with GPUs taken, CPUs taken and an extra load."""
    parts = draw(st.lists(groups, min_size=1, max_size=2)) * draw(st.integers(1, 3))
    size = draw(st.one_of(st.none(), st.integers(1, 3), st.just(len(parts))))
    cluster = Cluster.from_groups(parts, machines_per_rack=size)
    free = State(cluster)
    for gpu in range(len(cluster.gpus)):
        if draw(st.integers(0, 3)) == 0:
            free.allocate(draw(st.sampled_from(["a", "b"])), [gpu])
    for machine in range(len(cluster.machines)):
        if draw(st.integers(0, 4)) == 0:
            free.allocate("a", amounts={machine: {"cpu": 2}})
    loaded = draw(st.booleans())
    load = [draw(st.integers(0, 1)) if loaded else 0 for _ in cluster.machines]
    return cluster, free if draw(st.booleans()) else None, load


@settings(max_examples=120, deadline=None)
@given(situations())
def test_classes_are_the_orbits_found_by_brute_force(situation):
    cluster, free, load = situation
    orbits = [canonical(cluster, free, load, marked=machine) for machine in cluster.machines]
    assert machine_classes(cluster, free, load, across_racks="equivalent") == by_key(orbits)
    fixed = [canonical(cluster, free, load, marked=machine, keep_racks=True) for machine in cluster.machines]
    assert machine_classes(cluster, free, load) == by_key(fixed)
    alone = [
        (canonical(cluster, free, load, node=machine), repr(cluster.machine_bandwidth[m]))
        for m, machine in enumerate(cluster.machines)
    ]
    assert machine_classes(cluster, free, load, across_racks="always") == by_key(alone)
    racks = [canonical(cluster, free, load, marked=rack) for rack in cluster.racks]
    assert rack_classes(cluster, free, load) == by_key(racks)


@settings(max_examples=60, deadline=None)
@given(situations(), st.randoms(use_true_random=False), st.data())
def test_permuting_the_machines_of_a_class_leaves_everything_the_same(situation, random, data):
    cluster, free, load = situation
    image = list(range(len(cluster.machines)))
    for members in machine_classes(cluster, free, load):
        for machine, target in zip(members, random.sample(members, len(members)), strict=True):
            image[machine] = target
    state = free or State(cluster)
    for array in (
        cluster.machine_rack,
        cluster.capacities,
        cluster.machine_bandwidth,
        cluster.gpus_per_machine,
        state.free_gpus_per_machine if free else np.array(0),
        state.free_capacities if free else np.array(0),
        np.array(load),
    ):
        if array.ndim:
            assert np.array_equal(array[image], array, equal_nan=array.dtype.kind == "f")
    assert [cluster.gpu_types[m] for m in image] == list(cluster.gpu_types)

    def is_free(gpu):
        return bool(free) and bool(state.gpu_is_free[gpu])

    def in_order(machine):
        """GPUs of a machine, slot after slot, alike slots and GPUs in one order."""
        slots = [sorted(cluster.slot_gpus(s), key=is_free) for s in cluster.machine_slots(machine)]
        slots.sort(key=lambda gpus: (len(gpus), [is_free(gpu) for gpu in gpus]))
        return [gpu for slot in slots for gpu in slot]

    if cluster.gpus:
        moved = {
            gpu: target
            for machine in range(len(image))
            for gpu, target in zip(in_order(machine), in_order(image[machine]), strict=True)
        }
        chosen = data.draw(st.sets(st.sampled_from(range(len(cluster.gpus))), min_size=1))
        assert locality(cluster, [moved[gpu] for gpu in chosen]) == locality(cluster, chosen)
        assert [is_free(gpu) for gpu in chosen] == [is_free(moved[gpu]) for gpu in chosen]


def test_the_three_meanings_of_across_racks():
    two = MachineGroup(2, 2)
    cluster = Cluster.from_groups([two, two, two, MachineGroup(1, 4)], machines_per_rack=[2, 2, 3])
    assert machine_classes(cluster) == ((0, 1), (2, 3), (4, 5), (6,))
    assert machine_classes(cluster, across_racks="equivalent") == ((0, 1, 2, 3), (4, 5), (6,))
    assert machine_classes(cluster, across_racks="always") == ((0, 1, 2, 3, 4, 5), (6,))
    assert rack_classes(cluster) == ((0, 1), (2,))


def test_the_structure_of_free_slots_counts_and_the_holder_does_not():
    cluster = Cluster.from_groups([MachineGroup(4, 4, slots=2)])
    free = State(cluster)
    free.allocate("a", ["m0.g0", "m0.g1"])
    free.allocate("b", ["m1.g2", "m1.g3"])
    free.allocate("a", ["m2.g0", "m2.g2"])
    assert free.free_gpus_per_machine.tolist() == [2, 2, 2, 4]
    assert machine_classes(cluster, free) == ((0, 1), (2,), (3,))
    assert machine_classes(cluster) == ((0, 1, 2, 3),)


def test_extra_load_splits_a_class():
    cluster = Cluster.from_groups([MachineGroup(3, 1)])
    assert machine_classes(cluster, extra_load=[0.0, 1.5, -0.0]) == ((0, 2), (1,))
    assert machine_classes(cluster, extra_load=np.array([[1, 2], [1, 2], [2, 1]])) == ((0, 1), (2,))


def test_racks_of_other_bandwidth_differ():
    graph = Cluster.from_groups([MachineGroup(2, 1)], machines_per_rack=1).graph.copy()
    graph.edges["cluster", "r1"]["bandwidth"] = 40
    assert rack_classes(Cluster.from_graph(graph)) == ((0,), (1,))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"extra_load": [1]}, r"extra_load must have shape \(2,\) or \(2, k\) \(got \(1,\)\)"),
        ({"extra_load": 5}, r"extra_load must have shape \(2,\) or \(2, k\) \(got \(\)\)"),
        ({"extra_load": ["a", "b"]}, r"extra_load must be an array of numbers \(got \['a', 'b'\]\)"),
        ({"extra_load": [1, math.nan]}, r"extra_load\[1\] must be finite \(got nan\)"),
        ({"extra_load": [[1, 2], [1, math.inf]]}, r"extra_load\[1, 1\] must be finite \(got inf\)"),
        (
            {"free": State(Cluster.from_groups([MachineGroup(3)]))},
            r"free must be a State of the same cluster \(got <State: 0 of 0 GPUs free, 0 owners>\)",
        ),
        ({"free": 5}, r"free must be a State of the same cluster \(got 5\)"),
        ({"across_racks": True}, r"across_racks must be one of never, equivalent, always \(got True\)"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        machine_classes(Cluster.from_groups([MachineGroup(2)]), **arguments)
