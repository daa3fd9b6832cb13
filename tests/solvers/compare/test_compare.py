"""Rows, bounds, summaries, files and executors of comparisons."""

import importlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor

import pytest

import gangopt
from gangopt.base.errors import InputError, NoSolutionError
from gangopt.base.jsonfile import write_json
from gangopt.catalogue import to_document
from gangopt.reporting.comparison import comparison_text, html_report
from gangopt.reporting.text import format_gap, format_number
from gangopt.solvers.compare.comparison import Comparison
from gangopt.solvers.core.contract import Outcome
from gangopt.solvers.core.row import Row
from gangopt.solvers.parameters.heuristics import lpt

NAMES = ["parameters/random?blocks=6&servers=2&seed=1", "parameters/random?blocks=7&servers=3&seed=2"]
METHODS = ["exact", "paa", "lpt"]


def stable(comparison):
    """Rows without their times."""
    return [(row.instance, row.method, row.objective, row.best_bound, row.status, row.best) for row in comparison.rows]


@pytest.fixture(scope="module")
def comparison():
    return gangopt.compare(NAMES, METHODS)


def test_a_row_for_every_instance_and_method(comparison):
    assert [(row.instance, row.method) for row in comparison.rows] == [(n, m) for n in NAMES for m in METHODS]
    for row in comparison.rows:
        assert row.problem == "parameters"
        assert row.best_bound <= row.objective
        assert row.proven == (row.objective <= row.best_bound * (1 + 1e-9))
        assert row.metrics["size_difference"] == row.objective


def test_the_best_method_is_marked_and_the_summary_adds_up(comparison):
    for name in NAMES:
        rows = [row for row in comparison.rows if row.instance == name]
        for row in rows:
            cheap = [other for other in rows if other.metrics["requests"] <= row.metrics["requests"]]
            assert row.best == (row.objective == min(other.objective for other in cheap))
    for item in comparison.summary():
        rows = [row for row in comparison.rows if row.method == item.method]
        assert item.instances == item.solved == 2
        assert item.best == sum(row.best for row in rows)
        gaps = [row.rel_gap for row in rows]
        assert item.mean_gap == pytest.approx(sum(filter(math.isfinite, gaps)) / sum(map(math.isfinite, gaps)))
        assert item.worst_gap == max(gaps)
        assert item.infinite_gaps == sum(map(math.isinf, gaps))


def test_instances_and_names_and_single_ones_are_accepted():
    instance = gangopt.load(NAMES[0])
    assert stable(gangopt.compare(instance, ["lpt"])) == stable(gangopt.compare(NAMES[0], ["lpt"]))


