"""Profile of a job from a message log: period of an iteration, model size, tensors and skew.

Every iteration moves the same messages, so the profile follows from the frequency of each. A stream is the set of
messages of one size from one parameter server; messages from workers repeat the same information and are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InputError
from gangopt.instances.profiling.message_log import MessageLog
from gangopt.instances.profiling.skew import server_skews

__all__ = ["Profile", "ServerProfile", "profile"]

BINS = 4096
"""Bins of the autocorrelation."""

WINDOW = 48
"""Largest number of iterations in the autocorrelation, with about 85 bins each."""

SURE = 4
"""Largest number of equal tensors on a server that can be rounded reliably from a rough count."""

LARGEST_STRAY = 0.1
"""Largest share of the bytes in messages that do not recur in every iteration."""

SPREAD = 0.5
"""Largest distance, in medians, of the quartiles of the gaps of a regular stream, and of their mean and median."""

LEAST_ITERATIONS = 4
"""Smallest number of iterations for the estimate of a period."""


@dataclass(frozen=True)
class ServerProfile:
    """Content of one parameter server.

    Attributes
    ----------
    name : str
        Name of the process.
    tensors : tuple of tuple of int
        (size in bytes, number of tensors), in descending order of size.
    bytes : int
        Total size of its tensors.
    share : float
        Share of the model.
    skew : float
        S_k, share of the model in its largest tensor.
    """

    name: str
    tensors: tuple[tuple[int, int], ...]
    bytes: int
    share: float
    skew: float


@dataclass(frozen=True)
class Profile:
    """Profile of a job.

    Attributes
    ----------
    period : float
        Mean length of an iteration in s.
    iterations : int
        Iterations in the log.
    workers : tuple of str
        Processes that receive from parameter servers.
    servers : tuple of ServerProfile
        Parameter servers, sorted by name.
    model_bytes : int
        Size of the model in bytes.
    skew : float
        S_J, the largest S_k.
    received : float
        Ratio of logged to expected messages, which losses decrease and duplicates increase.
    """

    period: float
    iterations: int
    workers: tuple[str, ...]
    servers: tuple[ServerProfile, ...]
    model_bytes: int
    skew: float
    received: float


def profile(log: MessageLog, prefix: str = "ps") -> Profile:
    """Estimate the profile of a job.

    1. The period is the shortest lag at which the autocorrelation of the traffic is near its maximum. It is refined on
       streams with one message per period, in which each gap is an integer number of periods.
    2. The number of equal tensors in a stream is its count per worker over that of streams with one message per period;
       the rates of lost and duplicate messages cancel.

    Parameters
    ----------
    log : MessageLog
        Messages of at least 4 iterations.
    prefix : str, optional
        Prefix of the names of parameter servers, which names of workers do not have.

    Raises
    ------
    InputError
        If there is no message from a parameter server to a worker, or no period is found.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, section 3.3.1.
    """
    if not prefix:
        raise InputError("prefix must not be empty; it is the prefix of the names of parameter servers")
    streams, workers, kept = _streams(log, prefix)
    times = log.times[kept]
    rough = _rough_period(times, log.sizes[kept].astype(np.float64), streams, len(workers))
    receivers = np.array([log.destinations[i] for i in kept.tolist()])
    rough /= _multiple(times, streams, receivers, rough)
    period, iterations, once = _precise(times, streams, receivers, rough)
    number = _numbers(streams, len(workers), once)
    names = sorted({name for name, _ in number})
    held = {
        name: tuple(sorted(((size, k) for (owner, size), k in number.items() if owner == name and k), reverse=True))
        for name in names
    }
    total = sum(size * k for tensors in held.values() for size, k in tensors)
    _require_recurrence(streams, number)
    skews = server_skews([[float(size) for size, k in held[name] for _ in range(k)] for name in names])
    servers = []
    for name, skew in zip(names, skews, strict=True):
        size = sum(item * k for item, k in held[name])
        servers.append(ServerProfile(name, held[name], size, size / total, skew))
    expected = iterations * len(workers) * sum(number.values())
    return Profile(period, iterations, workers, tuple(servers), total, max(skews), len(kept) / expected)


_Streams = dict[tuple[str, int], np.ndarray]


def _numbers(streams: _Streams, workers: int, once: float) -> dict[tuple[str, int], int]:
    """Return the number of equal tensors of every stream.

    The count of a single tensor is first estimated from few streams, then from all with up to `SURE` tensors.
    """
    counts = {key: len(rows) / workers for key, rows in streams.items()}
    for _ in range(2):
        sure = {key: round(count / once) for key, count in counts.items() if 1 <= round(count / once) <= SURE}
        once = sum(counts[key] for key in sure) / sum(sure.values()) if sure else once
    return {key: round(count / once) for key, count in counts.items()}


def _streams(log: MessageLog, prefix: str) -> tuple[_Streams, tuple[str, ...], np.ndarray]:
    """Return the rows of each stream in order of time, the workers, and the rows of all streams.

    Rows of a stream are indices into the rows of all streams.
    """
    order = np.argsort(log.times, kind="stable").tolist()
    kept = [i for i in order if log.sources[i].startswith(prefix) and not log.destinations[i].startswith(prefix)]
    if not kept:
        raise InputError(
            f"log: no message from a process named {prefix}... to another; give the prefix of the parameter servers"
        )
    rows: dict[tuple[str, int], list[int]] = {}
    for place, (i, size) in enumerate(zip(kept, log.sizes[kept].tolist(), strict=True)):
        rows.setdefault((log.sources[i], size), []).append(place)
    streams = {key: np.array(rows[key]) for key in sorted(rows)}
    return streams, tuple(sorted({log.destinations[i] for i in kept})), np.array(kept)


def _require_recurrence(streams: _Streams, number: dict[tuple[str, int], int]) -> None:
    """Refuse a log with more than a tenth of the bytes in messages that do not recur in every iteration."""
    moved = {key: key[1] * len(rows) for key, rows in streams.items()}
    stray = sum(size for key, size in moved.items() if not number[key]) / sum(moved.values())
    if stray > LARGEST_STRAY:
        raise InputError(
            f"log: {stray:.0%} of the bytes do not recur in every iteration; the log is too short or has several jobs"
        )


def _rough_period(times: np.ndarray, sizes: np.ndarray, streams: _Streams, workers: int) -> float:
    """Return the shortest lag at which the autocorrelation reaches 0.8 of its maximum beyond the first dip.

    Messages are weighted by the square root of their size, so that neither one huge tensor nor many tiny ones dominate.
    """
    counts = [len(rows) / workers for rows in streams.values() if len(rows) >= 3 * workers]
    span = float(times[-1] - times[0])
    if not counts or span <= 0:
        raise InputError(f"log: no message recurs; the log must have at least {LEAST_ITERATIONS} iterations")
    window = span * min(1.0, WINDOW / min(counts))
    inside = times <= times[0] + window
    bins = np.minimum(((times[inside] - times[0]) / window * BINS).astype(np.int64), BINS - 1)
    signal: np.ndarray = np.bincount(bins, np.sqrt(sizes[inside]), minlength=BINS)
    width = max(3, round(0.1 * BINS / min(WINDOW, *counts)))
    signal = np.convolve(signal, np.hanning(width + 2), mode="same")
    spectrum = np.fft.rfft(signal - signal.mean(), 2 * BINS)
    lags = BINS // 2
    correlation = np.fft.irfft(spectrum * np.conj(spectrum))[:lags] / (BINS - np.arange(lags))
    negative = np.flatnonzero(correlation <= 0)
    if not len(negative) or correlation[negative[0] :].max() <= 0.2 * correlation[0]:
        raise InputError("log: the traffic shows no period")
    later = correlation[negative[0] :]
    high = int(np.flatnonzero(later >= 0.8 * later.max())[0])
    while high + 1 < len(later) and later[high + 1] >= later[high]:
        high += 1
    return float(negative[0] + high) * window / BINS


def _multiple(times: np.ndarray, streams: _Streams, receivers: np.ndarray, rough: float) -> int:
    """Return the number of periods in a rough period, from the streams with the largest gaps.

    If iterations have unequal lengths, groups of two or three can be more alike than single ones. Nearly all gaps of
    streams with one message per iteration are then a half or a third of the rough period. Equal tensors have some gaps
    within an iteration and one to the next, so that the quartiles or the mean of the gaps differ from the median.
    """
    found = []
    for rows in streams.values():
        gaps = np.concatenate([np.diff(times[rows[receivers[rows] == name]]) for name in np.unique(receivers[rows])])
        if len(gaps) >= LEAST_ITERATIONS - 1:
            found.append([*np.quantile(gaps, (0.25, 0.5, 0.75)), gaps.mean()])
    if not found:
        return 1
    figures = np.array(found) / rough
    farthest = figures[figures[:, 1] >= 0.8 * figures[:, 1].max()]
    low, middle, high, mean = np.median(farthest, axis=0).tolist()
    even = high - low < SPREAD * middle and mean < (1 + SPREAD) * middle
    return max(1, round(1 / middle)) if even else 1


def _precise(times: np.ndarray, streams: _Streams, workers: np.ndarray, rough: float) -> tuple[float, int, float]:
    """Return the mean period, the number of iterations, and the count of messages that are sent once per iteration."""
    expected = float(times[-1] - times[0]) / rough + 0.5
    names = sorted(set(workers.tolist()))
    counts, lengths, steps = [], [], []
    for rows in streams.values():
        if not 0.6 <= len(rows) / len(names) / expected <= 1.4:
            continue
        counts.append(len(rows) / len(names))
        for name in names:
            own = times[rows[workers[rows] == name]]
            if len(own) > 1:
                lengths.append(float(own[-1] - own[0]))
                steps.append(int(np.rint(np.diff(own) / rough).sum()))
    if not steps or max(steps) + 1 < LEAST_ITERATIONS:
        if expected < LEAST_ITERATIONS:
            raise InputError(f"log: must have at least {LEAST_ITERATIONS} iterations (got about {expected:.1f})")
        return rough, round(expected), expected
    # most pairs of processes have both the first and the last message; ties go to the longer log
    usual = max(sorted(set(steps), reverse=True), key=steps.count)
    return sum(lengths) / sum(steps), usual + 1, float(np.mean(counts))
