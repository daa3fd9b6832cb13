import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.schedule.generate import random
from gangopt.instances.schedule.instance import Run, ScheduleInstance, ScheduleSolution, fewest_machines
from gangopt.instances.schedule.text import describe, describe_solution
from gangopt.replays.as_heuristics import las, srsf

FIELDS = {
    "name": "t",
    "jobs": ("a", "b"),
    "arrival": [0.0, 1.0],
    "gpus": [2, 1],
    "duration": [2.0, 3.0],
    "n_gpus": 3,
}


def instance(**changes):
    return ScheduleInstance(**{**FIELDS, **changes})


def schedule(*runs):
    return ScheduleSolution(tuple(tuple(Run(*run) for run in items) for items in runs))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jobs": ("a", "a")}, r"jobs\[1\]: duplicate label 'a' \(first at jobs\[0\]\)"),
        ({"jobs": ()}, r"number of jobs must be an integer from 1 to 1,000,000 \(got 0\)"),
        ({"n_gpus": 0}, r"n_gpus must be an integer from 1 to 1,000,000 \(got 0\)"),
        ({"n_gpus": 2.5}, r"n_gpus must be an integer from 1 to 1,000,000 \(got 2\.5\)"),
        ({"gpus": [2, 4]}, r"gpus\[1\] must be an integer from 1 to 3 \(got 4\)"),
        ({"gpus": [2.0, 1.0]}, r"gpus must hold integers \(got float64\)"),
        ({"arrival": [0.0, -1.0]}, r"arrival\[1\] must be a number from 0 to 1e15 \(got -1\.0\)"),
        ({"arrival": [0.0]}, r"arrival must have shape \(2,\) \(got \(1,\)\)"),
        ({"duration": [0.0, 1.0]}, r"duration\[0\] must be a number from 1e-9 to 1e15 \(got 0\.0\)"),
        ({"weight": [0.0, 1.0]}, r"weight\[0\] must be a number from 1e-9 to 1e15 \(got 0\.0\)"),
        ({"machines": (2, 2)}, r"machines must have n_gpus=3 GPUs in total \(got 4\)"),
        ({"machines": (3, 0)}, r"machines\[1\] must be an integer from 1 to 1,000,000 \(got 0\)"),
        ({"slot": 0.0}, r"slot must be a number from 1e-9 to 1e15 s \(got 0\.0\)"),
        ({"slot": 2.0}, r"arrival\[1\] must be a multiple of the slot of 2 s \(got 1\)"),
        ({"slot": 1.0, "duration": [2.5, 3.0]}, r"duration\[0\] must be a multiple of the slot of 1 s \(got 2\.5\)"),
    ],
)
def test_refuses_what_is_no_instance(changes, message):
    with pytest.raises(InputError, match=message):
        instance(**changes)


def test_multiples_of_a_decimal_slot_are_recognised():
    assert instance(slot=0.1, arrival=[0.0, 0.1 + 0.2], duration=[0.7, 1e7 * 0.1]).slot == 0.1


@pytest.mark.parametrize(
    ("changes", "runs", "rule"),
    [
        ({}, [[(0, 2)]], "runs_of_every_job"),
        ({}, [[(0, 2)], [(0.5, 3.5)]], "after_arrival"),
        ({}, [[(0, 2)], [(1, 3), (2, 3)]], "runs_in_order"),
        ({}, [[(0, 2)], [(1, 1), (1, 4)]], "runs_in_order"),
        ({}, [[(0, 2)], [(1, 3)]], "work_done"),
        ({}, [[(0, 2)], []], "work_done"),
        ({"n_gpus": 2}, [[(0, 2)], [(1, 4)]], "gpu_capacity"),
        ({"slot": 1.0}, [[(0, 1.5), (2, 2.5)], [(3, 6)]], "whole_slots"),
        ({"machines": (2, 1)}, [[(0, 2)], [(1, 4, ((1, 1),))]], "whole_gang"),
        ({"machines": (2, 1)}, [[(0, 2, ((0, 2),))], [(1, 4, ((2, 1),))]], "whole_gang"),
        ({"machines": (2, 1)}, [[(0, 2, ((0, 1), (1, 1)))], [(2, 5, ((1, 1),))]], "fewest_machines"),
        ({"machines": (2, 1)}, [[(0, 2, ((0, 2),))], [(1, 4, ((0, 1),))]], "machine_capacity"),
    ],
)
def test_judge_names_the_broken_rule(changes, runs, rule):
    found = instance(**changes).check(schedule(*runs))
    assert {item.rule for item in found} == {rule}
    assert all(str(item) for item in found)


@pytest.mark.parametrize(
    ("changes", "runs"),
    [
        ({}, [[(0, 2)], [(1, 4)]]),
        ({"n_gpus": 2}, [[(0, 1), (4, 5)], [(1, 4)]]),
        ({"machines": (2, 1)}, [[(0, 2, ((0, 2),))], [(1, 2, ((1, 1),)), (2, 4, ((0, 1),))]]),
        # ends and starts that are meant to be equal may differ by rounding
        ({"n_gpus": 2}, [[(0, 1), (4 - 1e-15, 5)], [(1 - 1e-16, 4)]]),
    ],
)
def test_judge_accepts_feasible_schedules(changes, runs):
    assert instance(**changes).check(schedule(*runs)) == []


