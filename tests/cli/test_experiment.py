"""Commands `gangopt experiment`: names, own files, tables, plots, help and bad input."""

import json

import pytest

from gangopt.base.arguments import parameters_of
from gangopt.base.docstrings import descriptions
from gangopt.base.errors import InputError
from gangopt.catalogue import load, to_document
from gangopt.cli.experiment import experiment_app
from gangopt.experiments.registry import EXPERIMENTS


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
        (("optimus-ablation", "--time-limit", "0"), r"time_limit must be > 0 and <= 1e9 seconds \(got 0\.0\)"),
        (("parameter-balance", "--servers", "4,a"), r"--servers must be numbers separated by commas \(got '4,a'\)"),
        (("parameter-balance", "--servers", "\uff14"), "must be numbers separated by commas"),
        (("parameter-balance", "-o", "x" * 300 + ".png"), "File name too long"),
        (
            ("parameter-balance", "--servers", "4.5"),
            r"--servers must be integers from 1 to 10,000 separated by commas \(got '4\.5'\)",
        ),
        (("prediction-error", "--errors", "30,x"), "--errors must be numbers separated"),
        (("no-such-experiment",), "unknown experiment 'no-such-experiment'"),
        (("prediction-error", "--kinds", "loss", "--errors", "10"), "unknown kind of error 'loss'"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError, match=message):
        run(*arguments)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_help_describes_every_option_and_shows_its_default(name, capsys):
    run(name, "--help")
    text = capsys.readouterr().out
    experiment = EXPERIMENTS[name]
    assert experiment.figure in " ".join(text.split())
    assert "-o, --output FILE" in text
    described = descriptions(experiment.load())
    assert list(described) == list(parameters_of(experiment.load()))
    assert all(item[0].isupper() and item.endswith(".") for item in described.values())


def test_help_spells_options_and_defaults_like_the_command_line(capsys):
    run("themis-network-share", "--help")
    text = " ".join(capsys.readouterr().out.split())
    assert "--shares A,B,... Network-intensive apps in percent. [default: 0,20,40,60,80,100]" in text
    assert "--across X" in text
    run("themis-truth-telling", "--help")
    assert "--demand N" in capsys.readouterr().out
    run("optimus-ablation", "--help")
    assert "[NAME|FILE...]" in capsys.readouterr().out


def test_list_fits_one_line_per_experiment(capsys):
    run("--help")
    lines = capsys.readouterr().out.splitlines()
    for item in EXPERIMENTS.values():
        assert f"  {item.name:<23}  {item.summary}" in lines
