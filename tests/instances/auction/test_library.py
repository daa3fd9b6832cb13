"""The named auctions: stored outcomes are judged again, optima and payments are proven again."""

from fractions import Fraction

import pytest

import gangopt
from gangopt.base.document import validate
from gangopt.base.jsonfile import parse_json
from gangopt.catalogue import _folder, entries
from gangopt.instances.auction.document import AuctionSolutionDocument
from gangopt.instances.auction.generate import random
from gangopt.instances.auction.text import describe, describe_solution

ENTRIES = entries("auction")
F = Fraction

PRODUCTS = {
    "auction/two-apps-two-racks": (F(25, 121), [F(13, 22)] * 2),
    "auction/three-apps-two-racks": (F(5, 176), [F(121, 400), F(11, 20), F(11, 20)]),
    "auction/one-large-machine": (F(10, 11) ** 7, [F(10, 11)] + [F(1)] * 7),
    "auction/tied": (F(45, 1664), [F(10, 13), F(10, 13), F(1)]),
    "auction/untruthful-floor": (F(40, 11), [F(10, 11), F(1)]),
    "auction/untruthful-floor-lie": (F(4), [F(1), F(1)]),
    "auction/untruthful-elapsed": (F(1, 5), [F(4, 5), F(1)]),
    "auction/more-apps-than-gpus": (F(1), [F(1)] * 3),
    "auction/themis-figure5a": (F(1), [F(1)] * 2),
    "auction/themis-figure5b": (F(1), [F(1)] * 2),
}


def stored(entry):
    text = (_folder("auction") / entry.solution).read_text("utf-8")
    return validate(AuctionSolutionDocument, parse_json(text, entry.solution), entry.solution).to_solution()


def product_of(instance, solution):
    result = F(1)
    for i, bundle in enumerate(solution.bundles):
        result *= instance.value(i, bundle) or 1
    return result


def test_every_example_has_an_oracle():
    assert {entry.name for entry in ENTRIES} == set(PRODUCTS)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_stored_outcome_has_the_stated_value(entry):
    instance, solution = gangopt.load(entry.name), stored(entry)
    assert instance.check(solution) == []
    assert instance.evaluate(solution).objective == entry.best == entry.bound
    product, shares = PRODUCTS[entry.name]
    assert product_of(instance, solution) == product
    assert sorted(low for low, _ in solution.payments) == sorted(shares)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_optimum_is_proven_again(entry):
    result = gangopt.solve(entry.name)
    assert result.termination == entry.status == "optimal"
    assert result.metrics["exact"] == 1.0
    instance = gangopt.load(entry.name)
    assert product_of(instance, result.solution) == PRODUCTS[entry.name][0]
    assert all(low == high for low, high in result.solution.payments)


def test_figure_5b_gives_the_sensitive_app_the_whole_machine():
    result = gangopt.solve("auction/themis-figure5b")
    assert result.solution.bundles == (((1, 2), (2, 2)), ((0, 4),))
    blind = gangopt.solve("auction/themis-figure5b", "drf")
    assert blind.objective < 1


def test_a_floor_can_be_gained_by_a_lie():
    truth = gangopt.load("auction/untruthful-floor")
    told = gangopt.solve(truth, "themis").solution
    lied = gangopt.solve("auction/untruthful-floor-lie", "themis").solution
    assert truth.value(0, told.bundles[0]) == 1
    assert truth.value(0, lied.bundles[0]) == F(20, 13)


def test_show_and_solve_as_text():
    text = describe(random(apps=25, bystanders=2))
    assert text.splitlines()[0] == "64 GPUs on offer on 20 machines (12 x 4 GPUs, 8 x 2 GPUs)"
    assert text.endswith("... and 5 more")
    instance = gangopt.load("auction/untruthful-floor")
    lines = list(describe_solution(instance, gangopt.solve(instance, "themis").solution))
    assert lines[0].split() == ["app", "won", "kept", "share", "c", "V", "machines"]
    assert lines[1].split()[:4] == ["app0", "2", "1", "0.909091"]
    plain = list(describe_solution(instance, gangopt.solve(instance, "greedy").solution))
    assert plain[1].split()[3] == "-"
    busy = random(apps=4, largest=8, bystanders=2, seed=1)
    assert any("given" in line for line in describe_solution(busy, gangopt.solve(busy, "themis").solution))
