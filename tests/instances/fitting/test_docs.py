"""Every example on the fitting page runs and prints what the page shows."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "decisions" / "fitting.md"


def test_examples_of_the_page():
    # A closing fence would count as expected output; a blank line ends the example instead.
    lines = ["" if line.startswith("```") else line for line in PAGE.read_text(encoding="utf-8").splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "fitting.md", str(PAGE), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted > 30
    assert not result.failed, "".join(report)
