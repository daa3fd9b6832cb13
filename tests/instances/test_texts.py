"""What `gangopt show` says of instances: the figures that matter, and never more than a screen."""

import pytest

import gangopt
from gangopt.instances.auction import text
from gangopt.instances.auction.generate import random as auction_random
from gangopt.registry.problem import resolve

LARGE = [
    "placement/random?servers=40&jobs=40&seed=1",
    "network_placement/random?machines=60&workers=50&seed=1",
    "threshold/random?jobs=400&seed=1",
    "allocation/random?jobs=400&seed=1",
    "parameters/random?blocks=400&servers=30&seed=1",
]


def text_of(name):
    instance = gangopt.load(name)
    return instance, resolve(gangopt.problems[instance.noun].describe)(instance)


@pytest.mark.parametrize("name", LARGE)
def test_large_instances_are_cut(name):
    _, text = text_of(name)
    assert len(text.splitlines()) < 45
    assert all(len(line) < 180 for line in text.splitlines())
    assert "more" in text or "smaller" in text


def test_every_decision_describes_its_instances(small_names):
    for noun, name in small_names.items():
        if gangopt.problems[noun].describe is not None:
            assert text_of(name)[1].strip()


def test_placements_show_servers_by_kind_and_tasks():
    instance, text = text_of("placement/random?servers=4&jobs=3&seed=1")
    lines = text.splitlines()
    assert lines[0] == "4 machines, 3 jobs; transfer times; charge tasks"
    assert sum(int(line.split()[0]) for line in lines if " x " in line) == 4
    for j, label in enumerate(instance.jobs):
        row = next(line.split() for line in lines if line.startswith(label))
        assert [int(row[1]), int(row[2])] == [instance.workers[j], instance.parameter_servers[j]]


def test_network_placements_show_job_and_machines():
    instance, text = text_of("network_placement/four-machines")
    assert "6 workers, 4 parameter servers of 10 to 60 MiB, 100 MiB in all" in text
    assert "4 machines, 9 free GPUs on 4 of them" in text
    rows = [line.split() for line in text.splitlines()[-4:]]
    assert [int(row[1]) for row in rows] == instance.free_gpus.tolist()
    assert [float(row[2]) for row in rows] == instance.traffic.tolist()


def test_histories_show_features_and_ratios():
    instance, text = text_of("threshold/random?jobs=8&seed=1")
    assert text.startswith(f"8 jobs, {int(instance.sensitive.sum())} of them sensitive to placement")
    assert sum(line.split()[2] == "yes" for line in text.splitlines()[-8:]) == int(instance.sensitive.sum())


def test_auctions_show_machines_and_every_app():
    shown = text.describe(auction_random(apps=25, bystanders=2))
    assert shown.splitlines()[0] == "64 GPUs on offer on 20 machines (12 x 4 GPUs, 8 x 2 GPUs)"
    assert shown.endswith("... and 5 more")
    instance = gangopt.load("auction/untruthful-floor")
    lines = list(text.describe_solution(instance, gangopt.solve(instance, "themis").solution))
    assert lines[0].split() == ["app", "won", "kept", "share", "c", "V", "machines"]
    assert lines[1].split()[:4] == ["app0", "2", "1", "0.909091"]
    plain = list(text.describe_solution(instance, gangopt.solve(instance, "greedy").solution))
    assert plain[1].split()[3] == "-"
    busy = auction_random(apps=4, largest=8, bystanders=2, seed=1)
    assert any("given" in line for line in text.describe_solution(busy, gangopt.solve(busy, "themis").solution))
