"""The named instances of `bid`: stored tables are judged again, optima are proven again."""

import pytest

import gangopt
from gangopt.base.document import validate
from gangopt.base.jsonfile import parse_json
from gangopt.catalogue import _folder, entries
from gangopt.instances.bid.document import BidSolutionDocument

ENTRIES = entries("bid")


@pytest.mark.parametrize("entry", [item for item in ENTRIES if item.solution], ids=lambda entry: entry.name)
def test_stored_table_has_the_stated_value(entry):
    instance = gangopt.load(entry.name)
    text = (_folder("bid") / entry.solution).read_text("utf-8")
    solution = validate(BidSolutionDocument, parse_json(text, entry.solution), entry.solution).to_solution()
    assert instance.check(solution) == []
    assert instance.evaluate(solution).objective == entry.best


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_optimum_is_proven_again(entry):
    result = gangopt.solve(gangopt.load(entry.name), time_limit=60)
    assert result.termination == entry.status == "optimal"
    assert result.objective == pytest.approx(entry.best, rel=1e-12)
    assert entry.best == entry.bound
