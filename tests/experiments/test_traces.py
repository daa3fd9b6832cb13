"""Workload and cluster of an experiment: generated, kept and scaled jobs, and skipped policies."""

import numpy as np
import pytest

from gangopt import Cluster, Workload
from gangopt.base.errors import InputError
from gangopt.experiments.traces import Setting, replays, settings, trace


def made(**columns):
    return Workload.from_columns(
        {"id": ["a", "b", "c"], "arrival": [0, 10, 30], "gpus": [1, 2, 1], "duration": [10, 20, 5], **columns},
        name="made",
    )


def test_numbers_that_a_name_leaves_open_are_drawn():
    given = trace(Setting("workload/philly-like", 256), jobs=30, seed=3)
    assert given.workload == Workload.load("workload/philly-like?jobs=30&seed=3")
    assert given.name == "philly-like"


def test_numbers_in_a_name_stand_and_the_first_jobs_are_kept():
    given = trace(Setting("workload/philly-like?jobs=30&seed=3", 256), jobs=20, seed=4)
    assert given.workload.ids == Workload.load("workload/philly-like?jobs=30&seed=3").ids[:20]


def test_first_jobs_of_workloads_and_files(tmp_path):
    path = tmp_path / "log.csv"
    made().save(path)
    for workload in (made(), path, str(path)):
        assert trace(Setting(workload, 4), jobs=2).workload.ids == ("a", "b")
        assert trace(Setting(workload, 4, jobs=1)).workload.ids == ("a",)
        assert trace(Setting(workload, 4)).workload == made()
    assert trace(Setting(path, 4)).name == "log.csv"
    assert trace(Setting(made(), 4)).name == "made"


def test_load_is_work_over_capacity_while_jobs_arrive():
    given = trace(Setting(made(), 4, load=2.0))
    span = given.workload.arrival[-1] - given.workload.arrival[0]
    assert given.workload.gpu_seconds.sum() / (4 * span) == pytest.approx(2.0)
    assert np.array_equal(given.workload.duration, made().duration)
    assert given.note() == "made: made, 3 jobs on 4 GPUs without machines, arrivals scaled to load 2"


def test_note_of_machines():
    cluster = Cluster.uniform(machines_per_rack=2, gpus_per_slot=2, name="two")
    assert trace(Setting(made(), cluster)).note() == "made: made, 3 jobs on two, 4 GPUs in 2 machines"


def test_a_given_workload_or_cluster_replaces_the_defaults():
    defaults = (Setting("workload/philly-like", 256, load=1.0, jobs=9), Setting("workload/tiresias-testbed", 60))
    assert settings(defaults, None, None) == defaults
    assert [item.cluster for item in settings(defaults, None, 8)] == [8, 8]
    assert settings(defaults, "log.csv", None) == (Setting("log.csv", 256),)


def test_policies_that_lack_columns_are_skipped_with_the_reason():
    found, missing = replays(trace(Setting(made(), 4)), ["fifo", "optimus"])
    assert list(found) == ["fifo"]
    assert len(missing) == 1
    assert missing[0].startswith("made: optimus skipped: workload made: 3 of 3 jobs have no speed")


def test_an_interrupted_experiment_is_no_table(monkeypatch):
    def interrupt(*_arguments, **_settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("gangopt.replays.contest.replay", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replays(trace(Setting(made(), 4)), ["fifo"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: trace(Setting(made(), 4), jobs=0), r"jobs must be an integer from 1 to 1,000,000 \(got 0\)"),
        (lambda: trace(Setting(made(), 0)), r"cluster must be an integer >= 1 \(got 0\)"),
        (lambda: trace(Setting("workload/none", 4)), "unknown workload 'workload/none'"),
        (lambda: trace(Setting(made().slice(start=50), 4)), "made: the workload must have at least one job"),
        (lambda: replays(trace(Setting(made(), 1)), ["fifo"]), "made: no policy can be replayed; fifo: 1 of 3 jobs"),
        (lambda: replays(trace(Setting(made(), 4)), ["fif"]), "unknown policy 'fif'"),
        (
            lambda: trace(Setting(made(duration=[1, None, 2]), 4, load=1.0)),
            "made: 1 of 3 jobs have no duration",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
