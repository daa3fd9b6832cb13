import dataclasses
import math

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.bid.instance import BidInstance, BidRow, BidSolution
from gangopt.solvers.bid.heuristics import even


def app(**changes):
    """Two phases: jobs of 600 and 300 GPU-s, then one of 400; 1 and 3 GPUs offered within a machine and a rack."""
    data = {
        "name": "t",
        "jobs": ("a", "b", "a"),
        "phase": [0, 0, 1],
        "iterations": [6.0, 3.0, 4.0],
        "seconds": [100.0, 100.0, 100.0],
        "max_gpus": [2, 2, 2],
        "slowdown": [[1, 1, 1.5, 2]] * 3,
        "offer_gpus": [1, 3],
        "offer_levels": ("machine", "rack"),
        "cluster_gpus": 4,
        "contention": 2.0,
    }
    data.update(changes)
    for name in ("phase", "max_gpus", "offer_gpus"):
        data[name] = np.array(data[name], dtype=np.int64)
    for name in ("iterations", "seconds", "slowdown"):
        data[name] = np.array(data[name], dtype=np.float64)
    return BidInstance(**data)


def good():
    return BidSolution(
        (
            BidRow(1, "machine", 1300 / 650, (900.0, 400.0), (1, 1, 1), (0, 0, None)),
            BidRow(3, "rack", 750 / 650, (450.0, 300.0), (2, 1, 2), (None, None, None)),
        )
    )


def test_lengths_are_those_of_the_slowest_run_with_its_slowdown():
    instance = app()
    assert instance.ideal_seconds == 1300 / 4 * 2
    # b alone on one GPU is not slowed down, a on two GPUs of a rack is
    assert instance.lengths(1, (2, 1, 2), (None,) * 3) == (600 * 1.5 / 2, 400 * 1.5 / 2)
    assert instance.check(good()) == []
    score = instance.evaluate(good())
    assert score.objective == pytest.approx((2 + 750 / 650) / 2)
    assert score.metrics == {"max_rho": 2.0, "min_rho": 750 / 650}


def test_queues_last_as_long_as_the_longest():
    instance = app(jobs=("a", "b", "c"), phase=[0, 0, 0], offer_gpus=[1, 2])
    assert instance.lengths(0, (1, 1, 1), (0, 0, 0)) == (1300.0,)
    assert instance.lengths(1, (1, 1, 1), (0, 1, 1)) == (700.0,)


def test_shared_runs_are_slowed_down_as_the_offer_is():
    instance = app(split="shared")
    assert instance.demands(1).tolist() == [900.0, 450.0, 600.0]
    assert instance.demands(0).tolist() == [600.0, 300.0, 400.0]
    row = even(instance).rows[1]
    assert row.seconds == (450.0, 300.0)
    assert row.shares == (2.0, 1.0, 2.0)


def changed(row, **changes):
    rows = list(good().rows)
    rows[row] = dataclasses.replace(rows[row], **changes)
    return BidSolution(tuple(rows))


