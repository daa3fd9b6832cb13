"""`gangopt plot` of a solution on its cluster."""

import json
from dataclasses import replace

import pytest

import gangopt
from gangopt.base.jsonfile import write_json
from gangopt.catalogue import to_document
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


@pytest.fixture
def sharing(tmp_path):
    """A placement file whose workers use half a GPU each."""
    instance = gangopt.load("placement/optimus-testbed")
    demand = instance.worker_demand.copy()
    demand[:, instance.resources.index("gpu")] = 0.5
    path = tmp_path / "sharing.json"
    write_json(path, to_document(replace(instance, worker_demand=demand)))
    return path


def test_solution_that_shares_gpus_is_saved_with_the_reason_why_it_has_no_places(call, sharing, tmp_path):
    path = tmp_path / "result.json"
    code, out, err = call("solve", sharing, "--method", "optimus", "-o", path)
    assert (code, err) == (0, "")
    assert "objective" in out
    record = json.loads(path.read_text())
    assert record["solution"]["jobs"]
    assert set(record["topology"]) == {"reason"}
    assert "only whole GPUs can be assigned" in record["topology"]["reason"]
    record["trajectory"] = [[0.0, 2.0, 1.0]]
    write_json(path, record)
    code, out, err = call("plot", path, "-o", tmp_path / "a.svg")
    assert (code, out) == (0, f"{tmp_path / 'a.svg'}\n")
    assert "the solution is not drawn: job " in err


def test_invalid_trajectory_leaves_nothing_written(refused, saved, tmp_path):
    write_json(saved, json.loads(saved.read_text()) | {"trajectory": [["x"]]})
    assert "not a result saved by gangopt" in refused("plot", saved, "-o", tmp_path / "where.png")
    assert not list(tmp_path.glob("where*"))


def test_names_are_plain_text_in_the_title(call, saved, tmp_path):
    write_json(saved, json.loads(saved.read_text()) | {"instance": r"a $\nosuch{$ b", "trajectory": []})
    assert call("plot", saved, "-o", tmp_path / "where.png")[0] == 0


def test_interval_is_drawn_on_its_cluster(call, tmp_path):
    path = tmp_path / "result.json"
    assert call("solve", "interval/fragments", "--method", "optimus+optimus", "-o", path)[0] == 0
    assert call("plot", path, "-o", tmp_path / "where.svg")[0] == 0
    assert "<!-- server-1 -->" in (tmp_path / "where.svg").read_text()


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
