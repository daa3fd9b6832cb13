"""Workloads of the Pollux and Sia simulators."""

import pytest

from gangopt.base.errors import InputError

HEAD = "name,time,application,num_replicas,batch_size\n"
ROWS = "cifar10-0,107,cifar10,6,2048\nncf-1,110,ncf,1,32768\n"


def test_jobs_without_running_times(read, counts):
    workload = read(HEAD + ROWS)
    assert workload.source.endswith("format adaptdl")
    assert workload.ids == ("cifar10-0", "ncf-1")
    assert workload.arrival.tolist() == [107, 110]
    assert workload.gpus.tolist() == [6, 1]
    assert workload.numbers("batch").tolist() == [2048, 32768]
    assert workload.texts("model") == ("cifar10", "ncf")
    assert counts(workload) == {"no-durations": (2, False)}
    with pytest.raises(InputError, match="2 of 2 jobs have no duration"):
        workload.require("duration")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("ncf-1,110,ncf,1,64", "duplicate id 'ncf-1'"),
        (",110,ncf,1,64", r"column name must be a name \(got ''\)"),
        ("a,-1,ncf,1,64", r"column time must be a number from 0 to 1e15 \(got '-1'\)"),
        ("a,1,ncf,0,64", r"column num_replicas must be an integer from 1 to 1e15 \(got '0'\)"),
        ("a,1,ncf,1,0", r"column batch_size must be a number > 0 and <= 1e15 \(got '0'\)"),
    ],
)
def test_defects(read, row, message):
    with pytest.raises(InputError, match=f"line 4: {message}"):
        read(HEAD + ROWS + row + "\n")
    assert len(read(HEAD + ROWS + row + "\n", lenient=True)) == 2


def test_columns_of_other_copies_are_named(read, counts):
    workload = read("name,time,application,num_replicas,batch_size,category\na,1,ncf,1,64,small\n")
    assert counts(workload)["ignored-columns"] == (1, False)
