"""The examples of the pages on results and the quick start run and print what the pages show."""

import dataclasses
import doctest
from pathlib import Path

import pytest

from gangopt.solvers.core.result import Result
from gangopt.solvers.core.row import Row

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(("page", "examples"), [("results.md", 10), ("quickstart.md", 9)])
def test_examples_of_the_page(page, examples):
    report = doctest.testfile(str(DOCS / page), module_relative=False, report=True)
    assert report.attempted >= examples
    assert report.failed == 0


@pytest.mark.parametrize("record", [Result, Row])
def test_the_page_names_every_field(record):
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    names = {item.name.removeprefix("_") for item in dataclasses.fields(record)}
    assert {name for name in names if f"`{name}`" not in text} <= {"metrics"}
