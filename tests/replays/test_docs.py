"""The page on replays: its examples run, its tables are complete."""

import doctest
import re
from pathlib import Path

import gangopt
from gangopt.base.arguments import parameters_of
from gangopt.registry.problem import resolve
from gangopt.replays.log import EVENTS
from gangopt.replays.machines import RULES
from gangopt.replays.result import METRICS

PAGE = Path(__file__).parents[2] / "docs" / "replay.md"
TEXT = PAGE.read_text(encoding="utf-8")


def rows(heading):
    """Cells of the first table after a line that starts with the heading."""
    table = re.split(r"\n\n", TEXT[TEXT.index(heading) :].split("|---", 1)[1])[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]


def words(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_examples_run():
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted >= 8
    assert result.failed == 0


def test_every_policy_is_in_the_table_with_its_arguments_and_rule():
    table = {words(cells[0])[0]: cells for cells in rows("## Policies")}
    assert list(table) == list(gangopt.policies)
    for name in table:
        parameters = parameters_of(resolve(gangopt.policies[name].target))
        shown = dict(word.partition("=")[::2] for word in words(table[name][4]))
        if name == "tiresias-g":
            shown |= dict(word.partition("=")[::2] for word in words(table["tiresias-l"][4]))
        assert set(shown) == set(parameters)
        for key, value in shown.items():
            default = parameters[key].default
            assert value == ("" if default is None else str(default).lower().removesuffix(".0"))
        rule = getattr(gangopt.policies.make(name)[0], "placement", "packed")
        rules = () if name == "themis" else (rule,) if isinstance(rule, str) else rule.rules
        assert words(table[name][3]) == list(rules)


def test_every_placement_rule_is_in_the_table():
    assert {words(cells[0])[0] for cells in rows("Placement rules")} == set(RULES)


def test_every_metric_is_in_the_table():
    named = [word for cells in rows("## Figures") for word in words(cells[0])]
    assert named[: len(METRICS)] == list(METRICS)
    assert set(named[len(METRICS) :]) == {"improvement", "jct_bound", "jct_bound_name", "jct_gap", "bins"}


def test_columns_of_the_files_are_named():
    played = gangopt.replay(
        gangopt.Workload.from_columns({"id": ["a"], "arrival": [0], "gpus": [1], "duration": [1]}), 1, "fifo"
    )
    table = {words(cells[0])[0]: cells[1] for cells in rows("## Files")}
    assert set(played.events().columns) <= set(words(table[".parquet"]))
    assert set(played.jobs().columns) <= set(words(table[".csv"]))
    assert all(event in table[".parquet"] for event in EVENTS)
