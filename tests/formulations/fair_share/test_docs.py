"""The page on fair shares: examples run, and tables name exactly the components that are built."""

import doctest
import re
from pathlib import Path

import pytest
from pyomo.environ import Constraint, Expression, Param, RangeSet, Set, Var

import gangopt

PAGE = Path(__file__).parents[3] / "docs" / "decisions" / "fair_share.md"
PROBLEM = gangopt.problems["fair_share"]
# it has resources, several racks and bundles at every level
INSTANCE = "fair_share/random?apps=4&machines=4&sensitivity=priors&resources=1&seed=2"


def test_examples_run_and_print_what_the_page_shows():
    # a closing fence would count as expected output; a blank line ends the example instead
    lines = ["" if line.startswith("```") else line for line in PAGE.read_text("utf-8").splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, PAGE.name, str(PAGE), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted >= 10
    assert not result.failed, "".join(report)


@pytest.mark.parametrize("form", list(PROBLEM.forms))
def test_table_of_components_is_the_built_block(form):
    section = PAGE.read_text("utf-8").partition(f"### Form {form}: components\n")[2]
    assert section.lstrip().startswith("| symbol | component | kind |\n")
    rows = re.findall(r"^\|.*\| `(\w+)` \| (\w+) \|$", section.partition("\n## ")[0], flags=re.MULTILINE)
    model = PROBLEM.form(form).model(gangopt.load(INSTANCE))
    model.del_component("objective")
    built = {
        (item.local_name, kind.__name__)
        for kind in (Set, RangeSet, Var, Constraint, Expression, Param)
        for item in model.component_objects(kind)
        if "_index" not in item.local_name and "_domain" not in item.local_name
    }
    assert set(rows) == built


@pytest.mark.parametrize("form", list(PROBLEM.forms))
def test_every_constraint_has_its_formula(form):
    text = PAGE.read_text("utf-8").partition(f"## Form `{form}`")[2].partition("### Form")[0]
    model = PROBLEM.form(form).model(gangopt.load(INSTANCE))
    assert all(f"\n`{item.local_name}`: " in text for item in model.component_objects(Constraint))


def test_every_method_family_and_metric_stands_on_the_page():
    text = PAGE.read_text("utf-8")
    assert all(f"`{name}`" in text for name in PROBLEM.methods if name != "exact")
    assert all(f"fair_share/{name}?" in text for name in PROBLEM.families)
    assert all(f"`{name}`" in text for name in PROBLEM.metrics)
    for rule in ("known_machine", "one_bundle_per_app", "machine_capacity", "resource_capacity", "everyone_served"):
        assert f"`{rule}`" in text
