"""GPU indices that realise the uses of a solution."""

import pytest

from gangopt.base.errors import InputError
from gangopt.topology import Cluster, MachineGroup, Requirement, State, Use, assign

CLUSTER = Cluster.from_groups(
    [
        MachineGroup(3, 4, slots=2, capacities={"cpu": 8}, labels={"pool": "a"}),
        MachineGroup(2, 2, gpu_type="T4", name="t"),
    ],
    machines_per_rack=3,
)


def test_uses_of_machines_slots_and_racks():
    state = State(CLUSTER)
    state.allocate("old", ["m0.g0"])
    uses = [
        Use("a", "m0", 1, {"cpu": 2}),
        Use("b", "m0", 2),
        Use("c", "m1.s1", 2),
        Use("d", "r0", 4),
        Use("e", "cluster", 3),
    ]
    found = assign(CLUSTER, state, uses)
    names = {owner: [CLUSTER.gpus[gpu] for gpu in gpus] for owner, gpus in found.gpus.items()}
    # the slot with one free GPU is the tightest that holds `a`; a rack's 4 GPUs go to the one machine that holds them
    assert names["a"] == ["m0.g1"]
    assert names["b"] == ["m0.g2", "m0.g3"]
    assert names["c"] == ["m1.g2", "m1.g3"]
    assert names["d"] == ["m2.g0", "m2.g1", "m2.g2", "m2.g3"]
    # three GPUs: no machine holds them, the fullest of equals is the first, then the tightest for the last GPU
    assert names["e"] == ["m1.g0", "m1.g1", "t0.g0"]
    assert found.state.amounts_of("a") == {0: {"cpu": 2}}
    assert state.owners == ("old",)
    with pytest.raises(TypeError, match="read-only"):
        found.state.release("a")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (Use("a", "m9", 1), "unknown node 'm9'; it must be the label of a node"),
        (Use("a", "m0", 5), "'m0' has 4 free GPUs, but 'a' uses 5; the solution does not fit"),
        (Use("a", "m0", -1), "'a': GPUs at 'm0' must be an integer from 0 to "),
        (Use("a", "r0", 1, {"cpu": 1}), r"'a': amounts must be used at a machine \(got node 'r0'\)"),
        (Use("a", "m0", 1, {"cpu": 9}), "machine 'm0' has 8 cpu free, but 'a' requests 9"),
    ],
)
def test_what_does_not_fit(use, message):
    with pytest.raises(InputError, match=message):
        assign(CLUSTER, None, [use])


def test_state_of_another_cluster():
    with pytest.raises(InputError, match="state must be a State of the same cluster"):
        assign(CLUSTER, State(Cluster.uniform(machines_per_rack=1, gpus_per_slot=1)), [])


@pytest.mark.parametrize(
    ("requirement", "gpus", "words"),
    [
        (Requirement(), 17, "17 GPUs: the cluster has 16"),
        (Requirement(gpu_types=("T4",)), 5, "5 GPUs: GPU type T4: the cluster has 4"),
        (Requirement(labels={"pool": "a"}), 13, "13 GPUs: label pool=a: the machines have 12"),
        (Requirement(level="machine"), 5, r"5 GPUs inside one machine: at most 4 are free \(m0\)"),
        (Requirement(), 16, None),
    ],
)
def test_obstacle(requirement, gpus, words):
    assert requirement.obstacle(State(CLUSTER), gpus) == (words.replace("\\", "") if words else None)
