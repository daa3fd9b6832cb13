"""Every example on the page of experiments runs and prints what the page shows."""

import doctest
from pathlib import Path

from gangopt.experiments.registry import EXPERIMENTS

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"


def test_examples_of_the_page():
    # a closing fence would count as expected output; a blank line ends the example instead
    lines = ["" if line.startswith("```") else line for line in PAGE.read_text("utf-8").splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "experiments.md", str(PAGE), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted >= 7
    assert not result.failed, "".join(report)


def test_every_experiment_is_on_the_page():
    text = PAGE.read_text("utf-8")
    assert all(f"gangopt experiment {name}" in text for name in EXPERIMENTS)
