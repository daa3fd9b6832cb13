"""Gittins index of a job by its attained service, from the services of past jobs."""

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
"""Default resolution in GPU s; services that differ by less are equal."""


class ServiceDistribution:
    r"""Empirical distribution of the services of past jobs.

    The index of a job with attained service a for a quantum d is

    .. math:: G(a, d) = \frac{P(S - a \le d \mid S > a)}{E[\min(S - a, d) \mid S > a]},

    the ratio of the probability that it ends within d to the expected service until then, or 0 if no past job took more
    than a. The index jumps where past jobs ended. Services that differ by less than the resolution are equal.

    Parameters
    ----------
    services : sequence of float or ndarray of float
        Services of past jobs in GPU s, all > 0.

    Raises
    ------
    InputError
        If there are none, or one is not a finite number > 0.

    References
    ----------
    Tiresias (NSDI 2019), section 3.1, pseudocode 1 and appendix C.
    """

    def __init__(self, services: Sequence[float] | Floats) -> None:
        values = np.sort(np.asarray(services, dtype=np.float64))
        if not len(values):
            raise InputError("services must not be empty")
        if not (np.isfinite(values).all() and values[0] > 0):
            wrong = values[~np.isfinite(values)][0] if not np.isfinite(values).all() else values[0]
            raise InputError(f"services must be finite numbers > 0 GPU s (got {wrong:g})")
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
            Attained service of a job in GPU s, at least 0.
        quantum : array_like
            Quantum in GPU s, > 0, possibly infinite.
        resolution : float, optional
            Resolution in GPU s; services that differ by less are equal.

        Returns
        -------
        ndarray
            Indices in 1 / GPU s, in the common shape of the arguments.
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
        """Return the Gittins index for the quantum that maximises it, as in pseudocode 1 of Tiresias.

        The maximum is attained where a past job ends.

        Parameters
        ----------
        attained : array_like
            Attained service of a job in GPU s, at least 0.
        resolution : float, optional
            Resolution in GPU s; services that differ by less are equal.

        Returns
        -------
        ndarray
            Indices in 1 / GPU s, in the shape of the argument.
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
            File with a number of GPU s on each line. Empty lines and a first line `duration` are ignored.

        Raises
        ------
        InputError
            If the file is invalid; the message gives the line.
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
                raise InputError(f"{path}: line {number} must be a number > 0 GPU s (got {shown(text)})")
            values.append(float(value))
        if not values:
            raise InputError(f"{path}: empty file; expected a number of GPU s on each line")
        return cls(values)
