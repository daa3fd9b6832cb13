"""Metrics, tables and files of replays, and comparison of several policies."""

import json

import numpy as np
import polars as pl
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.finish_time import jain
from gangopt.replays.contest import contest
from gangopt.replays.costs import Overheads
from gangopt.replays.fairness import average_presence
from gangopt.replays.ready import replayable
from gangopt.replays.records import Plan
from gangopt.replays.result import METRICS
from gangopt.replays.timelines import gantt, timeline
from gangopt.reporting.contest import contest_json, contest_text, write_contest


def workload(*rows, **columns):
    arrival, gpus, duration = zip(*rows, strict=True)
    ids = [f"j{number}" for number in range(len(rows))]
    return gangopt.Workload.from_columns(
        {"id": ids, "arrival": arrival, "gpus": gpus, "duration": duration, **columns}, name="three"
    )


THREE = workload((0, 2, 4), (0, 1, 2), (1, 1, 2))


def test_metrics_by_hand():
    # 2 GPUs, FIFO: j0 0-4, j1 and j2 4-6
    metrics = gangopt.replay(THREE, 2, "fifo").metrics
    assert list(metrics) == list(METRICS)
    assert metrics["jobs"] == 3
    assert metrics["avg_jct"] == pytest.approx((4 + 6 + 5) / 3)
    assert metrics["median_jct"] == 5
    assert metrics["p95_jct"] == pytest.approx(5.9)
    assert metrics["max_jct"] == 6
    assert metrics["makespan"] == 6
    assert metrics["avg_queueing"] == pytest.approx((0 + 4 + 3) / 3)
    assert metrics["preemptions"] == 0
    assert metrics["gpu_seconds"] == 12
    assert metrics["utilisation"] == 1
    assert metrics["placement_score"] is None


def test_rho_by_hand():
    played = gangopt.replay(THREE, 2, "fifo")
    # present: j0 0-4, j1 0-6, j2 1-6: on average 2.75 over j0, 16/6 - ... over j1: (4 + 6 + 5) / 6, over j2: (3+5+5)/5
    presence = [(4 + 4 + 3) / 4, (4 + 6 + 5) / 6, (3 + 5 + 5) / 5]
    assert average_presence(played.workload.arrival, played.end) == pytest.approx(presence)
    assert played.rho == pytest.approx([4 / (4 * presence[0]), 6 / (2 * presence[1]), 5 / (2 * presence[2])])
    assert played.metrics["max_rho"] == played.rho.max()


def test_rho_of_an_app_is_that_of_its_jobs_together():
    jobs = workload((0, 1, 4), (0, 1, 6), (0, 1, 2), app=["a", "a", "a"], phase=[0, 0, 1])
    played = gangopt.replay(jobs, 2, "fifo")
    # 12 GPU s on at most 2 GPUs; it was alone, but one GPU is idle while the longest job of a phase runs
    assert played.rho.tolist() == [pytest.approx(8 / 6)]
    flat = workload((0, 1, 4), (0, 1, 4), (0, 1, 4), app=["a", "a", "a"])
    assert gangopt.replay(flat, 2, "fifo").rho.tolist() == [pytest.approx(8 / 6)]


def test_jain():
    assert jain(np.array([2.0, 2.0])) == 1
    assert jain(np.array([1.0, 3.0])) == pytest.approx(16 / 20)
    assert jain(np.array([])) == 1


def test_bins_split_by_size_and_length():
    jobs = workload((0, 8, 10), (0, 9, 10), (0, 8, 14_400), (0, 9, 14_400), (0, 9, 20_000))
    bins = gangopt.replay(jobs, 64, "fifo").bins()
    assert {name: item["jobs"] for name, item in bins.items()} == {"SS": 1, "SL": 1, "LS": 1, "LL": 2}
    assert bins["LL"]["avg_jct"] == 17_200
    assert gangopt.replay(THREE, 2, "fifo").bins()["LL"] == {
        "jobs": 0,
        "avg_jct": None,
        "median_jct": None,
        "p95_jct": None,
    }


