"""Selection of the pairs (p, w) to measure next, which reduce the uncertainty of a fitted speed function most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangopt.base import checks
from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.allocation.speed_functions import THETA_COUNT
from gangopt.instances.fitting.speed_terms import Mode, check_mode, terms

__all__ = ["DEFAULT_MAX_TASKS", "admissible_pairs", "next_probes"]


DEFAULT_MAX_TASKS = 40
"""Number of containers in the example cluster of the paper, which gives 780 pairs."""

MAX_PAIRS, MAX_PROBES = 2_000_000, 1_000
RIDGE = 1e-9
"""Weight of the information assumed before the first measurement, which makes the matrix invertible."""


def admissible_pairs(max_tasks: int, max_ps: int | None = None, max_workers: int | None = None) -> Ints:
    """Return the pairs with p + w <= max_tasks, sorted by p + w, then by p.

    Parameters
    ----------
    max_tasks : int
        Largest number of tasks p + w, at least 2.
    max_ps : int or None, optional
        Largest number of parameter servers; None means no separate limit.
    max_workers : int or None, optional
        Largest number of workers; None means no separate limit.

    Returns
    -------
    array
        Columns p and w, shape (n, 2).
    """
    checks.integer("max_tasks", max_tasks, 2, MAX_PAIRS)
    for name, limit in (("max_ps", max_ps), ("max_workers", max_workers)):
        if limit is not None:
            checks.integer(name, limit, 1)
    P, W = min(max_ps or max_tasks, max_tasks - 1), min(max_workers or max_tasks, max_tasks - 1)
    if P * W > MAX_PAIRS:
        raise InputError(f"max_tasks: {P:,} x {W:,} pairs exceed the limit of {MAX_PAIRS:,}")
    p, w = (grid.ravel() for grid in np.mgrid[1 : P + 1, 1 : W + 1])
    inside = p + w <= max_tasks
    order = np.lexsort((p[inside], p[inside] + w[inside]))
    return np.stack((p[inside], w[inside]), axis=1)[order]


def next_probes(
    mode: Mode,
    measured: Sequence[tuple[int, int]],
    count: int = 1,
    *,
    batch: float | None = None,
    theta: Sequence[float] | None = None,
    max_tasks: int = DEFAULT_MAX_TASKS,
    max_ps: int | None = None,
    max_workers: int | None = None,
) -> tuple[tuple[int, int], ...]:
    r"""Select pairs to measure next, each with the largest variance of the predicted relative error.

    With x(p, w) the row of the weighted fit (the terms of 1/f divided by 1/f) and X the sum of :math:`x x^T` over the
    measured pairs, the variance of the predicted relative error at a pair is proportional to :math:`x^T X^{-1} x`. The
    pair with the largest variance also increases det X most, because
    :math:`\det(X + x x^T) = \det X\,(1 + x^T X^{-1} x)`: this is the greedy D-optimal design. Only unmeasured pairs
    are selected, each once. Ties (to nine digits) go to the smallest p + w, then to the smallest p.

    Parameters
    ----------
    mode : Mode
        `async` or `sync`.
    measured : sequence of tuple of int
        Measured pairs (p, w); may be empty.
    count : int, optional
        Number of pairs, from 0 to 1,000; fewer are returned if no more are admissible.
    batch : float or None, optional
        Samples in the global batch M, for `sync`.
    theta : sequence of float or None, optional
        Fitted coefficients in s; None gives all terms the same mean over the admissible pairs.
    max_tasks : int, optional
        Largest number of tasks p + w.
    max_ps : int or None, optional
        Largest number of parameter servers; None means no separate limit.
    max_workers : int or None, optional
        Largest number of workers; None means no separate limit.

    Returns
    -------
    tuple of (p, w)
        Selected pairs in order of selection.
    """
    check_mode(mode, batch)
    checks.integer("count", count, 0, MAX_PROBES, "probes")
    if theta is not None and len(theta) != THETA_COUNT[mode]:
        raise InputError(f"theta must have {THETA_COUNT[mode]} coefficients in mode {mode} (got {len(theta)})")
    pairs = admissible_pairs(max_tasks, max_ps, max_workers)
    columns = terms(mode, batch, pairs[:, 0], pairs[:, 1])
    scale = columns.mean(axis=0)
    coefficients = 1 / scale if theta is None else np.array(theta, dtype=np.float64)
    rows = _weighted(columns, coefficients) / scale
    known = np.array(measured, dtype=np.int64).reshape(-1, 2)
    done = _weighted(terms(mode, batch, known[:, 0], known[:, 1]), coefficients) / scale
    unit = np.linalg.norm(rows, axis=0)
    rows, done = rows / unit, done / unit
    open_pairs = ~np.isin(_keys(pairs), _keys(known))
    information = done.T @ done + RIDGE * np.eye(rows.shape[1])
    chosen: list[tuple[int, int]] = []
    while len(chosen) < count and open_pairs.any():
        variance = np.einsum("ij,ij->i", rows, np.linalg.solve(information, rows.T).T)
        variance = np.where(open_pairs, variance, -np.inf)
        best = int(np.argmax(variance >= variance.max() * (1 - 1e-9)))
        chosen.append((int(pairs[best, 0]), int(pairs[best, 1])))
        open_pairs[best] = False
        information += np.outer(rows[best], rows[best])
    return tuple(chosen)


def _weighted(columns: Floats, theta: Floats) -> Floats:
    seconds: Floats = columns @ theta
    return columns / seconds[:, None]


def _keys(pairs: Ints) -> Ints:
    return pairs[:, 0] * (10**9) + pairs[:, 1]
