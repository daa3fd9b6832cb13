"""Requirements: allowed machines, domains and the message for each defect."""

import pickle

import pytest

from gangopt.base.errors import InputError
from gangopt.topology import ANYWHERE, Cluster, MachineGroup, Requirement, State

CLUSTER = Cluster.from_groups(
    [
        MachineGroup(2, 4, gpu_type="A100", labels={"pool": "a"}),
        MachineGroup(1, 4, gpu_type="T4", name="t", labels={"taint:spot": "true:NoSchedule"}),
        MachineGroup(1, 4, name="u", labels={"taint:old": "yes:PreferNoSchedule"}),
    ],
    machines_per_rack=2,
)


@pytest.mark.parametrize(
    ("requirement", "allowed"),
    [
        (ANYWHERE, {"m0", "m1", "u0"}),
        (Requirement(tolerates=("spot",)), {"m0", "m1", "t0", "u0"}),
        (Requirement(gpu_types=("A100", "T4")), {"m0", "m1"}),
        (Requirement(gpu_types=("T4",), tolerates=("spot",)), {"t0"}),
        (Requirement(labels={"pool": "a"}), {"m0", "m1"}),
        (Requirement(labels={"pool": "b"}), set()),
    ],
)
def test_allowed_machines(requirement, allowed):
    mask = requirement.machines(CLUSTER)
    assert {name for name, ok in zip(CLUSTER.machines, mask, strict=True) if ok} == allowed


def test_domains_and_copies():
    assert Requirement(level="rack").domain(CLUSTER).tolist() == [0, 0, 1, 1]
    assert ANYWHERE.domain(CLUSTER).tolist() == [0, 0, 0, 0]
    full = Requirement(
        gpu_types=("T4",), labels={"b": "1", "a": "2"}, tolerates=("x",), level="rack", preferred_level="machine"
    )
    assert pickle.loads(pickle.dumps(full)) == full
    assert hash(full) == hash(Requirement(**{name: getattr(full, name) for name in full.__dataclass_fields__}))
    assert [ANYWHERE.is_anywhere, full.is_anywhere] == [True, False]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"gpu_types": "A100"}, r"gpu_types must be a list of text \(got 'A100'\)"),
        ({"gpu_types": [3]}, r"gpu_types\[0\] must be non-empty printable text"),
        ({"tolerates": 3}, r"tolerates must be a list of text \(got 3\)"),
        ({"labels": ["a"]}, r"labels must be a mapping from text to text"),
        ({"labels": {"": "a"}}, "the key of a label must be non-empty"),
        ({"labels": {"a": 3}}, r"label 'a' must be text \(got 3\)"),
        ({"level": 3}, r"level must be text \(got 3\)"),
    ],
)
def test_bad_fields(fields, message):
    with pytest.raises(InputError, match=message):
        Requirement(**fields)


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        (Requirement(gpu_types=("H100",)), "job 'j': unknown GPU type 'H100'; the cluster has A100, T4"),
        (Requirement(labels={"pool": "b"}), "job 'j': no machine has label pool=b; the cluster has a"),
        (
            Requirement(labels={"x": "b"}),
            "job 'j': no machine has label x=b; the cluster has no machine with ",
        ),
        (Requirement(level="row"), r"job 'j': level must be one of cluster, rack, machine \(got 'row'\)"),
        (Requirement(preferred_level="gpu"), "job 'j': preferred_level must be one of cluster, rack, machine"),
    ],
)
def test_what_the_cluster_lacks(requirement, message):
    with pytest.raises(InputError, match=message):
        requirement.check(CLUSTER, "job 'j'")


def test_obstacles_in_their_order():
    state = State(CLUSTER)
    state.allocate("x", ["m0.g0", "m0.g1"])
    state.close("u0")
    words = {
        17: "17 GPUs: the cluster has 16",
        13: "13 GPUs: tolerated machines have 12",
        11: "11 GPUs: free GPUs of the cluster are 10",
        7: "7 GPUs: free GPUs on allowed machines are 6",
        6: None,
    }
    assert {gpus: ANYWHERE.obstacle(state, gpus) for gpus in words} == words
