"""The named instances of `placement`: stored solutions are judged again, optima are proven again."""

from __future__ import annotations

import pytest

import gangopt
from gangopt.base.document import validate
from gangopt.base.jsonfile import parse_json
from gangopt.catalogue import _folder, entries
from gangopt.instances.placement.document import PlacementSolutionDocument

ENTRIES = entries("placement")

RULE = {
    "fewest-not-best-p2-w6": 3.0,
    "fewest-not-best-p1-w4": 2.0,
    "unequal-bandwidth-p2-w3": 2.0,
    "unequal-bandwidth-p2-w4": 2.0,
}
"""Seconds of Theorem 1's rule, where it is not optimal."""


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_stored_solution_has_the_stated_value(entry):
    instance = gangopt.load(entry.name)
    text = (_folder("placement") / entry.solution).read_text("utf-8")
    solution = validate(PlacementSolutionDocument, parse_json(text, entry.solution), entry.solution).to_solution()
    assert instance.check(solution) == []
    assert instance.evaluate(solution).objective == entry.best


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_optimum_is_proven_again(entry):
    result = gangopt.solve(gangopt.load(entry.name), time_limit=60)
    assert result.termination == entry.status == "optimal"
    assert result.objective == pytest.approx(entry.best, rel=1e-9)
    assert result.bound == pytest.approx(entry.bound, rel=1e-9)


@pytest.mark.parametrize(("case", "seconds"), RULE.items())
def test_theorem_1_is_not_optimal_where_the_name_says_so(case, seconds):
    instance = gangopt.load(f"placement/{case}")
    assert gangopt.solve(instance, "theorem1").objective == seconds
    assert gangopt.solve(instance).objective == seconds - 1


def test_more_servers_can_be_better():
    instance = gangopt.load("placement/more-servers-better")
    two = gangopt.solve(gangopt.load("placement/more-servers-better"), form="pieces").solution
    assert len(two.pieces[0]) == 3
    on_two = type(two)((((0, 0, 3), (1, 2, 0)),), ("",))
    assert instance.check(on_two) == []
    assert instance.evaluate(on_two).objective == 3.0
    assert gangopt.solve(instance).objective == 2.0


@pytest.mark.parametrize(
    ("case", "placed", "seconds", "optimum"),
    [
        ("competing-jobs-wrong-server", 2, 1.0, 0.0),
        ("competing-jobs-pauses-one-of-two", 1, 0.0, 2.0),
        ("competing-jobs-pauses-large", 1, 0.0, 0.0),
    ],
)
def test_smallest_job_first_is_not_optimal_for_competing_jobs(case, placed, seconds, optimum):
    instance = gangopt.load(f"placement/{case}")
    rule = gangopt.solve(instance, "optimus")
    assert (rule.metrics["jobs_placed"], rule.metrics["transfer_time"]) == (placed, seconds)
    best = gangopt.solve(instance)
    assert (best.metrics["jobs_placed"], best.objective) == (2, optimum)


def test_the_testbed_has_the_tasks_that_its_allocation_rule_gives():
    allocation = gangopt.solve(gangopt.load("allocation/optimus-testbed"), "optimus").solution
    instance = gangopt.load("placement/optimus-testbed")
    assert tuple(instance.workers.tolist()) == allocation.workers
    assert tuple(instance.parameter_servers.tolist()) == allocation.parameter_servers
    assert instance.fewest_paused == 1
