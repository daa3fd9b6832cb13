"""Pages on the problems: examples run, tables list the components that are built, and every name is described."""

import dataclasses
import doctest
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from pyomo.environ import Constraint, TransformationFactory, Var

import gangopt
from gangopt.catalogue import entries
from gangopt.formulations.parameters import Assign, Groups
from gangopt.instances.auction.bids import AppBid
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.instances.networks import NETWORKS
from gangopt.instances.parameters.instance import ParametersInstance
from gangopt.instances.placement import instance as placement
from gangopt.solvers.bounds import BOUNDS
from gangopt.solvers.highs import solve_model
from gangopt.topology import Requirement

DOCS = Path(__file__).parents[2] / "docs"

LEAST_EXAMPLES = {
    "decisions/allocation": 8,
    "decisions/auction": 14,
    "decisions/bid": 18,
    "decisions/fair_share": 10,
    "decisions/interval": 8,
    "decisions/network_placement": 7,
    "decisions/parameters": 10,
    "decisions/placement": 8,
    "decisions/schedule": 5,
    "decisions/threshold": 12,
    "bounds": 8,
    "embed": 8,
}

INSTANCES = {
    "allocation": ["allocation/random?jobs=2&max_tasks=2"],
    "auction": ["auction/more-apps-than-gpus", "auction/untruthful-floor", "auction/two-apps-two-racks"],
    # phases with more jobs than GPUs, and with fewer
    "bid": ["bid/random?jobs=3&gpus=4&split=whole", "bid/random?jobs=3&gpus=4&split=shared"],
    # resources, several racks, and bundles at every level
    "fair_share": ["fair_share/random?apps=4&machines=4&sensitivity=priors&resources=1&seed=2"],
    "interval": ["interval/random?jobs=2&servers=2&max_tasks=2"],
    "network_placement": ["network_placement/four-machines"],
    "placement": ["placement/random?servers=3&jobs=2&charge=hosts"],
    "schedule": ["schedule/random?jobs=3&machines=2&weights=3&seed=1"],
    "threshold": ["threshold/random?jobs=4"],
}
"""Instances whose models together have every component of a formulation."""

FORMS = [(noun, form) for noun in (*INSTANCES, "parameters") for form in gangopt.problems[noun].forms]
every_form = pytest.mark.parametrize(("noun", "form"), FORMS)


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


def models(noun, form):
    """Return models that together have every component of a formulation."""
    if noun == "parameters":
        instance = ParametersInstance(name="test", shapes=((5,), (4,), (3,)), servers=3)
        caps = {"size_difference": 3, "request_difference": 1}
        forms = {"assign": [Assign(**caps)], "groups": [Groups(**caps), Groups(cuts=1)]}[form]
        return [item.model(instance) for item in forms]
    instances = [gangopt.load(name) for name in INSTANCES[noun]] + [at_home()] * (noun == "auction")
    if noun == "placement":
        requirements = (Requirement(level="machine"), Requirement())
        instances.append(dataclasses.replace(instances[0], requirements=requirements))
    return [gangopt.problems[noun].form(form).model(instance) for instance in instances]


def built(noun, form):
    """Return the components of a formulation: name and kind."""
    return {
        (item.local_name, item.ctype.__name__)
        for model in models(noun, form)
        for item in model.component_objects()
        if item.local_name != "objective" and not item.local_name.endswith(("_index", "_domain"))
    }


def page(noun):
    return (DOCS / "decisions" / f"{noun}.md").read_text("utf-8")


def section(noun, form):
    return page(noun).partition(f"## Form `{form}`")[2].partition("### Form")[0]


