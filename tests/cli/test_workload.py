"""`gangopt workload`: summaries, notices, slices, files and pictures."""

import json
import subprocess
import sys

import pytest

from gangopt.cli import run
from gangopt.instances.workload.catalogue import load_workload

LOG = (
    "id,arrival,gpus,duration,user,vc\n"
    "a,0,1,100,eve,x\nb,50,2,200,bob,x\nc,100,64,300,eve,y\nd,100,4,400,eve,y\ne,200,4,,eve,y\n"
)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


@pytest.fixture
def call(capsys):
    """Return exit code, stdout and stderr of a command line."""

    def do(*arguments):
        code = run(["workload", *map(str, arguments)])
        done = capsys.readouterr()
        return code, done.out, done.err

    return do


def test_summary_on_stdout_and_notices_on_stderr(call, log):
    code, out, err = call(log)
    assert code == 0
    assert out.startswith("workload log\n  5 jobs, 2 users, 2 virtual clusters; gangs of 75 GPUs together\n")
    assert err == "equal-arrivals: 1; line 5: several jobs arrive at 100 s; they keep the order of the file\n"


def test_json_and_slices(call, log):
    code, out, _ = call(log, "--from", 50, "--to", 200, "--user", "eve", "--vc", "y", "--json")
    record = json.loads(out)
    assert code == 0
    assert (record["jobs"], record["gpus"], record["first_arrival"]) == (2, 68, 100)
    assert record["notices"][0]["name"] == "equal-arrivals"
    assert record["cluster_gpus"] is None


def test_load_divides_the_times_between_arrivals(call, log, tmp_path):
    target = tmp_path / "twice.parquet"
    code, *_ = call(log, "--load", 2, "-o", target)
    assert code == 0
    assert load_workload(target) == load_workload(log).scale_load(2)
    assert load_workload(target).arrival[-1] == 100


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.parquet"])
def test_conversion(call, log, tmp_path, name):
    assert call(log, "-o", tmp_path / name)[0] == 0
    assert load_workload(tmp_path / name) == load_workload(log)


def test_pictures_with_the_line_of_a_cluster(call, log, tmp_path):
    code, out, _ = call(log, "--cluster", "themis-testbed", "-o", tmp_path / "a.svg")
    assert code == 0
    assert "of the cluster's 64" in out
    assert "</svg>" in (tmp_path / "a.svg").read_text()


def test_html_report(call, log, tmp_path):
    code, out, _ = call(log, "-o", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert code == 0
    assert out.rstrip() in page
    assert page.count("<svg") == 1


def test_jobs_that_do_not_fit(call, log):
    code, out, err = call(log, "--cluster", "tiresias-testbed")
    assert (code, out) == (2, "")
    assert err == (
        "gangopt: job c cannot be placed on tiresias-testbed: needs 64 GPUs, but the cluster has 60 "
        "(unplaceable: 1; a lenient reader skips such jobs)\n"
    )
    code, out, err = call(log, "--cluster", "tiresias-testbed", "--lenient")
    assert code == 0
    assert "4 jobs" in out
    assert "unplaceable: 1 skipped; job c cannot be placed" in err


def test_a_generated_workload_by_name(call):
    code, out, err = call("workload/tiresias-testbed?seed=1")
    assert (code, err) == (0, "")
    assert out.startswith("workload workload/tiresias-testbed?seed=1: 480 jobs of the Tiresias testbed")
    assert "480 jobs, 10 models; gangs of 1,920 GPUs together" in out


def test_throughputs_of_a_gpu_type(call, tmp_path):
    trace = tmp_path / "a.trace"
    trace.write_text("A3C\tpython3\t-n\t0\t90\t20.5\t4\n")
    speeds = tmp_path / "speeds.json"
    speeds.write_text(json.dumps({"k80": {"('A3C', 4)": {"null": 3}}}))
    code, out, _ = call(trace, "--throughputs", speeds, "--gpu-type", "k80", "--json")
    assert code == 0
    assert json.loads(out)["duration_quantiles"][0] == 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "muri"], "missing column job_id; format muri requires job_id"),
        (["--format", "x"], "unknown format of job logs 'x'"),
        (["--from", "9", "--to", "8"], "end must be > start=9 s (got 8)"),
        (["--user", "adam"], "unknown user of the workload 'adam'; known: bob, eve"),
        (["--load", "0"], "factor must be a finite number > 0 (got 0.0)"),
        (["--cluster", "nowhere"], "unknown cluster 'nowhere'"),
        (["-o", "a.txt"], "a.txt: suffix .txt, allowed: .parquet, .csv, .json, .html, .png, .svg, .pdf"),
        (["-o", "nowhere/a.csv"], "nowhere/a.csv: cannot be written (no such directory: nowhere)"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(call, log, arguments, message):
    code, out, err = call(log, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("gangopt: ")
    assert message in err
    assert err.count("\n") == 1


def test_list_shows_the_generators(capsys):
    assert run(["list", "workload"]) == 0
    out = capsys.readouterr().out
    assert "workload/tiresias-testbed?seed=0&gap=30.0" in out
    assert "allocation/" not in out
    assert run(["list", "allocation"]) == 0
    assert "workload/" not in capsys.readouterr().out


def test_help_loads_no_heavy_library():
    code = (
        "import sys; from gangopt.cli import run; run(['workload', '--help']);"
        "print([name for name in ('polars', 'pyomo', 'matplotlib', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")
    assert "--throughputs" in done.stdout


def test_jobs_that_still_run_are_counted_and_left_out_on_demand(call, tmp_path):
    path = tmp_path / "pods.csv"
    path.write_text(
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time\n"
        "p0,12000,16384,1,1000,Running,0,5000,0\np1,12000,16384,1,1000,Succeeded,10,60,20\n"
    )
    code, out, err = call(path)
    assert code == 0
    assert "  durations (1 of them lower limits)  40 s to 83.3 min;" in out
    assert err == "censored-durations: 1; job p0 does not end in the log; its duration of 5000 s is a lower limit\n"
    code, out, err = call(path, "--ended", "--json")
    record = json.loads(out)
    assert (code, record["jobs"], record["censored"], record["mean_duration"]) == (0, 1, 0, 40)
    assert err.startswith("censored-durations: 1 skipped; job p0 does not end")
