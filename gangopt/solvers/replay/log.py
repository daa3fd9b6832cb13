"""What happened in a replay, event by event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gangopt.solvers.replay.machines import Place
from gangopt.solvers.replay.records import Ints

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Event", "Log"]

Event = Literal["arrive", "start", "stop", "end"]


class Log:
    """Arrivals, starts, stops and ends in the order in which they happened."""

    def __init__(self) -> None:
        self._time: list[float] = []
        self._event: list[Event] = []
        self._job: list[int] = []
        self._gpus: list[int] = []
        self._place: list[Place] = []

    def __len__(self) -> int:
        return len(self._time)

    def add(self, time: float, event: Event, job: int, gpus: int, place: Place) -> None:
        """Note one event of a job: at what time in s, with how many GPUs, and on which machines."""
        self._time.append(time)
        self._event.append(event)
        self._job.append(job)
        self._gpus.append(gpus)
        self._place.append(place)

    def add_all(self, time: float, event: Event, jobs: Ints, gpus: Ints) -> None:
        """Note the same event of many jobs, without machines."""
        self._time += [time] * len(jobs)
        self._event += [event] * len(jobs)
        self._job += jobs.tolist()
        self._gpus += gpus.tolist()
        self._place += [()] * len(jobs)

    def frame(self, ids: tuple[str, ...]) -> pl.DataFrame:
        """Return the events as a table.

        Parameters
        ----------
        ids : names of the jobs

        Returns
        -------
        polars.DataFrame
            `time` in s, `event`, `job` (index), `id`, `gpus`, and `machines` as `index:GPUs` joined by blanks.
        """
        import polars as pl

        return pl.DataFrame(
            {
                "time": pl.Series(self._time, dtype=pl.Float64),
                "event": pl.Series(self._event, dtype=pl.String),
                "job": pl.Series(self._job, dtype=pl.Int64),
                "id": pl.Series([ids[job] for job in self._job], dtype=pl.String),
                "gpus": pl.Series(self._gpus, dtype=pl.Int64),
                "machines": pl.Series(
                    [" ".join(f"{m}:{g}" for m, g in place) for place in self._place], dtype=pl.String
                ),
            }
        )
