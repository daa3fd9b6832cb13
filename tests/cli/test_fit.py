"""`gangopt fit`: coefficients, predictions, pictures, and jobs of allocation files."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import gangopt
from gangopt.base.errors import InputError
from gangopt.base.jsonfile import write_json
from gangopt.catalogue import to_document
from gangopt.cli.fit import fit_app

THETA = {"async": (2.83, 3.92, 0.0, 0.11), "sync": (1.02, 2.78, 4.92, 0.0, 0.02)}


@pytest.fixture
def losses(tmp_path):
    path = tmp_path / "losses.csv"
    lines = [f"{k},{3 * (1 / (0.21 * k + 1.07) + 0.07)!r}" for k in range(30)]
    path.write_text("\n".join(["step,loss", *lines]))
    return path


@pytest.fixture
def speeds(tmp_path):
    def write(mode, name="speeds.csv", slower=1.0):
        path = tmp_path / name
        t = THETA[mode]
        lines = []
        for p, w in [(1, 1), (1, 8), (4, 2), (8, 8), (2, 20), (20, 3), (5, 5), (9, 30)]:
            inner = t[0] + t[1] * w / p + t[2] * w + t[3] * p
            step = inner / w if mode == "async" else t[0] * 40 / w + t[1] + t[2] * w / p + t[3] * w + t[4] * p
            lines.append(f"{p},{w},{1 / step / slower!r}")
        path.write_text("\n".join(["p,w,speed", *lines]))
        return path

    return write


def call(*arguments):
    """Return the text on stdout, or raise what the command raises."""
    result = CliRunner().invoke(fit_app, [str(item) for item in arguments])
    if isinstance(result.exception, Exception):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_loss_prints_coefficients_quality_and_steps_left(losses):
    text = call("loss", losses, "--threshold", 0.01, "--epochs", 10)
    record = json.loads(call("loss", losses, "--threshold", 0.01, "--epochs", 10, "--json"))
    assert (record["b0"] / record["scale"] * 3, record["b2"] * record["scale"] / 3) == pytest.approx((0.21, 0.07))
    assert record["steps_left"] == record["converges_at"] - 29 > 0
    assert f"steps left {record['steps_left']:,}, after step 29" in text
    assert "b0 0.2" in text
    assert record["warnings"] == []


def test_loss_counts_epochs_in_steps(losses):
    short = json.loads(call("loss", losses, "--json"))
    long = json.loads(call("loss", losses, "--steps-per-epoch", 3, "--json"))
    assert (short["steps_per_epoch"], long["steps_per_epoch"]) == (1, 3)
    assert long["converges_at"] > short["converges_at"]


def test_loss_warns_in_the_text(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("k,loss\n" + "\n".join(f"{k},{40 - k}" for k in range(30)))
    assert "warning: no-floor: b2 is 0" in call("loss", path)


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_speed_prints_coefficients_error_prediction_and_next_pairs(speeds, mode):
    options = ["speed", speeds(mode), "--mode", mode, "--predict", "12,8", "--holdout", 0.25, "--probes", 2]
    options += ["--batch", 40] if mode == "sync" else []
    record = json.loads(call(*options, "--json"))
    assert record["theta"] == pytest.approx(THETA[mode], abs=1e-9)
    assert record["holdout"]["samples"] == 2
    assert record["holdout"]["max_error"] < 1e-9
    assert len(record["next_probes"]) == 2
    (prediction,) = record["predictions"]
    text = call(*options)
    assert f"f(12, 8) = {prediction['speed']:.6g} steps/s" in text
    assert "t1 2.78 s" in text or "t1 3.92 s" in text
    assert "error on 2 samples held out: mean 0.00%, largest 0.00%" in text
    assert "next pairs (p, w): (" in text
    assert ("M = 40 samples" in text) == (mode == "sync")


def test_speed_is_tested_on_another_file(speeds):
    first, second = speeds("async"), speeds("async", "other.csv", slower=1.25)
    record = json.loads(call("speed", first, "--mode", "async", "--holdout", second, "--json"))
    assert record["holdout"] == pytest.approx({"mean_error": 0.25, "max_error": 0.25, "samples": 8})


def test_holdout_follows_the_seed(speeds, tmp_path):
    path = speeds("async")
    noisy = path.read_text().splitlines()
    rng = np.random.default_rng(0)
    path.write_text("\n".join([noisy[0], *(f"{line[:-3]}{rng.integers(100, 999)}" for line in noisy[1:])]))
    path.write_text(path.read_text().replace("4,2,0.3", "4,2,0.4"))
    errors = [call("speed", path, "--mode", "async", "--holdout", 0.3, "--seed", seed, "--json") for seed in (1, 1, 2)]
    assert errors[0] == errors[1] != errors[2]


def test_pictures_are_written(losses, speeds, tmp_path):
    call("loss", losses, "-o", tmp_path / "loss.svg")
    call("speed", speeds("async"), "--mode", "async", "-o", tmp_path / "speed.png")
    assert "<svg" in (tmp_path / "loss.svg").read_text()
    assert (tmp_path / "speed.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def allocation(tmp_path):
    path = tmp_path / "allocation.json"
    write_json(path, to_document(gangopt.load("allocation/random?jobs=2&max_tasks=4&mode=async&seed=1")))
    return path


def test_both_fits_go_into_a_job_of_an_allocation_file(losses, speeds, allocation):
    call("loss", losses, "--threshold", 0.01, "--into", allocation, "--job", "job-1")
    call("speed", speeds("sync"), "--mode", "sync", "--batch", 40, "--into", allocation, "--job", "job-1")
    left = json.loads(call("loss", losses, "--threshold", 0.01, "--json"))["steps_left"]
    instance = gangopt.load(str(allocation))
    assert instance.mode == ("async", "sync")
    assert instance.theta[1] == pytest.approx(THETA["sync"], abs=1e-9)
    assert instance.steps[1] == left
    assert instance.progress[1] == pytest.approx(29 / (29 + left))
    assert gangopt.solve(instance, "exact").termination == "optimal"


NEW_JOB = ["--steps", 500, "--worker", "cpu=2, gpu=1", "--ps", "cpu=3", "--max-workers", 4, "--max-ps", 3]


def test_a_new_job_is_added_to_a_file_or_written_alone(speeds, allocation, tmp_path):
    alone = tmp_path / "job.json"
    options = ["speed", speeds("async"), "--mode", "async", "--job", "new", *NEW_JOB]
    call(*options, "--into", allocation, "--job-file", alone)
    instance = gangopt.load(str(allocation))
    assert instance.jobs == ("job-0", "job-1", "new")
    assert instance.worker_demand[2].tolist() == [2, 0, 1]
    assert (instance.max_workers[2], instance.max_ps[2], instance.steps[2]) == (4, 3, 500)
    job = json.loads(alone.read_text())
    document = json.loads(allocation.read_text())
    document["jobs"].append({**job, "label": "again"})
    allocation.write_text(json.dumps(document))
    assert gangopt.load(str(allocation)).theta[3].tolist() == instance.theta[2].tolist()


def test_probes_keep_within_the_limits(speeds):
    options = ["speed", speeds("async"), "--mode", "async", "--probes", 900, "--json"]
    record = json.loads(call(*options, "--max-tasks", 12, "--max-workers", 3, "--max-ps", 4))
    assert {(item["p"], item["w"]) for item in record["next_probes"]} == {
        (p, w) for p in range(1, 5) for w in range(1, 4)
    } - {(1, 1), (4, 2)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mode", "both"], r"mode must be async or sync \(got 'both'\)"),
        (["--mode", "sync"], "missing batch, the number of samples in the global batch, in mode sync"),
        (["--mode", "async", "--batch", 3], r"batch must be None in mode async, whose speed does not depend on it"),
        (["--mode", "async", "--predict", "3"], "--predict must be two integers P,W, e.g. 4,8 \\(got '3'\\)"),
        (["--mode", "async", "--predict", "3,x"], "--predict must be two integers P,W, e.g. 4,8 \\(got '3,x'\\)"),
        (["--mode", "async", "--predict", "0,4"], "--predict: p and w must be from 1 to 1,000,000 \\(got '0,4'\\)"),
        (["--mode", "async", "--holdout", "1.5"], "--holdout must be a share > 0 and < 1 or a CSV file \\(got 1.5\\)"),
        (["--mode", "async", "--holdout", "nan"], "CSV file \\(got nan\\)"),
        (["--mode", "async", "--holdout", "0.8"], r"--holdout 0\.8: without the held-out pairs, samples must have"),
        (["--mode", "async", "--holdout", "\uff10.5"], "no such file"),
        (["--mode", "async", "--holdout", "x" * 5000], "--holdout must be a share > 0 and < 1"),
        (["--mode", "async", "-o", "x" * 300 + ".png"], "File name too long"),
        (["--mode", "async", "-o", "no/such/a.png"], "no such directory"),
        (["--mode", "async", "--job-file", "no/such/a.json", "--job", "a"], "no such directory"),
        (
            ["--mode", "async", "--job-file", "a.json", "--job", "a", "--ps", "a=\uff11"],
            "must be NAME=AMOUNT with a new name",
        ),
        (["--mode", "async", "--holdout", "none.csv"], "none.csv: no such file"),
        (["--mode", "async", "--holdout", "0.2", "--seed", "-1"], "--seed must be >= 0 \\(got -1\\)"),
        (["--mode", "async", "--probes", "-1"], r"count must be an integer from 0 to 1000 probes \(got -1\)"),
        (["--mode", "async", "-o", "picture.gif"], "suffix .gif, allowed: .png, .svg, .pdf"),
        (["--mode", "async", "--job", "a"], "--job a: --into FILE.json must be given to write the job"),
        (["--mode", "async", "--into", "a.json"], "a.json: --job LABEL must be given to write a job"),
        (["--mode", "async", "--into", "a.txt", "--job", "a"], "a.txt: suffix .txt, allowed: .json"),
        (["--mode", "async", "--into", "none.json", "--job", "a"], "none.json: no such file"),
        (
            ["--mode", "async", "--job-file", "a.json", "--job", "a", "--steps", 4],
            "a job file also requires --worker, --ps",
        ),
        (
            ["--mode", "async", "--job-file", "a.json", "--job", "a", "--worker", "cpu"],
            "--worker 'cpu': 'cpu' must be NAME",
        ),
        (
            ["--mode", "async", "--job-file", "a.json", "--job", "a", "--ps", "a=1,a=2"],
            "'a=2' must be NAME=AMOUNT with a new name",
        ),
        (["--mode", "async", "--job-file", "a.json", "--job", "a", "--ps", "a=nan"], "'a=nan' must be NAME=AMOUNT"),
    ],
)
def test_bad_options_of_speed_give_one_line(speeds, monkeypatch, tmp_path, options, message):
    path = speeds("async")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        call("speed", path, *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threshold", 0], "threshold must be >= 1e-9"),
        (["--epochs", -1], "epochs must be a number from 1e-9"),
        (["--steps-per-epoch", 0], "steps_per_epoch must be a number from 1e-15"),
        (["--steps-per-epoch", "nan"], "steps_per_epoch must be a number from 1e-15"),
        (["-o", "loss"], "loss: suffix missing"),
        (["--job", "a"], "--into FILE.json must be given to write the job"),
    ],
)
def test_bad_options_of_loss_give_one_line(losses, options, message):
    with pytest.raises(InputError, match=message):
        call("loss", losses, *options)


def test_complaints_name_the_file(losses, speeds, tmp_path, allocation):
    rising = tmp_path / "rising.csv"
    rising.write_text("step,loss\n" + "\n".join(f"{k},{k + 1}" for k in range(30)))
    with pytest.raises(InputError, match=r"rising.csv: the losses do not decrease"):
        call("loss", rising)
    few = tmp_path / "few.csv"
    few.write_text("p,w,speed\n1,1,2\n")
    with pytest.raises(InputError, match=r"few.csv: samples must have at least 4 distinct pairs"):
        call("speed", few, "--mode", "async")
    before = allocation.read_text()
    with pytest.raises(InputError, match=r"allocation.json: job 'x' is not in the file"):
        call("loss", losses, "--into", allocation, "--job", "x")
    assert allocation.read_text() == before


def test_help_loads_no_heavy_library():
    code = (
        "import sys; from typer.testing import CliRunner; from gangopt.cli.fit import fit_app;"
        "result = CliRunner().invoke(fit_app, ['speed', '--help']);"
        "names = ['numpy', 'scipy', 'matplotlib', 'pyomo', 'polars'];"
        "print(result.exit_code, '--holdout' in result.stdout, [name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0 True []"
