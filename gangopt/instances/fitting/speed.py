"""Fits of speed functions of a parameter-server job to measured speeds by non-negative least squares."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats
from gangopt.instances.allocation.speed_functions import THETA_COUNT, speed
from gangopt.instances.fitting.probes import next_probes
from gangopt.instances.fitting.speed_samples import SpeedSamples
from gangopt.instances.fitting.speed_terms import Mode, check_mode, terms

__all__ = ["PredictionError", "SpeedFit", "fit_speed", "prediction_error"]


RANK_TOLERANCE = 1e-9
"""Ratio to the largest singular value below which others count as 0."""

ILL_CONDITIONED = 1e4
"""Ratio of the largest to the smallest singular value above which a fit has a warning."""

UNDETERMINED = "the measured pairs determine only {rank} of {count} coefficients (mode {mode}); add pairs, e.g. {more}"


@dataclass(frozen=True)
class PredictionError:
    """Relative error `|f(p, w) - s| / s` of a fitted speed against measured ones.

    Attributes
    ----------
    mean : float
        Mean over the samples, as a share.
    max : float
        Maximum over the samples, as a share.
    samples : int
        Number of samples.
    """

    mean: float
    max: float
    samples: int


@dataclass(frozen=True)
class SpeedFit:
    """Fitted speed function of one job.

    Attributes
    ----------
    mode : Mode
        `async` (eqn 3) or `sync` (eqn 4).
    theta : tuple of float
        Coefficients in s in the order of the equation, at least 0: 4 for async, 5 for sync.
    batch : float or None
        Samples in the global batch M; None for async.
    samples : int
        Number of measurements.
    pairs : int
        Number of distinct pairs (p, w).
    residual : float
        Root mean squared relative error of the time of a step, as a share.
    error : PredictionError
        Relative error of the speed on the fitted measurements.
    condition : float
        Ratio of the largest to the smallest singular value of the weighted, column-scaled design matrix.
    warnings : tuple of str
        Reasons to doubt the fit, each `name: sentence`.
    """

    mode: Mode
    theta: tuple[float, ...]
    batch: float | None
    samples: int
    pairs: int
    residual: float
    error: PredictionError
    condition: float
    warnings: tuple[str, ...]

    def speed(self, parameter_servers: int, workers: int) -> float:
        """Return the fitted speed f(p, w), steps per second."""
        return speed(self.mode, self.theta, parameter_servers, workers, self.batch or 1.0)


def fit_speed(samples: SpeedSamples, mode: Mode, batch: float | None = None) -> SpeedFit:
    r"""Fit the speed function of a mode to measured speeds by non-negative least squares.

    The time of a step, 1/f, is linear in the coefficients. The row of each measurement is divided by the measured time,
    so that relative errors have the same weight at fast and slow pairs:

    .. math:: \min_{\theta \ge 0} \sum_i \left( s_i \cdot \frac{1}{f_\theta(p_i, w_i)} - 1 \right)^2

    Parameters
    ----------
    samples : SpeedSamples
        Measured speeds.
    mode : Mode
        `async` (eqn 3, four coefficients) or `sync` (eqn 4, five).
    batch : float or None, optional
        Samples in the global batch M; only for `sync`.

    Raises
    ------
    InputError
        If there are fewer distinct pairs than coefficients, or the pairs do not determine the coefficients; the message
        gives the number of missing pairs, or pairs that would help.

    References
    ----------
    Optimus (EuroSys'18), section 3.2, eqns 3 and 4.
    """
    from scipy.optimize import nnls

    check_mode(mode, batch)
    count, pairs = THETA_COUNT[mode], samples.pairs
    if len(pairs) < count:
        raise InputError(
            f"samples must have at least {count} distinct pairs (p, w), the number of coefficients in mode {mode} "
            f"(got {len(pairs)} in {len(samples.speeds)} samples)"
        )
    rows = terms(mode, batch, samples.parameter_servers, samples.workers) * samples.speeds[:, None]
    scale = np.linalg.norm(rows, axis=0)
    condition = _condition(rows / scale, mode, batch, samples)
    scaled, residual = nnls(rows / scale, np.ones(len(rows)))
    theta = scaled / scale
    if not np.isfinite(theta).all() or not theta.any():
        raise InputError("speeds differ too much in magnitude for a common fit")
    return SpeedFit(
        mode=mode,
        theta=tuple(theta.tolist()),
        batch=batch,
        samples=len(rows),
        pairs=len(pairs),
        residual=float(residual) / math.sqrt(len(rows)),
        error=_relative_error(rows @ theta),
        condition=condition,
        warnings=_warnings(len(pairs), count, condition),
    )


def _condition(rows: Floats, mode: Mode, batch: float | None, samples: SpeedSamples) -> float:
    values = np.linalg.svd(rows, compute_uv=False)
    rank = int(np.count_nonzero(values > RANK_TOLERANCE * values[0]))
    if rank < rows.shape[1]:
        more = next_probes(mode, samples.pairs, rows.shape[1] - rank, batch=batch)
        text = ", ".join(f"({p}, {w})" for p, w in more)
        raise InputError(UNDETERMINED.format(rank=rank, count=rows.shape[1], mode=mode, more=text))
    return float(values[0] / values[-1])


def _relative_error(ratios: Floats) -> PredictionError:
    """Return the error of the speed, given ratios of fitted to measured times of a step."""
    errors = np.abs(1 / ratios - 1)
    return PredictionError(float(errors.mean()), float(errors.max()), errors.size)


def _warnings(pairs: int, count: int, condition: float) -> tuple[str, ...]:
    found = []
    if pairs == count:
        found.append(f"no-spare-pairs: {pairs} pairs for {count} coefficients, so the error on them is meaningless")
    if condition > ILL_CONDITIONED:
        found.append(f"ill-conditioned: the pairs barely determine the coefficients (condition {condition:.2g})")
    return tuple(found)


def prediction_error(fit: SpeedFit, held_out: SpeedSamples) -> PredictionError:
    """Return the relative error of a fit on other measurements.

    Parameters
    ----------
    fit : SpeedFit
        Fit to other samples.
    held_out : SpeedSamples
        Measured speeds.
    """
    seconds = terms(fit.mode, fit.batch, held_out.parameter_servers, held_out.workers) @ np.array(fit.theta)
    return _relative_error(seconds * held_out.speeds)
