"""Candidate cuts of one feature, and the weighted errors of each."""

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
        Values at which the feature is cut, in its unit, shape (cuts,).
    margins : ndarray
        Smallest distance of a value from each cut, relative to the feature's range, shape (cuts,); 0 for cuts in gaps
        that are narrower than two margins, and for the two cuts outside of all values.
    errors : ndarray
        Weighted errors if jobs above the cut (row 0) or below it (row 1) are called sensitive, shape (2, cuts).
    """

    positions: np.ndarray
    margins: np.ndarray
    errors: np.ndarray


def cuts_of(instance: ThresholdInstance, feature: int = 0) -> Cuts:
    """Return cuts that include an optimal one: midpoints of neighbouring values, and one cut beyond each end.

    If a gap is at least two margins wide, its midpoint separates all jobs that any cut in the gap can separate. In a
    narrower gap, jobs within a margin of the cut count as errors; there an optimal cut lies a margin beside a value.

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
    """Return the total weight of jobs that are not on the right side of each cut by at least a margin."""
    slack = 0.99 * MARGIN * width
    right: np.ndarray = instance.sensitive if sign > 0 else ~instance.sensitive
    above, below = np.sort(values[right]), np.sort(values[~right])
    lost_above = np.searchsorted(above, positions + slack, side="left")
    lost_below = np.searchsorted(below, positions - slack, side="right")
    lost: np.ndarray = _sums(instance, values, right)[lost_above]
    lost += _sums(instance, values, ~right, last=True)[lost_below]
    return lost


def _sums(instance: ThresholdInstance, values: np.ndarray, chosen: np.ndarray, *, last: bool = False) -> np.ndarray:
    """Return the total weight of the k lowest chosen jobs for every k, or of all chosen jobs except these."""
    weights: np.ndarray = instance.job_weights[chosen][np.argsort(values[chosen], kind="stable")]
    if last:
        return np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    return np.insert(np.cumsum(weights), 0, 0.0)


def best_cut(instance: ThresholdInstance) -> ThresholdSolution:
    """Return the cut of one feature with the smallest weighted errors.

    Ties go to the widest margin (to 1e-12), then to the earlier feature, then to "above is sensitive", then to the
    lowest cut. Errors that differ by at most 1e-12 of the total weight are considered equal.

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
        0 if jobs above the cut are called sensitive, 1 if jobs below it are.
    position : float
        Value of the feature at the cut, in its unit.

    Returns
    -------
    ThresholdSolution
        A rule with weight 1 or -1 on the feature and 0 on all others.
    """
    sign = 1.0 - 2.0 * row
    weights = [0.0] * len(instance.features)
    weights[feature] = sign
    return ThresholdSolution(tuple(weights), sign * position)


def constant_rule(instance: ThresholdInstance, *, sensitive: bool) -> ThresholdSolution:
    """Return a rule that calls every job sensitive, or none: a cut of the first feature beyond all values.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    sensitive : bool
        Class of every job.
    """
    half = float(instance.ranges[0]) / 2
    values = instance.values[:, 0]
    return solution_of(instance, 0, 0, float(values.min()) - half if sensitive else float(values.max()) + half)
