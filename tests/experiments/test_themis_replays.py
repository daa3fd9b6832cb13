"""Fairness by policy, by contention and by network-intensive apps: shape, sources and invariants."""

import math
from itertools import pairwise

import numpy as np
import pytest

from gangopt import Cluster, Workload
from gangopt.base.errors import InputError
from gangopt.experiments import themis_contention, themis_fairness, themis_network_share
from gangopt.replays.run import replay
from gangopt.topology import MachineGroup

SMALL = "workload/themis-2?apps=3&seed=1"
POLICIES = ("srsf", "time-sharing?quantum=600")


def cluster():
    groups = [MachineGroup(4, 8, gpu_type="A"), MachineGroup(3, 8, gpu_type="B"), MachineGroup(2, name="cpu")]
    return Cluster.from_groups(groups, name="mixed")


def test_fairness_of_the_default_workloads():
    table = themis_fairness.themis_fairness(jobs=60, policies=POLICIES)
    assert [(row["workload"], row["policy"]) for row in table.rows] == [
        (name, policy) for name in ("themis-1", "themis-2") for policy in POLICIES
    ]
    for row in table.rows:
        assert 0 < row["min rho"] <= row["mean rho"] <= row["max rho"]
        assert 0 <= row["rho <= 1"] <= 100
    assert [row["paper max rho"] for row in table.rows] == [1.78, 2.5, 2.33, 2.82]
    assert len(themis_fairness.picture(table).axes) == 4


def test_greatest_rho_over_that_of_themis():
    tiny = "workload/themis-2?apps=2&largest=4&time_scale=0.2&seed=1"
    rows = themis_fairness.themis_fairness(tiny, policies=("srsf", "themis?f=0")).rows
    assert rows[0]["max to themis"] == pytest.approx(rows[0]["max rho"] / rows[1]["max rho"])
    assert rows[1]["max to themis"] == 1.0
    assert rows[0]["paper max to themis"] == pytest.approx(2.33 / 2.15)


def test_themis_is_skipped_without_machines():
    table = themis_fairness.themis_fairness(SMALL, 64, policies=("themis", "srsf"))
    assert [(row["policy"], row["max to themis"]) for row in table.rows] == [("srsf", None)]
    assert any("themis skipped: policy themis" in line for line in table.notes)


def test_figures_are_those_of_the_replay():
    rows = themis_fairness.themis_fairness(SMALL, "themis-testbed", policies=("srsf",), across_machines=1.0).rows
    found = replay(SMALL, "themis-testbed", "srsf")
    assert rows[0]["max rho"] == found.metrics["max_rho"]
    assert rows[0]["rho <= 1"] == pytest.approx(100 * np.mean(found.rho <= 1))
    # nothing is slowed down, so the GPU time is the work of the jobs
    assert rows[0]["time"] == pytest.approx(found.workload.gpu_seconds.sum() / 3600)


def test_slower_machines_take_more_gpu_time():
    fast, slow = (
        themis_fairness.themis_fairness(
            "workload/themis-2?apps=3&network=1&seed=1", "themis-testbed", policies=("srsf",), across_machines=value
        )
        for value in (1.0, 2.0)
    )
    assert slow.rows[0]["time"] > fast.rows[0]["time"]


def test_parts_of_a_cluster_keep_the_share_of_each_kind():
    whole = cluster()
    assert themis_contention.part(whole, 1) is whole
    for share in (2, 4):
        piece = themis_contention.part(whole, share)
        kinds = [piece.gpu_types.count(kind) for kind in ("A", "B", None)]
        assert kinds == [math.ceil(count / share) for count in (4, 3, 2)]
        assert set(piece.machines) <= set(whole.machines)
        assert piece.gpus_per_machine.max() == 8
        assert piece.name == f"mixed / {share}"


def test_parts_of_themis_testbed_are_half_and_a_quarter():
    table = themis_contention.themis_contention(SMALL, policies=("srsf",))
    assert [(row["contention"], row["GPUs"]) for row in table.rows] == [(1, 64), (2, 32), (4, 16)]
    table = themis_contention.themis_contention(SMALL, 64, policies=("srsf",), contentions=(1, 8))
    assert [row["GPUs"] for row in table.rows] == [64, 8]
    assert len(themis_contention.picture(table).axes) == 2


def test_rows_of_contention_are_replays_of_the_parts():
    rows = themis_contention.themis_contention(
        SMALL, cluster(), policies=POLICIES, contentions=(2,), across_machines=1.0
    ).rows
    found = replay(SMALL, themis_contention.part(cluster(), 2), POLICIES[1])
    assert rows[1]["max rho"] == found.metrics["max_rho"]


def test_shares_are_nested_and_change_nothing_else():
    workload = Workload.load("workload/themis-2?apps=10&seed=1")
    chosen = []
    for share in (0.0, 0.2, 0.5, 1.0):
        mixed = themis_network_share.with_share(workload, share, 3)
        apps = {
            app for app, flag in zip(mixed.texts("app"), mixed.frame["network_intensive"], strict=True) if flag is True
        }
        assert len(apps) == round(10 * share)
        assert mixed.frame.drop("network_intensive").equals(workload.frame.drop("network_intensive"))
        chosen.append(apps)
    assert all(few <= many for few, many in pairwise(chosen))


def test_jobs_without_an_app_are_apps():
    singles = Workload.from_columns({"id": ["a", "b"], "arrival": [0, 0], "gpus": [1, 1], "duration": [1, 1]})
    assert themis_network_share.with_share(singles, 0.5, 0).frame["network_intensive"].sum() == 1


def test_no_network_intensive_app_is_no_slowdown():
    table = themis_network_share.themis_network_share(SMALL, policies=POLICIES, shares=(0.0, 1.0), across_machines=3.0)
    assert [row["network-intensive"] for row in table.rows] == [0.0, 0.0, 100.0, 100.0]
    free = replay(SMALL, "themis-simulator", "srsf").metrics
    assert table.rows[0]["max rho"] == free["max_rho"]
    assert table.rows[0]["time"] == pytest.approx(free["gpu_seconds"] / 3600)
    assert table.rows[2]["time"] >= table.rows[0]["time"]
    assert len(themis_network_share.picture(table).axes) == 2


def test_slowdowns_of_one_make_every_share_alike():
    table = themis_network_share.themis_network_share(
        SMALL, policies=("srsf",), shares=(0.0, 0.4, 1.0), across_machines=1.0, across_racks=1.0
    )
    assert len({tuple(value for key, value in row.items() if key != "network-intensive") for row in table.rows}) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: themis_fairness.themis_fairness(SMALL, policies=("none",)), "unknown policy 'none'"),
        (
            lambda: themis_fairness.themis_fairness(SMALL, across_machines=0.5),
            "slowdown at rack must be a finite number >= 1",
        ),
        (
            lambda: themis_fairness.themis_fairness(SMALL, across_racks=0.5),
            "slowdown at cluster must be a finite number >= 1",
        ),
        (
            lambda: themis_contention.themis_contention(contentions=(0,)),
            r"contention must be an integer from 1 to 64 \(got 0\)",
        ),
        (
            lambda: themis_contention.themis_contention(SMALL, 8, policies=("srsf",), contentions=(4,)),
            "larger than the cluster with 2 GPUs",
        ),
        (
            lambda: themis_network_share.themis_network_share(SMALL, shares=(1.5,)),
            r"share must be a number from 0 to 1 \(got 1\.5\)",
        ),
        (
            lambda: themis_network_share.themis_network_share(SMALL, 64),
            r"cluster must have machines \(got a count of 64 GPUs\)",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
