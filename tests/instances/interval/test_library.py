"""Packaged intervals: the stored solutions are what the index says."""

import pytest

import gangopt
from gangopt.base.document import validate
from gangopt.base.jsonfile import read_json
from gangopt.catalogue import entries, load
from gangopt.instances.interval.document import IntervalSolutionDocument
from gangopt.instances.library import __path__ as library

ENTRIES = {item.name: item for item in entries("interval")}
SECONDS = ["interval/fragments", "interval/one-server"]


@pytest.mark.parametrize("name", ENTRIES)
def test_stored_solution(name):
    record = ENTRIES[name]
    instance = load(name)
    path = f"{next(iter(library))}/interval/{record.solution}"
    solution = validate(IntervalSolutionDocument, read_json(path), path).to_solution()
    assert not instance.check(solution)
    assert instance.evaluate(solution).objective == pytest.approx(record.best, rel=1e-12)
    assert record.status == "optimal"
    assert record.bound == record.best


@pytest.mark.parametrize("name", SECONDS)
def test_solved_again(name):
    result = gangopt.solve(load(name), "exact")
    assert result.termination == "optimal"
    assert result.objective == pytest.approx(ENTRIES[name].best, rel=1e-9)


@pytest.mark.slow
def test_testbed_solved_again():
    result = gangopt.solve(load("interval/optimus-testbed"), "exact")
    assert result.termination == "optimal"
    assert result.objective == pytest.approx(ENTRIES["interval/optimus-testbed"].best, rel=1e-9)
    in_turn = gangopt.solve(load("interval/optimus-testbed"), "exact+exact")
    assert in_turn.metrics["jobs_paused"] == 1


def test_what_the_small_cases_show():
    # 9 of 10 cores in sum, but each server holds one task of 3: in turn, the job is paused
    fragments = load("interval/fragments")
    assert gangopt.solve(fragments, "exact+exact").metrics["jobs_placed"] == 0
    assert gangopt.solve(fragments, "exact").metrics["jobs_placed"] == 1
    # on one server the transfers vanish, which the fitted speeds do not tell
    one = load("interval/one-server")
    best, in_turn = gangopt.solve(one, "exact"), gangopt.solve(one, "exact+exact")
    assert in_turn.metrics["fitted_completion_time"] < best.metrics["fitted_completion_time"]
    assert in_turn.objective > 1.2 * best.objective
