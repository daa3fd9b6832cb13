r"""Forms of `threshold`: `cut` chooses a cut of one feature, `linear` a weighted sum of several and its threshold.

.. math::

    \text{cut:}\quad & \min \sum_j v_j e_j, \quad \sum_c z_c = 1, \quad e_j = \sum_{c \text{ gets } j \text{ wrong}} z_c

    \text{linear:}\quad & \min \sum_j v_j e_j, \quad y_j (a u_j - t) + M_j e_j \ge \delta, \quad -1 \le a_f \le 1

with y = 1 for sensitive jobs and -1 for others, and features u centred and divided by their range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, Expression, Set, Var, value

from gangopt.base.errors import InputError
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.size import require_size
from gangopt.formulations.whole_model import minimising
from gangopt.instances.threshold.cuts import constant_rule, cuts_of, solution_of
from gangopt.instances.threshold.instance import MARGIN, ThresholdInstance, ThresholdSolution

__all__ = [
    "BigM",
    "cut_model",
    "fill_cut",
    "fill_linear",
    "hint_cut",
    "hint_linear",
    "largest_shortfall",
    "linear_model",
    "read_cut",
    "read_linear",
]


def fill_cut(block: Any, instance: ThresholdInstance) -> None:  # noqa: ANN401 - Pyomo is untyped
    """Put the choice of one cut, with its direction, on a Block.

    Public components: Var `choose` [direction, cut], direction 0 if jobs above are called sensitive, 1 if those below
    are, cuts in ascending order from 0; Var `error` [job], 1 if the job is misclassified; Expression `objective_value`.

    Parameters
    ----------
    block : ConcreteModel or Block, empty
    instance : a history with one feature

    Raises
    ------
    InputError
        If there is more than one feature: no cut of one need be a best rule.
    ModelTooLargeError
        If jobs times cuts exceed what is built.
    """
    cuts = _cuts(instance)
    with PauseGC():
        block.jobs = Set(initialize=list(instance.jobs))
        block.cuts = Set(initialize=[(row, k) for row in (0, 1) for k in range(len(cuts))], dimen=2)
        block.choose = Var(block.cuts, domain=Binary)
        block.error = Var(block.jobs, bounds=(0, 1))
        block.one_cut = Constraint(expr=(1, sum_of(list(block.choose.values())), 1))
        rows = {}
        for j, job in enumerate(instance.jobs):
            wrong = [block.choose[int(row), int(k)] for row, k in np.argwhere(_wrong(instance, cuts, j))]
            body = linear([1] + [-1] * len(wrong), [block.error[job], *wrong])
            rows[job] = (0, body, 0)
        block.error_where_misclassified = Constraint(block.jobs, rule=lambda _, job: rows[job])
        _add_objective(block, instance)


def _cuts(instance: ThresholdInstance) -> np.ndarray:
    if len(instance.features) != 1:
        raise InputError(f"form cut is for one feature, {instance.name} has {len(instance.features)}; use linear")
    cuts = cuts_of(instance).positions
    require_size("threshold cut", 2 * len(cuts) * len(instance.jobs))
    return cuts


def _wrong(instance: ThresholdInstance, cuts: np.ndarray, job: int) -> np.ndarray:
    """Return which cuts, as (direction, cut), do not have a job a margin away on its side."""
    above = (instance.values[job, 0] - cuts) / instance.ranges[0]
    sign = 1 if instance.sensitive[job] else -1
    # 1 % less, as the judge: a cut that lies a margin beside a value shall pass in spite of rounding
    return np.stack((sign * above, -sign * above)) < 0.99 * MARGIN


def _add_objective(block: Any, instance: ThresholdInstance) -> None:  # noqa: ANN401 - Pyomo is untyped
    errors = [block.error[job] for job in instance.jobs]
    block.objective_value = Expression(expr=linear(instance.job_weights.tolist(), errors))


def cut_model(instance: ThresholdInstance) -> Any:  # noqa: ANN401 - Pyomo is untyped
    """Return a ConcreteModel of form `cut` with its Objective."""
    return minimising(fill_cut, instance)


def linear_model(instance: ThresholdInstance) -> Any:  # noqa: ANN401 - Pyomo is untyped
    """Return a ConcreteModel of form `linear` with its Objective."""
    return minimising(fill_linear, instance)


def read_cut(block: Any, instance: ThresholdInstance) -> ThresholdSolution:  # noqa: ANN401 - Pyomo is untyped
    """Return the Solution that the values of `choose` say."""
    row, k = max(block.choose, key=lambda key: value(block.choose[key]))
    return solution_of(instance, 0, row, float(cuts_of(instance).positions[k]))


def hint_cut(block: Any, instance: ThresholdInstance, solution: ThresholdSolution) -> None:  # noqa: ANN401 - Pyomo is untyped
    """Set every variable to the cut nearest to a Solution's."""
    cuts = _cuts(instance)
    row = int(solution.weights[0] < 0)
    nearest = int(np.argmin(np.abs(cuts - solution.threshold / solution.weights[0])))
    for key in block.choose:
        block.choose[key].set_value(int(key == (row, nearest)))
    for j, job in enumerate(instance.jobs):
        block.error[job].set_value(int(_wrong(instance, cuts, j)[row, nearest]))


