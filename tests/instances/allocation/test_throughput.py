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
        ("", "empty, a header global_batch_size"),
        ("batch,1,2\n", "line 1: the first column is 'batch', global_batch_size is needed"),
        ("global_batch_size\n", "line 1: no GPU count"),
        ("global_batch_size,1,two\n", "line 1: GPU count 'two', a whole number"),
        ("global_batch_size,1,0\n", "line 1: GPU count '0'"),
        ("global_batch_size,1,5000\n", "line 1: GPU count '5000', a whole number from 1 to 4,096"),
        ("global_batch_size,2,1\n", "line 1: GPU count 1 after 2, ascending"),
        ("global_batch_size,1,1\n", "line 1: GPU count 1 after 1, ascending"),
        ("global_batch_size,1,2\n", "a header and no row"),
        ("global_batch_size,1,2\n64,0.4\n", "line 2: 2 fields, the header has 3"),
        ("global_batch_size,1\nsmall,0.4\n", "line 2, column global_batch_size: 'small', a whole number"),
        ("global_batch_size,1\n64,0.4\n\n64,0.5\n", "line 4: batch size 64 stands twice, first on line 2"),
        ("global_batch_size,1\n64,fast\n", "line 2, 1 GPUs: 'fast', steps per second, or 0 or nan"),
        ("global_batch_size,1\n64,-0.4\n", "line 2, 1 GPUs: -0.4 steps/s"),
        ("global_batch_size,1\n64,1e-16\n", "line 2, 1 GPUs: 1e-16 steps/s"),
        ("global_batch_size,1,2\n64,0,0.0\n", "line 2: no speed at any GPU count"),
        ("global_batch_size,1\n64,inf\n", "line 2, 1 GPUs: 'inf', steps per second, or 0 or nan"),
        ("global_batch_size,1\n64,1_0\n", "line 2, 1 GPUs: '1_0', steps per second, or 0 or nan"),
        ("global_batch_size,1\n64,\uff11\n", "line 2, 1 GPUs: '\uff11', steps per second, or 0 or nan"),
        ("global_batch_size,1,2\n64,nan,\n", "line 2: no speed at any GPU count"),
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
    with pytest.raises(InputError, match=r"no file that ends in \.csv"):
        read_throughputs(str(tmp_path))
    with pytest.raises(InputError, match="no such file"):
        read_throughputs(str(tmp_path / "absent.csv"))


def test_too_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("gangopt.instances.allocation.throughput.MAX_CURVES", 1)
    with pytest.raises(InputError, match="more than 1 rows"):
        read_throughputs(write(tmp_path, GOOD))
    monkeypatch.setattr("gangopt.instances.allocation.throughput.MAX_CURVES", 3)
    write(tmp_path, GOOD, "other.csv")
    with pytest.raises(InputError, match="4 rows in all, at most 3"):
        read_throughputs(str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gpus": 0}, "table: gpus=0"),
        ({"gpus": 8, "hours": 0.0}, "table: hours=0"),
        ({"gpus": 8, "jobs": 0}, "table: jobs=0"),
    ],
)
def test_arguments_out_of_range(tmp_path, arguments, message):
    with pytest.raises(InputError, match=message):
        table(write(tmp_path, GOOD), **arguments)
