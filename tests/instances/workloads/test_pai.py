"""The task table of Alibaba's PAI."""

import numpy as np
import pytest

from gangopt.errors import InputError

HEADER = "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type"
ROWS = (
    "aa,tensorflow,1,Terminated,100.0,400.0,600.0,29.3,50.0,T4\n"
    "bb,ps,2,Terminated,200.0,500.0,400.0,10.0,,CPU\n"
    "bb,worker,4,Terminated,210.0,650.0,600.0,20.0,100.0,V100\n"
    "cc,xComputeWorker,1,Waiting,,,600.0,20.0,100.0,\n"
    "dd,OpenmpiTracker,1,Failed,300.0,310.0,100.0,1.0,,\n"
    "ee,worker,2,Terminated,300.0,400.0,,,250.0,P100\n"
    "ee,evaluator,1,Running,350.0,,,,25.0,P100\n"
)


def test_tasks_of_a_job_become_one_gang(read, counts):
    workload = read(HEADER + "\n" + ROWS)
    assert workload.source.endswith("format pai")
    assert workload.ids == ("aa", "bb", "ee")
    assert workload.gpus.tolist() == [1, 4, 7]
    np.testing.assert_array_equal(workload.numbers("gpu_share"), [0.5, np.nan, 5.25])
    np.testing.assert_array_equal(workload.duration, [300, 450, np.nan])
    assert workload.arrival.tolist() == [100, 200, 300]
    np.testing.assert_array_equal(workload.numbers("ps"), [np.nan, 2, np.nan])
    np.testing.assert_array_equal(workload.numbers("workers"), [1, 4, np.nan])
    assert workload.numbers("cpu").tolist() == [6, 32, 0]
    assert workload.numbers("memory").tolist() == [29.3, 100, 0]
    assert workload.texts("gpu_type") == ("T4", "CPU|V100", "P100")
    assert workload.texts("status") == ("Terminated", "Terminated", "Running")
    assert counts(workload) == {
        "cpu-only": (1, True),
        "no-start": (1, True),
        "never-ended": (1, False),
        "arrival-is-start": (3, False),
    }


def test_the_header_stands_in_a_file_of_its_own_or_is_assumed(read, counts, tmp_path):
    assumed = read(ROWS, "pai_task_table.csv")
    assert counts(assumed)["assumed-header"] == (1, False)
    swapped = HEADER.replace("plan_cpu,plan_mem", "plan_mem,plan_cpu")
    (tmp_path / "pai_task_table.header").write_text(swapped + "\n")
    beside = read(ROWS, "pai_task_table.csv")
    assert "assumed-header" not in counts(beside)
    assert beside.numbers("memory")[0] == 600
    (tmp_path / "pai_task_table.header").write_text("job_name,task_name\n")
    with pytest.raises(
        InputError, match=r"pai_task_table.header: columns job_name, task_name; the task table has job_name"
    ):
        read(ROWS, "pai_task_table.csv")


@pytest.mark.parametrize(
    ("old", "new", "name", "message"),
    [
        (
            "aa,tensorflow,1,Terminated",
            "aa,tensorflow,1,Done",
            "unknown-states",
            "line 1: status 'Done', one of Terminated",
        ),
        ("aa,tensorflow,1", "aa,tensorflow,0", "bad-inst_num", "line 1: column inst_num: '0', a whole number from 1"),
        ("aa,tensorflow", ",tensorflow", "bad-job_name", "line 1: column job_name: nothing"),
        ("aa,tensorflow", "aa,", "bad-task_name", "line 1: column task_name: nothing"),
        ("100.0,400.0", "x,400.0", "bad-start_time", "line 1: column start_time: 'x'"),
        ("100.0,400.0", "500.0,400.0", "no-running-time", "line 1: job aa, task tensorflow ends before it starts"),
        ("600.0,29.3,50.0", "600.0,29.3,-50", "bad-plan_gpu", "line 1: column plan_gpu: '-50', a number from 0"),
    ],
)
def test_defects(read, counts, old, new, name, message):
    text = ROWS.replace(old, new, 1)
    with pytest.raises(InputError, match=message):
        read(text)
    workload = read(text, lenient=True)
    assert workload.ids == ("bb", "ee")
    assert counts(workload)[name] == (1, True)