@dataclass(frozen=True)
class BigM:
    """A big-M with its origin.

    Attributes
    ----------
    values : M of every job, shape (n,), no unit
    threshold : bound on the absolute value of the threshold from which it follows
    origin : the derivation
    """

    values: np.ndarray
    threshold: float
    origin: str


def largest_shortfall(instance: ThresholdInstance) -> BigM:
    """Return by how much each row of `told_apart` can fail, from the bounds of the variables.

    Parameters
    ----------
    instance : the history

    Returns
    -------
    BigM
    """
    features = _centred(instance)
    limit = len(instance.features) / 2 + MARGIN
    return BigM(
        np.abs(features).sum(axis=1) + limit + MARGIN,
        limit,
        "|a_f| <= 1 and |u_jf| <= 1/2, so a threshold beyond d/2 + margin changes nothing; "
        "the row then fails by at most sum_f |u_jf| + |t| + margin",
    )


def _centred(instance: ThresholdInstance) -> np.ndarray:
    centred: np.ndarray = (instance.values - _centres(instance)) / instance.ranges
    return centred


def _centres(instance: ThresholdInstance) -> np.ndarray:
    least = instance.values.min(axis=0)
    centres: np.ndarray = least + (instance.values.max(axis=0) - least) / 2
    return centres


def fill_linear(block: Any, instance: ThresholdInstance) -> None:  # noqa: ANN401 - Pyomo is untyped
    """Put the linear classifier of least weighted errors on a Block.

    Public components: Var `weight` [feature] in [-1, 1], for features that are centred and divided by their range; Var
    `limit`, the threshold on the same scale; Var `error` [job], 1 if the job may be misclassified; Expression
    `objective_value`. A feature that is equal in all jobs has weight 0.

    Parameters
    ----------
    block : ConcreteModel or Block, empty
    instance : a history with any number of features
    """
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
        rows = {}
        for j, (job, features) in enumerate(zip(instance.jobs, _centred(instance).tolist(), strict=True)):
            sign = 1.0 if instance.sensitive[j] else -1.0
            coefficients = [*(sign * item for item in features), -sign, float(big.values[j])]
            body = linear(coefficients, [*weights, block.limit, block.error[job]])
            rows[job] = (MARGIN, body, None)
        block.told_apart = Constraint(block.jobs, rule=lambda _, job: rows[job])
        _add_objective(block, instance)


def read_linear(block: Any, instance: ThresholdInstance) -> ThresholdSolution:  # noqa: ANN401 - Pyomo is untyped
    """Return the Solution that the values of `weight` and `limit` say, the largest weight times range scaled to 1.

    Weights too small to tell two classes apart by the margin stand for a rule that treats all jobs alike.

    Parameters
    ----------
    block : a filled Block whose variables have values
    instance : the history

    Returns
    -------
    ThresholdSolution
    """
    weights = np.array([value(item) for item in block.weight.values()])
    limit = float(value(block.limit))
    if np.abs(weights).sum() < 1.99 * MARGIN:
        return constant_rule(instance, sensitive=limit < 0)
    scale = float(np.abs(weights).max())
    original = weights / scale / instance.ranges
    return ThresholdSolution(tuple(original.tolist()), limit / scale + float(original @ _centres(instance)))


def hint_linear(block: Any, instance: ThresholdInstance, solution: ThresholdSolution) -> None:  # noqa: ANN401 - Pyomo is untyped
    """Set every variable to what a Solution says, for a warm start; weights of equal features go to the limit."""
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