def test_a_failing_instance_is_a_row_and_the_others_are_kept(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    comparison = gangopt.compare([NAMES[0], broken, "parameters/none", NAMES[1]], ["lpt"])
    assert [row.status for row in comparison.rows] == ["feasible", "failed", "failed", "feasible"]
    assert "not JSON" in comparison.rows[1].reason
    assert "unknown instance" in comparison.rows[2].reason
    text = comparison_text(comparison)
    assert "not JSON" in text
    assert NAMES[1] in text


def test_each_decision_runs_the_methods_that_fit_it():
    names = [NAMES[0], "allocation/optimus-figure4"]
    comparison = gangopt.compare(names, ["lpt", "drf", "exact?order=requests"])
    assert [(row.problem, row.method) for row in comparison.rows] == [
        ("parameters", "lpt"),
        ("parameters", "exact?order=requests"),
        ("allocation", "drf"),
    ]
    assert all(row.objective is not None for row in comparison.rows)


def test_an_instance_that_none_of_the_methods_fits_is_a_failed_row(tmp_path):
    file = tmp_path / "mine.json"
    write_json(file, to_document(gangopt.load("allocation/optimus-figure4")))
    comparison = gangopt.compare([NAMES[0], file], ["lpt", "paa"])
    assert [row.status for row in comparison.rows] == ["feasible", "feasible", "failed"]
    assert comparison.rows[2].reason == ("allocation has no method lpt, paa; known: exact, optimus, drf, tetris, equal")


def test_one_method_alone_is_accepted():
    assert stable(gangopt.compare(NAMES, "lpt")) == stable(gangopt.compare(NAMES, ["lpt"]))


def test_patterns_of_names_are_expanded_in_python_too():
    names = gangopt.names("parameters/resnet50-p*")
    assert len(names) > 1
    found = [row.instance for row in gangopt.compare("parameters/resnet50-p*", "lpt").rows]
    assert found == names
    mixed = gangopt.compare([names[1], "parameters/resnet50-p*"], "lpt").rows
    assert [row.instance for row in mixed] == [names[1], *(name for name in names if name != names[1])]
    with pytest.raises(InputError, match="no named instance matches 'nothing/\\*'"):
        gangopt.compare("nothing/*")


def test_a_file_that_looks_like_a_pattern_is_that_file(tmp_path):
    file = tmp_path / "parameters[1]*.json"
    write_json(file, to_document(gangopt.load(NAMES[0])))
    assert gangopt.compare(str(file), "lpt").rows[0].instance == NAMES[0]


def test_instances_of_one_name_are_told_apart(tmp_path):
    document = to_document(gangopt.load(NAMES[0]))
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        write_json(file, {**document, "name": "mine"})
    rows = gangopt.compare([*files, NAMES[1]], ["lpt", "paa"]).rows
    assert [row.instance for row in rows] == [
        *[f"mine ({files[0]})"] * 2,
        *[f"mine ({files[1]})"] * 2,
        *[NAMES[1]] * 2,
    ]
    instance = gangopt.load(NAMES[0])
    assert [row.instance for row in gangopt.compare([instance, instance], "lpt").rows] == [
        f"{NAMES[0]} (no. 1)",
        f"{NAMES[0]} (no. 2)",
    ]


def test_an_interrupted_comparison_shows_what_it_lacks_in_every_file(tmp_path):
    def stop_after_one(rows):
        raise KeyboardInterrupt

    partial = gangopt.compare([*NAMES, "parameters/resnet50-p4"], METHODS, on_rows=stop_after_one)
    assert partial.interrupted
    assert [row.instance for row in partial.rows] == [NAMES[0]] * 3 + [NAMES[1], "parameters/resnet50-p4"]
    assert [row.status for row in partial.rows[3:]] == ["interrupted"] * 2
    assert partial.to_json()["interrupted"] is True
    assert comparison_text(partial).startswith("PARTIAL: interrupted by Ctrl-C, 2 of the instances not finished\n")
    assert "PARTIAL" in html_report(partial)
    for suffix in (".parquet", ".csv", ".json"):
        file = tmp_path / f"rows{suffix}"
        partial.write(file)
        assert Comparison.read(file) == partial
    whole = gangopt.compare(NAMES[0], "lpt")
    assert "PARTIAL" not in comparison_text(whole) + html_report(whole)
    assert list(whole.to_json()) == ["rows"]


def test_a_solve_that_was_interrupted_ends_the_comparison(monkeypatch):
    monkeypatch.setattr(
        "gangopt.solvers.parameters.exact.exact",
        lambda instance, controls: Outcome("interrupted", lpt(instance), None),
    )
    partial = gangopt.compare(NAMES, ["lpt", "exact", "paa"])
    assert partial.interrupted
    assert [(row.method, row.status) for row in partial.rows] == [
        ("lpt", "feasible"),
        ("exact", "interrupted"),
        ("", "interrupted"),
    ]


def test_an_unforeseen_error_while_loading_is_a_failed_row(monkeypatch):
    def broken(blocks: int, servers: int, seed: int = 0):
        raise RecursionError("too deep")

    monkeypatch.setattr("gangopt.instances.parameters.generate.random", broken)
    comparison = gangopt.compare([NAMES[0], "parameters/resnet50-p4"], "lpt")
    assert [row.status for row in comparison.rows] == ["failed", "feasible"]
    assert comparison.rows[0].reason == "RecursionError: too deep"


def test_an_unforeseen_error_of_a_row_bound_keeps_the_row(monkeypatch):
    def broken(instance, score, controls, proven=()):
        raise RecursionError("too deep")

    monkeypatch.setattr("gangopt.solvers.parameters.exact.row_bound", broken)
    exact, rule = gangopt.compare(NAMES[0], ["exact", "paa"]).rows
    assert (exact.status, exact.proven, exact.best_bound) == ("optimal", True, exact.objective)
    assert (rule.status, rule.best_bound) == ("feasible", None)
    assert rule.reason == "no bound was computed for this row (RecursionError: too deep)"


def test_a_heuristic_that_finds_nothing_has_a_row_without_a_solution(monkeypatch):
    def lost(instance):
        raise NoSolutionError("no machine has room for 3 workers")

    monkeypatch.setattr("gangopt.solvers.parameters.heuristics.paa", lost)
    comparison = gangopt.compare(NAMES[0], ["paa", "lpt"])
    row = comparison.rows[0]
    assert (row.status, row.termination, row.objective, row.best) == ("none", "completed", None, False)
    assert f"{NAMES[0]} paa none: no machine has room for 3 workers" in comparison_text(comparison)


class _Unreliable:
    """An executor whose second task is lost."""

    def __init__(self, error):
        self.error = error
        self.calls = 0

    def submit(self, function, /, *arguments):
        self.calls += 1
        future = Future()
        if self.calls == 2:
            future.set_exception(self.error)
        else:
            future.set_result(function(*arguments))
        return future


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BrokenExecutor(), "its worker process ended without a result"),
        (TypeError("cannot pickle"), "its executor failed (TypeError: cannot pickle)"),
    ],
)
def test_a_task_that_its_executor_loses_is_a_failed_row_and_is_tried_again(tmp_path, error, reason):
    names = [*NAMES, "parameters/resnet50-p4"]
    journal = tmp_path / "rows"
    comparison = gangopt.compare(names, ["lpt"], executor=_Unreliable(error), journal=journal)
    assert [row.status for row in comparison.rows] == ["feasible", "failed", "feasible"]
    assert reason in comparison.rows[1].reason
    again = []
    assert all(
        row.objective is not None for row in gangopt.compare(names, ["lpt"], journal=journal, on_rows=again.append).rows
    )
    assert [rows[0].instance for rows in again] == [NAMES[1]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"instances": []}, "no instances to compare"),
        ({"methods": []}, "no methods to compare"),
        ({"methods": 3}, r"methods must be one or a list \(got 3\)"),
        ({"instances": None}, r"instances must be one or a list \(got None\)"),
        ({"instances": [NAMES[0], 3]}, r"instances\[1\] must be an instance, its name or its path \(got 3\)"),
        ({"methods": ["lpt", "lpt"]}, "duplicate method lpt"),
        ({"methods": ["quantum"]}, "unknown method 'quantum'; known: "),
        ({"methods": ["paa?x=1"]}, "paa.x=1: unknown argument 'x'"),
        ({"time_limit": -1}, r"time_limit must be > 0 and <= 1e9 seconds \(got -1\)"),
        ({"rel_gap": math.nan}, r"rel_gap must be >= 0 \(got nan\)"),
        ({"threads": 0}, r"threads must be .* \(got 0\)"),
        ({"seed": -1}, r"seed must be .* \(got -1\)"),
        ({"executor": "cloud"}, "unknown executor 'cloud'; known: serial, processes, dask"),
        ({"executor": "dask"}, "executor dask requires the address of a scheduler"),
        ({"scheduler": "tcp://x:1"}, "a scheduler address applies only to the executor dask"),
        ({"executor": "processes", "workers": 0}, r"workers must be an integer from 1 to 1024 \(got 0\)"),
    ],
)
def test_each_wrong_setting_has_its_message(call, message):
    with pytest.raises(InputError, match=message):
        gangopt.compare(**{"instances": NAMES, "methods": ["lpt"], **call})


