"""Workloads from data frames of polars and pandas."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gangopt import Workload
from gangopt.base.errors import InputError

COLUMNS = {
    "id": ["b", "a", "c"],
    "arrival": [5.0, 0.0, 7.5],
    "gpus": [1, 2, 4],
    "duration": [10.0, 2.5, None],
    "user": ["ann", None, "bob"],
}
EXPECTED = Workload.from_columns(COLUMNS, name="three")


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_frame_gives_the_workload_of_its_columns(make):
    found = Workload.from_frame(make(COLUMNS), name="three")
    assert found == EXPECTED
    assert found.name == "three"
    assert found.ids == ("a", "b", "c")


def test_missing_values_of_pandas_are_unknown_whatever_their_kind():
    frame = pd.DataFrame(COLUMNS).astype({"user": "string", "duration": "Float64"})
    frame.loc[1, "user"] = pd.NA
    assert Workload.from_frame(frame) == EXPECTED
    frame = pd.DataFrame(COLUMNS | {"duration": [10.0, 2.5, np.nan]}, index=[7, 8, 9])
    assert Workload.from_frame(frame) == EXPECTED


def test_frame_of_a_workload_gives_it_back():
    assert Workload.from_frame(EXPECTED.frame) == EXPECTED


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_invalid_frames_are_named(make):
    with pytest.raises(InputError, match="columns must be a mapping of names to sequences; use from_frame"):
        Workload.from_columns(make(COLUMNS))
    with pytest.raises(InputError, match="unknown column of a workload 'submitted'"):
        Workload.from_frame(make(COLUMNS | {"submitted": [1, 2, 3]}))
    with pytest.raises(InputError, match=r"gpus, row 1"):
        Workload.from_frame(make(COLUMNS | {"gpus": [1, 0, 2]}))


def test_other_values_are_refused():
    with pytest.raises(InputError, match=r"frame must be a polars or pandas DataFrame \(got 3\)"):
        Workload.from_frame(3)
