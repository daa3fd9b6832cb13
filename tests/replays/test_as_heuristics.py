import dataclasses

import pytest

import gangopt
from gangopt.base.errors import NoSolutionError
from gangopt.instances.schedule.instance import Run
from gangopt.replays.as_heuristics import _cluster, fifo, las, sf, srsf, srtf, tiresias_g
from gangopt.solvers.solve import solve

FIGURE7 = "schedule/tiresias-figure7"


@pytest.mark.parametrize(
    ("method", "total"),
    [
        ("srsf", 28),
        ("srtf", 26),
        ("sf", 34),
        ("fifo", 28),
        ("2d-las", 35),
        ("2d-gittins", 28),
        ("tiresias-g?thresholds=4", 30),
    ],
)
def test_worked_example_of_tiresias(method, total):
    assert solve(FIGURE7, method).objective == pytest.approx(total / 3)


def test_runs_of_2d_las_are_those_of_figure_7():
    runs = las(gangopt.load(FIGURE7)).runs
    spans = [[(run.start, run.end) for run in items] for items in runs]
    assert spans == [
        [(0, 1), (4, 5)],
        [(1, 2), (3, 4), (5, 6), (7, 9), (10, 12), (13, 14)],
        [(2, 3), (6, 7), (9, 10), (12, 13), (14, 16)],
    ]


def test_discretised_gittins_runs_are_those_of_figure_7():
    runs = tiresias_g(gangopt.load(FIGURE7), thresholds="4").runs
    assert runs == ((Run(0, 2),), (Run(2, 6), Run(8, 12)), (Run(6, 8), Run(12, 16)))


@pytest.mark.parametrize("policy", [srsf, srtf, sf, fifo, las, tiresias_g])
@pytest.mark.parametrize("name", ["schedule/random?jobs=30&gpus=8&seed=2", "schedule/random?jobs=30&gpus=8&machines=2"])
def test_policies_make_feasible_schedules(policy, name):
    instance = gangopt.load(name)
    assert instance.check(policy(instance)) == []


def test_jobs_keep_their_place_when_arrivals_are_unsorted():
    instance = gangopt.load("schedule/interrupted")
    turned = dataclasses.replace(
        instance, arrival=instance.arrival[::-1], gpus=instance.gpus[::-1], duration=instance.duration[::-1]
    )
    assert srtf(turned).runs == srtf(instance).runs[::-1]


def test_policy_that_does_not_keep_to_slots_finds_nothing():
    instance = gangopt.load(FIGURE7)
    with pytest.raises(NoSolutionError, match=r"tiresias-g violates the slots .* whole_slots"):
        tiresias_g(instance, thresholds="3")
    result = solve(instance, "tiresias-g?thresholds=3")
    assert (result.termination, result.solution_status) == ("completed", "none")


@pytest.mark.parametrize("name", ["schedule/random?jobs=30&gpus=8&seed=2", "schedule/random?jobs=30&gpus=8&machines=2"])
def test_runs_are_those_of_a_replay_of_the_same_workload(name):
    instance = gangopt.load(name)
    jobs = gangopt.Workload.from_columns(
        {
            "id": [str(j) for j in range(len(instance.jobs))],
            "arrival": instance.arrival,
            "gpus": instance.gpus,
            "duration": instance.duration,
        }
    )
    cluster = _cluster(instance.machines) if instance.machines else instance.n_gpus
    log = gangopt.replay(jobs, cluster, "srtf", placement="consolidated" if instance.machines else None).events()
    ends = {int(job): time for time, event, job in log.select("time", "event", "id").iter_rows() if event == "end"}
    begins = {}
    for time, event, job in log.select("time", "event", "id").iter_rows():
        if event == "start":
            begins.setdefault(int(job), time)
    runs = srtf(instance).runs
    assert {j: (own[0].start, own[-1].end) for j, own in enumerate(runs)} == {j: (begins[j], ends[j]) for j in ends}
