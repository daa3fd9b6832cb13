"""Recorded training losses, and their cleaning before a fit: outliers, and fewer points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Floats, Ints

__all__ = ["MIN_POINTS", "WINDOW_EPOCHS", "LossLog", "decimate", "find_outliers", "replace_outliers"]


MIN_POINTS = 6
"""Fewest points of a fit: three coefficients, and as many points again to judge them."""

WINDOW_EPOCHS = 5
"""Epochs before and after a point that the window rule looks at."""

SMALLEST, LARGEST = 1e-15, 1e15
"""Range of the steps an epoch and of the last step; no number may be larger."""


@dataclass(frozen=True, eq=False)
class LossLog:
    """Losses of one training job by step.

    Attributes
    ----------
    steps : ndarray of float
        K, steps done, at least 0 and increasing, shape (n,), n at least 6.
    losses : ndarray of float
        L, loss at each of them in any unit, at least 0, not all 0, shape (n,).
    steps_per_epoch : float or None
        N, steps in one epoch; None takes the mean distance of two recorded steps, so that each point counts as one
        epoch.

    Raises
    ------
    InputError
        If there are fewer than 6 points or a number is outside its range; says index and value.
    """

    steps: Floats
    losses: Floats
    steps_per_epoch: float | None = None

    def __post_init__(self) -> None:
        rate = self.steps_per_epoch
        if rate is not None and not SMALLEST <= rate <= LARGEST:
            raise InputError(f"steps_per_epoch: {rate:g}, {SMALLEST:g} to {LARGEST:g} is allowed")
        steps, losses = _numbers("steps", self.steps), _numbers("losses", self.losses)
        if steps.shape != losses.shape:
            raise InputError(f"losses: {losses.size} given for {steps.size} steps")
        if steps.size < MIN_POINTS:
            raise InputError(f"{steps.size} points, at least {MIN_POINTS} are needed to fit a loss curve")
        falling = np.flatnonzero(np.diff(steps) <= 0)
        if falling.size:
            i = int(falling[0]) + 1
            raise InputError(f"steps[{i}]: {steps[i]:g} after {steps[i - 1]:g}, steps have to increase")
        if not losses.any():
            raise InputError("losses: every loss is 0, so there is no curve to fit")
        if steps[-1] < SMALLEST:
            raise InputError(f"steps[{steps.size - 1}]: {steps[-1]:g}, the last step has to be at least {SMALLEST:g}")
        for array in (steps, losses):
            array.flags.writeable = False
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "losses", losses)

    @property
    def epoch_steps(self) -> float:
        """Steps in one epoch: as given, or the mean distance of two recorded steps."""
        if self.steps_per_epoch is not None:
            return float(self.steps_per_epoch)
        return float(self.steps[-1] - self.steps[0]) / (self.steps.size - 1)


def _numbers(field: str, values: object) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{field}: numbers are needed") from None
    if array.ndim != 1:
        raise InputError(f"{field}: {array.ndim} dimensions, one is needed")
    broken = np.flatnonzero(~((array >= 0) & (array <= LARGEST)))
    if broken.size:
        i = int(broken[0])
        raise InputError(f"{field}[{i}]: {array[i]:g}, a number from 0 to {LARGEST:g} is needed")
    return array


def find_outliers(log: LossLog) -> Bools:
    r"""Return which losses the window rule rejects.

    A loss at step k is rejected if it is above the largest loss in the five epochs before it, or below the smallest
    loss in the five epochs after it:

    .. math:: l_k > \max_{k - 5N \le i < k} l_i \quad\text{or}\quad l_k < \min_{k < i \le k + 5N} l_i

    A side on which the window holds no point sets no bound: nothing is above the first point or below the last one.
    Every comparison is with recorded losses, never with replaced ones, so the order of the points does not matter.

    Parameters
    ----------
    log : LossLog
        The recorded losses.

    Returns
    -------
    array of bool
        True for an outlier, shape (n,).

    References
    ----------
    Optimus (EuroSys'18), section 3.1.
    """
    steps, losses = log.steps, log.losses
    # a relative allowance, for windows whose ends are computed with a rounded number of steps an epoch
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
    """Return the extreme of values[start:stop] for many ranges: two overlapping blocks of a power of two cover each."""
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

    The neighbours are the nearest points before and after it that are no outliers; at an end there is one only.

    Parameters
    ----------
    losses : ndarray of float
        Recorded losses, shape (n,).
    outliers : Bools
        Which to replace, not all, shape (n,).

    Returns
    -------
    array
        Losses, shape (n,).
    """
    kept = np.flatnonzero(~outliers)
    if not kept.size:
        raise InputError("the window rule rejects every point: the losses do not fall")
    place = np.searchsorted(kept, np.flatnonzero(outliers))
    left, right = kept[np.maximum(place - 1, 0)], kept[np.minimum(place, kept.size - 1)]
    left, right = np.where(place == 0, right, left), np.where(place == kept.size, left, right)
    result = losses.copy()
    result[outliers] = (losses[left] + losses[right]) / 2
    return result


def decimate(steps: Floats, losses: Floats, steps_per_epoch: float, max_points: int) -> tuple[Floats, Floats]:
    """Return at most `max_points` points: averages over whole epochs, over as many together as needed.

    Nothing is done to a log that is short enough. Else every m consecutive epochs that hold a point become one point,
    at the average of their steps, m as small as possible.

    Parameters
    ----------
    steps : ndarray of float
        K, increasing, shape (n,).
    losses : ndarray of float
        Loss at each step, shape (n,).
    steps_per_epoch : float
        N; epoch e holds the steps from e N to below (e + 1) N.
    max_points : int
        Most points to return, 1 or more.
    """
    if steps.size <= max_points:
        return steps, losses
    epochs = np.flatnonzero(np.diff(np.floor(steps / steps_per_epoch), prepend=-1))
    starts = epochs[:: -(-epochs.size // max_points)]
    counts = np.diff(starts, append=steps.size)
    return np.add.reduceat(steps, starts) / counts, np.add.reduceat(losses, starts) / counts
