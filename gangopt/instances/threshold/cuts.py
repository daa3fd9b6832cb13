"""Every cut of one feature that can be best, and what each gets wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gangopt.instances.threshold.instance import MARGIN, ThresholdInstance, ThresholdSolution

__all__ = ["Cuts", "best_cut", "constant_rule", "cuts_of", "solution_of"]


@dataclass(frozen=True)
class Cuts:
    """Cuts of one feature in ascending order, each in both directions.

    Attributes
    ----------
    positions : ndarray
        C, where the feature is cut, shape (cuts,), the feature's unit.
    margins : ndarray
        Least distance of a value from the cut, at most half of the gap it lies in, shape (cuts,), in parts of the
        range; 0 for the two cuts outside of all values.
    errors : ndarray
        Weighted errors if jobs above the cut (row 0) or below it (row 1) are called sensitive, shape (2, cuts).
    """

    positions: np.ndarray
    margins: np.ndarray
    errors: np.ndarray


def cuts_of(instance: ThresholdInstance, feature: int = 0) -> Cuts:
    """Return the cuts among which there is a best one: midpoints of neighbouring values, and one outside on each side.

    A midpoint tells apart all that a cut of its gap can tell apart, if the gap is at least two margins wide. In a
    narrower gap a cut loses the jobs within a margin of it; there the best cut lies a margin beside some value.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    feature : int, optional
        Index of the feature.
    """
    values = instance.values[:, feature]
    width = float(instance.ranges[feature])
    levels = np.unique(values)
    gaps = np.diff(levels) / width
    wide = gaps >= 2 * MARGIN
    middles = levels[:-1] + np.diff(levels) / 2
    beside = np.concatenate((levels - MARGIN * width, levels + MARGIN * width))
    inside = (beside > levels[0]) & (beside < levels[-1])
    gap = np.clip(np.searchsorted(levels, beside, side="right") - 1, 0, max(len(gaps) - 1, 0))
    beside = beside[inside & ~wide[gap]] if len(gaps) else beside[:0]
    outside = np.array([levels[0] - width / 2, levels[-1] + width / 2])
    positions = np.concatenate((middles[wide], beside, outside))
    margins = np.concatenate((gaps[wide] / 2, np.zeros(len(beside) + 2)))
    order = np.argsort(positions, kind="stable")
    positions = positions[order]
    errors = np.array([_errors(instance, values, positions, width, sign) for sign in (1, -1)])
    return Cuts(positions, margins[order], errors)


def _errors(
    instance: ThresholdInstance, values: np.ndarray, positions: np.ndarray, width: float, sign: int
) -> np.ndarray:
    """Return the weight of jobs that are not beyond each cut by a margin on their side."""
    slack = 0.99 * MARGIN * width
    right: np.ndarray = instance.sensitive if sign > 0 else ~instance.sensitive
    above, below = np.sort(values[right]), np.sort(values[~right])
    lost_above = np.searchsorted(above, positions + slack, side="left")
    lost_below = np.searchsorted(below, positions - slack, side="right")
    lost: np.ndarray = _sums(instance, values, right)[lost_above]
    lost += _sums(instance, values, ~right, last=True)[lost_below]
    return lost


def _sums(instance: ThresholdInstance, values: np.ndarray, chosen: np.ndarray, *, last: bool = False) -> np.ndarray:
    """Return the weight of the k lowest of the chosen jobs for every k, or of all but these."""
    weights: np.ndarray = instance.job_weights[chosen][np.argsort(values[chosen], kind="stable")]
    if last:
        return np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    return np.insert(np.cumsum(weights), 0, 0.0)


def best_cut(instance: ThresholdInstance) -> ThresholdSolution:
    """Return the cut of one feature with the least weighted errors.

    Ties: the widest margin (to 1e-12), then the earlier feature, then `above is sensitive`, then the lowest cut. Sums
    of weights that differ by no more than 1e-12 of all weights are equal.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    """
    every = [cuts_of(instance, feature) for feature in range(len(instance.features))]
    least = min(float(cuts.errors.min()) for cuts in every)
    allowed = least + 1e-12 * float(instance.job_weights.sum())
    ranked = [
        (-round(float(cuts.margins[cut]), 12), feature, row, int(cut))
        for feature, cuts in enumerate(every)
        for row in (0, 1)
        for cut in np.flatnonzero(cuts.errors[row] <= allowed)
    ]
    _, feature, row, cut = min(ranked)
    return solution_of(instance, feature, row, float(every[feature].positions[cut]))


def solution_of(instance: ThresholdInstance, feature: int, row: int, position: float) -> ThresholdSolution:
    """Return the rule of a cut.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    feature : int
        Index of the feature that is cut.
    row : int
        0 if jobs above the cut are called sensitive, 1 if those below it are.
    position : float
        The cut, the feature's unit.

    Returns
    -------
    ThresholdSolution
        Weight 1 or -1 on the feature.
    """
    sign = 1.0 - 2.0 * row
    weights = [0.0] * len(instance.features)
    weights[feature] = sign
    return ThresholdSolution(tuple(weights), sign * position)


def constant_rule(instance: ThresholdInstance, *, sensitive: bool) -> ThresholdSolution:
    """Return a rule that calls every job sensitive, or none: a cut of the first feature outside of all values.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    sensitive : bool
        What every job is called.
    """
    half = float(instance.ranges[0]) / 2
    values = instance.values[:, 0]
    return solution_of(instance, 0, 0, float(values.min()) - half if sensitive else float(values.max()) + half)
