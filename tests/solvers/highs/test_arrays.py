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
        ({"sense": "max"}, "sense is 'max'; allowed: minimise, maximise"),
        ({"lower": np.zeros(3)}, "lower has 3 entries; 2 are needed"),
        ({"upper": np.zeros(1)}, "upper has 1 entries; 2 are needed"),
        ({"integer": np.zeros(1, dtype=bool)}, "integer has 1 entries"),
        ({"row_upper": np.zeros(1)}, "row_upper has 1 entries"),
        ({"starts": np.array([0, 3])}, "starts has 2 entries; 3 are needed"),
        ({"indices": np.array([0])}, "indices has 1 entries; 3 are needed"),
        ({"rows": ("one",)}, "rows has 1 entries; none or 2 are needed"),
        ({"columns": ("one",)}, "columns has 1 entries; none or 2 are needed"),
        ({"starts": np.array([0, 4, 3])}, "starts must rise from 0"),
        ({"starts": np.array([1, 2, 3])}, "starts must rise from 0"),
        ({"indices": np.array([0, 2, 1])}, r"indices holds a column outside 0\.\.1"),
        ({"indices": np.array([-1, 0, 1])}, r"indices holds a column outside 0\.\.1"),
        ({"indices": np.array([1, 1, 1])}, "column 1 stands twice in first"),
        ({"values": np.array([1.0, np.nan, 3.0])}, "first has the coefficient nan on column 1"),
        ({"values": np.array([1.0, 2.0, np.inf])}, "second has the coefficient inf on column 1"),
        ({"costs": np.array([1.0, np.nan])}, "column 1 has the objective coefficient nan"),
        ({"costs": np.array([1e21, 1.0])}, r"column 0 has the objective coefficient 1e\+21"),
        ({"offset": np.nan}, "the objective has the constant nan"),
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
