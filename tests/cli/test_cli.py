"""The command line as a user meets it: results on stdout, one line on stderr, exit codes."""

import json
import re
import subprocess
import sys

import pytest

import gangopt
from gangopt.base.jsonfile import write_json
from gangopt.catalogue import to_document
from gangopt.solvers.core.contract import Outcome
from gangopt.solvers.parameters.heuristics import lpt

TINY = "parameters/random?blocks=6&servers=2&seed=1"


def test_no_command_prints_the_help(call):
    code, out, _ = call()
    assert code == 0
    assert all(word in out for word in ("list", "show", "solve", "compare", "export", "schema", "plot"))


def test_list_shows_instances_families_and_clusters(call, refused):
    code, out, _ = call("list")
    assert code == 0
    assert "parameters/resnet50-p10" in out
    assert "allocation/random?" in out
    assert "tiresias-testbed" in out
    code, out, _ = call("list", "resnet50", "--json")
    assert {item["name"] for item in json.loads(out)["instances"]} == set(gangopt.names("resnet50"))
    assert "parameters/<network>-p<servers> " in call("list", "parameters")[1]
    assert "nothing matches 'zebra'" in refused("list", "zebra")


@pytest.mark.parametrize("name", gangopt.names())
def test_show_prints_every_named_instance(call, name):
    code, out, _ = call("show", name)
    assert code == 0
    assert out.startswith(name)
    assert "source: " in out


def test_show_json_is_a_file_that_solve_reads_back(call, tmp_path):
    code, out, _ = call("show", TINY, "--json")
    assert code == 0
    file = tmp_path / "instance.json"
    file.write_text(out)
    assert gangopt.load(file) == gangopt.load(TINY)
    code, _, _ = call("show", TINY, "-o", tmp_path / "same.json")
    assert code == 0
    assert (tmp_path / "same.json").read_text() == out
    code, out, _ = call("solve", file, "--json")
    assert code == 0
    assert json.loads(out)["objective"] == gangopt.solve(gangopt.load(TINY)).objective


