"""Files that commands read and write: which are refused, what stays of them, and what a full disk does."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import gangopt
from gangopt.base.jsonfile import write_json
from gangopt.catalogue import to_document

TINY = "parameters/random?blocks=6&servers=2&seed=1"
LONG = "a" * 300


def shell(*arguments, stdout=subprocess.PIPE, cwd=None):
    code = "from gangopt.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, cwd=cwd
    )


@pytest.fixture
def instance_file(tmp_path):
    file = tmp_path / "mine.json"
    write_json(file, to_document(gangopt.load(TINY)))
    return file


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", TINY, "-o", f"{LONG}.json"],
        ["compare", TINY, "-o", f"{LONG}.json"],
        ["export", TINY, "--format", "lp", "-o", f"{LONG}.lp"],
        ["show", TINY, "-o", f"{LONG}.json"],
        ["schema", "parameters", "-o", f"{LONG}.json"],
        ["solve", f"{LONG}.json"],
        ["solve", "x" * 5000],
        ["show", "x" * 5000],
        ["solve", "parameters/random?blocks=" + "9" * 5000],
        ["solve", TINY, "--method", "x" * 5000],
        ["solve", TINY, "--form", "x" * 5000],
        ["solve", TINY, "--solver", "x" * 5000],
        ["solve", TINY, "--start", "x" * 5000],
        ["solve", TINY, "--seed", "x" * 5000],
        ["list", "x" * 5000],
        ["schema", "x" * 5000],
        ["x" * 5000],
        ["plot", "x" * 5000, "-o", "a.png"],
        ["plot", "none.json", "-o", f"{LONG}.png"],
        ["workload", "x" * 5000],
        ["workload", "workload/" + "x" * 5000],
        ["workload", "workload/tiresias-testbed?seed=1", "--cluster", "x" * 5000],
        ["show", f"allocation/table?file={'x' * 5000}&gpus=3"],
        ["certify", "x" * 5000],
        ["profile", "x" * 5000],
    ],
)
def test_long_names_end_in_one_short_line(refused, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(refused(*arguments)) <= 1010
    assert list(tmp_path.iterdir()) == []


def test_an_output_onto_the_input_is_refused(refused, call, instance_file, tmp_path):
    before = instance_file.read_bytes()
    for arguments in (
        ["solve", instance_file, "-o", instance_file],
        ["show", instance_file, "-o", instance_file],
        ["export", instance_file, "--format", "json", "-o", instance_file],
    ):
        assert "is also an input of this command" in refused(*arguments)
    link = tmp_path / "link.json"
    link.symlink_to(instance_file)
    assert "is also an input of this command" in refused("solve", instance_file, "-o", link)
    sizes = tmp_path / "sizes.json"
    sizes.write_text("[5, 3, 3]")
    name = f"parameters/blocks?file={sizes}&servers=2"
    assert "is also an input of this command" in refused("solve", name, "-o", sizes)
    saved = tmp_path / "result.json"
    assert call("solve", TINY, "-o", saved)[0] == 0
    assert "is also an input of this command" in refused("solve", TINY, "--start", saved, "-o", saved)
    assert instance_file.read_bytes() == before
    log = tmp_path / "jobs.csv"
    assert call("workload", "workload/tiresias-testbed?seed=1", "-o", log)[0] == 0
    assert "is also an input of this command" in refused("workload", log, "-o", log)


def test_a_saved_result_keeps_link_and_permissions(call, tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("{}")
    real.chmod(0o600)
    link.symlink_to(real)
    assert call("solve", TINY, "-o", link)[0] == 0
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert json.loads(real.read_text())["problem"] == "parameters"


def test_an_output_without_permission_is_refused_first(refused, tmp_path, monkeypatch):
    file = tmp_path / "result.json"
    file.write_text("")
    monkeypatch.setattr("os.access", lambda path, _: Path(path) != file)
    assert "cannot be written (no permission)" in refused("solve", TINY, "-o", file)


@pytest.mark.parametrize("arguments", [["list"], ["solve", TINY, "--json"], ["--help"], ["--version"]])
def test_a_full_disk_is_one_line(arguments):
    with Path("/dev/full").open("w") as full:
        done = shell(*arguments, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "gangopt: standard output: cannot be written (No space left on device)\n"


def test_a_closed_stdout_is_no_error():
    code = "import os; os.close(1); os.execv(os.sys.executable, [os.sys.executable, '-m', 'gangopt', 'list'])"
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_result_is_saved_although_its_reader_has_gone(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    done = shell("solve", TINY, "-o", str(tmp_path / "result.json"), stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "result.json").read_text())["problem"] == "parameters"


@pytest.mark.parametrize("redirected", [True, False])
def test_a_model_on_stdout_is_the_model_alone(tmp_path, redirected):
    target = tmp_path / "model.lp"
    arguments = ["export", TINY, "--format", "lp", "-o", "/dev/stdout"]
    if redirected:
        with target.open("w") as stream:
            done = shell(*arguments, stdout=stream)
        text = target.read_text()
    else:
        done = shell(*arguments)
        text = done.stdout
    assert done.stderr == "/dev/stdout: formulation assign as lp\n"
    assert text.rstrip().endswith("end")
    assert [file.name for file in tmp_path.iterdir()] == ([target.name] if redirected else [])


def test_a_file_that_hides_a_name_is_told(call, instance_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "parameters"
    folder.mkdir()
    for name in ("resnet50-p10", "resnet50-p11"):
        (folder / name).write_bytes(instance_file.read_bytes())
        code, out, err = call("solve", f"parameters/{name}", "--json")
        assert code == 0
        assert err == f"gangopt: parameters/{name} is read from the local file, not from the library\n"
        assert json.loads(out)["instance"] == TINY
    (folder / "mine").write_bytes(instance_file.read_bytes())
    assert call("solve", "parameters/mine", "--json")[2] == ""


def test_clusters_are_not_solved(refused, call, tmp_path):
    assert "is a cluster, not an instance; `gangopt show tiresias-testbed`" in refused("solve", "tiresias-testbed")
    file = tmp_path / "cluster.json"
    assert call("show", "tiresias-testbed", "-o", file)[0] == 0
    assert "a cluster, not an instance" in refused("solve", file)


def test_control_characters_are_refused_and_never_printed(refused, instance_file):
    text = instance_file.read_text()
    for old, place in ((TINY, "name"), ("block1", "blocks.1.label"), ("generated", "source")):
        instance_file.write_text(text.replace(f'"{old}"', '"a\\u001b[31mb"', 1))
        line = refused("solve", instance_file)
        assert f"{place}: " in line
        assert "character 1 ('\\x1b') cannot be printed" in line
        assert "\x1b" not in line
    assert "\x1b" not in refused("solve", "nope\x1b[31m.json")
