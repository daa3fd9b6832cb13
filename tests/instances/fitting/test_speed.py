"""Speed functions: recovery, prediction error, and samples that do not suffice."""

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.allocation.speed_functions import speed
from gangopt.instances.fitting.probes import admissible_pairs, next_probes
from gangopt.instances.fitting.speed import fit_speed, prediction_error
from gangopt.instances.fitting.speed_samples import SpeedSamples
from gangopt.instances.fitting.speed_terms import terms

TABLE_2 = {"async": (2.83, 3.92, 0.0, 0.11), "sync": (1.02, 2.78, 4.92, 0.0, 0.02)}
BATCH = {"async": None, "sync": 40.0}
MODES = ["async", "sync"]


def made(mode, pairs, noise=0.0, seed=0, theta=None):
    """Samples made from coefficients, with multiplicative noise."""
    wobble = np.exp(noise * np.random.default_rng(seed).standard_normal(len(pairs)))
    exact = [speed(mode, theta or TABLE_2[mode], p, w, BATCH[mode] or 1.0) for p, w in pairs]
    return SpeedSamples([p for p, _ in pairs], [w for _, w in pairs], np.array(exact) * wobble)


ALL_PAIRS = [tuple(pair) for pair in admissible_pairs(40).tolist()]


def test_terms_are_the_published_equations():
    p, w = np.array([2, 3]), np.array([4, 9])
    assert terms("async", None, p, w).tolist() == [[1 / 4, 1 / 2, 1, 2 / 4], [1 / 9, 1 / 3, 1, 3 / 9]]
    assert terms("sync", 36, p, w).tolist() == [[9, 1, 2, 4, 2], [4, 1, 3, 9, 3]]


@pytest.mark.parametrize("mode", MODES)
def test_coefficients_are_recovered_without_noise(mode):
    pairs = [(1, 1), (1, 8), (4, 2), (8, 8), (2, 20), (20, 3)]
    fit = fit_speed(made(mode, pairs), mode, BATCH[mode])
    assert fit.theta == pytest.approx(TABLE_2[mode], abs=1e-9)
    assert fit.error.max < 1e-9
    assert fit.residual < 1e-9
    assert fit.speed(12, 8) == pytest.approx(speed(mode, TABLE_2[mode], 12, 8, BATCH[mode] or 1.0))
    assert fit.warnings == ()


@given(st.lists(st.floats(0.01, 10), min_size=5, max_size=5), st.floats(1e-6, 1e6), st.sampled_from(MODES))
@settings(max_examples=40)
def test_the_unit_of_time_does_not_matter(theta, unit, mode):
    theta = tuple(unit * value for value in theta[: len(TABLE_2[mode])])
    pairs = next_probes(mode, [], 12, batch=BATCH[mode])
    fit = fit_speed(made(mode, pairs, theta=theta), mode, BATCH[mode])
    assert fit.theta == pytest.approx(theta, rel=1e-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [10, 16, 24])
def test_ten_samples_predict_within_ten_percent(mode, count):
    """Noise of 5 %; the error is that on all 780 pairs, averaged over them and then over 20 draws."""
    truth, means = made(mode, ALL_PAIRS), {"drawn": [], "chosen": []}
    assert len(ALL_PAIRS) == 780
    for seed in range(20):
        drawn = [ALL_PAIRS[i] for i in np.random.default_rng(seed).permutation(780)[:count]]
        chosen = next_probes(mode, [], count, batch=BATCH[mode])
        for kind, pairs in (("drawn", drawn), ("chosen", chosen)):
            fit = fit_speed(made(mode, pairs, 0.05, seed), mode, BATCH[mode])
            means[kind].append(prediction_error(fit, truth).mean)
    assert max(means["chosen"]) < 0.10
    assert np.mean(means["drawn"]) < 0.05
    assert np.mean(means["chosen"]) < np.mean(means["drawn"])


def test_relative_errors_count_alike_at_fast_and_slow_pairs():
    pairs = next_probes("async", [], 8)
    samples = made("async", pairs, 0.1, 3)
    fit = fit_speed(samples, "async")

    def error(theta):
        return float(np.sum((terms("async", None, *np.array(pairs).T) @ theta * samples.speeds - 1) ** 2))

    assert fit.residual == pytest.approx(np.sqrt(error(np.array(fit.theta)) / 8))
    for i in range(4):
        for change in (-1e-4, 1e-4):
            other = np.array(fit.theta)
            other[i] = max(0.0, other[i] + change)
            assert error(other) >= error(np.array(fit.theta)) - 1e-15


def test_errors_are_relative_to_the_measured_speed():
    fit = fit_speed(made("async", [(1, 1), (1, 8), (4, 2), (8, 8)]), "async")
    held_out = SpeedSamples([4, 8], [4, 2], [fit.speed(4, 4) / 1.2, fit.speed(8, 2) / 0.9])
    error = prediction_error(fit, held_out)
    assert (error.mean, error.max, error.samples) == (pytest.approx(0.15), pytest.approx(0.2), 2)


@pytest.mark.parametrize(
    ("mode", "pairs", "message"),
    [
        (
            "async",
            [(1, 1), (1, 2), (2, 1)],
            r"samples must have at least 4 distinct pairs \(p, w\), the number of coefficients in mode async \(got",
        ),
        (
            "async",
            [(1, 1)] * 9,
            r"samples must have at least 4 distinct pairs \(p, w\), the number of coefficients in mode async \(got",
        ),
        (
            "sync",
            [(1, 1), (1, 2)],
            r"samples must have at least 5 distinct pairs \(p, w\), the number of coefficients in mode sync \(got",
        ),
        (
            "sync",
            [(p, 4) for p in range(1, 7)],
            r"the measured pairs determine only 3 of 5 coefficients \(mode sync\); add pairs, e\.g\. \(9, 31\),",
        ),
        ("async", [(w, w) for w in range(1, 7)], r"determine only 2 of 4 coefficients .*\(\d+, \d+\), \(\d+, \d+\)$"),
    ],
)
def test_samples_that_do_not_suffice_are_refused(mode, pairs, message):
    with pytest.raises(InputError, match=message):
        fit_speed(made(mode, pairs), mode, BATCH[mode])


