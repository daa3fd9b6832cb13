"""Reading, writing and generation of logs of the messages between the processes of a job."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from gangopt.base import checks
from gangopt.base.contract import Record
from gangopt.base.errors import InputError
from gangopt.base.jsonfile import write_text
from gangopt.base.tables import read_table
from gangopt.instances.networks.models import MEBIBYTE, tensor_model

__all__ = ["COLUMNS", "MAX_MESSAGES", "MessageLog", "generate_log", "read_log", "write_log"]

COLUMNS = ("time", "source", "destination", "bytes")
"""Columns of a log: time in s, name of the sender, name of the receiver, size in bytes."""

MAX_MESSAGES = 5_000_000
"""Largest number of messages in a log."""

LARGEST = 1e15
"""Largest time in seconds and largest message in bytes."""


@dataclass(frozen=True, eq=False)
class MessageLog(Record):
    """Recorded messages in any order; some may be missing or duplicates.

    Attributes
    ----------
    times : ndarray
        Times in s, shape (n,).
    sources, destinations : tuple of str
        Names of the processes, length n.
    sizes : ndarray
        Integer sizes in bytes, shape (n,).
    """

    times: np.ndarray
    sources: tuple[str, ...]
    destinations: tuple[str, ...]
    sizes: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.sources)
        checks.integer("log: number of messages", n, 1, MAX_MESSAGES)
        if not len(self.destinations) == len(self.times) == len(self.sizes) == n:
            raise InputError(f"log: times, sources, destinations and sizes must all have length {n}")
        object.__setattr__(self, "times", np.array(self.times, dtype=np.float64))
        object.__setattr__(self, "sizes", np.array(self.sizes, dtype=np.int64))
        if not np.isfinite(self.times).all():
            raise InputError("log: times must be finite")
        if self.sizes.min() < 1:
            raise InputError(f"log: sizes must be >= 1 bytes (got {int(self.sizes.min())})")
        self._freeze()


def read_log(path: str | os.PathLike[str]) -> MessageLog:
    """Read a CSV log with the columns time (s), source, destination and bytes, in any order.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Raises
    ------
    InputError
        If the file is invalid; the message gives file, line and column.
    """
    table = read_table(path, COLUMNS)
    sizes = np.array(table.integers("bytes", 1, int(LARGEST)), dtype=np.int64)
    times = np.array(table.numbers("time", -LARGEST, LARGEST))
    return MessageLog(times, table.texts("source"), table.texts("destination"), sizes)


def write_log(log: MessageLog, path: str | os.PathLike[str]) -> None:
    """Write a log as CSV, from which `read_log` restores it.

    Parameters
    ----------
    log : MessageLog
        Messages.
    path : str or path-like
        Path of the file.

    Raises
    ------
    InputError
        If a name has commas, quotes, line breaks or surrounding blanks, or the file cannot be written.
    """
    for name in sorted({*log.sources, *log.destinations}):
        if name != name.strip() or not name or any(mark in name for mark in ',"\r\n'):
            raise InputError(
                f"log: name {name!r} cannot be written; names must not have commas, quotes or surrounding blanks"
            )
    rows = zip(log.times.tolist(), log.sources, log.destinations, log.sizes.tolist(), strict=True)
    lines = [",".join(COLUMNS), *(f"{time!r},{source},{target},{size}" for time, source, target, size in rows)]
    write_text(path, "\n".join(lines) + "\n")


def generate_log(
    model: str,
    *,
    workers: int = 4,
    servers: int = 4,
    iterations: int = 20,
    period: float = 1.0,
    jitter: float = 0.02,
    loss: float = 0.0,
    duplicates: float = 0.0,
    seed: int = 0,
) -> MessageLog:
    """Generate the log of a job that trains one of the ten published networks.

    In every iteration, each parameter server sends its tensors (assigned round robin) to each worker, in order, and
    receives the same number of gradients. Messages fill the first half of the iteration at equal distances. The length
    of an iteration has a normal error of `jitter` periods, the time of a message a tenth of it. Each message is lost
    with probability `loss`, and with probability `duplicates` logged again up to a hundredth of a period later.
    Processes are named `ps0`, `ps1`, ... and `worker0`, `worker1`, ...

    Parameters
    ----------
    model : str
        One of `gangopt.instances.networks.models.MODELS`.
    workers, servers : int, optional
        Numbers of processes.
    iterations : int, optional
        Number of iterations.
    period : float, optional
        Length of an iteration in s.
    jitter : float, optional
        Standard deviation of the length of an iteration, in periods.
    loss, duplicates : float, optional
        Probabilities for each message.
    seed : int, optional
        Seed of the generator.

    Returns
    -------
    MessageLog
        Messages in order of time.

    Raises
    ------
    InputError
        If an argument is out of range, the model is unknown, or there are too many messages.
    """
    sizes = np.array([round(size * MEBIBYTE) for size in tensor_model(model).sizes], dtype=np.int64)
    checks.integer("message log: workers", workers, 1, 10_000)
    checks.integer("message log: servers", servers, 1, 10_000)
    checks.integer("message log: iterations", iterations, 1, 1_000_000)
    checks.number("message log: period", period, 1e-6, 1e6, "s")
    checks.number("message log: jitter", jitter, 0, 0.2)
    checks.number("message log: loss", loss, 0, 0.9)
    checks.number("message log: duplicates", duplicates, 0, 1)
    checks.integer("message log: seed", seed, 0, 2**63)
    if 4 * iterations * workers * len(sizes) > MAX_MESSAGES:
        raise InputError(
            f"message log: {iterations} iterations of {workers} workers exceed the limit of {MAX_MESSAGES:,} messages"
        )
    generator = np.random.default_rng(seed)
    starts = np.concatenate(([0.0], np.cumsum(1 + jitter * generator.standard_normal(iterations - 1))))
    iteration, direction, worker, tensor = (axis.ravel() for axis in np.indices((iterations, 2, workers, len(sizes))))
    offset = 0.25 * direction + 0.25 * tensor / len(sizes)
    times = period * (starts[iteration] + offset + 0.1 * jitter * generator.standard_normal(len(tensor)))
    kept = np.flatnonzero(generator.random(len(tensor)) >= loss)
    again = kept[generator.random(len(kept)) < duplicates]
    late = times[again] + 0.01 * period * generator.random(len(again))
    rows, times = np.concatenate((kept, again)), np.concatenate((times[kept], late))
    order = np.argsort(times, kind="stable")
    rows, times = rows[order], times[order]
    names = [(f"ps{t % servers}", f"worker{w}") for t, w in zip(tensor[rows], worker[rows], strict=True)]
    ends = [pair if push else pair[::-1] for pair, push in zip(names, (direction[rows] == 1).tolist(), strict=True)]
    return MessageLog(times, tuple(a for a, _ in ends), tuple(b for _, b in ends), sizes[tensor[rows]])
