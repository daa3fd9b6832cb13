"""Command `compare`: what it prints, what it saves, and how it ends."""

import json

import pytest

import gangopt
from gangopt.base.errors import NoSolutionError
from gangopt.base.jsonfile import write_json
from gangopt.catalogue import to_document
from gangopt.cli import run
from gangopt.solvers.compare.comparison import Comparison

TINY = "parameters/random?blocks=6&servers=2&seed=1"
OTHER = "parameters/random?blocks=7&servers=3&seed=2"


@pytest.fixture
def call(capsys):
    def invoke(*arguments):
        code = run([str(item) for item in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return invoke


def methods_of(out):
    return [(row["problem"], row["method"]) for row in json.loads(out)["rows"]]


def test_spaces_in_the_list_of_methods_do_not_matter(call):
    code, out, err = call("compare", TINY, "--methods", " exact, lpt ", "--json")
    assert (code, err) == (0, "")
    assert methods_of(out) == [("parameters", "exact"), ("parameters", "lpt")]


def test_methods_of_several_decisions_run_where_they_fit(call):
    code, out, err = call("compare", TINY, "allocation/optimus-figure4", "--methods", "exact,lpt,optimus", "--json")
    assert (code, err) == (0, "")
    assert methods_of(out) == [
        ("parameters", "exact"),
        ("parameters", "lpt"),
        ("allocation", "exact"),
        ("allocation", "optimus"),
    ]


def test_methods_of_another_decision_are_refused(call):
    code, out, err = call("compare", "allocation/optimus-figure4", "--methods", "lpt")
    assert (code, out) == (2, "")
    assert err == "gangopt: unknown method 'lpt'; known: drf, equal, exact, optimus, tetris\n"


def test_an_interrupted_comparison_ends_with_130_and_says_where_it_goes_on(call, tmp_path, monkeypatch):
    calls = []

    def stop_at_the_second(instance):
        calls.append(instance)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return gangopt.solve(instance, "paa").solution

    monkeypatch.setattr("gangopt.solvers.parameters.heuristics.lpt", stop_at_the_second)
    output = tmp_path / "rows.csv"
    code, out, err = call("compare", TINY, OTHER, "--methods", "lpt", "-o", output)
    assert code == 130
    assert out.startswith("PARTIAL: interrupted by Ctrl-C, 1 of the instances not finished\n")
    partial = tmp_path / "rows.partial.csv"
    assert err.splitlines() == [
        f"gangopt: the partial result is in {partial}; {output} is unchanged",
        f"gangopt: {output}.rows keeps the finished rows; run the same command again to resume",
        "gangopt: interrupted",
    ]
    assert not output.exists()
    saved = Comparison.read(partial)
    assert saved.interrupted
    assert [(row.instance, row.status) for row in saved.rows] == [(TINY, "feasible"), (OTHER, "interrupted")]
    code, out, err = call("compare", TINY, OTHER, "--methods", "lpt", "-o", output)
    assert (code, err) == (0, "")
    assert len(calls) == 3
    assert "PARTIAL" not in out
    assert not Comparison.read(output).interrupted
    assert sorted(item.name for item in tmp_path.iterdir()) == ["rows.csv", "rows.partial.csv"]
    whole = output.read_bytes()
    calls.clear()
    code, _, err = call("compare", TINY, OTHER, "--methods", "lpt", "-o", output)
    assert (code, output.read_bytes()) == (130, whole)
    assert f"{partial}; {output} is unchanged\n" in err
    (tmp_path / "rows.csv.rows").unlink()
    calls.clear()
    code, out, err = call("compare", TINY, OTHER, "--methods", "lpt", "--json")
    assert (code, json.loads(out)["interrupted"], err) == (130, True, "gangopt: interrupted\n")


def test_a_foreign_file_where_the_journal_would_be_is_left_alone(call, tmp_path):
    foreign = tmp_path / "rows.csv.rows"
    foreign.write_text("eggs\nmilk\n")
    code, out, err = call("compare", TINY, "--methods", "lpt", "-o", tmp_path / "rows.csv")
    assert (code, out) == (2, "")
    assert "not a journal of a comparison; remove it or write elsewhere" in err
    assert foreign.read_text() == "eggs\nmilk\n"
    assert [item.name for item in tmp_path.iterdir()] == ["rows.csv.rows"]


def test_a_heuristic_that_finds_nothing_is_a_result_and_exit_1(call, monkeypatch):
    def lost(instance):
        raise NoSolutionError("no machine has room for 3 workers")

    monkeypatch.setattr("gangopt.solvers.parameters.heuristics.lpt", lost)
    code, out, err = call("solve", TINY, "--method", "lpt", "--json")
    record = json.loads(out)
    assert (code, err) == (1, "")
    assert (record["termination"], record["solution_status"], record["solution"]) == ("completed", "none", None)
    assert record["reason"] == "no machine has room for 3 workers"
    code, out, err = call("compare", TINY, "--methods", "lpt", "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)["rows"][0]["status"] == "none"
    assert call("compare", TINY, "--methods", "lpt,paa")[0] == 0


def test_files_with_one_name_are_told_apart(call, tmp_path):
    document = to_document(gangopt.load(TINY))
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        write_json(file, {**document, "name": "mine"})
    code, out, _ = call("compare", *files, "--methods", "lpt", "--json")
    assert code == 0
    assert [row["instance"] for row in json.loads(out)["rows"]] == [f"mine ({file})" for file in files]


def test_a_name_listed_twice_or_matched_twice_is_compared_once(call):
    code, out, _ = call(
        "compare",
        "parameters/resnet50-p4",
        "parameters/resnet50-p*",
        "parameters/resnet50-p4",
        "--methods",
        "lpt",
        "--json",
    )
    assert code == 0
    found = [row["instance"] for row in json.loads(out)["rows"]]
    assert sorted(found) == sorted(gangopt.names("parameters/resnet50-p*"))
    assert found[0] == "parameters/resnet50-p4"


def test_infeasible_rows_have_their_reason_below_the_table(call, tmp_path):
    document = to_document(gangopt.load("allocation/optimus-figure4"))
    for resource in document["resources"]:
        resource["capacity"] = 0.5
    file = tmp_path / "small.json"
    write_json(file, document)
    code, out, _ = call("compare", file, "--methods", "exact")
    assert code == 1
    reason = gangopt.solve(gangopt.load(file)).reason
    assert out.rstrip().endswith(f"exact infeasible: {reason}")


def test_an_instance_file_is_not_overwritten(call, tmp_path):
    file = tmp_path / "own.json"
    write_json(file, to_document(gangopt.load(TINY)))
    before = file.read_bytes()
    code, out, err = call("compare", file, "--methods", "lpt", "-o", file)
    assert (code, out) == (2, "")
    assert "is also an input of this command" in err
    assert file.read_bytes() == before


def test_a_name_too_long_for_the_journal_is_refused_before_anything_is_computed(call, tmp_path):
    code, out, err = call("compare", TINY, "--methods", "lpt", "-o", tmp_path / ("x" * 248 + ".json"))
    assert (code, out) == (2, "")
    assert "cannot be written" in err


def test_a_file_that_hides_a_name_is_told(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "parameters/resnet50-p10"
    (tmp_path / "parameters").mkdir()
    write_json(tmp_path / name, to_document(gangopt.load(TINY)))
    code, _, err = call("compare", name, "--methods", "lpt", "--json")
    assert code == 0
    assert f"{name} is read from the local file" in err


def test_the_file_is_written_even_if_the_table_cannot_be_printed(call, tmp_path, monkeypatch):
    def broken(*_):
        raise BrokenPipeError

    monkeypatch.setattr("gangopt.reporting.comparison.comparison_text", broken)
    file = tmp_path / "rows.json"
    call("compare", TINY, "--methods", "lpt", "-o", file)
    assert len(json.loads(file.read_text())["rows"]) == 1
    assert not file.with_name("rows.json.rows").exists()
