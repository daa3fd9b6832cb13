"""Loss curves: recovery, steps left, and curves that cannot be such."""

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.fitting.loss import LossFit, fit_loss
from gangopt.instances.fitting.loss_log import LossLog

SEQ2SEQ = (0.21, 1.07, 0.07)


def curve(k, b0, b1, b2):
    return 1 / (b0 * k + b1) + b2


def raw(fit):
    """The coefficients on the scale of the recorded losses."""
    return fit.b0 / fit.scale, fit.b1 / fit.scale, fit.b2 * fit.scale


def made_fit(b0, b1, b2, last=10.0, rate=1.0):
    return LossFit(b0, b1, b2, 1.0, rate, last, 10, (), 10, 0.0, 1.0, ())


def test_seq2seq_is_recovered_exactly_without_noise():
    k = np.arange(100.0)
    fit = fit_loss(LossLog(k, curve(k, *SEQ2SEQ)))
    assert raw(fit) == pytest.approx(SEQ2SEQ, rel=1e-5)
    assert fit.outliers == ()
    assert fit.warnings == ()
    assert fit.explained == pytest.approx(1)
    assert fit.loss(50) == pytest.approx(curve(50, *SEQ2SEQ))


@pytest.mark.parametrize(("noise", "tolerance"), [(0.01, (0.01, 0.03, 0.003)), (0.02, (0.02, 0.06, 0.006))])
def test_seq2seq_is_recovered_from_noisy_points(noise, tolerance):
    k = np.arange(100.0)
    for seed in range(20):
        wobble = np.exp(noise * np.random.default_rng(seed).standard_normal(k.size))
        fit = fit_loss(LossLog(k, curve(k, *SEQ2SEQ) * wobble))
        assert np.all(np.abs(np.array(raw(fit)) - SEQ2SEQ) < tolerance), seed


def test_outliers_do_not_move_the_curve():
    k = np.arange(100.0)
    losses = curve(k, *SEQ2SEQ)
    broken = losses.copy()
    broken[[5, 40, 77]] = 2.5, 0.0, 3.0
    fit = fit_loss(LossLog(k, broken))
    assert fit.outliers == (5, 40, 77)
    assert fit.scale == 3.0  # the largest recorded loss, outlier or not
    assert raw(fit) == pytest.approx(SEQ2SEQ, rel=0.02)


@given(
    st.floats(0.01, 3),
    st.floats(0.3, 3),
    st.floats(0, 1),
    st.sampled_from([1e-3, 1.0, 1e6]),
    st.sampled_from([1.0, 37.0, 1e7]),
)
@settings(max_examples=40)
def test_units_of_loss_and_step_do_not_matter(b0, b1, b2, unit, length):
    k = np.arange(60.0)
    losses = curve(k, b0, b1, b2)
    fit = fit_loss(LossLog(k * length, losses * unit))
    assert fit.loss(k * length) == pytest.approx(losses * unit, rel=1e-4)
    assert raw(fit) == pytest.approx((b0 / length / unit, b1 / unit, b2 * unit), rel=2e-3, abs=2e-3 * unit)


def test_no_other_curve_has_a_smaller_squared_error():
    from scipy.optimize import minimize

    k = np.arange(40.0)
    losses = curve(k, 0.4, 0.9, 0.3) * np.exp(0.02 * np.random.default_rng(5).standard_normal(40))
    losses = np.sort(losses)[::-1]  # no outliers, so that the fitted points are these
    fit = fit_loss(LossLog(k, losses))

    def error(beta):
        return float(np.sum((curve(k, *np.maximum(beta, 1e-12)) - losses / fit.scale) ** 2))

    for start in ([0.1, 1, 0], [1, 1, 0.5], [0.4, 1, 0.3]):
        other = minimize(error, start, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-10, "fatol": 1e-14})
        assert error([fit.b0, fit.b1, fit.b2]) <= other.fun * (1 + 1e-6)


def test_a_long_log_is_averaged_and_gives_the_same_curve():
    k = np.arange(50_000.0)
    wobble = np.exp(0.1 * np.random.default_rng(0).standard_normal(k.size))
    fit = fit_loss(LossLog(k, curve(k / 500, *SEQ2SEQ) * wobble, 500), max_points=100)
    assert fit.used_points == 100
    assert fit.points == 50_000
    assert (fit.b0 / fit.scale * 500, fit.b2 * fit.scale) == pytest.approx((0.21, 0.07), rel=0.05)


@given(st.floats(1e-4, 5), st.floats(0.2, 5), st.floats(1e-3, 0.5), st.sampled_from([1, 2, 5, 10]), st.integers(1, 50))
def test_convergence_is_the_first_step_of_the_definition(b0, b1, threshold, epochs, rate):
    fit = made_fit(b0, b1, 0.1, rate=rate)
    window, end = epochs * rate, fit.converges_at(threshold, epochs)

    def change(k):
        return fit.loss(k - window) - fit.loss(k)

    assert end >= window
    assert change(end) <= threshold * (1 + 1e-6)
    assert end == window or change(end - 1) >= threshold * (1 - 1e-6)


