"""The pages on schedules and bounds: examples run, and tables name exactly the components that are built."""

import doctest
import re
from pathlib import Path

import pytest
from pyomo.environ import Constraint, Expression, Param, Set, Var

import gangopt
from gangopt.catalogue import entries
from gangopt.instances.schedule.generate import random
from gangopt.solvers.bounds import BOUNDS

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "decisions" / "schedule.md"
TEXT = PAGE.read_text("utf-8")
FORMS = gangopt.problems["schedule"].forms
EVERYTHING = random(jobs=3, machines=2, weights=3, seed=1)


@pytest.mark.parametrize(("page", "least"), [(PAGE, 5), (DOCS / "bounds.md", 8)])
def test_examples_run_and_print_what_the_page_shows(page, least):
    # a closing fence would count as expected output; a blank line ends the example instead
    lines = ["" if line.startswith("```") else line for line in page.read_text("utf-8").splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, page.stem, str(page), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted >= least
    assert not result.failed, "".join(report)


@pytest.mark.parametrize("form", list(FORMS))
def test_table_of_components_is_the_built_block(form):
    section = TEXT.partition(f"### Form {form}: components\n")[2]
    assert section.lstrip().startswith("| symbol | component | kind |\n")
    rows = re.findall(r"^\|[^|]*\| `(\w+)` \| (\w+) \|$", section.partition("\n## ")[0], flags=re.MULTILINE)
    model = FORMS[form].formulation().model(EVERYTHING)
    model.del_component("objective")
    built = {
        (item.local_name, kind.__name__)
        for kind in (Set, Var, Constraint, Expression, Param)
        for item in model.component_objects(kind)
    }
    assert set(rows) == built


def test_every_constraint_stands_beside_its_formula():
    for form in (item.formulation() for item in FORMS.values()):
        for constraint in form.model(EVERYTHING).component_objects(Constraint):
            assert f"`{constraint.local_name}`: $" in TEXT


def test_rules_methods_metrics_families_and_cases_stand_on_the_page():
    problem = gangopt.problems["schedule"]
    rules = ("runs_of_every_job", "after_arrival", "runs_in_order", "whole_slots")
    for name in (*rules, *problem.metrics, *(name for name in problem.methods if name != "exact")):
        assert f"`{name}`" in TEXT
    assert all(f"schedule/{name}?" in TEXT for name in problem.families)
    assert all(f"{entry.name.partition('/')[2]}`" in TEXT for entry in entries("schedule"))


def test_every_bound_stands_on_its_page():
    text = (DOCS / "bounds.md").read_text("utf-8")
    assert all(f"**`{name}`**" in text for name in BOUNDS)