def test_score_is_the_weighted_mean_and_its_metrics():
    score = instance(n_gpus=2, weight=[1, 3]).evaluate(schedule([(0, 1), (4, 5)], [(1, 4)]))
    assert score.objective == (1 * 5 + 3 * 3) / 4
    assert dict(score.metrics) == {"total_jct": 8, "max_jct": 5, "makespan": 5, "queueing": 1.5, "preemptions": 1}


def test_moving_to_another_machine_at_once_is_no_preemption():
    moved = schedule([(0, 2, ((0, 2),))], [(1, 2, ((1, 1),)), (2, 4, ((0, 1),))])
    assert instance(machines=(2, 1)).evaluate(moved).metrics["preemptions"] == 0


def test_fewest_machines():
    assert fewest_machines((2, 4, 2), [1, 4, 5, 8]).tolist() == [1, 1, 2, 3]


def test_runs_are_checked():
    with pytest.raises(InputError, match=r"start must be a finite number \(got 'x'\)"):
        Run("x", 1)
    with pytest.raises(InputError, match=r"places\[0\]"):
        Run(0, 1, ((1,),))
    with pytest.raises(InputError, match=r"runs\[0\] must hold objects of type Run \(got \(0, 1\)\)"):
        ScheduleSolution((((0, 1),),))


def test_equal_content_is_equal():
    assert instance() == instance(weight=[1.0, 1.0])
    assert instance() != instance(slot=1.0)
    assert hash(instance()) == hash(instance())


def test_random_is_reproducible_and_in_range():
    assert random(seed=3) == random(seed=3)
    assert random(seed=3) != random(seed=4)
    found = random(jobs=50, gpus=8, machines=2, longest=5, weights=4, slot=0.5, seed=1)
    assert found.machines == (4, 4)
    assert found.slot == 0.5
    assert found.gpus.max() <= 8
    assert found.duration.max() <= 2.5
    assert set(found.weights.tolist()) == {1, 2, 3, 4}
    assert random(slot=0).slot is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("random?jobs=0", r"schedule/random: jobs must be an integer from 1 to 1,000,000 \(got 0\)"),
        ("random?gpus=6&machines=4", r"schedule/random: gpus must be a multiple of machines=4 \(got 6\)"),
        ("random?load=0", r"schedule/random: load must be a number > 0 and <= 1,000,000 \(got 0\.0\)"),
        (
            "random?slot=-1",
            r"schedule/random: a slot other than 0 must be a number from 1e-6 to 1,000,000 \(got",
        ),
        ("slice?file=no-such-file.csv&gpus=4", "no-such-file.csv"),
    ],
)
def test_families_refuse_what_is_out_of_range(name, message):
    with pytest.raises(InputError, match=message):
        gangopt.load(f"schedule/{name}")


LOG = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n" + "".join(
    f"{j},{1 + j % 2},{10 * j},100,vgg16,{20 + j},10\n" for j in range(6)
)


@pytest.fixture
def log(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text(LOG)
    return file


def test_slice_cuts_a_log(log):
    found = gangopt.load(f"schedule/slice?file={log}&gpus=2&first=1&jobs=3")
    assert found.jobs == ("1", "2", "3")
    assert found.arrival.tolist() == [0, 10, 20]
    assert found.gpus.tolist() == [2, 1, 2]
    assert found.duration.tolist() == [21, 22, 23]
    assert (found.n_gpus, found.machines, found.slot) == (2, (), None)
    assert gangopt.load(found.name) == found
    assert len(gangopt.load(f"schedule/slice?file={log}&gpus=2&start=20&end=40").jobs) == 2


def test_slice_takes_the_machines_of_a_cluster(log):
    found = gangopt.load(f"schedule/slice?file={log}&cluster=tiresias-testbed&jobs=2")
    assert found.machines == (4,) * 15


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", r"schedule/slice: give either gpus or cluster, e\.g\. gpus=64 or cluster=tiresias-testbed"),
        (
            "&gpus=2&cluster=tiresias-testbed",
            r"schedule/slice: give either gpus or cluster, e\.g\. gpus=64 or cluster=tiresias-testbed",
        ),
        ("&gpus=2&first=6", r"schedule/slice: no jobs left, .* has 6 jobs within the limits"),
        ("&gpus=1", r"gpus\[1\] must be an integer from 1 to 1 \(got 2\)"),
    ],
)
def test_slice_refuses(log, arguments, message):
    with pytest.raises(InputError, match=message):
        gangopt.load(f"schedule/slice?file={log}{arguments}")


def test_texts_show_jobs_and_runs():
    found = random(jobs=25, machines=2, weights=2, seed=1)
    text = describe(found)
    assert "25 jobs with a total of" in text
    assert "4 GPUs on 2 machines of 2 to 2" in text
    assert "every 1 s" in text
    assert text.endswith("... and 5 more")
    lines = list(describe_solution(found, srsf(found)))
    assert len(lines) == 26
    assert " on 0:" in lines[1]
    figure7 = gangopt.load("schedule/tiresias-figure7")
    free = dataclasses.replace(figure7, slot=None)
    assert "and 4 more" in list(describe_solution(free, las(free, interval=0.5)))[2]
    assert "at any time" in describe(free)


@given(st.integers(0, 10**6), st.sampled_from([0, 2]))
def test_judge_agrees_with_a_count_at_every_moment(seed, machines):
    found = random(jobs=6, gpus=4, machines=machines, seed=seed)
    solution = srsf(found)
    assert found.check(solution) == []
    for moment in np.arange(0.5, 40):
        running = [(j, run) for j, runs in enumerate(solution.runs) for run in runs if run.start <= moment < run.end]
        assert sum(found.gpus[j] for j, _ in running) <= 4
