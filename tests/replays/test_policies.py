"""Promotions, elastic policies and SLAQ by cases computed by hand; arguments in names."""

import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.replays.policies.tiresias import Tiresias


def workload(*rows, **columns):
    arrival, gpus, duration = zip(*rows, strict=True)
    ids = [f"j{number}" for number in range(len(rows))]
    return gangopt.Workload.from_columns({"id": ids, "arrival": arrival, "gpus": gpus, "duration": duration, **columns})


STARVING = workload((0, 1, 10), (4, 1, 6), (8, 1, 4))


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ("", [18, 20, 12]),
        ("&knob=1", [18, 14, 20]),
        ("&starve_limit=4", [18, 14, 20]),
        ("&starve_limit=6", [20, 16, 18]),
        ("&knob=100&starve_limit=6", [20, 16, 18]),
        ("&knob=1&starve_limit=600", [18, 14, 20]),
    ],
)
def test_starving_jobs_are_promoted(options, ends):
    assert gangopt.replay(STARVING, 1, f"tiresias-l?thresholds=4{options}").end.tolist() == ends


def test_a_promoted_job_counts_its_service_anew():
    # 2 GPU s and it falls, waits 2 s, is promoted, and falls again after 2 GPU s more
    played = gangopt.replay(workload((0, 1, 6), (1, 1, 20)), 1, "tiresias-l?thresholds=2&starve_limit=2")
    runs = played.events().filter(job=0, event="start")["time"].to_list()
    assert runs == [0, 4, 8]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            "tiresias-l?thresholds=5+5",
            "tiresias-l: thresholds must be > 0 GPU s and ascending (got 5, 5)",
        ),
        (
            "tiresias-l?thresholds=5+4",
            "tiresias-l: thresholds must be > 0 GPU s and ascending (got 5, 4)",
        ),
        ("tiresias-g?thresholds=0", "tiresias-g: thresholds must be > 0 GPU s and ascending (got 0)"),
        ("tiresias-l?thresholds=inf", "tiresias-l: thresholds must be > 0 GPU s and ascending (got inf)"),
        ("tiresias-l?thresholds=a", "tiresias-l: thresholds must be numbers joined by + (got 'a')"),
        ("tiresias-l?thresholds=1+2&queues=2", "tiresias-l: 2 queues must have 1 thresholds (got 2: 1+2)"),
        ("tiresias-l?knob=0", "tiresias-l: knob must be > 0 (got 0)"),
        ("tiresias-g?starve_limit=-1", "tiresias-g: starve_limit must be > 0 (got -1)"),
        ("optimus?speed=linear&interval=0", "optimus: interval must be a finite number > 0 s (got 0.0)"),
        ("drf?max_tasks=0", "drf: max_tasks must be an integer from 1 to 1000 (got 0)"),
        ("drf?speed=cubic", "drf?speed=cubic: speed must be fitted or linear (got cubic)"),
        ("slaq?interval=0", "slaq: interval must be a finite number > 0 (got 0.0)"),
        ("slaq?curvature=-1", "slaq: curvature must be a finite number > 0 (got -1.0)"),
    ],
)
def test_wrong_arguments_are_refused(policy, message):
    with pytest.raises(InputError) as caught:
        gangopt.replay(STARVING, 1, policy)
    assert str(caught.value).startswith(message)


def test_no_thresholds_are_no_queues():
    with pytest.raises(InputError, match=r"thresholds must be > 0 GPU s and ascending \(got none\)"):
        Tiresias(())


def test_thresholds_and_queues_that_agree_are_taken():
    assert gangopt.replay(STARVING, 1, "tiresias-l?thresholds=2+4&queues=3").policy.endswith("queues=3")


ELASTIC = workload((0, 4, 15), (3, 4, 5))