def test_processes_and_threads_give_the_same_rows_as_serial(comparison):
    assert stable(gangopt.compare(NAMES, METHODS, executor="processes", workers=2)) == stable(comparison)
    with ThreadPoolExecutor(2) as pool:
        assert stable(gangopt.compare(NAMES, METHODS, executor=pool)) == stable(comparison)


def test_a_dask_cluster_gives_the_same_rows(comparison):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        found = gangopt.compare(NAMES, METHODS, executor="dask", scheduler=cluster.scheduler_address)
    assert stable(found) == stable(comparison)


def test_no_scheduler_at_the_address_is_one_line():
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match="no Dask scheduler at nonsense"):
        gangopt.compare(NAMES, ["lpt"], executor="dask", scheduler="nonsense://")


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".json"])
def test_what_is_written_reads_back(comparison, suffix, tmp_path):
    file = tmp_path / f"rows{suffix}"
    failed = Row("x.json", "", "", None, None, None, proven=False, seconds=0.0, status="failed", reason='why, "so"\n?')
    infinite = Row(
        "a", "parameters", "m", 3.0, 0.0, math.inf, proven=False, seconds=1.5, status="feasible", unit="parameters"
    )
    saved = Comparison((*comparison.rows, failed, infinite))
    saved.write(file)
    assert Comparison.read(file).rows == saved.rows


def test_the_html_report_is_one_page_with_every_row(comparison, tmp_path):
    file = tmp_path / "report.html"
    comparison.write(file)
    page = file.read_text()
    assert page == html_report(comparison)
    assert page.count("<svg") == 2
    assert all(row.method in page for row in comparison.rows)
    assert "<script" not in html_report(
        Comparison((Row("<script>", "parameters", "<b>", 1.0, 1.0, 0.0, proven=True, seconds=0.0, status="optimal"),))
    )
    with pytest.raises(InputError, match="an HTML report cannot be loaded"):
        Comparison.read(file)


