"""Every example on the topology page runs and prints what the page shows."""

import doctest
from pathlib import Path

import gangopt.topology

PAGE = Path(__file__).parents[2] / "docs" / "topology.md"


def test_examples_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    # A closing fence would count as expected output; a blank line ends the example instead.
    lines = ["" if line.startswith("```") else line for line in text.splitlines()]
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "topology.md", str(PAGE), 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted > 30
    assert not result.failed, "".join(report)
    assert (tmp_path / "small.png").stat().st_size > 1000


def test_the_page_names_every_public_object():
    text = PAGE.read_text(encoding="utf-8")
    missing = [name for name in gangopt.topology.__all__ if name not in text]
    assert set(missing) <= {"LEVELS", "LOCALITIES", "Slowdown", "Totals"}
