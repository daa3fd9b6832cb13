"""Rules that separate placement-sensitive jobs from others, learned from a history: instance, solution and checker."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gangopt.base import checks
from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError

__all__ = ["MARGIN", "MAX_FEATURES", "MAX_JOBS", "ThresholdInstance", "ThresholdSolution"]

MAX_JOBS = 100_000
"""Most jobs of one history."""

MAX_FEATURES = 32
"""Most features of a job."""

LARGEST = 1e12
"""Largest magnitude of a feature, ratio or weight."""

MARGIN = 1e-6
"""Smallest distance from the threshold at which a job counts as separated, relative to the features' ranges."""

_OVERLOOKED = 0.01 * MARGIN
"""Tolerance of the margin: solvers and sums are accurate to about 1e-9 only."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdInstance(Instance):
    """A history of n jobs with d features x_j and the performance of each when spread, relative to consolidated.

    Attributes
    ----------
    jobs : tuple of str
        Label of every job.
    features : tuple of str
        Name of every feature, e.g. `skew`.
    values : ndarray
        Features x of every job, in any unit, shape (n, d).
    ratio : ndarray
        Performance under random placement divided by consolidated performance, above 0, shape (n,).
    limit : float
        A job is sensitive to placement if its ratio is below this limit.
    weights : ndarray or None
        Weight v_j of an error on each job, above 0, shape (n,); None for 1.
    sensitive : ndarray
        Mask of the sensitive jobs, shape (n,).
    """

    noun: ClassVar[str] = "threshold"
    name: str
    description: str = ""
    source: str = ""
    jobs: tuple[str, ...]
    features: tuple[str, ...]
    values: np.ndarray
    ratio: np.ndarray
    limit: float = 0.95
    weights: np.ndarray | None = None
    sensitive: np.ndarray = field(init=False, compare=False)

    def __post_init__(self) -> None:
        n, d = len(self.jobs), len(self.features)
        checks.integer("number of jobs", n, 1, MAX_JOBS)
        checks.integer("number of features", d, 1, MAX_FEATURES)
        object.__setattr__(self, "jobs", checks.labels("jobs", self.jobs))
        object.__setattr__(self, "features", checks.labels("features", self.features))
        object.__setattr__(self, "limit", checks.number("limit", self.limit, above=0, high=LARGEST))
        weights = np.ones(n) if self.weights is None else self.weights
        for name, array, shape, positive in (
            ("values", self.values, (n, d), False),
            ("ratio", self.ratio, (n,), True),
            ("weights", weights, (n,), True),
        ):
            object.__setattr__(self, name, _checked(name, array, shape, positive=positive))
        for feature, label in enumerate(self.features):
            _require_resolution(label, self.values[:, feature])
        object.__setattr__(self, "sensitive", self.ratio < self.limit)
        self._freeze()

    @property
    def varies(self) -> np.ndarray:
        """Mask of the features in which the jobs differ, shape (d,)."""
        differ: np.ndarray = self.values.max(axis=0) > self.values.min(axis=0)
        return differ

    @property
    def ranges(self) -> np.ndarray:
        """Largest minus smallest value of every feature, 1 where all are equal, shape (d,)."""
        spread = self.values.max(axis=0) - self.values.min(axis=0)
        return np.where(spread > 0, spread, 1.0)

    @property
    def job_weights(self) -> np.ndarray:
        """Weight of an error on each job, shape (n,)."""
        assert self.weights is not None
        return self.weights

    def check(self, solution: ThresholdSolution) -> list[Violation]:
        """Return every broken rule: `one_weight_per_feature`, or `nonzero_weights` if all weights are 0."""
        if len(solution.weights) != len(self.features):
            count = len(solution.weights)
            return [Violation("one_weight_per_feature", "number of weights", count, len(self.features))]
        if not any(solution.weights):
            return [Violation("nonzero_weights", "weights not zero", 0, 1)]
        return []

    def evaluate(self, solution: ThresholdSolution) -> Score:
        r"""Return the weighted errors of a rule.

        The distance of job j is `(a x_j - b) / max_f(abs(a_f) r_f)` with weights a, threshold b and ranges r. A
        sensitive job is on the right side if its distance is at least `MARGIN`, any other job if its distance is at
        most -`MARGIN`; all other jobs are errors.

        .. math:: \text{objective} = \sum_{j \text{ is an error}} v_j

        Parameters
        ----------
        solution : ThresholdSolution
            A feasible rule.

        Returns
        -------
        Score
            Metrics: numbers of jobs `misclassified`, `missed` (sensitive jobs) and `false_alarms`; `margin`, the
            smallest distance of a job on the right side, relative to the features' ranges, 0 if there is none.
        """
        coefficients = np.array(solution.weights)
        distance = (self.values @ coefficients - solution.threshold) / float(np.max(np.abs(coefficients) * self.ranges))
        right_side = np.where(self.sensitive, distance, -distance)
        wrong = right_side < MARGIN - _OVERLOOKED
        missed = int(np.count_nonzero(wrong & self.sensitive))
        misclassified = int(np.count_nonzero(wrong))
        return Score(
            math.fsum(self.job_weights[wrong].tolist()),
            {
                "misclassified": misclassified,
                "missed": missed,
                "false_alarms": misclassified - missed,
                "margin": 0.0 if wrong.all() else float(right_side[~wrong].min()),
            },
        )


def _require_resolution(label: str, column: np.ndarray) -> None:
    """Reject a feature whose range would be lost in rounding when it is weighted and summed."""
    spread, size = float(column.max() - column.min()), float(np.abs(column).max())
    if 0 < spread < 1e-6 * size:
        raise InputError(
            f"feature {label} must have a range of at least 1e-6 of its largest value {size:g} (got {spread:g}); "
            "subtract a constant"
        )


def _checked(name: str, array: np.ndarray, shape: tuple[int, ...], *, positive: bool) -> np.ndarray:
    """Return a float copy of an array after checking its shape and every number."""
    numbers = checks.numbers(name, array, shape, low=-LARGEST, high=LARGEST)
    if positive and (numbers <= 0).any():
        j = int(np.argmax(numbers <= 0))
        checks.number(f"{name}[{j}]", numbers[j], above=0, high=LARGEST)
    return numbers


@dataclass(frozen=True)
class ThresholdSolution:
    """A job is called sensitive if the weighted sum of its features exceeds the threshold.

    Attributes
    ----------
    weights : tuple of float
        Weight of every feature, in score per unit of the feature.
    threshold : float
        Threshold in units of the score; PACKLIMIT if the only weight is 1.

    Raises
    ------
    InputError
        If a number is not finite.
    """

    weights: tuple[float, ...]
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", checks.finite_numbers("weights", self.weights))
        object.__setattr__(self, "threshold", checks.finite("threshold", self.threshold))
