"""`gangopt replay` and `gangopt policies`: table, JSON, files, refusals and Ctrl-C."""

import json

import pytest

import gangopt
from gangopt.cli.replaying import _progress
from gangopt.topology import Cluster, MachineGroup, save_cluster

LOG = "id,arrival,gpus,duration,user\na,0,2,4,eve\nb,0,1,2,bob\nc,1,1,2,bob\nd,9,8,1,bob\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def test_one_table_with_factor_and_gap(call, log):
    code, out, _ = call("replay", log, "--cluster", 8, "--policy", "fifo,srtf")
    assert code == 0
    head, _, *rows = out.splitlines()[:4]
    assert head.split()[:4] == ["policy", "mean", "JCT", "(s)"]
    assert [row.split()[0] for row in rows] == ["fifo", "srtf"]
    assert "no scheduler of fixed gangs has a mean JCT below" in out


def test_json_has_the_named_fields(call, log):
    code, out, _ = call("replay", log, "--cluster", 8, "--policy", "fifo, srtf", "--json")
    record = json.loads(out)
    assert code == 0
    fields = (
        *("policy", "jobs", "avg_jct", "median_jct", "p95_jct", "makespan", "avg_queueing", "preemptions"),
        *("max_rho", "jain", "jct_bound", "jct_gap"),
    )
    for row in record["policies"]:
        assert set(fields) <= set(row)


def test_a_machine_list_and_overheads(call, log):
    arguments = ("replay", log, "--cluster", "tiresias-testbed", "--policy", "fifo", "--json", "--no-bound")
    plain = json.loads(call(*arguments)[1])["policies"][0]
    costs = ("--start-seconds", 1, "--restart-seconds", 2, "--slowdown", "rack=2", "--placement", "spread")
    slow = json.loads(call(*arguments, *costs)[1])["policies"][0]
    assert (plain["avg_jct"], plain["jct_bound"]) == (2.25, None)
    # a is spread over two machines and takes 8 s, d over eight and takes 2 s
    assert slow["avg_jct"] == pytest.approx((9 + 3 + 3 + 3) / 4)


def test_slices_and_files(call, log, tmp_path):
    target = tmp_path / "jobs.csv"
    code, *_ = call("replay", log, "--cluster", 8, "--policy", "fifo", "--user", "bob", "--to", 9, "-o", target)
    assert code == 0
    assert [line.split(",")[:2] for line in target.read_text().splitlines()[1:]] == [["fifo", "b"], ["fifo", "c"]]


def test_lenient_leaves_out_what_cannot_run(call, refused, log):
    assert (
        "1 of 4 jobs are larger than the cluster with 4 GPUs; the first is d with 8 GPUs"
        in call("replay", log, "--cluster", 4, "--policy", "fifo")[2]
    )
    code, out, err = call("replay", log, "--cluster", 4, "--policy", "fifo", "--lenient", "--json")
    assert (code, json.loads(out)["jobs"]) == (0, 3)
    assert "larger-than-the-cluster: 1" in err


def test_the_command_refuses_reports_and_leaves_out(call, refused, tmp_path):
    log, page, cluster = tmp_path / "log.csv", tmp_path / "page.html", tmp_path / "lab.json"
    log.write_text("id,arrival,gpus,duration,gpu_type,cpu\na,0,1,5,H100,\nb,1,1,5,V100,\nc,2,1,5,,2000\nd,3,1,5,,8\n")
    group = MachineGroup(2, 4, capacities={"cpu": 64, "memory": 256}, gpu_type="V100", name="a")
    save_cluster(Cluster.from_groups([group], name="lab"), cluster)
    arguments = ("replay", log, "--cluster", cluster, "--policy", "fifo,srtf", "--json", "--no-bound")
    assert refused(*arguments) == (
        "gangopt: job a cannot be placed on lab: needs 1 GPUs, but the cluster has 0 of type H100 "
        "(unplaceable: 2; a lenient reader skips such jobs)\n"
    )
    code, out, err = call(*arguments, "--lenient", "-o", page)
    record = json.loads(out)
    assert (code, record["jobs"]) == (0, 2)
    assert [(item["name"], item["count"]) for item in record["notices"]] == [("unplaceable", 2), ("cpu-ignored", 1)]
    told = "cpu-ignored: 1; job d requests 8 cores, but replays place jobs by number of GPUs only"
    assert [line for line in err.splitlines() if "ignored" in line] == [told]
    assert "unplaceable: 2 skipped; job a cannot be placed on lab" in err
    assert told in page.read_text()


