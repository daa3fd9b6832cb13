r"""Formulation `cut` of `threshold`: the choice of a cut of one feature.

.. math::

    \min \sum_j v_j e_j, \quad \sum_c z_c = 1, \quad e_j = \sum_{c \text{ gets } j \text{ wrong}} z_c
"""

from __future__ import annotations

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, Set, Var, value

from gangopt.base.errors import InputError
from gangopt.base.types import Bools, Floats, Pyomo
from gangopt.formulations.contract import Formulation
from gangopt.formulations.rows import linear, sum_of
from gangopt.formulations.size import require_size
from gangopt.formulations.threshold.goal import add_objective
from gangopt.instances.threshold.cuts import cuts_of, solution_of
from gangopt.instances.threshold.instance import MARGIN, ThresholdInstance, ThresholdSolution

__all__ = ["Cut", "cut"]


class Cut(Formulation[ThresholdInstance, ThresholdSolution]):
    """The choice of one cut, with its direction.

    Public components: Var `choose` [direction, cut], direction 0 if jobs above are classified as sensitive, 1 if
    those below are, cuts in ascending order from 0; Var `error` [job], 1 if the job is misclassified; Expression
    `objective_value`.

    Raises
    ------
    InputError
        If there is more than one feature.
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "cut"
    sense = "minimise"

    def _fill(self, block: Pyomo, instance: ThresholdInstance) -> None:
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
            add_objective(block, instance)

    def _read(self, block: Pyomo, instance: ThresholdInstance) -> ThresholdSolution:
        """Return the solution given by `choose`."""
        row, k = max(block.choose, key=lambda key: value(block.choose[key]))
        return solution_of(instance, 0, row, float(cuts_of(instance).positions[k]))

    def _hint(self, block: Pyomo, instance: ThresholdInstance, solution: ThresholdSolution) -> None:
        """Set every variable to the cut nearest to that of a solution."""
        cuts = _cuts(instance)
        row = int(solution.weights[0] < 0)
        nearest = int(np.argmin(np.abs(cuts - solution.threshold / solution.weights[0])))
        for key in block.choose:
            block.choose[key].set_value(int(key == (row, nearest)))
        for j, job in enumerate(instance.jobs):
            block.error[job].set_value(int(_wrong(instance, cuts, j)[row, nearest]))


cut = Cut()


def _cuts(instance: ThresholdInstance) -> Floats:
    if len(instance.features) != 1:
        raise InputError(f"formulation cut requires one feature (got {len(instance.features)}); use formulation linear")
    cuts = cuts_of(instance).positions
    require_size("threshold cut", 2 * len(cuts) * len(instance.jobs))
    return cuts


def _wrong(instance: ThresholdInstance, cuts: Floats, job: int) -> Bools:
    """Return the cuts (direction, cut) that misclassify a job or leave it less than the margin."""
    above = (instance.values[job, 0] - cuts) / instance.ranges[0]
    sign = 1 if instance.sensitive[job] else -1
    # 1 % less, like the checker: rounding must not reject a cut exactly a margin away from a value
    return np.stack((sign * above, -sign * above)) < 0.99 * MARGIN
