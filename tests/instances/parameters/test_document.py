"""Files of `parameters`: writing and reading back is the identity, defects are named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.document import validate
from gangopt.base.errors import InputError
from gangopt.base.jsonfile import dump_json, parse_json
from gangopt.instances.parameters.document import ParametersDocument, ParametersSolutionDocument
from gangopt.instances.parameters.generate import network
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution
from gangopt.solvers.parameters.heuristics import mxnet

PRINTABLE = st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])
shapes = st.lists(st.lists(st.integers(1, 1000), min_size=1, max_size=4).map(tuple), min_size=1, max_size=8)


def again(document):
    return validate(type(document), parse_json(dump_json(document.model_dump(mode="json")), "file"), "file")


@given(shapes.map(tuple), st.integers(1, 50), st.text(PRINTABLE, max_size=20))
def test_an_instance_is_read_back_as_written(listed, servers, source):
    instance = ParametersInstance(name="x", source=source, shapes=listed, servers=servers)
    assert again(ParametersDocument.from_instance(instance)).to_instance() == instance


def test_a_solution_is_read_back_as_written():
    solution = mxnet(network("resnet50", 10), seed=3)
    assert again(ParametersSolutionDocument.from_solution(solution)).to_solution() == solution


GOOD = {"noun": "parameters", "version": 1, "name": "x", "servers": 2, "blocks": [{"label": "a", "shape": [3]}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"servers": 0}, "field servers"),
        ({"servers": 1.5}, "field servers"),
        ({"blocks": []}, "field blocks"),
        ({"blocks": [{"label": "a", "shape": []}]}, "field blocks.0.shape"),
        ({"blocks": [{"label": "a", "shape": ["3"]}]}, "field blocks.0.shape.0"),
        ({"blocks": [{"label": "", "shape": [3]}]}, "field blocks.0.label"),
        ({"blocks": [{"shape": [3]}]}, "field blocks.0.label"),
        ({"size": 3}, "field size"),
        ({"version": 2}, "field version"),
    ],
)
def test_defects_name_file_and_field(changes, message):
    with pytest.raises(InputError, match=f"file: {message}: "):
        validate(ParametersDocument, {**GOOD, **changes}, "file")


@pytest.mark.parametrize("part", [{"server": -1, "parameters": 3}, {"server": 0, "parameters": 0}, {"server": 0}])
def test_bad_parts_are_refused(part):
    with pytest.raises(InputError, match=r"field parts\.0\.0\."):
        validate(ParametersSolutionDocument, {"parts": [[part]]}, "file")


def test_an_empty_solution_is_left_to_the_judge():
    assert ParametersSolutionDocument(parts=[[]]).to_solution() == ParametersSolution(((),))
