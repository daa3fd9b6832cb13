"""Fits of loss curves of training jobs to recorded losses, and the remaining steps until convergence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gangopt.base import checks
from gangopt.base.errors import InputError
from gangopt.base.types import Floats
from gangopt.instances.fitting.loss_log import (
    MIN_POINTS,
    LossLog,
    decimate,
    find_outliers,
    replace_outliers,
)

__all__ = ["DEFAULT_EPOCHS", "DEFAULT_THRESHOLD", "LossFit", "fit_loss"]


DEFAULT_THRESHOLD, DEFAULT_EPOCHS = 0.05, 10
"""A job has converged when its normalised loss changes by at most 0.05 in 10 epochs, as in the public code."""

MAX_POINTS = 2_000
LEAST_F = 10.0
"""Smallest F statistic of the curve against a constant at which losses count as decreasing."""

RISE_SHARE, RISE_ERRORS = 0.1, 4.0
"""A rise is significant if it exceeds this share of the fall before it and this multiple of its standard error."""

SHAPE_LOW, SHAPE_HIGH, SHAPES = 1e-6, 1e4, 121
"""Search range of the shape c in units of the last step, and the number of points of the logarithmic grid."""


@dataclass(frozen=True)
class LossFit:
    r"""Fitted loss curve :math:`l(k) = L\,(1/(b_0 k + b_1) + b_2)`.

    Attributes
    ----------
    b0 : float
        Fitted coefficient per step, > 0.
    b1 : float
        Fitted coefficient, > 0.
    b2 : float
        Fitted limit of the normalised loss, at least 0.
    scale : float
        Largest recorded loss L, in the unit of the losses.
    steps_per_epoch : float
        Steps in an epoch N.
    last_step : float
        Last recorded step.
    points : int
        Number of recorded points.
    outliers : tuple of int
        Indices of the points that the window rule replaced.
    used_points : int
        Number of points that were fitted, after decimation.
    rmse : float
        Root mean squared difference to the fitted points, in normalised loss.
    explained : float
        Share of the variance of the fitted points that the curve explains, at most 1.
    warnings : tuple of str
        Reasons to doubt the fit, each `name: sentence`.
    """

    b0: float
    b1: float
    b2: float
    scale: float
    steps_per_epoch: float
    last_step: float
    points: int
    outliers: tuple[int, ...]
    used_points: int
    rmse: float
    explained: float
    warnings: tuple[str, ...]

    def loss(self, steps: Any) -> Any:
        """Return the fitted loss after a number of steps, in the unit of the recorded losses."""
        return self.scale * (1 / (self.b0 * steps + self.b1) + self.b2)

    def converges_at(self, threshold: float = DEFAULT_THRESHOLD, epochs: float = DEFAULT_EPOCHS) -> int:
        r"""Return the first step before which the loss has changed by at most a threshold in some epochs.

        .. math:: \min \{ K \ge W : (l(K - W) - l(K)) / L \le \delta \}, \quad W = E N

        With :math:`x = b_0 (K - W) + b_1` the condition is :math:`x (x + b_0 W) \ge b_0 W / \delta`, a quadratic.

        Parameters
        ----------
        threshold : float, optional
            Threshold delta in normalised loss (a share of the largest recorded loss), >= 1e-9 and < 1.
        epochs : float, optional
            Number of epochs E, from 1e-9 to 1e9.

        Returns
        -------
        int
            Steps since the start of the job.
        """
        if not 1e-9 <= threshold < 1:
            raise InputError(f"threshold must be >= 1e-9 and < 1, a share of the largest loss (got {threshold:g})")
        checks.number("epochs", epochs, 1e-9, 1e9)
        window = epochs * self.steps_per_epoch
        change = self.b0 * window
        x = 2 / threshold / (1 + math.sqrt(1 + 4 / (change * threshold)))
        # a rounding error must not move a step that is exactly at the threshold to the next integer
        return math.ceil((window + max(0.0, (x - self.b1) / self.b0)) * (1 - 1e-12))

    def steps_left(self, threshold: float = DEFAULT_THRESHOLD, epochs: float = DEFAULT_EPOCHS) -> int:
        """Return the remaining steps from the last recorded one until convergence; see `converges_at`."""
        return max(0, math.ceil(self.converges_at(threshold, epochs) - self.last_step))


def fit_loss(log: LossLog, max_points: int = MAX_POINTS) -> LossFit:
    r"""Fit a loss curve to recorded losses by non-negative least squares.

    The curve is :math:`l(k) = 1/(b_0 k + b_1) + b_2` on losses divided by the largest recorded one, all coefficients
    at least 0. Written as :math:`a\,c/(k + c) + b_2` with :math:`a = 1/b_1, c = b_1/b_0` it is linear in
    :math:`(a, b_2)` once c is fixed. So NNLS gives the best :math:`(a, b_2)` for every c, and a search over c, on a
    logarithmic grid and then with Brent's method around its best point, minimises the sum of squared differences of the
    *losses*. Reciprocals of noisy losses are avoided; all points have weight 1.

    Parameters
    ----------
    log : LossLog
        Recorded losses.
    max_points : int, optional
        Largest number of points to fit, at least 6; longer logs are averaged over epochs.

    Raises
    ------
    InputError
        If the losses do not decrease, increase again, or decrease by no more than their noise.

    References
    ----------
    Optimus (EuroSys'18), section 3.1, eqn 1.
    """
    checks.integer("max_points", max_points, MIN_POINTS)
    outliers = find_outliers(log)
    if 2 * int(outliers.sum()) > outliers.size:
        raise InputError(
            f"the losses do not decrease: the window rule rejects {outliers.sum()} of {outliers.size} points"
        )
    scale = float(log.losses.max())
    _check_no_rise(log.steps, log.losses / scale)
    cleaned = replace_outliers(log.losses, outliers) / scale
    steps, losses = decimate(log.steps, cleaned, log.epoch_steps, max_points)
    if steps.size < MIN_POINTS:
        raise InputError(
            f"the log must have at least {MIN_POINTS} epochs (got {steps.size} in {log.steps.size} points); "
            "steps_per_epoch may be too large"
        )
    horizon = float(steps[-1])
    shape, level, floor = _search(steps / horizon, losses)
    curve = level * shape / (steps / horizon + shape) + floor
    explained = _check_fall(losses, curve, level)
    b1 = 1 / level
    return LossFit(
        b0=b1 / (shape * horizon),
        b1=b1,
        b2=floor,
        scale=scale,
        steps_per_epoch=log.epoch_steps,
        last_step=float(log.steps[-1]),
        points=log.steps.size,
        outliers=tuple(np.flatnonzero(outliers).tolist()),
        used_points=steps.size,
        rmse=float(np.sqrt(np.mean((losses - curve) ** 2))),
        explained=explained,
        warnings=_warnings((cleaned - level * shape / (log.steps / horizon + shape) - floor)[~outliers], floor),
    )


def _solve(shape: float, x: Floats, losses: Floats) -> tuple[Floats, float]:
    from scipy.optimize import nnls

    design = np.stack((shape / (x + shape), np.ones_like(x)), axis=1)
    coefficients, residual = nnls(design, losses)
    return coefficients, float(residual)


def _search(x: Floats, losses: Floats) -> tuple[float, float, float]:
    """Return the shape c in units of the last step, the level a and the floor b2 with the smallest squared error."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(math.log(SHAPE_LOW), math.log(SHAPE_HIGH), SHAPES)
    errors = [_solve(math.exp(value), x, losses)[1] for value in grid]
    best = int(np.argmin(errors))
    found = minimize_scalar(
        lambda value: _solve(math.exp(value), x, losses)[1] ** 2,
        bounds=(grid[max(best - 1, 0)], grid[min(best + 1, SHAPES - 1)]),
        method="bounded",
        options={"xatol": 1e-9},
    )
    shape = math.exp(float(found.x))
    if _solve(shape, x, losses)[1] > errors[best]:
        shape = math.exp(float(grid[best]))
    (level, floor), _ = _solve(shape, x, losses)
    return shape, float(level), float(floor)


def _check_no_rise(steps: Floats, losses: Floats) -> None:
    """Refuse losses that end clearly above their minimum, by the medians of up to eight sections.

    Recorded losses are used, because the window rule would flatten a rise, and medians because of the outliers.
    """
    parts = np.array_split(np.arange(losses.size), min(8, losses.size // 3))
    middles = np.array([np.median(losses[part]) for part in parts])
    low = int(np.argmin(middles))
    rise, fall = middles[-1] - middles[low], middles[0] - middles[low]
    # successive differences measure the noise independently of the trend; 1.48 and 1.25 make medians comparable with
    # standard deviations and standard errors of normal noise
    noise = 1.48 * float(np.median(np.abs(np.diff(losses)))) / math.sqrt(2)
    error = 1.25 * noise * math.sqrt(1 / parts[-1].size + 1 / parts[low].size)
    if rise > RISE_SHARE * fall and rise > RISE_ERRORS * error:
        raise InputError(
            f"the losses increase: {middles[low]:.4g} of the largest in steps {steps[parts[low][0]]:g} to "
            f"{steps[parts[low][-1]]:g}, {middles[-1]:.4g} from step {steps[parts[-1][0]]:g} on"
        )


def _check_fall(losses: Floats, curve: Floats, level: float) -> float:
    """Return the explained share of the variance, and refuse curves that are no better than a constant."""
    total = float(np.sum((losses - losses.mean()) ** 2))
    left = float(np.sum((losses - curve) ** 2))
    if level <= 0 or curve[0] - curve[-1] <= 1e-4 * curve[0] or total <= left:
        raise InputError("the losses do not decrease: the best curve is a constant, so convergence cannot be predicted")
    statistic = (total - left) / 2 / max(left / (losses.size - 3), 1e-300)
    if statistic < LEAST_F:
        raise InputError(
            f"the losses decrease by no more than their noise (F must be >= {LEAST_F:g}, got {statistic:.3g}); "
            "record more steps"
        )
    return 1 - left / total


def _warnings(residuals: Floats, floor: float) -> tuple[str, ...]:
    found = []
    if floor <= 0:
        found.append("no-floor: b2 is 0, the losses have not flattened yet, so the remaining steps are uncertain")
    if _too_few_runs(residuals):
        found.append("systematic: the losses stay on one side of the curve for long, so the fit is poor")
    return tuple(found)


def _too_few_runs(residuals: Floats) -> bool:
    """Return whether the signs of the residuals change much too rarely.

    The criteria are z < -4 in the Wald-Wolfowitz runs test, and fewer than three quarters of the runs of independent
    residuals, since the window rule, which compares with neighbours, slightly reduces the number of runs of long logs.
    """
    if float(np.abs(residuals).max()) < 1e-6:
        return False
    above = residuals > 0
    n, high = above.size, int(above.sum())
    low = n - high
    if not high or not low:
        return False
    mean = 2 * high * low / n + 1
    variance = (mean - 1) * (mean - 2) / (n - 1)
    runs = 1 + int(np.count_nonzero(np.diff(above)))
    return variance > 0 and runs < 0.75 * mean and (runs - mean) / math.sqrt(variance) < -4
