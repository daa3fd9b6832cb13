"""Placement rules, slow places and overheads, by cases computed by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError
from gangopt.replays.costs import CHECKPOINT_SECONDS, Overheads
from gangopt.replays.machines import RULES, Machines
from gangopt.replays.records import Plan
from gangopt.topology import MachineGroup


def cluster(*sizes, per_rack=None):
    groups = [MachineGroup(1, size, name=f"m{number}") for number, size in enumerate(sizes)]
    return gangopt.Cluster.from_groups(groups, machines_per_rack=per_rack)


def workload(*rows, **columns):
    arrival, gpus, duration = zip(*rows, strict=True)
    ids = [f"j{number}" for number in range(len(rows))]
    return gangopt.Workload.from_columns({"id": ids, "arrival": arrival, "gpus": gpus, "duration": duration, **columns})


@pytest.mark.parametrize(
    ("rule", "free", "gpus", "place"),
    [
        ("packed", [4, 2, 4], 2, ((1, 2),)),
        ("packed", [4, 2, 4], 3, ((0, 3),)),
        ("packed", [4, 2, 4], 6, ((0, 4), (1, 2))),
        ("packed", [4, 2, 4], 11, None),
        ("packed", [3, 2, 3], 4, ((0, 3), (1, 1))),
        ("consolidated", [4, 2, 4], 6, ((0, 4), (1, 2))),
        ("consolidated", [3, 2, 3], 4, None),
        ("consolidated", [3, 2, 3], 5, ((0, 3), (1, 2))),
        ("fragments", [4, 2, 4], 3, ((0, 1), (1, 2))),
        ("fragments", [4, 0, 1], 2, ((0, 1), (2, 1))),
        ("fragments", [4, 2, 4], 11, None),
        ("fragments", [0, 0, 0], 1, None),
        ("spread", [4, 2, 4], 3, ((0, 2), (2, 1))),
        ("spread", [4, 2, 4], 11, None),
        ("even", [4, 2, 4], 6, ((0, 3), (2, 3))),
        ("even", [4, 2, 4], 5, ((0, 3), (2, 2))),
        ("even", [4, 2, 4], 4, ((0, 4),)),
        ("even", [4, 2, 4], 9, ((0, 4), (1, 1), (2, 4))),
        ("even", [4, 2, 4], 11, None),
    ],
)
def test_rules(rule, free, gpus, place):
    machines = Machines(cluster(4, 2, 4))
    machines.take(tuple((m, int(n)) for m, n in enumerate(machines.capacity - free) if n))
    assert RULES[rule](machines, gpus) == place


@settings(max_examples=80, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=6),
    data=st.data(),
    rule=st.sampled_from(list(RULES)),
)
def test_a_place_is_free_and_has_the_gang(sizes, data, rule):
    machines = Machines(cluster(*sizes))
    taken = [data.draw(st.integers(0, size)) for size in sizes]
    machines.take(tuple((m, n) for m, n in enumerate(taken) if n))
    gpus = data.draw(st.integers(1, sum(sizes)))
    place = RULES[rule](machines, gpus)
    if place is None:
        assert rule == "consolidated" or gpus > machines.free.sum()
        return
    assert sum(n for _, n in place) == gpus
    assert all(0 < n <= machines.free[m] for m, n in place)
    assert list(place) == sorted(place)
    if rule == "packed" and gpus <= machines.free.max():
        assert len(place) == 1


def test_levels():
    machines = Machines(cluster(2, 2, 2, per_rack=2))
    assert machines.level(((1, 2),)) == "machine"
    assert machines.level(((0, 1), (1, 1))) == "rack"
    assert machines.level(((1, 1), (2, 1))) == "cluster"


def test_yarn_cs_waits_for_a_consolidated_place_and_holds_up_the_rest():
    jobs = workload((0, 1, 10), (0, 2, 4), (1, 2, 3), (1, 1, 1))
    assert gangopt.replay(jobs, cluster(2, 2), "yarn-cs").first_start.tolist() == [0, 0, 4, 4]
    assert gangopt.replay(jobs, cluster(2, 2), "best-effort").first_start.tolist() == [0, 0, 4, 1]


FRAGMENTED = workload((0, 1, 10), (0, 1, 2), (0, 1, 10), (3, 2, 1))


def test_fragments_hold_up_gangs_that_must_be_consolidated():
    assert gangopt.replay(FRAGMENTED, cluster(2, 2), "yarn-cs").end.tolist() == [10, 2, 10, 11]
    spread = gangopt.replay(FRAGMENTED, cluster(2, 2), "fifo")
    assert spread.end.tolist() == [10, 2, 10, 4]
    # 23 job seconds of 24 on one machine
    assert spread.metrics["placement_score"] == pytest.approx(22 / 23)
    assert gangopt.replay(FRAGMENTED, cluster(2, 2), "fifo", placement="consolidated").end.tolist() == [10, 2, 10, 11]


def test_spread_jobs_are_slower():
    slow = Overheads(slowdowns={"rack": 2.0})
    assert gangopt.replay(FRAGMENTED, cluster(2, 2), "fifo", overheads=slow).end.tolist() == [10, 2, 10, 5]
    far = Overheads(slowdowns={"rack": 2.0, "cluster": 3.0})
    assert gangopt.replay(FRAGMENTED, cluster(2, 2, per_rack=1), "fifo", overheads=far).end.tolist() == [10, 2, 10, 6]


def test_only_network_intensive_jobs_are_slower_where_asked_for():
    slow = Overheads(slowdowns={"machine": 2.0}, sensitive_only=True)
    jobs = workload((0, 1, 5), (0, 1, 5), (0, 1, 5), network_intensive=[True, False, None])
    assert gangopt.replay(jobs, cluster(4), "fifo", overheads=slow).end.tolist() == [10, 5, 5]


def test_counted_gpus_have_no_localities():
    assert gangopt.replay(FRAGMENTED, 4, "fifo").metrics["placement_score"] is None


def test_a_policy_may_choose_the_machines_and_move_jobs():
    class Mover:
        name = "mover"

        def decide(self, state):
            target = {0: 1} if state.now < 4 else {1: 1}
            return Plan(state.active, places=dict.fromkeys(state.active.tolist(), target), wake=state.now + 4)

    played = gangopt.replay(workload((0, 1, 10)), cluster(2, 2), Mover(), overheads=Overheads(restart=3))
    assert played.starts.tolist() == [2]
    assert played.end.tolist() == [13]
    assert played.events()["machines"].to_list() == ["", "0:1", "0:1", "1:1", "1:1"]


def test_places_that_are_not_free_are_refused():
    class Wrong:
        name = "wrong"

        def __init__(self, place):
            self.place = place

        def decide(self, state):
            return Plan(state.active, places={0: self.place})

    for place, shown in (({0: 3}, "((0, 3),)"), ({5: 2}, "((5, 2),)"), ({0: 1}, "((0, 1),)"), ({-1: 2}, "((-1, 2),)")):
        with pytest.raises(InputError) as caught:
            gangopt.replay(workload((0, 2, 1)), cluster(2, 2), Wrong(place))
        message = f"policy wrong at 0 s places job j0 with 2 GPUs on {shown}, which are not free"
        assert str(caught.value) == message


PREEMPTED = ((0, 1, 10), (3, 1, 4))


def test_starts_and_restarts_cost_time():
    played = gangopt.replay(workload(*PREEMPTED), 1, "srtf", overheads=Overheads(start=1, restart=2))
    # j0 progresses 1-3, j1 4-8, j0 11-19
    assert played.end.tolist() == [19, 8]
    assert played.events().filter(event="start")["delay"].to_list() == [1, 1, 3]
    assert played.executed.tolist() == [14, 5]


def test_a_job_that_is_stopped_before_it_progressed_has_lost_nothing():
    played = gangopt.replay(workload(*PREEMPTED), 1, "srtf", overheads=Overheads(start=5))
    assert played.end.tolist() == [27, 12]


def test_a_quantum_shorter_than_a_start_is_reported():
    jobs = workload((0, 1, 10), (0, 1, 10))
    with pytest.raises(
        InputError, match=r"makes no progress: no work done in 1000 decisions; jobs are stopped during their start"
    ):
        gangopt.replay(jobs, 1, "time-sharing?quantum=5", overheads=Overheads(start=6))
    # without overheads the same quanta make progress
    assert gangopt.replay(jobs, 1, "time-sharing?quantum=0.0078125").end.tolist() == [20 - 2**-7, 20]


def test_restarts_cost_the_checkpoint_of_the_model():
    jobs = workload(*PREEMPTED, model=["vgg19", "resnet50"])
    played = gangopt.replay(jobs, 1, "srtf", overheads=Overheads(restart=2, by_model=True))
    assert played.end.tolist() == [pytest.approx(14 + 2 + CHECKPOINT_SECONDS["vgg19"]), 7]


def test_no_overheads_change_nothing():
    rng = np.random.default_rng(1)
    rows = zip(rng.integers(0, 50, 30).tolist(), rng.integers(1, 5, 30).tolist(), rng.integers(1, 20, 30), strict=True)
    jobs = workload(*((a, g, int(d)) for a, g, d in rows))
    plain, free = (gangopt.replay(jobs, 8, "srsf", overheads=item) for item in (None, Overheads()))
    assert plain.end.tolist() == free.end.tolist()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start": -1}, "overheads: start must be a finite number >= 0 s (got -1)"),
        ({"restart": float("inf")}, "overheads: restart must be a finite number >= 0 s (got inf)"),
        ({"checkpoints": {"a": -2}}, "overheads: checkpoint of a must be a finite number >= 0 s (got -2)"),
        ({"slowdowns": {"slot": 2}}, "unknown locality of a slowdown 'slot'; known: machine, rack, cluster"),
        ({"slowdowns": {"rack": 0.5}}, "overheads: slowdown at rack must be a finite number >= 1 (got 0.5)"),
    ],
)
def test_wrong_overheads_are_refused(settings, message):
    with pytest.raises(InputError) as caught:
        Overheads(**settings)
    assert str(caught.value) == message


def test_a_model_without_a_checkpoint_time_is_named():
    jobs = workload(*PREEMPTED, model=["lenet", None])
    with pytest.raises(InputError, match="overheads: unknown checkpoint time of model 'lenet'; known: alexnet, goo"):
        gangopt.replay(jobs, 1, "srtf", overheads=Overheads(by_model=True))


def test_a_start_longer_than_a_thousand_looks_is_no_standstill():
    jobs = workload((0, 1, 10), (0, 1, 10))
    long = Overheads(start=5000)
    assert gangopt.replay(jobs, 1, "time-sharing?quantum=6000", overheads=long).end.tolist() == [5010, 10020]

    class Watching:
        name = "watching"

        def decide(self, state):
            return Plan(state.active, preempt=False, wake=state.now + 1)

    assert gangopt.replay(jobs, 1, Watching(), overheads=long).end.tolist() == [5010, 10020]
