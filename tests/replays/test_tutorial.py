"""The tutorial, run from its first file to its report."""

import re
import shlex
from pathlib import Path

from gangopt.cli import run

TEXT = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(python|console|text)\n(.*?)```", TEXT, flags=re.DOTALL)
GAP = 3


def cells(line):
    """Cells of a line; wall seconds, which differ, are left out."""
    line = re.sub(r"proven in [0-9.]+ s", "proven in S", line)
    parts = re.split(r"\s{2,}", line.strip())
    return parts[:-1] if len(parts) > 10 else parts


def compare(shown, printed):
    """Compare outputs line by line; bounds may have become better since."""
    assert len(shown) == len(printed)
    for before, now in zip(map(cells, shown), map(cells, printed), strict=True):
        if before[0].startswith("no scheduler"):
            assert now[0].startswith("no scheduler of fixed gangs has a mean JCT below")
        elif len(before) > 10 and re.fullmatch(r"[0-9.]+", before[GAP]):
            assert float(now[GAP]) <= float(before[GAP]) + 0.001
            assert before[:GAP] + before[GAP + 1 :] == now[:GAP] + now[GAP + 1 :]
        else:
            assert before == now or set(before[0]) == set(now[0]) == {"─"}


def test_tutorial(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = 0
    for kind, body in BLOCKS:
        if kind == "text":
            Path("log.csv").write_text(body)
        elif kind == "python":
            exec(body, {})
        else:
            command, *shown = body.strip("\n").split("\n")
            assert run(shlex.split(command.removeprefix("$ gangopt "))) == 0
            compare(shown, capsys.readouterr().out.strip("\n").split("\n"))
            commands += 1
    assert commands == 4
    assert "<svg" in Path("report.html").read_text()
    assert len(Path("jobs.csv").read_text().splitlines()) == 1 + 3 * 10
