"""Instances, results, comparisons, workloads and replays as `print`, `repr` and notebooks show them."""

import copy
import pickle
from dataclasses import replace

import pytest

import gangopt
from gangopt.replays.contest import contest

NAME = "placement/optimus-figure10"
NAMED = [name for name in gangopt.names() if name.endswith(("-testbed", "figure5a", "figure7"))]


@pytest.fixture(scope="module")
def result():
    return gangopt.solve(gangopt.load(NAME))


@pytest.fixture(scope="module")
def played():
    return gangopt.replay(gangopt.load_workload("workload/tiresias-testbed?seed=1"), 60, "srsf")


@pytest.mark.parametrize("name", NAMED)
def test_instance_prints_what_show_prints_and_is_one_short_line(name, call):
    instance = gangopt.load(name)
    assert f"{instance}\n" == call("show", name)[1]
    assert repr(instance) == f"{type(instance).__name__}(name={name!r})"


def test_result_prints_the_lines_of_solve(result, call):
    figures = [line for line in call("solve", NAME)[1].splitlines() if line and not line.startswith("seconds")]
    lines = [line for line in str(result).splitlines() if not line.startswith("seconds")]
    assert lines == figures[: len(lines)]
    assert repr(result) == (
        f"Result(instance='{NAME}', method='exact', termination='optimal', objective=2.0, bound=2.0)"
    )


def test_comparison_prints_its_tables():
    comparison = gangopt.compare([NAME], methods=["pack", "spread"])
    assert str(comparison).startswith("placement: minimise")
    assert "by method" in str(comparison)
    assert repr(comparison) == "Comparison(rows=2, instances=1, methods=2)"


def test_workload_prints_what_workload_prints(call):
    name = "workload/tiresias-testbed?seed=1"
    assert f"{gangopt.load_workload(name)}\n" == call("workload", name)[1]


def test_replay_prints_every_metric_with_its_unit(played):
    text = str(played)
    assert "policy           srsf" in text
    assert f"preemptions      {played.metrics['preemptions']} stops" in text
    assert len(text.splitlines()) == 3 + len(played.metrics)
    assert len(repr(played)) < 120


def test_contest_prints_its_table_and_bound():
    jobs = gangopt.Workload.from_columns({"id": ["a", "b"], "arrival": [0, 0], "gpus": [1, 2], "duration": [1, 2]})
    shown = contest(jobs, 2, ["srsf", "fifo"])
    assert "no scheduler of fixed gangs" in str(shown)
    assert "policies=['srsf', 'fifo']" in repr(shown)


def test_notebooks_show_the_text_with_escaped_characters(result):
    special = replace(gangopt.load(NAME), description="a < b & c")
    assert "a &lt; b &amp; c" in special._repr_html_()
    assert special._repr_html_().startswith("<pre>")


def test_replay_equals_its_copies_and_a_second_run_whatever_the_time_it_took(played):
    again = gangopt.replay(played.workload, 60, "srsf")
    assert played == copy.deepcopy(played) == pickle.loads(pickle.dumps(played)) == again
    assert played != gangopt.replay(played.workload, 60, "fifo")
    assert played != "srsf"


def test_results_and_replays_refuse_to_be_hashed(result, played):
    with pytest.raises(TypeError, match="unhashable type: 'Result'"):
        hash(result)
    with pytest.raises(TypeError, match="unhashable type: 'Replay'"):
        hash(played)
