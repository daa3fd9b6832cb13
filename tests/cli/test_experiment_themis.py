"""Commands that run rounds of THEMIS: tables, plots and bad input."""

import json

import pytest

from gangopt.cli import run

SMALL = ["--cluster", "themis-testbed", "--apps", "3", "--hours", "3"]


@pytest.mark.parametrize(
    ("command", "options", "rows"),
    [
        ("themis-sensitivity", ["--knobs", "0.5,1", "--leases", "20", "--restart", "0"], 2),
        ("themis-estimation-error", ["--errors", "20", "--seeds", "1"], 2),
    ],
)
def test_table_as_json_and_picture(command, options, rows, capsys, tmp_path):
    picture = tmp_path / "out.png"
    assert run(["experiment", command, *SMALL, *options, "--json", "-o", str(picture)]) == 0
    table = json.loads(capsys.readouterr().out)
    assert (table["experiment"], len(table["rows"])) == (command, rows)
    assert picture.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["themis-sensitivity", "--knobs", "2"], "fairness must be from 0 to 1 (got 2.0)"),
        (["themis-sensitivity", "--leases", "ten"], "numbers separated by commas"),
        (["themis-estimation-error", "--errors", "99"], "X must be a number from 0 to 90 % (got 99.0)"),
        (["themis-estimation-error", "--apps", "0"], "apps must be an integer from 1 to 200 (got 0)"),
        (["themis-sensitivity", "--restart", "-1"], "restart must be a number from 0 to 1,000,000 (got -1.0)"),
        (["themis-estimation-error", "--restart", "-1"], "restart must be a number from 0 to 1,000,000 (got -1.0)"),
        (["themis-sensitivity", "--cluster", "nowhere"], "unknown cluster"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys):
    assert run(["experiment", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
