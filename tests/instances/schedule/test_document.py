import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.document import validate
from gangopt.base.errors import InputError
from gangopt.catalogue import read_document, to_document
from gangopt.instances.schedule.document import ScheduleSolutionDocument
from gangopt.instances.schedule.generate import random
from gangopt.instances.schedule.instance import Run, ScheduleSolution


@given(
    st.builds(
        random,
        jobs=st.integers(1, 8),
        gpus=st.sampled_from([2, 4, 6]),
        machines=st.sampled_from([0, 1, 2]),
        weights=st.integers(1, 3),
        slot=st.sampled_from([0.0, 1.0, 0.25]),
        seed=st.integers(0, 1000),
    )
)
def test_write_then_read_is_the_identity(instance):
    assert read_document(to_document(instance), "t") == instance


times = st.floats(0, 1e9)
places = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=3).map(tuple)


@given(st.lists(st.lists(st.builds(Run, times, times, places), max_size=3), max_size=3))
def test_writing_and_reading_a_schedule_is_the_identity(runs):
    solution = ScheduleSolution(tuple(map(tuple, runs)))
    document = ScheduleSolutionDocument.from_solution(solution)
    assert validate(ScheduleSolutionDocument, document.model_dump(), "t").to_solution() == solution


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("jobs", 0, "gpus"), 0, "field jobs.0.gpus: input should be greater than or equal to 1"),
        (("jobs", 0, "duration"), 0.0, "field jobs.0.duration: input should be greater than 0"),
        (("jobs", 0, "arrival"), "1", "field jobs.0.arrival: input should be a valid number"),
        (("jobs", 0, "size"), 1, "field jobs.0.size: extra inputs are not permitted"),
        (("jobs",), [], "field jobs: list should have at least 1 item"),
        (("slot",), 0.0, "field slot: input should be greater than 0"),
        (("machines",), [5], r"t: machines must have n_gpus=4 GPUs in total \(got 5\)"),
    ],
)
def test_defects_are_named(path, value, message):
    content = to_document(random(jobs=2))
    target = content
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    with pytest.raises(InputError, match=message):
        read_document(content, "t")