def test_tables_of_jobs_and_events():
    played = gangopt.replay(THREE, 2, "srtf")
    # j0 starts last: j1 and, from 1 on, j2
    assert played.jobs()["end"].to_list() == played.end.tolist() == [7, 2, 3]
    events = played.events()
    assert events.columns == ["time", "event", "job", "id", "gpus", "delay", "machines"]
    assert events.select("time", "event", "id").rows()[:5] == [
        (0, "arrive", "j0"),
        (0, "arrive", "j1"),
        (0, "start", "j1"),
        (1, "arrive", "j2"),
        (1, "start", "j2"),
    ]
    assert events.height == len(played.log)


def test_timeline_by_hand():
    line = timeline(gangopt.replay(THREE, 2, "fifo", overheads=Overheads(start=1)), stretches=7)
    # j0 holds 2 GPUs 0-5 and progresses from 1, j1 and j2 hold one each 5-8 and progress from 6
    edges = np.linspace(0, 8, 8)
    assert line.edges == pytest.approx(edges)
    assert line.allocated == pytest.approx(np.full(7, 2.0))
    assert line.used.sum() * 8 / 7 == pytest.approx(16 - 4)
    assert line.queue.sum() * 8 / 7 == pytest.approx(5 + 4)


def test_gantt_of_counted_gpus_and_of_machines():
    grid, begin, end, runs = gantt(gangopt.replay(THREE, 2, "fifo"), columns=6)
    assert (begin, end, runs) == (0, 6, 3)
    assert grid.tolist() == [[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 2, 2]]
    machines = gangopt.Cluster.uniform(machines_per_rack=2, gpus_per_slot=1)
    grid, *_ = gantt(gangopt.replay(THREE, machines, "fifo"), columns=6)
    assert grid.tolist() == [[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 2, 2]]


def test_gantt_stops_after_the_most_runs_and_shows_idle_gpus():
    grid, _, end, runs = gantt(gangopt.replay(THREE, 3, "fifo"), columns=4, most_runs=2)
    assert (runs, end) == (2, 2)
    assert grid[:, 0].tolist() == [0, 0, 1]
    assert (gantt(gangopt.replay(workload((0, 1, 5)), 2, "fifo"))[0][1] == -1).all()


def test_contest_compares_with_the_first_policy_and_the_bound():
    played = contest(THREE, 2, ["fifo", "srtf"])
    first, second = played.rows()
    assert first["improvement"] == 1
    assert second["improvement"] == pytest.approx(15 / 11)
    assert second["jct_bound"] == played.bound.mean <= second["avg_jct"]
    assert second["jct_gap"] == pytest.approx(played.bound.gap(second["avg_jct"]))
    assert second["jct_bound_name"] == played.bound.name
    assert second["fixed_gangs"] is True
    assert played.missing == []


def test_the_bound_is_not_held_against_elastic_policies():
    row = contest(THREE, 2, ["drf?speed=linear&interval=1"]).rows()[0]
    assert (row["fixed_gangs"], row["jct_bound"], row["jct_gap"]) == (False, None, None)


def test_a_policy_that_cannot_run_is_reported_and_the_others_run():
    played = contest(THREE, 2, ["optimus", "fifo"])
    assert played.rows()[0] == {"policy": "optimus", "reason": played.entries[0].reason}
    assert played.entries[0].reason.startswith("workload three: 3 of 3 jobs have no speed")
    assert played.rows()[1]["improvement"] == 1
    assert "optimus was not replayed: workload three: 3 of 3 jobs have no speed" in contest_text(played)


def test_processes_and_serial_agree():
    names, told = ["srtf", "optimus", "fifo"], []
    serial = contest(THREE, 2, names).rows()
    both = contest(THREE, 2, names, executor="processes", workers=2, on_progress=lambda *args: told.append(args)).rows()
    for row in (*serial, *both):
        row.pop("seconds", None)
    assert serial == both
    assert sorted(told) == [(name, 3, 3, 1.0) for name in sorted(names)]


def test_progress_counts_ended_jobs():
    told = []
    contest(THREE, 2, ["fifo"], on_progress=lambda *args: told.append(args))
    assert told == [("fifo", 0, 3, 0.0), ("fifo", 0, 3, 1.0), ("fifo", 1, 3, 4.0), ("fifo", 3, 3, 6.0)]


def interrupted():
    def stop(name, *_):
        if name == "srtf":
            raise KeyboardInterrupt

    return contest(THREE, 2, ["fifo", "srtf", "srsf"], on_progress=stop)


