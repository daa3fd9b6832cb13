"""The page on auctions: examples run, and tables name exactly the components that are built."""

import doctest
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from pyomo.environ import Constraint, Expression, Param, RangeSet, Set, Var

import gangopt
from gangopt.catalogue import entries
from gangopt.instances.auction.bids import AppBid
from gangopt.instances.auction.instance import AuctionInstance

PAGE = Path(__file__).parents[3] / "docs" / "decisions" / "auction.md"
PROBLEM = gangopt.problems["auction"]


def at_home():
    """Two apps, one of which holds a GPU: its machine and rack become classes of their own."""
    rows = [(2, "machine", 4), (2, "rack", 3), (2, "cluster", 2)]
    return AuctionInstance(
        name="auction/at-home",
        racks=("r0", "r1"),
        machines=("m0", "m1", "m2", "m3"),
        machine_rack=np.array([0, 0, 1, 1]),
        offered=np.array([2, 2, 2, 2]),
        apps=(AppBid.from_rows("h", rows, Fraction(1), ((0, 1),)), AppBid.from_rows("b", [*rows[:2], (1, "rack", 1)])),
    )


def cases():
    """Instances that together have every component."""
    names = ("auction/more-apps-than-gpus", "auction/untruthful-floor", "auction/two-apps-two-racks")
    return [at_home(), *(gangopt.load(name) for name in names)]


def test_examples_run_and_print_what_the_page_shows():
    # a closing fence would count as expected output; a blank line ends the example instead
    lines = ["" if line.startswith("```") else line for line in PAGE.read_text("utf-8").splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, PAGE.name, str(PAGE), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted >= 14
    assert not result.failed, "".join(report)


@pytest.mark.parametrize("form", list(PROBLEM.forms))
def test_table_of_components_is_the_built_block(form):
    section = PAGE.read_text("utf-8").partition(f"### Form {form}: components\n")[2]
    assert section.lstrip().startswith("| symbol | component | kind |\n")
    rows = re.findall(r"^\|.*\| `(\w+)` \| (\w+) \|$", section.partition("\n## ")[0], flags=re.MULTILINE)
    built = set()
    for instance in cases():
        model = PROBLEM.form(form).model(instance)
        model.del_component("objective")
        built |= {
            (item.local_name, kind.__name__)
            for kind in (Set, RangeSet, Var, Constraint, Expression, Param)
            for item in model.component_objects(kind)
        }
    assert set(rows) == built


@pytest.mark.parametrize("form", list(PROBLEM.forms))
def test_every_constraint_has_its_formula(form):
    text = PAGE.read_text("utf-8").partition(f"## Form `{form}`")[2].partition("### Form")[0]
    for instance in cases():
        model = PROBLEM.form(form).model(instance)
        assert all(f"\n`{item.local_name}`: " in text for item in model.component_objects(Constraint))


def test_every_method_family_metric_and_rule_stands_on_the_page():
    text = PAGE.read_text("utf-8")
    assert all(f"`{name}`" in text for name in PROBLEM.methods if name != "exact")
    assert all(f"auction/{name}" in text for name in PROBLEM.families)
    assert all(f"`{name}`" in text for name in PROBLEM.metrics)
    assert all(entry.name in text or "untruthful" in entry.name for entry in entries("auction"))
    for rule in ("known_machine", "kept_of_won", "share_of_payment", "demand_of_bystander"):
        assert f"`{rule}`" in text