def test_a_policy_that_the_log_cannot_feed_is_told(call, log):
    code, out, err = call("replay", log, "--cluster", 8, "--policy", "optimus,fifo", "--json")
    assert code == 0
    assert "gangopt: optimus was not replayed: workload log: 4 of 4 jobs have no speed" in err
    assert json.loads(out)["policies"][0]["reason"].startswith("workload log: 4 of 4 jobs have no speed")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--policy", "optimus,tetris"), "workload log: 4 of 4 jobs have no speed"),
        (("--policy", "fifoo"), "unknown policy 'fifoo'; did you mean 'fifo'"),
        (("--policy", ","), "policies must name at least one policy"),
        (("--policy", "fifo", "--slowdown", "rack"), "--slowdown must be LOCALITY=FACTOR, e.g. rack=1.1 (got 'rack')"),
        (
            ("--policy", "fifo", "--slowdown", "moon=2"),
            "unknown locality of a slowdown 'moon'; known: machine, rack, cluster",
        ),
        (("--policy", "fifo", "--start-seconds", "-1"), "overheads: start must be a finite number >= 0 s (got -1.0)"),
        (("--policy", "fifo", "-o", "x.txt"), "x.txt: suffix .txt, allowed: .parquet"),
        (("--policy", "fifo", "--from", "100"), "no jobs left to simulate"),
        (("--policy", "fifo", "--executor", "dask"), "unknown executor 'dask'; known: serial, processes"),
    ],
)
def test_bad_input_ends_in_one_line_and_2(call, log, arguments, message):
    code, out, err = call("replay", log, "--cluster", 8, *arguments)
    assert (code, out) == (2, "")
    last = err.splitlines()[-1]
    assert last.startswith("gangopt: ")
    assert message in last


def test_unknown_clusters_are_refused_before_the_log_is_read(refused, log):
    assert "nowhere" in refused("replay", log, "--cluster", "nowhere", "--policy", "fifo")
    assert "cluster must be an integer >= 1 (got 0)" in refused("replay", log, "--cluster", 0, "--policy", "fifo")


def test_the_log_is_not_overwritten(call, log):
    code, _, err = call("replay", log, "--cluster", 8, "--policy", "fifo", "-o", log)
    assert code == 2
    assert "is also an input of this command" in err
    assert log.read_text() == LOG


def test_ctrl_c_keeps_finished_policies(call, log, tmp_path, monkeypatch):
    from gangopt.replays import contest as module

    def stop(workload, cluster, policy, **settings):
        if policy == "srtf":
            raise KeyboardInterrupt
        return gangopt.replay(workload, cluster, policy)

    monkeypatch.setattr(module, "replay", stop)
    target = tmp_path / "kept.json"
    code, out, err = call("replay", log, "--cluster", 8, "--policy", "fifo,srtf", "-o", target)
    assert code == 130
    assert out.startswith("PARTIAL: interrupted by Ctrl-C, 1 of 2 policies not finished: srtf")
    assert "interrupted" in err
    assert not target.exists()
    record = json.loads((tmp_path / "kept.partial.json").read_text())
    assert (record["interrupted"], [row["policy"] for row in record["policies"]]) == (True, ["fifo"])


def test_progress_is_for_terminals(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with _progress(4, ["fifo"], False) as update:
        update("fifo", 2, 4, 1.0)
        update("fifo", 4, 4, 9.0)
    with _progress(4, ["fifo"], True) as update:
        assert update is None


def test_policies_are_listed_with_their_arguments(call):
    code, out, _ = call("policies")
    assert code == 0
    assert "tiresias-l" in out
    assert "thresholds=3600  [knob=<float>]" in out
    rows = json.loads(call("policies", "--json")[1])["policies"]
    assert [row["policy"] for row in rows] == list(gangopt.policies)
