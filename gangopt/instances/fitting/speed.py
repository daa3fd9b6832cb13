"""Speed functions of a parameter-server job, fitted to measured speeds by non-negative least squares."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats, Ints
from gangopt.instances.fitting.speed_functions import THETA_COUNT, async_step_seconds, speed, sync_step_seconds
from gangopt.instances.fitting.speed_samples import SpeedSamples
from gangopt.instances.fitting.speed_terms import Mode, check_mode, terms

__all__ = ["PredictionError", "SpeedFit", "fit_speed", "prediction_error"]

Mode = Literal["async", "sync"]

RANK_TOLERANCE = 1e-9
"""Singular values below this share of the largest count as 0."""

ILL_CONDITIONED = 1e4
"""Ratio of the largest singular value to the smallest at which the fit carries a warning."""

UNDETERMINED = (
    "the measured pairs determine only {rank} of {count} coefficients (mode {mode}); add pairs such as {more}"
)


@dataclass(frozen=True)
class PredictionError:
    """Relative error `|f(p, w) - s| / s` of a fitted speed against measured ones.

    Attributes
    ----------
    mean : float
        Average over the samples, share.
    max : float
        Largest over the samples, share.
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
        Coefficients in the order of the equation, seconds, at least 0: 4 for async, 5 for sync.
    batch : float or None
        M, samples in the global batch; None for async.
    samples : int
        Number of measurements.
    pairs : int
        Number of distinct pairs (p, w).
    residual : float
        Root of the mean squared relative error of the seconds for one step, share.
    error : PredictionError
        Relative error of the speed on the measurements that were fitted.
    condition : float
        Largest over smallest singular value of the weighted, column-scaled design.
    warnings : tuple of str
        What makes the fit doubtful, each `name: sentence`.
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


def check_mode(mode: str, batch: float | None) -> None:
    """Refuse an unknown mode, a `sync` without a batch size and an `async` with one.

    Parameters
    ----------
    mode : str
        `async` or `sync`.
    batch : float or None
        M, samples in the global batch, or None.
    """
    if mode not in ("async", "sync"):
        raise InputError(f"mode: {mode!r}, allowed: async, sync")
    if mode == "async" and batch is not None:
        raise InputError(f"batch: {batch:g} given for mode async, whose speed does not depend on it")
    if mode == "sync" and batch is None:
        raise InputError("batch: missing, mode sync needs the samples in the global batch")
    if batch is not None and not 1e-6 <= batch <= 1e12:
        raise InputError(f"batch: {batch:g}, a number of samples from 1e-6 to 1e12 is needed")


def terms(mode: str, batch: float | None, parameter_servers: Ints, workers: Ints) -> Floats:
    """Return the seconds for one step that a coefficient of one second contributes.

    Parameters
    ----------
    mode : str
        `async` or `sync`.
    batch : float or None
        M, for `sync`.
    parameter_servers : ndarray of int
        P, shape (n,).
    workers : ndarray of int
        W, shape (n,).

    Returns
    -------
    array
        Shape (n, coefficients); times theta it is the seconds for one step, 1 / f(p, w).
    """
    unit = np.eye(THETA_COUNT[mode])[:, :, None]
    p, w = parameter_servers.astype(np.float64), workers.astype(np.float64)
    columns = async_step_seconds(unit, p, w) if mode == "async" else sync_step_seconds(unit, batch, p, w)
    return np.array(columns, dtype=np.float64).T


def fit_speed(samples: SpeedSamples, mode: Mode, batch: float | None = None) -> SpeedFit:
    r"""Fit the speed function of a mode to measured speeds by non-negative least squares.

    The seconds for one step, 1/f, are linear in the coefficients. Each measurement's row is divided by its measured
    seconds, so that relative errors count alike at fast and slow pairs:

    .. math:: \min_{\theta \ge 0} \sum_i \left( s_i \cdot \frac{1}{f_\theta(p_i, w_i)} - 1 \right)^2

    Parameters
    ----------
    samples : SpeedSamples
        Measured speeds.
    mode : Mode
        `async` (eqn 3, four coefficients) or `sync` (eqn 4, five).
    batch : float or None, optional
        M, samples in the global batch; for `sync` only.

    Raises
    ------
    InputError
        If there are fewer distinct pairs than coefficients, or the pairs cannot tell the coefficients apart; says
        how many are missing, or which pairs would help.

    References
    ----------
    Optimus (EuroSys'18), section 3.2, eqns 3 and 4.
    """
    from scipy.optimize import nnls

    check_mode(mode, batch)
    count, pairs = THETA_COUNT[mode], samples.pairs
    if len(pairs) < count:
        raise InputError(
            f"{len(samples.speeds)} samples of {len(pairs)} distinct pairs (p, w), mode {mode} has {count} "
            f"coefficients: at least {count} distinct pairs are needed, {count - len(pairs)} more"
        )
    rows = terms(mode, batch, samples.parameter_servers, samples.workers) * samples.speeds[:, None]
    scale = np.linalg.norm(rows, axis=0)
    condition = _condition(rows / scale, mode, batch, samples)
    scaled, residual = nnls(rows / scale, np.ones(len(rows)))
    theta = scaled / scale
    if not np.isfinite(theta).all() or not theta.any():
        raise InputError("speeds: too far apart in magnitude to be fitted together")
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
    from gangopt.instances.fitting.probes import next_probes

    values = np.linalg.svd(rows, compute_uv=False)
    rank = int(np.count_nonzero(values > RANK_TOLERANCE * values[0]))
    if rank < rows.shape[1]:
        more = next_probes(mode, samples.pairs, rows.shape[1] - rank, batch=batch)
        text = ", ".join(f"({p}, {w})" for p, w in more)
        raise InputError(UNDETERMINED.format(rank=rank, count=rows.shape[1], mode=mode, more=text))
    return float(values[0] / values[-1])


def _relative_error(ratios: Floats) -> PredictionError:
    """Return the error of a speed, given fitted over measured seconds for one step."""
    errors = np.abs(1 / ratios - 1)
    return PredictionError(float(errors.mean()), float(errors.max()), errors.size)


def _warnings(pairs: int, count: int, condition: float) -> tuple[str, ...]:
    found = []
    if pairs == count:
        found.append(f"no-spare-pairs: {pairs} pairs for {count} coefficients, so the error on them says nothing")
    if condition > ILL_CONDITIONED:
        found.append(f"ill-conditioned: the pairs hardly tell the coefficients apart (condition {condition:.2g})")
    return tuple(found)


def prediction_error(fit: SpeedFit, held_out: SpeedSamples) -> PredictionError:
    """Return the relative error of a fit on measurements that it has not seen.

    Parameters
    ----------
    fit : SpeedFit
        Fitted on other samples.
    held_out : SpeedSamples
        Measured speeds.
    """
    seconds = terms(fit.mode, fit.batch, held_out.parameter_servers, held_out.workers) @ np.array(fit.theta)
    return _relative_error(seconds * held_out.speeds)
