import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.base.jsonfile import dump_json, parse_json
from gangopt.catalogue import load, read_document, to_document
from gangopt.instances.network_placement.document import NetworkPlacementSolutionDocument
from gangopt.instances.network_placement.instance import NetworkPlacementInstance, NetworkPlacementSolution

PRINTABLE = st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])
amounts = st.just(0.0) | st.floats(1e-15, 1e15)


@st.composite
def instances(draw):
    m, p, r = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(0, 2))

    def array(*shape):
        count = int(np.prod(shape))
        return np.array(draw(st.lists(amounts, min_size=count, max_size=count))).reshape(shape)

    return NetworkPlacementInstance(
        name=draw(st.text(PRINTABLE, min_size=1, max_size=20)),
        description=draw(st.text(PRINTABLE, max_size=20)),
        machines=tuple(f"m{i}" for i in range(m)),
        free_gpus=np.array(draw(st.lists(st.integers(0, 9), min_size=m, max_size=m))),
        traffic=array(m),
        workers=draw(st.integers(1, 9)),
        ps_sizes=np.array(draw(st.lists(st.floats(0.001, 1e6), min_size=p, max_size=p))),
        skew=draw(st.none() | st.floats(0, 1)),
        resources=tuple(f"r{k}" for k in range(r)),
        free_capacity=array(m, r),
        worker_demand=array(r),
        ps_demand=array(r),
    )


@given(instances())
@settings(max_examples=60, deadline=None)
def test_write_then_read_is_the_identity(instance):
    assert read_document(parse_json(dump_json(to_document(instance)), "t"), "t") == instance


def test_solution_write_then_read_is_the_identity():
    solution = NetworkPlacementSolution((2, 0, 1), (0, 0, 2))
    assert NetworkPlacementSolutionDocument.from_solution(solution).to_solution() == solution


def _broken(change):
    value = copy.deepcopy(to_document(load("network_placement/four-machines")))
    change(value)
    return value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.pop("workers"), "field workers: field required"),
        (lambda v: v.update(workers="6"), "field workers: input should be a valid integer"),
        (lambda v: v.update(workers=0), "field workers: .*greater than or equal to 1"),
        (lambda v: v.update(speed=1), "field speed: extra inputs are not permitted"),
        (lambda v: v["machines"][1].update(traffic=-1.0), r"field machines.1.traffic: .*greater than or equal to 0"),
        (lambda v: v["machines"][1].update(free_gpus=1.5), r"field machines.1.free_gpus"),
        (
            lambda v: v["machines"][1].update(label="a"),
            r"machines\[1\]: duplicate label 'a' \(first at machines\[0\]\)",
        ),
        (
            lambda v: v["machines"][2].update(free_capacity=[]),
            r"job\.json: machines\[2\]\.free_capacity must have one number for each of the 1 resources \(got 0\)",
        ),
        (
            lambda v: v.update(ps_sizes=[0.0]),
            r"job\.json: sum of ps_sizes must be a number from 1e-15 to 1e15 MiB \(got 0\.0\)",
        ),
        (lambda v: v.update(skew=2), "field skew"),
    ],
)
def test_each_defect_of_a_file_is_one_line_with_the_field(change, message):
    with pytest.raises(InputError, match=message) as caught:
        read_document(_broken(change), "job.json")
    assert str(caught.value).startswith("job.json: ")
    assert "\n" not in str(caught.value)
