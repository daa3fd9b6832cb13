"""Files of `placement`: writing and reading back is the identity, defects are named."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.document import validate
from gangopt.base.errors import InputError
from gangopt.base.jsonfile import dump_json, parse_json
from gangopt.catalogue import read_document, to_document
from gangopt.instances.placement.document import PlacementSolutionDocument
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.solvers.placement.heuristics import spread

PRINTABLE = st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])
amounts = st.floats(0, 1e6, allow_nan=False)
positive = st.floats(1e-6, 1e6, allow_nan=False)


@st.composite
def instances(draw):
    J, K, R = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 2))

    def table(rows, values):
        return np.array([[draw(values) for _ in range(R)] for _ in range(rows)])

    def column(values):
        return np.array([draw(values) for _ in range(J)])

    return PlacementInstance.from_machines(
        name="x",
        source=draw(st.text(PRINTABLE, max_size=5)),
        resources=("cpu", "disk")[:R],
        units=("core", "")[:R],
        machines=tuple(f"s{k}" for k in range(K)),
        capacity=table(K, amounts),
        jobs=tuple(f"j{j}" for j in range(J)),
        parameter_servers=column(st.integers(1, 4)),
        workers=column(st.integers(1, 4)),
        ps_demand=table(J, amounts),
        worker_demand=table(J, amounts),
        size=column(positive),
        ps_bandwidth=column(positive),
        worker_bandwidth=column(positive),
        steps=column(amounts),
        compute=column(amounts),
        pause_charge=column(amounts),
        objective=draw(st.sampled_from(["transfer", "completion"])),
        charge=draw(st.sampled_from(["tasks", "hosts"])),
    )


@given(instances())
def test_instances_and_solutions_are_read_back_as_written(instance):
    assert read_document(parse_json(dump_json(to_document(instance)), "file"), "file") == instance
    solution = spread(instance)
    text = dump_json(PlacementSolutionDocument.from_solution(solution).model_dump(mode="json"))
    assert validate(PlacementSolutionDocument, parse_json(text, "file"), "file").to_solution() == solution


JOB = {
    "label": "j",
    "parameter_servers": 1,
    "workers": 1,
    "parameter_server": {"cpu": 1},
    "worker": {"cpu": 1},
    "size": 1,
    "ps_bandwidth": 1,
    "worker_bandwidth": 1,
}
OLD = {
    "noun": "placement",
    "version": 1,
    "name": "x",
    "resources": [{"name": "cpu", "unit": "core"}],
    "servers": [{"label": "s", "capacity": {"cpu": 4}}],
    "jobs": [JOB],
}

GOOD = {key: value for key, value in OLD.items() if key != "servers"} | {
    "version": 2,
    "cluster": {"machines": [{"name": "s", "capacities": {"cpu": 4}}, {"name": "t", "rack": "r1", "slots": [2]}]},
    "state": {"held": [{"owner": "x", "amounts": {"s": {"cpu": 1}}}]},
}


def test_version_1_means_the_same_as_a_wholly_free_cluster():
    old = read_document(OLD, "file")
    new = read_document(GOOD | {"cluster": {"machines": GOOD["cluster"]["machines"][:1]}, "state": {}}, "file")
    assert old == new
    assert (old.machines, old.capacity.tolist()) == (("s",), [[4.0]])


def test_what_is_held_is_not_free():
    instance = read_document(GOOD, "file")
    assert instance.capacity.tolist() == [[3.0], [0.0]]
    assert read_document(to_document(instance), "file") == instance


def test_requirements_are_read_and_written():
    requirement = {"gpu_types": [], "labels": {}, "tolerates": ["spot"], "level": "rack", "preferred_level": ""}
    document = GOOD | {"jobs": [JOB | {"requirement": requirement}]}
    assert to_document(read_document(document, "file"))["jobs"][0]["requirement"] == requirement


def test_steps_compute_objective_and_charge_have_defaults():
    instance = read_document(GOOD, "file")
    assert (instance.objective, instance.charge) == ("transfer", "tasks")
    assert (instance.steps.tolist(), instance.compute.tolist()) == ([1.0], [0.0])


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("resources",), [], "field resources"),
        (("cluster",), "nowhere", "field cluster: unknown cluster 'nowhere'"),
        (("cluster",), {"machines": []}, "field cluster: machines must be a non-empty list"),
        (
            ("state",),
            {"held": [{"owner": "a", "gpus": ["t.g2"]}]},
            "field state: state.held\\[0\\]: unknown GPU 't.g2'",
        ),
        (
            ("state",),
            {"held": [{"owner": "a", "amounts": {"s": {"cpu": 5}}}]},
            "field state: state.held\\[0\\]: machine 's' has 4 cpu free, but 'a' requests 5",
        ),
        (("jobs", 0, "requirement"), {"level": "row"}, "job 'j': level must be one of cluster, rack, machine"),
        (("jobs", 0, "requirement"), {"gpu_types": ["T4"]}, "job 'j': unknown GPU type 'T4'; the cluster has none"),
        (("version",), 3, "field version must be 1 or 2 \\(got 3\\)"),
        (("jobs",), [], "field jobs"),
        (("jobs", 0, "workers"), 0, "field jobs.0.workers"),
        (("jobs", 0, "workers"), 1.5, "field jobs.0.workers"),
        (("jobs", 0, "size"), 0, "field jobs.0.size"),
        (("jobs", 0, "ps_bandwidth"), -1, "field jobs.0.ps_bandwidth"),
        (("jobs", 0, "colour"), "red", "field jobs.0.colour"),
        (("jobs", 0, "worker"), {}, "jobs.0.worker: the amount of cpu is missing; write 0 if there is none"),
        (("jobs", 0, "parameter_server"), {"cpu": 1, "disk": 1}, "jobs.0.parameter_server: unknown resource 'disk'"),
        (("objective",), "speed", "field objective"),
        (("charge",), "all", "field charge"),
    ],
)
def test_defects_name_file_and_field(path, value, message):
    document = copy.deepcopy(GOOD)
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(InputError, match=f"file: {message}"):
        read_document(document, "file")


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ({"capacity": {"gpu": 1}}, "servers.0.capacity: unknown resource 'gpu'; known: cpu"),
        ({"capacity": {"cpu": -1}}, "field servers.0.capacity.cpu"),
        ({}, "field servers.0.capacity"),
    ],
)
def test_defects_of_version_1(server, message):
    with pytest.raises(InputError, match=f"file: {message}"):
        read_document(OLD | {"servers": [{"label": "s", **server}]}, "file")


@pytest.mark.parametrize(
    ("gpus", "message"), [(0.5, "machine 's': gpu must be an integer"), (1e9, "at most 2,000,000 GPUs")]
)
def test_gpus_of_version_1_are_nodes_of_the_tree(gpus, message):
    document = OLD | {
        "resources": [{"name": "gpu", "unit": "GPU"}],
        "servers": [{"label": "s", "capacity": {"gpu": gpus}}],
        "jobs": [JOB | {"parameter_server": {"gpu": 0}, "worker": {"gpu": 1}}],
    }
    with pytest.raises(InputError, match=message):
        read_document(document, "file")


@pytest.mark.parametrize(
    "piece",
    [
        {"server": -1, "parameter_servers": 1, "workers": 1},
        {"server": 0, "parameter_servers": -1, "workers": 1},
        {"server": 0, "parameter_servers": 1, "workers": 1001},
        {"server": 0, "workers": 1},
    ],
)
def test_bad_pieces_are_refused(piece):
    with pytest.raises(InputError, match=r"field jobs\.0\.pieces\.0\."):
        validate(PlacementSolutionDocument, {"jobs": [{"pieces": [piece]}]}, "file")
