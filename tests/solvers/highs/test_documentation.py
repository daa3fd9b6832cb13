"""The examples of the solver-path page run and print what the page shows."""

import doctest
from pathlib import Path

from gangopt.solvers.external.external import EXTERNAL_SOLVERS

PAGE = Path(__file__).parents[3] / "docs" / "solver-path.md"


def test_examples_print_what_the_page_shows():
    results = doctest.testfile(str(PAGE), module_relative=False, report=True)
    assert results.attempted >= 15
    assert results.failed == 0


def test_every_external_solver_has_a_row():
    text = PAGE.read_text()
    assert all(f"`{name}`" in text for name in EXTERNAL_SOLVERS)
