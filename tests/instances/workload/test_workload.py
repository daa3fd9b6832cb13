"""A workload's columns, order, checks, slices and scaling."""

import pickle
import subprocess
import sys
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.workload.columns import COLUMNS
from gangopt.instances.workload.notices import Notice, Tally
from gangopt.instances.workload.workload import Workload

JOBS = {
    "id": ["c", "a", "b", "d"],
    "arrival": [5, 0, 5.5, 5],
    "gpus": np.array([1.0, 2, 4, 8]),
    "duration": [None, 10, 20.0, 30],
    "user": ["eve", None, "bob", "eve"],
    "vc": ["x", "x", "y", "y"],
    "deadline": [None, 100, 25.5, None],
    "start": [6, 0, 7, 8],
    "network_intensive": [True, None, False, None],
}


@pytest.fixture
def workload():
    return Workload.from_columns(JOBS, name="small", description="four jobs", source="here")


def test_jobs_are_sorted_by_arrival_and_ties_keep_their_order(workload):
    assert gangopt.Workload is Workload
    assert workload.ids == ("a", "c", "d", "b")
    assert workload.arrival.tolist() == [0, 5, 5, 5.5]
    assert workload.gpus.tolist() == [2, 1, 8, 4]
    assert workload.gpus.dtype == np.int64
    assert workload.gpu_seconds.tolist()[2:] == [240, 80]
    np.testing.assert_array_equal(workload.duration, [10, np.nan, 30, 20])
    np.testing.assert_array_equal(workload.work, [np.nan] * 4)
    assert workload.texts("user") == (None, "eve", "eve", "bob")
    np.testing.assert_array_equal(workload.numbers("network_intensive"), [np.nan, 1, np.nan, 0])
    assert len(workload) == 4
    assert repr(workload) == "Workload(name='small', jobs=4, gpus=15)"