SAVED = {"instance": "x", "problem": "p", "method": "m", "objective": 1, "status": "s"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "", "suffix .txt, allowed: .parquet, .csv, .json, .html"),
        ("a", "", "suffix missing, allowed"),
        ("a.json", "{}", "not a saved comparison"),
        ("a.json", '{"rows": [{"instance": "x"}]}', "column problem is missing"),
        ("a.json", '{"rows": [3]}', "not a saved comparison"),
        ("a.csv", "a,b\n1,2\n", "column instance is missing"),
        ("a.csv", "", "cannot be read as csv"),
        ("a.parquet", "junk", "cannot be read as parquet"),
        (
            "a.json",
            '{"rows": [{"instance":"x","problem":"p","method":"m","objective":"many","status":"s"}]}',
            "column objective must be a number .*'many'",
        ),
        (
            "a.json",
            '{"rows": [{"instance":"x","problem":"p","method":"m","objective":"nan","status":"s"}]}',
            r"column objective must be a number \(got NaN\)",
        ),
        *(
            ("a.json", json.dumps({"rows": [{**SAVED, name: value}]}), f"column {name} must be {need}")
            for name, value, need in (
                *(("method", other, "text") for other in (True, [], {})),
                ("reason", [1], "text"),
                *(("proven", other, "true or false") for other in (1, "yes", [])),
                *(("seconds", other, "a number") for other in (True, [], {}, "x")),
            )
        ),
    ],
)
def test_each_defect_of_a_saved_comparison_has_its_message(tmp_path, name, content, message):
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        Comparison.read(file)


def test_a_saved_comparison_that_is_not_there(tmp_path):
    for name in ("none.csv", "none.json"):
        with pytest.raises(InputError, match="no such file"):
            Comparison.read(tmp_path / name)


def test_numbers_are_written_for_people():
    assert [format_number(v) for v in (None, 1920, 1920.0, 0.5, 1234567.25, math.inf, -math.inf, True)] == [
        "-",
        "1,920",
        "1,920",
        "0.5",
        "1,234,567.25",
        "inf",
        "-inf",
        "true",
    ]
    assert [format_gap(v) for v in (None, 0.0, 0.0123456, 1e-8, 54.0, math.inf)] == [
        "-",
        "0.000",
        "1.235",
        "1.0e-06",
        "5,400",
        "inf",
    ]


def test_an_unforeseen_error_of_a_method_is_a_failed_row(monkeypatch):
    def broken(instance):
        raise ZeroDivisionError("no servers")

    monkeypatch.setattr("gangopt.solvers.parameters.heuristics.paa", broken)
    comparison = gangopt.compare(NAMES[0], ["paa", "lpt"])
    assert [row.status for row in comparison.rows] == ["failed", "feasible"]
    assert comparison.rows[0].reason == "ZeroDivisionError: no servers"


def test_a_dying_worker_costs_no_row_but_its_own(tmp_path, monkeypatch):
    (tmp_path / "fragile_rule.py").write_text(
        "import os\n"
        "from gangopt.solvers.parameters.heuristics import lpt\n"
        "def fragile(instance):\n"
        "    return os._exit(9) if len(instance.sizes) == 7 else lpt(instance)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    fragile = importlib.import_module("fragile_rule").fragile
    names = [f"parameters/random?blocks={blocks}&servers=2" for blocks in (5, 6, 7, 8, 9)]
    rows = gangopt.compare(names, [fragile], executor="processes", workers=2).rows
    assert [row.status for row in rows] == ["feasible", "feasible", "failed", "feasible", "feasible"]
    assert "its worker process ended without a result" in rows[2].reason


@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c_stops_worker_processes_without_a_traceback(tmp_path, whole_group):
    out = tmp_path / "rows.csv"
    names = [f"parameters/random?blocks=6&servers=2&seed={seed}" for seed in range(3000)]
    command = [sys.executable, "-m", "gangopt", "compare", *names, "--methods", "lpt", "-o", str(out)]
    process = subprocess.Popen(
        [*command, "--executor", "processes", "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    journal = out.with_name("rows.csv.rows")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (journal.exists() and len(journal.read_text().splitlines()) > 3):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT) if whole_group else os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "gangopt: interrupted"
    assert "Traceback" not in errors
    assert Comparison.read(tmp_path / "rows.partial.csv").interrupted


def test_ctrl_c_keeps_the_rows_that_were_finished(tmp_path):
    out = tmp_path / "rows.json"
    names = [f"parameters/random?blocks=6&servers=2&seed={seed}" for seed in range(3000)]
    command = [sys.executable, "-m", "gangopt", "compare", *names, "--methods", "lpt,paa", "-o", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = out.with_name("rows.json.rows")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (journal.exists() and len(journal.read_text().splitlines()) > 3):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"gangopt: {journal} keeps the finished rows" in errors
    assert errors.endswith("gangopt: interrupted\n")
    record = json.loads((tmp_path / "rows.partial.json").read_text())
    assert record["interrupted"] is True
    assert {row["instance"] for row in record["rows"]} == set(names)
    assert 3 <= sum(row["status"] == "feasible" for row in record["rows"]) < 6000
    assert journal.exists()