@pytest.mark.parametrize("policy", ["drf", "optimus", "exact"])
def test_elastic_policies_divide_the_gpus_at_each_interval(policy):
    played = gangopt.replay(ELASTIC, 4, f"{policy}?interval=10&speed=linear")
    # j0 has all GPUs until 10, then each has two for its 20 GPU s
    assert played.end.tolist() == [20, 20]
    assert played.starts.tolist() == [2, 1]
    assert played.first_start.tolist() == [0, 10]
    assert not played.fixed_gangs


def test_tetris_lets_every_job_have_a_gpu():
    played = gangopt.replay(ELASTIC, 4, "tetris?interval=10&speed=linear")
    assert played.service.sum() == pytest.approx(80)
    assert played.first_start.tolist() == [0, 10]


@pytest.mark.parametrize("policy", ["drf", "optimus", "exact", "tetris"])
def test_fitted_speeds_use_more_workers_than_the_log(policy):
    jobs = workload((0, 1, 8), speed=["async 1 0 0 0"], ps=[1], workers=[1])
    played = gangopt.replay(jobs, 4, f"{policy}?max_tasks=4")
    assert played.end.tolist() == [2]
    assert played.service.tolist() == [8]


def test_jobs_that_do_not_fit_with_one_worker_each_wait():
    jobs = workload((0, 2, 5), (0, 2, 5), (0, 2, 5), speed=["async 1 0 0 0"] * 3, ps=[1] * 3, workers=[1] * 3)
    played = gangopt.replay(jobs, 4, "drf?max_tasks=1&interval=10")
    assert played.end.tolist() == [5, 5, 15]


def test_what_elastic_policies_need_is_named():
    with pytest.raises(InputError, match=r"3 of 3 jobs have no speed .* the first is j0"):
        gangopt.replay(STARVING, 1, "optimus")
    uneven = workload((0, 3, 5), speed=["async 1 0 0 0"], ps=[1], workers=[2])
    with pytest.raises(InputError, match="job j0: gpus must be a multiple of its 2 workers"):
        gangopt.replay(uneven, 4, "optimus")


def test_slaq_gives_gpus_where_the_loss_falls_most():
    # the second GPU of a job lowers its loss by 0.08, the first one of the other by 0.82
    both = gangopt.replay(workload((0, 2, 10), (0, 2, 10)), 2, "slaq?interval=10")
    assert both.end.tolist() == [20, 20]
    # 1 - 1/10 of the loss in an interval against 1 - 1/1.9
    assert gangopt.replay(workload((0, 1, 100), (0, 1, 10)), 1, "slaq?interval=10").end.tolist() == [110, 10]


def test_slaq_prefers_young_jobs_until_they_are_as_old():
    # by their losses: j0 at half its work gains 1/5.5 - 1/6.4, j1 1 - 1/1.9
    played = gangopt.replay(workload((0, 1, 20), (5, 1, 20)), 1, "slaq?interval=2")
    assert played.first_start.tolist() == [0, 6]
    assert played.starts[0] > 1


def test_the_names_of_policies():
    assert list(gangopt.policies) == [
        *("fifo", "sf", "srtf", "srsf", "yarn-cs", "best-effort", "time-sharing", "2d-las", "2d-gittins"),
        *("tiresias-l", "tiresias-g", "optimus", "drf", "tetris", "exact", "slaq"),
    ] + [name for name in gangopt.policies if name.startswith("themis")]
    with pytest.raises(InputError, match="unknown policy 'sfr'"):
        gangopt.policies["sfr"]


def test_a_history_changes_the_order_within_a_queue(tmp_path):
    path = tmp_path / "past.txt"
    path.write_text("12\n")
    jobs = workload((0, 1, 40), (10, 1, 5))
    # own services, 40 and 5: at 10 s the index of j0 is 1/30, that of the fresh j1 1/22.5
    assert gangopt.replay(jobs, 1, "tiresias-g?thresholds=1000").end.tolist() == [45, 15]
    # past service 12: 1/2 against 1/12
    assert gangopt.replay(jobs, 1, f"tiresias-g?thresholds=1000&history={path}").end.tolist() == [40, 45]


