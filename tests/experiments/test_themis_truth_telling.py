"""Truth-telling in THEMIS's auction: the set-up, the filter, and the shape that the paper reports."""

from __future__ import annotations

import math

import pytest

from gangopt.base.errors import InputError
from gangopt.experiments.themis_truth_telling import (
    COLUMNS,
    MACHINES,
    Setting,
    completion_times,
    picture,
    themis_truth_telling,
)


@pytest.fixture(scope="module")
def table():
    return themis_truth_telling([34, 36], seeds=2)


def test_machines_of_the_paper():
    cluster = Setting().cluster()
    assert tuple(sorted(cluster.gpus_per_machine.tolist(), reverse=True)) == MACHINES
    assert sum(MACHINES) == 64
    assert len(cluster.racks) == 1


def test_one_slowdown_is_misreported():
    setting = Setting(across=1.2)
    true = setting.true_slowdown()
    assert (true.machine, true.rack) == (1.0, 1.2)
    told = setting.told_slowdown("spread", 50)
    assert (told.slot, told.machine) == (1.0, 1.0)
    assert told.rack == pytest.approx(1.8)
    told = setting.told_slowdown("dense", 25)
    assert (told.slot, told.machine, told.rack) == (0.75, 0.75, 1.2)
    assert setting.told_slowdown("dense", 100).machine == pytest.approx(0.01)
    assert all(setting.told_slowdown(kind, 0) == true for kind in ("spread", "dense"))


def test_equation_1():
    assert Setting(demand=16, work=960.0).ideal == 960 / 16 * 8
    assert Setting(demand=8, work=960.0, apps=4).ideal == 960 / 8 * 4


def test_the_liar_loses_at_once_above_34_percent(table):
    """The published tipping point; 1 - 1.3 x 8 / 16 is 35 %."""
    dense = {row["X"]: row for row in table.rows if row["lie"] == "dense"}
    assert dense[34]["liar"] == dense[0]["liar"]
    assert dense[34]["truthful"] == dense[0]["truthful"]
    assert dense[36]["liar, to X = 0"] > 1
    assert dense[36]["truthful, to X = 0"] < 0
    assert any("above X = 1 - S 8 / demand = 35 %" in note for note in table.notes)
    assert any("dense: from X = 36 % the liar finishes later than with a true report" in n for n in table.notes)


def test_rows_and_columns(table):
    assert [(row["lie"], row["X"]) for row in table.rows] == [
        (kind, x) for kind in ("spread", "dense") for x in (0, 34, 36)
    ]
    assert all(set(row) == set(COLUMNS) for row in table.rows)
    assert all(row["runs"] == 2 and 0 < row["liar keeps"] <= 100 for row in table.rows)
    # all that the apps have to do takes at least 120 min on 64 GPUs, were they all in one machine
    mean = [(row["liar"] + 7 * row["truthful"]) / 8 for row in table.rows]
    assert all(960 / 16 < value < math.inf for value in mean)
    assert all(max(row["liar"], row["truthful"]) >= 120 for row in table.rows)


def test_one_app_alone_has_everything():
    # 16 GPUs apart do 16 / 1.3 a minute, 8 together 8; payments are none, and leases go on
    alone = completion_times("spread", 0, Setting(apps=1, work=960.0))
    assert alone["liar"] == alone["truthful"] == pytest.approx(960 * 1.3 / 16)
    assert (alone["liar_share"], alone["truthful_share"]) == (1.0, 1.0)
    # a liar that takes the large machine for nothing works at half of that speed
    assert completion_times("dense", 60, Setting(apps=1, work=960.0))["liar"] == pytest.approx(960 / 8)


def test_a_seed_says_everything():
    assert completion_times("dense", 50, Setting(), 3) == completion_times("dense", 50, Setting(), 3)


def test_picture_has_a_panel_for_each_lie(table):
    figure = picture(table)
    assert [axes.get_title() for axes in figure.axes] == [
        "slowdown across machines over-reported",
        "slowdown in one machine under-reported",
    ]


@pytest.mark.parametrize(("fairness", "bidders"), [(0.0, 8), (0.8, 2), (0.9, 1), (1.0, 1), (0.5, 4)])
def test_bidders_of_a_round(fairness, bidders):
    assert Setting(fairness=fairness).bidders == bidders


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"apps": 0}, r"apps must be an integer from 1 to 64 \(got 0\)"),
        ({"demand": 65}, r"demand must be an integer from 1 to 64 \(got 65\)"),
        ({"work": 0.0}, "work must be a number > 0 and <= 1,000,000"),
        ({"lease": -1.0}, "lease must be a number > 0 and <= 1,000,000"),
        ({"across": 0.9}, "across must be a number from 1 to 100"),
        ({"fairness": 1.5}, "fairness must be a number from 0 to 1"),
        ({"rounding": "up"}, "unknown rounding 'up'; known: floor, value, random"),
    ],
)
def test_settings_that_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        Setting(**change)


def test_other_bad_input():
    with pytest.raises(InputError, match="X must be a number from 0 to 100 %"):
        themis_truth_telling([101])
    with pytest.raises(InputError, match="unknown lie 'white'; known: spread, dense"):
        themis_truth_telling([0], ["white"])
    with pytest.raises(InputError, match="seeds must be an integer from 1 to 1000"):
        themis_truth_telling([0], seeds=0)
