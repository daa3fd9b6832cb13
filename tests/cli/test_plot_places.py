"""`gangopt plot` of a solution on its cluster."""

import json

import pytest

import gangopt
from gangopt.solvers.core.resultfile import result_json, topology_in
from gangopt.topology import State


@pytest.fixture
def saved(call, tmp_path):
    path = tmp_path / "result.json"
    assert call("solve", "placement/random?jobs=4&cluster=tiresias-testbed&seed=1", "-o", path)[0] == 0
    return path


def test_solution_is_drawn_on_its_cluster_with_its_trajectory_beside_it(call, saved, tmp_path):
    code, out, _ = call("plot", saved, "-o", tmp_path / "where.svg")
    assert code == 0
    assert out.splitlines() == [str(tmp_path / "where.svg"), str(tmp_path / "where-trajectory.svg")]
    picture = (tmp_path / "where.svg").read_text()
    assert "<!-- m14 -->" in picture
    held = json.loads(saved.read_text())["topology"]["state"]["held"]
    assert all(f"<!-- {row['owner']} -->" in picture for row in held if "gpus" in row)


def test_saved_state_is_the_one_after_the_solution():
    instance = gangopt.load("placement/random?jobs=4&cluster=tiresias-testbed&seed=1")
    result = gangopt.solve(instance)
    record = result_json(result, instance)
    assert topology_in(json.loads(json.dumps(record)), "here") == instance.state_after(result.solution)
    assert list(record)[-2:] == ["topology", "solution"]


def test_results_without_places_have_no_topology():
    instance = gangopt.load("allocation/optimus-figure4")
    record = result_json(gangopt.solve(instance), instance)
    assert "topology" not in record
    assert topology_in(record, "here") is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda topology: topology.pop("state"), "field topology must have the fields cluster and state"),
        (lambda topology: topology.update(cluster="themis-testbed"), "field topology: state.held"),
        (lambda topology: topology.update(cluster="no-such"), "field topology: unknown cluster"),
        (
            lambda topology: topology["state"]["held"].append({"owner": "x", "gpus": ["m99.g0"]}),
            "field topology: state.held",
        ),
        (
            lambda topology: topology["state"]["held"].append({"owner": "x", "amounts": {"m0": {"cpu": 1e9}}}),
            "field topology: state.held",
        ),
    ],
)
def test_a_cluster_that_changed_under_a_result_is_named_in_one_line(refused, saved, tmp_path, change, message):
    record = json.loads(saved.read_text())
    change(record["topology"])
    saved.write_text(json.dumps(record))
    assert message in refused("plot", saved, "-o", tmp_path / "where.png")
    assert not (tmp_path / "where.png").exists()


def test_states_give_what_every_owner_holds_in_one_pass():
    cluster = gangopt.load("placement/random?jobs=4&cluster=tiresias-testbed&seed=1").cluster
    state = State(cluster)
    cpu = next(name for name in cluster.resources if name != "gpu")
    state.allocate("a", amounts={0: {cpu: 1.0}, 1: {cpu: 2.0}}, shares={0: 0.25})
    state.allocate("b", amounts={1: {cpu: 0.5}}, shares={0: 0.5})
    assert state.amounts_by_owner() == {"a": {0: {cpu: 1.0}, 1: {cpu: 2.0}}, "b": {1: {cpu: 0.5}}}
    assert state.shares_by_owner() == {"a": {0: 0.25}, "b": {0: 0.5}}
    assert state.amounts_of("c") == {}
    assert state.shares_of("c") == {}
