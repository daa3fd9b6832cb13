"""Allocation files: reading back what was written is the identity, and each defect has its message."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.document import validate
from gangopt.base.errors import InputError
from gangopt.instances.allocation.document import AllocationDocument, AllocationSolutionDocument
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution

PRINTABLE = st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])
amount = st.just(0.0) | st.floats(1e-15, 1e15, allow_nan=False)
positive = st.floats(1e-15, 1e15, allow_nan=False)
label = st.text(PRINTABLE, min_size=1, max_size=10)


@st.composite
def instances(draw):
    J, R = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    T = draw(st.integers(0, 2))
    tables = []
    for _ in range(T):
        P, W = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        cells = draw(st.lists(st.one_of(positive, st.just(float("nan"))), min_size=P * W, max_size=P * W))
        tables.append(np.array([*cells[:-1], draw(positive)]).reshape(P, W))
    modes = st.sampled_from(["async", "sync", "table"] if T else ["async", "sync"])
    mode = draw(st.lists(modes, min_size=J, max_size=J))
    table = [draw(st.integers(0, T - 1)) if m == "table" else -1 for m in mode]
    count = {"async": 4, "sync": 5, "table": 0}
    theta = [[*[draw(positive) for _ in range(count[m])], *[0.0] * (5 - count[m])] for m in mode]
    limits = [tables[t].shape if t >= 0 else (draw(st.integers(1, 9)), draw(st.integers(1, 9))) for t in table]
    return AllocationInstance(
        name=draw(label),
        description=draw(st.text(PRINTABLE, max_size=5)),
        source="s",
        resources=("cpu", "memory", "gpu")[:R],
        units=tuple(draw(st.sampled_from(["core", "", "µ"])) for _ in range(R)),
        capacity=[draw(positive) for _ in range(R)],
        jobs=tuple(draw(st.lists(label, min_size=J, max_size=J, unique=True))),
        steps=[draw(amount) for _ in range(J)],
        mode=tuple(mode),
        theta=theta,
        batch=[draw(positive) if m == "sync" else 0.0 for m in mode],
        tables=tuple(tables),
        table_labels=tuple(draw(st.lists(label, min_size=T, max_size=T, unique=True))),
        table=table,
        worker_demand=[[draw(amount) for _ in range(R)] for _ in range(J)],
        ps_demand=[[draw(amount) for _ in range(R)] for _ in range(J)],
        max_workers=[W for _, W in limits],
        max_ps=[P for P, _ in limits],
        progress=[draw(st.floats(0, 1)) for _ in range(J)],
        job_sources=tuple(draw(st.text(max_size=3)) for _ in range(J)),
    )


@given(instances())
def test_write_then_read_is_the_identity(instance):
    text = json.dumps(AllocationDocument.from_instance(instance).model_dump(mode="json"), allow_nan=False)
    again = validate(AllocationDocument, json.loads(text), "file").to_instance()
    assert again == instance


def job(**changed):
    fields = {
        "label": "a",
        "steps": 10.0,
        "mode": "async",
        "theta": [1.0, 0.0, 0.0, 0.0],
        "worker": {"cpu": 1.0},
        "max_workers": 3,
        "max_parameter_servers": 3,
    }
    return {key: value for key, value in (fields | changed).items() if value is not None}


def document(*jobs, **changed):
    fields = {
        "noun": "allocation",
        "version": 1,
        "name": "x",
        "resources": [{"name": "cpu", "capacity": 4.0}],
        "jobs": list(jobs) or [job()],
    }
    return fields | changed


def read(content):
    return validate(AllocationDocument, content, "file").to_instance()


def test_defaults_are_zero_demand_and_the_size_of_the_table():
    tabled = job(mode="table", theta=None, table="t", max_workers=None, max_parameter_servers=None)
    instance = read(document(tabled, tables={"t": [[1.0, None, 2.0]]}))
    assert (instance.max_ps[0], instance.max_workers[0]) == (1, 3)
    assert instance.ps_demand.tolist() == [[0.0]]
    assert np.isnan(instance.tables[0][0, 1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            document(job(mode="table", theta=None, table="u"), tables={"t": [[1.0]]}),
            r"jobs\[0\]\.table: unknown table 'u'; known: t",
        ),
        (document(job(mode="table", theta=None)), r"table\[0\] must be the index of a table for mode table \(got -1\)"),
        (document(job(theta=[1.0])), r"jobs\[0\]\.theta must have 4 coefficients for mode async \(got 1\)"),
        (document(job(worker={"gpu": 1.0})), r"jobs\[0\]\.worker: unknown resource 'gpu'; known: cpu"),
        (
            document(job(parameter_server={"gpu": 1.0})),
            r"jobs\[0\]\.parameter_server: unknown resource 'gpu'; known: cpu",
        ),
        (document(job(max_workers=None)), r"jobs\[0\]: mode async must have max_workers and max_parameter_servers"),
        (document(tables={"t": [[1.0], [1.0, 2.0]]}), r"tables\.t must have rows of equal length \(got \[1, 2\]\)"),
        (document(tables={"t": []}), r"tables\.t must have rows of equal length \(got \[\]\)"),
        (document(tables={"t": [[0.0]]}), "field tables.t.0.0"),
        (document(job(), job()), r"jobs\[1\]: duplicate label 'a' \(first at jobs\[0\]\)"),
        (document(jobs=[]), "field jobs"),
        (document(resources=[]), "field resources"),
        (document(resources=[{"name": "cpu", "capacity": 0.0}]), "field resources.0.capacity"),
        (document(job(steps=-1.0)), "field jobs.0.steps"),
        (document(job(steps=1e300)), "field jobs.0.steps"),
        (document(job(steps="10")), "field jobs.0.steps"),
        (document(job(colour="red")), "field jobs.0.colour"),
        (document(job(mode="both")), "field jobs.0.mode"),
        (document(job(progress=2.0)), "field jobs.0.progress"),
        (document(job(max_workers=0)), "field jobs.0.max_workers"),
        (document(job(max_workers=1.5)), "field jobs.0.max_workers"),
    ],
)
def test_every_defect_has_its_message(content, message):
    with pytest.raises(InputError, match=message) as caught:
        read(content)
    assert "\n" not in str(caught.value)


def test_solution_file():
    solution = AllocationSolution((1, 2), (3, 4))
    content = AllocationSolutionDocument.from_solution(solution).model_dump(mode="json")
    assert content == {"workers": [1, 2], "parameter_servers": [3, 4]}
    assert validate(AllocationSolutionDocument, content, "file").to_solution() == solution
    with pytest.raises(InputError, match=r"field workers\.0"):
        validate(AllocationSolutionDocument, {"workers": [0], "parameter_servers": [1]}, "file")
