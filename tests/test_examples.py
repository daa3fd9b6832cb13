"""The example package, installed beside gangopt, is found by its entry points and does what gangopt's own do."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples" / "gangopt-gavel"
PROJECT = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))["project"]
LOG = (
    "job_id,job_type,scale_factor,total_steps,arrival_time,steps_per_second\n"
    "a,resnet,1,3000,0,10\nb,resnet,1,3000,0,10\n"
)


def python(folder, *words):
    """Run Python with what is installed in a folder."""
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-W", "error::UserWarning", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder with the package and the metadata that an installer writes, as pyproject.toml has it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "gangopt_gavel").symlink_to(FOLDER / "gangopt_gavel", target_is_directory=True)
    info = folder / f"gangopt_gavel-{PROJECT['version']}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n"
    (info / "METADATA").write_text(head)
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
        for group, points in PROJECT["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
    return folder


def check_commands(folder, tmp_path):
    """Run the commands of gangopt in one process, with what the package adds."""
    log, machines = tmp_path / "jobs.csv", tmp_path / "machines.csv"
    log.write_text(LOG)
    machines.write_text("gpu_type,machines,gpus_per_machine\nv100,1,1\n")
    replay = ["replay", str(log), "--cluster", str(machines), "--policy", "max-min-time?round_seconds=100"]
    commands = [
        ["list", "time_share", "--json"],
        ["list", "gavel-csv", "--json"],
        ["policies", "--json"],
        ["solve", "time_share/three-types", "--json"],
        ["compare", "time_share/*", "--json"],
        [*replay, "--no-bound", "--json"],
    ]
    code = (
        "import contextlib, io, json, sys\n"
        "from gangopt.cli import run\n"
        "outputs = []\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "        assert run(words) == 0, words\n"
        "    outputs.append(json.loads(out.getvalue()))\n"
        "json.dump(outputs, sys.stdout)\n"
    )
    done = python(folder, "-c", code, json.dumps(commands))
    assert done.returncode == 0, done.stderr
    listed, formats, policies, solved, compared, replayed = json.loads(done.stdout)
    assert [item["name"] for item in listed["instances"]] == ["time_share/three-types", "time_share/gangs"]
    assert listed["families"][0]["template"] == "time_share/random?jobs=8&types=3&gpus=4&seed=0"
    assert [item["name"] for item in formats["workload_formats"]] == ["gavel-csv"]
    assert policies["policies"][-1]["policy"] == "max-min-time"
    assert solved["solution_status"] == "optimal"
    assert solved["objective"] == pytest.approx(129 / 124, rel=1e-9)
    best = {row["instance"]: row["objective"] for row in compared["rows"] if row["method"] == "exact"}
    assert best == {
        "time_share/three-types": pytest.approx(129 / 124, rel=1e-9),
        "time_share/gangs": pytest.approx(2473149 / 2204935, rel=1e-9),
    }
    # a and b take turns of 100 s and end after 500 s and 600 s
    assert replayed["policies"][0]["avg_jct"] == 550.0


def test_commands_with_the_package(installed, tmp_path):
    check_commands(installed, tmp_path)


@pytest.mark.slow
def test_the_package_passes_its_own_tests(installed):
    done = python(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(FOLDER / "tests"))
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_commands_with_the_package_as_pip_installs_it(tmp_path):
    target = tmp_path / "site"
    words = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    done = python(tmp_path, *words, "--target", str(target), str(FOLDER))
    assert done.returncode == 0, done.stderr
    check_commands(target, tmp_path)
