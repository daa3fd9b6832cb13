"""Tables 1 and 5 and the sensitivities of Tiresias on small workloads: shape, arithmetic and invariants."""

import pytest

from gangopt import Workload
from gangopt.base.errors import InputError
from gangopt.experiments import tiresias_sensitivity, tiresias_table1, tiresias_table5
from gangopt.replays.run import replay


def one_gpu():
    """Jobs of one GPU, for which shortest remaining time and service are the same."""
    return Workload.from_columns(
        {
            "id": [f"j{index}" for index in range(8)],
            "arrival": [0, 1, 2, 3, 4, 5, 6, 7],
            "gpus": [1] * 8,
            "duration": [9, 4, 7, 1, 3, 8, 2, 5],
        },
        name="singles",
    )


def test_table1_of_the_default_workloads():
    table = tiresias_table1.tiresias_table1(jobs=40)
    assert [(row["workload"], row["policy"]) for row in table.rows] == [
        (name, policy) for name in ("philly-like", "tiresias-testbed") for policy in ("sf", "srtf", "srsf")
    ]
    rows = {(row["workload"], row["policy"]): row for row in table.rows}
    for row in table.rows:
        base = rows[row["workload"], "srsf"]
        for figure in ("mean", "median", "95th"):
            assert row[f"{figure} to srsf"] == pytest.approx(row[f"{figure} JCT"] / base[f"{figure} JCT"])
    assert rows["philly-like", "sf"]["paper 95th"] == 3.45
    assert table.notes[0].startswith("philly-like: workload/philly-like?jobs=40&")
    assert len(tiresias_table1.picture(table).axes) == 6


def test_table1_of_jobs_of_one_gpu():
    rows = {row["policy"]: row for row in tiresias_table1.tiresias_table1(one_gpu(), 2).rows}
    # one GPU each: remaining time and service order jobs alike, and smallest first is first in, first out
    assert rows["srtf"]["mean to srsf"] == 1.0
    assert rows["srtf"]["95th to srsf"] == 1.0
    assert rows["sf"]["mean JCT"] == replay(one_gpu(), 2, "fifo").metrics["avg_jct"]
    assert rows["sf"]["mean to srsf"] > 1


def test_table1_of_one_gpu_alone_is_least_by_srtf():
    # shortest remaining time first is optimal on one machine
    rows = {row["policy"]: row for row in tiresias_table1.tiresias_table1(one_gpu(), 1).rows}
    assert rows["srtf"]["mean JCT"] == min(row["mean JCT"] for row in rows.values())


def test_table5_of_the_default_workloads():
    table = tiresias_table5.tiresias_table5(jobs=40)
    policies = ["yarn-cs", "best-effort", "srtf", "time-sharing", "tiresias-g", "tiresias-l"]
    assert [row["policy"] for row in table.rows] == policies * 2
    rows = {(row["workload"], row["policy"]): row for row in table.rows}
    assert rows["philly-like", "tiresias-l"]["mean to tiresias-l"] == 1.0
    assert rows["philly-like", "yarn-cs"]["paper median"] == 30.85
    # the testbed's workload has the figures of the paper's own simulation of it, without medians
    assert rows["tiresias-testbed", "yarn-cs"]["paper mean"] == 5.11
    assert rows["tiresias-testbed", "yarn-cs"]["paper median"] is None
    assert rows["tiresias-testbed", "best-effort"]["paper mean"] is None
    threshold = replay(
        Workload.load("workload/tiresias-testbed?seed=0"), "tiresias-testbed", "tiresias-l?thresholds=3200"
    )
    whole = tiresias_table5.tiresias_table5("workload/tiresias-testbed?seed=0", "tiresias-testbed").rows[-1]
    assert whole["mean JCT"] == threshold.metrics["avg_jct"]
    assert len(tiresias_table5.picture(table).axes) == 6


def test_table5_with_a_gpu_for_every_worker_is_all_ones():
    for row in tiresias_table5.tiresias_table5(one_gpu(), 8).rows:
        assert row["mean to tiresias-l"] == row["median to tiresias-l"] == row["95th to tiresias-l"] == 1.0


def test_sensitivity_has_every_setting_of_the_figures():
    table = tiresias_sensitivity.tiresias_sensitivity(jobs=40)
    shape = [(panel.name, label) for panel in tiresias_sensitivity.PANELS for label in panel.settings]
    for policy in ("tiresias-l", "tiresias-g"):
        rows = [row for row in table.rows if row["policy"] == policy]
        assert [(row["panel"], row["setting"]) for row in rows] == shape
    assert {row["to base"] for row in table.rows if row["setting"] in {"1h", "K=2: 1h", "off"}} == {1.0}
    assert {row["metric"] for row in table.rows if row["panel"] == "promoteknob"} == {"95th JCT", "max JCT"}
    assert len(tiresias_sensitivity.picture(table).axes) == 6


def test_thresholds_that_no_job_reaches_change_nothing():
    for row in tiresias_sensitivity.tiresias_sensitivity(one_gpu(), 2).rows:
        assert row["to base"] == 1.0


def test_seeds_draw_and_repeat():
    first, again, other = (tiresias_table1.tiresias_table1(jobs=30, seed=seed).rows for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    "experiment",
    [
        tiresias_table1.tiresias_table1,
        tiresias_table5.tiresias_table5,
        tiresias_sensitivity.tiresias_sensitivity,
    ],
)
def test_bad_input(experiment):
    with pytest.raises(InputError, match="unknown workload"):
        experiment("workload/none")
    with pytest.raises(InputError, match="jobs are larger than the cluster with 1 GPU"):
        experiment("workload/tiresias-testbed", 1)
    with pytest.raises(InputError, match="jobs must be an integer from 1 to 1,000,000"):
        experiment(jobs=0)
