"""The page on thresholds: examples run, and tables name exactly the components that are built."""

import doctest
import re
from pathlib import Path

import pytest
from pyomo.environ import Constraint, Expression, Param, Set, Var

import gangopt
from gangopt.instances.threshold.generate import random

PAGE = Path(__file__).parents[3] / "docs" / "decisions" / "threshold.md"
TEXT = PAGE.read_text("utf-8")
FORMS = gangopt.problems["threshold"].forms


def test_examples_run_and_print_what_the_page_shows():
    # a closing fence would count as expected output; a blank line ends the example instead
    lines = ["" if line.startswith("```") else line for line in TEXT.splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "threshold", str(PAGE), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted >= 12
    assert not result.failed, "".join(report)


@pytest.mark.parametrize("form", list(FORMS))
def test_table_of_components_is_the_built_block(form):
    section = TEXT.partition(f"### Form {form}: components\n")[2]
    assert section.lstrip().startswith("| symbol | component | kind |\n")
    rows = re.findall(r"^\|[^|]*\| `(\w+)` \| (\w+) \|$", section.partition("\n## ")[0], flags=re.MULTILINE)
    model = FORMS[form].formulation().model(random(jobs=4))
    model.del_component("objective")
    built = {
        (item.local_name, kind.__name__)
        for kind in (Set, Var, Constraint, Expression, Param)
        for item in model.component_objects(kind)
    }
    assert set(rows) == built


def test_every_constraint_stands_beside_its_formula():
    for form in (item.formulation() for item in FORMS.values()):
        for constraint in form.model(random(jobs=4)).component_objects(Constraint):
            assert f"`{constraint.local_name}`: $" in TEXT


def test_rules_of_the_judge_methods_metrics_and_families_stand_on_the_page():
    problem = gangopt.problems["threshold"]
    rules = ("one_weight_per_feature", "nonzero_weights")
    metrics = set(problem.metrics) - {"misclassified"}
    for name in (*rules, *metrics, *(name for name in problem.methods if name != "exact")):
        assert f"`{name}`" in TEXT
    assert all(f"threshold/{name}?" in TEXT for name in problem.families)
