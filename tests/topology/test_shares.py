"""Shares of GPUs and unavailable machines of a state."""

import pytest

from gangopt.base.errors import InputError
from gangopt.topology import Cluster, FreeGpus, State

CLUSTER = Cluster.uniform(racks=2, machines_per_rack=2, gpus_per_slot=2, capacities={"cpu": 4})


def test_a_shared_gpu_is_not_free_as_a_whole():
    state = State(CLUSTER)
    state.allocate("a", shares={"m0.g0": 0.5})
    state.allocate("b", shares={0: 0.25})
    state.allocate("a", shares={0: 0.25})
    assert state.free_gpus_per_machine.tolist() == [1, 2, 2, 2]
    assert state.gpu_owners[0] is None
    assert state.gpu_is_free.tolist() == [False] + [True] * 7
    assert state.shares_of("a") == {0: 0.75}
    assert state.owners == ("a", "b")
    with pytest.raises(InputError, match=r"GPU 'm0\.g0' is held by 'b', 'a' and cannot be allocated to 'c'"):
        state.allocate("c", [0])
    with pytest.raises(InputError, match=r"GPU 'm0\.g0' has a share of 0 free, but 'c' requests 0\.1"):
        state.allocate("c", shares={0: 0.1})
    state.release("a", [0])
    assert state.shares_of("a") == {}
    state.release("b")
    assert state == State(CLUSTER)
    assert state.free_gpus_per_machine.tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ([0], r"shares must be a mapping from GPU to fraction \(got \[0\]\)"),
        ({"x": 0.5}, "unknown GPU 'x'"),
        ({0: 0}, r"share of GPU 'm0\.g0' must be a number > 0"),
        ({0: 1.5}, r"share of GPU 'm0\.g0' must be from 1e-6 to 1 \(got 1\.5\)"),
        ({0: 1e-9}, r"share of GPU 'm0\.g0' must be from 1e-6 to 1 \(got 1e-09\)"),
        ({0: 0.5, "m0.g0": 0.5}, r"duplicate GPU 'm0\.g0'"),
    ],
)
def test_bad_shares(shares, message):
    state = State(CLUSTER)
    with pytest.raises(InputError, match=message):
        state.allocate("a", shares=shares)
    assert state == State(CLUSTER)


def test_a_whole_gpu_and_a_share_of_it():
    state = State(CLUSTER)
    with pytest.raises(InputError, match=r"GPU 'm0\.g0' has a share of 0 free, but 'a' requests 0\.5"):
        state.allocate("a", [0], shares={0: 0.5})
    assert state.owners == ()


def test_a_closed_machine_has_nothing_free():
    state = State(CLUSTER)
    state.allocate("a", [0], {0: {"cpu": 1}})
    state.close("m0", "down")
    assert dict(state.unavailable) == {"m0": "down"}
    assert state.free_gpus("m0") == ()
    assert state.free_gpus_per_machine.tolist() == [0, 2, 2, 2]
    assert state.free_capacities.tolist() == [[0, 0]] + [[4, 2]] * 3
    assert state.machine_is_available.tolist() == [False, True, True, True]
    for request in ({"gpus": [1]}, {"amounts": {0: {"cpu": 1}}}, {"shares": {1: 0.5}}):
        with pytest.raises(InputError, match=r"machine 'm0' is unavailable \(down\) and cannot be allocated to 'b'"):
            state.allocate("b", **request)
    state.release("a")
    state.open("m0")
    assert state == State(CLUSTER)


def test_a_frozen_state_cannot_be_changed():
    state = State(CLUSTER).frozen()
    assert state.frozen() is state
    for change in (
        lambda: state.allocate("a", [0]),
        lambda: state.close(0),
        lambda: state.open(0),
        lambda: state.release("a"),
    ):
        with pytest.raises(TypeError, match="this state is read-only; use copy"):
            change()
    assert hash(state) == hash(State(CLUSTER).frozen())
    with pytest.raises(TypeError, match="a State that can be changed has no hash; use frozen"):
        hash(state.copy())


def test_free_gpus_by_machine():
    free = FreeGpus(CLUSTER)
    place = ((0, 2), (2, 1))
    free.take(place)
    twin = free.copy()
    free.release(place)
    assert twin.free.tolist() == [0, 2, 1, 2]
    assert free.free.tolist() == [2, 2, 2, 2]
    assert [free.level(p) for p in (((0, 2),), ((0, 1), (1, 1)), place)] == ["machine", "rack", "cluster"]
    assert [free.fewest(gpus) for gpus in (1, 2, 3, 8)] == [1, 1, 2, 4]
