"""Pod lists of openb."""

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.workload.machines import load_machines

HEAD = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
ROWS = (
    "p0,12000,16384,1,460,,LS,Running,0,100,5\n"
    "p1,64000,262144,8,1000,V100M16|V100M32|V100M32,BE,Pending,7,90,\n"
    "p2,4000,1024,0,0,,LS,Running,8,20,8\n"
)
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn0,96000,393216,8,V100M32\nn1,32000,65536,2,T4\nn2,64000,131072,0,\n"


def test_pods(read, counts):
    workload = read(HEAD + ROWS)
    assert workload.source.endswith("format openb")
    assert workload.ids == ("p0", "p1")
    assert workload.arrival.tolist() == [0, 7]
    np.testing.assert_array_equal(workload.duration, [95, np.nan])
    np.testing.assert_array_equal(workload.numbers("start"), [5, np.nan])
    np.testing.assert_array_equal(workload.numbers("gpu_share"), [0.46, np.nan])
    assert workload.gpus.tolist() == [1, 8]
    assert workload.numbers("workers").tolist() == [1, 1]
    assert workload.numbers("cpu").tolist() == [12, 64]
    assert workload.numbers("memory").tolist() == [16, 256]
    assert workload.texts("gpu_type") == (None, "V100M16|V100M32")
    assert workload.texts("status") == ("Running", "Pending")
    assert workload.frame["censored"].to_list() == [True, False]
    assert counts(workload) == {"cpu-only": (1, True), "never-ran": (1, False), "censored-durations": (1, False)}


def test_lists_without_times(read, counts):
    workload = read("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1000,1024,1,1000\np1,1000,1024,2,1000\n")
    assert workload.arrival.tolist() == [0, 0]
    assert not workload.has("duration")
    assert counts(workload) == {"no-times": (2, False), "equal-arrivals": (1, False)}


def test_pods_against_nodes(read, counts, tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text(NODES)
    cluster = load_machines(path)
    assert cluster.machines == ("n0", "n1", "n2")
    assert cluster.gpus_per_machine.tolist() == [8, 2, 0]
    assert cluster.gpu_types == ("V100M32", "T4", None)
    assert cluster.capacities[0].tolist() == [96, 8, 384]
    assert len(read(HEAD + ROWS, cluster=cluster)) == 2
    large = ROWS + "p3,120000,1024,8,1000,T4,LS,Running,9,20,9\np4,97000,1024,1,1000,,LS,Running,9,20,9\n"
    with pytest.raises(
        InputError,
        match=r"job p3 cannot be placed on nodes: needs 8 GPUs, but the cluster has 2 of type T4 \(unplaceable: 2;",
    ):
        read(HEAD + large, cluster=cluster)
    kept = read(HEAD + large, cluster=cluster, lenient=True)
    assert kept.ids == ("p0", "p1")
    assert counts(kept)["unplaceable"] == (2, True)


def test_pods_that_still_run_have_a_duration_that_is_a_lower_limit(read, counts):
    pods = (
        "p0,12000,16384,1,1000,,LS,Running,0,5000,0\n"
        "p1,12000,16384,1,1000,,LS,Succeeded,10,60,20\n"
        "p2,12000,16384,1,500,,LS,Running,10,5000,20\n"
        "p4,12000,16384,1,500,,LS,Running,11,,20\n"
    )
    workload = read(HEAD + pods)
    np.testing.assert_array_equal(workload.duration, [5000, 40, 4980, np.nan])
    assert workload.numbers("censored").tolist() == [1, 0, 1, 0]
    assert counts(workload)["censored-durations"] == (2, False)
    messages = {item.name: item.message for item in workload.notices}
    assert messages["censored-durations"] == ("job p0 does not end in the log; its duration of 5000 s is a lower limit")
    ended = workload.ended()
    assert ended.ids == ("p1",)
    assert counts(ended)["censored-durations"] == (2, True)
    text = HEAD + pods + "p3,4000,16384,1,1000,,BE,Failed,30,20,40\n"
    with pytest.raises(InputError, match="line 6: pod p3 is deleted at 20 s but scheduled only at 40 s"):
        read(text)
    assert read(text, lenient=True) == workload


@pytest.mark.parametrize(
    ("old", "new", "name", "message"),
    [
        (
            "1,460",
            "1,0",
            "bad-shares",
            r"line 2: gpu_milli must be from 1 to 1000, and 1000 for several GPUs \(got 0 with num_gpu 1\)",
        ),
        (
            "1,460",
            "1,1001",
            "bad-shares",
            r"line 2: gpu_milli must be from 1 to 1000, and 1000 for several GPUs \(got 1001 with num_gpu 1\)",
        ),
        (
            "1,460",
            "2,460",
            "bad-shares",
            r"line 2: gpu_milli must be from 1 to 1000, and 1000 for several GPUs \(got 460 with num_gpu 2\)",
        ),
        ("1,460", "x,460", "bad-num_gpu", r"line 2: column num_gpu must be an integer from 0 to 1e15 \(got 'x'\)"),
        ("12000", "-1", "bad-cpu_milli", r"line 2: column cpu_milli must be a number from 0 to 1e15 \(got '-1'\)"),
        ("0,100,5", "0,5,5", "no-running-time", "line 2: pod p0 is deleted at 5 s but scheduled only at 5 s"),
        ("0,100,5", "6,100,5", "early-starts", "line 2: pod p0 is scheduled before it is created"),
        (
            "0,100,5",
            ",100,5",
            "bad-creation_time",
            r"line 2: column creation_time must be a number from 0 to 1e15 \(got ''\)",
        ),
        ("p0", "", "bad-name", r"line 2: column name must be a name \(got ''\)"),
        ("p1", "p0", "duplicate-ids", "line 3: duplicate id 'p0'"),
    ],
)
def test_defects(read, counts, old, new, name, message):
    text = HEAD + ROWS.replace(old, new, 1)
    with pytest.raises(InputError, match=message):
        read(text)
    workload = read(text, lenient=True)
    assert len(workload) == 1
    assert counts(workload)[name] == (1, True)


def test_pods_that_run_or_wait_without_an_end_have_not_ended(read):
    rows = (
        "p0,1000,1024,1,1000,,,Running,0,5000,0\np1,1000,1024,1,1000,,,Succeeded,10,60,20\n"
        "p2,1000,1024,1,1000,,,Running,10,,30\np3,1000,1024,1,1000,,,Pending,10,60,\n"
    )
    workload = read(HEAD + rows)
    assert workload.frame["censored"].to_list() == [True, False, False, False]
    assert workload.ended().ids == ("p1",)


def test_a_list_without_phases_says_that_ends_cannot_be_told(read):
    head = HEAD.replace("pod_phase,", "")
    workload = read(head + "p0,1000,1024,1,1000,,,0,5000,0\n")
    assert "unknown-phases" in {item.name for item in workload.notices}
