"""Prediction error of fitted speed functions and loss curves, and how long fits take."""

import time

import numpy as np
import pytest

from gangopt.instances.fitting.loss import fit_loss
from gangopt.instances.fitting.loss_log import LossLog
from gangopt.instances.fitting.probes import admissible_pairs, next_probes
from gangopt.instances.fitting.speed import fit_speed, prediction_error
from gangopt.instances.fitting.speed_samples import SpeedSamples
from gangopt.instances.fitting.speed_terms import terms

TABLE_2 = {"async": (2.83, 3.92, 0.0, 0.11), "sync": (1.02, 2.78, 4.92, 0.0, 0.02)}
BATCH = {"async": None, "sync": 40.0}
PAIRS = admissible_pairs(40)
DRAWS = 100


def measured(mode, pairs, noise, seed):
    seconds = terms(mode, BATCH[mode], *pairs.T) @ np.array(TABLE_2[mode])
    wobble = np.exp(noise * np.random.default_rng(seed).standard_normal(len(pairs)))
    return SpeedSamples(*pairs.T, wobble / seconds)


def errors(mode, count, noise, chosen):
    """Mean relative error over the 780 pairs, for each of the draws."""
    truth, result = measured(mode, PAIRS, 0.0, 0), []
    for seed in range(DRAWS):
        drawn = PAIRS[np.random.default_rng(seed).permutation(len(PAIRS))[:count]]
        pairs = np.array(next_probes(mode, [], count, batch=BATCH[mode])) if chosen else drawn
        fit = fit_speed(measured(mode, pairs, noise, seed), mode, BATCH[mode])
        result.append(prediction_error(fit, truth).mean)
    return np.array(result)


@pytest.mark.benchmark
def test_speed_error_by_number_of_samples():
    print(f"\nmean error of the speed on {len(PAIRS)} pairs, {DRAWS} draws: average (95th percentile)")
    print(f"{'mode':<6}{'noise':>6}{'pairs':>9}" + "".join(f"{count:>16} samples" for count in (5, 8, 10, 16, 24)))
    for mode in TABLE_2:
        for noise in (0.05, 0.10):
            for chosen in (False, True):
                cells = []
                for count in (5, 8, 10, 16, 24):
                    found = errors(mode, count, noise, chosen)
                    cells.append(f"{found.mean():>14.1%} ({np.percentile(found, 95):.1%})")
                    assert count < 10 or found.mean() < 0.10
                print(f"{mode:<6}{noise:>6.0%}{'chosen' if chosen else 'drawn':>9}" + " ".join(cells))


@pytest.mark.benchmark
def test_convergence_error_by_progress():
    """Seq2Seq curve with noise: error of the predicted total steps after a part of them (the paper's figure 6)."""
    k = np.arange(0, 2000.0)
    exact = 1 / (0.021 * k + 1.07) + 0.07  # ten recorded points in an epoch
    total = fit_loss(LossLog(k, exact, 10)).converges_at(0.01, 10)
    print(
        f"\nrelative error of the predicted total of {total} steps, {DRAWS} draws: mean size (5th to 95th percentile)"
    )
    for noise in (0.01, 0.03):
        for part in (0.05, 0.1, 0.2, 0.5, 1.0):
            found = []
            for seed in range(DRAWS):
                wobble = np.exp(noise * np.random.default_rng(seed).standard_normal(k.size))
                seen = int(part * total)
                fit = fit_loss(LossLog(k[:seen], (exact * wobble)[:seen], 10))
                found.append(fit.converges_at(0.01, 10) / total - 1)
            low, high = np.percentile(found, [5, 95])
            print(f"noise {noise:.0%}, after {part:>4.0%}: {np.abs(found).mean():>6.1%} ({low:+.1%} to {high:+.1%})")
    assert np.abs(found).mean() < 0.2


@pytest.mark.benchmark
def test_seconds_of_fits():
    k = np.arange(1_000_000.0)
    losses = (1 / (0.21 * k / 1000 + 1.07) + 0.07) * np.exp(0.05 * np.random.default_rng(0).standard_normal(k.size))
    pairs = PAIRS[::7]
    tasks = {
        "loss curve, 1,000 points": lambda: fit_loss(LossLog(k[::1000], losses[::1000], 1000)),
        "loss curve, 1,000,000 points": lambda: fit_loss(LossLog(k, losses, 1000)),
        f"speed function, {len(pairs)} pairs": lambda: fit_speed(measured("sync", pairs, 0.05, 0), "sync", 40.0),
        "10 probes among 780 pairs": lambda: next_probes("sync", [], 10, batch=40.0),
    }
    print()
    fit_loss(LossLog(k[:100], losses[::10_000]))
    for name, task in tasks.items():
        start = time.process_time()
        task()
        print(f"{name:<32}{1000 * (time.process_time() - start):>10.1f} ms")
