"""The Gittins index of a job by the service that it has attained, from the services of past jobs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from gangopt.base.arguments import number_in
from gangopt.base.errors import InputError, shown
from gangopt.base.jsonfile import read_text
from gangopt.base.types import Floats
from gangopt.instances.workload.gittins_quanta import BestQuanta

__all__ = ["RESOLUTION", "ServiceDistribution"]


HEADER = "duration"
"""Header of the samples of service that came with the Tiresias simulator."""

RESOLUTION = 1e-6
"""GPU s; services that are closer than this are equal where a caller does not say otherwise."""


class ServiceDistribution:
    r"""Services of past jobs, each one as likely as the others.

    The index of a job that has attained a and may have d more is

    .. math:: G(a, d) = \frac{P(S - a \le d \mid S > a)}{E[\min(S - a, d) \mid S > a]},

    the chance that it ends within d against the service that it takes until then; 0 where no past job took more than a.
    It jumps where a past job ended. Services closer than the resolution of an index are equal: a past job that took no
    more than that beyond a has S = a.

    Parameters
    ----------
    services : sequence of float or ndarray of float
        GPU s of past jobs, all above 0.

    Raises
    ------
    InputError
        If there is none, or one is not a finite number above 0.

    References
    ----------
    Tiresias (NSDI 2019), section 3.1, pseudocode 1 and appendix C.
    """

    def __init__(self, services: Sequence[float] | Floats) -> None:
        values = np.sort(np.asarray(services, dtype=np.float64))
        if not len(values):
            raise InputError("the distribution of service is empty; at least one past job is needed")
        if not (np.isfinite(values).all() and values[0] > 0):
            wrong = values[~np.isfinite(values)][0] if not np.isfinite(values).all() else values[0]
            raise InputError(f"the distribution of service holds {wrong:g}; finite GPU s above 0 are needed")
        self._services = values
        self._sums = np.concatenate([[0.0], np.cumsum(values)])
        self._best: BestQuanta | None = None

    @property
    def services(self) -> Floats:
        """Services of the past jobs in GPU s, ascending."""
        return self._services.copy()

    def index(self, attained: npt.ArrayLike, quantum: npt.ArrayLike, resolution: float = RESOLUTION) -> Floats:
        """Return the Gittins index for a fixed quantum.

        Parameters
        ----------
        attained : array_like
            GPU s that a job has had, from 0.
        quantum : array_like
            GPU s that it may have next, above 0, also infinite.
        resolution : float, optional
            GPU s; closer services are equal.

        Returns
        -------
        ndarray
            1 / GPU s, in the shape of the arguments together.
        """
        a, d = np.broadcast_arrays(np.asarray(attained, dtype=np.float64), np.asarray(quantum, dtype=np.float64))
        first = np.searchsorted(self._services, a + resolution, side="right")
        last = np.searchsorted(self._services, a + d + resolution, side="right")
        total = len(self._services)
        ended = last - first
        beyond = total - last
        capped = np.multiply(beyond, d, out=np.zeros(np.shape(a)), where=beyond > 0)
        taken = self._sums[last] - self._sums[first] - ended * a + capped
        return np.asarray(np.divide(ended, taken, out=np.zeros(np.shape(a)), where=(ended > 0) & (taken > 0)))

    def best_index(self, attained: npt.ArrayLike, resolution: float = RESOLUTION) -> Floats:
        """Return the Gittins index for the quantum that makes it greatest, as printed in pseudocode 1 of Tiresias.

        The greatest value is attained where some past job ends.

        Parameters
        ----------
        attained : array_like
            GPU s that a job has had, from 0.
        resolution : float, optional
            GPU s; closer services are equal.

        Returns
        -------
        ndarray
            1 / GPU s, in the shape of the argument.
        """
        if self._best is None:
            self._best = BestQuanta(self._services, self._sums)
        return self._best.index(np.asarray(attained, dtype=np.float64), resolution)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read services from a text file, plain or with the header of Tiresias's published samples.

        Parameters
        ----------
        path : str or path
            File with one number of GPU s on each line. Empty lines do not count, nor does a first line `duration`.

        Raises
        ------
        InputError
            Names the file, and the line of a wrong number.
        """
        values: list[float] = []
        headed = False
        for number, line in enumerate(read_text(path).splitlines(), start=1):
            text = line.strip()
            if not text:
                continue
            if text.strip('"').lower() == HEADER and not values and not headed:
                headed = True
                continue
            value = number_in(text)
            if value is None or value <= 0:
                raise InputError(f"{path}: line {number}: {shown(text)} is no number of GPU s above 0")
            values.append(float(value))
        if not values:
            raise InputError(f"{path}: holds no service; one number of GPU s a line is needed")
        return cls(values)
