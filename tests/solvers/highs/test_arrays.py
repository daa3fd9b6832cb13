"""What arrays refuse before a solver sees them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from gangopt.base.errors import InputError, ModelTooLargeError
from gangopt.solvers.highs import LinearArrays
from gangopt.solvers.highs import arrays as module


def two_by_two(**changes):
    matrix = csr_matrix([[1.0, 2.0], [0.0, 3.0]])
    arrays = LinearArrays.from_matrix([1, 1], matrix, [0, 0], [4, 6], 0, 5, False, names=("first", "second"))
    return replace(arrays, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sense": "max"}, r"sense must be 'minimise' or 'maximise' \(got 'max'\)"),
        ({"lower": np.zeros(3)}, r"lower must have 2 entries \(got 3\)"),
        ({"upper": np.zeros(1)}, r"upper must have 2 entries \(got 1\)"),
        ({"integer": np.zeros(1, dtype=bool)}, "integer must have 2 entries"),
        ({"row_upper": np.zeros(1)}, "row_upper must have 2 entries"),
        ({"starts": np.array([0, 3])}, r"starts must have 3 entries \(got 2\)"),
        ({"indices": np.array([0])}, r"indices must have 3 entries \(got 1\)"),
        ({"rows": ("one",)}, r"rows must have 0 or 2 entries \(got 1\)"),
        ({"columns": ("one",)}, r"columns must have 0 or 2 entries \(got 1\)"),
        ({"starts": np.array([0, 4, 3])}, "starts must rise from 0"),
        ({"starts": np.array([1, 2, 3])}, "starts must rise from 0"),
        ({"indices": np.array([0, 2, 1])}, r"indices must be from 0 to 1"),
        ({"indices": np.array([-1, 0, 1])}, r"indices must be from 0 to 1"),
        ({"indices": np.array([1, 1, 1])}, "duplicate entry of column 1 in first"),
        ({"values": np.array([1.0, np.nan, 3.0])}, "first has the coefficient nan on column 1"),
        ({"values": np.array([1.0, 2.0, np.inf])}, "second has the coefficient inf on column 1"),
        ({"costs": np.array([1.0, np.nan])}, "column 1 has the objective coefficient nan"),
        ({"costs": np.array([1e21, 1.0])}, r"column 0 has the objective coefficient 1e\+21"),
        ({"offset": np.nan}, "the objective's constant must be finite"),
        ({"lower": np.array([0.0, np.nan])}, "column 1 has the lower bound nan"),
        ({"lower": np.array([0.0, np.inf])}, "column 1 has the lower bound inf"),
        ({"upper": np.array([np.nan, 1.0])}, "column 0 has the upper bound nan"),
        ({"upper": np.array([-1e30, 1.0])}, r"column 0 has the upper bound -1e\+30"),
        ({"row_lower": np.array([np.nan, 0.0])}, "first has the lower bound nan"),
        ({"row_upper": np.array([1.0, -np.inf])}, "second has the upper bound -inf"),
    ],
)
def test_bad_arrays_are_refused_by_name(changes, message):
    with pytest.raises(InputError, match=message):
        two_by_two(**changes).check()


def test_too_many_entries_are_refused(monkeypatch):
    monkeypatch.setattr(module, "_LARGEST_INDEX", 3)
    with pytest.raises(ModelTooLargeError, match="3 matrix entries; HiGHS takes fewer than 3"):
        two_by_two().check()


def test_entries_that_stand_twice_are_summed_from_a_matrix():
    twice = csr_matrix((np.array([1.0, 4.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    arrays = LinearArrays.from_matrix([1], twice, 0, 9, 0, 1, True)
    assert arrays.values.tolist() == [5.0]
    assert twice.nnz == 2
    assert arrays.is_mip


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), max_size=5))
def test_activity_is_the_matrix_product(rows):
    matrix = np.array(rows, dtype=float).reshape(-1, 3)
    m = len(matrix)
    arrays = LinearArrays.from_matrix(np.ones(3), matrix, np.full(m, -99), np.full(m, 99), -9, 9, False)
    x = np.array([1.5, -2.0, 4.0])
    assert arrays.activity(x) == pytest.approx(matrix @ x)
    assert arrays.objective(x) == 3.5