@pytest.mark.parametrize("mode", MODES)
def test_the_pairs_that_the_error_proposes_are_enough(mode):
    pairs = [(p, 4) for p in range(1, 7)]
    with pytest.raises(InputError) as caught:
        fit_speed(made(mode, pairs), mode, BATCH[mode])
    text = str(caught.value).partition("e.g. ")[2]
    more = [tuple(int(part) for part in pair.strip("() ").split(",")) for pair in text.split("), (")]
    fit = fit_speed(made(mode, pairs + more), mode, BATCH[mode])
    assert fit.theta == pytest.approx(TABLE_2[mode], abs=1e-6)


def test_doubtful_fits_carry_a_named_warning():
    spare = fit_speed(made("async", [(1, 1), (1, 8), (4, 2), (8, 8)]), "async")
    assert spare.warnings[0].startswith("no-spare-pairs: 4 pairs for 4 coefficients")
    close = [(900, 900), (900, 901), (901, 900), (902, 899), (899, 903)]
    assert fit_speed(made("async", close), "async").warnings[0].startswith("ill-conditioned: ")


@pytest.mark.parametrize(
    ("mode", "batch", "message"),
    [
        ("neither", None, r"mode must be async or sync \(got 'neither'\)"),
        ("table", None, r"mode must be async or sync \(got 'table'\)"),
        ("async", 32, r"batch must be None in mode async, whose speed does not depend on it \(got 32\)"),
        ("sync", None, "missing batch, the number of samples in the global batch, in mode sync"),
        ("sync", 0, r"batch must be a number from 1e-6 to 1e12 samples \(got 0\)"),
        ("sync", float("nan"), r"batch must be a number from 1e-6 to 1e12 samples \(got nan\)"),
    ],
)
def test_mode_and_batch_have_to_fit(mode, batch, message):
    with pytest.raises(InputError, match=message):
        fit_speed(made("async", ALL_PAIRS[:9]), mode, batch)


@pytest.mark.parametrize(
    ("p", "w", "speeds", "message"),
    [
        ([], [], [], r"speeds, parameter_servers and workers must have the same length >= 1 \(got 0, 0 and 0\)"),
        (
            [1, 2],
            [1],
            [1, 1],
            r"speeds, parameter_servers and workers must have the same length >= 1 \(got 2, 2 and 1\)",
        ),
        ([1, 0], [1, 1], [1, 1], r"parameter_servers\[1\] must be a number from 1 to 1,000,000 \(got 0\.0\)"),
        ([1, 1], [1, 1.5], [1, 1], r"workers\[1\] must be an integer from 1 to 1,000,000 \(got 1\.5\)"),
        ([1], [float("nan")], [1], r"workers\[0\] must be a number from 1 to 1,000,000 \(got nan\)"),
        ([1], [1], [0], r"speeds\[0\] must be a number from 1e-15 to 1e15 \(got 0\.0\)"),
        ([1], [1], [float("inf")], r"speeds\[0\] must be a number from 1e-15 to 1e15 \(got inf\)"),
        (["x"], [1], [1], r"parameter_servers must hold numbers \(got \['x'\]\)"),
        ([[1]], [1], [1], r"parameter_servers must have one dimension \(got 2\)"),
        ([1], [1], ["x"], r"speeds must hold numbers \(got \['x'\]\)"),
    ],
)
def test_defective_samples_are_refused(p, w, speeds, message):
    with pytest.raises(InputError, match=message):
        SpeedSamples(p, w, speeds)


@given(st.integers(0, 50), st.floats(0.05, 0.9))
def test_holding_out_keeps_repetitions_of_a_pair_together(seed, share):
    pairs = [(1, 1), (1, 2), (1, 1), (3, 4), (2, 2), (3, 4), (5, 1), (1, 2)]
    samples = made("async", pairs)
    kept, out = samples.split(share, seed)
    assert not set(kept.pairs) & set(out.pairs)
    assert len(out.pairs) == max(1, round(share * 5))
    assert sorted(kept.speeds.tolist() + out.speeds.tolist()) == sorted(samples.speeds.tolist())
    assert samples.split(share, seed)[1].pairs == out.pairs


def test_holding_out_nothing_or_everything_is_refused():
    samples = made("async", ALL_PAIRS[:4])
    for share in (0, 1, float("nan")):
        with pytest.raises(InputError, match=r"share must be > 0 and < 1 \(got "):
            samples.split(share)
    with pytest.raises(InputError, match="share must leave pairs to fit"):
        samples.split(0.9)


@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6), st.floats(1e-15, 1e15)), min_size=1, max_size=12),
    st.sampled_from(MODES),
)
@settings(max_examples=80)
def test_any_samples_give_usable_coefficients_or_one_clear_error(samples, mode):
    p, w, speeds = zip(*samples, strict=True)
    try:
        fit = fit_speed(SpeedSamples(p, w, speeds), mode, BATCH[mode])
    except InputError as error:
        event(str(error)[:20])
        return
    assert min(fit.theta) >= 0
    assert 0 < max(fit.theta) < np.inf
    assert all(fit.speed(a, b) > 0 for a, b in ((1, 1), (7, 3)))
