"""The packaged allocations: stored solutions are judged again, optima are proven again."""

import pytest

import gangopt
from gangopt.base.document import validate
from gangopt.base.jsonfile import parse_json
from gangopt.catalogue import _folder, entries
from gangopt.instances.allocation.document import AllocationSolutionDocument

ENTRIES = entries("allocation")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_stored_solution_has_the_stated_value_and_is_optimal(entry):
    instance = gangopt.load(entry.name)
    text = (_folder("allocation") / entry.solution).read_text("utf-8")
    solution = validate(AllocationSolutionDocument, parse_json(text, entry.solution), entry.solution).to_solution()
    assert instance.check(solution) == []
    assert instance.evaluate(solution).objective == pytest.approx(entry.best, rel=1e-12)
    result = gangopt.solve(instance)
    assert entry.status == result.termination == "optimal"
    assert result.objective == pytest.approx(entry.best, rel=1e-9)
    assert result.bound == pytest.approx(entry.bound, rel=1e-9)


def test_figure_4_splits_twenty_containers_eight_to_twelve():
    result = gangopt.solve(gangopt.load("allocation/optimus-figure4"))
    assert (result.solution.workers, result.solution.parameter_servers) == ((8,), (12,))


def test_testbed_has_the_thirteen_servers_and_says_where_each_job_comes_from():
    instance = gangopt.load("allocation/optimus-testbed")
    assert dict(zip(instance.resources, instance.capacity.tolist(), strict=True)) == {
        "cpu": 7 * 16 + 6 * 8,
        "memory": 7 * 80 + 6 * 48,
        "gpu": 12,
    }
    assert len(instance.jobs) == 9
    assert all("found" in text or "memory only" in text for text in instance.job_sources)
    unsure = [job for job, text in zip(instance.jobs, instance.job_sources, strict=True) if "memory only" in text]
    assert unsure == ["KAGGLE", "DeepSpeech2"]
    assert "memory only" in instance.source
