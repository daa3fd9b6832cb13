"""Compact event log of a replay."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gangopt.base.types import Floats, Ints
from gangopt.replays.machines import Place

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ARRIVE", "END", "EVENTS", "START", "STOP", "Log"]

EVENTS = ("arrive", "start", "stop", "end")
"""Names of the kinds of events, in the order of their numbers."""

ARRIVE, START, STOP, END = range(4)


class Log:
    """Arrivals, starts, stops and ends in chronological order.

    Events at equal times are ordered: ends, arrivals, stops, starts.
    """

    def __init__(self) -> None:
        self._time = array("d")
        self._kind = array("b")
        self._job = array("i")
        self._gpus = array("i")
        self._delay = array("d")
        self._parts = array("i")
        self._machine = array("i")
        self._count = array("i")

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if isinstance(other, Log) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._time)

    def add(self, time: float, kind: int, job: int, gpus: int, place: Place, delay: float = 0.0) -> None:
        """Append one event: time in s, kind, job, GPUs, machines, and the delay of a start in s."""
        self._time.append(time)
        self._kind.append(kind)
        self._job.append(job)
        self._gpus.append(gpus)
        self._delay.append(delay)
        self._parts.append(len(place))
        for machine, count in place:
            self._machine.append(machine)
            self._count.append(count)

    def add_all(self, time: float, kind: int, jobs: Ints, gpus: Ints, delays: Floats | None = None) -> None:
        """Append one event of the same kind for each of several jobs, without machines."""
        n = len(jobs)
        self._time.extend([time] * n)
        self._kind.frombytes(bytes([kind]) * n)
        self._job.frombytes(jobs.astype(np.intc).tobytes())
        self._gpus.frombytes(gpus.astype(np.intc).tobytes())
        self._delay.frombytes(bytes(8 * n) if delays is None else delays.tobytes())
        self._parts.frombytes(bytes(self._parts.itemsize * n))

    @property
    def time(self) -> Floats:
        """Time of every event in s since the first arrival, ascending."""
        return np.array(self._time, dtype=np.float64)

    @property
    def kind(self) -> npt.NDArray[np.int8]:
        """Number of every event's kind in `EVENTS`."""
        return np.array(self._kind, dtype=np.int8)

    @property
    def job(self) -> Ints:
        """Job of every event."""
        return np.array(self._job, dtype=np.int64)

    @property
    def gpus(self) -> Ints:
        """GPUs of every event: those held, or at an arrival those of the gang."""
        return np.array(self._gpus, dtype=np.int64)

    @property
    def delay(self) -> Floats:
        """Time after each start in which the job holds its GPUs without progress, s; 0 at other events."""
        return np.array(self._delay, dtype=np.float64)

    def places(self) -> list[Place]:
        """Return the (machine, GPUs) pairs of every event; empty for arrivals and without machines."""
        pairs = list(zip(self._machine.tolist(), self._count.tolist(), strict=True))
        last = np.cumsum(np.array(self._parts, dtype=np.int64))
        return [tuple(pairs[end - n : end]) for end, n in zip(last.tolist(), self._parts.tolist(), strict=True)]

    def frame(self, ids: tuple[str, ...], begin: float) -> pl.DataFrame:
        """Return the events as a table.

        Parameters
        ----------
        ids : tuple of str
            Identifiers of the jobs.
        begin : float
            First arrival on the workload's clock, s.

        Returns
        -------
        polars.DataFrame
            Columns `time` in s on the workload's clock, `event`, `job` (index), `id`, `gpus`, `delay` in s without
            progress after a start, and `machines`, e.g. `0:4 3:2` for index:GPUs.
        """
        import polars as pl

        jobs = self.job
        return pl.DataFrame(
            {
                "time": begin + self.time,
                "event": pl.Series(EVENTS).gather(self.kind),
                "job": jobs,
                "id": pl.Series(ids, dtype=pl.String).gather(jobs),
                "gpus": self.gpus,
                "delay": self.delay,
                "machines": self._machines(),
            }
        )

    def _machines(self) -> pl.Series:
        import polars as pl

        if not len(self._machine):
            return pl.repeat("", len(self), dtype=pl.String, eager=True)
        texts = [" ".join(f"{machine}:{count}" for machine, count in place) for place in self.places()]
        return pl.Series(texts, dtype=pl.String)
