"""Generated workloads: published counts, shapes of apps, seeds and arguments."""

from collections import Counter

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.catalogue import load
from gangopt.instances.networks.models import MODELS
from gangopt.instances.workload.catalogue import FAMILIES, load_workload
from gangopt.instances.workload.generate.philly import BINS
from gangopt.instances.workload.generate.themis import JOB_MINUTES, MIX
from gangopt.instances.workload.generate.tiresias import GPU_COUNTS
from gangopt.instances.workload.speed import FittedSpeed
from gangopt.instances.workload.summary import bin_of, earliest_starts


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_seed_fixes_everything_and_another_changes_it(family):
    name = f"workload/{family}?seed="
    assert load_workload(f"{name}3") == load_workload(f"{name}3")
    assert load_workload(f"{name}3") != load_workload(f"{name}4")
    workload = load_workload(f"{name}3")
    workload.require("duration", "gpus")
    assert workload.source
    assert workload.description


def test_the_tiresias_testbed_has_its_published_counts():
    workload = load_workload("workload/tiresias-testbed?seed=5")
    assert len(workload) == 480
    assert Counter(workload.gpus.tolist()) == GPU_COUNTS
    assert workload.gpus.sum() == 1920
    assert Counter(workload.texts("model")) == dict.fromkeys(MODELS, 48)
    assert workload.duration.min() >= 120
    assert workload.duration.max() <= 7200
    assert np.all(workload.duration == np.floor(workload.duration))
    assert np.array_equal(workload.numbers("ps"), workload.gpus)
    assert np.array_equal(workload.numbers("workers"), workload.gpus)
    # table 3: 63.5, 12.5, 16.5 and 7.5 %, but 25 % of the jobs have more than 4 GPUs and not 24 %
    share = np.bincount(bin_of(workload.gpus, workload.duration, 4, 800.0)) / 480
    assert share == pytest.approx([0.635, 0.125, 0.165, 0.075], abs=0.015)
    assert workload.numbers("network_intensive").sum() == 4 * 48


def test_the_mean_gap_is_that_of_the_argument():
    gaps = [load_workload(f"workload/tiresias-testbed?seed={seed}&gap=50").arrival[-1] / 480 for seed in range(20)]
    assert np.mean(gaps) == pytest.approx(50, rel=0.05)


def test_the_optimus_testbed_has_one_job_of_each_kind():
    workload = load_workload("workload/optimus-uniform?seed=1&steps_share=0.5")
    table = load("allocation/optimus-testbed")
    assert sorted(workload.texts("model")) == sorted(table.jobs)
    assert 0 <= workload.arrival.min() <= workload.arrival.max() <= 12_000
    for row in workload.frame.iter_rows(named=True):
        kind = table.jobs.index(row["model"])
        assert row["steps"] == pytest.approx(table.steps[kind] / 2)
        fitted = FittedSpeed.parse(row["speed"])
        assert fitted.mode == table.mode[kind]
        assert row["duration"] == pytest.approx(row["steps"] / fitted.steps_a_second(row["ps"], row["workers"]))
        assert fitted.theta == tuple(table.theta[kind, : len(fitted.theta)])
        assert row["gpus"] == row["workers"] == row["ps"]


def test_optimus_arrivals_keep_their_rate_and_bursts_are_burstier():
    def arrivals(family):
        return [load_workload(f"workload/{family}?jobs=600&seed={seed}").arrival for seed in range(5)]

    poisson, bursts = arrivals("optimus-poisson"), arrivals("optimus-bursts")
    for times in (poisson, bursts):
        assert np.mean([item[-1] / 600 for item in times]) == pytest.approx(200, rel=0.15)
    deviation = [np.mean([np.diff(item).std() / np.diff(item).mean() for item in times]) for times in (poisson, bursts)]
    assert deviation[0] == pytest.approx(1, abs=0.1)
    assert deviation[1] > 1.5


def test_themis_1_has_apps_of_small_jobs():
    workload = load_workload("workload/themis-1?apps=200&network=0.25&seed=2")
    apps = Counter(workload.texts("app"))
    assert len(apps) == 200
    assert 1 <= min(apps.values()) <= max(apps.values()) <= 100
    assert np.median(list(apps.values())) == pytest.approx(78, abs=8)
    assert set(workload.gpus.tolist()) == {1, 2}
    assert set(workload.numbers("phase").tolist()) == {0}
    assert np.allclose(workload.work, workload.gpu_seconds)
    assert np.median(workload.work) == pytest.approx(60 * JOB_MINUTES[2][1], rel=0.05)
    intensive = {
        app
        for app, flag in zip(workload.texts("app"), workload.numbers("network_intensive").tolist(), strict=True)
        if flag
    }
    assert len(intensive) == 50
    models = dict(zip(workload.texts("app"), workload.texts("model"), strict=True))
    shares = [np.mean([model in names for model in models.values()]) for _, names in MIX]
    assert shares == pytest.approx([0.1, 0.6, 0.3], abs=0.1)


