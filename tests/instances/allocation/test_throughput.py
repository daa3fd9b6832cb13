"""Throughput tables by GPU count: holes, curves that fall, several files, and one message for each defect."""

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.allocation.throughput import read_throughputs, table

GOOD = "global_batch_size,1,2,4,8\n64,0.4,0.8,nan,0.6\n128,nan,0.5,0.9,\n"


def write(folder, text, name="model.csv"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_rows_become_all_reduce_jobs(tmp_path):
    instance = table(write(tmp_path, GOOD), gpus=8, hours=2.0)
    assert instance.jobs == instance.table_labels == ("model-64", "model-128")
    assert instance.capacity.tolist() == [8.0]
    assert instance.max_workers.tolist() == [8, 8]
    assert instance.max_ps.tolist() == [1, 1]
    assert not instance.ps_demand.any()
    assert instance.completion_time(0, 1, 1) == pytest.approx(2 * 3600)
    assert instance.completion_time(0, 1, 2) == pytest.approx(3600)
    assert instance.completion_time(0, 1, 8) > instance.completion_time(0, 1, 2)
    assert instance.completion_time(0, 1, 3) == instance.completion_time(0, 1, 4) == np.inf
    assert instance.completion_time(1, 1, 1) == np.inf
    assert instance.completion_time(1, 1, 2) == pytest.approx(2 * 3600)


def test_a_directory_is_joined_by_name_and_solved(tmp_path):
    write(tmp_path, GOOD, "b.csv")
    write(tmp_path, GOOD.replace("\n", "\r\n"), "a.csv")
    write(tmp_path, "no table", "readme.txt")
    assert [curve.label for curve in read_throughputs(str(tmp_path))] == ["a-64", "a-128", "b-64", "b-128"]
    name = f"allocation/table?file={tmp_path}&gpus=16&jobs=6&seed=1"
    instance = gangopt.load(name)
    assert instance.name == name
    assert instance == gangopt.load(name)
    result = gangopt.solve(instance)
    assert result.termination == "optimal"
    assert result.metrics["tasks"] == sum(result.solution.workers)


def test_zero_says_that_a_job_does_not_run_on_so_many_gpus(tmp_path):
    instance = table(write(tmp_path, "global_batch_size,1,2,4,8\n128,10.5,19.0,0,0.0\n"), gpus=8)
    allowed = [w for w in range(1, 9) if np.isfinite(instance.completion_time(0, 1, w))]
    assert allowed == [1, 2]
    assert gangopt.solve(instance).solution.workers == (2,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"model\.csv: the file is empty; it must have a header global_batch_size,1,2,\.\.\."),
        ("batch,1,2\n", r"model\.csv, line 1: the first column must be global_batch_size \(got 'batch'\)"),
        ("global_batch_size\n", "line 1: no GPU count"),
        (
            "global_batch_size,1,two\n",
            r"model\.csv, line 1: a GPU count must be an integer from 1 to 4,096 \(got 'two'\)",
        ),
        ("global_batch_size,1,0\n", r"model\.csv, line 1: a GPU count must be an integer from 1 to 4,096 \(got '0'\)"),
        (
            "global_batch_size,1,5000\n",
            r"model\.csv, line 1: a GPU count must be an integer from 1 to 4,096 \(got '5000'\)",
        ),
        ("global_batch_size,2,1\n", r"model\.csv, line 1: GPU counts must ascend \(got 1 after 2\)"),
        ("global_batch_size,1,1\n", r"model\.csv, line 1: GPU counts must ascend \(got 1 after 1\)"),
        ("global_batch_size,1,2\n", r"model\.csv: no rows after the header"),
        (
            "global_batch_size,1,2\n64,0.4\n",
            r"model\.csv, line 2: a row must have 3 fields, as the header has \(got 2\)",
        ),
        (
            "global_batch_size,1\nsmall,0.4\n",
            r"model\.csv, line 2: global_batch_size must be an integer >= 1 \(got 'small'\)",
        ),
        ("global_batch_size,1\n64,0.4\n\n64,0.5\n", r"model\.csv, line 4: duplicate batch size 64, first on line 2"),
        (
            "global_batch_size,1\n64,fast\n",
            r"model\.csv, line 2, 1 GPUs: a speed must be a number, or nan if the job does not run \(got 'fast'\)",
        ),
        (
            "global_batch_size,1\n64,-0.4\n",
            r"model\.csv, line 2, 1 GPUs: a speed must be 0 or from 1e-15 to 1e15 steps/s \(got -0\.4\)",
        ),
        (
            "global_batch_size,1\n64,1e-16\n",
            r"model\.csv, line 2, 1 GPUs: a speed must be 0 or from 1e-15 to 1e15 steps/s \(got 1e-16\)",
        ),
        ("global_batch_size,1,2\n64,0,0.0\n", r"model\.csv, line 2: no speed for any GPU count"),
        (
            "global_batch_size,1\n64,inf\n",
            r"model\.csv, line 2, 1 GPUs: a speed must be a number, or nan if the job does not run \(got 'inf'\)",
        ),
        (
            "global_batch_size,1\n64,1_0\n",
            r"model\.csv, line 2, 1 GPUs: a speed must be a number, or nan if the job does not run \(got '1_0'\)",
        ),
        (
            "global_batch_size,1\n64,\uff11\n",
            r"model\.csv, line 2, 1 GPUs: a speed must be a number, or nan if the job does not run \(got '１'\)",
        ),
        ("global_batch_size,1,2\n64,nan,\n", r"model\.csv, line 2: no speed for any GPU count"),
        (b"\xff\xfe\x00", "not UTF-8"),
        ('global_batch_size,1\n"' + "x" * 200_000 + '",1\n', "not a CSV file"),
    ],
)
def test_every_defect_has_its_message(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=message) as caught:
        read_throughputs(path)
    assert str(caught.value).startswith(path)
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="no CSV file in this directory"):
        read_throughputs(str(tmp_path))
    with pytest.raises(InputError, match="no such file"):
        read_throughputs(str(tmp_path / "absent.csv"))


def test_too_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("gangopt.instances.allocation.throughput.MAX_CURVES", 1)
    with pytest.raises(InputError, match=r"model\.csv: too many rows, at most 1 are allowed"):
        read_throughputs(write(tmp_path, GOOD))
    monkeypatch.setattr("gangopt.instances.allocation.throughput.MAX_CURVES", 3)
    write(tmp_path, GOOD, "other.csv")
    with pytest.raises(InputError, match=r"too many rows, at most 3 are allowed \(got 4\)"):
        read_throughputs(str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gpus": 0}, r"allocation/table: gpus must be an integer from 1 to "),
        ({"gpus": 8, "hours": 0.0}, r"allocation/table: hours must be a number > 0 and <= 1,000,000 \(got 0\.0\)"),
        ({"gpus": 8, "jobs": 0}, r"allocation/table: jobs must be an integer from 1 to 100,000 \(got 0\)"),
    ],
)
def test_arguments_out_of_range(tmp_path, arguments, message):
    with pytest.raises(InputError, match=message):
        table(write(tmp_path, GOOD), **arguments)