def test_arrays_are_read_only_and_the_frame_has_every_column(workload):
    for array in (workload.arrival, workload.gpus, workload.duration, workload.work, workload.gpu_seconds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert workload.frame.columns == list(COLUMNS)
    assert workload.has("arrival")
    assert not workload.has("duration")
    assert not workload.has("nothing")


def test_equality_is_that_of_the_jobs_and_pickling_keeps_it(workload):
    other = Workload.from_columns(JOBS, notices=(Notice("odd", 1, "something"),))
    assert other == workload
    assert pickle.loads(pickle.dumps(workload)) == workload
    assert workload != workload.slice(1)
    assert workload != "small"


def test_series_arrays_and_whole_numbers_as_names_are_accepted():
    frame = pl.DataFrame({"id": [3, 1], "arrival": [1, 2], "gpus": [1, 1], "work": [float("nan"), 4]})
    workload = Workload.from_columns(frame.to_dict())
    assert workload.ids == ("3", "1")
    np.testing.assert_array_equal(workload.work, [np.nan, 4])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"gpus": [1, 0, 2, 2]}, r"column gpus, row 1: must be an integer from 1 to 1e15 \(got 0\)"),
        ({"gpus": [1, 1.5, 2, 2]}, r"column gpus, row 1: must be an integer from 1 to 1e15 \(got 1\.5\)"),
        ({"gpus": [1, 2, "a", 2]}, r"column gpus, row 2: must be an integer from 1 to 1e15 \(got 'a'\)"),
        ({"gpus": ["1", "2", "3", "4"]}, r"column gpus, row 0: must be an integer from 1 to 1e15 \(got '1'\)"),
        ({"gpus": [1, None, 2, 2]}, "column gpus, row 1: missing value; must be an integer from 1 to 1e15"),
        ({"gpus": [1, 2, 1e300, 2]}, r"column gpus, row 2: must be an integer from 1 to 1e15 \(got 1e\+300\)"),
        ({"arrival": [0, -1, 2, 2]}, r"column arrival, row 1: must be a number from 0 to 1e15 \(got -1.0\)"),
        ({"arrival": [0, 1, float("inf"), 2]}, r"column arrival, row 2: must be a number from 0 to 1e15 \(got inf\)"),
        ({"arrival": [0, 1, float("nan"), 2]}, "column arrival, row 2: missing value; must be a number from 0 to 1e15"),
        ({"duration": [0, 1, 2, 3]}, r"column duration, row 0: must be a number > 0 and <= 1e15 \(got 0\.0\)"),
        (
            {"duration": [True, False, True, True]},
            r"column duration, row 0: must be a number > 0 and <= 1e15 \(got True\)",
        ),
        ({"duration": [1, [2], 3, 3]}, r"column duration, row 1: must be a number > 0 and <= 1e15 \(got \[2\]\)"),
        ({"duration": [1, True, 2.5, 3]}, r"column duration, row 1: must be a number > 0 and <= 1e15 \(got True\)"),
        ({"id": ["a", "b", "a", "c"]}, "column id, rows 0 and 2: duplicate id 'a'"),
        (
            {"id": ["a", None, "b", "c"]},
            "column id, row 1: missing value; must be non-empty text without control characters and surrounding blanks",
        ),
        (
            {"id": [1.5, 2.5, 3.5, 4.5]},
            r"column id, row 0: must be non-empty text without control characters and surrounding blanks \(got 1\.5\)",
        ),
        (
            {"user": ["a", "", "b", "c"]},
            r"column user, row 1: must be non-empty text without control characters and surrounding blanks \(got ''\)",
        ),
        ({"network_intensive": [1, 0, 1, 1]}, r"column network_intensive, row 0: must be true or false \(got 1\)"),
        ({"phase": [None, 0, 1, 2]}, "column app, row 1: missing app of a phase"),
        (
            {"speed": [None, "fast", None, None]},
            r"column speed, row 1: speed 'fast': mode must be async or sync \(got 'fast'\)",
        ),
        ({"arrival": [1, 2]}, r"column arrival must have 4 values like column id \(got 2\)"),
        (
            {"arrival": [0, 10**400, 1, 2]},
            r"column arrival, row 1: must be a number from 0 to 1e15 \(got",
        ),
        (
            {"gpus": pl.Series([1, 2**63 + 5, 1, 1], dtype=pl.UInt64)},
            r"column gpus, row 1: must be an integer from 1 to 1e15 \(got 9223372036854775813\)",
        ),
        (
            {"gpus": [Decimal(1), Decimal("2.5"), Decimal(1), Decimal(1)]},
            r"column gpus, row 1: must be an integer from 1 to 1e15 \(got 2\.5\)",
        ),
        (
            {"user": {"a": 1, "b": 2, "c": 3, "d": 4}},
            r"column user must be a list, tuple, polars series or numpy array \(got \{'a': 1, 'b': 2, 'c': 3, 'd':",
        ),
        ({"user": "abcd"}, r"column user must be a list, tuple, polars series or numpy array \(got 'abcd'\)"),
        ({"gpus": 3}, r"column gpus must be a list, tuple, polars series or numpy array \(got 3\)"),
        (
            {"gpus": np.ones((4, 1))},
            r"column gpus must be a list, tuple, polars series or numpy array \(got array\(\[\[1\.\], \[1\.\],",
        ),
        (
            {"user": ["a", "b\nc", "d", "e"]},
            r"column user, row 1: must be non-empty text without control characters and surrounding blanks \(got",
        ),
        (
            {"user": ["a", "b ", "d", "e"]},
            r"column user, row 1: must be non-empty text without control characters and surrounding blanks \(got",
        ),
        (
            {"user": ["a", "\ud800", "d", "e"]},
            r"column user, row 1: must be non-empty text without control characters and surrounding blanks \(got",
        ),
        ({"gpu": [1, 2, 3, 4]}, "unknown column of a workload 'gpu'; did you mean 'gpus'"),
        (
            {"user": ["x" * 60, 1, "y", "z"]},
            r"column user, row 1: must be non-empty text without control characters and surrounding blanks \(got 1\)",
        ),
    ],
)
def test_every_value_is_checked(columns, message):
    with pytest.raises(InputError, match=message.replace("1e+15", r"1e\+15")):
        Workload.from_columns({**JOBS, **columns})


def test_a_required_column_is_named_with_its_meaning():
    with pytest.raises(InputError, match=r"missing column gpus \(size of the gang; a share of a GPU counts as one\)"):
        Workload.from_columns({"id": ["a"], "arrival": [0]})


def test_a_frame_of_other_columns_or_another_order_is_refused(workload):
    with pytest.raises(
        InputError, match="the frame of a workload must have the columns COLUMNS; create it with from_columns"
    ):
        Workload(workload.frame.drop("user"))
    with pytest.raises(InputError, match="column arrival, row 1: 5 s is earlier than that of the previous row"):
        Workload(workload.frame.reverse())


