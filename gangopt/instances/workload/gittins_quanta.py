"""Quanta that maximise the Gittins index, for all attained services."""

from __future__ import annotations

import numpy as np

from gangopt.base.types import Floats, Ints

__all__ = ["BestQuanta"]


class BestQuanta:
    r"""Intervals of attained service in which the best quantum ends at the same past job.

    With n past jobs S, let D(x) be the sum of min(S, x) and k(x) the number of S <= x. The index of a job with attained
    service a, for the quantum that ends at the past job s > a, is

    .. math:: G(a, s - a) = \frac{k(s) - k(a)}{D(s) - D(a)},

    the slope from the point (D(a), k(a)) to the point (D(s), k(s)). The steepest slope ends on the upper hull of the
    points of all s > a. As a grows between two past jobs, the point moves to the right, and the steepest slope ends at
    closer and closer vertices of one hull. Vertices that are passed are on no hull further to the left, so there are at
    most two intervals per past job.

    Parameters
    ----------
    services : ndarray of float
        Services in GPU s, ascending.
    sums : ndarray of float
        Cumulative sums of the services, from 0.
    """

    def __init__(self, services: Floats, sums: Floats) -> None:
        values, first = np.unique(services, return_index=True)
        n = len(services)
        # for the points at 0 and at every distinct service
        counts = np.append(first, n)
        at = np.append(0.0, values)
        area = sums[counts] + (n - counts) * at
        self._starts, before, end = _pieces(at, area, counts)
        self._values = values
        # first piece of each interval between two past jobs
        self._begins = np.searchsorted(before, np.arange(len(at)))
        self._ended = (counts[end] - counts[before]).astype(np.float64)
        self._left = (n - counts[before]).astype(np.float64)
        self._area = area[end] - sums[counts[before]]
        # beyond the longest past job nothing ends
        self._area[-1] = 1.0

    def index(self, attained: Floats, resolution: float) -> Floats:
        """Return the index of each job for its best quantum, 0 if no past job took more.

        Parameters
        ----------
        attained : ndarray of float
            GPU s.
        resolution : float
            GPU s; closer services are equal.

        Returns
        -------
        ndarray
            Indices in 1 / GPU s, in the shape of the argument.
        """
        piece = self._starts.searchsorted(attained, side="right") - 1
        piece = np.maximum(piece, self._begins[self._values.searchsorted(attained + resolution, side="right")])
        return np.asarray(self._ended[piece] / (self._area[piece] - self._left[piece] * attained))


def _pieces(at: Floats, area: Floats, counts: Ints) -> tuple[Floats, Ints, Ints]:
    """Return the start of each piece in GPU s, the point before it, and the point at which its quantum ends."""
    x, y, service = area.tolist(), counts.tolist(), at.tolist()
    m = len(x) - 1
    pieces: list[tuple[float, int, int]] = [(service[m], m, m)]
    hull = [m]
    for point in range(m - 1, -1, -1):
        while len(hull) > 1:
            near, far = hull[-1], hull[-2]
            # x at which the line through both has the height of the point
            cross = x[near] - (y[near] - y[point]) * (x[far] - x[near]) / (y[far] - y[near])
            if cross <= x[point]:
                break
            pieces.append((service[point] + (cross - x[point]) / (y[m] - y[point]), point, near))
            hull.pop()
        pieces.append((service[point], point, hull[-1]))
        hull.append(point)
    starts, before, end = zip(*reversed(pieces), strict=True)
    # the starts must stay sorted despite rounding
    return np.maximum.accumulate(starts), np.array(before), np.array(end)
