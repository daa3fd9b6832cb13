"""Commands `gangopt experiment` that replay workloads: options, own logs, tables, plots and bad input."""

import json

import pytest

from gangopt import Workload
from gangopt.base.errors import InputError
from gangopt.cli.experiment import experiment_app


def run(*arguments):
    experiment_app(list(arguments), standalone_mode=False)


def rows(capsys):
    return json.loads(capsys.readouterr().out)["rows"]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    Workload.load("workload/tiresias-testbed?seed=2").save(path)
    return str(path)


@pytest.mark.parametrize(("name", "count"), [("tiresias-table1", 3), ("tiresias-table5", 6)])
def test_tables_of_an_own_log(name, count, log, tmp_path, capsys):
    picture, table = tmp_path / "x.png", tmp_path / "x.csv"
    run(name, "--workload", log, "--cluster", "64", "--jobs", "30", "--json", "-o", str(picture), "-o", str(table))
    record = json.loads(capsys.readouterr().out)
    assert record["experiment"] == name
    assert len(record["rows"]) == count
    assert {row["workload"] for row in record["rows"]} == {"log.csv"}
    assert record["notes"][0] == "log.csv: log, 30 jobs on 64 GPUs without machines"
    assert picture.stat().st_size > 1000
    assert len(table.read_text().splitlines()) == count + 1


def test_sensitivity(capsys):
    run("tiresias-sensitivity", "--jobs", "20", "--seed", "3")
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["panel", "setting", "policy", "metric", "value", "(s)", "to", "base", "paper"]
    assert sum(line.startswith(("threshold ", "queues ", "promoteknob ")) for line in lines) == 24


def test_gittins(tmp_path, capsys):
    run("gittins-curve", "--services", "2,6", "--thresholds", "3", "--points", "4", "--json")
    assert [row["attained"] for row in rows(capsys)] == [0, 2, 4, 6]
    run("gittins-curve", "--workload", "workload/tiresias-testbed", "-o", str(tmp_path / "g.svg"))
    assert (tmp_path / "g.svg").read_bytes().startswith(b"<?xml")


def test_optimus(capsys):
    run("optimus-replay", "--jobs", "6", "--draws", "1", "--policies", "optimus, drf", "--restart", "30", "--json")
    assert [row["policy"] for row in rows(capsys)] == ["optimus", "drf"] * 3


def test_themis(capsys):
    small = ("--workload", "workload/themis-2?apps=2&seed=1", "--policies", "srsf", "--json")
    run("themis-fairness", *small, "--across", "1.2", "--across-racks", "1.5")
    assert [row["policy"] for row in rows(capsys)] == ["srsf"]
    run("themis-contention", *small, "--contentions", "1,2")
    assert [row["contention"] for row in rows(capsys)] == [1, 2]
    run("themis-network-share", *small, "--shares", "0,50", "--cluster", "themis-testbed")
    assert [row["network-intensive"] for row in rows(capsys)] == [0, 50]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tiresias-table1", "-o", "x.txt"), r"x.txt: suffix \.txt"),
        (("tiresias-table1", "--workload", "none.csv"), "none.csv"),
        (("tiresias-table5", "--cluster", "none"), "none"),
        (("tiresias-table5", "--cluster", "0"), r"cluster must be an integer >= 1 \(got 0\)"),
        (("tiresias-sensitivity", "--jobs", "0"), r"jobs must be an integer from 1 to 1,000,000 \(got 0\)"),
        (("tiresias-sensitivity", "--seed", "-1"), "seed"),
        (("gittins-curve", "--services", "4,x"), "--services must be numbers separated by commas"),
        (("gittins-curve", "--thresholds", "5,4"), r"thresholds must be > 0 GPU s and ascending \(got 5, 4\)"),
        (("gittins-curve", "--services", "4", "--workload", "workload/philly-like"), "cannot be given together"),
        (("optimus-replay", "--draws", "0"), r"draws must be an integer from 1 to 1000 \(got 0\)"),
        (("themis-fairness", "--policies", "srsf,"), "unknown policy ''"),
        (("themis-contention", "--contentions", "0.5"), "--contentions must be integers from 1"),
        (("themis-network-share", "--shares", "120"), r"share must be a number from 0 to 1 \(got 1\.2\)"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError, match=message):
        run(*arguments)