def test_columns_are_asked_for_by_their_kind(workload):
    with pytest.raises(
        InputError,
        match="unknown column of numbers 'user'; known: arrival, gpus, duration, work, steps, ps, workers, batch,",
    ):
        workload.numbers("user")
    with pytest.raises(InputError, match="unknown column of text 'arrival'; known: id, model"):
        workload.texts("arrival")


def test_require_names_what_is_missing_and_where_keeps_what_is_known(workload):
    workload.require("arrival", "gpus")
    with pytest.raises(InputError, match=r"workload small: 1 of 4 jobs have no duration \(running time .*first is c$"):
        workload.require("arrival", "duration")
    assert workload.where("duration").ids == ("a", "d", "b")
    workload.where("duration").require("duration")


def test_slices_by_time_user_and_virtual_cluster(workload):
    assert workload.slice(5, 5.5).ids == ("c", "d")
    assert workload.slice(end=5).ids == ("a",)
    assert workload.slice(user="eve", vc="y").ids == ("d",)
    assert workload.slice(user="eve", vc="y").arrival.tolist() == [5]
    assert workload.slice() == workload
    assert len(workload.slice(100)) == 0
    with pytest.raises(InputError, match=r"end must be > start=5 s \(got 5\)"):
        workload.slice(5, 5)
    with pytest.raises(InputError, match="unknown user of the workload 'evee'; did you mean 'eve'"):
        workload.slice(user="evee")
    with pytest.raises(InputError, match="unknown virtual cluster of the workload 'z'; known: x, y"):
        workload.slice(vc="z")
    plain = Workload.from_columns({"id": ["a"], "arrival": [0], "gpus": [1]})
    with pytest.raises(InputError, match="no job of the workload has a virtual cluster"):
        plain.slice(vc="x")


def test_scaled_load_moves_arrivals_and_deadlines_and_forgets_starts(workload):
    twice = workload.scale_load(2)
    assert twice.arrival.tolist() == [0, 2.5, 2.5, 2.75]
    np.testing.assert_array_equal(twice.numbers("deadline"), [100, np.nan, np.nan, 22.75])
    assert twice.frame["start"].null_count() == 4
    np.testing.assert_array_equal(twice.duration, workload.duration)
    assert len(workload.slice(100).scale_load(2)) == 0
    for factor in (0, -1, float("inf"), float("nan")):
        with pytest.raises(InputError, match=r"factor must be a finite number > 0 \(got "):
            workload.scale_load(factor)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.sampled_from([0.5, 2.0, 4.0]))
def test_order_is_stable_and_scaling_by_powers_of_two_is_undone(arrivals, factor):
    ids = [str(index) for index in range(len(arrivals))]
    workload = Workload.from_columns({"id": ids, "arrival": arrivals, "gpus": [1] * len(ids)})
    assert workload.ids == tuple(sorted(ids, key=lambda label: (arrivals[int(label)], int(label))))
    assert workload.scale_load(factor).scale_load(1 / factor) == workload


def test_a_tally_raises_or_counts():
    strict = Tally("log.csv")
    strict.refuse("odd", 0, "nothing")
    with pytest.raises(InputError, match=r"log\.csv: line 3: odd"):
        strict.refuse("odd", 2, "line 3: odd")
    lenient = Tally("log.csv", lenient=True)
    lenient.refuse("odd", 2, "line 3: odd")
    lenient.refuse("odd", 1, "line 9: odd")
    lenient.warn("late", 1, "line 4: late")
    assert lenient.notices == (Notice("odd", 3, "line 3: odd", True), Notice("late", 1, "line 4: late"))


def test_the_class_loads_without_polars():
    code = "import sys, gangopt; gangopt.Workload; print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_times_from_the_first_arrival():
    columns = {"id": ["a", "b"], "arrival": [7.5, 10], "gpus": [1, 2], "duration": [3, 4], "start": [8, 11]}
    jobs = Workload.from_columns(columns)
    assert jobs.begin == 7.5
    from_zero = jobs.from_zero()
    assert from_zero.arrival.tolist() == [0, 2.5]
    assert from_zero.duration.tolist() == [3, 4]
    assert not from_zero.has("start")
    assert from_zero.from_zero() is from_zero
    assert Workload.from_columns({"id": [], "arrival": [], "gpus": []}).begin == 0
