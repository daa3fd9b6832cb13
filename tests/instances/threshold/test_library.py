import dataclasses
import json
from importlib import resources

import pytest

from gangopt.base.document import validate
from gangopt.catalogue import entries, load
from gangopt.instances.threshold.document import ThresholdSolutionDocument
from gangopt.instances.threshold.generate import figure3
from gangopt.solvers.solve import solve

FOLDER = resources.files("gangopt.instances") / "library" / "threshold"
ENTRIES = entries("threshold")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_best_is_solved_again_and_proven(entry):
    result = solve(load(entry.name))
    assert result.termination == "optimal"
    assert (result.objective, result.bound) == (entry.best, entry.bound)


@pytest.mark.parametrize("entry", [item for item in ENTRIES if item.solution], ids=lambda entry: entry.name)
def test_stored_solution_is_worth_what_the_index_says(entry):
    instance = load(entry.name)
    stored = json.loads((FOLDER / entry.solution).read_text("utf-8"))
    solution = validate(ThresholdSolutionDocument, stored, entry.solution).to_solution()
    assert instance.check(solution) == []
    assert instance.evaluate(solution).objective == entry.best


def test_figure3_file_is_what_the_tensor_lists_give():
    assert load("threshold/tiresias-figure3") == dataclasses.replace(figure3(8), name="threshold/tiresias-figure3")
