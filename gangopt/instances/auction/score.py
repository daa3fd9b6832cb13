"""Objective of an auction: the number of apps served comes first, then the product of their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["log_of", "mean_value", "score_of_logs"]


def log_of(value: Fraction) -> float:
    """Return the natural logarithm of a rational above 0, even beyond the range of floats."""
    return math.log(value.numerator) - math.log(value.denominator)


def mean_value(values: Sequence[Fraction], number: int) -> float:
    r"""Return the geometric mean of the n largest values, :math:`(\prod V)^{1/n}`; 1 for n = 0.

    Parameters
    ----------
    values : sequence of Fraction
        Exact value V of every app.
    number : int
        Number of values, n.

    Returns
    -------
    float
        0 if fewer than n values are above 0; for n = 1 the value itself, rounded once.
    """
    largest = sorted(values, reverse=True)[:number]
    if len(largest) < number or (largest and largest[-1] <= 0):
        return 0.0
    if number == 1:
        return float(largest[0])
    return math.exp(math.fsum(log_of(value) for value in largest) / number) if number else 1.0


def score_of_logs(total: float, served: int, servable: int, spread: tuple[float, float]) -> float:
    r"""Return the score, below 0, of an outcome that serves fewer apps than counting GPUs allows.

    With s apps served of n, m the geometric mean of their values, and all values of the bids between a and b,

    .. math:: -(n - s - 1) - \frac{1 + \log (b / m)}{1 + \log (b / a)}

    lies between -(n - s) and -(n - s - 1): serving one more app outweighs any values; otherwise the larger mean wins.

    Parameters
    ----------
    total : float
        Sum of the natural logarithms of the values of the apps served.
    served : int
        Number of apps served, s, less than n.
    servable : int
        Upper bound on the apps that can have a value, n.
    spread : tuple of float
        Logarithms of a and b.

    Returns
    -------
    float
        -n if no app is served.
    """
    if not served:
        return -float(servable)
    lowest, highest = spread
    mean = min(max(total / served, lowest), highest)
    return -float(servable - served - 1) - (1.0 + highest - mean) / (1.0 + highest - lowest)