def test_finished_policies_survive_an_interruption():
    played = interrupted()
    assert played.interrupted
    assert [entry.policy for entry in played.entries] == ["fifo"]
    assert played.missing == ["srtf", "srsf"]
    text = "PARTIAL: interrupted by Ctrl-C, 2 of 3 policies not finished: srtf, srsf"
    assert contest_text(played).startswith(text)
    assert contest_json(played)["interrupted"] is True


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (([],), {}, "policies must name at least one policy"),
        ((["fifo", "fifo"],), {}, "duplicate policy fifo"),
        ((["fifo", "fifoo"],), {}, "unknown policy 'fifoo'; did you mean 'fifo'"),
        ((["fifo"],), {"executor": "threads"}, "unknown executor 'threads'; known: serial, processes"),
        ((["fifo"],), {"executor": "processes", "workers": 0}, "workers must be an integer >= 1 (got 0)"),
        ((["fifo"],), {"placement": "best"}, "unknown placement rule 'best'"),
        ((["fifo"],), {"placement": "even"}, "placement=even requires a cluster with machines (got a number of GPUs)"),
    ],
)
def test_wrong_contests_are_refused(arguments, settings, message):
    with pytest.raises(InputError) as caught:
        contest(THREE, 2, *arguments, **settings)
    assert str(caught.value).startswith(message)


def test_an_empty_workload_has_rows_without_figures(tmp_path):
    empty = gangopt.Workload.from_columns({"id": [], "arrival": [], "gpus": [], "duration": []})
    played = contest(empty, 2, ["fifo"])
    row = played.rows()[0]
    assert (row["jobs"], row["avg_jct"], row["improvement"], row["jct_gap"]) == (0, None, None, None)
    with pytest.raises(InputError, match="no policy was replayed, so there is nothing to plot"):
        write_contest(played, tmp_path / "picture.png")


def test_files(tmp_path):
    played = contest(THREE, 2, ["fifo", "srtf"])
    for suffix in ("parquet", "csv", "json", "html", "png", "svg"):
        write_contest(played, tmp_path / f"played.{suffix}")
    events = pl.read_parquet(tmp_path / "played.parquet")
    assert events["policy"].unique(maintain_order=True).to_list() == ["fifo", "srtf"]
    assert events.filter(policy="srtf").drop("policy").equals(played.entries[1].replay.events())
    jobs = pl.read_csv(tmp_path / "played.csv")
    assert jobs.filter(policy="srtf")["jct"].to_list() == [7, 2, 2]
    record = json.loads((tmp_path / "played.json").read_text())
    assert record == json.loads(json.dumps(contest_json(played)))
    assert record["policies"][0]["bins"]["SS"]["jobs"] == 3
    assert (record["gpus"], record["cluster"], record["workload"]) == (2, None, "three")
    page = (tmp_path / "played.html").read_text()
    assert page.count("<svg") == 1
    assert "<td class=left>srtf</td>" in page
    assert (tmp_path / "played.png").read_bytes().startswith(b"\x89PNG")


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"x.txt: suffix .txt, allowed: .parquet, .csv, .json, .html, .png, .svg, .pdf"
    ):
        write_contest(contest(THREE, 2, ["fifo"]), tmp_path / "x.txt")


def test_jobs_that_cannot_be_replayed_are_dropped_and_counted():
    jobs = workload((0, 1, 5), (0, 8, 5), (0, 1, None))
    ready = replayable(jobs, 4)
    assert ready.ids == ("j0",)
    assert [(item.name, item.count, item.message) for item in ready.notices] == [
        ("unknown-durations", 1, "job j2 has no duration"),
        ("larger-than-the-cluster", 1, "job j1 requests more than the 4 GPUs of the cluster"),
    ]
    assert replayable(THREE, 4) == THREE
    assert replayable(THREE, 4).notices == ()


def test_runs_faster_than_the_log_have_no_bound():
    # the gang keeps its 4 GPUs and gets more parameter servers than the log gave it
    columns = {"speed": ["async 1 0.1 0.1 0.1"], "ps": [1], "workers": [4], "steps": [1000]}
    jobs = gangopt.Workload.from_columns({"id": ["a"], "arrival": [0], "gpus": [4], "duration": [1000], **columns})
    faster, fixed = contest(jobs, 4, ["optimus", "fifo"]).rows()
    assert faster["avg_jct"] < 1000
    assert (faster["fixed_gangs"], faster["jct_bound"], faster["jct_gap"]) == (False, None, None)
    assert (fixed["fixed_gangs"], fixed["jct_gap"]) == (True, pytest.approx(0, abs=1e-9))


