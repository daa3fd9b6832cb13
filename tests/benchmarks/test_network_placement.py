"""Speed of `network_placement`: run with `pytest -m benchmark -s tests/benchmarks/test_network_placement.py`."""

import time

import pytest

from gangopt.catalogue import load
from gangopt.instances.networks.models import MODELS
from gangopt.solvers.network_placement.heuristics import packlimit
from gangopt.solvers.network_placement.sequence import compare_sequences, figure3_cluster, figure3_jobs, random_jobs
from gangopt.solvers.solve import solve
from gangopt.topology import named_cluster

pytestmark = pytest.mark.benchmark


def report(name, result):
    gap = "none" if result.rel_gap is None else f"{result.rel_gap:.1e}"
    print(
        f"{name:62s} {result.termination:10s} {result.objective:12.3f} gap {gap:8s} "
        f"{result.seconds.total:7.2f} s  models {result.metrics.get('level_models', '-')}"
    )


@pytest.mark.parametrize(
    ("workers", "gap", "seconds"), [(32, 1e-4, 10), (32, 1e-6, 20), (64, 1e-6, 30), (128, 1e-6, 60)]
)
@pytest.mark.parametrize(("spread", "traffic"), [(0.2, 1.0), (1.0, 0.5), (1.0, 2.0), (1.0, 20.0)])
def test_exact_on_350_machines(workers, gap, seconds, spread, traffic):
    for seed in range(3):
        name = f"random?machines=350&workers={workers}&spread={spread}&traffic={traffic}&seed={seed}"
        result = solve(load(f"network_placement/{name}"), rel_gap=gap, time_limit=seconds)
        report(f"{name} to {gap:g}", result)
        assert result.rel_gap <= gap
        assert result.seconds.total <= seconds


@pytest.mark.parametrize("workers", [32, 64, 128])
def test_exact_on_philly(workers):
    for model in MODELS:
        result = solve(load(f"network_placement/{model}-w{workers}-philly-2017"), time_limit=60)
        report(f"{model}-w{workers}-philly-2017 to 0", result)
        assert result.termination == "optimal"


@pytest.mark.parametrize("size", [6, 8, 10])
def test_literal_against_level(size):
    instance = load(f"network_placement/random?machines={size}&gpus=3&workers={size}&traffic=1&seed=0")
    fast = solve(instance, time_limit=40)
    report(f"exact     {size} machines, {size} workers", fast)
    for form in ("level", "literal"):
        slow = solve(instance, form=form, time_limit=40)
        report(f"{form:9s} {size} machines, {size} workers", slow)
        print(f"    seconds of {form} over exact: {slow.seconds.total / fast.seconds.total:.1f}")
    assert fast.termination == "optimal"


def test_beyond_the_figures_few_machines_for_many_tasks():
    for name in (
        "random?machines=12&workers=12",
        "random?machines=20&workers=24",
        "random?machines=40&workers=32&spread=0.5&traffic=1",
    ):
        for search in ("window", "bisection"):
            report(
                f"{name} {search}", solve(load(f"network_placement/{name}"), f"exact?search={search}", time_limit=20)
            )


@pytest.mark.parametrize(("machines", "milliseconds"), [(350, 1.0), (10_000, 10.0)])
def test_packlimit(machines, milliseconds):
    for limit in (1.0, 0.0):
        instance = load(f"network_placement/random?machines={machines}&workers=32")
        seconds = []
        for _ in range(21):
            begin = time.perf_counter()
            packlimit(instance, limit=limit)
            seconds.append(time.perf_counter() - begin)
        median = sorted(seconds)[10] * 1e3
        print(f"packlimit?limit={limit} on {machines} machines: {median:.3f} ms (median of 21)")
        assert median < milliseconds


def table(title, sequences):
    print(f"\n{title}")
    for item in sequences:
        print(
            f"  {item.method:12s} largest {item.largest_load:10.1f}  mean of largest {item.mean_largest_load:10.1f}"
            f" MiB  turned away {item.turned_away}"
        )


def test_sequences():
    for model in ("vgg16", "resnet50"):
        table(f"figure 3, {model}", compare_sequences(figure3_cluster(), figure3_jobs(model)))
    jobs = random_jobs(60, gap=60.0, duration=1500.0, seed=1)
    table("60 jobs on philly-2017", compare_sequences(named_cluster("philly-2017"), jobs, time_limit=5.0))
