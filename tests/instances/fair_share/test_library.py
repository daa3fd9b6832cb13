"""The named instances of `fair_share`: stored solutions are judged again, optima are proven again."""

from __future__ import annotations

import pytest

import gangopt
from gangopt.base.document import validate
from gangopt.base.jsonfile import parse_json
from gangopt.catalogue import _folder, entries
from gangopt.instances.fair_share.document import FairShareSolutionDocument

ENTRIES = entries("fair_share")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_stored_solution_has_the_stated_value(entry):
    instance = gangopt.load(entry.name)
    text = (_folder("fair_share") / entry.solution).read_text("utf-8")
    solution = validate(FairShareSolutionDocument, parse_json(text, entry.solution), entry.solution).to_solution()
    assert instance.check(solution) == []
    assert instance.evaluate(solution).objective == entry.best


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_optimum_is_proven_again(entry):
    for form in (None, "places", "patterns"):
        result = gangopt.solve(gangopt.load(entry.name), form=form)
        assert result.termination == entry.status == "optimal"
        assert result.objective == pytest.approx(entry.best, rel=1e-9)
        assert result.bound == pytest.approx(entry.bound, rel=1e-9)


def test_figure_5_slowdown_is_that_of_table_1():
    instance = gangopt.load("fair_share/themis-figure5a")
    spread = gangopt.solve(instance, "drf")
    assert spread.metrics["rho"] == pytest.approx([103.6 / 80.4] * 2, rel=1e-12)
