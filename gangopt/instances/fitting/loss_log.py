"""Recorded training losses, and their preparation for a fit: replacement of outliers, and decimation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gangopt.base import checks
from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Floats, Ints

__all__ = ["MIN_POINTS", "WINDOW_EPOCHS", "LossLog", "decimate", "find_outliers", "replace_outliers"]


MIN_POINTS = 6
"""Smallest number of points for a fit, twice the number of coefficients."""

WINDOW_EPOCHS = 5
"""Epochs before and after a point in the window of the outlier rule."""

SMALLEST, LARGEST = 1e-15, 1e15
"""Range of the steps in an epoch and of the last step; no number may be larger."""


@dataclass(frozen=True, eq=False)
class LossLog:
    """Losses of one training job by step.

    Attributes
    ----------
    steps : ndarray of float
        Completed steps k, at least 0 and increasing; shape (n,), n at least 6.
    losses : ndarray of float
        Losses l in any unit, at least 0 and not all 0; shape (n,).
    steps_per_epoch : float or None
        Steps in an epoch N; None means the mean distance of recorded steps, so that each point counts as an epoch.

    Raises
    ------
    InputError
        If there are fewer than 6 points or a number is out of range; the message gives index and value.
    """

    steps: Floats
    losses: Floats
    steps_per_epoch: float | None = None

    def __post_init__(self) -> None:
        rate = self.steps_per_epoch
        if rate is not None:
            checks.number("steps_per_epoch", rate, SMALLEST, LARGEST)
        steps, losses = checks.vector("steps", self.steps), checks.vector("losses", self.losses)
        if steps.shape != losses.shape:
            raise InputError(f"losses must have length {steps.size} like steps (got {losses.size})")
        if steps.size < MIN_POINTS:
            raise InputError(f"a loss curve must have at least {MIN_POINTS} points (got {steps.size})")
        falling = np.flatnonzero(np.diff(steps) <= 0)
        if falling.size:
            i = int(falling[0]) + 1
            raise InputError(f"steps[{i}] must be > {steps[i - 1]:g} (got {steps[i]:g})")
        if not losses.any():
            raise InputError("losses must not all be 0")
        if steps[-1] < SMALLEST:
            raise InputError(f"steps[{steps.size - 1}] must be >= {SMALLEST:g} (got {steps[-1]:g})")
        for array in (steps, losses):
            array.flags.writeable = False
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "losses", losses)

    @property
    def epoch_steps(self) -> float:
        """Steps in an epoch: as given, or the mean distance of recorded steps."""
        if self.steps_per_epoch is not None:
            return float(self.steps_per_epoch)
        return float(self.steps[-1] - self.steps[0]) / (self.steps.size - 1)


def find_outliers(log: LossLog) -> Bools:
    r"""Return a mask of the losses that the window rule rejects.

    A loss at step k is rejected if it is above the largest loss in the five epochs before it, or below the smallest
    loss in the five epochs after it:

    .. math:: l_k > \max_{k - 5N \le i < k} l_i \quad\text{or}\quad l_k < \min_{k < i \le k + 5N} l_i

    An empty side of the window sets no bound. All comparisons are with recorded losses, not with replaced ones, so the
    result does not depend on the order in which points are processed.

    Parameters
    ----------
    log : LossLog
        Recorded losses.

    Returns
    -------
    array of bool
        True for an outlier, shape (n,).

    References
    ----------
    Optimus (EuroSys'18), section 3.1.
    """
    steps, losses = log.steps, log.losses
    # relative tolerance, since the number of steps in an epoch is rounded
    reach = WINDOW_EPOCHS * log.epoch_steps * (1 + 1e-9)
    at = np.arange(steps.size)
    before = np.searchsorted(steps, steps - reach, side="left")
    after = np.searchsorted(steps, steps + reach, side="right")
    highest = _extreme(losses, before, at, np.maximum, np.inf)
    lowest = _extreme(losses, at + 1, after, np.minimum, -np.inf)
    return (losses > highest) | (losses < lowest)


def _extreme(
    values: Floats,
    start: Ints,
    stop: Ints,
    pick: Callable[[Floats, Floats], Floats],
    empty: float,
) -> Floats:
    """Return the extreme of values[start:stop] for many ranges, each covered by two blocks of a power of two."""
    result = np.full(start.size, empty)
    length = stop - start
    block, width = values, 1
    while width <= length.max(initial=0):
        here = np.flatnonzero((length >= width) & (length < 2 * width))
        result[here] = pick(block[start[here]], block[stop[here] - width])
        block = pick(block[: block.size - width], block[width:]) if block.size > width else block
        width *= 2
    return result


def replace_outliers(losses: Floats, outliers: Bools) -> Floats:
    """Return the losses with each outlier replaced by the average of its neighbours.

    The neighbours are the nearest points before and after that are not outliers; at the ends there is only one.

    Parameters
    ----------
    losses : ndarray of float
        Recorded losses, shape (n,).
    outliers : Bools
        Mask of the losses to replace, not all true; shape (n,).

    Returns
    -------
    array
        Losses, shape (n,).
    """
    kept = np.flatnonzero(~outliers)
    if not kept.size:
        raise InputError("the losses do not decrease: the window rule rejects all points")
    place = np.searchsorted(kept, np.flatnonzero(outliers))
    left, right = kept[np.maximum(place - 1, 0)], kept[np.minimum(place, kept.size - 1)]
    left, right = np.where(place == 0, right, left), np.where(place == kept.size, left, right)
    result = losses.copy()
    result[outliers] = (losses[left] + losses[right]) / 2
    return result


def decimate(steps: Floats, losses: Floats, steps_per_epoch: float, max_points: int) -> tuple[Floats, Floats]:
    """Reduce a log to at most `max_points` points by averages over epochs.

    If there are more points, every m consecutive epochs with points become one point at the average of their steps,
    with the smallest possible m.

    Parameters
    ----------
    steps : ndarray of float
        Steps, increasing; shape (n,).
    losses : ndarray of float
        Loss at each step, shape (n,).
    steps_per_epoch : float
        Steps in an epoch N; epoch e has the steps k with e N <= k < (e + 1) N.
    max_points : int
        Largest number of points, at least 1.
    """
    if steps.size <= max_points:
        return steps, losses
    epochs = np.flatnonzero(np.diff(np.floor(steps / steps_per_epoch), prepend=-1))
    starts = epochs[:: -(-epochs.size // max_points)]
    counts = np.diff(starts, append=steps.size)
    return np.add.reduceat(steps, starts) / counts, np.add.reduceat(losses, starts) / counts
