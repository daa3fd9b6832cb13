"""Commands `gangopt experiment`: names, own files, tables, pictures and bad input."""

import json

import pytest

from gangopt.base.errors import InputError
from gangopt.catalogue import load, to_document
from gangopt.cli.experiment import experiment_app


def run(*arguments):
    experiment_app(list(arguments), standalone_mode=False)


def test_ablation_of_named_generated_and_own_instances(tmp_path, capsys):
    own = tmp_path / "own.json"
    own.write_text(json.dumps(to_document(load("interval/testbed?jobs=3&seed=1"))))
    picture, table = tmp_path / "ablation.png", tmp_path / "ablation.csv"
    run(
        "optimus-ablation", "interval/one-server", "interval/testbed?jobs=4", str(own), "--json",
        "-o", str(picture), "-o", str(table),
    )  # fmt: skip
    record = json.loads(capsys.readouterr().out)
    assert record["experiment"] == "optimus-ablation"
    assert len(record["rows"]) == 10
    assert record["rows"][0]["instances"] == 3
    assert picture.stat().st_size > 1000
    assert len(table.read_text().splitlines()) == 11


def test_parameter_balance(tmp_path, capsys):
    picture = tmp_path / "balance.svg"
    run("parameter-balance", "resnet50", "--servers", "4,10", "--draws", "2", "-o", str(picture))
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[:2] == ["network", "servers"]
    assert [line.split()[:2] for line in lines[3:5]] == [["resnet50", "4"], ["resnet50", "10"]]
    assert picture.read_bytes().startswith(b"<?xml")


def test_prediction_error(capsys):
    run(
        "prediction-error", "allocation/random?jobs=4&nodes=4&max_tasks=4", "--errors", "0,30", "--kinds", "steps",
        "--methods", "optimus,exact", "--seeds", "2", "--json",
    )  # fmt: skip
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["error"], row["method"], row["seeds"]) for row in rows] == [
        (0, "optimus", 1),
        (0, "exact", 1),
        (30, "optimus", 2),
        (30, "exact", 2),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("optimus-ablation", "-o", "x.txt"), r"x.txt: suffix \.txt, allowed: \.png, \.svg, \.pdf, \.csv, \.json"),
        (("optimus-ablation", "-o", "missing/x.png"), "cannot be written \\(no such directory"),
        (("optimus-ablation", "interval/none"), "unknown instance"),
        (("optimus-ablation", "--time-limit", "0"), "time limit 0"),
        (("parameter-balance", "--servers", "4,a"), "--servers '4,a': numbers separated by commas"),
        (("parameter-balance", "--servers", "\uff14"), "numbers separated by commas"),
        (("parameter-balance", "-o", "x" * 300 + ".png"), "File name too long"),
        (("parameter-balance", "--servers", "4.5"), "--servers '4.5': whole numbers from 1 to 10,000"),
        (("prediction-error", "--errors", "30,x"), "--errors '30,x': numbers separated"),
        (("prediction-error", "--kinds", "loss", "--errors", "10"), "kind: 'loss'"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError, match=message):
        run(*arguments)
