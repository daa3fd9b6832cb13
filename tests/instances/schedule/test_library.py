import json
from importlib import resources

import pytest

from gangopt.base.document import validate
from gangopt.catalogue import entries, load
from gangopt.instances.schedule.document import ScheduleSolutionDocument
from gangopt.solvers.solve import solve

FOLDER = resources.files("gangopt.instances") / "library" / "schedule"
ENTRIES = entries("schedule")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_best_is_solved_again_and_proven(entry):
    result = solve(load(entry.name))
    assert result.termination == "optimal"
    assert result.objective == pytest.approx(entry.best, rel=1e-12)
    assert result.bound == pytest.approx(entry.bound, rel=1e-9)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_stored_solution_is_worth_what_the_index_says(entry):
    instance = load(entry.name)
    stored = json.loads((FOLDER / entry.solution).read_text("utf-8"))
    solution = validate(ScheduleSolutionDocument, stored, entry.solution).to_solution()
    assert instance.check(solution) == []
    assert instance.evaluate(solution).objective == entry.best


def test_optima_by_hand():
    best = {entry.name.partition("/")[2]: entry.best for entry in ENTRIES}
    assert best == pytest.approx(
        {
            "tiresias-figure7": 26 / 3,
            "two-equal": 3,
            "interrupted": 3,
            "halves": 13 / 5,
            "halves-slotted": 14 / 5,
            "full-gangs": 6.2220279 / 2,
            "fragments": 4,
        }
    )
