"""Victim selection under a placement rule that can reject gangs: cases by hand, and invariants of any order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.replays.costs import Overheads
from gangopt.replays.eviction import settle
from gangopt.replays.machines import Machines
from gangopt.topology import MachineGroup


def machines(*sizes):
    return Machines(
        gangopt.Cluster.from_groups([MachineGroup(1, size, name=f"m{at}") for at, size in enumerate(sizes)])
    )


def consolidated(free, position, size):
    return free.consolidated(size)


def settled(sizes, places, *machine_sizes, skip=True):
    empty = machines(*machine_sizes)
    for place in places:
        empty.take(place)
    before = empty.free.copy()
    stays, starts = settle(empty, places, np.array(sizes), consolidated, skip=skip)
    assert (empty.free == before).all()
    return stays.tolist(), starts


M0, M1 = ((0, 2),), ((1, 2),)


@pytest.mark.parametrize(
    ("sizes", "places", "stays", "starts"),
    [
        # the gang requires a whole machine: the last two jobs that share one are stopped, the first of them moves
        ([4, 2, 2, 2, 2], [(), M0, M1, M0, M1], [0, 1, 0, 0, 0], {0: ((1, 4),), 2: M0}),
        # stopping the last job is not required, so it stays
        ([4, 2, 2, 1], [(), M1, M1, ((0, 1),)], [0, 1, 1, 0], {0: ((0, 4),)}),
        ([2, 2, 1], [(), M1, ((0, 1),)], [0, 1, 1], {0: M1}),
        # a stopped job moves to free GPUs
        ([4, 3, 1], [(), ((0, 3),), ((1, 1),)], [0, 1, 0], {0: ((1, 4),), 2: ((0, 1),)}),
        # earlier jobs hold both machines: no job is stopped
        ([2, 2, 4, 2, 2], [M0, M1, (), M0, M1], [1, 1, 0, 1, 1], {}),
        # a stopped job continues where it still fits
        ([2, 4, 2], [M0, (), M1], [1, 0, 0], {1: ((1, 4),), 2: ((0, 2),)}),
        ([2, 4], [M0, ()], [1, 0], {1: ((1, 4),)}),
        ([9, 2], [(), M0], [0, 1], {}),
        ([], [], [], {}),
    ],
)
def test_cases_by_hand(sizes, places, stays, starts):
    assert settled(sizes, places, 4, 4) == ([bool(stay) for stay in stays], starts)


def test_a_gang_without_a_place_blocks_the_rest_without_skipping():
    assert settled([2, 2, 4, 2, 2], [M0, M1, (), M0, ()], 4, 4, skip=False) == ([True, True, False, False, False], {})


def test_a_job_that_would_restart_in_its_place_is_not_stopped():
    # the last job is stopped for the first; the third, stopped for the second, frees the GPUs of the last again
    sizes, places = [2, 3, 4, 1], [(), (), ((0, 3), (1, 1)), ((1, 1),)]
    assert settled(sizes, places, 3, 3) == ([False, False, False, True], {0: ((1, 2),), 1: ((0, 3),)})


def test_every_stopped_job_makes_room():
    cluster = gangopt.Cluster.uniform(machines_per_rack=2, gpus_per_slot=4)
    columns = {"id": list("AEBFD"), "arrival": [0, 1, 2, 3, 10], "gpus": [2, 2, 2, 2, 4]}
    jobs = gangopt.Workload.from_columns({**columns, "duration": [300, 400, 301, 401, 20]})
    played = gangopt.replay(jobs, cluster, "srtf", placement="consolidated", overheads=Overheads(restart=30))
    events = played.events().filter(event="stop")
    # D gets a machine at its arrival; B moves to the other one and replaces E, which waits with F
    assert events["id"].to_list() == ["E", "B", "F"]
    assert played.first_start.tolist() == [0, 1, 2, 3, 10]
    assert played.events().filter(event="start", time=10)["id"].to_list() == ["D", "B"]
    assert played.starts.tolist() == [1, 2, 2, 2, 1]


RUNS = st.lists(st.tuples(st.integers(1, 6), st.booleans()), max_size=10)


@settings(max_examples=200, deadline=None)
@given(rows=RUNS, sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_invariants_of_any_order(rows, sizes):
    free = machines(*sizes)
    gpus, places = [], []
    for size, runs in rows:
        place = (free.packed(size) if runs else None) or ()
        free.take(place)
        gpus.append(size)
        places.append(place)
    stays, starts = settle(free, places, np.array(gpus, dtype=np.int64), consolidated)
    for position, place in enumerate(places):
        if place and not stays[position]:
            free.release(place)
            assert starts.get(position) != place
            assert any(earlier < position for earlier in starts)
    for position, place in starts.items():
        assert not stays[position]
        assert sum(count for _, count in place) == gpus[position]
        free.take(place)
    assert (free.free >= 0).all()
    # a job that does not run has no place even without the jobs after it
    for position in set(range(len(rows))) - set(starts) - set(np.flatnonzero(stays).tolist()):
        assert free.consolidated(gpus[position]) is None


def test_no_job_is_stopped_in_vain():
    # j2 requires both machines, and j0, which has priority, holds a GPU of one
    cluster = gangopt.Cluster.uniform(machines_per_rack=3, gpus_per_slot=4)
    columns = {"id": ["j0", "j1", "j2", "j3"], "arrival": [0, 0, 5, 6], "gpus": [5, 4, 8, 3]}
    jobs = gangopt.Workload.from_columns({**columns, "duration": [10, 100, 50, 200]})
    played = gangopt.replay(jobs, cluster, "srtf", placement="consolidated", overheads=Overheads(restart=30))
    assert played.first_start.tolist() == [0, 0, 10, 6]
    stops = played.events().filter(event="stop")
    assert set(stops["time"].to_list()) <= {10}
