"""Plots of fitted loss curves and speed functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gangopt.instances.fitting.loss import DEFAULT_EPOCHS, DEFAULT_THRESHOLD, LossFit
from gangopt.instances.fitting.loss_log import LossLog
from gangopt.instances.fitting.speed import SpeedFit
from gangopt.instances.fitting.speed_samples import SpeedSamples
from gangopt.instances.fitting.speed_terms import terms
from gangopt.reporting.plots import label, new_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["loss_chart", "speed_chart"]

FARTHEST = 20
"""A loss chart ends at convergence, or at this multiple of the last recorded step."""


def loss_chart(
    log: LossLog, fit: LossFit, threshold: float = DEFAULT_THRESHOLD, epochs: float = DEFAULT_EPOCHS
) -> Figure:
    """Plot recorded losses, replaced outliers, the fitted curve, its limit and the step of convergence.

    Parameters
    ----------
    log : LossLog
        Recorded losses.
    fit : LossFit
        Curve fitted to them.
    threshold : float, optional
        Change of the normalised loss below which the job has converged.
    epochs : float, optional
        Epochs over which the change is measured.
    """
    figure, axes = new_figure(7.5, 4.0)
    end = fit.converges_at(threshold, epochs)
    right = min(max(1.1 * end, 1.02 * fit.last_step), FARTHEST * fit.last_step)
    steps = np.linspace(float(log.steps[0]), right, 600)
    outliers = np.zeros(log.steps.size, dtype=bool)
    outliers[list(fit.outliers)] = True
    # in a vector file each point of a long log would be an object
    bitmap = log.steps.size > 5_000
    size = 4 if log.steps.size < 500 else 1.5
    axes.plot(
        log.steps[~outliers],
        log.losses[~outliers],
        "o",
        color="tab:blue",
        ms=size,
        alpha=0.6,
        label="recorded",
        rasterized=bitmap,
    )
    if outliers.any():
        replaced = f"replaced as outlier ({outliers.sum()})"
        axes.plot(log.steps[outliers], log.losses[outliers], "x", color="tab:orange", ms=size + 2, label=replaced)
    axes.plot(steps, fit.loss(steps), color="black", lw=1.5, label="fitted curve")
    if fit.b2 > 0:
        axes.axhline(fit.scale * fit.b2, color="grey", lw=1, ls=":", label=f"falls to {fit.scale * fit.b2:.3g}")
    if end <= right:
        axes.axvline(end, color="tab:red", lw=1, ls="--", label=f"converged at step {end:,}")
    axes.set_ylim(bottom=0)
    title = f"change of at most {threshold:g} of the largest loss in {epochs:g} epochs"
    label(axes, "steps", "loss", title, legend=True)
    return figure


def speed_chart(
    samples: SpeedSamples, fit: SpeedFit, probes: Sequence[tuple[int, int]] = (), max_tasks: int = 40
) -> Figure:
    """Plot a map of the fitted speed over pairs (p, w), and fitted against measured speeds.

    Parameters
    ----------
    samples : SpeedSamples
        Measured speeds.
    fit : SpeedFit
        Function fitted to them.
    probes : sequence of tuple of int, optional
        Pairs to measure next, which are marked on the map.
    max_tasks : int, optional
        The map shows pairs with p + w up to this number, and all measured pairs.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
    _map(left, samples, fit, probes, max_tasks)
    fitted = 1 / (terms(fit.mode, fit.batch, samples.parameter_servers, samples.workers) @ np.array(fit.theta))
    ends = np.array([0.0, 1.08 * max(float(samples.speeds.max()), float(fitted.max()))])
    right.plot(ends, ends, color="black", lw=1, label="equal")
    right.fill_between(ends, 0.9 * ends, 1.1 * ends, color="grey", alpha=0.2, lw=0, label="within 10 %")
    right.plot(samples.speeds, fitted, "o", ms=5, alpha=0.7, label="measurements")
    right.set_xlim(*ends)
    right.set_ylim(*ends)
    title = f"mean error {fit.error.mean:.1%}, largest {fit.error.max:.1%}"
    label(right, "measured speed (steps/s)", "fitted speed (steps/s)", title)
    right.legend(frameon=False, loc="upper left")
    return figure


LARGEST_MAP = 200
"""Maximum number of parameter servers and of workers on a map."""


def _map(axes: Axes, samples: SpeedSamples, fit: SpeedFit, probes: Sequence[tuple[int, int]], max_tasks: int) -> None:
    P = min(LARGEST_MAP, max(max_tasks - 1, int(samples.parameter_servers.max())))
    W = min(LARGEST_MAP, max(max_tasks - 1, int(samples.workers.max())))
    p, w = (grid.ravel() for grid in np.mgrid[1 : P + 1, 1 : W + 1])
    speeds = (1 / (terms(fit.mode, fit.batch, p, w) @ np.array(fit.theta))).reshape(P, W)
    shown = np.where((p + w).reshape(P, W) <= max(max_tasks, 2), speeds, np.nan)
    image = axes.pcolormesh(np.arange(1, W + 1), np.arange(1, P + 1), shown, cmap="viridis", shading="nearest")
    axes.figure.colorbar(image, ax=axes)
    axes.plot(samples.workers, samples.parameter_servers, "o", mfc="white", mec="black", ms=6, label="measured")
    if probes:
        axes.plot([w for _, w in probes], [p for p, _ in probes], "*", mfc="red", mec="white", ms=12, label="next")
    axes.set_xlim(0, W + 1)
    axes.set_ylim(0, P + 1)
    title = f"fitted speed (steps/s), {fit.mode}, p + w up to {max_tasks}"
    label(axes, "workers w", "parameter servers p", title, grid=False)
    axes.legend(loc="upper right")
