"""Simple rules that learn a threshold or a linear classifier from a history."""

from __future__ import annotations

import numpy as np

from gangopt.base.errors import InputError
from gangopt.instances.threshold.cuts import best_cut, constant_rule
from gangopt.instances.threshold.instance import ThresholdInstance, ThresholdSolution

__all__ = ["class_means", "perceptron", "single_cut"]


def class_means(instance: ThresholdInstance) -> ThresholdSolution:
    """Cut midway between the mean of the sensitive jobs and that of the others.

    Several features are divided by their ranges; the weights are the difference of the two weighted means, and the
    threshold is at their midpoint. If there is only one class, or the means are equal, every job gets the class with
    more weight (ties: not sensitive).

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    """
    sensitive, weights = instance.sensitive, instance.job_weights
    if sensitive.all() or not sensitive.any():
        return constant_rule(instance, sensitive=bool(sensitive.all()))
    scaled = instance.values / instance.ranges
    upper = np.average(scaled[sensitive], axis=0, weights=weights[sensitive])
    lower = np.average(scaled[~sensitive], axis=0, weights=weights[~sensitive])
    # means of equal numbers differ by rounding, which would become a direction for features with large numbers
    direction = np.where(instance.varies, upper - lower, 0.0)
    largest = float(np.abs(direction).max())
    if largest == 0:
        return constant_rule(instance, sensitive=bool(weights[sensitive].sum() > weights[~sensitive].sum()))
    if len(instance.features) == 1:
        sign = float(np.sign(direction[0]))
        return ThresholdSolution((sign,), sign * float(upper[0] + lower[0]) / 2 * float(instance.ranges[0]))
    direction = direction / largest
    return ThresholdSolution(tuple((direction / instance.ranges).tolist()), float(direction @ (upper + lower)) / 2)


def single_cut(instance: ThresholdInstance) -> ThresholdSolution:
    """Cut one feature where the weighted errors are smallest; see `best_cut` for ties.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    """
    return best_cut(instance)


def perceptron(instance: ThresholdInstance, *, epochs: int = 50, seed: int = 0) -> ThresholdSolution:
    """Return the best rule that a perceptron visits (pocket algorithm).

    Features are centred and divided by their ranges. Every epoch visits the jobs in random order; each misclassified
    job moves the rule towards itself by its weight over the largest weight. The rule is evaluated after every epoch,
    and the first best one is returned; it starts at the midpoint of the class means.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    epochs : int, optional
        Passes over the history, at least 1.
    seed : int, optional
        Seed of the orders.

    References
    ----------
    Rosenblatt 1958; Gallant: Perceptron-based learning algorithms, 1990.
    """
    if not 1 <= epochs <= 100_000:
        raise InputError(f"perceptron: epochs must be from 1 to 100000 (got {epochs})")
    generator = np.random.default_rng(seed)
    centres = instance.values.mean(axis=0)
    signed = np.where(instance.sensitive, 1.0, -1.0)[:, None] * np.column_stack(
        (np.where(instance.varies, instance.values - centres, 0.0) / instance.ranges, -np.ones(len(instance.jobs)))
    )
    steps = instance.job_weights / instance.job_weights.max()
    best = class_means(instance)
    errors = instance.evaluate(best).objective
    rule = np.zeros(signed.shape[1])
    for _ in range(epochs):
        if errors == 0:
            break
        for job in generator.permutation(len(instance.jobs)).tolist():
            if signed[job] @ rule <= 0:
                rule = rule + steps[job] * signed[job]
        if not rule[:-1].any():
            continue
        original = rule[:-1] / instance.ranges
        candidate = ThresholdSolution(tuple(original.tolist()), float(rule[-1] + original @ centres))
        judged = instance.evaluate(candidate).objective
        if judged < errors:
            best, errors = candidate, judged
    return best
