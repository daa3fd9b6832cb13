"""Two probes of a model: its distance from feasibility, and a direction of unbounded improvement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack

from gangopt.solvers.highs.arrays import LinearArrays

__all__ = ["directions", "elastic"]


def elastic(arrays: LinearArrays) -> LinearArrays:
    """Return the model that minimises the total violation of the rows; it always has an optimum.

    Parameters
    ----------
    arrays : LinearArrays
        The model; column bounds must not cross.

    Returns
    -------
    LinearArrays
        The model's columns, then two slacks per row; without conflict the optimum is 0.
    """
    m = arrays.n_rows
    identity = eye_array(m, format="csr")
    matrix = csr_array((arrays.values, arrays.indices, arrays.starts), shape=(m, arrays.n_columns))
    slack = np.zeros(2 * m)
    return LinearArrays.from_matrix(
        costs=np.concatenate([np.zeros(arrays.n_columns), slack + 1.0]),
        matrix=hstack([matrix, identity, -identity]),
        row_lower=arrays.row_lower,
        row_upper=arrays.row_upper,
        lower=np.concatenate([arrays.lower, slack]),
        upper=np.concatenate([arrays.upper, slack + np.inf]),
        integer=np.concatenate([arrays.integer, slack > 0]),
    )


def directions(arrays: LinearArrays) -> LinearArrays:
    """Return the linear program whose optimum is the best improving direction that stays feasible forever.

    Parameters
    ----------
    arrays : LinearArrays
        The model.

    Returns
    -------
    LinearArrays
        Columns within -1..1; with rational data and a feasible point, an optimum that improves proves that the
        model is unbounded (Meyer 1974: the relaxation's direction scaled to integers).
    """
    return replace(
        arrays,
        offset=0.0,
        lower=np.where(np.isfinite(arrays.lower), 0.0, -1.0),
        upper=np.where(np.isfinite(arrays.upper), 0.0, 1.0),
        integer=np.zeros(arrays.n_columns, dtype=np.bool_),
        row_lower=np.where(np.isfinite(arrays.row_lower), 0.0, -np.inf),
        row_upper=np.where(np.isfinite(arrays.row_upper), 0.0, np.inf),
    )
