"""`gangopt experiment themis-truth-telling`: table, picture, JSON and bad input."""

import json

import pytest

from gangopt.cli import run


def test_table_picture_and_json(tmp_path, capsys):
    picture, table = tmp_path / "lie.png", tmp_path / "lie.csv"
    arguments = ["experiment", "themis-truth-telling", "--lies", "20", "--kinds", "dense", "--seeds", "1"]
    assert run([*arguments, "--work", "320", "-o", str(picture), "-o", str(table)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("One of 8 equal apps lies about its slowdown: one 8-GPU and 28 2-GPU machines")
    assert "f = 0.8: 2 of 8 apps bid; rounding floor" in text
    assert picture.stat().st_size > 1000
    assert len(table.read_text().splitlines()) == 3
    assert run([*arguments, "--work", "320", "--fairness", "0.9", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["experiment"] == "themis-truth-telling"
    assert [(row["lie"], row["X"]) for row in record["rows"]] == [("dense", 0), ("dense", 20.0)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lies", "-1"], "X = -1 %, 0 to 100 is allowed"),
        (["--lies", "much"], "--lies 'much': numbers separated by commas are needed"),
        (["--kinds", "white"], "unknown lie 'white'"),
        (["--rounding", "up"], "unknown rounding 'up'"),
        (["--demand", "0"], "demand: 0, a whole number from 1 to 64 is needed"),
        (["-o", "lie.txt"], "suffix .txt, allowed"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys):
    assert run(["experiment", "themis-truth-telling", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
