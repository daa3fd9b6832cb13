"""Figures of `bid`: how fast agents make their tables, how fast splits are proven, what the rules lose."""

from __future__ import annotations

import time

import numpy as np
import pytest

import gangopt
from gangopt.instances.apps.app import JobInfo
from gangopt.instances.apps.tuners import SuccessiveHalving, halvings
from gangopt.solvers.auction.arbiter import Offer
from gangopt.solvers.themis.agent import TunedApp, subset_rhos
from gangopt.solvers.themis.rounds_apps import Crowd
from gangopt.topology import Slowdown, named_cluster

pytestmark = pytest.mark.benchmark

TABLES = 400


def random_app(generator: np.random.Generator, label: str) -> TunedApp:
    """Return an app of 1 to 100 jobs, as the apps of the paper's trace have, that stands somewhere in its phases."""
    slowdown = Slowdown(rack=float(generator.uniform(1.0, 1.4)), cluster=float(generator.uniform(1.4, 1.6)))
    number = int(generator.integers(1, 101))
    jobs = [JobInfo(f"job{k}", 1, float(generator.integers(60, 141)), 1, slowdown) for k in range(number)]
    tuner = SuccessiveHalving(jobs, halvings(number, 8, 2 ** int(generator.integers(0, 4))))
    tuner.advance(float(generator.random()))
    return TunedApp(label, 0.0, tuner)


def test_bid_tables_of_an_offer_of_up_to_64_gpus() -> None:
    """The paper's agents: 29 ms in the median, 334 ms at the 95th percentile."""
    cluster = named_cluster("themis-testbed")
    generator = np.random.default_rng(1)
    tables, bids, rows = [], [], 0
    for number in range(TABLES):
        app, crowd = random_app(generator, f"app{number}"), Crowd()
        crowd.arrive(app.label, 0.0)
        app.join(cluster, crowd)
        gpus = generator.permutation(64)[: int(generator.integers(1, 65))]
        offer = Offer(100.0, cluster, tuple(sorted(gpus.tolist())), ())
        begin = time.process_time()
        table = app.table(offer)
        middle = time.process_time()
        app.bid(offer)
        tables.append(1000 * (middle - begin))
        bids.append(1000 * (time.process_time() - middle))
        rows += len(table)
    print()
    for what, times in (("tables", tables), ("bids in exact rationals", bids)):
        median, late = np.percentile(times, [50, 95])
        print(f"{TABLES} {what}, {rows / TABLES:.0f} rows on average: {median:.1f} ms median, {late:.1f} ms 95th")
        assert median <= 29
        assert late <= 334


@pytest.mark.parametrize("offered", [8, 12, 16])
def test_bid_tables_by_subsets(offered: int) -> None:
    cluster = named_cluster("themis-testbed")
    app = random_app(np.random.default_rng(2), "app")
    begin = time.process_time()
    number = sum(1 for _ in subset_rhos(app.tuner, cluster, range(offered), elapsed=100.0, ideal=1000.0))
    cpu = time.process_time() - begin
    print(f"\n{number:,} subsets of {offered} GPUs: {1000 * cpu:.0f} ms")
    assert number == 2**offered - 1


@pytest.mark.parametrize(
    ("jobs", "gpus", "tuner"), [(16, 16, "halving"), (64, 64, "halving"), (100, 64, "halving"), (20, 32, "curves")]
)
def test_proofs_and_what_the_rules_lose(jobs: int, gpus: int, tuner: str) -> None:
    seconds, solves, lost = [], 0, {"even": [], "lpt": []}  # type: ignore[var-annotated]
    for seed in range(10):
        instance = gangopt.load(f"bid/random?jobs={jobs}&gpus={gpus}&tuner={tuner}&seed={seed}")
        begin = time.process_time()
        best = gangopt.solve(instance, time_limit=60)
        seconds.append(time.process_time() - begin)
        assert best.termination == "optimal"
        solves += int(best.options["solves"])
        for method, gaps in lost.items():
            gaps.append(100 * (gangopt.solve(instance, method).objective / best.objective - 1))
    losses = ", ".join(f"{m} loses {np.mean(g):.2f} %, at worst {max(g):.2f} %" for m, g in lost.items())
    spent = f"proven in {np.median(seconds):.2f} s median, {max(seconds):.2f} s worst, {solves} solves"
    print(f"\n{jobs} jobs ({tuner}), {gpus} GPUs: {spent}; {losses}")


def test_forms_against_the_exact_method() -> None:
    print()
    for jobs, gpus in ((6, 4), (8, 8), (12, 8)):
        instance = gangopt.load(f"bid/random?jobs={jobs}&gpus={gpus}&tuner=curves&seed=1")
        figures = []
        for form in (None, "classes", "jobs"):
            begin = time.process_time()
            result = gangopt.solve(instance, form=form, time_limit=20)
            figures.append(f"{form or 'exact'} {time.process_time() - begin:.2f} s ({result.termination})")
        print(f"{jobs} jobs, offers up to {gpus} GPUs: {', '.join(figures)}")
