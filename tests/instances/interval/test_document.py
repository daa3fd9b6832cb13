"""Interval files: reading back what was written is the identity, and each defect has its own message."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError
from gangopt.catalogue import load, read_document, to_document
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.instances.interval.document import IntervalSolutionDocument
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution
from gangopt.instances.placement.solution import PlacementSolution

POSITIVE = st.floats(0.001, 1e6)


@st.composite
def intervals(draw):
    J, K = draw(st.integers(1, 3)), draw(st.integers(1, 3))

    def column(values, length=J):
        return np.array(draw(st.lists(values, min_size=length, max_size=length)))

    modes = draw(st.lists(st.sampled_from(["async", "sync", "table"]), min_size=J, max_size=J))
    theta = np.zeros((J, 5))
    for j, mode in enumerate(modes):
        count = {"async": 4, "sync": 5, "table": 0}[mode]
        theta[j, :count] = draw(st.lists(POSITIVE, min_size=count, max_size=count))
    capacity = np.array(draw(st.lists(st.lists(POSITIVE, min_size=2, max_size=2), min_size=K, max_size=K)))
    allocation = AllocationInstance(
        name="x",
        resources=("cpu", "disk"),
        units=("core", ""),
        capacity=capacity.sum(axis=0),
        jobs=tuple(f"j{j}" for j in range(J)),
        steps=column(POSITIVE),
        mode=tuple(modes),
        theta=theta,
        batch=np.where(np.array(modes) == "sync", 32.0, 0.0),
        tables=(np.array([[1.0, np.nan], [2.5, 3.0]]),),
        table_labels=("t",),
        table=np.where(np.array(modes) == "table", 0, -1),
        worker_demand=np.array([[1.0, 0.5]] * J),
        ps_demand=np.array([[1.0, 0.0]] * J),
        max_workers=np.full(J, 2),
        max_ps=np.full(J, 2),
        progress=column(st.floats(0, 1)),
    )
    return IntervalInstance.from_machines(
        allocation,
        tuple(f"s{k}" for k in range(K)),
        capacity,
        name="interval/drawn",
        description=draw(st.sampled_from(["", "some text"])),
        size=column(POSITIVE),
        ps_bandwidth=column(POSITIVE),
        worker_bandwidth=column(POSITIVE),
        interval=draw(POSITIVE),
        charge=draw(st.sampled_from(["tasks", "hosts"])),
    )


@given(intervals())
@settings(max_examples=40, deadline=None)
def test_write_then_read_is_the_identity(instance):
    assert read_document(to_document(instance), "file") == instance


def test_solutions_come_back():
    solution = IntervalSolution(
        AllocationSolution((1, 2), (1, 1)), PlacementSolution((((0, 1, 1),), ()), ("", "no room"))
    )
    document = IntervalSolutionDocument.from_solution(solution)
    assert IntervalSolutionDocument.model_validate(document.model_dump()).to_solution() == solution


def changed(path, value):
    document = to_document(load("interval/fragments"))
    *parents, last = path
    at = document
    for key in parents:
        at = at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("cluster",), "nowhere", "field cluster: unknown cluster 'nowhere'"),
        (("resources",), [{"name": "tpu"}], "resources: nothing of tpu is free on the cluster"),
        (("jobs", 0, "requirement"), {"level": "rack"}, "interval: requirements must not have a level"),
        (("jobs", 0, "size"), None, "field jobs.0.size"),
        (("jobs", 0, "theta"), [1.0], r"jobs\[0\].theta must have 4 coefficients for mode async"),
        (("interval",), -1.0, "field interval"),
        (("jobs",), [], "field jobs"),
    ],
)
def test_defects(path, value, message):
    with pytest.raises(InputError, match=f"^file: .*{message}"):
        read_document(changed(path, value), "file")


def old(document, *servers):
    """Return the file of version 1 of the same jobs on servers."""
    kept = {key: value for key, value in document.items() if key not in {"cluster", "state"}}
    for job in kept["jobs"]:
        del job["requirement"]
    rows = [{"label": f"s{k}", "capacity": capacity} for k, capacity in enumerate(servers)]
    return kept | {"version": 1, "servers": rows}


def test_version_1_means_the_same():
    document = to_document(load("interval/fragments"))
    found = read_document(old(document, {"cpu": 5.0}, {"cpu": 5.0}), "file")
    assert found.capacity.tolist() == [[5.0], [5.0]]
    best = gangopt.solve(found)
    assert best.proven
    assert best.objective == gangopt.solve("interval/fragments").objective


@pytest.mark.parametrize(
    ("servers", "message"),
    [
        (({"cpu": 0.0},), "servers: no server has any cpu; remove the resource or give a capacity > 0"),
        (({"cpu": 1e15},) * 3, r"servers: total capacity of cpu must be a number from 0 to 1e15 \(got 3"),
        (({},), "servers.0.capacity: the amount of cpu is missing"),
        (({"cpu": 1.0, "tpu": 1.0},), "servers.0.capacity: unknown resource 'tpu'; known: cpu"),
    ],
)
def test_defects_of_version_1(servers, message):
    with pytest.raises(InputError, match=f"^file: {message}"):
        read_document(old(to_document(load("interval/fragments")), *servers), "file")
