"""Figures of `threshold`: the scan, the linear classifier, and what a profile recovers from a log with losses."""

from __future__ import annotations

import time

import numpy as np
import pytest

import gangopt
from gangopt.instances.networks.models import MODELS, tensor_model
from gangopt.instances.profiling.message_log import generate_log
from gangopt.instances.profiling.profile import profile

pytestmark = pytest.mark.benchmark

LOGS = 300


def test_scan_of_a_hundred_thousand_jobs() -> None:
    instance = gangopt.load("threshold/random?jobs=100000&noise=0.1")
    begin = time.process_time()
    result = gangopt.solve(instance)
    cpu = time.process_time() - begin
    print(f"\n100,000 jobs, one feature: {result.objective:,.0f} errors, {result.termination} in {cpu:.2f} s cpu")
    assert result.termination == "optimal"
    assert cpu <= 1


@pytest.mark.parametrize(("jobs", "features"), [(100, 2), (200, 2), (100, 4)])
def test_linear_classifier(jobs: int, features: int) -> None:
    print()
    for seed in (0, 1, 2):
        instance = gangopt.load(f"threshold/random?jobs={jobs}&features={features}&noise=0.05&seed={seed}")
        begin = time.process_time()
        result = gangopt.solve(instance, time_limit=60)
        cpu = time.process_time() - begin
        print(
            f"{jobs} jobs, {features} features, seed {seed}: {result.objective:.0f} errors, bound {result.bound:.0f}, "
            f"{result.termination} in {cpu:.1f} s cpu"
        )
        assert result.bound <= result.objective


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.1, 0.2])
def test_profiles_of_logs_with_losses_and_duplicates(rate: float) -> None:
    limit = gangopt.solve(gangopt.load("threshold/tiresias-figure3")).solution.threshold
    generator = np.random.default_rng(1)
    off, wrong, periods = [], 0, 0
    for number in range(LOGS):
        name = MODELS[number % len(MODELS)]
        iterations = int(generator.integers(8, 41))
        log = generate_log(
            name,
            workers=int(generator.integers(1, 9)),
            servers=int(generator.integers(1, 9)),
            iterations=iterations,
            jitter=float(generator.uniform(0, 0.05)),
            loss=rate,
            duplicates=rate,
            seed=number,
        )
        found, model = profile(log), tensor_model(name)
        off.append(abs(found.model_bytes / 2**20 / model.size - 1))
        wrong += (found.skew > limit) != (model.skew > limit)
        periods += found.iterations != iterations
    within = sum(item <= 0.01 for item in off)
    print(
        f"\n{rate:.0%} lost and {rate:.0%} twice: {within} of {LOGS} sizes within 1 %, the worst {max(off):.1%} off; "
        f"{wrong} of the wrong class, {periods} with another number of iterations"
    )
    assert wrong == 0
    assert within >= (0.99 if rate <= 0.05 else 0.9) * LOGS