@pytest.mark.parametrize(
    ("solution", "message"),
    [
        (BidSolution(good().rows[:1]), "row_per_offer at rows: 1, allowed 2"),
        (changed(1, gpus=2), r"row_per_offer at row 1 \(2 GPUs, rack\), offered 3 GPUs, rack: 2 GPUs, allowed 3 GPUs"),
        (changed(1, level="machine"), r"row_per_offer at row 1 \(3 GPUs, machine\), offered 3 GPUs, rack"),
        (changed(1, shares=(2, 1)), "share_per_run at row 1, shares: 2, allowed 3"),
        (changed(1, queues=(None,)), "share_per_run at row 1, queues: 1, allowed 3"),
        (changed(1, seconds=(450.0,)), "share_per_run at row 1, seconds: 1, allowed 2"),
        (changed(1, shares=(2, 1, 3)), "demand at row 1, job a: 3 GPUs, allowed 2 GPUs"),
        (changed(1, shares=(2, 1, 0)), "demand at row 1, job a: 0 GPUs, allowed 2 GPUs"),
        (changed(1, shares=(2, 2, 2)), "gpus_offered at row 1, phase 0: 4 GPUs, allowed 3 GPUs"),
        (changed(1, shares=(1.5, 1, 2)), "one_count_per_job at row 1, phase 0, job a: 1.5 GPUs, allowed 1 GPUs"),
        (changed(0, queues=(0, 1, None)), "one_queue_per_job at row 0, phase 0, job b: 1, allowed 0"),
        (changed(0, queues=(0, None, None)), "one_queue_per_job at row 0, phase 0, job b: -1, allowed 0"),
        (changed(0, queues=(0, 0, 0)), "one_queue_per_job at row 0, phase 1, job a: 0, allowed -1"),
        (changed(1, seconds=(400.0, 300.0)), "phase_seconds at row 1, phase 0: 400 s, allowed 450 s"),
        (changed(1, seconds=(500.0, 300.0)), "phase_seconds at row 1, phase 0: 500 s, allowed 450 s"),
        (changed(0, rho=1.9), "stated_rho at row 0: 1.9, allowed 2"),
    ],
)
def test_each_rule_of_the_judge(solution, message):
    violations = app().check(solution)
    assert len(violations) >= 1
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(str(violations[0]))


def test_shared_phases_may_last_longer_but_not_shorter():
    instance = app(split="shared")
    row = even(instance).rows[1]
    longer = (row.seconds[0] + 10, row.seconds[1])
    slack = dataclasses.replace(row, seconds=longer, rho=instance.rho(longer))
    assert instance.check(BidSolution((even(instance).rows[0], slack))) == []
    shorter = (row.seconds[0] - 10, row.seconds[1])
    claimed = dataclasses.replace(row, seconds=shorter, rho=instance.rho(shorter))
    (violation,) = instance.check(BidSolution((even(instance).rows[0], claimed)))
    assert violation.rule == "phase_seconds"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jobs": ()}, r"number of jobs must be an integer from 1 to 20,000 \(got 0\)"),
        ({"offer_levels": (), "offer_gpus": []}, r"number of offers must be an integer from 1 to 4096 \(got 0\)"),
        ({"split": "halves"}, "unknown split 'halves'; known: whole, shared"),
        ({"offer_levels": ("machine", "room")}, r"unknown locality offer_levels\[1\] 'room'"),
        ({"phase": [0, 0, 2]}, r"phase\[2\] must be 0 or 1, since phases ascend without gaps \(got 2\)"),
        ({"phase": [1, 1, 1]}, r"phase\[0\] must be 0, since phases ascend without gaps \(got 1\)"),
        ({"phase": [0, 0, 0]}, r"jobs\[2\]: duplicate label 'a' in phase 0"),
        ({"jobs": ("a", "", "b")}, r"jobs\[1\] must be text of 1 to 200 characters \(got ''\)"),
        ({"iterations": [0.0, 1, 1]}, r"iterations\[0\] must be a number from 1e-6 to 1e9 \(got 0\.0\)"),
        ({"seconds": [1, math.nan, 1]}, r"seconds\[1\] must be a number from 1e-6 to 1e9 \(got nan\)"),
        ({"max_gpus": [1, 1, 0]}, r"max_gpus\[2\] must be an integer from 1 to 100,000 \(got 0\)"),
        ({"slowdown": [[1, 1, 1, -1]] * 3}, r"slowdown\[0, 3\] must be a number from 1e-6 to 1e9 \(got -1\.0\)"),
        ({"slowdown": [[1, 1, 1]] * 3}, r"slowdown must have shape \(3, 4\) \(got \(3, 3\)\)"),
        ({"offer_gpus": [1, 5]}, r"offer_gpus\[1\] must be an integer from 1 to 4 \(got 5\)"),
        ({"cluster_gpus": 0}, r"cluster_gpus must be an integer from 1 to 100,000 \(got 0\)"),
        ({"contention": 0.0}, r"contention must be a number from 1e-6 to 1e9 \(got 0\.0\)"),
        ({"elapsed": -1.0}, r"elapsed must be a number from 0 to 1e15 \(got -1\.0\)"),
        ({"budget": 0.0}, r"budget must be a number from 1e-12 to 1e15 \(got 0\.0\)"),
        ({"app_gpus": 0}, r"app_gpus must be an integer from 1 to "),
    ],
)
def test_bad_fields_are_refused_with_index_value_and_range(changes, message):
    with pytest.raises(InputError, match=message):
        app(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gpus": 1.5}, r"gpus must be an integer \(got 1\.5\)"),
        ({"rho": math.inf}, r"rho must be a finite number \(got inf\)"),
        ({"seconds": (math.nan,)}, r"seconds\[0\] must be a finite number \(got nan\)"),
        ({"shares": ("1",)}, r"shares\[0\] must be a finite number \(got '1'\)"),
        ({"queues": (0.5,)}, r"queues\[0\] must be an integer \(got 0\.5\)"),
    ],
)
def test_bad_rows_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        dataclasses.replace(good().rows[0], **changes)


