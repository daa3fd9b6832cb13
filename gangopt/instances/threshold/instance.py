"""A rule that tells placement-sensitive jobs from their history: the instance, the solution and the judge."""

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
"""Least distance from the threshold at which a job counts as told apart, in parts of the features' ranges."""

_OVERLOOKED = 0.01 * MARGIN
"""What a distance may fall short of the margin: solvers and sums are good to some 1e-9 only."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdInstance(Instance):
    """A history of n jobs with d features x_j and the speed of each when spread, relative to when consolidated.

    Attributes
    ----------
    jobs : tuple of str
        Label of every job.
    features : tuple of str
        Name of every feature, as `skew`.
    values : ndarray
        X, shape (n, d), any unit.
    ratio : ndarray
        Performance under random placement over performance when consolidated, shape (n,), above 0.
    limit : float
        A job is sensitive to placement if its ratio is below this.
    weights : ndarray or None
        V, what an error on each job counts, shape (n,), above 0; one each by default.
    sensitive : ndarray
        Ratio < limit, shape (n,).
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
        if not 1 <= n <= MAX_JOBS:
            raise InputError(f"jobs: {n} jobs, 1 to {MAX_JOBS} are allowed")
        if not 1 <= d <= MAX_FEATURES:
            raise InputError(f"features: {d} features, 1 to {MAX_FEATURES} are allowed")
        object.__setattr__(self, "jobs", checks.labels("jobs", self.jobs))
        object.__setattr__(self, "features", checks.labels("features", self.features))
        if not 0 < self.limit <= LARGEST:
            raise InputError(f"limit: {self.limit}, a number above 0 is needed")
        weights = np.ones(n) if self.weights is None else self.weights
        for name, array, shape, positive in (
            ("values", self.values, (n, d), False),
            ("ratio", self.ratio, (n,), True),
            ("weights", weights, (n,), True),
        ):
            object.__setattr__(self, name, _checked(name, array, shape, positive=positive))
        for feature, label in enumerate(self.features):
            _require_resolution(label, self.values[:, feature])
        object.__setattr__(self, "limit", float(self.limit))
        object.__setattr__(self, "sensitive", self.ratio < self.limit)
        self._freeze()

    @property
    def varies(self) -> np.ndarray:
        """Whether the jobs differ in a feature, shape (d,)."""
        differ: np.ndarray = self.values.max(axis=0) > self.values.min(axis=0)
        return differ

    @property
    def ranges(self) -> np.ndarray:
        """Largest less least value of every feature, 1 where all are equal, shape (d,)."""
        spread = self.values.max(axis=0) - self.values.min(axis=0)
        return np.where(spread > 0, spread, 1.0)

    @property
    def job_weights(self) -> np.ndarray:
        """What an error on each job counts, shape (n,)."""
        assert self.weights is not None
        return self.weights

    def check(self, solution: ThresholdSolution) -> list[Violation]:
        """Return every broken rule: `one_weight_per_feature`, and `nonzero_weights` (at least one is not zero)."""
        if len(solution.weights) != len(self.features):
            count = len(solution.weights)
            return [Violation("one_weight_per_feature", "number of weights", count, len(self.features))]
        if not any(solution.weights):
            return [Violation("nonzero_weights", "weights not zero", 0, 1)]
        return []

    def evaluate(self, solution: ThresholdSolution) -> Score:
        r"""Return the weighted errors of a rule.

        The distance of job j is `(a x_j - b) / max_f(abs(a_f) r_f)` with the ranges r. A sensitive job is told apart if
        its distance is at least `MARGIN`, any other if it is at most -`MARGIN`; the rest are errors.

        .. math:: \text{objective} = \sum_{j \text{ not told apart}} v_j

        Parameters
        ----------
        solution : ThresholdSolution
            A feasible rule.

        Returns
        -------
        Score
            Metrics: `misclassified`, `missed` (sensitive ones) and `false_alarms`, in jobs; `margin`, the least
            distance of a job told apart, in parts of the features' ranges, 0 if there is none.
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
    """Refuse a feature whose range is lost in rounding once it is weighted and summed."""
    spread, size = float(column.max() - column.min()), float(np.abs(column).max())
    if 0 < spread < 1e-6 * size:
        raise InputError(
            f"feature {label}: values up to {size:g} that differ by {spread:g} only, "
            "a range of at least 1e-6 of the largest is needed; subtract a constant"
        )


def _checked(name: str, array: np.ndarray, shape: tuple[int, ...], *, positive: bool) -> np.ndarray:
    """Return a float copy of an array after checking its shape and every number."""
    numbers = np.array(array, dtype=np.float64)
    if numbers.shape != shape:
        raise InputError(f"{name}: shape {numbers.shape}, {shape} is needed")
    refused = ~(np.abs(numbers) <= LARGEST) | (positive and numbers <= 0)
    if refused.any():
        place = tuple(int(axis[0]) for axis in np.nonzero(refused))
        where = ", ".join(map(str, place))
        allowed = f"above 0 and up to {LARGEST:g}" if positive else f"from {-LARGEST:g} to {LARGEST:g}"
        raise InputError(f"{name}[{where}]: {float(numbers[place])}, a number {allowed} is needed")
    return numbers


@dataclass(frozen=True)
class ThresholdSolution:
    """A job is called sensitive if the weighted sum of its features exceeds the threshold.

    Attributes
    ----------
    weights : tuple of float
        A, one for every feature, in score per unit of the feature.
    threshold : float
        B, in units of the score; PACKLIMIT where the one weight is 1.

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
