"""Files of `fair_share`: write then read is the identity, and each defect is one line."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.base.jsonfile import dump_json, parse_json
from gangopt.catalogue import load, read_document, to_document
from gangopt.instances.auction.bids import AppBid
from gangopt.instances.fair_share.document import FairShareSolutionDocument
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.solution import FairShareSolution

values = st.fractions(min_value=Fraction(1, 1000), max_value=1000) | st.floats(1e-6, 1e6)


@st.composite
def instances(draw):
    machines, racks, resources = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(0, 2))
    apps = []
    for i in range(draw(st.integers(1, 3))):
        rows = draw(
            st.lists(
                st.tuples(st.integers(1, 9), st.sampled_from(["machine", "rack", "cluster"]), values),
                min_size=1,
                max_size=4,
                unique_by=lambda row: row[:2],
            )
        )
        held = tuple((m, draw(st.integers(1, 3))) for m in sorted(draw(st.sets(st.integers(0, machines - 1)))))
        apps.append(AppBid.from_rows(f"a{i}", rows, value_at_zero=draw(st.just(0) | values), held=held))
    amounts = st.floats(0.5, 1e6)
    return FairShareInstance(
        name="t",
        description=draw(st.sampled_from(["", "text"])),
        racks=tuple(f"r{r}" for r in range(racks)),
        machines=tuple(f"m{m}" for m in range(machines)),
        machine_rack=[draw(st.integers(0, racks - 1)) for _ in range(machines)],
        offered=[draw(st.integers(0, 8)) for _ in range(machines)],
        apps=tuple(apps),
        resources=tuple(f"x{r}" for r in range(resources)),
        capacities=[draw(amounts) for _ in range(resources)],
        demands=[[draw(st.just(0.0) | amounts) for _ in range(resources)] for _ in apps],
    )


@given(instances())
@settings(max_examples=60)
def test_write_then_read_is_the_identity(instance):
    assert read_document(parse_json(dump_json(to_document(instance)), "t"), "t") == instance


def test_solution_write_then_read_is_the_identity():
    solution = FairShareSolution((((0, 2), (3, 1)), ()))
    assert FairShareSolutionDocument.from_solution(solution).to_solution() == solution


def test_values_that_no_double_says_are_written_as_quotients():
    instance = load("fair_share/themis-figure5b")
    rows = to_document(instance)["apps"][1]["rows"]
    assert {row["value"] for row in rows if row["gpus"] == 4} == {1.0, "201/259"}
    assert read_document(to_document(instance), "t").apps[1].at(1, 4) == Fraction(201, 259)


def test_rows_that_differ_in_their_value_alone_are_refused():
    value = _broken(
        lambda v: v["apps"][0].update(
            rows=[{"gpus": 1, "level": "cluster", "value": 1}, {"gpus": 1, "level": "cluster", "value": "2/3"}]
        )
    )
    label = value["apps"][0]["label"]
    with pytest.raises(InputError) as caught:
        read_document(value, "mine.json")
    told = f"app {label!r}: rows 0 and 1 (1 GPUs, cluster) must have the same value (got 1.0 and 2/3)"
    assert str(caught.value) == f"mine.json: {told}"


def _broken(change):
    value = copy.deepcopy(to_document(load("fair_share/two-resources")))
    change(value)
    return value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v["machines"][0].update(rack="attic"), r"file\.json: machines\[0\]\.rack: unknown rack 'attic'"),
        (
            lambda v: v["apps"][1].update(demands=[1]),
            r"file\.json: apps\[1\]\.demands must have one number for each of the 2 resources \(got 1\)",
        ),
        (
            lambda v: v["apps"][0].update(held=[{"machine": "m9", "gpus": 1}]),
            r"file\.json: apps\[0\]\.held\[0\]\.machine: unknown machine 'm9'",
        ),
        (
            lambda v: v["apps"][0]["rows"][0].update(value="1/0"),
            r"file\.json: app 'A': values\[0\] must be 0 or from 1e-15 to 1e15, a number or text such as",
        ),
        (lambda v: v["apps"][0]["rows"][0].update(value=-1), "field apps.0.rows.0.value"),
        (lambda v: v["apps"][0]["rows"][0].update(level="slot"), "field apps.0.rows.0.level"),
        (lambda v: v["apps"][0]["rows"][0].update(gpus=0), "field apps.0.rows.0.gpus"),
        (lambda v: v["apps"][0].update(rows=[]), "field apps.0.rows"),
        (lambda v: v["resources"][0].update(capacity=0), "field resources.0.capacity"),
        (lambda v: v["machines"][0].update(gpus=-1), "field machines.0.gpus"),
        (lambda v: v["machines"][0].update(cores=3), "field machines.0.cores"),
        (lambda v: v.pop("racks"), "field racks: field required"),
    ],
)
def test_a_defect_is_one_line(change, message):
    with pytest.raises(InputError, match=message) as caught:
        read_document(_broken(change), "file.json")
    assert str(caught.value).startswith("file.json: ")
    assert "\n" not in str(caught.value)


def test_held_gpus_are_kept_by_label():
    instance = load("fair_share/themis-figure5b")
    holding = replace(instance, apps=(replace(instance.apps[0], held=((1, 2),)), instance.apps[1]))
    assert to_document(holding)["apps"][0]["held"] == [{"machine": "m1", "gpus": 2}]
