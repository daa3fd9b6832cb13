"""Logs of the Helios clusters."""

import numpy as np
import pytest

from gangopt.base.errors import InputError

HEAD = "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
ROWS = (
    "5,u1,vcA,8,32,1,COMPLETED,2020-04-01 00:00:10,2020-04-01 00:00:20,2020-04-01 00:01:20,60,10\n"
    "6,u2,vcB,12,48,3,CANCELLED,2020-04-01 00:01:10,2020-04-01 00:01:10,2020-04-01 00:01:10,0,0\n"
    "7,u1,vcA,0,4,1,FAILED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:30,30,0\n"
    "8,u1,vcA,7,4,2,TIMEOUT,2020-04-01 00:02:10,2020-04-01 00:02:10,2020-04-01 00:03:10,50,0\n"
)


def test_gpu_jobs_in_seconds_since_the_first_submission(read, counts):
    workload = read(HEAD + ROWS)
    assert workload.source.endswith("format helios")
    assert workload.ids == ("5", "6", "8")
    assert workload.arrival.tolist() == [0, 60, 120]
    np.testing.assert_array_equal(workload.duration, [60, np.nan, 50])
    assert workload.numbers("start").tolist() == [10, 60, 120]
    assert workload.gpus.tolist() == [8, 12, 7]
    np.testing.assert_array_equal(workload.numbers("workers"), [1, 3, np.nan])
    assert workload.numbers("cpu").tolist() == [32, 48, 4]
    assert workload.texts("user") == ("u1", "u2", "u1")
    assert workload.texts("vc") == ("vcA", "vcB", "vcA")
    assert workload.texts("status") == ("COMPLETED", "CANCELLED", "TIMEOUT")
    assert counts(workload) == {"cpu-only": (1, True), "never-ran": (1, False), "uneven-durations": (1, False)}


def test_jobs_without_times_never_ran(read, counts):
    workload = read(HEAD + "5,u1,,8,32,0,CANCELLED,2020-04-01 00:00:10,None,,,\n")
    np.testing.assert_array_equal(workload.duration, [np.nan])
    np.testing.assert_array_equal(workload.numbers("start"), [np.nan])
    assert workload.texts("vc") == (None,)
    assert counts(workload) == {"never-ran": (1, False)}


def test_jobs_that_still_run_have_a_duration_that_is_a_lower_limit(read, counts):
    workload = read(HEAD + ROWS.replace("COMPLETED", "RUNNING").replace("CANCELLED", "PENDING"))
    assert workload.numbers("censored").tolist() == [1, 0, 0]
    assert counts(workload)["censored-durations"] == (1, False)


@pytest.mark.parametrize(
    ("old", "new", "name", "message"),
    [
        (
            "COMPLETED",
            "DONE",
            "unknown-states",
            r"line 2: state must be one of COMPLETED, CANCELLED, FAILED, TIMEOUT, NODE_FAIL, RUNNING, PENDING",
        ),
        (
            "2020-04-01 00:00:10",
            "1 April",
            "bad-submit_time",
            r"line 2: column submit_time must be a time such as 2017-10-07 01:11:39 \(got '1 April'\)",
        ),
        (
            "2020-04-01 00:00:20",
            "x",
            "bad-start_time",
            r"line 2: column start_time must be a time such as 2017-10-07 01:11:39 \(got 'x'\)",
        ),
        ("00:00:20", "00:00:05", "early-starts", "line 2: job 5 starts before it is submitted"),
        (
            "5,u1,vcA,8",
            "5,u1,vcA,-8",
            "bad-gpu_num",
            r"line 2: column gpu_num must be an integer from 0 to 1e15 \(got '-8'\)",
        ),
        ("5,u1,vcA", ",u1,vcA", "bad-job_id", r"line 2: column job_id must be a name \(got ''\)"),
        ("5,u1,vcA", "6,u1,vcA", "duplicate-ids", "line 3: duplicate id '6'"),
        (",60,10", ",x,10", "bad-duration", r"line 2: column duration must be a number from 0 to 1e15 \(got 'x'\)"),
        ("8,32,1,", "8,x,1,", "bad-cpu_num", r"line 2: column cpu_num must be a number from 0 to 1e15 \(got 'x'\)"),
        (
            "8,32,1,",
            "8,32,1.5,",
            "bad-node_num",
            r"line 2: column node_num must be an integer from 0 to 1e15 \(got '1\.5'\)",
        ),
    ],
)
def test_defects(read, counts, old, new, name, message):
    text = HEAD + ROWS.replace(old, new, 1)
    with pytest.raises(InputError, match=message):
        read(text)
    workload = read(text, lenient=True)
    assert len(workload) == 2
    assert counts(workload)[name] == (1, True)


def test_only_cpu_jobs_leave_nothing(read):
    with pytest.raises(InputError, match=r"log\.csv: no valid jobs in the file \(cpu-only 1\)"):
        read(HEAD + ROWS.splitlines()[2] + "\n")