def test_slowdowns_of_counted_gpus_are_refused():
    slow = Overheads(slowdowns={"rack": 1.5})
    message = r"slowdown rack=1.5 requires a cluster with machines \(got a number of GPUs\)"
    with pytest.raises(InputError, match=message):
        contest(THREE, 2, ["fifo"], overheads=slow)
    with pytest.raises(InputError, match=message):
        gangopt.replay(THREE, 2, "fifo", overheads=slow)


LOST = workload((0, 1, 5), (1e9, 1, 1e-9))


def test_durations_that_the_clock_cannot_resolve_are_refused_or_left_out():
    message = (
        "job j1: duration 1e-09 s is lost in double precision next to its arrival 1000000000 s after the first one; "
        "use longer durations or closer arrivals"
    )
    with pytest.raises(InputError) as caught:
        gangopt.replay(LOST, 1, "fifo")
    assert str(caught.value) == message
    ready = replayable(LOST, 1)
    assert ready.ids == ("j0",)
    notice = ready.notices[0]
    assert (notice.name, notice.message) == (
        "lost-durations",
        "job j1 has a duration that is lost in double precision next to its arrival",
    )


def test_jobs_shorter_than_the_spacing_of_their_arrivals_have_shares_of_it(tmp_path):
    # 16 times as fast as in the log; 2e-7 s are none at 1e9 s, but the clock begins there
    columns = {"speed": ["async 1 0 0 0"], "ps": [1], "workers": [1]}
    jobs = workload((1e9, 1, 2e-7), **columns)
    played = contest(jobs, 16, ["drf?interval=1"])
    metrics = played.entries[0].replay.metrics
    assert (metrics["makespan"], metrics["utilisation"], metrics["jain"]) == (2e-7 / 16, 1, 1)
    write_contest(played, tmp_path / "played.html")
    assert "drf" in contest_text(played)


class Longest:
    """Minimal policy: only the attributes that `replay` requires."""

    def __init__(self, name="longest"):
        self.name = name

    def decide(self, state):
        return Plan(state.active[np.argsort(-state.remaining(state.active), kind="stable")])


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_objects_and_names_side_by_side(executor):
    played = contest(THREE, 2, [Longest(), "fifo", Longest("again")], executor=executor)
    assert [entry.policy for entry in played.entries] == ["longest", "fifo", "again"]
    assert played.asked == ("longest", "fifo", "again")
    alone = gangopt.replay(THREE, 2, Longest())
    assert played.entries[0].replay.end.tolist() == played.entries[2].replay.end.tolist() == alone.end.tolist()
    assert "longest" in contest_text(played)
    assert [row["policy"] for row in contest_json(played)["policies"]] == ["longest", "fifo", "again"]


def test_a_workload_by_name_or_file(tmp_path):
    THREE.save(tmp_path / "three.csv")
    assert contest(str(tmp_path / "three.csv"), 2, ["fifo"]).rows()[0]["max_jct"] == 6


def test_objects_that_are_no_policies_are_refused_as_by_replay():
    class Local:
        name = "local"

        def decide(self, state):
            return Plan(state.active)

    assert contest(THREE, 2, [Local()]).entries[0].replay is not None
    for policies, message in (
        ([object()], "policy must have a name and a method decide"),
        ([Local], r"policy must be an object \(got the class Local\)"),
        (["longest"], "unknown policy 'longest'"),
        ([Longest(), Longest()], "duplicate policy longest"),
    ):
        with pytest.raises(InputError, match=message):
            contest(THREE, 2, policies)
    with pytest.raises(InputError, match=r"policy must be an object \(got the class Local\)"):
        gangopt.replay(THREE, 2, Local)
    with pytest.raises(InputError, match=r"policy local cannot be sent to another process .*; use executor=serial"):
        contest(THREE, 2, [Local()], executor="processes")


class Failing:
    name = "failing"

    def decide(self, state):
        raise KeyError(state.now)


def test_a_policy_that_raises_costs_no_other_its_result():
    failed, whole = contest(THREE, 4, [Failing(), "srsf"], bound=False).entries
    assert (failed.replay, failed.reason) == (None, "policy failing raised KeyError: 0.0")
    assert whole.replay is not None
