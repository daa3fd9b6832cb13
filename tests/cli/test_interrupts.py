"""What commands leave behind when they are interrupted, killed, or started twice with one output."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gangopt
from gangopt.base.filelock import locked
from gangopt.solvers.core.contract import Outcome
from gangopt.solvers.core.pool import Lost
from gangopt.solvers.parameters.heuristics import lpt

TINY = "parameters/random?blocks=6&servers=2&seed=1"
LOG = "id,arrival,gpus,duration\na,0,2,2\nb,1,1,8\n"


def test_a_second_sweep_into_one_output_is_refused_and_costs_the_first_nothing(refused, call, tmp_path):
    output = tmp_path / "rows.csv"
    journal = tmp_path / "rows.csv.rows"
    gangopt.compare([TINY], ["lpt"], journal=journal)
    before = journal.read_bytes()
    with locked(journal):
        line = refused("compare", TINY, "--methods", "lpt", "-o", output)
        assert line.startswith(f"gangopt: {journal}: in use by process {os.getpid()} on ")
        assert (journal.read_bytes(), output.exists()) == (before, False)
    assert call("compare", TINY, "--methods", "lpt", "-o", output)[0] == 0
    assert [item.name for item in tmp_path.iterdir()] == ["rows.csv"]


def test_an_interrupted_solve_leaves_a_whole_result_alone(call, monkeypatch, tmp_path):
    output = tmp_path / "found.json"
    assert call("solve", TINY, "-o", output)[0] == 0
    whole = output.read_bytes()
    monkeypatch.setattr(
        "gangopt.solvers.parameters.exact.exact", lambda instance, controls: Outcome("interrupted", lpt(instance), 0.0)
    )
    code, _, err = call("solve", TINY, "-o", output)
    partial = tmp_path / "found.partial.json"
    assert (code, output.read_bytes()) == (130, whole)
    assert json.loads(partial.read_text())["termination"] == "interrupted"
    assert err.splitlines() == [
        f"gangopt: the partial result is in {partial}; {output} is unchanged",
        "gangopt: interrupted",
    ]


def test_a_partial_result_goes_over_no_file_that_is_read(refused, tmp_path):
    assert gangopt.load(TINY)
    source = tmp_path / "mine.partial.json"
    source.write_text("{}")
    line = refused("solve", source, "-o", tmp_path / "mine.json")
    assert line == f"gangopt: {source}: is also an input of this command; choose another output file\n"


def test_an_interrupted_experiment_writes_nothing(call, monkeypatch, tmp_path):
    output = tmp_path / "table.csv"
    output.write_text("whole\n")
    monkeypatch.setattr(
        "gangopt.solvers.allocation.exact.exact", lambda _instance, _controls: Outcome("interrupted", None, 1.0)
    )
    answer = call("experiment", "prediction-error", "allocation/optimus-figure4", "--seeds", 1, "-o", output)
    assert answer == (130, "", "gangopt: interrupted\n")
    assert [item.name for item in tmp_path.iterdir()] == ["table.csv"]
    assert output.read_text() == "whole\n"


def test_a_policy_whose_workers_died_costs_no_other(call, monkeypatch, tmp_path):
    from gangopt.replays import contest

    log, output = tmp_path / "log.csv", tmp_path / "out.json"
    log.write_text(LOG)

    def deadly(run, tasks, _workers):
        for index, task in enumerate(tasks):
            yield index, Lost("its worker process ended without an answer") if task[0] == "srtf" else run(task)

    monkeypatch.setattr(contest, "run_in_processes", deadly)
    arguments = ("replay", log, "--cluster", 2, "--policy", "fifo,srtf,srsf", "--executor", "processes")
    code, _, err = call(*arguments, "-o", output)
    reason = "its worker process ended without an answer"
    assert (code, err) == (2, f"gangopt: 1 of 3 policies failed; first srtf: {reason}\n")
    rows = {row["policy"]: row for row in json.loads(output.read_text())["policies"]}
    assert rows["srtf"]["reason"] == reason
    assert rows["fifo"]["avg_jct"] is not None
    assert rows["srsf"]["avg_jct"] is not None


def workers_of(pid):
    """Process ids of the worker processes of a command."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in listed if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_a_killed_worker_of_a_replay_costs_its_policy_a_retry():
    command = [sys.executable, "-m", "gangopt", "replay", "workload/tiresias-testbed", "--cluster", "60", "--json"]
    options = ["--no-bound", "--policy", "fifo,sf", "--executor", "processes", "--workers", "1"]
    child = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    workers = []
    while not workers and child.poll() is None:
        time.sleep(0.01)
        workers = workers_of(child.pid)
    os.kill(workers[0], signal.SIGKILL)
    out, err = child.communicate(timeout=120)
    assert (child.returncode, err) == (0, "")
    assert [row["reason"] for row in json.loads(out)["policies"]] == [None, None]


SEVERAL = [f"parameters/random?blocks=9&servers=3&seed={seed}" for seed in range(12)]
COMMANDS = {
    "solve": ["solve", "placement/random?jobs=10&servers=6&seed=1"],
    "compare": ["compare", "parameters/random?blocks=20&servers=3&seed=1", "allocation/optimus-figure4"],
    "processes": ["compare", *SEVERAL, "--executor", "processes", "--workers", "2"],
    "replay": ["replay", "workload/optimus-uniform", "--cluster", "optimus-testbed", "--policy", "fifo,exact,srtf"],
    "experiment": ["experiment", "prediction-error", "--seeds", "2", "--kinds", "steps"],
}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in {"seconds", "trajectory"}}
    return [without_times(item) for item in value] if isinstance(value, list) else value


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("group", [False, True])
def test_ctrl_c_at_any_time_ends_in_one_line_or_changes_nothing(name, group):
    command = [sys.executable, "-m", "gangopt", *COMMANDS[name], "--json"]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    total = time.perf_counter() - begin
    whole, notices = without_times(json.loads(done.stdout)), done.stderr.splitlines()
    for part in (0.1, 0.3, 0.5, 0.7, 0.85, 0.95):
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        time.sleep(0.1 + part * (total - 0.1))
        if child.poll() is None:
            (os.killpg if group else os.kill)(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
        if (child.returncode, out, err) == (-signal.SIGINT, "", ""):
            continue  # on a loaded machine the interpreter may not have come to a line of gangopt
        if child.returncode == 0:
            assert (without_times(json.loads(out)), err.splitlines()) == (whole, notices)
        else:
            lines = [line for line in err.splitlines() if line not in notices]
            assert (child.returncode, lines[-1]) == (130, "gangopt: interrupted"), err
            assert len(lines) <= 2
            assert "interrupted" in out or not out.lstrip().startswith("{") or not out.rstrip().endswith("}")
