"""GPU types, cores and memory requested by jobs: an error if no machine has them, else a notice."""

import json

import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.workload.fit import check_fit
from gangopt.replays.contest import contest
from gangopt.replays.ready import ignored_demands
from gangopt.reporting.contest import contest_json, write_contest
from gangopt.topology import Cluster, MachineGroup

CLUSTER = Cluster.from_groups(
    [MachineGroup(2, 4, capacities={"cpu": 64, "memory": 256}, gpu_type="V100", name="a")], name="lab"
)


def workload(**columns):
    n = len(next(iter(columns.values())))
    rows = {"id": [f"j{i}" for i in range(n)], "arrival": range(n), "gpus": [1] * n, "duration": [5] * n}
    return gangopt.Workload.from_columns(rows | columns)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"gpu_type": [None, "H100", "T4"]}, "needs 1 GPUs, but the cluster has 0 of type H100 (unplaceable: 2;"),
        ({"cpu": [1, 2000, 129]}, "needs 2000 cores, but the cluster has 128 (unplaceable: 2;"),
        ({"memory": [1, 513, 2000]}, "needs 513 GB, but the cluster has 512 (unplaceable: 2;"),
    ],
)
def test_jobs_that_no_machine_can_hold_are_refused(columns, reason):
    jobs = workload(**columns)
    message = f"job j1 cannot be placed on lab: {reason} a lenient reader skips such jobs)"
    with pytest.raises(InputError) as raised:
        gangopt.replay(jobs, CLUSTER, "fifo")
    assert str(raised.value) == message
    assert [entry.reason for entry in contest(jobs, CLUSTER, ["fifo"]).entries] == [message]
    kept = check_fit(jobs, CLUSTER, lenient=True)
    assert gangopt.replay(kept, CLUSTER, "fifo").workload.ids == ("j0",)


def test_demands_that_a_replay_ignores_are_counted():
    mixed = Cluster.from_groups(
        [
            MachineGroup(1, 4, capacities={"cpu": 64, "memory": 256}, gpu_type="V100", name="a"),
            MachineGroup(1, 4, capacities={"cpu": 64, "memory": 256}, gpu_type="H100", name="b"),
        ]
    )
    jobs = workload(gpu_type=["H100|V100", "H100", None], cpu=[0, 8, 16], memory=[None, None, 4.5])
    notices = gangopt.replay(jobs, mixed, "fifo").notices
    rule = "but replays place jobs by number of GPUs only"
    assert [(item.name, item.count, item.dropped, item.message) for item in notices] == [
        ("gpu-type-ignored", 1, False, f"job j1 requests GPUs of type H100, {rule}"),
        ("cpu-ignored", 2, False, f"job j1 requests 8 cores, {rule}"),
        ("memory-ignored", 1, False, f"job j2 requests 4.5 GB of memory, {rule}"),
    ]
    played = contest(jobs, mixed, ["fifo"])
    assert played.notices == notices
    assert contest_json(played)["notices"] == [vars(item) for item in notices]


def test_types_are_ignored_unless_all_machines_are_known_to_be_of_them():
    jobs = workload(gpu_type=["V100", "T4|V100"])
    unknown = Cluster.from_groups([MachineGroup(1, 4)])
    assert ignored_demands(jobs, CLUSTER) == ()
    assert [item.count for item in ignored_demands(jobs, unknown)] == [2]
    # counted GPUs have no type, and nothing is refused
    assert [item.count for item in gangopt.replay(jobs, 4, "fifo").notices] == [2]
    assert ignored_demands(workload(gpus=[1, 1]), None) == ()


def test_notices_are_in_files_too(tmp_path):
    played = contest(workload(cpu=[1, 2]), CLUSTER, ["fifo"])
    write_contest(played, tmp_path / "played.json")
    assert json.loads((tmp_path / "played.json").read_text())["notices"][0]["name"] == "cpu-ignored"
