"""Files of auctions: what is written is read back, and each defect is one line."""

import copy
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.document import validate
from gangopt.base.errors import InputError
from gangopt.catalogue import read_document, to_document
from gangopt.instances.auction.bids import Bystander
from gangopt.instances.auction.document import AuctionSolutionDocument
from gangopt.instances.auction.solution import AuctionSolution
from helpers import auction_cases as cases

FILE = {
    "noun": "auction",
    "version": 1,
    "name": "mine",
    "machines": [{"label": "m0", "rack": "r0", "offered": 2}, {"label": "m1", "rack": "r1", "offered": 0}],
    "apps": [
        {
            "label": "a",
            "value_at_zero": 0.25,
            "held": [{"machine": "m1", "gpus": 1}],
            "bids": [{"gpus": 1, "level": "cluster", "value": "1/3"}, {"gpus": 2, "level": "machine", "value": 1}],
        }
    ],
    "bystanders": [{"label": "b", "demand": 3}],
}


def test_a_file_is_read_as_it_stands():
    instance = read_document(FILE, "mine.json")
    assert instance.apps[0].values == (Fraction(1, 3), Fraction(1))
    assert instance.apps[0].held == ((1, 1),)
    assert instance.bystanders == (Bystander(label="b", demand=3),)
    assert instance.racks == ("r0", "r1")


@given(instance=cases.auctions())
def test_written_and_read_is_the_same(instance):
    text = json.dumps(to_document(instance))
    assert read_document(json.loads(text), "file") == instance


@given(
    st.lists(st.tuples(st.fractions(0, 1), st.fractions(0, 1)), max_size=3),
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=3), max_size=3),
)
def test_a_solution_written_and_read_is_the_same(payments, bundles):
    solution = AuctionSolution(tuple(map(tuple, bundles)), tuple(payments), tuple(map(tuple, bundles)), ())
    content = json.loads(json.dumps(AuctionSolutionDocument.from_solution(solution).model_dump(mode="json")))
    assert validate(AuctionSolutionDocument, content, "file").to_solution() == solution


def test_long_rationals_are_written_and_read():
    share = Fraction(3**20_000, 3**20_000 + 1)
    solution = AuctionSolution(((),), ((share, share),))
    content = AuctionSolutionDocument.from_solution(solution).model_dump(mode="json")
    assert content["payments"][0]["low"].startswith("0x")
    assert validate(AuctionSolutionDocument, content, "file").to_solution() == solution


def broken(*path_and_value):
    *path, value = path_and_value
    content = copy.deepcopy(FILE)
    at = content
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (broken("apps", 0, "bids", 0, "level", "galaxy"), "apps.0.bids.0.level"),
        (broken("apps", 0, "bids", 0, "gpus", 0), "apps.0.bids.0.gpus"),
        (
            broken("apps", 0, "bids", 0, "value", "one third"),
            r"app 'a': values\[0\] must be 0 or from 1e-15 to 1e15, a number or text such as .* \(got 'one third'\)",
        ),
        (
            broken("apps", 0, "bids", 0, "value", -1),
            r"app 'a': values\[0\] must be 0 or from 1e-15 to 1e15, a number or text such as .* \(got -1\.0\)",
        ),
        (broken("apps", 0, "bids", []), "apps.0.bids"),
        (
            broken("apps", 0, "held", 0, "machine", "m7"),
            r"mine\.json: apps\[0\]\.held\[0\]\.machine: unknown machine 'm7'",
        ),
        (broken("apps", 0, "label", "b"), r"mine\.json: apps\[1\]: duplicate label 'b' \(first at apps\[0\]\)"),
        (broken("machines", 0, "offered", -2), "machines.0.offered"),
        (
            broken("machines", 0, "label", "m1"),
            r"mine\.json: machines\[1\]: duplicate label 'm1' \(first at machines\[0\]\)",
        ),
        (broken("machines", []), "machines"),
        (broken("bystanders", 0, "demand", -1), "bystanders.0.demand"),
        (
            broken("apps", 0, "bids", [{"gpus": 4, "level": "cluster", "value": value} for value in (1, "10/11")]),
            r"mine\.json: app 'a': rows 0 and 1 \(4 GPUs, cluster\) must have the same value \(got 1\.0 and",
        ),
        (broken("colour", "red"), "colour"),
    ],
)
def test_each_defect_is_one_line(content, message):
    with pytest.raises(InputError, match=message) as caught:
        read_document(content, "mine.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["half", "1/0", "", "1/2/3"])
def test_a_share_that_is_no_rational_is_refused(text):
    content = {"bundles": [[]], "payments": [{"low": text, "high": "1"}]}
    with pytest.raises(InputError, match=r"payments\[0\].low"):
        validate(AuctionSolutionDocument, content, "file").to_solution()
