"""The quantum that makes the Gittins index greatest, for every attained service at once."""

from __future__ import annotations

import numpy as np

from gangopt.base.types import Floats, Ints

__all__ = ["BestQuanta"]


class BestQuanta:
    r"""Pieces of attained service on which the best quantum ends at the same past job.

    With n past jobs S, let D(x) be the sum of min(S, x) and k(x) the number of S up to x. The index of a job that has
    attained a, for the quantum that ends at the past job s > a, is

    .. math:: G(a, s - a) = \frac{k(s) - k(a)}{D(s) - D(a)},

    the slope from the point (D(a), k(a)) to the point (D(s), k(s)). The steepest one ends on the upper hull of the
    points of all s > a. While a grows between two past jobs, the point moves to the right, and the steepest slope ends
    at nearer and nearer vertices of one hull. A vertex that is passed over is on no hull further to the left, so that
    there are at most two pieces a past job.

    Parameters
    ----------
    services : ndarray of float
        S in GPU s, ascending.
    sums : ndarray of float
        Of the first 0, 1, ..., n of them.
    """

    def __init__(self, services: Floats, sums: Floats) -> None:
        values, first = np.unique(services, return_index=True)
        n = len(services)
        # of the points at 0 and at every different service
        counts = np.append(first, n)
        at = np.append(0.0, values)
        area = sums[counts] + (n - counts) * at
        self._starts, before, end = _pieces(at, area, counts)
        self._values = values
        # where the pieces of each interval between two past jobs begin
        self._begins = np.searchsorted(before, np.arange(len(at)))
        self._ended = (counts[end] - counts[before]).astype(np.float64)
        self._left = (n - counts[before]).astype(np.float64)
        self._area = area[end] - sums[counts[before]]
        # beyond the longest past job nothing ends
        self._area[-1] = 1.0

    def index(self, attained: Floats, resolution: float) -> Floats:
        """Return the index of each job for its best quantum, 0 where no past job took more.

        Parameters
        ----------
        attained : ndarray of float
            GPU s.
        resolution : float
            GPU s; closer services are equal.

        Returns
        -------
        ndarray
            1 / GPU s, in the shape of the argument.
        """
        piece = self._starts.searchsorted(attained, side="right") - 1
        piece = np.maximum(piece, self._begins[self._values.searchsorted(attained + resolution, side="right")])
        return np.asarray(self._ended[piece] / (self._area[piece] - self._left[piece] * attained))


def _pieces(at: Floats, area: Floats, counts: Ints) -> tuple[Floats, Ints, Ints]:
    """Return where each piece begins in GPU s, the point before it, and the point at which its quantum ends."""
    x, y, service = area.tolist(), counts.tolist(), at.tolist()
    m = len(x) - 1
    pieces: list[tuple[float, int, int]] = [(service[m], m, m)]
    hull = [m]
    for point in range(m - 1, -1, -1):
        while len(hull) > 1:
            near, far = hull[-1], hull[-2]
            # where the line through both reaches the height of the point
            cross = x[near] - (y[near] - y[point]) * (x[far] - x[near]) / (y[far] - y[near])
            if cross <= x[point]:
                break
            pieces.append((service[point] + (cross - x[point]) / (y[m] - y[point]), point, near))
            hull.pop()
        pieces.append((service[point], point, hull[-1]))
        hull.append(point)
    starts, before, end = zip(*reversed(pieces), strict=True)
    # rounding must not put them out of order
    return np.maximum.accumulate(starts), np.array(before), np.array(end)
