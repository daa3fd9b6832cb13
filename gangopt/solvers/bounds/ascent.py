"""Prices that raise a Lagrangian bound: a quasi-Newton method where it is smooth, and supergradient steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gangopt.base.types import Floats

__all__ = ["Best", "Dual", "smooth_ascent", "supergradient_ascent"]

_SLACK = 1e-9
"""Share of the summed magnitudes by which a bound is lowered: far above its rounding error."""


class Dual(Protocol):
    """A concave function of prices."""

    def value(self, prices: Floats) -> tuple[float, Floats, float]:
        """Return the value, a supergradient and the summed magnitude of its terms."""
        ...


@dataclass
class Best:
    """The best prices seen and the bound that they prove, rounded down.

    Attributes
    ----------
    prices : ndarray of float
        Shape of the grid's priced part.
    bound : float
        Minus infinity before the first.
    """

    prices: Floats
    bound: float = -np.inf

    def offer(self, prices: Floats, value: float, size: float) -> bool:
        """Take prices if they prove more."""
        bound = value - _SLACK * size
        if not bound > self.bound:
            return False
        self.prices, self.bound = prices.copy(), bound
        return True


def smooth_ascent(dual: Dual, best: Best, iterations: int, scale: Floats, expired: Callable[[], bool]) -> None:
    """Raise a differentiable dual by L-BFGS-B from the best prices, which are replaced by better ones.

    Parameters
    ----------
    dual : Dual
        Differentiable.
    best : Best
        Starting prices; replaced by better ones.
    iterations : int
        Maximum iterations.
    scale : ndarray of float
        Expected change of each price, > 0.
    expired : callable
        Whether to stop early.
    """
    from scipy.optimize import minimize

    size = abs(dual.value(best.prices)[0]) + 1e-300

    def negative(scaled: Floats) -> tuple[float, Floats]:
        if expired():
            raise StopIteration
        prices = scaled * scale
        value, gradient, added = dual.value(prices)
        best.offer(prices, value, added)
        return -value / size, -gradient * scale / size

    try:
        minimize(
            negative,
            best.prices / scale,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(scale),
            options={"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20, "ftol": 1e-7, "gtol": 0.0},
        )
    except StopIteration:
        return


def supergradient_ascent(
    dual: Dual,
    best: Best,
    steps: int,
    scale: Floats,
    expired: Callable[[], bool],
    *,
    ahead: float = 0.03,
    memory: float = 0.6,
) -> None:
    """Raise a concave dual by Polyak steps along an average of supergradients, from the best prices.

    Parameters
    ----------
    dual : Dual
        Concave.
    best : Best
        Starting prices; replaced by better ones.
    steps : int
        Number of evaluations.
    scale : ndarray of float
        As in `smooth_ascent`.
    expired : callable
        Whether to stop early.
    ahead : float, optional
        Fraction of the best bound by which the target of a step exceeds it.
    memory : float, optional
        Share of the earlier directions in the next one.
    """
    prices, direction, length, misses = best.prices.copy(), np.zeros_like(scale), 1.0, 0
    for _ in range(steps):
        if expired():
            return
        value, gradient, size = dual.value(prices)
        if best.offer(prices, value, size):
            misses = 0
        else:
            misses += 1
        scaled = gradient * scale
        scaled[(prices <= 0) & (scaled < 0)] = 0.0
        direction = memory * direction + (1 - memory) * scaled if direction.any() else scaled
        if misses >= 8:
            misses, length = 0, 0.6 * length
            prices = best.prices.copy()
        norm = float(direction @ direction)
        if norm <= 0:
            return
        target = best.bound + ahead * abs(best.bound)
        step = length * (target - value) / norm
        prices = np.maximum(prices + step * direction * scale, 0.0)
