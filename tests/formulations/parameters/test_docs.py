"""The page on parameters: examples run, and its tables name exactly the components that are built."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import gangopt
from gangopt.formulations.parameters import Assign, Groups
from gangopt.instances.networks import NETWORKS
from gangopt.instances.parameters.instance import ParametersInstance

PAGE = Path(__file__).parents[3] / "docs" / "decisions" / "parameters.md"
CAPS = {"size_difference": 3, "request_difference": 1}


def built(form):
    """Return (name, kind) of every component that a form can have."""
    instance = ParametersInstance(name="test", shapes=((5,), (4,), (3,)), servers=3)
    models = {
        "assign": lambda: [Assign(**CAPS).model(instance)],
        "groups": lambda: [Groups(**CAPS).model(instance), Groups(cuts=1).model(instance)],
    }[form]()
    return {
        (item.local_name, item.ctype.__name__)
        for model in models
        for item in model.component_objects()
        if item.local_name != "objective" and not item.local_name.endswith(("_index", "_domain"))
    }


def test_examples_run_and_print_what_the_page_shows():
    # a closing fence would count as expected output; a blank line ends the example instead
    lines = ["" if line.startswith("```") else line for line in PAGE.read_text("utf-8").splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "parameters", str(PAGE), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted >= 10
    assert not result.failed, "".join(report)


@pytest.mark.parametrize("form", list(gangopt.problems["parameters"].forms))
def test_table_of_components_is_the_built_block(form):
    section = PAGE.read_text("utf-8").partition(f"### Form {form}: components\n")[2]
    assert section.lstrip().startswith("| symbol | component | kind |\n")
    rows = re.findall(r"^\|[^|]*\| `(\w+)` \| (\w+) \|$", section.partition("\n## ")[0], flags=re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert set(rows) == built(form)


@pytest.mark.parametrize("form", list(gangopt.problems["parameters"].forms))
def test_every_constraint_stands_beside_its_formula(form):
    section = PAGE.read_text("utf-8").partition(f"## Form `{form}`\n")[2].partition("### Form")[0]
    shared = {"requests_at_most", "requests_at_least", "size_difference_limit", "request_difference_limit"}
    for name, kind in built(form):
        if kind == "Constraint" and not (form == "groups" and name in shared):
            assert f"`{name}`" in section, name


def test_every_rule_method_family_and_network_stands_on_the_page():
    problem = gangopt.problems["parameters"]
    text = PAGE.read_text("utf-8")
    for name in ("whole_block", "positive_part", "one_part_per_server", "known_server", *problem.methods, *NETWORKS):
        assert f"`{name}`" in text or f"`{name}?" in text, name
    assert all(f"parameters/{name}?" in text for name in problem.families if not problem.families[name].pattern)