@pytest.mark.parametrize(("limit", "ends"), [("starve_limit=5", [15, 20]), ("knob=0.625", [15, 20])])
def test_a_job_that_is_stopped_now_is_promoted_on_time(limit, ends):
    # j0 falls at 8 with 24 GPU s, waits 5 s and is promoted before j1 falls
    played = gangopt.replay(workload((0, 3, 10), (0, 3, 10)), 4, f"tiresias-l?thresholds=24&{limit}")
    assert played.events().filter(job=0, event="start")["time"].to_list() == [0, 13]
    assert played.end.tolist() == ends


IDLE = workload((100, 1, 700), (5000, 1, 700), (5010, 1, 700))


@pytest.mark.parametrize("policy", ["drf?speed=linear", "optimus?speed=linear", "tetris?speed=linear", "slaq"])
def test_decisions_stay_on_the_grid_after_idle_times(policy):
    # the interval of 600 s counts from the first arrival
    assert gangopt.replay(IDLE, 2, policy).first_start.tolist() == [100, 5500, 5500]


@pytest.mark.parametrize("policy", ["drf?speed=linear&interval=0.1", "slaq?interval=0.1"])
def test_an_arrival_on_the_grid_is_decided_at_once(policy):
    # 3 x 0.1 is not 0.3 in doubles, but equal to it
    played = gangopt.replay(workload((0, 1, 7), (0.3, 1, 7)), 2, policy)
    assert played.first_start.tolist() == [0, 0.3]


def test_the_gpus_of_ended_jobs_are_given_to_the_last_one():
    jobs = workload((0, 2, 3), (0, 2, 30), speed=["async 1 0 0 0"] * 2, ps=[1] * 2, workers=[2] * 2)
    played = gangopt.replay(jobs, 4, "drf?max_tasks=4&interval=10")
    assert played.events().filter(job=1, event="start")["gpus"].to_list() == [2, 4]


@pytest.mark.parametrize("arrival", [12, 24, 36])
def test_an_arrival_at_the_end_of_a_quantum_waits_for_the_next(arrival):
    jobs = workload((0, 1, 100), (0, 1, 100), (arrival, 2, 5))
    assert gangopt.replay(jobs, 2, "time-sharing?quantum=12").first_start.tolist() == [0, 0, arrival + 12]
    # whether somebody waited earlier in the quantum does not matter
    jobs = workload((0, 1, 100), (0, 1, 10), (0, 1, 100), (arrival, 2, 5))
    assert gangopt.replay(jobs, 2, "time-sharing?quantum=12").first_start.tolist() == [0, 0, 10, arrival + 12]


@pytest.mark.parametrize(
    "policy", ["2d-las", "2d-gittins", "time-sharing", "slaq", "optimus?speed=linear", "drf?speed=linear", "optimus"]
)
def test_nobody_is_woken_while_all_jobs_run(policy):
    asked = []
    rows = ((0, 1, 1e12),) if policy == "optimus" else ((0, 1, 1e12), (0, 1, 1e12))
    n = len(rows)
    jobs = workload(*rows, speed=["async 1 0 0 0"] * n, ps=[1] * n, workers=[1] * n)
    played = gangopt.replay(jobs, 2, policy, on_progress=lambda *args: asked.append(args))
    assert played.first_start.tolist() == [0] * n
    assert len(asked) <= 2


def test_services_are_looked_at_while_a_job_waits_though_its_gpus_are_free():
    # one GPU of either machine is free, but j2 may not be spread; it is the least served
    cluster = gangopt.Cluster.uniform(machines_per_rack=2, gpus_per_slot=2)
    jobs = workload((0, 1, 100), (0, 2, 100), (1, 2, 10))
    played = gangopt.replay(jobs, cluster, "2d-las?interval=10", placement="consolidated")
    assert played.first_start.tolist()[2] < 100