@pytest.mark.parametrize("name", LEAST_EXAMPLES)
def test_examples_run_and_print_what_the_page_shows(name):
    path = DOCS / f"{name}.md"
    # a closing fence would count as expected output; a blank line ends the example instead
    lines = ["" if line.startswith("```") else line for line in path.read_text("utf-8").splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, path.name, str(path), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted >= LEAST_EXAMPLES[name]
    assert not result.failed, "".join(report)


@every_form
def test_table_of_components_is_the_built_block(noun, form):
    table = page(noun).partition(f"### Form {form}: components\n")[2]
    assert table.lstrip().startswith("| symbol | component | kind |\n")
    rows = re.findall(r"^\|.*\| `(\w+)` \| (\w+) \|$", table.partition("\n## ")[0], flags=re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert set(rows) == built(noun, form)


@every_form
def test_every_constraint_has_its_formula(noun, form):
    # two formulations of these pages share constraints, which are described once
    text = page(noun) if noun in ("bid", "parameters") else section(noun, form)
    # a row of `parameters` may have its formula before its name
    shown = r"`{}`" if noun == "parameters" else r"`{}`:\s"
    names = [name for name, kind in built(noun, form) if kind == "Constraint"]
    assert [name for name in names if not re.search(shown.format(name), text)] == []


RULES = {
    "allocation": ["one_configuration_per_job", "resource_capacity"],
    "auction": ["known_machine", "kept_of_won", "share_of_payment", "demand_of_bystander"],
    "bid": ["row_per_offer", "share_per_run", "phase_seconds", "stated_rho"],
    "fair_share": ["known_machine", "one_bundle_per_app", "machine_capacity", "resource_capacity", "everyone_served"],
    "interval": ["one_configuration_per_job", "place_all_parameter_servers", "place_all_workers", "machine_capacity"],
    "network_placement": ["known_machine", "free_gpus", "all_workers_placed", "one_host_per_parameter_server"],
    "parameters": ["whole_block", "positive_part", "one_part_per_server", "known_server"],
    "placement": [
        "known_machine",
        "tasks_in_piece",
        "one_piece_per_machine",
        "place_all_parameter_servers",
        "place_all_workers",
        "allowed_machine",
        "required_level",
        "machine_capacity",
    ],
    "schedule": ["runs_of_every_job", "after_arrival", "runs_in_order", "whole_slots"],
    "threshold": ["one_weight_per_feature", "nonzero_weights"],
}


METRICS = {
    "allocation": [],
    "interval": ["jobs_placed", "sum_completion_time", "fitted_completion_time"],
    "threshold": [name for name in gangopt.problems["threshold"].metrics if name != "misclassified"],
}
"""Metrics on the page, where not all of them are."""


@pytest.mark.parametrize("noun", RULES)
def test_every_rule_method_family_and_metric_is_on_the_page(noun):
    problem, text = gangopt.problems[noun], page(noun)
    # pairs of methods are described by their parts
    methods = [name for name in problem.methods if name != "exact" and noun != "interval"]
    metrics = METRICS.get(noun, problem.metrics)
    names = [*RULES[noun], *methods, *metrics, *(NETWORKS if noun == "parameters" else ())]
    assert [name for name in names if f"`{name}`" not in text and f"`{name}?" not in text] == []
    families = [name for name, family in problem.families.items() if not family.pattern]
    assert [name for name in families if f"{noun}/{name}" not in text] == []


def test_every_named_instance_is_on_the_page():
    for noun in ("interval", "placement"):
        text = page(noun)
        assert all(f"`{name}`" in text for name in gangopt.names(f"{noun}/*") if "?" not in name)
    auctions, schedules = page("auction"), page("schedule")
    assert all(entry.name in auctions or "untruthful" in entry.name for entry in entries("auction"))
    assert all(f"{entry.name.partition('/')[2]}`" in schedules for entry in entries("schedule"))


@pytest.mark.parametrize("rule", RULES["placement"])
def test_rules_of_placement_are_those_of_the_checker(rule):
    checker = Path(placement.__file__)
    assert any(f'"{rule}"' in file.read_text("utf-8") for file in (checker, checker.with_name("bindings.py")))


def test_every_bound_is_on_its_page():
    text = (DOCS / "bounds.md").read_text("utf-8")
    assert all(f"**`{name}`**" in text for name in BOUNDS)


@pytest.mark.parametrize(
    ("name", "method", "label"),
    [
        ("bid/themis-4.3.3", "even", "shared, `even` and `exact` (the table of the paper)"),
        ("bid/themis-4.3.3", "exact", "shared, `even` and `exact` (the table of the paper)"),
        ("bid/themis-4.3.3-whole", "even", "whole, `even`"),
        ("bid/themis-4.3.3-whole", "exact", "whole, `exact`"),
    ],
)
def test_figures_of_the_worked_bid_are_those_of_the_methods(name, method, label):
    rows = gangopt.solve(gangopt.load(name), method).solution.rows
    values = " | ".join(f"{round(row.rho, 3):g}" for row in rows)
    assert f"| {label} | {values} |" in page("bid")


def test_sizes_and_strengths_of_intervals_are_those_of_the_models():
    name = "interval/random?jobs=4&servers=4&max_tasks=4"
    line = next(line for line in page("interval").splitlines() if line.startswith(f"| `{name}`"))
    model = gangopt.problems["interval"].form("joint").model(gangopt.load(name))
    columns, rows, relaxed = (int(cell.replace(",", "")) for cell in line.split("|")[3:6])
    assert columns == len(list(model.component_data_objects(Var)))
    assert rows == len(list(model.component_data_objects(Constraint)))
    TransformationFactory("core.relax_integer_vars").apply_to(model)
    assert round(solve_model(model).objective) == relaxed
