"""The decision as `gangopt solve` prints it: what it says, and that it stays on a screen."""

import dataclasses

import pytest

import gangopt
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution
from gangopt.registry.problem import resolve
from gangopt.registry.records import problems
from gangopt.reporting.decision import SHOWN, WIDTH, decision_lines
from gangopt.reporting.text import result_text

LARGE = {
    "allocation": ("allocation/random?jobs=30&seed=1", "optimus"),
    "interval": ("interval/random?jobs=30&servers=4&seed=1", "drf+spread"),
    "network_placement": ("network_placement/random?machines=60&workers=50&seed=1", "random"),
    "parameters": ("parameters/random?blocks=60&servers=30&seed=1", "mxnet"),
    "placement": ("placement/random?servers=30&jobs=30&seed=1", "optimus"),
    "threshold": ("threshold/random?jobs=400&seed=1", "class_means"),
}


def lines_of(name, method="exact"):
    instance = gangopt.load(name)
    result = gangopt.solve(instance, method)
    return decision_lines(result, instance), result, instance


@pytest.mark.parametrize("noun", LARGE)
def test_large_decisions_are_cut_and_say_how_much_is_left(noun):
    lines, result, instance = lines_of(*LARGE[noun])
    assert result.solution_status != "none"
    assert len(lines) == SHOWN + 2
    assert all(0 < len(line) <= WIDTH for line in lines)
    left = sum(1 for _ in resolve(problems[noun].describe_solution)(instance, result.solution)) - SHOWN
    assert lines[-1] == f"... and {left - 1:,} more; --json or -o FILE gives all"


def test_small_decisions_are_whole(small_names):
    for noun in LARGE:
        lines, result, instance = lines_of(small_names[noun])
        assert lines
        assert result_text(result, instance).endswith("\n\n" + "\n".join(lines))
        assert not result_text(result).endswith(lines[-1])


def test_parameters_say_which_blocks_are_where_and_cut():
    instance = ParametersInstance(name="x", shapes=((8,), (4,)), servers=2, labels=("a", "b"))
    solution = ParametersSolution((((0, 6), (1, 2)), ((1, 4),)))
    hook = resolve(problems["parameters"].describe_solution)
    assert [line.split(None, 3) for line in hook(instance, solution)] == [
        ["server", "parameters", "requests", "blocks"],
        ["0", "6", "1", "a (6 of 8)"],
        ["1", "6", "2", "a (2 of 8), b"],
    ]


def test_allocation_says_tasks_and_seconds():
    lines, result, instance = lines_of("allocation/optimus-figure4")
    times = [
        instance.completion_time(j, p, w)
        for j, (w, p) in enumerate(zip(result.solution.workers, result.solution.parameter_servers, strict=True))
    ]
    for line, job, w, time in zip(lines[1:], instance.jobs, result.solution.workers, times, strict=True):
        assert line.split()[:2] == [job, str(w)]
        assert line.endswith(f"{time:,.6g}")


def test_placement_says_hosts_and_why_a_job_is_paused():
    lines, result, _ = lines_of("interval/random?jobs=30&servers=4&seed=1", "drf+spread")
    assert result.metrics["jobs_paused"] > 0
    text = "\n".join(lines)
    assert "paused: " in text
    assert "server-0: " in text
    lines, _, _ = lines_of("placement/optimus-figure10")
    assert all(" worker" in line or " ps" in line for line in lines[1:])


def test_network_placement_says_workers_load_and_servers():
    lines, result, instance = lines_of("network_placement/four-machines")
    rows = [line.split(None, 3) for line in lines[1:]]
    assert sum(int(row[1]) for row in rows) == instance.workers
    assert max(float(row[2]) for row in rows) <= result.objective
    hosted = [int(server) for row in rows if row[3] != "-" for server in row[3].split(", ")]
    assert sorted(hosted) == list(range(len(instance.ps_sizes)))


def test_threshold_says_the_rule_and_its_errors():
    lines, result, _ = lines_of("threshold/random?jobs=60&seed=1")
    assert lines[0] == f"consolidate if skew > {result.solution.threshold:.6g}"
    assert sum("missed" in line for line in lines) == result.metrics["missed"]
    assert sum("a false alarm" in line for line in lines) == result.metrics["false_alarms"]


def test_a_decision_without_words_of_its_own_prints_its_fields(monkeypatch):
    instance = gangopt.load("allocation/optimus-figure4")
    result = gangopt.solve(instance, "drf")
    plain = dataclasses.replace(problems["allocation"], describe_solution=None)
    monkeypatch.setattr("gangopt.reporting.decision.problems", {"allocation": plain})
    lines = decision_lines(result, instance)
    assert lines[0] == "decision"
    assert any(line.startswith(("workers", "jobs")) for line in lines[1:])


def test_no_solution_prints_no_decision():
    instance = gangopt.load("allocation/random?jobs=30&nodes=1")
    result = gangopt.solve(instance)
    assert result.solution_status == "none"
    assert decision_lines(result, instance) == []
