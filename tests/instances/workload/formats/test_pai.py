"""The task table of Alibaba's PAI."""

import numpy as np
import pytest

from gangopt.base.errors import InputError

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
        InputError,
        match=r"pai_task_table\.header: columns must be job_name, task_name, inst_num, status, .* in any order",
    ):
        read(ROWS, "pai_task_table.csv")


@pytest.mark.parametrize(
    ("old", "new", "name", "message"),
    [
        (
            "aa,tensorflow,1,Terminated",
            "aa,tensorflow,1,Done",
            "unknown-states",
            r"line 1: status must be one of Terminated, Running, Waiting, Failed \(got 'Done'\)",
        ),
        (
            "aa,tensorflow,1",
            "aa,tensorflow,0",
            "bad-inst_num",
            r"line 1: column inst_num must be an integer from 1 to 1e15 \(got '0'\)",
        ),
        ("aa,tensorflow", ",tensorflow", "bad-job_name", r"line 1: column job_name must be a name \(got ''\)"),
        ("aa,tensorflow", "aa,", "bad-task_name", r"line 1: column task_name must be a name \(got ''\)"),
        (
            "100.0,400.0",
            "x,400.0",
            "bad-start_time",
            r"line 1: column start_time must be a number from 0 to 1e15 \(got 'x'\)",
        ),
        ("100.0,400.0", "500.0,400.0", "no-running-time", "line 1: job aa, task tensorflow ends before it starts"),
        (
            "600.0,29.3,50.0",
            "600.0,29.3,-50",
            "bad-plan_gpu",
            r"line 1: column plan_gpu must be a number from 0 to 1e15 \(got '-50'\)",
        ),
    ],
)
def test_defects(read, counts, old, new, name, message):
    text = ROWS.replace(old, new, 1)
    with pytest.raises(InputError, match=message):
        read(text)
    workload = read(text, lenient=True)
    assert workload.ids == ("bb", "ee")
    assert counts(workload)[name] == (1, True)


def gangs(workload):
    return dict(zip(workload.ids, workload.gpus.tolist(), strict=True))


GANGS = (
    "aa,worker,4,Terminated,100,900,600,29,100,V100\n"
    "aa,chief,1,Terminated,100,800,600,29,100,V100\n"
    "bb,worker,2,Terminated,100,500,600,29,100,V100\n"
    "bb,ps,2,Terminated,100,500,600,29,,V100\n"
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("aa,chief,1,Terminated,100,800", "aa,chief,0,Terminated,100,800"),
        ("aa,chief,1,Terminated,100,800", "aa,chief,1,Done,100,800"),
        ("aa,chief,1,Terminated,100,800", "aa,chief,1,Terminated,100,800,7"),
        ("aa,chief,1,Terminated,100,800", "aa,chief,1"),
        ("aa,chief,1,Terminated,100,800", "7,aa,chief,1,Terminated,100,800"),
        ("aa,worker,4", "aa,,4"),
        ("29,100,V100\naa,chief", "29,-100,V100\naa,chief"),
    ],
)
def test_a_gang_with_a_defective_row_is_left_out_whole(read, counts, old, new):
    text = GANGS.replace(old, new)
    assert text != GANGS
    with pytest.raises(InputError):
        read(text, format="pai")
    workload = read(text, format="pai", lenient=True)
    assert gangs(workload) == {"bb": 2}
    assert counts(workload)["partial-gangs"] == (1, True)


@pytest.mark.parametrize("times", ["100,0", "-5,800", "x,800", "100,1e99"])
def test_a_task_with_defective_times_keeps_its_gpus_in_the_gang(read, counts, times):
    for task, kept in (("aa,chief,1", [400]), ("bb,ps,2", [800])):
        old = f"{task},Terminated,100,{'800' if task[0] == 'a' else '500'}"
        workload = read(GANGS.replace(old, f"{task},Terminated,{times}"), format="pai", lenient=True)
        assert gangs(workload) == {"aa": 5, "bb": 2}
        assert workload.numbers("ps").tolist()[1] == 2
        assert workload.arrival.tolist() == [100, 100]
        assert workload.duration[np.isfinite(workload.duration)].tolist() == kept
        assert counts(workload)["untimed-tasks"] == (1, False)


def test_both_kinds_of_defect_in_one_file(read):
    text = (
        "j1,worker,4,Terminated,100,900,600,29,100,V100\nj1,chief,1,Terminated,100,0,600,29,100,V100\n"
        "j2,worker,2,Terminated,100,500,600,29,100,V100\nj2,ps,2,Terminated,-5,500,600,29,,V100\n"
    )
    workload = read(text, format="pai", lenient=True)
    assert gangs(workload) == {"j1": 5, "j2": 2}
    assert np.isnan(workload.duration).all()


def test_a_job_with_a_running_task_has_a_duration_that_is_a_lower_limit(read, counts):
    workload = read(GANGS.replace("aa,chief,1,Terminated", "aa,chief,1,Running"), format="pai")
    assert workload.duration.tolist() == [800, 400]
    assert workload.numbers("censored").tolist() == [1, 0]
    assert counts(workload)["censored-durations"] == (1, False)
