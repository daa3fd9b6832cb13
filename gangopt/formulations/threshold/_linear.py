r"""Formulation `linear` of `threshold`: a weighted sum of several features, and its threshold.

.. math::

    \min \sum_j v_j e_j, \quad y_j (a u_j - t) + M_j e_j \ge \delta, \quad -1 \le a_f \le 1

with y = 1 for sensitive jobs and -1 for others, and features u centred and divided by their range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, Set, Var, value

from gangopt.base.types import Floats, Pyomo
from gangopt.formulations import rows
from gangopt.formulations.contract import Formulation
from gangopt.formulations.size import require_size
from gangopt.formulations.threshold.goal import add_objective
from gangopt.instances.threshold.cuts import constant_rule
from gangopt.instances.threshold.instance import MARGIN, ThresholdInstance, ThresholdSolution

__all__ = ["BigM", "Linear", "largest_shortfall", "linear"]


@dataclass(frozen=True)
class BigM:
    """Big-M constants with their derivation.

    Attributes
    ----------
    values : ndarray of float
        M of each job, shape (n,), without unit.
    threshold : float
        Bound on the absolute value of the threshold, from which they follow.
    origin : str
        The derivation.
    """

    values: Floats
    threshold: float
    origin: str


def largest_shortfall(instance: ThresholdInstance) -> BigM:
    """Return the largest violation of each row of `told_apart`, from the bounds of the variables.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    """
    features = _centred(instance)
    limit = len(instance.features) / 2 + MARGIN
    return BigM(
        np.abs(features).sum(axis=1) + limit + MARGIN,
        limit,
        "|a_f| <= 1 and |u_jf| <= 1/2, so a threshold beyond d/2 + margin changes nothing; "
        "the row then fails by at most sum_f |u_jf| + |t| + margin",
    )


def _centred(instance: ThresholdInstance) -> Floats:
    centred: Floats = (instance.values - _centres(instance)) / instance.ranges
    return centred


def _centres(instance: ThresholdInstance) -> Floats:
    least = instance.values.min(axis=0)
    centres: Floats = least + (instance.values.max(axis=0) - least) / 2
    return centres


class Linear(Formulation[ThresholdInstance, ThresholdSolution]):
    """Linear classifier with the least weighted errors.

    Public components: Var `weight` [feature] in [-1, 1], for features that are centred and divided by their range; Var
    `limit`, the threshold on the same scale; Var `error` [job], 1 if the job may be misclassified; Expression
    `objective_value`. A feature that is equal in all jobs has weight 0.
    """

    name = "linear"
    sense = "minimise"

    def _fill(self, block: Pyomo, instance: ThresholdInstance) -> None:
        require_size("threshold linear", len(instance.jobs) + len(instance.features) + 1)
        big = largest_shortfall(instance)
        with PauseGC():
            block.jobs = Set(initialize=list(instance.jobs))
            block.features = Set(initialize=list(instance.features))
            varies = dict(zip(instance.features, instance.varies.tolist(), strict=True))
            block.weight = Var(block.features, bounds=lambda _, feature: (-1, 1) if varies[feature] else (0, 0))
            block.limit = Var(bounds=(-big.threshold, big.threshold))
            block.error = Var(block.jobs, domain=Binary)
            weights = list(block.weight.values())
            told = {}
            for j, (job, features) in enumerate(zip(instance.jobs, _centred(instance).tolist(), strict=True)):
                sign = 1.0 if instance.sensitive[j] else -1.0
                coefficients = [*(sign * item for item in features), -sign, float(big.values[j])]
                body = rows.linear(coefficients, [*weights, block.limit, block.error[job]])
                told[job] = (MARGIN, body, None)
            block.told_apart = Constraint(block.jobs, rule=lambda _, job: told[job])
            add_objective(block, instance)

    def _read(self, block: Pyomo, instance: ThresholdInstance) -> ThresholdSolution:
        """Return the solution given by `weight` and `limit`, with the largest weight times range scaled to 1.

        Weights too small to separate the classes by the margin stand for a rule that treats all jobs alike.
        """
        weights = np.array([value(item) for item in block.weight.values()])
        limit = float(value(block.limit))
        if np.abs(weights).sum() < 1.99 * MARGIN:
            return constant_rule(instance, sensitive=limit < 0)
        scale = float(np.abs(weights).max())
        original = weights / scale / instance.ranges
        return ThresholdSolution(tuple(original.tolist()), limit / scale + float(original @ _centres(instance)))

    def _hint(self, block: Pyomo, instance: ThresholdInstance, solution: ThresholdSolution) -> None:
        """Set every variable to a solution, for a warm start; weights of constant features move to the limit."""
        original = np.array(solution.weights)
        scaled = np.where(instance.varies, original * instance.ranges, 0.0)
        scale = float(np.abs(scaled).max()) or 1.0
        bound = largest_shortfall(instance).threshold
        limit = float(np.clip((solution.threshold - original @ _centres(instance)) / scale, -bound, bound))
        distance = np.where(instance.sensitive, 1, -1) * (_centred(instance) @ (scaled / scale) - limit)
        for feature, weight in zip(instance.features, (scaled / scale).tolist(), strict=True):
            block.weight[feature].set_value(weight)
        block.limit.set_value(limit)
        for job, far in zip(instance.jobs, distance.tolist(), strict=True):
            block.error[job].set_value(int(far < MARGIN))


linear = Linear()