@pytest.mark.parametrize("share", [0, 0.2, 0.5, 1])
def test_the_share_of_network_intensive_apps_is_exact(share):
    for family in ("themis-1", "themis-2"):
        flags = load_workload(f"workload/{family}?apps=10&network={share}").frame["app", "network_intensive"].unique()
        assert len(flags) == 10
        assert flags["network_intensive"].sum() == round(10 * share)


def test_themis_2_halves_the_jobs_and_doubles_their_work():
    workload = load_workload("workload/themis-2?apps=30&largest=16&time_scale=0.5&seed=1")
    frame = workload.frame
    for (_,), app in frame.group_by("app"):
        rows = app.sort("phase").rows(named=True)
        sizes = Counter(row["phase"] for row in rows)
        assert sizes[0] in {4, 8, 16}
        assert [sizes[phase] for phase in sorted(sizes)] == [sizes[0] >> phase for phase in sorted(sizes)]
        assert sizes[max(sizes)] == 1
        assert len({(row["gpus"], row["model"], row["arrival"]) for row in rows}) == 1
        base = rows[0]["work"]
        assert all(row["work"] == pytest.approx(base * 2 ** row["phase"]) for row in rows)
        assert all(row["duration"] == pytest.approx(row["work"] / row["gpus"]) for row in rows)
    start = earliest_starts(workload)
    assert np.all(start >= workload.arrival)
    assert np.any(start > workload.arrival)


def test_philly_like_has_the_bins_of_table_3_and_a_heavy_tail():
    workload = load_workload("workload/philly-like?jobs=40000&seed=1")
    share = np.bincount(bin_of(workload.gpus, workload.duration)) / 40000
    assert share == pytest.approx([item[-1] for item in BINS], abs=0.01)
    assert workload.gpus.max() == 128
    assert workload.duration.min() >= 60
    long = np.sort(workload.duration[workload.duration >= 14400])
    # Pareto of index 1: half of the long jobs end within twice the bound, one in ten lasts ten times it
    assert np.median(long) == pytest.approx(2 * 14400, rel=0.05)
    assert np.mean(long >= 10 * 14400) == pytest.approx(0.1, abs=0.02)
    by_vc = Counter(workload.texts("vc"))
    assert by_vc["vc0"] > by_vc["vc10"] > 0
    owners = dict(zip(workload.texts("user"), workload.texts("vc"), strict=True))
    assert all(owners[user] == vc for user, vc in zip(workload.texts("user"), workload.texts("vc"), strict=True))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tiresias-testbed?gap=0", r"tiresias-testbed: gap must be a number > 0 and <= 1e12 \(got 0\.0\)"),
        (
            "optimus-uniform?steps_share=-1",
            r"optimus-uniform: steps_share must be a number > 0 and <= 1e12 \(got -1\.0\)",
        ),
        ("optimus-poisson?jobs=0", r"optimus-poisson: jobs must be an integer from 1 to 5,000,000 \(got 0\)"),
        ("optimus-poisson?rate=0", r"optimus-poisson: rate must be a number > 0 and <= 1e12 \(got 0\.0\)"),
        ("optimus-bursts?burst=0.5", r"optimus-bursts: burst must be a number from 1 to 60 jobs \(got 0\.5\)"),
        ("optimus-bursts?jobs=5000001", r"optimus-bursts: jobs must be an integer from 1 to 5,000,000 \(got 5000001\)"),
        ("themis-1?apps=0", r"themis-1: apps must be an integer from 1 to 50,000 \(got 0\)"),
        ("themis-1?network=1.5", r"themis-1: network must be a number from 0 to 1 \(got 1\.5\)"),
        ("themis-2?largest=3", r"themis-2: largest must be an integer from 4 to 1024 \(got 3\)"),
        ("themis-2?time_scale=0", r"themis-2: time_scale must be a number > 0 and <= 1e12 \(got 0\.0\)"),
        ("themis-2?gap=1e13", r"themis-2: gap must be a number > 0 and <= 1e12 \(got 10000000000000\.0\)"),
        ("philly-like?users=3", r"philly-like: users must be >= vcs \(got 3 and 11\)"),
        ("philly-like?tail=0", r"philly-like: tail must be a number > 0 and <= 1e12 \(got 0\.0\)"),
        ("philly-like?vcs=0", r"philly-like: vcs must be an integer from 1 to 5,000,000 \(got 0\)"),
    ],
)
def test_arguments_out_of_range(name, message):
    with pytest.raises(InputError, match=message):
        load_workload(f"workload/{name}")
