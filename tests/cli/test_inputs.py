"""Every command refuses what is no file of data: devices, pipes without a writer, and Git LFS pointers."""

import json
import os
import subprocess
import sys

import pytest

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0\nsize 1067237342\n"
TINY = "parameters/random?blocks=6&servers=2&seed=1"
LOG = "workload/tiresias-testbed?seed=1"

COMMANDS = [
    ["solve", "{}"],
    ["solve", TINY, "--start", "{}"],
    ["solve", "parameters/blocks?file={}&servers=2"],
    ["solve", "allocation/table?file={}&gpus=3"],
    ["solve", "threshold/history?file={}"],
    ["solve", "schedule/slice?file={}&gpus=64"],
    ["show", "{}"],
    ["compare", "{}"],
    ["export", "{}", "--format", "mps", "-o", "out.mps"],
    ["certify", "{}"],
    ["certify", "{}", "--instance", TINY],
    ["plot", "{}", "-o", "out.png"],
    ["profile", "{}"],
    ["workload", "{}"],
    ["workload", "{}", "--format", "gangopt"],
    ["workload", LOG, "--cluster", "{}"],
    ["workload", "gavel.trace", "--throughputs", "{}"],
    ["replay", "{}", "--cluster", "4", "--policy", "fifo"],
    ["replay", LOG, "--cluster", "{}", "--policy", "fifo"],
    ["replay", LOG, "--cluster", "64", "--policy", "tiresias-g?history={}"],
    ["replay", LOG, "--cluster", "64", "--policy", "2d-gittins?history={}"],
    ["solve", "schedule/slice?file=jobs.csv&cluster={}"],
    ["fit", "loss", "{}"],
    ["fit", "speed", "{}", "--mode", "async"],
    ["fit", "speed", "speeds.csv", "--mode", "async", "--holdout", "{}"],
]

CHILD = """
import contextlib, io, json, sys
from gangopt.cli import run
for arguments in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


WANTED = {
    "zero": "{} must be a regular file or a pipe such as /dev/stdin (is a character device)",
    "pipe": "{} must be a regular file or a pipe such as /dev/stdin (is a named pipe)",
    "pointer": "{} is a Git LFS pointer, not the data; fetch it with git lfs pull",
}


@pytest.mark.parametrize("kind", WANTED)
@pytest.mark.parametrize(
    "suffix", ["", *(pytest.param(suffix, marks=pytest.mark.slow) for suffix in (".json", ".csv", ".parquet"))]
)
def test_every_command_refuses_what_is_no_file_of_data(tmp_path, suffix, kind):
    name = f"{kind}{suffix}"
    (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"pointer{suffix}").write_text(POINTER)
    (tmp_path / "gavel.trace").write_text("A3C\ttrain\t--steps\t0\t10\t0\t1\n")
    (tmp_path / "jobs.csv").write_text("id,arrival,gpus,duration\na,0,1,1\n")
    pairs = [(p, w) for p in (1, 2, 3) for w in (1, 2, 3)]
    (tmp_path / "speeds.csv").write_text("p,w,speed\n" + "".join(f"{p},{w},{w / (p + w)}\n" for p, w in pairs))
    calls = [[word.format(name) for word in words] for words in COMMANDS if words[0] != "plot" or suffix]
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(calls),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=tmp_path,
    )
    assert done.stderr == ""
    wanted = WANTED[kind].format(name)
    wrong = []
    for words, line in zip(calls, done.stdout.splitlines(), strict=True):
        code, out, err = json.loads(line)
        if (code, out) != (2, "") or wanted not in err or err.count("\n") != 1:
            wrong.append((words, code, out, err))
    assert not wrong, "\n".join(map(str, wrong))
