"""The page on workloads: every example runs, and its tables say what the code has."""

import doctest
import re
from pathlib import Path

import gangopt
from gangopt.instances.workload.catalogue import FAMILIES
from gangopt.instances.workload.columns import COLUMNS
from gangopt.instances.workload.recognition import FORMATS

PAGE = Path(__file__).parents[3] / "docs" / "workloads.md"
TEXT = PAGE.read_text(encoding="utf-8")
CODE = Path(gangopt.__file__).parent / "instances" / "workload"


def table(heading):
    """Rows of the first table below a heading."""
    section = TEXT.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_examples_of_the_page():
    # A closing fence would count as expected output; a blank line ends the example instead.
    lines = ["" if line.startswith("```") else line for line in TEXT.splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "workloads.md", str(PAGE), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert result.attempted > 20
    assert not result.failed, "".join(report)


def test_the_table_of_columns_is_complete():
    wanted = [[f"`{column.name}`", column.unit, column.meaning] for column in COLUMNS.values()]
    assert table("Columns") == wanted


def test_the_tables_of_formats_and_generators_are_complete():
    assert {row[0].strip("`") for row in table("Public formats")} == set(FORMATS)
    assert [row[0].strip("`") for row in table("Generators")] == [f"workload/{name}" for name in FAMILIES]


def test_every_finding_is_in_the_table_and_every_one_there_is_made():
    named = {name for row in table("What a log can get wrong") for name in re.findall(r"`([^`]+)`", row[0])}
    code = "\n".join(path.read_text() for path in CODE.rglob("*.py"))
    made = set(re.findall(r'(?:warn|refuse|Notice)\(\s*"([a-z-]+)"', code)) | {"bad-entries", "unknown-states"}
    assert made | {"bad-<column>"} == named
