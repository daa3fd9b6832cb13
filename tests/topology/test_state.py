"""The free state against plain bookkeeping, and the error of each bad request."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.topology import Cluster, MachineGroup, State

CLUSTER = Cluster.from_groups(
    [
        MachineGroup(1, capacities={"cpu": 16, "memory": 80}, name="c"),
        MachineGroup(2, 4, slots=2, capacities={"cpu": 8, "memory": 48}),
    ]
)


def test_everything_is_free_at_first():
    state = State(CLUSTER)
    assert state.cluster is CLUSTER
    assert state.gpu_is_free.all()
    assert state.free_gpus_per_machine.tolist() == [0, 4, 4]
    assert state.free_capacities.tolist() == CLUSTER.capacities.tolist()
    assert state.owners == ()
    assert state.gpu_owners == (None,) * 8


def test_allocate_and_release():
    state = State(CLUSTER)
    state.allocate("j2", ["m0.g3", 0], {"m0": {"cpu": 2.5}, 0: {"memory": 30}})
    state.allocate("j10", [4], {"m0": {"cpu": 5.5}})
    assert state.owners == ("j2", "j10")
    assert state.gpus_of("j2") == (0, 3)
    assert state.gpus_of("nobody") == ()
    assert state.amounts_of("j2") == {0: {"memory": 30}, 1: {"cpu": 2.5}}
    assert state.free_gpus("m0") == (1, 2)
    assert state.free_gpus_per_machine.tolist() == [0, 2, 3]
    assert state.gpu_owners == ("j2", None, None, "j2", "j10", None, None, None)
    assert state.free_capacities.tolist() == [[16, 0, 50], [0, 2, 48], [8, 3, 48]]
    state.release("j2", ["m0.g0"], {"m0": {"cpu": 1}})
    assert state.gpus_of("j2") == (3,)
    assert state.free_capacities[1].tolist() == [1, 3, 48]
    state.release("j2")
    state.release("j10")
    assert state == State(CLUSTER)
    assert state.free_capacities.tolist() == CLUSTER.capacities.tolist()


def test_one_machine_by_label_and_index_adds_up():
    state = State(CLUSTER)
    state.allocate("a", amounts={"m0": {"cpu": 3}, 1: {"cpu": 4}})
    assert state.amounts_of("a") == {1: {"cpu": 7}}
    with pytest.raises(InputError, match="machine 'm0' has 1 cpu free, but 'b' requests 2"):
        state.allocate("b", amounts={"m0": {"cpu": 1}, 1: {"cpu": 1}})


def test_a_copy_is_independent():
    state = State(CLUSTER)
    state.allocate("a", [0], {"m0": {"cpu": 1}})
    twin = state.copy()
    assert twin == state
    twin.allocate("b", [1], {"m0": {"cpu": 7}})
    twin.release("a")
    assert state.gpu_owners[:2] == ("a", None)
    assert state.free_capacities[1].tolist() == [7, 3, 48]
    assert twin.gpu_owners[:2] == (None, "b")
    assert twin != state


def test_views_are_copies():
    state = State(CLUSTER)
    state.gpu_is_free[:] = False
    state.free_capacities[:] = 0
    assert state.gpu_is_free.all()
    assert state.free_capacities.tolist() == CLUSTER.capacities.tolist()


def test_many_tenths_leave_no_dust():
    state = State(CLUSTER)
    for number in range(80):
        state.allocate(f"j{number}", amounts={"m0": {"cpu": 0.1}})
    assert state.free_capacities[1, 0] == pytest.approx(0, abs=1e-12)
    for number in reversed(range(80)):
        state.release(f"j{number}")
    assert state.free_capacities[1, 0] == 8


def test_an_owner_may_take_and_return_in_other_pieces():
    state = State(CLUSTER)
    state.allocate("a", amounts={"m0": {"cpu": 0.1}})
    state.allocate("a", amounts={"m0": {"cpu": 0.2}})
    state.release("a", amounts={"m0": {"cpu": 0.3}})
    assert state.owners == ()
    assert state == State(CLUSTER)


BAD_REQUESTS = {
    "gpu held by another": ({"gpus": [0]}, r"GPU 'm0\.g0' is held by 'x' and cannot be allocated to 'a'"),
    "gpu held by itself": ({"gpus": [1]}, r"GPU 'm0\.g1' is held by 'a' and cannot be allocated to 'a'"),
    "gpu twice": ({"gpus": [2, "m0.g2"]}, r"duplicate GPU 'm0\.g2'"),
    "unknown gpu": ({"gpus": ["m0.g9"]}, "unknown GPU 'm0.g9'"),
    "gpus as one label": ({"gpus": "m0.g2"}, r"gpus must be a collection of GPU indices or labels \(got 'm0\.g2'\)"),
    "unknown machine": ({"amounts": {"m9": {"cpu": 1}}}, "unknown machine 'm9'"),
    "unknown resource": ({"amounts": {"m0": {"disk": 1}}}, "machine 'm0': unknown resource 'disk'; known: cpu, memory"),
    "gpus by amount": (
        {"amounts": {"m0": {"gpu": 1}}},
        "machine 'm0': GPUs must be given by index or label, not by amount",
    ),
    "negative amount": (
        {"amounts": {"m0": {"cpu": -1}}},
        r"machine 'm0': amount of 'cpu' must be a number from 0 to 1e15 \(got -1\)",
    ),
    "nan amount": (
        {"amounts": {"m0": {"cpu": float("nan")}}},
        r"machine 'm0': amount of 'cpu' must be a number from 0 to 1e15 \(got nan\)",
    ),
    "boolean amount": (
        {"amounts": {"m0": {"cpu": True}}},
        r"machine 'm0': amount of 'cpu' must be a number from 0 to 1e15 \(got True\)",
    ),
    "amounts no mapping": ({"amounts": [1]}, r"amounts must be a mapping from machine to amounts \(got \[1\]\)"),
    "amounts of a machine no mapping": (
        {"amounts": {"m0": 1}},
        r"machine 'm0': amounts must be a mapping from resource \(got 1\)",
    ),
}


def occupied():
    state = State(CLUSTER)
    state.allocate("x", [0], {"m0": {"cpu": 6}})
    state.allocate("a", [1], {"m0": {"cpu": 1}})
    return state


@pytest.mark.parametrize("case", BAD_REQUESTS)
def test_bad_allocation_changes_nothing(case):
    request, message = BAD_REQUESTS[case]
    state = occupied()
    with pytest.raises(InputError, match=message):
        state.allocate("a", **request)
    assert state == occupied()


def test_more_than_is_free():
    state = occupied()
    with pytest.raises(InputError, match=r"machine 'm0' has 1 cpu free, but 'a' requests 1\.5"):
        state.allocate("a", [2], {"m1": {"cpu": 8}, "m0": {"cpu": 1.5}})
    assert state == occupied()


@pytest.mark.parametrize("owner", ["", 5, None, ["a"]])
def test_owner_that_is_no_text(owner):
    with pytest.raises(InputError, match=r"the owner must be non-empty printable text \(got "):
        State(CLUSTER).allocate(owner, [0])
    with pytest.raises(InputError, match=r"the owner must be non-empty printable text \(got "):
        State(CLUSTER).release(owner)


BAD_RELEASES = {
    "gpu of another": ({"gpus": [0]}, "GPU 'm0.g0' is held by 'x'; 'a' cannot release it"),
    "free gpu": ({"gpus": [2]}, "GPU 'm0.g2' is free; 'a' cannot release it"),
    "gpu twice": ({"gpus": [1, 1]}, r"duplicate GPU 'm0\.g1'"),
    "more than held": ({"amounts": {"m0": {"cpu": 2}}}, "'a' holds 1 cpu on machine 'm0'; it cannot release 2"),
    "not held there": ({"amounts": {"m1": {"cpu": 1}}}, "'a' holds 0 cpu on machine 'm1'; it cannot release 1"),
    "unknown machine": ({"amounts": {"m9": {"cpu": 1}}}, "unknown machine 'm9'"),
    "unknown resource": ({"amounts": {"m0": {"disk": 1}}}, "unknown resource 'disk'"),
}


@pytest.mark.parametrize("case", BAD_RELEASES)
def test_bad_release_changes_nothing(case):
    request, message = BAD_RELEASES[case]
    state = occupied()
    with pytest.raises(InputError, match=message):
        state.release("a", **request)
    assert state == occupied()


def test_release_of_nothing():
    with pytest.raises(InputError, match="'nobody' holds nothing to release"):
        occupied().release("nobody")


def test_resources_of_a_cluster_of_gpus_alone():
    state = State(Cluster.from_groups([MachineGroup(1, 1)]))
    with pytest.raises(InputError, match="machine 'm0': unknown resource 'cpu'; known: none"):
        state.allocate("a", amounts={0: {"cpu": 1}})


steps = st.lists(
    st.tuples(
        st.sampled_from(["allocate", "release", "release all", "copy"]),
        st.sampled_from(["a", "b", "c"]),
        st.sets(st.integers(0, 7), max_size=3),
        st.dictionaries(st.integers(0, 2), st.integers(1, 9), max_size=2),
    ),
    max_size=30,
)


@settings(max_examples=80, deadline=None)
@given(steps)
def test_against_plain_bookkeeping(sequence):
    state = State(CLUSTER)
    owner_of, held = {}, {}
    for what, owner, wanted_gpus, wanted_cpus in sequence:
        gpus, cpus = wanted_gpus, wanted_cpus
        amounts = {machine: {"cpu": cpu} for machine, cpu in cpus.items()}
        if what == "copy":
            state = state.copy()
            continue
        if what == "allocate":
            used = {m: sum(v for (_, k), v in held.items() if k == m) for m in cpus}
            fits = all(used[m] + cpu <= CLUSTER.capacities[m, 0] for m, cpu in cpus.items())
            allowed = fits and not gpus & owner_of.keys()
        elif what == "release":
            allowed = all(owner_of.get(gpu) == owner for gpu in gpus)
            allowed &= all(held.get((owner, m), 0) >= cpu for m, cpu in cpus.items())
        else:
            gpus = {gpu for gpu, holder in owner_of.items() if holder == owner}
            cpus = {m: cpu for (holder, m), cpu in held.items() if holder == owner and cpu}
            allowed = bool(gpus or cpus)
        call = state.allocate if what == "allocate" else state.release
        arguments = () if what == "release all" else (gpus, amounts)
        if not allowed:
            with pytest.raises(InputError):
                call(owner, *arguments)
            continue
        call(owner, *arguments)
        for gpu in gpus:
            if what == "allocate":
                owner_of[gpu] = owner
            else:
                del owner_of[gpu]
        for m, cpu in cpus.items():
            held[owner, m] = held.get((owner, m), 0) + (cpu if what == "allocate" else -cpu)
    assert state.gpu_owners == tuple(owner_of.get(gpu) for gpu in range(8))
    assert state.gpu_is_free.tolist() == [gpu not in owner_of for gpu in range(8)]
    assert state.owners == tuple(sorted(set(owner_of.values()) | {who for (who, _), cpu in held.items() if cpu}))
    used = [sum(cpu for (_, k), cpu in held.items() if k == m) for m in range(3)]
    assert state.free_capacities[:, 0].tolist() == [CLUSTER.capacities[m, 0] - used[m] for m in range(3)]
    counts = np.bincount(CLUSTER.gpu_machine[state.gpu_is_free], minlength=3)
    assert state.free_gpus_per_machine.tolist() == counts.tolist()
