"""The page on bids: examples run, and tables name exactly the components that are built."""

import doctest
import re
from pathlib import Path

import pytest
from pyomo.environ import Constraint, Expression, Param, Set, Var

import gangopt
from gangopt.instances.bid.generate import random

PAGE = Path(__file__).parents[3] / "docs" / "decisions" / "bid.md"
TEXT = PAGE.read_text("utf-8")
FORMS = gangopt.problems["bid"].forms
# phases with more jobs than GPUs, and with fewer
MIXED = {"jobs": 3, "gpus": 4}


def test_examples_run_and_print_what_the_page_shows():
    # a closing fence would count as expected output; a blank line ends the example instead
    lines = ["" if line.startswith("```") else line for line in TEXT.splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "bid", str(PAGE), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted >= 18
    assert not result.failed, "".join(report)


@pytest.mark.parametrize("split", ["whole", "shared"])
@pytest.mark.parametrize("form", list(FORMS))
def test_table_of_components_is_the_built_block(form, split):
    section = TEXT.partition(f"### Form {form}: components\n")[2]
    assert section.lstrip().startswith("| symbol | component | kind |\n")
    rows = re.findall(r"^\|[^|]*\| `(\w+)` \| (\w+) \|$", section.partition("\n## ")[0], flags=re.MULTILINE)
    model = FORMS[form].formulation().model(random(**MIXED, split=split))
    model.del_component("objective")
    built = {
        (item.local_name, kind.__name__)
        for kind in (Set, Var, Constraint, Expression, Param)
        for item in model.component_objects(kind)
    }
    assert set(rows) == built


def test_every_constraint_stands_beside_its_formula():
    for form in (item.formulation() for item in FORMS.values()):
        for constraint in form.model(random(**MIXED)).component_objects(Constraint):
            assert f"`{constraint.local_name}`: $" in TEXT


def test_rules_of_the_judge_methods_metrics_and_families_stand_on_the_page():
    problem = gangopt.problems["bid"]
    rules = ("row_per_offer", "share_per_run", "phase_seconds", "stated_rho")
    for name in (*rules, *problem.metrics, *(name for name in problem.methods if name != "exact")):
        assert f"`{name}`" in TEXT
    assert all(f"bid/{name}?" in TEXT for name in problem.families)


def test_the_figures_of_the_worked_example_are_those_of_the_methods():
    for name, method, label in (
        ("bid/themis-4.3.3", "even", "shared, `even` and `exact` (the table of the paper)"),
        ("bid/themis-4.3.3", "exact", "shared, `even` and `exact` (the table of the paper)"),
        ("bid/themis-4.3.3-whole", "even", "whole, `even`"),
        ("bid/themis-4.3.3-whole", "exact", "whole, `exact`"),
    ):
        rows = gangopt.solve(gangopt.load(name), method).solution.rows
        values = " | ".join(f"{round(row.rho, 3):g}" for row in rows)
        assert f"| {label} | {values} |" in TEXT
