import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.document import validate
from gangopt.base.errors import InputError
from gangopt.catalogue import read_document, to_document
from gangopt.instances.threshold.document import ThresholdSolutionDocument
from gangopt.instances.threshold.generate import random
from gangopt.instances.threshold.instance import ThresholdInstance, ThresholdSolution

PRINTABLE = st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])
numbers = st.floats(-100, 100).map(lambda item: round(item, 3))


@st.composite
def histories(draw):
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    positive = st.floats(1e-3, 1e6)
    return ThresholdInstance(
        name=draw(st.text(PRINTABLE, min_size=1, max_size=9)),
        description=draw(st.text(PRINTABLE, max_size=9)),
        jobs=tuple(f"job{j}" for j in range(n)),
        features=tuple(f"f{f}" for f in range(d)),
        values=np.array(draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n))),
        ratio=np.array(draw(st.lists(positive, min_size=n, max_size=n))),
        limit=draw(positive),
        weights=np.array(draw(st.lists(positive, min_size=n, max_size=n))),
    )


@given(histories())
def test_write_then_read_is_the_identity(instance):
    assert read_document(to_document(instance), "t") == instance


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4), st.floats(-1e9, 1e9))
def test_writing_and_reading_a_rule_is_the_identity(weights, threshold):
    solution = ThresholdSolution(tuple(weights), threshold)
    document = ThresholdSolutionDocument.from_solution(solution)
    assert validate(ThresholdSolutionDocument, document.model_dump(), "t").to_solution() == solution


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("jobs", 0, "ratio"), 0.0, "field jobs.0.ratio: input should be greater than 0"),
        (("jobs", 0, "ratio"), "1", "field jobs.0.ratio: input should be a valid number"),
        (("jobs", 0, "values"), [], "field jobs.0.values: list should have at least 1 item"),
        (
            ("jobs", 0, "values"),
            [1.0, 2.0],
            r"t: jobs\[0\]\.values must have one value for each of the 1 features \(got 2\)",
        ),
        (("jobs", 0, "weight"), -1.0, "field jobs.0.weight: input should be greater than 0"),
        (("jobs", 0, "colour"), 1, "field jobs.0.colour: extra inputs are not permitted"),
        (("limit",), 0, "field limit: input should be greater than 0"),
        (("features",), [], "field features: list should have at least 1 item"),
        (("jobs",), [], "field jobs: list should have at least 1 item"),
    ],
)
def test_a_defective_field_is_one_line(path, value, message):
    document = to_document(random(jobs=3))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InputError, match=message) as caught:
        read_document(document, "t")
    assert "\n" not in str(caught.value)