def test_show_prints_and_draws_a_cluster(call, refused, tmp_path):
    code, out, _ = call("show", "tiresias-testbed")
    assert code == 0
    assert "15 x machine" in out
    picture = tmp_path / "cluster.png"
    assert call("show", "tiresias-testbed", "-o", picture)[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    code, out, _ = call("show", "tiresias-testbed", "--json")
    for name in ("cluster.json", "cluster"):
        file = tmp_path / name
        file.write_text(out)
        assert call("show", file)[1] == call("show", "tiresias-testbed")[1]
    assert "only clusters can be plotted" in refused("show", TINY, "-o", tmp_path / "a.png")


def test_solve_prints_text_or_one_json_object(call, tmp_path):
    code, out, err = call("solve", TINY)
    assert code == 0
    assert "proven optimal" in out
    assert err == ""
    saved = tmp_path / "result.json"
    code, out, _ = call("solve", TINY, "--json", "-o", saved)
    record = json.loads(out)
    assert list(record) == [
        "instance",
        "problem",
        "method",
        "form",
        "termination",
        "solution_status",
        "sense",
        "objective",
        "bound",
        "abs_gap",
        "rel_gap",
        "requested_rel_gap",
        "seconds",
        "metrics",
        "solver",
        "version",
        "options",
        "trajectory",
        "reason",
        "solution",
    ]
    assert json.loads(saved.read_text()) == record
    assert record["termination"] == "optimal"
    assert record["objective"] == record["bound"]


def test_solve_starts_from_a_saved_result(call, refused, tmp_path):
    saved = tmp_path / "result.json"
    assert call("solve", TINY, "--method", "lpt", "-o", saved)[0] == 0
    assert call("solve", TINY, "--start", saved)[0] == 0
    other = tmp_path / "other.json"
    assert call("solve", "parameters/random?blocks=5&servers=2", "--method", "lpt", "-o", other)[0] == 0
    assert "start is not feasible" in refused("solve", TINY, "--start", other)
    record = json.loads(saved.read_text())
    write_json(other, {**record, "solution": None})
    assert "the result holds no solution" in refused("solve", TINY, "--start", other)
    write_json(other, {**record, "problem": "auction"})
    assert "field problem must be 'parameters' (got 'auction')" in refused("solve", TINY, "--start", other)
    write_json(other, {"solution": 3, "termination": "optimal", "problem": "parameters"})
    assert "other.json: field the whole file" in refused("solve", TINY, "--start", other)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve"], "Missing argument"),
        (["solve", TINY, "--speed"], "unknown option '--speed'"),
        (["dance"], "unknown command 'dance'"),
        (["solve", TINY, "--method", "magic"], "unknown method of parameters 'magic'"),
        (["solve", TINY, "--method", "paa?x=1"], "unknown argument 'x'"),
        (["solve", TINY, "--form", "cubic"], "unknown formulation of parameters 'cubic'"),
        (["solve", TINY, "--method", "paa", "--form", "assign"], "form applies to exact methods, not to paa"),
        (["solve", TINY, "--method", "paa", "--solver", "glpk"], "solver applies to exact methods, not to paa"),
        (
            ["solve", TINY, "--method", "frontier", "--form", "assign"],
            "form applies to the method exact, not to frontier",
        ),
        (["solve", TINY, "--time-limit", "0"], "time_limit must be > 0 and <= 1e9 seconds (got 0.0)"),
        (["solve", TINY, "--time-limit", "nan"], "time_limit must be > 0 and <= 1e9 seconds (got nan)"),
        (["solve", TINY, "--rel-gap", "-1"], "rel_gap must be >= 0 (got -1.0)"),
        (["solve", TINY, "--threads", "0"], "threads must be an integer from 1 to 1024 (got 0)"),
        (["solve", TINY, "--seed", "-3"], "seed must be an integer from 0 to 2147483647 (got -3)"),
        (["solve", TINY, "--seed", "x"], "--seed"),
        (["solve", TINY, "--solver", "abacus"], "abacus"),
        (["solve", TINY, "-o", "result.txt"], "suffix .txt, allowed: .json"),
        (["solve", TINY, "-o", "no/such/folder/result.json"], "no such directory"),
        (["solve", "missing.json"], "missing.json: no such file"),
        (["solve", "."], "is a directory"),
        (["compare", "nothing/*"], "no named instance matches"),
        (["compare", TINY, "-o", "rows.xls"], "suffix .xls, allowed"),
        (["compare", TINY, "--methods", ""], "unknown method ''"),
        (["compare", "missing.json"], "missing.json: no such file"),
        (["export", TINY, "--format", "gms", "-o", "m.gms"], "unknown format 'gms'"),
        (["export", TINY, "--format", "lp", "-o", "no/such/m.lp"], "no such directory"),
        (["schema", "parking"], "unknown problem 'parking'"),
        (["plot", "missing.parquet", "-o", "a.png"], "no such file"),
        (["plot", "missing.parquet", "-o", "a.gif"], "suffix .gif, allowed: .png, .svg, .pdf"),
        (["plot", "nope", "-o", "a.png"], "nope: no such file"),
        (["plot", ".", "-o", "a.png"], ". must be a file (is a directory)"),
        (["plot", __file__, "-o", "a.png"], "suffix .py, allowed: .parquet, .csv, .json\n"),
        (["plot", "missing.parquet", "-o", "no/such/a.png"], "no such directory"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(refused, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_is_a_directory_or_forbidden_is_refused_first(refused, tmp_path, monkeypatch):
    assert "is a directory" in refused("export", TINY, "--format", "lp", "-o", tmp_path)
    (tmp_path / "out.json").mkdir()
    assert "is a directory" in refused("solve", TINY, "-o", tmp_path / "out.json")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "no permission" in refused("solve", TINY, "-o", tmp_path / "result.json")


def test_compare_prints_a_table_and_saves_it(call, tmp_path):
    saved = tmp_path / "rows.parquet"
    code, out, err = call("compare", TINY, "--methods", "exact,lpt", "-o", saved)
    assert code == 0
    assert err == ""
    assert "gap %" in out
    assert "by method" in out
    assert [file.name for file in tmp_path.iterdir()] == ["rows.parquet"]
    code, out, _ = call("compare", TINY, "--methods", "exact,lpt", "--json")
    rows = json.loads(out)["rows"]
    assert [row["method"] for row in rows] == ["exact", "lpt"]
    assert {
        "instance",
        "problem",
        "method",
        "objective",
        "best_bound",
        "rel_gap",
        "proven",
        "seconds",
        "status",
    } <= set(rows[0])
    pictures = tmp_path / "gap.svg"
    code, out, _ = call("plot", saved, "-o", pictures)
    assert code == 0
    assert out.split() == [str(pictures), str(tmp_path / "gap-profile.svg")]


def test_compare_with_one_broken_instance_keeps_the_others(call, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"noun": "parameters"')
    code, out, err = call("compare", TINY, broken, "--methods", "lpt", "-o", tmp_path / "rows.json")
    assert code == 2
    assert "1 of 2 rows failed" in err
    assert err.count("\n") == 1
    assert TINY in out
    assert [row["status"] for row in json.loads((tmp_path / "rows.json").read_text())["rows"]] == ["feasible", "failed"]


def test_patterns_name_many_instances(call):
    code, out, _ = call("compare", "parameters/resnet50-p*", "--methods", "lpt", "--json")
    assert code == 0
    assert [row["instance"] for row in json.loads(out)["rows"]] == gangopt.names("parameters/resnet50-p*")


@pytest.mark.parametrize("noun", list(gangopt.problems))
def test_schema_prints_the_schema_of_instances_and_solutions(call, noun, tmp_path):
    for extra in ([], ["--solution"]):
        code, out, _ = call("schema", noun, *extra)
        assert code == 0
        assert json.loads(out)["type"] == "object"
    file = tmp_path / "schema.json"
    assert call("schema", noun, "-o", file)[0] == 0
    assert json.loads(file.read_text())["properties"]["noun"]["const"] == noun


def test_no_solution_is_exit_1(call, tmp_path):
    document = to_document(gangopt.load("allocation/optimus-figure4"))
    for resource in (
        document["resources"] if isinstance(document["resources"], list) else document["resources"].values()
    ):
        if isinstance(resource, dict):
            resource["capacity"] = 0.5
    file = tmp_path / "small.json"
    write_json(file, document)
    code, out, _ = call("solve", file, "--json")
    record = json.loads(out)
    assert code == 1
    assert (record["termination"], record["solution_status"], record["solution"]) == ("infeasible", "none", None)
    assert record["reason"]


def test_plot_draws_results_and_refuses_what_has_nothing_to_draw(call, refused, tmp_path):
    saved = tmp_path / "result.json"
    assert call("solve", "parameters/random?blocks=9&servers=3", "--method", "frontier", "-o", saved)[0] == 0
    assert call("plot", saved, "-o", tmp_path / "frontier.pdf")[0] == 0
    assert call("solve", TINY, "--method", "lpt", "-o", saved)[0] == 0
    assert "neither a trajectory nor a frontier" in refused("plot", saved, "-o", tmp_path / "a.png")
    record = json.loads(saved.read_text())
    write_json(saved, {**record, "trajectory": [["x"]]})
    assert "not a result saved by gangopt" in refused("plot", saved, "-o", tmp_path / "a.png")
    write_json(saved, {"rows": []})
    assert "no row has a gap" in refused("plot", saved, "-o", tmp_path / "a.png")


def test_a_fault_of_a_method_is_exit_1_and_one_line(call, monkeypatch):
    def broken(instance):
        raise gangopt.SolverError("the solver broke")

    monkeypatch.setattr("gangopt.solvers.parameters.heuristics.lpt", broken)
    code, out, err = call("solve", TINY, "--method", "lpt")
    assert (code, out, err) == (1, "", "gangopt: the solver broke\n")


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [(MemoryError(), 2, "gangopt: not enough memory"), (KeyboardInterrupt(), 130, "gangopt: interrupted")],
)
def test_memory_and_interrupts_end_in_one_line(call, monkeypatch, error, code, line):
    def broken(instance):
        raise error

    monkeypatch.setattr("gangopt.solvers.parameters.heuristics.lpt", broken)
    answer = call("solve", TINY, "--method", "lpt")
    assert answer[0] == code
    assert answer[2].strip().startswith(line)


@pytest.mark.parametrize("file_format", ["lp", "mps", "nl", "json"])
def test_export_writes_one_file_and_says_which_form(call, tmp_path, file_format):
    file = tmp_path / f"model.{file_format}"
    code, out, err = call("export", TINY, "--format", file_format, "-o", file)
    assert (code, out, err) == (0, f"{file}: formulation assign as {file_format}\n", "")
    assert [item.name for item in tmp_path.iterdir()] == [file.name]


def test_schema_prints_the_schema_of_clusters(call, refused):
    code, out, _ = call("schema", "cluster")
    assert code == 0
    record = json.loads(out)
    assert record["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert set(record["properties"]) == {"directed", "multigraph", "graph", "nodes", "edges", "links"}
    assert "a cluster has no solution" in refused("schema", "cluster", "--solution")
    assert "did you mean 'cluster'" in refused("schema", "clusters")


def test_ctrl_c_while_the_program_loads_is_one_line():
    code = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from gangopt.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "gangopt: interrupted\n")


def test_an_interrupted_solve_prints_what_there_is_and_exits_as_shells_expect(call, monkeypatch):
    def exact(instance, controls):
        return Outcome("interrupted", lpt(instance), 0.0)

    monkeypatch.setattr("gangopt.solvers.parameters.exact.exact", exact)
    code, out, err = call("solve", "parameters/random?blocks=6&servers=2&seed=1", "--json")
    assert code == 130
    assert json.loads(out)["termination"] == "interrupted"
    assert err == "gangopt: interrupted\n"


@pytest.mark.parametrize("command", [[], ["fit"]])
def test_each_command_has_a_summary_of_one_line(call, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call(*command, "--help")
    summaries = out.partition("Commands:\n")[2].splitlines()
    assert code == 0
    assert len(summaries) == len({line.split()[0] for line in summaries}) >= 2
    for line in summaries:
        assert line.startswith("  ")
        assert line.endswith(".")
        assert not line.endswith("...")
        assert len(line) <= 80


@pytest.mark.parametrize("option", ["--formulation", "--form"])
def test_both_names_of_the_option_for_formulations(call, option, tmp_path):
    code, out, _ = call("solve", TINY, option, "groups", "--json")
    assert (code, json.loads(out)["form"]) == (0, "groups")
    assert "(formulation groups)" in call("solve", TINY, option, "groups")[1]
    code, out, _ = call("export", TINY, option, "groups", "--format", "lp", "-o", tmp_path / "a.lp")
    assert (code, "formulation groups as lp" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sovle", TINY], r"unknown command 'sovle'; .*\bsolve\b"),
        (["fit", "los"], r"unknown command 'los'; .*\bloss\b"),
        (["solve", TINY, "--seed"], "Option '--seed' requires an argument"),
        (["solve", TINY, "--metod", "exact"], r"unknown option '--metod'; .*--method\b"),
    ],
)
def test_unknown_words_of_the_command_line_have_near_matches(refused, arguments, message):
    assert re.search(message, refused(*arguments))


def test_schema_prints_former_versions(call, refused):
    versions = {
        n: json.loads(call("schema", "placement", *given)[1])["properties"]["version"]
        for n, given in ((1, ["--version", "1"]), (2, []))
    }
    assert [versions[n]["const"] for n in (1, 2)] == [1, 2]
    assert (
        refused("schema", "placement", "--version", "3") == "gangopt: --version must be 1 or 2 for placement (got 3)\n"
    )
    assert refused("schema", "threshold", "--version", "2") == "gangopt: --version must be 1 for threshold (got 2)\n"
    assert "cluster files have one version" in refused("schema", "cluster", "--version", "1")
    assert "solution files have one version" in refused("schema", "placement", "--solution", "--version", "1")
