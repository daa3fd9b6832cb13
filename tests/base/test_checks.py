from __future__ import annotations

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.allocation.instance import AllocationSolution
from gangopt.instances.interval.instance import IntervalSolution
from gangopt.instances.network_placement.instance import NetworkPlacementSolution
from gangopt.instances.parameters.instance import ParametersSolution
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.instances.threshold.instance import ThresholdSolution

NO_WHOLE_NUMBERS = [7.9, 7.0, True, np.True_, "7", None, float("nan"), np.float64(7), 10**16, -(10**16)]


@pytest.mark.parametrize("value", NO_WHOLE_NUMBERS)
@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda x: AllocationSolution((1, x), (1, 1)), r"workers\[1\]"),
        (lambda x: AllocationSolution((1, 1), (x, 1)), r"parameter_servers\[0\]"),
        (lambda x: NetworkPlacementSolution((x,), (0,)), r"workers\[0\]"),
        (lambda x: NetworkPlacementSolution((1,), (0, x)), r"ps_hosts\[1\]"),
        (lambda x: ParametersSolution((((0, x),),)), r"parts\[0\]"),
        (lambda x: ParametersSolution((((0, 5),), ((x, 5),))), r"parts\[1\]"),
        (lambda x: PlacementSolution((((0, 1, x),),), ("",)), r"pieces\[0\]"),
    ],
)
def test_solutions_of_anything_but_whole_numbers_are_refused(make, field, value):
    with pytest.raises(InputError, match=rf"^{field}: .*whole number"):
        make(value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AllocationSolution(7, (1,)), "workers: 7, whole numbers are needed"),
        (lambda: AllocationSolution("12", (1,)), "workers: '12', whole numbers are needed"),
        (lambda: AllocationSolution((1,), [[1]]), r"parameter_servers\[0\]: \[1\], a whole number"),
        (lambda: NetworkPlacementSolution((1,), None), "ps_hosts: None, whole numbers are needed"),
        (lambda: ParametersSolution(5), "parts: 5, lists of pieces are needed"),
        (lambda: ParametersSolution(((0, 5),)), r"parts\[0\]: 0, whole numbers \(server, parameters\) are needed"),
        (lambda: ParametersSolution((5,)), r"parts\[0\]: 5, pieces are needed"),
        (lambda: ParametersSolution((((0, 5, 1),),)), r"parts\[0\]: \(0, 5, 1\), whole numbers"),
        (lambda: PlacementSolution((((0, 1, 1),),), (None,)), r"reasons\[0\]: None, a text is needed"),
        (lambda: PlacementSolution((((0, 1, 1),),), "x"), "reasons: 'x', texts are needed"),
        (lambda: PlacementSolution((((0, 1, 1),),), 3), "reasons: 3, texts are needed"),
        (
            lambda: IntervalSolution((1,), PlacementSolution((), ())),
            "allocation: given tuple, an object of type AllocationSolution",
        ),
        (lambda: IntervalSolution(AllocationSolution((), ()), None), "placement: given NoneType, an object of type Pl"),
        (lambda: ThresholdSolution((True,), 0.5), r"weights\[0\]: True, a finite number is needed"),
        (lambda: ThresholdSolution((1.0,), "0.5"), "threshold: '0.5', a finite number is needed"),
        (lambda: ThresholdSolution((1.0,), float("inf")), "threshold: inf, a finite number is needed"),
        (lambda: ThresholdSolution((10**400,), 0.5), r"weights\[0\]: 1000.*, a finite number is needed"),
        (lambda: ThresholdSolution(1.0, 0.5), "weights: 1.0, finite numbers are needed"),
    ],
)
def test_solutions_of_another_shape_are_refused_in_one_line(make, message):
    with pytest.raises(InputError, match=f"^{message}"):
        make()


def test_whole_numbers_of_numpy_become_plain_ints():
    allocation = AllocationSolution(np.array([7, 2]), [np.int64(1), np.uint8(3)])
    assert allocation == AllocationSolution((7, 2), (1, 3))
    parts = ParametersSolution([np.array([[1, 2], [0, 5]])])
    assert parts.parts == (((0, 5), (1, 2)),)
    placement = PlacementSolution((((np.int32(0), 1, 1),),), [""])
    host = NetworkPlacementSolution((np.int64(1),), np.array([0]))
    numbers = [*allocation.workers, *allocation.parameter_servers, *parts.parts[0][0], *placement.pieces[0][0]]
    assert {type(number) for number in [*numbers, *host.workers, *host.ps_hosts]} == {int}


def test_numbers_of_numpy_become_plain_floats():
    rule = ThresholdSolution(np.array([1.0, 2.0]), np.float32(0.5))
    assert rule == ThresholdSolution((1, 2), 0.5)
    assert {type(number) for number in [*rule.weights, rule.threshold]} == {float}