def test_too_many_entries_are_refused_before_they_are_made():
    with pytest.raises(
        InputError, match=r"number of runs x offers must be an integer from 1 to 4,000,000 \(got 5000000\)"
    ):
        app(jobs=("a",) * 5000, offer_levels=("machine",) * 1000)


def test_the_budget_and_the_demand_are_those_of_the_phases_unless_given():
    assert app().budget == 1300
    assert app().app_gpus == 4
    assert app(budget=5000.0, app_gpus=1).ideal_seconds == 5000 * 2


def test_the_worked_example_of_the_paper():
    instance = gangopt.load("bid/themis-4.3.3")
    assert instance.ideal_seconds == 2500
    table = gangopt.solve(instance, "even").solution
    assert [row.gpus for row in table.rows] == [1, 2, 4, 8, 16]
    assert [row.rho for row in table.rows] == [4, 2, 1, 0.5, 0.34]
    assert [row.seconds for row in table.rows] == [
        (3200, 3200, 3600),
        (1600, 1600, 1800),
        (800, 800, 900),
        (400, 400, 450),
        (200, 200, 450),
    ]


def test_whole_gpus_cannot_attain_the_printed_row():
    instance = gangopt.load("bid/themis-4.3.3-whole")
    assert [row.rho for row in gangopt.solve(instance, "even").solution.rows] == [4, 2, 1.064, 0.532, 0.356]
    best = [row.rho for row in gangopt.solve(instance).solution.rows]
    assert best == pytest.approx([4, 2, 1.064, 0.532, (640 / 3 + 200 + 450) / 2500])


def test_the_revision_multiplies_right():
    row = gangopt.solve(gangopt.load("bid/themis-4.3.3-revised"), "even").solution.rows[1]
    assert row.gpus == 2
    assert row.seconds == (120 * 16, 120 * 36 / 2)
    assert row.rho == (1600 + 1920 + 2160) / 2500


@pytest.mark.parametrize(("model", "ratio"), [("vgg16", 103.6 / 80.4), ("inception3", 242 / 243)])
def test_table_1_gives_the_measured_slowdown(model, ratio):
    near, far = gangopt.solve(gangopt.load(f"bid/table1?model={model}")).solution.rows
    assert (near.level, far.level) == ("machine", "rack")
    assert far.rho / near.rho == pytest.approx(ratio)


def test_show_prints_the_phases_and_the_offers():
    from gangopt.instances.bid.text import describe

    text = describe(gangopt.load("bid/themis-4.3.3"))
    assert "ideal finish time 2,500 s: 10,000 GPU-s on 16 GPUs, 4 apps on average" in text
    assert "    1      2        3,200                       1,600                    8" in text
    assert text.endswith("offers of GPUs: 1 (machine), 2 (machine), 4 (machine), 8 (machine), 16 (machine)")
    long = app(
        jobs=tuple("a" for _ in range(20)),
        phase=list(range(20)),
        iterations=[1] * 20,
        seconds=[1] * 20,
        max_gpus=[1] * 20,
        slowdown=[[1] * 4] * 20,
        offer_gpus=[1] * 20,
        offer_levels=("slot",) * 20,
    )
    assert "...      4 more phases" in describe(long)
    assert describe(long).endswith("1 (slot) and 4 more")
