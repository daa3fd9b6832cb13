"""The page on placement: examples run, and tables name exactly the components that are built."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from pyomo.environ import Constraint, Expression, Param, RangeSet, Set, Var

import gangopt
from gangopt.instances.placement import instance as judge

PAGE = Path(__file__).parents[3] / "docs" / "decisions" / "placement.md"
PROBLEM = gangopt.problems["placement"]


def test_examples_run_and_print_what_the_page_shows():
    # a closing fence would count as expected output; a blank line ends the example instead
    lines = ["" if line.startswith("```") else line for line in PAGE.read_text("utf-8").splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, PAGE.name, PAGE.name, 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted >= 8
    assert not result.failed, "".join(report)


@pytest.mark.parametrize("form", list(PROBLEM.forms))
def test_table_of_components_is_the_built_block(form):
    section = PAGE.read_text("utf-8").partition(f"### Form {form}: components\n")[2]
    assert section.lstrip().startswith("| symbol | component | kind |\n")
    rows = re.findall(r"^\|.*\| `(\w+)` \| (\w+) \|$", section.partition("\n## ")[0], flags=re.MULTILINE)
    model = PROBLEM.form(form).model(gangopt.load("placement/random?servers=3&jobs=2&charge=hosts"))
    model.del_component("objective")
    built = {
        (item.local_name, "RangeSet" if isinstance(item, RangeSet) else kind.__name__)
        for kind in (Set, RangeSet, Var, Constraint, Expression, Param)
        for item in model.component_objects(kind)
        if "_index" not in item.local_name
    }
    assert set(rows) == built


@pytest.mark.parametrize(
    "rule",
    [
        "known_server",
        "tasks_in_piece",
        "one_piece_per_server",
        "place_all_parameter_servers",
        "place_all_workers",
        "server_capacity",
    ],
)
def test_every_rule_of_the_judge_stands_on_the_page(rule):
    assert f'"{rule}"' in Path(judge.__file__).read_text("utf-8")
    assert f"`{rule}`" in PAGE.read_text("utf-8")


def test_every_method_form_and_named_instance_stands_on_the_page():
    text = PAGE.read_text("utf-8")
    assert all(f"`{name}`" in text for name in PROBLEM.methods if name != "exact")
    assert all(f"## Form `{name}`" in text for name in PROBLEM.forms)
    assert all(f"placement/{name}?" in text for name in PROBLEM.families)
    assert all(f"`{name}`" in text for name in gangopt.names("placement/*") if "?" not in name)


@pytest.mark.parametrize("name", sorted(PROBLEM.metrics))
def test_every_metric_stands_on_the_page(name):
    assert f"`{name}`" in PAGE.read_text("utf-8")
