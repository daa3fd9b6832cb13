"""Classes of equal rows."""

import numpy as np

from gangopt.base.rows import classes_of_equal_rows


def test_rows_are_equal_whatever_the_sign_of_zero_and_with_unknown_values():
    table = np.array([[1.0, np.nan], [0.0, 2.0], [1.0, np.nan], [-0.0, 2.0], [1.0, 3.0]])
    assert classes_of_equal_rows([table]) == ((0, 2), (1, 3), (4,))
    assert classes_of_equal_rows([table, np.array([0.0, 1.0, 1.0, 1.0, 0.0])]) == ((0,), (1, 3), (2,), (4,))
