"""Pictures of fits show what was measured, what was fitted and what comes next."""

import numpy as np

from gangopt.instances.fitting.loss import fit_loss
from gangopt.instances.fitting.loss_log import LossLog
from gangopt.instances.fitting.speed import fit_speed
from gangopt.instances.fitting.speed_samples import SpeedSamples
from gangopt.reporting.fit_plots import loss_chart, speed_chart
from gangopt.reporting.plots import save_picture


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def made_log(b2=0.07):
    k = np.arange(40.0)
    losses = 1 / (0.21 * k + 1.07) + b2
    losses[12] = 4
    return LossLog(k, losses)


def test_loss_chart_marks_outliers_floor_and_convergence():
    log = made_log()
    fit = fit_loss(log)
    (axes,) = loss_chart(log, fit, 0.01, 10).axes
    end = fit.converges_at(0.01, 10)
    assert labels(axes) == [
        "recorded",
        "replaced as outlier (1)",
        "fitted curve",
        f"falls to {fit.scale * fit.b2:.3g}",
        f"converged at step {end:,}",
    ]
    recorded, outliers, curve = axes.lines[:3]
    assert recorded.get_xdata().size == 39
    assert outliers.get_ydata().tolist() == [4]
    assert np.allclose(curve.get_ydata(), fit.loss(curve.get_xdata()))
    assert axes.get_xlim()[1] > end


def test_loss_chart_does_not_reach_for_a_distant_convergence():
    log = made_log(0.0)
    (axes,) = loss_chart(log, fit_loss(log), 1e-6, 10).axes
    assert axes.get_xlim()[1] < 25 * 39
    assert not [text for text in labels(axes) if text.startswith("converged")]


def test_speed_chart_shows_every_measurement_and_probe(tmp_path):
    pairs = [(1, 1), (1, 8), (4, 2), (8, 8), (2, 20), (50, 3)]
    p, w = np.array(pairs).T
    samples = SpeedSamples(p, w, w / (2.83 + 3.92 * w / p + 0.11 * p))
    fit = fit_speed(samples, "async")
    figure = speed_chart(samples, fit, [(3, 9)], 30)
    chart, compared = figure.axes[:2]
    measured, probes = chart.lines
    assert sorted(zip(measured.get_ydata(), measured.get_xdata(), strict=True)) == sorted(pairs)
    assert (probes.get_xdata(), probes.get_ydata()) == ([9], [3])
    assert chart.get_ylim()[1] > 50
    assert compared.lines[1].get_xdata().size == 6
    assert np.allclose(compared.lines[1].get_xdata(), compared.lines[1].get_ydata())
    save_picture(figure, tmp_path / "speed.png")
    assert (tmp_path / "speed.png").read_bytes().startswith(b"\x89PNG")


def test_a_chart_of_two_tasks_still_draws(tmp_path):
    samples = SpeedSamples([1, 1, 2, 2, 3], [1, 2, 1, 2, 7], [1.0, 1.5, 1.1, 1.9, 2.5])
    save_picture(speed_chart(samples, fit_speed(samples, "async"), (), 2), tmp_path / "speed.svg")
    assert "<svg" in (tmp_path / "speed.svg").read_text()
