"""The named instances of `parameters`: stored solutions are judged again, optima are proven again."""

from __future__ import annotations

import pytest

import gangopt
from gangopt.base.document import validate
from gangopt.base.jsonfile import parse_json
from gangopt.catalogue import _folder, entries
from gangopt.instances.parameters.document import ParametersSolutionDocument

ENTRIES = entries("parameters")


@pytest.mark.parametrize("entry", [item for item in ENTRIES if item.solution], ids=lambda entry: entry.name)
def test_stored_solution_has_the_stated_value(entry):
    instance = gangopt.load(entry.name)
    text = (_folder("parameters") / entry.solution).read_text("utf-8")
    solution = validate(ParametersSolutionDocument, parse_json(text, entry.solution), entry.solution).to_solution()
    assert instance.check(solution) == []
    score = instance.evaluate(solution)
    assert score.objective == entry.best
    assert score.metrics["requests"] == len(instance.sizes)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_optimum_is_proven_again(entry):
    result = gangopt.solve(gangopt.load(entry.name), time_limit=60)
    assert result.termination == entry.status == "optimal"
    assert result.objective == result.bound == entry.best == entry.bound
    assert result.form == "levels"


def test_resnet50_is_stored_for_every_named_number_of_servers():
    stored = [entry.name for entry in ENTRIES if entry.solution]
    assert stored == [f"parameters/resnet50-p{servers}" for servers in (4, 6, 8, 10, 12, 16, 20)]


def test_any_number_of_servers_is_an_instance():
    assert gangopt.load("parameters/resnet50-p37").servers == 37
    with pytest.raises(gangopt.base.errors.InputError, match="servers: 0"):
        gangopt.load("parameters/resnet50-p0")