def test_convergence_by_counting():
    fit = made_fit(*SEQ2SEQ)
    counted = next(k for k in range(10, 10_000) if fit.loss(k - 10) - fit.loss(k) <= 0.01)
    assert fit.converges_at(0.01, 10) == counted
    assert fit.steps_left(0.01, 10) == counted - 10
    assert made_fit(*SEQ2SEQ, last=1e6).steps_left(0.01, 10) == 0


@pytest.mark.parametrize(
    ("threshold", "epochs", "message"),
    [
        (0, 10, r"threshold must be >= 1e-9 and < 1, a share of the largest loss \(got 0\)"),
        (1, 10, r"threshold must be >= 1e-9 and < 1, a share of the largest loss \(got 1\)"),
        (float("nan"), 10, r"threshold must be >= 1e-9 and < 1, a share of the largest loss \(got nan\)"),
        (0.1, 0, r"epochs must be a number from 1e-9 to 1e9 \(got 0\)"),
        (0.1, float("inf"), r"epochs must be a number from 1e-9 to 1e9 \(got inf\)"),
    ],
)
def test_bad_thresholds_are_refused(threshold, epochs, message):
    with pytest.raises(InputError, match=message):
        made_fit(*SEQ2SEQ).converges_at(threshold, epochs)


NOISE = np.random.default_rng(3).standard_normal(60)


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        (np.linspace(1, 2, 60), "the losses do not decrease: the window rule rejects 60 of 60 points"),
        (
            np.full(60, 0.7),
            "the losses do not decrease: the best curve is a constant, so convergence cannot be predicted",
        ),
        (
            1 + 0.1 * NOISE,
            r"the losses decrease by no more than their noise \(F must be >= 10, got 9\.03\); record more steps",
        ),
        (
            1 + 0.01 * (NOISE > 0) - 0.00012 * np.arange(60),
            r"the losses decrease by no more than their noise \(F must be >= 10, got 1\.83\); record more steps",
        ),
        (
            np.concatenate([np.linspace(2, 1, 30), np.linspace(1, 1.5, 30)]),
            r"the losses increase: 0\.5259 of the largest in steps 24 to 31, 0\.7241 from step 53 on",
        ),
        (
            np.concatenate([np.linspace(2, 1, 45), np.linspace(1, 1.2, 15)]),
            r"the losses increase: 0\.5227 of the largest in steps 39 to 45, 0\.5786 from step 53 on",
        ),
    ],
)
def test_losses_that_cannot_be_such_a_curve_are_refused(losses, message):
    with pytest.raises(InputError, match=message):
        fit_loss(LossLog(range(60), losses))


def test_a_small_rise_within_the_noise_is_no_rise():
    k = np.arange(80.0)
    losses = curve(k, 2, 1, 0.5) * np.exp(0.05 * np.random.default_rng(1).standard_normal(80))
    assert raw(fit_loss(LossLog(k, losses)))[2] == pytest.approx(0.5, rel=0.05)


def test_too_few_epochs_after_averaging_are_refused():
    k = np.arange(100.0)
    with pytest.raises(
        InputError,
        match=r"the log must have at least 6 epochs \(got 5 in 100 points\); steps_per_epoch may be too large",
    ):
        fit_loss(LossLog(k, curve(k, *SEQ2SEQ), 20), max_points=50)
    with pytest.raises(InputError, match="max_points must be an integer >= 6"):
        fit_loss(LossLog(k, curve(k, *SEQ2SEQ)), max_points=5)


def test_a_staircase_is_fitted_with_a_warning():
    stairs = np.repeat([1.0, 0.6, 0.55, 0.3, 0.1], 40) + 0.005 * np.random.default_rng(0).standard_normal(200)
    assert fit_loss(LossLog(range(200), stairs)).warnings[-1].startswith("systematic: ")


def test_a_curve_without_floor_is_fitted_with_a_warning():
    fit = fit_loss(LossLog(range(30), np.linspace(2, 1, 30)))
    assert fit.b2 == 0
    assert fit.warnings[0].startswith("no-floor: ")


@given(st.lists(st.floats(0, 1e15), min_size=6, max_size=30), st.floats(1e-3, 1e12))
@settings(max_examples=60)
def test_any_losses_give_a_falling_curve_or_one_clear_error(losses, length):
    assume(any(losses))
    steps = np.arange(len(losses)) * length
    assume(steps[-1] <= 1e15)
    try:
        fit = fit_loss(LossLog(steps, losses))
    except InputError as error:
        event(str(error)[:20])
        return
    assert min(fit.b0, fit.b1) > 0
    assert fit.b2 >= 0
    assert np.isfinite([fit.b0, fit.b1, fit.b2, fit.rmse]).all()
    assert fit.loss(steps[0]) > fit.loss(steps[-1])
    assert fit.converges_at(0.01, 10) >= 10 * fit.steps_per_epoch * (1 - 1e-9)
