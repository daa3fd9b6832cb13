"""Which pairs (p, w) to measure next, so that the fitted speed function becomes as certain as possible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.fitting.speed import Mode, check_mode, terms
from gangopt.instances.fitting.speed_functions import THETA_COUNT

__all__ = ["DEFAULT_MAX_TASKS", "admissible_pairs", "next_probes"]


DEFAULT_MAX_TASKS = 40
"""Containers of the paper's example cluster: 780 pairs."""

MAX_PAIRS, MAX_PROBES = 2_000_000, 1_000
RIDGE = 1e-9
"""Weight of the information that is assumed before the first measurement, so that the matrix has an inverse."""


def admissible_pairs(max_tasks: int, max_ps: int | None = None, max_workers: int | None = None) -> Ints:
    """Return the pairs with p + w <= max_tasks, fewest tasks first, among equals the lowest p first.

    Parameters
    ----------
    max_tasks : int
        Most tasks together, 2 or more.
    max_ps : int or None, optional
        Most parameter servers; None for no limit of their own.
    max_workers : int or None, optional
        Most workers; None for no limit of their own.

    Returns
    -------
    array
        Columns p and w, shape (n, 2).
    """
    if not 2 <= max_tasks <= MAX_PAIRS:
        raise InputError(f"max_tasks: {max_tasks}, 2 to {MAX_PAIRS:,} is allowed")
    for name, limit in (("max_ps", max_ps), ("max_workers", max_workers)):
        if limit is not None and limit < 1:
            raise InputError(f"{name}: {limit}, 1 or more is needed")
    P, W = min(max_ps or max_tasks, max_tasks - 1), min(max_workers or max_tasks, max_tasks - 1)
    if P * W > MAX_PAIRS:
        raise InputError(f"max_tasks: up to {P:,} x {W:,} pairs, at most {MAX_PAIRS:,} are looked at")
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
    r"""Return the pairs to measure next: one after the other the one whose predicted relative error varies most.

    With x(p, w) the row of the weighted fit (the terms of 1/f divided by 1/f) and X the sum of :math:`x x^T` over the
    measured pairs, the variance of the predicted relative error at a pair is proportional to :math:`x^T X^{-1} x`. The
    pair with the largest one is also the one that increases det X most, because
    :math:`\det(X + x x^T) = \det X\,(1 + x^T X^{-1} x)`: the greedy D-optimal design. A pair is chosen once, and none
    that is measured. Ties (nine digits) go to the fewest tasks p + w, then to the fewest parameter servers.

    Parameters
    ----------
    mode : Mode
        `async` or `sync`.
    measured : sequence of tuple of int
        Pairs (p, w) that are measured; may be empty.
    count : int, optional
        Pairs wanted, 0 to 1,000; fewer are returned if no more are admissible.
    batch : float or None, optional
        M, for `sync`.
    theta : sequence of float or None, optional
        Fitted coefficients, seconds; None weighs every term alike on average over the admissible pairs.
    max_tasks : int, optional
        Most tasks p + w.
    max_ps : int or None, optional
        Most parameter servers; None for no limit of their own.
    max_workers : int or None, optional
        Most workers; None for no limit of their own.

    Returns
    -------
    tuple of (p, w)
        In the order of choice.
    """
    check_mode(mode, batch)
    if not 0 <= count <= MAX_PROBES:
        raise InputError(f"count: {count} probes, 0 to {MAX_PROBES:,} is allowed")
    if theta is not None and len(theta) != THETA_COUNT[mode]:
        raise InputError(f"theta: {len(theta)} coefficients, mode {mode} has {THETA_COUNT[mode]}")
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
